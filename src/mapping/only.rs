//! Which rows `--only` selects.

use jiff::civil::Date;

use super::columns::Columns;
use super::date_cell::{DateCell, DateOrder};
use super::error::MappingError;
use super::plan::{Mapping, Note};
use super::spec::ONLY;
use crate::message::{Message, Template};
use crate::source::{Header, Row, RowBatch};
use crate::text::{printable, shown_name};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnlyRule {
    pub column: usize,
    /// The accepted values, in a [comparable] form.
    values: Vec<String>,
    /// The first and the last date that are accepted.
    from: Option<Date>,
    to: Option<Date>,
    /// How the column writes dates whose day and month can be mixed up; `None` before it has been
    /// read, and in rejects, where too few rows are left to show it: there a row is taken if either
    /// reading fits, as one of them did when the rejects were written.
    order: Option<DateOrder>,
}

/// What the dates of a column show about their order.
#[derive(Debug, Clone, Default)]
struct DateColumn {
    dates: u64,
    /// The filled cells without a date, and the line of the first.
    others: u64,
    first_other: Option<u64>,
    day_first: bool,
    month_first: bool,
    /// The line of the first date that is another one in the other order.
    ambiguous: Option<u64>,
}

const LIKE_ISO: Template = template!("write them like 2025-01-31, then {again}");

/// A value as it is compared: what is not shown of it, nobody can type, and the page cannot give back.
pub fn comparable(value: &str) -> String {
    printable(value.trim()).to_lowercase()
}

impl OnlyRule {
    /// The accepted cells, in words.
    pub fn values(&self) -> String {
        let values = self.values.iter().map(|value| match value.as_str() {
            "" => "nothing".to_owned(),
            value => format!("`{}`", printable(value)),
        });
        let dates = match (self.from, self.to) {
            (None, None) => None,
            (Some(from), None) => Some(format!("a date from {from} on")),
            (None, Some(to)) => Some(format!("a date until {to}")),
            (Some(from), Some(to)) => Some(format!("a date from {from} until {to}")),
        };
        values.chain(dates).collect::<Vec<String>>().join(" or ")
    }

    fn compares_dates(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    pub(super) fn takes(&self, row: Row<'_>) -> bool {
        let cell = row.text(self.column).unwrap_or_default().trim();
        self.values.contains(&comparable(cell)) || self.compares_dates() && self.has_date(cell)
    }

    /// Whether the date in the cell is one that is accepted.
    fn has_date(&self, cell: &str) -> bool {
        let Some(read) = DateCell::read(cell) else {
            return false;
        };
        let dates = match self.order {
            Some(DateOrder::DayFirst) => [read.day_first, None],
            Some(DateOrder::MonthFirst) => [None, read.month_first],
            None => [read.day_first, read.month_first],
        };
        dates.into_iter().flatten().any(|date| {
            self.from.is_none_or(|from| date >= from) && self.to.is_none_or(|to| date <= to)
        })
    }

    /// Takes the order of day and month from the whole column. In rejects it may stay open.
    fn set_order(
        &mut self,
        input: &str,
        header: &str,
        found: &DateColumn,
        is_rejects: bool,
    ) -> Result<(), MappingError> {
        self.order = match (found.day_first, found.month_first) {
            (true, false) => Some(DateOrder::DayFirst),
            (false, true) => Some(DateOrder::MonthFirst),
            _ => None,
        };
        let name = shown_name(header);
        let column = text!("the column `{name}` of `{input}`", name, input);
        let message = match found.ambiguous {
            _ if self.order.is_some() || is_rejects => return Ok(()),
            _ if found.day_first => Message::new(
                text!(
                    "the dates in {column} have the day first in some rows, the month in others",
                    column
                ),
                LIKE_ISO,
            ),
            Some(line) => Message::new(
                text!(
                    "the dates in {column} may have the day or the month first (line {line}): no date shows which",
                    column,
                    line = line.to_string()
                ),
                LIKE_ISO,
            ),
            None if found.dates == 0 && found.others > 0 => message!(
                "{column} has no dates to compare",
                "{name a column with dates, or compare its text with `=`|choose the rows again under {--only}}",
                column
            ),
            None => return Ok(()),
        };
        Err(MappingError::Other {
            flag: Some(ONLY),
            message,
        })
    }
}

impl DateColumn {
    fn count(&mut self, row: Row<'_>, column: usize) {
        let cell = row.text(column).unwrap_or_default().trim();
        let Some(date) = DateCell::read(cell) else {
            if !cell.is_empty() {
                self.others += 1;
                self.first_other.get_or_insert(row.line());
            }
            return;
        };
        self.dates += 1;
        match date.order() {
            Some(DateOrder::DayFirst) => self.day_first = true,
            Some(DateOrder::MonthFirst) => self.month_first = true,
            None if date.is_ambiguous() => {
                self.ambiguous.get_or_insert(row.line());
            }
            None => {}
        }
    }
}

impl Mapping {
    pub fn compares_dates(&self) -> bool {
        self.only.iter().any(OnlyRule::compares_dates)
    }

    /// Takes the order of day and month in the dates that `--only` compares from all rows of the
    /// input. In rejects it may stay open.
    pub fn order_dates(
        &mut self,
        input: &str,
        header: &Header,
        rows: impl Iterator<Item = RowBatch>,
    ) -> Result<(), MappingError> {
        let mut found = vec![DateColumn::default(); self.only.len()];
        for batch in rows {
            for row in batch.rows() {
                let rules = self.only.iter().zip(&mut found);
                rules.for_each(|(rule, dates)| dates.count(row, rule.column));
            }
        }
        let is_rejects = self.rejects_form.is_some();
        let rules = self.only.iter_mut().zip(&found);
        for (rule, dates) in rules.filter(|(rule, _)| rule.compares_dates()) {
            let name = &header.names[rule.column];
            rule.set_order(input, name, dates, is_rejects)?;
            if let Some(line) = dates.first_other {
                let what = text!(
                    "{others:filled cell} of `{name}` (the first in line {line}) {have|{others?has:have}} no date that leadload can read",
                    others = dates.others,
                    name = shown_name(name),
                    line = line.to_string()
                );
                self.notes.push(Note::new(ONLY, what));
            }
        }
        Ok(())
    }
}

pub(super) fn only_rules(
    columns: &Columns<'_>,
    texts: &[String],
) -> Result<Vec<OnlyRule>, MappingError> {
    let mut rules: Vec<OnlyRule> = Vec::new();
    for text in texts {
        let (column, comparison, value) = parts(columns, text)?;
        let at = rules.iter().position(|rule| rule.column == column);
        let at = at.unwrap_or_else(|| {
            rules.push(OnlyRule {
                column,
                ..OnlyRule::default()
            });
            rules.len() - 1
        });
        let rule = &mut rules[at];
        match comparison {
            Comparison::Equal => rule.values.push(comparable(value)),
            Comparison::From => rule.from = rule.from.max(Some(date(text, value)?)),
            Comparison::To => {
                let to = date(text, value)?;
                rule.to = Some(rule.to.map_or(to, |other| other.min(to)));
            }
        }
    }
    Ok(rules)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    From,
    To,
}

/// The column, and what its cells are compared with.
fn parts<'t>(
    columns: &Columns<'_>,
    text: &'t str,
) -> Result<(usize, Comparison, &'t str), MappingError> {
    // A column may be called `a=b`, or `a>`.
    for (at, _) in text.match_indices('=') {
        let (left, value) = (&text[..at], &text[at + 1..]);
        if let Some(column) = columns.named(ONLY, left)? {
            return Ok((column, Comparison::Equal, value));
        }
        if let Some((left, comparison)) = compared(left)
            && let Some(column) = columns.named(ONLY, left)?
        {
            return Ok((column, comparison, value));
        }
    }
    let (left, value) = text.split_once('=').unwrap_or((text, ""));
    let (left, comparison) = compared(left).unwrap_or((left, Comparison::Equal));
    Ok((columns.find(ONLY, left)?, comparison, value))
}

/// What is before the sign that makes a comparison of dates of the `=` behind it.
fn compared(left: &str) -> Option<(&str, Comparison)> {
    let from = || Some((left.strip_suffix('>')?, Comparison::From));
    from().or_else(|| Some((left.strip_suffix('<')?, Comparison::To)))
}

fn date(text: &str, value: &str) -> Result<Date, MappingError> {
    value.trim().parse().map_err(|_| MappingError::Other {
        flag: Some(ONLY),
        message: message!(
            "`{--only |}{rule}` compares with no date",
            "write the date like 2025-01-31",
            rule = shown_name(text)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::MappingSpec;

    fn rules(only: &[&str]) -> Result<Mapping, MappingError> {
        let header = Header {
            names: ["phone", "Consent", "is_test", "a=b", "since>"]
                .map(Into::into)
                .into(),
            line: Some(1),
        };
        let spec = MappingSpec {
            only: only.iter().map(|text| (*text).to_owned()).collect(),
            ..MappingSpec::default()
        };
        Mapping::plan("leads.csv", &header, &RowBatch::of_text(&[]), &spec)
    }

    fn taken(only: &[&str], rows: &[&[&str]]) -> Vec<bool> {
        let mapping = rules(only).unwrap();
        let rows = RowBatch::of_text(rows);
        rows.rows().map(|row| !mapping.excludes(row)).collect()
    }

    #[test]
    fn all_columns_must_fit_and_one_value_of_each() {
        let rows: &[&[&str]] = &[
            &["1", " YES ", "false", ""],
            &["1", "Ja", "False", ""],
            &["1", "yes", "true", ""],
            &["1", "no", "false", ""],
            &["1"],
        ];
        let only = ["consent=yes", "Consent = ja ", "3=FALSE"];
        assert_eq!(taken(&only, rows), [true, true, false, false, false]);
        assert_eq!(taken(&[], rows), [true; 5]);
    }

    /// The page shows them so, and gives them back.
    #[test]
    fn what_is_not_shown_of_a_cell_is_as_good_as_the_sign_in_its_place() {
        let rows: &[&[&str]] = &[&["1", "Ja\u{ad}\u{202e}", "", ""], &["1", "Ja", "", ""]];
        for only in ["consent=ja\u{fffd}\u{fffd}", "consent=ja\u{ad}\u{202e}"] {
            assert_eq!(taken(&[only], rows), [true, false]);
        }
    }

    #[test]
    fn an_empty_value_takes_empty_cells_and_a_header_may_have_an_equals_sign() {
        let rows: &[&[&str]] = &[&["1", "", "", "c"], &["1", "x", "", "d"]];
        assert_eq!(taken(&["consent="], rows), [true, false]);
        assert_eq!(taken(&["a=b=d"], rows), [false, true]);
    }

    #[test]
    fn dates_are_compared_and_a_header_may_have_the_sign_of_a_comparison() {
        let rows: &[&[&str]] = &[
            &["1", "2024-12-31", "", "", "x"],
            &["1", "2025-01-01 10:15", "", "", ""],
            &["1", "31.12.2025", "", "", ""],
            &["1", "yes", "", "", ""],
            &["1", "", "", "", ""],
        ];
        let from = [false, true, true, false, false];
        assert_eq!(taken(&["consent>=2025-01-01"], rows), from);
        assert_eq!(taken(&["2>=2025-01-01"], rows), from);
        assert_eq!(
            taken(&["consent>=2025-01-01", "consent<=2025-12-30"], rows),
            [false, true, false, false, false]
        );
        let or = ["consent>=2025-01-02", "consent=yes"];
        assert_eq!(taken(&or, rows), [false, false, true, true, false]);
        assert_eq!(
            taken(&["since>=x"], rows),
            [true, false, false, false, false]
        );
        let error = rules(&["consent>=soon"]).unwrap_err().message().to_string();
        assert!(error.contains("no date"), "{error}");
    }

    fn column(cells: &[&str]) -> DateColumn {
        let rows: Vec<Vec<&str>> = cells.iter().map(|cell| vec![*cell]).collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        let mut found = DateColumn::default();
        for row in RowBatch::of_text(&rows).rows() {
            found.count(row, 0);
        }
        found
    }

    #[test]
    fn the_order_of_day_and_month_is_that_of_the_whole_column() {
        let order = |cells: &[&str], is_rejects: bool| {
            let mut rule = OnlyRule::default();
            let set = rule.set_order("leads.csv", "since", &column(cells), is_rejects);
            set.map(|()| rule.order)
                .map_err(|error| error.message().what)
        };
        let unclear = ["03/04/2025", "05/06/2025"];
        assert_eq!(
            order(&["03/04/2025", "13/04/2025"], false),
            Ok(Some(DateOrder::DayFirst))
        );
        assert_eq!(
            order(&["03/04/2025", "04/13/2025"], false),
            Ok(Some(DateOrder::MonthFirst))
        );
        for cells in [&unclear[..], &["13/04/2025", "04/13/2025"], &["yes", ""]] {
            assert!(order(cells, false).is_err(), "{cells:?}");
            assert_eq!(order(cells, true), Ok(None), "{cells:?}");
        }
        assert_eq!(
            order(&["2025-03-04", "4.3.2025", "4/4/2025", ""], false),
            Ok(None)
        );
        assert_eq!(order(&[], false), Ok(None));
    }
}
