//! Which rows `--only` selects.

use super::columns::Columns;
use super::error::MappingError;
use super::spec::ONLY;
use crate::source::Row;
use crate::text::printable;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnlyRule {
    pub column: usize,
    /// The accepted values, in lower case.
    values: Vec<String>,
}

impl OnlyRule {
    pub fn values(&self) -> String {
        let values = self.values.iter().map(|value| match value.as_str() {
            "" => "nothing".to_owned(),
            value => format!("`{}`", printable(value)),
        });
        values.collect::<Vec<String>>().join(" or ")
    }

    pub(super) fn takes(&self, row: Row<'_>) -> bool {
        let cell = row.text(self.column).unwrap_or_default().trim();
        let cell = cell.to_lowercase();
        self.values.contains(&cell)
    }
}

pub(super) fn only_rules(
    columns: &Columns<'_>,
    texts: &[String],
) -> Result<Vec<OnlyRule>, MappingError> {
    let mut rules: Vec<OnlyRule> = Vec::new();
    for text in texts {
        let (column, value) = column_and_value(columns, text)?;
        let value = value.trim().to_lowercase();
        match rules.iter_mut().find(|rule| rule.column == column) {
            Some(rule) => rule.values.push(value),
            None => rules.push(OnlyRule {
                column,
                values: vec![value],
            }),
        }
    }
    Ok(rules)
}

fn column_and_value<'t>(
    columns: &Columns<'_>,
    text: &'t str,
) -> Result<(usize, &'t str), MappingError> {
    // A column may be called `a=b`.
    let splits = text
        .match_indices('=')
        .map(|(at, _)| (&text[..at], &text[at + 1..]));
    for (column, value) in splits {
        if let Some(column) = columns.named(ONLY, column)? {
            return Ok((column, value));
        }
    }
    let (column, value) = text.split_once('=').unwrap_or((text, ""));
    Ok((columns.find(ONLY, column)?, value))
}

#[cfg(test)]
mod tests {
    use crate::mapping::{Mapping, MappingSpec};
    use crate::source::{Header, RowBatch};

    fn taken(only: &[&str], rows: &[&[&str]]) -> Vec<bool> {
        let header = Header {
            names: ["phone", "Consent", "is_test", "a=b"]
                .map(Into::into)
                .into(),
            line: Some(1),
        };
        let spec = MappingSpec {
            only: only.iter().map(|text| (*text).to_owned()).collect(),
            ..MappingSpec::default()
        };
        let mapping = Mapping::plan("leads.csv", &header, &RowBatch::of_text(&[]), &spec).unwrap();
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

    #[test]
    fn an_empty_value_takes_empty_cells_and_a_header_may_have_an_equals_sign() {
        let rows: &[&[&str]] = &[&["1", "", "", "c"], &["1", "x", "", "d"]];
        assert_eq!(taken(&["consent="], rows), [true, false]);
        assert_eq!(taken(&["a=b=d"], rows), [false, true]);
    }
}
