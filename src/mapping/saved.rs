//! The error for a list that no longer fits the mapping that a profile has saved for it.

use super::error::MappingError;
use super::spec::{ONLY, SKIP_COLUMN, SavedMapping, VAR};

impl SavedMapping {
    pub(super) fn explain(&self, error: MappingError) -> MappingError {
        let flag = match &error {
            MappingError::NoSuchColumn { flag, .. } => *flag,
            MappingError::Other {
                flag: Some(flag), ..
            } => *flag,
            _ => return error,
        };
        if !self.has(flag) {
            return error;
        }
        let advice = if self.is_saved_again {
            format!("say with `{flag}` which column is meant now")
        } else {
            // Missing columns of these two flags are dropped; any other column must be named.
            let named = match flag {
                VAR | SKIP_COLUMN => String::new(),
                ONLY => format!(" {flag} COLUMN=VALUE"),
                _ => format!(" {flag} COLUMN"),
            };
            format!(
                "if the list has changed for good, `{}{named}` saves the mapping again",
                self.save_command
            )
        };
        let message = error.message();
        MappingError::other(message!(
            "{what}{; the mapping is in {place}|}",
            "{{hint}; {advice}|choose the columns again}",
            what = message.what.clone(),
            place = &self.place,
            hint = message.at_terminal().1.unwrap_or_default(),
            advice
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::spec::PHONE_COLUMN;
    use crate::mapping::{ColumnChoice, Mapping, MappingSpec, PhoneColumn};
    use crate::source::{Header, RowBatch};

    fn plan(names: &[&str], saved: &MappingSpec) -> Result<Mapping, MappingError> {
        let header = Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        };
        Mapping::plan("leads.csv", &header, &RowBatch::of_text(&[]), saved)
    }

    /// A mapping that was saved from a list with these columns.
    fn saved(vars: &[&str], columns: &[&str]) -> MappingSpec {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        MappingSpec {
            no_variables: vars.is_empty(),
            phone_columns: vec!["Phone".into()],
            variables: texts(vars),
            saved: Some(SavedMapping {
                place: "profile `crm` of `config.toml`".into(),
                save_command: "leadload check FILE --save-mapping crm".into(),
                flags: [VAR, PHONE_COLUMN].map(Into::into).into(),
                columns: Some(texts(columns)),
                is_saved_again: false,
            }),
            ..MappingSpec::default()
        }
    }

    #[test]
    fn a_new_column_is_reported_and_not_sent() {
        let spec = saved(&["city=City"], &["Phone", "City", "Notes"]);
        let mapping = plan(&["CITY", "phone", "Salary", "", "City 2", ""], &spec).unwrap();
        assert_eq!(mapping.variables, [("city".to_owned(), 0)]);
        assert_eq!(
            mapping.changed.new,
            [2, 3, 4],
            "and none behind the last header"
        );
        assert!(
            plan(&["Phone", "City", "Notes"], &spec)
                .unwrap()
                .changed
                .new
                .is_empty()
        );
    }

    #[test]
    fn a_mapped_column_that_is_missing_is_reported_with_its_profile() {
        let spec = saved(&["city=City"], &["Phone", "City"]);
        let text = plan(&["Phone", "Town"], &spec).unwrap_err().to_string();
        for named in [
            "`--var City`",
            "profile `crm` of `config.toml`",
            "`Phone`, `Town`",
            "`leadload check FILE --save-mapping crm`",
        ] {
            assert!(text.contains(named), "{text}");
        }
    }

    #[test]
    fn a_number_means_the_column_that_had_it() {
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
    fn a_phone_column_that_is_missing_is_never_replaced() {
        let mut spec = saved(&["name=Name"], &["Phone", "Name", "Emergency phone"]);
        for is_saved_again in [false, true] {
            spec.saved.as_mut().unwrap().is_saved_again = is_saved_again;
            for names in [&["Name", "Emergency phone"][..], &["Name", "Mobile"]] {
                let error = plan(names, &spec).unwrap_err().to_string();
                assert!(error.contains(" `Name`"), "{error}");
            }
        }
    }

    #[test]
    fn no_variables_at_all_stay_none() {
        let spec = saved(&[], &["Phone"]);
        let mapping = plan(&["Phone", "Salary"], &spec).unwrap();
        assert!(mapping.variables.is_empty());
        assert_eq!(mapping.changed.new, [1]);
    }

    #[test]
    fn a_mapping_that_is_saved_again_loses_missing_columns_and_gains_none() {
        let mut spec = saved(&["city=City", "a=A"], &["Phone", "City", "A", "Notes"]);
        spec.saved.as_mut().unwrap().is_saved_again = true;
        let mapping = plan(&["Phone", "Notes", "A", "Salary"], &spec).unwrap();
        assert_eq!(mapping.phone_columns, [PhoneColumn::from(0)]);
        assert_eq!(mapping.variables, [("a".to_owned(), 2)]);
        assert_eq!(mapping.changed.new, [3]);
        assert_eq!(mapping.changed.lost, ["City"]);
    }

    #[test]
    fn a_missing_column_that_decides_about_rows_is_an_error() {
        let mut spec = saved(&[], &["Phone", "Land"]);
        spec.region_columns = ColumnChoice::Named("Land".into());
        let saved = spec.saved.as_mut().unwrap();
        saved.is_saved_again = true;
        saved.flags.push("--region-column".into());
        let text = plan(&["Phone", "Country"], &spec).unwrap_err().to_string();
        for named in [
            "`--region-column Land`",
            "profile `crm` of `config.toml`",
            "`Phone`, `Country`",
            "`--region-column` ",
        ] {
            assert!(text.contains(named), "{text}");
        }
    }

    #[test]
    fn what_is_typed_narrows_what_was_saved() {
        let mut spec = saved(&["city=City", "a=A"], &["Phone", "City", "A"]);
        spec.skipped = vec!["a".into()];
        let mapping = plan(&["Phone", "City", "A"], &spec).unwrap();
        assert_eq!(mapping.variables, [("city".to_owned(), 1)]);
    }
}
