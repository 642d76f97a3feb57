//! What makes a run the same run, so that the same command continues it.
//!
//! This is the service, the campaign, the content of the inputs, and
//! every setting that decides what is sent from them. Not included: how
//! fast leads are sent, where the outputs go, and the do-not-call lists.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::campaign::CampaignBook;
use crate::intake::{Intake, PlannedInput};
use crate::ledger::TIMEOUT;
use crate::mapping::MarkKind;
use crate::settings::ImportSettings;
use crate::source::{Content, Fingerprint};

/// The key of runs whose inputs are rejects, all or some of them. Earlier versions left it out, and
/// it identifies nothing.
pub const REJECTS: &str = "rejects";

/// The options that identify a run, in words, as `runs show` prints them: how each input is read, and the
/// options that are declared as part of the identity. Its time-out is among them, and identifies nothing.
pub fn options(
    service: &str,
    settings: &ImportSettings,
    intake: &Intake,
    book: &CampaignBook,
) -> Value {
    let reading = &settings.reading;
    let campaign = reading.campaign.as_ref().map(ToString::to_string);
    let mut options = Map::new();
    options.insert("service".into(), json!(service));
    options.insert("campaign".into(), json!(campaign));
    options.insert("campaign_ids".into(), json!(book.ids()));
    options.extend(found(&intake.inputs));
    options.insert("constants".into(), constants(&reading.mapping.constants));
    if reading.doubts && reading.region.is_some() {
        // If the user sets a rule for numbers, no number is held back because of its country.
        options.insert("doubtful_numbers".into(), json!("held back"));
    }
    let mut mappings = intake.inputs.iter().map(|planned| &planned.mapping);
    if mappings.any(|mapping| mapping.rejects_form.is_some()) {
        options.insert(REJECTS.into(), json!(true));
    }
    for (declared, field) in settings.options.fields() {
        if declared.is_identity {
            options.insert(declared.key.into(), field.json().into());
        }
    }
    options.insert(TIMEOUT.into(), settings.timeout.as_secs_f64().into());
    Value::Object(options)
}

/// How each input is read and mapped.
fn found(inputs: &[PlannedInput]) -> Map<String, Value> {
    let mut found = Map::new();
    let mut add = |name: &str, value: fn(&PlannedInput) -> Value| {
        found.insert(name.to_owned(), each(inputs, value));
    };
    add("campaign_column", |i| {
        let column = i.mapping.campaign_column;
        json!(column.and_then(|column| column_names(i).into_iter().nth(column)))
    });
    add("encoding", |i| {
        json!(i.form.text().map(|t| t.encoding.name()))
    });
    add("delimiter", |i| {
        json!(i.form.text().map(|t| char::from(t.delimiter)))
    });
    add("has_header", |i| json!(i.form.has_header));
    add("sheet", |i| match &i.form.content {
        Content::Sheet(sheet) => json!(sheet.name),
        Content::Text(_) => Value::Null,
    });
    // What becomes of hidden rows, where there are some.
    add("hidden_rows", |i| {
        match (i.counts.hidden, i.mapping.skips_hidden) {
            (0, _) => Value::Null,
            (_, true) => json!("skip"),
            (_, false) => json!("send"),
        }
    });
    add("phone_columns", phone_columns);
    add("variables", variables);
    // Versions that counted blank rows as data rows gave the rows below them other numbers.
    add("blank_rows", |i| {
        let has_some = i.blank_rows().is_some_and(|rows| rows > 0);
        json!(has_some.then_some("not counted"))
    });
    add("region_columns", |i| columns(i, &i.mapping.countries.used));
    add("do_not_call_columns", |i| marks(i, MarkKind::DoNotCall));
    add("consent_columns", |i| marks(i, MarkKind::Consent));
    found
}

/// A digest of the options and of the content of the inputs.
pub fn identity(options: &Value, inputs: &[Fingerprint]) -> [u8; 32] {
    let (campaign, column) = campaigns(options);
    let identifies = |name: &str, value: &Value| match name {
        REJECTS | TIMEOUT => false,
        "campaign_ids" => !column.is_null(),
        // Runs of before they were asked about have sent hidden rows, and go on.
        "hidden_rows" => value.to_string().contains("skip"),
        _ => true,
    };
    let known_by = options.as_object().into_iter().flatten();
    let known_by = known_by.map(|(name, value)| (name.as_str(), value));
    // The order in which options are declared must not matter, nor options that are not set.
    let mut known_by: BTreeMap<&str, &Value> = known_by.collect();
    known_by.insert("campaign", &campaign);
    known_by.retain(|name, value| !value.is_null() && identifies(name, value));
    #[expect(
        clippy::expect_used,
        reason = "values with string keys, written to memory"
    )]
    let known_by = serde_json::to_vec(&known_by).expect("options are always JSON");
    let mut digest = Sha256::new();
    digest.update(known_by);
    for input in inputs {
        digest.update(input.sha256);
    }
    digest.finalize().into()
}

/// The campaign and the column with the campaigns of rows. The ids identify a run, not the names: the
/// service may rename a campaign tomorrow.
pub fn campaigns(options: &Value) -> (Value, Value) {
    let option = |key| options.get(key).cloned().unwrap_or_default();
    let (campaign, ids) = (option("campaign"), option("campaign_ids"));
    let id = campaign.as_str().and_then(|name| ids.get(name));
    let id = id.map(|id| json!(id.to_string()));
    (id.unwrap_or(campaign), option("campaign_column"))
}

/// The options that differ from those of another run: name, value there, value here.
pub fn differences<'a>(there: &'a Value, here: &'a Value) -> Vec<(&'a str, &'a Value, &'a Value)> {
    let here = here.as_object().into_iter().flatten();
    // Whether doubtful numbers are held back follows from the region and the rule.
    let follows = |name: &str| {
        matches!(
            name,
            "campaign_ids" | "doubtful_numbers" | REJECTS | TIMEOUT
        )
    };
    here.filter(|(name, _)| !follows(name))
        .map(|(name, value)| {
            (
                name.as_str(),
                there.get(name).unwrap_or(&Value::Null),
                value,
            )
        })
        .filter(|(_, there, here)| there != here)
        .collect()
}

/// The values of each input; a single value if it is the same for all.
fn each(inputs: &[PlannedInput], value: impl Fn(&PlannedInput) -> Value) -> Value {
    let mut values: Vec<Value> = inputs.iter().map(value).collect();
    match &mut values[..] {
        [first, others @ ..] if others.iter().all(|other| other == first) => first.take(),
        _ => Value::Array(values),
    }
}

/// The header of each column, with the column's number if other columns have the same header.
fn column_names(input: &PlannedInput) -> Vec<String> {
    let mut namesakes: HashMap<&str, usize> = HashMap::new();
    for name in &input.header.names {
        *namesakes.entry(name).or_default() += 1;
    }
    let names = input.header.names.iter().enumerate();
    names
        .map(|(column, name)| match namesakes.get(name.as_str()) {
            Some(1) => name.clone(),
            _ => format!("{name} (column {})", column + 1),
        })
        .collect()
}

/// The phone columns in order, each with its area codes if these are in another column.
fn phone_columns(input: &PlannedInput) -> Value {
    let headers = column_names(input);
    let names = input.mapping.phone_columns.iter().map(|phone| {
        let names: Vec<&str> = phone.columns().map(|at| &*headers[at]).collect();
        names.join("+")
    });
    json!(names.collect::<Vec<_>>())
}

fn columns(input: &PlannedInput, columns: &[usize]) -> Value {
    let headers = column_names(input);
    let names = columns.iter().map(|column| &*headers[*column]);
    json!(names.collect::<Vec<_>>())
}

/// The columns that say who must not be called, or who agrees to be, where there are some.
fn marks(input: &PlannedInput, kind: MarkKind) -> Value {
    let marks = input.mapping.marks.iter().filter(|mark| mark.kind == kind);
    let marks: Vec<usize> = marks.map(|mark| mark.column).collect();
    match marks[..] {
        [] => Value::Null,
        _ => columns(input, &marks),
    }
}

/// The variables in order, each with the header of its column.
fn variables(input: &PlannedInput) -> Value {
    let headers = column_names(input);
    let variables = input.mapping.variables.iter();
    let named = variables.map(|(name, column)| (name.clone(), json!(headers[*column])));
    Value::Object(named.collect())
}

/// The constants that are sent with every row, by name. Values of variables are in no log and in
/// no list of runs, so only a short digest of each is stored, which shows whether it differs.
fn constants(constants: &[(String, String)]) -> Value {
    let pairs = constants.iter();
    let digested = pairs.map(|(name, value)| {
        let digest = Sha256::digest(value);
        let short = digest.iter().take(4).map(|byte| format!("{byte:02x}"));
        (name.clone(), json!(short.collect::<String>()))
    });
    Value::Object(digested.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_the_same_wherever_its_options_are_declared() {
        let known_by = |text: &str| identity(&serde_json::from_str(text).unwrap(), &[]);
        let now = known_by(r#"{"campaign":"7","campaign_column":null,"region":"GB"}"#);
        let later =
            known_by(r#"{"region":"GB","only":null,"campaign_column":null,"campaign":"7"}"#);
        assert_eq!(now, later);
        let rejects =
            known_by(r#"{"campaign":"7","campaign_column":null,"region":"GB","rejects":true}"#);
        assert_eq!(now, rejects);
        let other = known_by(r#"{"campaign":"7","campaign_column":null,"region":"DE"}"#);
        assert_ne!(now, other);
    }

    #[test]
    fn a_run_that_sends_hidden_rows_is_one_of_before_they_were_asked_about() {
        let known_by = |hidden: &str| {
            let text = format!(r#"{{"campaign":"7","campaign_column":null{hidden}}}"#);
            identity(&serde_json::from_str(&text).unwrap(), &[])
        };
        let before = known_by("");
        assert_eq!(before, known_by(r#","hidden_rows":null"#));
        assert_eq!(before, known_by(r#","hidden_rows":"send""#));
        assert_eq!(before, known_by(r#","hidden_rows":[null,"send"]"#));
        assert_ne!(before, known_by(r#","hidden_rows":"skip""#));
        let (one, other) = (
            r#","hidden_rows":[null,"skip"]"#,
            r#","hidden_rows":["skip",null]"#,
        );
        assert_ne!(known_by(one), known_by(other));
    }
}
