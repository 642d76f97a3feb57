//! A mapping that was kept in a profile: which columns are sent is settled, whatever else a
//! list may have by now.

use super::columns::Columns;
use super::only::ONLY;
use super::plan::{Mapping, PHONE_COLUMN, SKIP_COLUMN, VAR};
use super::{MappingError, detect};
use crate::source::RowBatch;
use crate::text::nearest;

/// What the profile brings, beside the flags themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMapping {
    /// Where it stands, in words.
    pub place: String,
    /// The command that keeps the mapping of a list that has changed.
    pub keep_anew: String,
    /// The flags that come from there, such as `--var`.
    pub flags: Vec<String>,
    /// The columns that the list had when the mapping was kept, if that is known.
    pub columns: Option<Vec<String>>,
    /// What becomes of the rest where the list has lost a column.
    pub missing: MissingColumn,
}

/// What a column that the list has no more means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingColumn {
    /// The list is not the one that the mapping is for.
    Refused,
    /// The mapping is about to be kept anew, without it.
    LeftOut,
}

impl SavedMapping {
    /// Whether what this flag says comes from there.
    pub(super) fn brings(&self, flag: &str) -> bool {
        self.flags.iter().any(|brought| brought == flag)
    }

    /// The columns of the list as it was, where they bind this flag: a number in the
    /// profile means the column that stood there then.
    pub(super) fn columns_for(&self, flag: &str) -> Option<&[String]> {
        self.brings(flag).then_some(self.columns.as_deref())?
    }

    /// Whether the mapping goes on without what this flag names, where that is missing.
    /// Without its number, its campaign or its region a row would be another one.
    pub(super) fn can_lose(&self, flag: &str) -> bool {
        let is_optional = [VAR, SKIP_COLUMN].contains(&flag);
        is_optional && self.missing == MissingColumn::LeftOut && self.brings(flag)
    }

    /// An error about a flag, as one about the profile that has it.
    pub(super) fn explain(
        &self,
        mut error: MappingError,
        columns: &Columns<'_>,
        sample: &RowBatch,
    ) -> MappingError {
        let flag = match &mut error {
            MappingError::NoSuchColumn {
                flag,
                column,
                nearest,
                ..
            } => {
                *nearest = self
                    .renamed(flag, column, columns, sample)
                    .or(nearest.take());
                *flag
            }
            MappingError::SeveralColumns { flag, .. } => *flag,
            _ => return error,
        };
        if !self.brings(flag) {
            return error;
        }
        let advice = match self.missing {
            MissingColumn::Refused => format!(
                "if the list has changed for good, `{}{}` keeps its mapping anew",
                self.keep_anew,
                match flag {
                    VAR | SKIP_COLUMN => String::new(),
                    ONLY => format!(" {flag} COLUMN=VALUE"),
                    // It is never replaced by itself.
                    _ => format!(" {flag} COLUMN"),
                }
            ),
            MissingColumn::LeftOut => format!("say with `{flag}` which one is meant now"),
        };
        MappingError::Saved {
            error: Box::new(error),
            place: self.place.clone(),
            advice,
        }
    }

    /// What a column may be called now that is missing: one that was not there then, and
    /// holds phone numbers where they are missing, or has a name like it, or is the only one.
    fn renamed(
        &self,
        flag: &str,
        column: &str,
        columns: &Columns<'_>,
        sample: &RowBatch,
    ) -> Option<String> {
        let then = self.columns.as_ref()?;
        let is_new = |header: &str| !then.iter().any(|known| folded(known) == folded(header));
        let new = columns.that(|header| !header.is_empty() && is_new(header));
        let header = |column: &usize| columns.headers[*column].clone();
        if flag == PHONE_COLUMN {
            let known = columns.that(|header| !is_new(header));
            let found = detect::phone_column(&columns.without(&known), sample, false).ok()?;
            return Some(header(&found.column));
        }
        let names: Vec<String> = new.iter().map(header).collect();
        match (nearest(column, &names), &names[..]) {
            (Some(nearest), _) => Some(nearest.to_owned()),
            (None, [only]) => Some(only.clone()),
            _ => None,
        }
    }

    /// The columns (from 0) that were not there then and are not used now.
    pub(super) fn new_columns(&self, columns: &Columns<'_>, mapping: &Mapping) -> Vec<usize> {
        let Some(known) = self.columns_for(VAR) else {
            return Vec::new();
        };
        let mut known: Vec<String> = known.iter().map(|header| folded(header)).collect();
        let mut new = Vec::new();
        for column in columns.own.iter().copied() {
            let header = &columns.headers[column];
            match known.iter().position(|known| *known == folded(header)) {
                // Each stands for one column: a second of the same name is new.
                Some(at) => drop(known.swap_remove(at)),
                // Delimiters at the end of the lines are no column.
                None if column >= mapping.shape.empty_from || mapping.is_used(column) => {}
                None => new.push(column),
            }
        }
        new
    }
}

/// A header as headers are compared.
pub(super) fn folded(header: &str) -> String {
    header.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{MappingSpec, RegionColumns};
    use crate::source::Header;

    fn plan(names: &[&str], saved: &MappingSpec) -> Result<Mapping, MappingError> {
        let header = Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        };
        Mapping::plan("leads.csv", &header, &RowBatch::of_text(&[]), saved)
    }

    /// Kept of a list with these columns.
    fn saved(vars: &[&str], columns: &[&str]) -> MappingSpec {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        MappingSpec {
            no_variables: vars.is_empty(),
            phone_columns: vec!["Phone".into()],
            variables: texts(vars),
            saved: Some(SavedMapping {
                place: "profile `crm` of `config.toml`".into(),
                keep_anew: "leadload check FILE --save-mapping crm".into(),
                flags: [VAR, PHONE_COLUMN].map(Into::into).into(),
                columns: Some(texts(columns)),
                missing: MissingColumn::Refused,
            }),
            ..MappingSpec::default()
        }
    }

    #[test]
    fn a_new_column_is_told_and_not_sent() {
        let spec = saved(&["city=City"], &["Phone", "City", "Notes"]);
        let mapping = plan(&["CITY", "phone", "Salary", "", "City 2", ""], &spec).unwrap();
        assert_eq!(mapping.variables, [("city".to_owned(), 0)]);
        assert_eq!(
            mapping.new_columns,
            [2, 3, 4],
            "and none behind the last header"
        );
        assert!(
            plan(&["Phone", "City", "Notes"], &spec)
                .unwrap()
                .new_columns
                .is_empty()
        );
    }

    #[test]
    fn a_mapped_column_that_is_missing_is_told_with_its_profile() {
        let spec = saved(&["city=City"], &["Phone", "City"]);
        assert_eq!(
            plan(&["Phone", "Town"], &spec).unwrap_err().to_string(),
            "`--var City` names no column of `leads.csv`; the mapping stands in profile `crm` of `config.toml`\n\n\
             hint: did you mean `Town`? its columns are `Phone`, `Town`; if the list has changed for good, `leadload check FILE --save-mapping crm` keeps its mapping anew"
        );
    }

    #[test]
    fn a_number_means_the_column_that_stood_there() {
        let spec = saved(&["a=2", "b=3"], &["Phone", "Note", "Note"]);
        assert!(plan(&["Phone", "Note", "note"], &spec).is_ok());
        assert!(plan(&["Phone", "Salary", "Note"], &spec).is_err());
        assert!(plan(&["Phone", "Note"], &spec).is_err());
    }

    #[test]
    fn a_header_that_is_a_number_does_not_come_to_mean_another_column() {
        let spec = saved(&["2=2"], &["Phone", "Secret", "2"]);
        assert!(plan(&["Phone", "Secret"], &spec).is_err());
        assert!(plan(&["2", "Phone"], &spec).is_ok());
    }

    #[test]
    fn a_phone_column_that_is_missing_is_never_replaced_but_its_new_name_is_offered() {
        let mut spec = saved(&["name=Name"], &["Phone", "Name", "Emergency phone"]);
        for missing in [MissingColumn::Refused, MissingColumn::LeftOut] {
            spec.saved.as_mut().unwrap().missing = missing;
            let told = |names: &[&str]| plan(names, &spec).unwrap_err().to_string();
            let error = told(&["Name", "Emergency phone"]);
            assert!(error.contains("hint: its columns are `Name`"), "{error}");
            let error = told(&["Name", "Emergency phone", "Mobile"]);
            assert!(error.contains("did you mean `Mobile`?"), "{error}");
        }
    }

    #[test]
    fn a_column_that_was_renamed_is_offered_by_its_new_name() {
        let spec = saved(&["city=City"], &["Phone", "City", "Name"]);
        let told = |names: &[&str]| plan(names, &spec).unwrap_err().to_string();
        let error = told(&["Phone", "Name", "Town"]);
        assert!(error.contains("did you mean `Town`?"), "{error}");
        let error = told(&["Phone", "Name", "Town", "Region"]);
        assert!(!error.contains("did you mean"), "{error}");
        let error = told(&["Phone", "Name", "Town", "Cities"]);
        assert!(error.contains("did you mean `Cities`?"), "{error}");
    }

    #[test]
    fn no_variables_at_all_stay_none() {
        let spec = saved(&[], &["Phone"]);
        let mapping = plan(&["Phone", "Salary"], &spec).unwrap();
        assert!(mapping.variables.is_empty());
        assert_eq!(mapping.new_columns, [1]);
    }

    #[test]
    fn a_mapping_that_is_kept_anew_loses_what_the_list_has_lost_and_gains_nothing() {
        let mut spec = saved(&["city=City", "a=A"], &["Phone", "City", "A", "Notes"]);
        spec.saved.as_mut().unwrap().missing = MissingColumn::LeftOut;
        let mapping = plan(&["Phone", "Notes", "A", "Salary"], &spec).unwrap();
        assert_eq!(mapping.phone_columns, [0]);
        assert_eq!(mapping.variables, [("a".to_owned(), 2)]);
        assert_eq!(mapping.new_columns, [3]);
        assert_eq!(mapping.lost_columns, ["City"]);
    }

    #[test]
    fn a_column_that_makes_rows_what_they_are_is_not_lost() {
        let mut spec = saved(&[], &["Phone", "Land"]);
        spec.region_columns = RegionColumns::Named("Land".into());
        let saved = spec.saved.as_mut().unwrap();
        saved.missing = MissingColumn::LeftOut;
        saved.flags.push("--region-column".into());
        assert_eq!(
            plan(&["Phone", "Country"], &spec).unwrap_err().to_string(),
            "`--region-column Land` names no column of `leads.csv`; the mapping stands in profile `crm` of `config.toml`\n\n\
             hint: did you mean `Country`? its columns are `Phone`, `Country`; say with `--region-column` which one is meant now"
        );
    }

    #[test]
    fn what_is_typed_takes_out_of_what_was_kept() {
        let mut spec = saved(&["city=City", "a=A"], &["Phone", "City", "A"]);
        spec.skipped = vec!["a".into()];
        let mapping = plan(&["Phone", "City", "A"], &spec).unwrap();
        assert_eq!(mapping.variables, [("city".to_owned(), 1)]);
    }
}
