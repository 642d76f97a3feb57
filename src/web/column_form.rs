//! What is chosen on the screen *Columns*: from the settings, from the form, and back into the
//! settings.

use std::path::{Path, PathBuf};

use super::form_columns::FormColumns;
use super::job::JobRecord;
use super::layout::FieldError;
use super::reading::ListFacts;
use super::server::FormFields;
use super::trouble::Trouble;
use crate::intake::PlannedInput;
use crate::mapping::{ColumnChoice, PhoneColumn, VarNames, is_private};
use crate::message::Voice;
use crate::options::{Constant, Given, Options};
use crate::phone::{PhoneRule, Region};

/// How many columns can hold the number, one after the other.
pub const MAX_PHONE_COLUMNS: usize = 4;

/// What is wrong with a form, and what was typed.
pub type NotFilledIn = (Vec<FieldError>, Box<ColumnForm>);

#[derive(Debug, Default)]
pub struct ColumnForm {
    pub phones: Vec<PhoneColumn>,
    /// The code of a country, `column-N`, or nothing.
    pub country: String,
    /// Which columns were found to name the country.
    pub country_found: Option<String>,
    /// Whether numbers without a country code may be doubtful, so that the user may say otherwise.
    pub asks_for_doubt: bool,
    pub numbers_are_right: bool,
    /// Columns and the values that are sent.
    pub only: Vec<(usize, Vec<String>)>,
    /// Rules about columns that this list does not have.
    pub only_lost: Vec<String>,
    /// The names of the do-not-call lists that were added here, and of those of the profile.
    pub blocked: Vec<String>,
    pub blocked_by_settings: Vec<String>,
    /// Of each column.
    pub variables: Vec<VariableChoice>,
    /// Variables that were sent to the campaign last time and are not ticked now, and the other way
    /// round.
    pub lost: Vec<String>,
    pub new: Vec<String>,
    /// The agent's opening line, to try the names in.
    pub opening_line: String,
    /// Columns that have another use.
    used: Vec<usize>,
}

#[derive(Debug, Default, Clone)]
pub struct VariableChoice {
    pub is_sent: bool,
    pub name: String,
    pub is_private: bool,
    pub examples: Vec<String>,
}

impl ColumnForm {
    /// The settings as the form shows them. What is detected in the list comes from `planned`,
    /// which is missing if the settings do not fit the list.
    pub fn of(
        record: &JobRecord,
        options: &Options,
        facts: &ListFacts,
        planned: Option<&PlannedInput>,
    ) -> ColumnForm {
        let columns = &facts.columns;
        let mapping = planned.map(|planned| &planned.mapping);
        let phones = match mapping {
            Some(mapping) => mapping.phone_columns.clone(),
            None => found(columns, &options.mapping.phone_column),
        };
        let countries = mapping.map(|mapping| mapping.countries.used.clone());
        let numbers_are_right = record.options.phones.phone_rule.is_some();
        let names: Vec<String> = countries
            .iter()
            .flatten()
            .map(|at| columns.name(*at))
            .collect();
        ColumnForm {
            country: country(options, columns),
            country_found: (!names.is_empty())
                .then(|| text!("the column {names} is used where it is filled", names))
                .map(|text| text.words(Voice::Page)),
            // A rule of the profile stays as it is.
            asks_for_doubt: options
                .phones
                .region
                .as_deref()
                .is_some_and(Option::is_some)
                && (options.phones.phone_rule.is_none() || numbers_are_right),
            numbers_are_right,
            only: only(record, options, columns),
            only_lost: only_lost(options, columns),
            blocked: file_names(&record.options),
            blocked_by_settings: lists_of_profile(record, options),
            variables: variables(options, facts, planned),
            used: used(&phones, options, columns),
            opening_line: record.opening_line.clone(),
            phones,
            ..ColumnForm::default()
        }
    }

    /// What was filled in; or what is wrong with it. `present` are the options that apply now, and
    /// `action` is the button that was pressed.
    pub fn from_fields(
        fields: &FormFields,
        columns: &FormColumns,
        facts: &ListFacts,
        present: &Options,
        action: &str,
    ) -> Result<ColumnForm, NotFilledIn> {
        let column = |text: &str| text.parse().ok().filter(|at| columns.text(*at).is_some());
        let mut phones: Vec<PhoneColumn> = Vec::new();
        for phone in fields
            .all("phone")
            .filter_map(|text| phone_of(text, column))
        {
            if !phones.contains(&phone) {
                phones.push(phone);
            }
        }
        let mut form = ColumnForm {
            phones,
            country: fields.get("country").unwrap_or_default().to_owned(),
            numbers_are_right: fields.get("numbers-are-right").is_some(),
            opening_line: fields.get("opening-line").unwrap_or_default().to_owned(),
            only: only_of(fields, &column),
            only_lost: fields.all("keep-only").map(str::to_owned).collect(),
            ..ColumnForm::default()
        };
        form.used = used(&form.phones, present, columns);
        form.used.extend(form.country_column());
        let count = facts.inspected.header.names.len();
        form.variables = (0..count)
            .map(|at| match columns.text(at) {
                None => VariableChoice::default(),
                Some(_) => VariableChoice {
                    is_sent: fields.get(&format!("send-{at}")).is_some(),
                    name: fields
                        .get(&format!("name-{at}"))
                        .unwrap_or_default()
                        .trim()
                        .to_owned(),
                    ..VariableChoice::default()
                },
            })
            .collect();
        let mut errors = form.errors(columns);
        if form.phones.is_empty() && matches!(action, "continue" | "preview") {
            let text = "Choose the column with the phone numbers.";
            errors.insert(0, FieldError::at("phone", text));
        }
        if action == "continue" {
            errors.extend(form.rules_without_values());
        }
        if errors.is_empty() {
            Ok(form)
        } else {
            Err((errors, Box::new(form)))
        }
    }

    /// Shows what was typed in place of what is kept.
    pub fn take_typed(&mut self, typed: ColumnForm) {
        for (variable, typed) in self.variables.iter_mut().zip(typed.variables) {
            // Columns that are used otherwise have no field for a name.
            if !typed.name.is_empty() || typed.is_sent {
                (variable.is_sent, variable.name) = (typed.is_sent, typed.name);
            } else {
                variable.is_sent = false;
            }
        }
        self.phones = typed.phones;
        self.country = typed.country;
        self.numbers_are_right = typed.numbers_are_right;
        self.only = typed.only;
        self.only_lost = typed.only_lost;
        self.opening_line = typed.opening_line;
        self.used = typed.used;
    }

    /// A rule without a value would be none: everybody would be called.
    fn rules_without_values(&self) -> impl Iterator<Item = FieldError> {
        let rules = self.only.iter().enumerate();
        let empty = rules.filter(|(_, (_, values))| values.is_empty());
        empty.map(|(rule, _)| {
            let text =
                "Press Show values and tick the ones that are sent, or choose “send all rows”.";
            FieldError::at(&format!("only-{rule}"), text)
        })
    }

    /// The column that names the country, if one is chosen.
    fn country_column(&self) -> Option<usize> {
        self.country.strip_prefix("column-")?.parse().ok()
    }

    fn errors(&self, columns: &FormColumns) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        for (at, variable) in self.variables.iter().enumerate().filter(|(_, v)| v.is_sent) {
            let field = format!("name-{at}");
            let column = columns.name(at);
            if variable.name.is_empty() || variable.name.contains('=') {
                let text = format!("Give {column} a name for the agent, without an equals sign.");
                errors.push(FieldError::at(&field, text));
            } else if names.contains(&variable.name.as_str()) {
                let text = format!(
                    "Two columns have the name {}. Give {column} another one: the agent would know only one of them.",
                    variable.name
                );
                errors.push(FieldError::at(&field, text));
            }
            names.push(&variable.name);
        }
        errors
    }

    /// Compares what is ticked with the variables that were last sent to the campaign.
    pub fn compare(&mut self, last: &[String]) {
        let sent = self.variables.iter().filter(|variable| variable.is_sent);
        let sent: Vec<&String> = sent.map(|variable| &variable.name).collect();
        let lost = last.iter().filter(|name| !sent.contains(name));
        let new = sent.iter().filter(|name| !last.contains(name));
        let (lost, new) = (
            lost.cloned().collect(),
            new.map(|name| (*name).clone()).collect(),
        );
        (self.lost, self.new) = (lost, new);
    }

    pub fn sends_something(&self) -> bool {
        self.variables.iter().any(|variable| variable.is_sent)
    }

    /// The columns that the agent can be told about: those that have no other use.
    pub fn can_be_sent(&self, columns: &FormColumns) -> impl Iterator<Item = usize> {
        let named = columns.named().map(|(at, _)| at);
        named.filter(|at| !self.used.contains(at))
    }

    /// Keeps what was chosen. `action` is the button that was pressed.
    pub fn apply(
        &self,
        record: &mut JobRecord,
        present: &Options,
        columns: &FormColumns,
        action: &str,
    ) {
        let text = |at: &usize| columns.text(*at).map(str::to_owned);
        let options = &mut record.options;
        let phones = self
            .phones
            .iter()
            .filter_map(|phone| columns.phone_text(*phone));
        let phones: Vec<String> = phones.collect();
        options.mapping.phone_column = (!phones.is_empty()).then(|| Given::list_of(&phones));
        self.apply_country(options, present, columns);
        let only = self.only.iter().flat_map(|(column, values)| {
            let column = columns.text(*column).unwrap_or_default();
            values.iter().map(move |value| {
                let rule = Constant {
                    name: column.to_owned(),
                    value: value.clone(),
                };
                Given::new(rule, format!("{column}={value}"))
            })
        });
        let lost = self.only_lost.iter().filter_map(|text| text.parse().ok());
        let only: Vec<Given<Constant>> = only.chain(lost).collect();
        // No rule is said only in place of one: otherwise later rules of the profile apply.
        let says_so = !only.is_empty() || present.mapping.only.is_some();
        options.mapping.only = says_so.then_some(only);
        let begun = self.only.iter().filter(|(_, values)| values.is_empty());
        record.only_columns = begun.filter_map(|(at, _)| text(at)).collect();
        record.opening_line.clone_from(&self.opening_line);
        let sent = self.variables.iter().enumerate().filter(|(at, variable)| {
            let has_other_use = self.used.contains(at);
            match action {
                "none" => false,
                "all" => {
                    !has_other_use && !is_private(&columns.name(*at)) && columns.has_header(*at)
                }
                _ => !has_other_use && variable.is_sent,
            }
        });
        let sent: Vec<String> = sent
            .filter_map(|(at, variable)| {
                let column = columns.text(at)?;
                let name = match &*variable.name {
                    "" => default_name(columns, at),
                    name => name.to_owned(),
                };
                Some(format!("{name}={column}"))
            })
            .collect();
        options.mapping.var = Some(Given::list_of(&sent));
        record.taken_from = None;
    }

    fn apply_country(&self, options: &mut Options, present: &Options, columns: &FormColumns) {
        let phones = &mut options.phones;
        let column = self.country_column().and_then(|at| columns.text(at));
        phones.region_column = match column {
            Some(text) => Some(Given::new(ColumnChoice::Named(text.to_owned()), text)),
            None => phones
                .region_column
                .take()
                .filter(|chosen| **chosen == ColumnChoice::None),
        };
        // Beside a column the country of the profile holds, for cells that are empty.
        phones.region = match (Region::parse(&self.country), column) {
            (_, Some(_)) => None,
            (Some(region), None) => Some(Given::new(Some(region), region.to_string())),
            // Said only in place of a country: the command line need not say it to go on.
            (None, None) => present
                .phones
                .region
                .is_some()
                .then(|| Given::new(None, "none")),
        };
        phones.phone_rule = self
            .numbers_are_right
            .then(|| Given::new(PhoneRule::Possible, "possible"));
    }

    /// Changes the do-not-call lists of the page: adds one, or removes the one that `action` names.
    /// Those of the profile apply too, whatever is chosen here.
    /// A list takes the place of one with its name if that is what is `wrong`.
    pub fn change_lists(
        record: &mut JobRecord,
        added: Option<PathBuf>,
        action: &str,
        wrong: Option<&Trouble>,
    ) {
        let mut lists = record.options.phones.suppress.take().unwrap_or_default();
        let removed = action
            .strip_prefix("remove-")
            .and_then(|at| at.parse().ok());
        if let Some(at) = removed.filter(|at| *at < lists.len()) {
            lists.remove(at);
        }
        if let Some(path) = added {
            let name = format!("“{}”", file_name(&path));
            if wrong.is_some_and(|wrong| wrong.what.contains(&name)) {
                lists.retain(|list| list.file_name() != path.file_name());
            }
            lists.push(Given::new(path.clone(), path));
        }
        record.options.phones.suppress = (!lists.is_empty()).then_some(lists);
    }
}

fn found(columns: &FormColumns, named: &Option<Vec<Given<String>>>) -> Vec<PhoneColumn> {
    let named = named.iter().flatten();
    named.filter_map(|text| columns.find_phone(text)).collect()
}

/// How a field names a phone column: by its place, behind that of its area codes.
pub fn phone_value(phone: PhoneColumn) -> String {
    match phone.area_code {
        Some(area) => format!("{area}+{}", phone.number),
        None => phone.number.to_string(),
    }
}

fn phone_of(text: &str, column: impl Fn(&str) -> Option<usize>) -> Option<PhoneColumn> {
    let Some((area, number)) = text.split_once('+') else {
        return column(text).map(PhoneColumn::from);
    };
    let number = PhoneColumn::from(column(number)?);
    let area_code = Some(column(area)?);
    Some(PhoneColumn {
        area_code,
        ..number
    })
}

fn country(options: &Options, columns: &FormColumns) -> String {
    if let Some(ColumnChoice::Named(text)) = options.phones.region_column.as_deref()
        && let Some(at) = columns.find(text)
    {
        return format!("column-{at}");
    }
    let region = options.phones.region.as_deref().copied().flatten();
    region.map(|region| region.to_string()).unwrap_or_default()
}

/// The rules about columns that the list does not have. They go only if somebody says so.
fn only_lost(options: &Options, columns: &FormColumns) -> Vec<String> {
    let rules = options.mapping.only.iter().flatten();
    let lost = rules.filter(|rule| columns.find(&rule.name).is_none());
    lost.map(|rule| rule.text().to_string_lossy().into_owned())
        .collect()
}

fn only(record: &JobRecord, options: &Options, columns: &FormColumns) -> Vec<(usize, Vec<String>)> {
    let mut rules: Vec<(usize, Vec<String>)> = Vec::new();
    for given in options.mapping.only.iter().flatten() {
        let Some(column) = columns.find(&given.name) else {
            continue;
        };
        match rules.iter_mut().find(|(of, _)| *of == column) {
            Some((_, values)) => values.push(given.value.clone()),
            None => rules.push((column, vec![given.value.clone()])),
        }
    }
    let begun = record
        .only_columns
        .iter()
        .filter_map(|text| columns.find(text));
    for column in begun {
        if rules.iter().all(|(of, _)| *of != column) {
            rules.push((column, Vec::new()));
        }
    }
    rules
}

/// The rules that were filled in. A column without a value has just been chosen.
fn only_of(
    fields: &FormFields,
    column: &impl Fn(&str) -> Option<usize>,
) -> Vec<(usize, Vec<String>)> {
    let mut rules = Vec::new();
    for rule in 0.. {
        let name = format!("only-{rule}");
        let Some(chosen) = fields.get(&name) else {
            break;
        };
        if let Some(at) = column(chosen) {
            let values = format!("{name}-value");
            let values = fields.all(&values).map(str::to_owned);
            rules.push((at, values.collect()));
        }
    }
    rules
}

/// The names of the do-not-call lists.
pub fn file_names(options: &Options) -> Vec<String> {
    let lists = options.phones.suppress.iter().flatten();
    lists.map(|list| file_name(list)).collect()
}

/// The names of the do-not-call lists that the profile adds to those of the page.
fn lists_of_profile(record: &JobRecord, options: &Options) -> Vec<String> {
    let own = record.options.phones.suppress.iter().flatten();
    let own: Vec<&PathBuf> = own.map(|list| &**list).collect();
    let all = options.phones.suppress.iter().flatten();
    let of_profile = all.filter(|list| !own.contains(&&***list));
    of_profile.map(|list| file_name(list)).collect()
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn used(phones: &[PhoneColumn], options: &Options, columns: &FormColumns) -> Vec<usize> {
    let campaign = options.mapping.campaign_column.as_deref();
    let campaign = campaign.and_then(|text| columns.find(text));
    let country = match options.phones.region_column.as_deref() {
        Some(ColumnChoice::Named(text)) => columns.find(text),
        _ => None,
    };
    let phones = phones.iter().flat_map(|phone| phone.columns());
    phones.chain(campaign).chain(country).collect()
}

fn variables(
    options: &Options,
    facts: &ListFacts,
    planned: Option<&PlannedInput>,
) -> Vec<VariableChoice> {
    let columns = &facts.columns;
    let mut choices: Vec<VariableChoice> = columns
        .all()
        .map(|at| VariableChoice {
            name: default_name(columns, at),
            is_private: is_private(&columns.name(at)),
            examples: facts.inspected.examples(at),
            ..VariableChoice::default()
        })
        .collect();
    // A list that was sent by a command may send all columns.
    if options.mapping.var.is_none() {
        let sent = planned
            .iter()
            .flat_map(|planned| &planned.mapping.variables);
        for (name, at) in sent {
            (choices[*at].is_sent, choices[*at].name) = (true, name.clone());
        }
    }
    let chosen = options.mapping.var.iter().flatten();
    for (name, at) in chosen.filter_map(|text| named(text, columns)) {
        choices[at].is_sent = true;
        if let Some(name) = name {
            choices[at].name = name;
        }
    }
    choices
}

/// A choice `NAME=COLUMN` or `COLUMN`, with the place of the column.
fn named(text: &str, columns: &FormColumns) -> Option<(Option<String>, usize)> {
    if let Some(at) = columns.find(text) {
        return Some((None, at));
    }
    let splits = text.match_indices('=');
    let mut splits = splits.map(|(at, _)| (&text[..at], &text[at + 1..]));
    splits.find_map(|(name, column)| Some((Some(name.to_owned()), columns.find(column)?)))
}

fn default_name(columns: &FormColumns, at: usize) -> String {
    let of_header = columns.has_header(at).then(|| columns.name(at));
    let name = of_header.and_then(|header| VarNames::Snake.name(&header));
    name.unwrap_or_else(|| format!("column_{}", at + 1))
}
