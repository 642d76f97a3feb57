//! A mapping in a form that a profile can save: it means the same columns next time.
//!
//! A column is named by its header, or by its number if the header is empty or occurs twice.

use std::collections::HashSet;

use super::columns::Columns;
use super::header_words::folded;
use super::mark::MarkKind;
use super::plan::Mapping;
use super::planner::name_and_column;
use super::spec::{VAR, VarNames};
use crate::source::Header;

/// The columns that are read and sent, each as a flag would name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowList {
    /// `--phone-column`, in order of preference.
    pub phone_columns: Vec<String>,
    pub campaign_column: Option<String>,
    /// `--region-column`; `None` unless exactly one is used. Several are detected again.
    pub region_column: Option<String>,
    /// `--do-not-call-column` and `--consent-column`, likewise.
    pub do_not_call_column: Option<String>,
    pub consent_column: Option<String>,
    pub variables: Vec<String>,
    pub columns: Vec<String>,
}

impl AllowList {
    /// The allow list of an input; `None` if a column has no name by which it is found again.
    pub fn of(
        input: &str,
        header: &Header,
        mapping: &Mapping,
        var_names: VarNames,
    ) -> Option<AllowList> {
        let columns = Columns::of(input, header, None);
        let name = |column: &usize| columns.flag_texts(*column).next();
        let phone_columns = mapping.phone_columns.iter();
        let phone_columns = phone_columns.map(|phone| columns.phone_text(*phone));
        let variables = mapping.variables.iter();
        let variables =
            variables.map(|(name, column)| variable(&columns, name, *column, var_names));
        let optional = |column: Option<usize>| match column {
            Some(column) => name(&column).map(Some),
            None => Some(None),
        };
        let only_region = match mapping.countries.used[..] {
            [column] => Some(column),
            _ => None,
        };
        Some(AllowList {
            phone_columns: phone_columns.collect::<Option<_>>()?,
            campaign_column: optional(mapping.campaign_column)?,
            region_column: optional(only_region)?,
            do_not_call_column: optional(only_mark(mapping, MarkKind::DoNotCall))?,
            consent_column: optional(only_mark(mapping, MarkKind::Consent))?,
            variables: variables.collect::<Option<_>>()?,
            columns: header.names.clone(),
        })
    }

    /// The columns that this list sends and an earlier one, with these columns, left out; and the
    /// columns that the earlier one sent and this one leaves out.
    pub fn changes_since(
        &self,
        columns: &[String],
        variables: &[String],
        skipped: &[String],
    ) -> (Vec<String>, Vec<String>) {
        let then = sent(columns, variables);
        let now = sent(&self.columns, &self.variables);
        let all = [columns, skipped, &then, &now];
        let [known, skipped, sent_then, sent_now] = all.map(|names| {
            let names = names.iter().map(|name| folded(name));
            names.collect::<HashSet<String>>()
        });
        let has = |names: &HashSet<String>, name: &str| names.contains(&folded(name));
        let was_left_out =
            |name: &&String| has(&skipped, name) || has(&known, name) && !has(&sent_then, name);
        let is_left_out = |name: &&String| has(&sent_then, name) && !has(&sent_now, name);
        let newly_sent = now.iter().filter(was_left_out).cloned().collect();
        let no_longer_sent = self.columns.iter().filter(is_left_out).cloned().collect();
        (newly_sent, no_longer_sent)
    }
}

/// The column with these marks, if there is exactly one.
fn only_mark(mapping: &Mapping, kind: MarkKind) -> Option<usize> {
    let mut marks = mapping.marks.iter().filter(|mark| mark.kind == kind);
    let first = marks.next()?.column;
    marks.next().is_none().then_some(first)
}

/// The headers that `--var` names.
fn sent(headers: &[String], variables: &[String]) -> Vec<String> {
    let header = Header {
        names: headers.to_vec(),
        line: Some(1),
    };
    let columns = Columns::of("", &header, None);
    let named = variables.iter();
    let named = named.flat_map(|var| name_and_column(&columns, VAR, var));
    let named = named.map(|(_, column)| headers[column].clone());
    // A column without a header is sent only if its number is given.
    named.filter(|header| !header.trim().is_empty()).collect()
}

/// `NAME=COL`, or only `COL` if the header gives this name anyway and `NAME=COL` would be misread,
/// as with a name that contains `=`.
fn variable(
    columns: &Columns<'_>,
    name: &str,
    column: usize,
    var_names: VarNames,
) -> Option<String> {
    let is_plain = !name.contains('=') && name.trim() == name;
    let mut pairs = columns
        .flag_texts(column)
        .map(|found| format!("{name}={found}"));
    // If a header equals the whole text, the text would mean that column.
    let is_pair = |pair: &String| is_plain && columns.named(VAR, pair) == Ok(None);
    let is_made_again = var_names.name(&columns.headers[column]).as_deref() == Some(name);
    let mut header = columns.flag_texts(column).filter(|_| is_made_again);
    pairs.find(is_pair).or_else(|| header.next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{ColumnChoice, MappingSpec};
    use crate::source::RowBatch;

    /// Saves the mapping of a list, and plans the list again with what was saved.
    fn kept(names: &[&str], spec: &MappingSpec) -> AllowList {
        let header = Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        };
        let plan =
            |spec: &MappingSpec| Mapping::plan("leads.csv", &header, &RowBatch::of_text(&[]), spec);
        let mapping = plan(spec).unwrap();
        let kept = AllowList::of("leads.csv", &header, &mapping, spec.var_names).unwrap();
        let again = MappingSpec {
            phone_columns: kept.phone_columns.clone(),
            campaign_column: kept.campaign_column.clone(),
            region_columns: match &kept.region_column {
                Some(column) => ColumnChoice::Named(column.clone()),
                None => ColumnChoice::Auto,
            },
            variables: kept.variables.clone(),
            var_names: spec.var_names,
            ..MappingSpec::default()
        };
        assert_eq!(plan(&again).unwrap(), mapping);
        kept
    }

    fn vars(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn every_variable_is_named_with_its_column() {
        let kept = kept(&["Phone", "First Name", "City"], &MappingSpec::default());
        assert_eq!(kept.phone_columns, ["Phone"]);
        assert_eq!(kept.variables, ["first_name=First Name", "city=City"]);
        assert_eq!(kept.columns, ["Phone", "First Name", "City"]);
    }

    #[test]
    fn what_was_left_out_and_is_sent_now_is_reported() {
        let then = vars(&["Phone", "Note", "City", "Salary", ""]);
        let sent_then = vars(&["a=2", "city=City"]);
        let now = kept(
            &["Phone", "SALARY ", "City", "New"],
            &MappingSpec::default(),
        );
        let (newly_sent, no_longer_sent) = now.changes_since(&then, &sent_then, &[]);
        assert_eq!(newly_sent, ["SALARY "]);
        assert!(no_longer_sent.is_empty(), "{no_longer_sent:?}");
        let spec = MappingSpec {
            variables: vars(&["Salary"]),
            ..MappingSpec::default()
        };
        let now = kept(&["Phone", "Salary", "City"], &spec);
        let sent_then = vars(&["City", "Note=2", "Salary"]);
        let changes = now.changes_since(&then, &sent_then, &[]);
        assert_eq!(changes, (vec![], vars(&["City"])));
        let changes = now.changes_since(&[], &[], &vars(&["salary"]));
        assert_eq!(changes, (vars(&["Salary"]), vec![]));
    }

    #[test]
    fn headers_that_would_mislead_are_replaced_by_numbers() {
        let spec = MappingSpec {
            variables: vars(&["a=2", "b=3", "c=4"]),
            ..MappingSpec::default()
        };
        let names = ["phone", "Note", "note ", ""];
        let other = ["phone", "Note", "Note", ""];
        assert_eq!(kept(&names, &spec).variables, ["a=Note", "b=note", "c=4"]);
        assert_eq!(kept(&other, &spec).variables, ["a=2", "b=3", "c=4"]);
    }

    #[test]
    fn headers_with_equals_signs_and_numbers_are_found_again() {
        let as_is = MappingSpec {
            var_names: VarNames::AsIs,
            ..MappingSpec::default()
        };
        let names = ["phone", "a=b", "3", " x "];
        assert_eq!(kept(&names, &as_is).variables, ["a=b", "3=3", "x"]);
        let snake = kept(&names, &MappingSpec::default());
        assert_eq!(snake.variables, ["a_b=a=b", "3=3", "x=x"]);
        let trap = kept(&["phone", "City", "city=City"], &MappingSpec::default());
        assert_eq!(trap.variables, ["city=2", "city_city=city=City"]);
    }
}
