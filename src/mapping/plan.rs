//! The plan for one input: which cell goes where.

use std::borrow::Cow;

use super::columns::Columns;
use super::country_columns::{country_columns, holds_codes};
use super::only::{OnlyRule, only_rules};
use super::rejects_form::RejectsForm;
use super::row_shape::RowShape;
use super::spec::snake;
use super::{EmptyCells, MappingError, MappingSpec, RegionColumns, SavedMapping};
use super::{detect, header_row, test_leads};
use crate::lead::ErrorCode;
use crate::source::{Header, Row, RowBatch};
use crate::text::shown_name;

/// The flag that chooses what is sent.
pub(super) const VAR: &str = "--var";

/// The flag that says where the number is.
pub(super) const PHONE_COLUMN: &str = "--phone-column";

/// The flag that says where the country of each row stands.
pub(super) const REGION_COLUMN: &str = "--region-column";

/// The flag that copies a column into the results.
pub(super) const KEEP: &str = "--keep";

/// The flag that takes a column out.
pub(super) const SKIP_COLUMN: &str = "--skip-column";

/// What is read from each row of one input, and what is sent of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// How long rows are.
    pub shape: RowShape,
    /// The columns (from 0) that hold the number, in order of preference.
    pub phone_columns: Vec<usize>,
    /// The columns (from 0) beside these that have phone numbers as well.
    pub spare_phone_columns: Vec<usize>,
    /// The column (from 0) that names the campaign.
    pub campaign_column: Option<usize>,
    /// The columns (from 0) that name the country of numbers in national form.
    pub region_columns: Vec<usize>,
    /// Those among them that hold calling codes, also without a plus.
    pub code_columns: Vec<usize>,
    /// Whether these were found, and are variables all the same, rather than named.
    pub finds_regions: bool,
    /// The columns (from 0) that are called countries and hold few that are known. They complete
    /// no number; what they name speaks against another country all the same.
    pub vague_regions: Vec<usize>,
    /// Which rows are wanted: each of these must hold.
    pub only: Vec<OnlyRule>,
    /// Names of variables and the columns (from 0) that they come from.
    pub variables: Vec<(String, usize)>,
    /// Variables that are the same in every row.
    pub constants: Vec<(String, String)>,
    /// Names and columns (from 0) of what is copied into the results.
    pub kept: Vec<(String, usize)>,
    /// What becomes of empty cells.
    pub empty_cells: EmptyCells,
    /// Set where the input is a rejects file that comes back.
    pub rejects_form: Option<RejectsForm>,
    /// What the user is to be told of how columns were found.
    pub notes: Vec<Note>,
    /// The columns (from 0) that are not sent because they were not there when the mapping
    /// was kept.
    pub new_columns: Vec<usize>,
    /// What a mapping that is kept anew names no more, since the list has lost it.
    pub lost_columns: Vec<String>,
}

/// Something to be said of how a column was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What.
    pub text: String,
    /// The flag that says otherwise.
    pub flag: &'static str,
}

/// What becomes of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnUse<'a> {
    /// What it is read for.
    pub role: ColumnRole,
    /// The variables that it is sent as.
    pub variables: Vec<&'a str>,
}

/// What a column is read for beside variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRole {
    /// It holds the phone number.
    Phone,
    /// It names the campaign.
    Campaign,
    /// It names the country of the number.
    Region,
    /// `leadload` has added it to a rejects file.
    Ours,
    /// Nothing.
    None,
}

impl Mapping {
    /// Fits the flags to the header of `input`, whose first rows are in `sample`.
    pub fn plan(
        input: &str,
        header: &Header,
        sample: &RowBatch,
        spec: &MappingSpec,
    ) -> Result<Mapping, MappingError> {
        let planned = Mapping::fit(input, header, sample, spec);
        // A name that is not found is no wonder then, and the columns are not listed: they
        // are somebody.
        let planned = planned.map_err(|error| match &error {
            MappingError::NoSuchColumn { .. } => {
                let columns = Columns::of(input, header, None);
                header_is_data(&columns, header, &[]).unwrap_or(error)
            }
            _ => error,
        });
        planned.map_err(|error| match &spec.saved {
            Some(saved) => {
                let columns = Columns::of(input, header, None);
                saved.explain(error, &columns, sample)
            }
            None => error,
        })
    }

    fn fit(
        input: &str,
        header: &Header,
        sample: &RowBatch,
        spec: &MappingSpec,
    ) -> Result<Mapping, MappingError> {
        let rejects_form = RejectsForm::of(&header.names);
        let columns = Columns {
            saved: spec.saved.as_ref(),
            ..Columns::of(input, header, rejects_form.as_ref())
        };
        let mut lost = Lost {
            saved: spec.saved.as_ref(),
            columns: Vec::new(),
        };
        let named = spec.phone_columns.iter();
        let named = named.map(|name| columns.find(PHONE_COLUMN, name));
        let named: Vec<usize> = named.collect::<Result<_, _>>()?;
        let skipped = lost.each(SKIP_COLUMN, &spec.skipped, |name| {
            columns.find(SKIP_COLUMN, name)
        })?;
        let is_rejects = rejects_form.is_some();
        let found = if !named.is_empty() {
            let doubt = detect::doubt_about(&columns, &named, sample);
            Ok((named, doubt.filter(|_| !is_rejects)))
        } else {
            phone_column(&columns, &skipped, sample, is_rejects)
        };
        let read = found.as_ref().map(|(found, _)| &found[..]);
        if let Some(error) = header_is_data(&columns, header, read.unwrap_or_default()) {
            // Said rather than that there is no phone column.
            return Err(error);
        }
        let (phone_columns, note) = found?;
        let find = |flag, name: &Option<String>| {
            let found = name.as_ref().map(|name| columns.find(flag, name));
            found.transpose()
        };
        let mut mapping = Mapping {
            shape: RowShape::default(),
            phone_columns,
            spare_phone_columns: Vec::new(),
            campaign_column: find("--campaign-column", &spec.campaign_column)?,
            region_columns: Vec::new(),
            code_columns: Vec::new(),
            finds_regions: spec.region_columns == RegionColumns::Auto,
            vague_regions: Vec::new(),
            only: only_rules(&columns, &spec.only)?,
            variables: Vec::new(),
            constants: spec.constants.clone(),
            kept: kept_columns(&columns, spec)?,
            empty_cells: spec.empty_cells,
            rejects_form: rejects_form.clone(),
            notes: Vec::from_iter(note.map(|text| Note {
                text,
                flag: PHONE_COLUMN,
            })),
            new_columns: Vec::new(),
            lost_columns: Vec::new(),
        };
        mapping.spare_phone_columns = detect::other_phone_columns(&columns, &mapping.phone_columns);
        mapping.find_regions(&columns, spec, sample)?;
        let tests = test_leads::note(&columns, &mapping.only, sample);
        mapping.notes.extend(tests.filter(|_| !is_rejects));
        let is_chosen = spec.no_variables || !spec.variables.is_empty();
        mapping.variables = if is_chosen {
            named_columns(&columns, spec, &skipped, &mut lost)?
        } else {
            mapping.all_columns(&columns, spec, &skipped)
        };
        mapping.lost_columns = lost.columns;
        mapping.shape = RowShape::of(header, sample, &mapping);
        mapping.refuse_two_sources(&columns)?;
        if let Some(saved) = &spec.saved {
            mapping.new_columns = saved.new_columns(&columns, &mapping);
        }
        Ok(mapping)
    }

    /// The last column (from 0) that is read for a number, its country, a campaign or a
    /// variable.
    pub(super) fn last_used(&self) -> Option<usize> {
        let used = self.phone_columns.iter().copied();
        used.chain(self.campaign_column)
            .chain(self.region_columns.iter().copied())
            .chain(self.variables.iter().map(|(_, column)| *column))
            .max()
    }

    /// Whether a column (from 0) is read for anything.
    pub(super) fn is_used(&self, column: usize) -> bool {
        let used = self.uses(column);
        used.role != ColumnRole::None || !used.variables.is_empty()
    }

    /// The column (from 0) that stands for a row whose number cannot be read.
    pub fn first_phone_column(&self) -> usize {
        self.phone_columns.first().copied().unwrap_or(0)
    }

    /// What means a column (from 0) to a flag.
    pub fn flag_text(&self, header: &Header, column: usize) -> String {
        Columns::of("", header, self.rejects_form.as_ref()).flag_text(column)
    }

    /// The cell that the number is expected in, as text to be shown.
    pub fn phone_cell<'r>(&self, row: Row<'r>) -> Cow<'r, str> {
        row.lossy(self.first_phone_column())
    }

    /// The cells of a row that are the input's own: not those that `leadload` has added
    /// to a rejects file.
    pub fn own_cells<'r>(&self, row: Row<'r>) -> impl Iterator<Item = &'r [u8]> {
        let is_own = |column: &usize| match &self.rejects_form {
            Some(form) => form.input_columns.contains(column),
            None => true,
        };
        (0..row.len())
            .filter(is_own)
            .filter_map(move |column| row.cell(column))
    }

    /// What becomes of a column (from 0).
    pub fn uses(&self, column: usize) -> ColumnUse<'_> {
        let is_ours = |form: &RejectsForm| !form.input_columns.contains(&column);
        let from_column = self.variables.iter().filter(|(_, of)| *of == column);
        ColumnUse {
            role: match () {
                () if self.phone_columns.contains(&column) => ColumnRole::Phone,
                () if self.campaign_column == Some(column) => ColumnRole::Campaign,
                () if self.region_columns.contains(&column) => ColumnRole::Region,
                () if self.rejects_form.as_ref().is_some_and(is_ours) => ColumnRole::Ours,
                () => ColumnRole::None,
            },
            variables: from_column.map(|(name, _)| name.as_str()).collect(),
        }
    }

    /// The columns with each row's country: the one that a flag names, or those that are
    /// found.
    fn find_regions(
        &mut self,
        columns: &Columns<'_>,
        spec: &MappingSpec,
        sample: &RowBatch,
    ) -> Result<(), MappingError> {
        match &spec.region_columns {
            RegionColumns::None => {}
            RegionColumns::Named(name) => {
                let column = columns.find(REGION_COLUMN, name)?;
                self.region_columns = vec![column];
                if holds_codes(columns, column, sample) {
                    self.code_columns = vec![column];
                }
            }
            RegionColumns::Auto => {
                let found = country_columns(columns, sample, self.rejects_form.is_some());
                self.vague_regions.clone_from(&found.unknown);
                self.region_columns = found.used;
                self.code_columns = found.codes;
                self.notes
                    .extend(found.unknown.into_iter().map(|column| Note {
                    text: format!(
                        "{} holds few countries that are known, so it says nothing of the numbers",
                        columns.label(column)
                    ),
                    flag: REGION_COLUMN,
                }));
            }
        }
        Ok(())
    }

    /// Every column with a header, less those that are something else and those
    /// that are to be skipped.
    fn all_columns(
        &self,
        columns: &Columns<'_>,
        spec: &MappingSpec,
        skipped: &[usize],
    ) -> Vec<(String, usize)> {
        let is_left_out = |column: &usize| {
            self.phone_columns.contains(column)
                || self.campaign_column == Some(*column)
                || !self.finds_regions && self.region_columns.contains(column)
                || skipped.contains(column)
                // Of a rejects file that has lost some of these.
                || snake(&columns.headers[*column]).starts_with("leadload_")
        };
        let own = columns.own.iter().copied();
        own.filter(|column| !is_left_out(column))
            .filter_map(|column| Some((spec.var_names.name(&columns.headers[column])?, column)))
            .collect()
    }

    fn refuse_two_sources(&self, columns: &Columns<'_>) -> Result<(), MappingError> {
        self.refuse_two_values()?;
        let from_columns = self.variables.iter().map(|(name, column)| {
            let flag_text = columns.flag_text(*column);
            (name, columns.label(*column), Some(flag_text))
        });
        let from_flags = self
            .constants
            .iter()
            .map(|(name, _)| (name, format!("`--set {}=…`", shown_name(name)), None));
        let mut seen: Vec<(&String, String, Option<String>)> = Vec::new();
        for (name, source, column) in from_columns.chain(from_flags) {
            if let Some((_, first, column_of_first)) =
                seen.iter().find(|(other, ..)| *other == name)
            {
                return Err(MappingError::TwoSources {
                    name: name.clone(),
                    first: first.clone(),
                    second: source,
                    skipped: column.or_else(|| column_of_first.clone()),
                    input: columns.input.to_owned(),
                });
            }
            seen.push((name, source, column));
        }
        Ok(())
    }

    fn refuse_two_values(&self) -> Result<(), MappingError> {
        for (at, (name, _)) in self.constants.iter().enumerate() {
            let before = self.constants[..at].iter();
            if let Some(first) = before.map(|(other, _)| other).position(|o| o == name) {
                return Err(MappingError::SetTwice {
                    name: name.clone(),
                    first: first + 1,
                    second: at + 1,
                });
            }
        }
        Ok(())
    }

    /// Whether `--only` leaves the row out.
    pub fn excludes(&self, row: Row<'_>) -> bool {
        !self.only.iter().all(|rule| rule.takes(row))
    }

    /// Whether a row of a rejects file says that its number's country was in doubt.
    pub fn was_doubtful(&self, row: Row<'_>) -> bool {
        let code = self.rejects_form.as_ref().map(|form| form.error_code);
        let cell = code.and_then(|column| row.text(column));
        cell.is_some_and(|cell| cell.trim() == ErrorCode::PhoneDoubtful.to_string())
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

/// What a mapping that is kept anew goes on without.
struct Lost<'a> {
    saved: Option<&'a SavedMapping>,
    columns: Vec<String>,
}

impl Lost<'_> {
    /// What each text of a flag means, without those that may be lost and are.
    fn each<T>(
        &mut self,
        flag: &'static str,
        texts: &[String],
        find: impl Fn(&str) -> Result<T, MappingError>,
    ) -> Result<Vec<T>, MappingError> {
        let can_lose = self.saved.is_some_and(|saved| saved.can_lose(flag));
        let mut found = Vec::with_capacity(texts.len());
        for text in texts {
            match find(text) {
                Ok(column) => found.push(column),
                Err(MappingError::NoSuchColumn { column, .. }) if can_lose => {
                    self.columns.push(column);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

/// The phone column that is found among those that are not left out on purpose, and what is
/// to be said of how.
fn phone_column(
    columns: &Columns<'_>,
    left_out: &[usize],
    sample: &RowBatch,
    is_rejects: bool,
) -> Result<(Vec<usize>, Option<String>), MappingError> {
    let found = detect::phone_column(&columns.without(left_out), sample, is_rejects);
    let found = found.map_err(|error| error.about(columns))?;
    Ok((vec![found.column], found.note))
}

/// That the header is a contact, if it is.
fn header_is_data(
    columns: &Columns<'_>,
    header: &Header,
    phone_columns: &[usize],
) -> Option<MappingError> {
    let line = header.line?;
    let is_data = header_row::looks_like_data(columns, phone_columns);
    is_data.then(|| MappingError::HeaderIsData {
        input: columns.input.to_owned(),
        line,
    })
}

/// The columns that `--var` names, under the names that it gives them.
fn named_columns(
    columns: &Columns<'_>,
    spec: &MappingSpec,
    skipped: &[usize],
    lost: &mut Lost<'_>,
) -> Result<Vec<(String, usize)>, MappingError> {
    let named = lost.each(VAR, &spec.variables, |var| named_column(columns, spec, var))?;
    let mut variables = Vec::with_capacity(named.len());
    for (name, column) in named {
        if skipped.contains(&column) && spec.is_saved(VAR) {
            // What was kept is narrowed by what is typed.
            continue;
        }
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

/// The column that one `--var` names, under its name if it has one.
pub(super) fn named_column(
    columns: &Columns<'_>,
    spec: &MappingSpec,
    var: &str,
) -> Result<(Option<String>, usize), MappingError> {
    let (name, column) = name_and_column(columns, VAR, var)?;
    let of_header = || spec.var_names.name(&columns.headers[column]);
    Ok((name.or_else(of_header), column))
}

/// What `COL` or `NAME=COL` says.
fn name_and_column(
    columns: &Columns<'_>,
    flag: &'static str,
    text: &str,
) -> Result<(Option<String>, usize), MappingError> {
    // A header that is the whole text wins: a column may be called `a=b`.
    match (columns.named(flag, text)?, text.split_once('=')) {
        (None, Some((name, column))) if !name.trim().is_empty() => {
            Ok((Some(name.trim().to_owned()), columns.find(flag, column)?))
        }
        _ => Ok((None, columns.find(flag, text)?)),
    }
}

/// The columns that `--keep` names, under its names or their headers.
fn kept_columns(
    columns: &Columns<'_>,
    spec: &MappingSpec,
) -> Result<Vec<(String, usize)>, MappingError> {
    let mut kept: Vec<(String, usize)> = Vec::with_capacity(spec.kept.len());
    for text in &spec.kept {
        let (name, column) = name_and_column(columns, KEEP, text)?;
        let name = name.unwrap_or_else(|| match columns.headers[column].trim() {
            "" => (column + 1).to_string(),
            header => header.to_owned(),
        });
        if kept.iter().any(|(other, _)| *other == name) {
            return Err(MappingError::KeptTwice { name });
        }
        kept.push((name, column));
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::VarNames;

    fn header(names: &[&str]) -> Header {
        Header {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            line: Some(1),
        }
    }

    fn plan(names: &[&str], spec: &MappingSpec) -> Result<Mapping, MappingError> {
        Mapping::plan("leads.csv", &header(names), &RowBatch::of_text(&[]), spec)
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
             hint: leave one out with `--skip-column city`, or give it another name with `--var NAME=COLUMN`"
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
            matches!(&error, MappingError::SeveralPhoneColumns { candidates, .. } if candidates.iter().map(|c| &*c.label).eq(["column 1 (`Mobile`)", "column 3 (`Phone`)"]))
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
