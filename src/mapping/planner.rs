//! Makes the plan for one input from its header, its first rows and the user's choices.
//!
//! Whatever does not fit is an error here, before anything is sent.

use std::collections::{HashMap, HashSet};

use super::area_codes::AreaCodes;
use super::columns::Columns;
use super::country_columns::CountryColumns;
use super::error::MappingError;
use super::header_words::{folded, snake};
use super::only::only_rules;
use super::phone_column::PhoneColumn;
use super::plan::{ChangedColumns, ColumnUse, Mapping, Note};
use super::rejects_form::RejectsForm;
use super::row_shape::RowShape;
use super::spec::{
    ColumnChoice, HiddenRows, KEEP, MappingSpec, PHONE_COLUMN, REGION_COLUMN, SKIP_COLUMN, VAR,
};
use super::{beside, detect, extension_column, header_row, mark, test_leads};
use crate::message::{Message, Text};
use crate::shell::quoted;
use crate::source::{Header, RowBatch};
use crate::text::shown_name;

fn lost_column(input: &str, lost: &str) -> MappingError {
    MappingError::other(message!(
        "`{input}` has {rejects|rows to fix}, but no longer the column `{lost}`",
        "put the column back; its cells may be empty. Only with all columns that begin with `leadload_` are the {campaign, the columns and the do-not-call lists of the run|settings of these rows} known",
        input,
        lost
    ))
}

impl Mapping {
    /// Applies the flags to the header of `input`, whose first rows are in `sample`.
    pub fn plan(
        input: &str,
        header: &Header,
        sample: &RowBatch,
        spec: &MappingSpec,
    ) -> Result<Mapping, MappingError> {
        if let Some(lost) = RejectsForm::lost_column(&header.names) {
            return Err(lost_column(input, lost));
        }
        let rejects_form = RejectsForm::of(&header.names);
        let columns = Columns {
            saved: spec.saved.as_ref(),
            ..Columns::of(input, header, rejects_form.as_ref())
        };
        let planner = Planner {
            columns,
            header,
            sample,
            spec,
            rejects_form: rejects_form.as_ref(),
        };
        planner.plan().map_err(|error| {
            let columns = Columns::of(input, header, None);
            // If the header is really a contact, no column name is found in it, and its cells may
            // be personal data. So they are not listed.
            let is_unknown = matches!(&error, MappingError::NoSuchColumn { .. });
            let is_data = is_unknown.then(|| header_is_data(&columns, header, sample, &[]));
            let error = is_data.flatten().unwrap_or(error);
            match &spec.saved {
                Some(saved) => saved.explain(error),
                None => error,
            }
        })
    }
}

struct Planner<'a> {
    columns: Columns<'a>,
    header: &'a Header,
    sample: &'a RowBatch,
    spec: &'a MappingSpec,
    rejects_form: Option<&'a RejectsForm>,
}

impl Planner<'_> {
    /// Columns that look like phone columns and are not used.
    fn spare(&self, phone_columns: &[PhoneColumn], area_codes: &AreaCodes) -> Vec<usize> {
        let used = phone_columns.iter();
        let used = used.flat_map(|phone| phone.columns().chain(phone.extension));
        let used: HashSet<usize> = used.chain(area_codes.columns()).collect();
        let mut spare = beside::phone_headers(&self.columns);
        spare.retain(|column| !used.contains(column));
        spare
    }

    fn plan(&self) -> Result<Mapping, MappingError> {
        let Planner {
            columns,
            spec,
            sample,
            ..
        } = self;
        let mut changed = ChangedColumns::default();
        let named = spec.phone_columns.iter();
        let named = named.map(|name| columns.find_phone(name));
        let named: Vec<PhoneColumn> = named.collect::<Result<_, _>>()?;
        let skipped = self.each(&mut changed.lost, SKIP_COLUMN, &spec.skipped, |name| {
            columns.find(SKIP_COLUMN, name)
        })?;
        let is_rejects = self.rejects_form.is_some();
        let area_codes = AreaCodes::find(columns, sample, is_rejects);
        let found = self.phone_columns(named, &skipped, &area_codes);
        let read = found
            .as_ref()
            .map(|(found, _)| found.iter().map(|phone| phone.number));
        let read: Vec<usize> = read.into_iter().flatten().collect();
        // Reported in place of the error that there is no phone column.
        if let Some(error) = header_is_data(columns, self.header, self.sample, &read) {
            return Err(error);
        }
        let (phone_columns, note) = found?;
        let campaign_column = spec.campaign_column.as_ref();
        let campaign_column = campaign_column.map(|name| columns.find("--campaign-column", name));
        let mut mapping = Mapping {
            shape: RowShape::default(),
            spare_phone_columns: self.spare(&phone_columns, &area_codes),
            phone_columns,
            campaign_column: campaign_column.transpose()?,
            countries: self.countries(&area_codes)?,
            only: only_rules(columns, &spec.only)?,
            marks: Vec::new(),
            variables: Vec::new(),
            constants: spec.constants.clone(),
            kept: self.kept_columns()?,
            skips_hidden: spec.hidden_rows == Some(HiddenRows::Skip),
            empty_cells: spec.empty_cells,
            rejects_form: self.rejects_form.cloned(),
            notes: Vec::new(),
            changed: ChangedColumns::default(),
        };
        let in_use = self.in_use(&mapping);
        mapping.marks = mark::columns(columns, sample, spec, &mapping.only, &in_use)?;
        mapping.variables = if spec.no_variables || !spec.variables.is_empty() {
            self.named_columns(&skipped, &mut changed.lost)?
        } else {
            self.all_columns(&mapping, &skipped)
        };
        refuse_two_sources(&mapping, columns)?;
        mapping.notes = self.notes(&mapping, note);
        mapping.shape = RowShape::of(self.header, sample, mapping.last_used(), self.rejects_form);
        changed.new = self.new_columns(&mapping);
        Ok(Mapping { changed, ..mapping })
    }

    /// Calls `find` for each text of a flag. If the mapping is being saved again, missing columns
    /// that it may lose are collected in `lost`.
    fn each<T>(
        &self,
        lost: &mut Vec<String>,
        flag: &'static str,
        texts: &[String],
        find: impl Fn(&str) -> Result<T, MappingError>,
    ) -> Result<Vec<T>, MappingError> {
        let saved = self.spec.saved.as_ref();
        let can_lose = saved.is_some_and(|saved| saved.can_lose(flag));
        let mut found = Vec::with_capacity(texts.len());
        for text in texts {
            match find(text) {
                Ok(column) => found.push(column),
                Err(MappingError::NoSuchColumn { column, .. }) if can_lose => lost.push(column),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// The phone columns, with a note on the choice: those that flags name, or else the one that is
    /// detected among the columns that are not left out on purpose. Area codes and extensions count
    /// wherever they are: without them somebody else is called.
    fn phone_columns(
        &self,
        named: Vec<PhoneColumn>,
        left_out: &[usize],
        area_codes: &AreaCodes,
    ) -> Result<(Vec<PhoneColumn>, Option<Text>), MappingError> {
        let Planner {
            columns, sample, ..
        } = self;
        let is_rejects = self.rejects_form.is_some();
        let extensions = extension_column::find(columns, sample);
        let (mut phones, mut note) = (named, None);
        if phones.is_empty() {
            let others = extensions.iter().map(|(column, _)| *column);
            let others: Vec<usize> = others
                .chain(area_codes.columns())
                .chain(left_out.iter().copied())
                // Numbers in a column that says do not call are those of a list of such people.
                .chain(mark::do_not_call(columns))
                .collect();
            let candidates = columns.without(&others);
            let found = detect::phone_column(&candidates, sample, area_codes, is_rejects);
            let (column, why) = found.map_err(|error| error.with_headers(columns.names()))?;
            (phones, note) = (vec![PhoneColumn::from(column)], why);
        }
        for phone in &mut phones {
            phone.area_code = phone.area_code.or_else(|| area_codes.of(phone.number));
        }
        extension_column::add_to(&mut phones, columns, &extensions);
        Ok((phones, note))
    }

    /// The columns with each row's country: the one that a flag names, or those that are detected.
    fn countries(&self, area_codes: &AreaCodes) -> Result<CountryColumns, MappingError> {
        let (columns, sample) = (&self.columns, self.sample);
        Ok(match &self.spec.region_columns {
            ColumnChoice::None => CountryColumns::default(),
            ColumnChoice::Named(name) => {
                let column = columns.find(REGION_COLUMN, name)?;
                CountryColumns::named(columns, sample, column)
            }
            ColumnChoice::Auto => {
                let columns = columns.without(&area_codes.columns());
                CountryColumns::find(&columns, sample, self.rejects_form.is_some())
            }
        })
    }

    fn notes(&self, mapping: &Mapping, on_phone: Option<Text>) -> Vec<Note> {
        let vague = mapping.countries.vague.iter().map(|column| {
            text!(
                "{column} holds few countries that are known, so it is not used for the numbers",
                column = self.columns.label(*column)
            )
        });
        let tests = test_leads::found(&self.columns, &mapping.only, self.sample);
        let tests = tests.filter(|_| self.rejects_form.is_none());
        let joined = mapping.phone_columns.iter().filter_map(|phone| {
            Some(text!(
                "{area} has the area codes of {number}, so the two are one number",
                area = self.columns.label(phone.area_code?),
                number = self.columns.label(phone.number)
            ))
        });
        let on_phone = on_phone.into_iter().chain(joined);
        on_phone
            .map(|what| Note::new(PHONE_COLUMN, what))
            .chain(vague.map(|what| Note::new(REGION_COLUMN, what)))
            .chain(tests)
            .collect()
    }

    /// For each column, whether it is used, as far as is known by now.
    fn in_use(&self, mapping: &Mapping) -> Vec<bool> {
        let uses = mapping.uses(self.columns.headers.len());
        uses.iter().map(ColumnUse::is_used).collect()
    }

    /// Every column with a header, except columns that have another use and skipped ones.
    fn all_columns(&self, mapping: &Mapping, skipped: &[usize]) -> Vec<(String, usize)> {
        let Planner { columns, spec, .. } = self;
        let phones = mapping
            .phone_columns
            .iter()
            .flat_map(|phone| phone.columns());
        let countries = &mapping.countries;
        let regions = (!countries.are_found).then_some(&countries.used);
        let left_out: HashSet<usize> = phones
            .chain(mapping.campaign_column)
            .chain(regions.into_iter().flatten().copied())
            .chain(mapping.marks.iter().map(|mark| mark.column))
            .chain(skipped.iter().copied())
            .collect();
        let is_left_out = |column: &usize| {
            left_out.contains(column)
                // In a rejects file that has lost some of the added columns.
                || snake(&columns.headers[*column]).starts_with("leadload_")
        };
        let own = columns.own.iter().copied();
        own.filter(|column| !is_left_out(column))
            .filter_map(|column| Some((spec.var_names.name(&columns.headers[column])?, column)))
            .collect()
    }

    fn named_columns(
        &self,
        skipped: &[usize],
        lost: &mut Vec<String>,
    ) -> Result<Vec<(String, usize)>, MappingError> {
        let Planner { columns, spec, .. } = self;
        let input = columns.input;
        let named = self.each(lost, VAR, &spec.variables, |var| {
            name_and_column(columns, VAR, var)
        })?;
        let left_out: HashSet<&usize> = skipped.iter().collect();
        let mut variables = Vec::with_capacity(named.len());
        for (name, column) in named {
            if left_out.contains(&column) {
                // The flags that are typed narrow what was saved.
                if spec.saved.as_ref().is_some_and(|saved| saved.has(VAR)) {
                    continue;
                }
                return Err(MappingError::other(message!(
                    "{|the }column `{name}` {of `{input}` is named by both `--var` and `--skip-column`|is to be sent, and left out too}",
                    "{drop one of the two|tick the columns again under {--var}}",
                    name = shown_name(&columns.headers[column]),
                    input
                )));
            }
            let of_header = || spec.var_names.name(&columns.headers[column]);
            let name = name.or_else(of_header).ok_or_else(|| {
                let number = (column + 1).to_string();
                MappingError::other(Message::new(
                    text!(
                        "column {number} of `{input}` has no header{ that could name a variable|}",
                        number = &number,
                        input
                    ),
                    text!(
                        "give it a name{: `--var NAME={number}`| for the agent, or do not send it}",
                        number
                    ),
                ))
            })?;
            variables.push((name, column));
        }
        Ok(variables)
    }

    fn kept_columns(&self) -> Result<Vec<(String, usize)>, MappingError> {
        let mut kept: Vec<(String, usize)> = Vec::with_capacity(self.spec.kept.len());
        let mut names = HashSet::new();
        for text in &self.spec.kept {
            let (name, column) = name_and_column(&self.columns, KEEP, text)?;
            let name = name.unwrap_or_else(|| match self.columns.headers[column].trim() {
                "" => (column + 1).to_string(),
                header => header.to_owned(),
            });
            if !names.insert(name.clone()) {
                return Err(MappingError::other(message!(
                    "{`--keep` would give the results|the results would have} two columns called `{name}`",
                    "{give one of them another name: `--keep NAME=COLUMN`|{ask_setup}}",
                    name = shown_name(&name)
                )));
            }
            kept.push((name, column));
        }
        Ok(kept)
    }

    /// The unused columns (from 0) that did not exist when the mapping was saved.
    fn new_columns(&self, mapping: &Mapping) -> Vec<usize> {
        let saved = self.spec.saved.as_ref();
        let Some(known) = saved.and_then(|saved| saved.columns_for(VAR)) else {
            return Vec::new();
        };
        let mut left: HashMap<String, usize> = HashMap::new();
        for header in known {
            *left.entry(folded(header)).or_default() += 1;
        }
        let in_use = self.in_use(mapping);
        let mut new = Vec::new();
        for column in self.columns.own.iter().copied() {
            match left.get_mut(&folded(&self.columns.headers[column])) {
                // Each header stands for one column: a second one of the same name is new.
                Some(left) if *left > 0 => *left -= 1,
                // Delimiters at the end of the lines are not a column.
                _ if column >= mapping.shape.empty_from || in_use[column] => {}
                _ => new.push(column),
            }
        }
        new
    }
}

fn header_is_data(
    columns: &Columns<'_>,
    header: &Header,
    sample: &RowBatch,
    phone_columns: &[usize],
) -> Option<MappingError> {
    let line = header.line?;
    let is_data = header_row::looks_like_data(columns, phone_columns);
    is_data.then(|| {
        let input = columns.input;
        if let Some(second) = header_row::second_header(sample) {
            return several_tables(input, line, second);
        }
        MappingError::other(message!("the first row of `{input}` (line {line}) looks like a contact, not like {column headers|the names of columns}", "if the file has no {header, say so with {--no-header}; its columns are then called 1, 2, and so on|names of columns, tick “The first row is a person” under {--no-header}}", input, line = line.to_string()))
    })
}

/// Neither with a header nor without one does such a file have one table.
fn several_tables(input: &str, line: u64, second: u64) -> MappingError {
    MappingError::other(message!(
        "`{input}` seems to have several tables: line {line} looks like a contact, line {second} like the header of a table",
        "put each table into a file of its own, with {its header in the first line|the names of its columns in the first row}",
        input,
        line = line.to_string(),
        second = second.to_string()
    ))
}

/// Refuses a variable that two columns, or a column and `--set`, would fill.
fn refuse_two_sources(mapping: &Mapping, columns: &Columns<'_>) -> Result<(), MappingError> {
    let from_columns = mapping.variables.iter();
    let from_columns = from_columns.map(|(name, column)| (name, Some(*column)));
    let from_flags = mapping.constants.iter().map(|(name, _)| (name, None));
    let mut seen: HashMap<&String, Option<usize>> = HashMap::new();
    for (name, column) in from_columns.chain(from_flags) {
        if let Some(first) = seen.insert(name, column) {
            let name = shown_name(name);
            let source = |column: Option<usize>| match column {
                Some(column) => columns.label(column).to_string(),
                None => format!("`--set {name}=…`"),
            };
            let hint = match column.or(first) {
                Some(column) => format!(
                    "leave one out with `{SKIP_COLUMN} {}`, or give it another name with `--var NAME=COLUMN`",
                    quoted(&columns.flag_text(column))
                ),
                None => "drop one of the two".to_owned(),
            };
            return Err(MappingError::other(message!(
                "{the variable `{name}` would come from {first} and from {second} in `{input}`|two columns have the name `{name}`: the agent would know only one of them}",
                "{{hint}|give one of them another name for the agent, or do not send it}",
                first = source(first),
                second = source(column),
                name,
                input = columns.input,
                hint
            )));
        }
    }
    Ok(())
}

/// The column that `COL` or `NAME=COL` means, and the name, if the text gives one.
pub(super) fn name_and_column(
    columns: &Columns<'_>,
    flag: &'static str,
    text: &str,
) -> Result<(Option<String>, usize), MappingError> {
    // A header that equals the whole text wins: a column may be called `a=b`.
    match (columns.named(flag, text)?, text.split_once('=')) {
        (None, Some((name, column))) if !name.trim().is_empty() => {
            Ok((Some(name.trim().to_owned()), columns.find(flag, column)?))
        }
        _ => Ok((None, columns.find(flag, text)?)),
    }
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
        assert_eq!(mapping.phone_columns, [PhoneColumn::from(1)]);
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
        assert_eq!(
            plan(&["x", "1"], &spec).unwrap().phone_columns,
            [PhoneColumn::from(1)]
        );
    }

    #[test]
    fn among_thousands_of_columns_each_is_found_by_its_name_and_by_its_number() {
        let mut names: Vec<String> = (1..=2_000).map(|i| format!("Answer {i}")).collect();
        names[7] = "Phone".to_owned();
        (names[30], names[1_900]) = ("same".to_owned(), "Same".to_owned());
        names[40].clear();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let spec = MappingSpec {
            variables: vars(&["a=answer 1999", "b=same", "c=SAME", "d=41", "e=7"]),
            ..MappingSpec::default()
        };
        let ambiguous = plan(&names, &spec).unwrap_err().to_string();
        assert!(ambiguous.starts_with("`--var SAME` "), "{ambiguous}");
        assert!(ambiguous.contains(" 31 and 1901 "), "{ambiguous}");
        let spec = MappingSpec {
            skipped: vars(&["same", "Answer 2000"]),
            variables: vars(&["a=answer 1999", "c=Same", "d=41", "e=7"]),
            ..MappingSpec::default()
        };
        let expected = [("a", 1_998), ("c", 1_900), ("d", 40), ("e", 6)];
        assert_eq!(variables(&plan(&names, &spec).unwrap()), expected);
        let all = MappingSpec {
            skipped: spec.skipped,
            ..MappingSpec::default()
        };
        // Without the phone column, the skipped ones and the one without a header.
        let sent = plan(&names, &all).unwrap().variables;
        assert_eq!(sent.len(), 1_996);
        assert!(sent.contains(&("same".to_owned(), 1_900)));
    }

    #[test]
    fn two_sources_for_one_variable_are_both_named() {
        let error = plan(&["phone", "City", "city "], &MappingSpec::default()).unwrap_err();
        let text = error.to_string();
        for named in [
            "column 2 (`City`)",
            "column 3 (`city `)",
            "`--skip-column city`",
        ] {
            assert!(text.contains(named), "{text}");
        }
        let spec = MappingSpec {
            constants: vec![("city".into(), "Leeds".into())],
            ..MappingSpec::default()
        };
        let error = plan(&["phone", "City"], &spec).unwrap_err().to_string();
        assert!(error.contains("`--set city=…`"), "{error}");
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_the_nearest_header() {
        let spec = MappingSpec {
            variables: vars(&["name=Custmer"]),
            ..MappingSpec::default()
        };
        let error = plan(&["phone", "Customer", "City"], &spec).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("`--var Custmer` "), "{text}");
        assert!(text.contains("`Customer`?"), "{text}");
        assert!(text.ends_with("`phone`, `Customer`, `City`"), "{text}");
    }

    #[test]
    fn no_phone_column_and_two_of_them_are_different_errors() {
        assert!(matches!(
            plan(&["name", "city"], &MappingSpec::default()),
            Err(MappingError::NoPhoneColumn { .. })
        ));
        let error = plan(&["Mobile", "name", "Phone"], &MappingSpec::default()).unwrap_err();
        assert!(
            matches!(&error, MappingError::SeveralPhoneColumns { candidates, .. } if candidates.iter().map(|c| c.label.to_string()).eq(["column 1 (`Mobile`)", "column 3 (`Phone`)"]))
        );
        assert_eq!(
            plan(&["phone verified", "phone"], &MappingSpec::default())
                .unwrap()
                .phone_columns,
            [PhoneColumn::from(1)]
        );
        for (names, column) in [(["number", "phone"], 1), (["name", "number"], 1)] {
            assert_eq!(
                plan(&names, &MappingSpec::default()).unwrap().phone_columns,
                [PhoneColumn::from(column)]
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
