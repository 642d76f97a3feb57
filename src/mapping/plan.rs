//! The plan for one input: which cell goes where.

use super::columns::Columns;
use super::detect;
use super::rejects_form::RejectsForm;
use super::{EmptyCells, MappingError, MappingSpec};
use crate::lead::{ErrorCode, RowOutcome};
use crate::source::{Header, Row};

/// What is read from each row of one input, and what is sent of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// How many cells each row must have.
    pub cells: usize,
    /// The columns (from 0) that hold the number, in order of preference.
    pub phone_columns: Vec<usize>,
    /// The column (from 0) that names the campaign.
    pub campaign_column: Option<usize>,
    /// Names of variables and the columns (from 0) that they come from.
    pub variables: Vec<(String, usize)>,
    /// Variables that are the same in every row.
    pub constants: Vec<(String, String)>,
    /// What becomes of empty cells.
    pub empty_cells: EmptyCells,
    /// Set where the input is a rejects file that comes back.
    pub rejects_form: Option<RejectsForm>,
}

impl Mapping {
    /// Fits the flags to the header of `input`.
    pub fn plan(input: &str, header: &Header, spec: &MappingSpec) -> Result<Mapping, MappingError> {
        let rejects_form = RejectsForm::of(&header.names);
        let columns = Columns {
            input,
            headers: &header.names,
            own: match &rejects_form {
                Some(form) => form.input_columns.clone(),
                None => (0..header.names.len()).collect(),
            },
        };
        let phone_columns = match spec.phone_columns.is_empty() {
            true => vec![detect::phone_column(&columns)?],
            false => spec
                .phone_columns
                .iter()
                .map(|name| columns.find("--phone-column", name))
                .collect::<Result<_, _>>()?,
        };
        let campaign_column = spec
            .campaign_column
            .as_ref()
            .map(|name| columns.find("--campaign-column", name))
            .transpose()?;
        let mut mapping = Mapping {
            cells: header.names.len(),
            phone_columns,
            campaign_column,
            variables: Vec::new(),
            constants: spec.constants.clone(),
            empty_cells: spec.empty_cells,
            rejects_form,
        };
        mapping.variables = match spec.variables.is_empty() {
            true => mapping.all_columns(&columns, spec)?,
            false => named_columns(&columns, spec)?,
        };
        mapping.refuse_two_sources(&columns)?;
        Ok(mapping)
    }

    /// Every column with a header, less those that are something else and those
    /// that are to be skipped.
    fn all_columns(
        &self,
        columns: &Columns<'_>,
        spec: &MappingSpec,
    ) -> Result<Vec<(String, usize)>, MappingError> {
        let skipped = skipped_columns(columns, spec)?;
        let is_left_out = |column: &usize| {
            self.phone_columns.contains(column)
                || self.campaign_column == Some(*column)
                || skipped.contains(column)
        };
        Ok(columns
            .own
            .iter()
            .copied()
            .filter(|column| !is_left_out(column))
            .filter_map(|column| Some((spec.var_names.name(&columns.headers[column])?, column)))
            .collect())
    }

    fn refuse_two_sources(&self, columns: &Columns<'_>) -> Result<(), MappingError> {
        let from_columns = self.variables.iter().map(|(name, column)| {
            let source = format!("column {} (`{}`)", column + 1, columns.headers[*column]);
            (name, source)
        });
        let from_flags = self
            .constants
            .iter()
            .map(|(name, _)| (name, format!("`--set {name}=…`")));
        let mut seen: Vec<(&String, String)> = Vec::new();
        for (name, source) in from_columns.chain(from_flags) {
            if let Some((_, first)) = seen.iter().find(|(other, _)| *other == name) {
                return Err(MappingError::TwoSources {
                    name: name.clone(),
                    first: first.clone(),
                    second: source,
                    input: columns.input.to_owned(),
                });
            }
            seen.push((name, source));
        }
        Ok(())
    }

    /// Why the row cannot be read at all, if so.
    pub fn misshapen(&self, row: Row<'_>) -> Option<RowOutcome> {
        if row.len() != self.cells || self.is_unmended(row) {
            return Some(RowOutcome::invalid(
                ErrorCode::FieldCount,
                self.field_count_text(row),
            ));
        }
        row.undecodable_column().map(|column| {
            RowOutcome::invalid(
                ErrorCode::Encoding,
                format!("the cell in column {} is not UTF-8 text", column + 1),
            )
        })
    }

    /// A row of a rejects file that had the wrong number of cells, and whose
    /// error code is still there: whether its cells stand under the right
    /// headers, only a person can say.
    fn is_unmended(&self, row: Row<'_>) -> bool {
        self.rejects_form.as_ref().is_some_and(|form| {
            row.text(form.error_code).map(str::trim)
                == Some(ErrorCode::FieldCount.to_string().as_str())
        })
    }

    fn field_count_text(&self, row: Row<'_>) -> String {
        let found = match row.len() == self.cells {
            true => "not mended yet".to_owned(),
            false => format!("{} cells where the header has {}", row.len(), self.cells),
        };
        format!("{found}; put each cell under its header, then clear the cell leadload_error_code")
    }

    /// The row's variables, in the order in which they are sent.
    pub fn variables<'a>(
        &'a self,
        row: Row<'a>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        let from_columns = self.variables.iter().filter_map(move |(name, column)| {
            let value = row.text(*column)?;
            match (value.trim().is_empty(), self.empty_cells) {
                (false, _) => Some((name.as_str(), value)),
                (true, EmptyCells::Send) => Some((name.as_str(), "")),
                (true, EmptyCells::Omit) => None,
            }
        });
        let constants = self
            .constants
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        from_columns.chain(constants)
    }
}

/// The columns that `--var` names, under the names that it gives them.
fn named_columns(
    columns: &Columns<'_>,
    spec: &MappingSpec,
) -> Result<Vec<(String, usize)>, MappingError> {
    const FLAG: &str = "--var";
    let skipped = skipped_columns(columns, spec)?;
    let mut variables = Vec::with_capacity(spec.variables.len());
    for var in &spec.variables {
        // A header that is the whole text wins: a column may be called `a=b`.
        let (name, column) = match (columns.named(FLAG, var)?, var.split_once('=')) {
            (None, Some((name, column))) if !name.trim().is_empty() => {
                (Some(name.trim().to_owned()), columns.find(FLAG, column)?)
            }
            _ => {
                let column = columns.find(FLAG, var)?;
                (spec.var_names.name(&columns.headers[column]), column)
            }
        };
        if skipped.contains(&column) {
            return Err(MappingError::SkippedVariable {
                column: columns.headers[column].clone(),
                input: columns.input.to_owned(),
            });
        }
        let name = name.ok_or_else(|| MappingError::NoVariableName {
            number: column + 1,
            input: columns.input.to_owned(),
        })?;
        variables.push((name, column));
    }
    Ok(variables)
}

fn skipped_columns(columns: &Columns<'_>, spec: &MappingSpec) -> Result<Vec<usize>, MappingError> {
    spec.skipped
        .iter()
        .map(|name| columns.find("--skip-column", name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::VarNames;

    fn header(names: &[&str]) -> Header {
        Header {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            has_bom: false,
        }
    }

    fn plan(names: &[&str], spec: &MappingSpec) -> Result<Mapping, MappingError> {
        Mapping::plan("leads.csv", &header(names), spec)
    }

    fn variables(mapping: &Mapping) -> Vec<(&str, usize)> {
        mapping
            .variables
            .iter()
            .map(|(name, column)| (name.as_str(), *column))
            .collect()
    }

    fn vars(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn all_columns_with_a_header_are_sent_but_phone_campaign_and_skipped_ones() {
        let spec = MappingSpec {
            campaign_column: Some("List".into()),
            skipped: vec!["notes".into()],
            ..MappingSpec::default()
        };
        let mapping = plan(
            &["Customer Name", "Phone", "List", "", "Notes", "City"],
            &spec,
        )
        .unwrap();
        assert_eq!(mapping.phone_columns, [1]);
        assert_eq!(mapping.campaign_column, Some(2));
        assert_eq!(variables(&mapping), [("customer_name", 0), ("city", 5)]);
    }

    #[test]
    fn when_var_is_given_only_these_are_sent_also_phone_columns() {
        let spec = MappingSpec {
            variables: vars(&["first=2", "Phone", "a=b"]),
            ..MappingSpec::default()
        };
        let mapping = plan(&["Phone", "Name", "City", "a=b"], &spec).unwrap();
        assert_eq!(
            variables(&mapping),
            [("first", 1), ("phone", 0), ("a_b", 3)]
        );
    }

    #[test]
    fn a_header_wins_over_a_number() {
        let spec = MappingSpec {
            phone_columns: vec!["1".into()],
            ..MappingSpec::default()
        };
        assert_eq!(plan(&["x", "1"], &spec).unwrap().phone_columns, [1]);
    }

    #[test]
    fn two_sources_for_one_variable_are_both_named() {
        let error = plan(&["phone", "City", "city "], &MappingSpec::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the variable `city` would come from column 2 (`City`) and from column 3 (`city `) in `leads.csv`\n\n\
             hint: leave one out with `--skip-column`, or give it another name with `--var NAME=COLUMN`"
        );
        let spec = MappingSpec {
            constants: vec![("city".into(), "Leeds".into())],
            ..MappingSpec::default()
        };
        assert!(matches!(
            plan(&["phone", "City"], &spec),
            Err(MappingError::TwoSources { .. })
        ));
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_the_nearest_header() {
        let spec = MappingSpec {
            variables: vars(&["name=Custmer"]),
            ..MappingSpec::default()
        };
        let error = plan(&["phone", "Customer", "City"], &spec).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`--var Custmer` names no column of `leads.csv`\n\n\
             hint: did you mean `Customer`? its columns are `phone`, `Customer`, `City`"
        );
    }

    #[test]
    fn no_phone_column_and_two_of_them_are_told_apart() {
        assert!(matches!(
            plan(&["name", "city"], &MappingSpec::default()),
            Err(MappingError::NoPhoneColumn { .. })
        ));
        let error = plan(&["Mobile", "name", "Phone"], &MappingSpec::default()).unwrap_err();
        assert!(
            matches!(&error, MappingError::SeveralPhoneColumns { columns, .. } if *columns == ["Mobile", "Phone"])
        );
        assert_eq!(
            plan(&["phone verified", "phone"], &MappingSpec::default())
                .unwrap()
                .phone_columns,
            [1]
        );
        for (names, column) in [(["number", "phone"], 1), (["name", "number"], 1)] {
            assert_eq!(
                plan(&names, &MappingSpec::default()).unwrap().phone_columns,
                [column]
            );
        }
    }

    #[test]
    fn the_columns_of_a_rejects_file_are_never_sent() {
        let names = [
            "phone",
            "city",
            "leadload_row",
            "leadload_status",
            "leadload_error_code",
            "leadload_error",
            "leadload_run",
        ];
        let mapping = plan(&names, &MappingSpec::default()).unwrap();
        assert_eq!(variables(&mapping), [("city", 1)]);
        assert_eq!(mapping.rejects_form.unwrap().input_columns, [0, 1]);
    }

    #[test]
    fn the_columns_of_a_rejects_file_are_known_wherever_they_were_moved_to() {
        let names = [
            "leadload_row",
            "phone",
            "Leadload_Status",
            "leadload_error_code",
            "leadload_error",
            "leadload_run",
            "leadload_surplus",
            "city",
        ];
        let mapping = plan(&names, &MappingSpec::default()).unwrap();
        assert_eq!(variables(&mapping), [("city", 7)]);
        for name in ["leadload_row", "1"] {
            let spec = MappingSpec {
                variables: vars(&[name]),
                ..MappingSpec::default()
            };
            assert!(matches!(
                plan(&names, &spec),
                Err(MappingError::NoSuchColumn { .. })
            ));
        }
    }

    #[test]
    fn names_as_they_are_can_be_asked_for() {
        let spec = MappingSpec {
            var_names: VarNames::AsIs,
            ..MappingSpec::default()
        };
        let mapping = plan(&["phone", "Customer Name"], &spec).unwrap();
        assert_eq!(variables(&mapping), [("Customer Name", 1)]);
    }
}
