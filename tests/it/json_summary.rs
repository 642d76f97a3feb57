//! `--format json` of `import` and `check`, compared with the tables in
//! `docs/json.md` and `docs/statuses.md`.

use std::collections::BTreeSet;

use leadload::exit::StoppedBy;
use leadload::lead::ErrorCode;
use serde_json::Value;

use crate::util::{Folder, Output, contacts_of, scenario, service};

/// A page of the documentation.
fn page(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/");
    std::fs::read_to_string(format!("{folder}{name}")).unwrap()
}

/// The first cells of the tables below a heading of `json.md`, without their backquotes.
fn documented(heading: &str) -> BTreeSet<String> {
    first_cells(&page("json.md"), heading)
}

/// The first cells of the tables below a heading, without their backquotes.
fn first_cells(page: &str, heading: &str) -> BTreeSet<String> {
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = below.split("\n## ").next().unwrap();
    let cells = section.lines().filter_map(|line| {
        let (cell, _) = line.strip_prefix("| `")?.split_once("` |")?;
        Some(cell.to_owned())
    });
    let cells: Vec<String> = cells.collect();
    let all: BTreeSet<String> = cells.iter().cloned().collect();
    assert_eq!(all.len(), cells.len(), "{heading}: {cells:?}");
    all
}

/// The keys of a summary; keys of objects within it as paths. Leaves out keys that are not part of
/// the format: statuses and campaigns have their own tables, and a body is shown as it is sent.
fn keys(summary: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, path: &str, into: &mut BTreeSet<String>) {
        if ["counts", "by_campaign", "lead_bodies"].contains(&path) {
            return;
        }
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let path = match path {
                        "" => key.clone(),
                        path => format!("{path}.{key}"),
                    };
                    collect(value, &path, into);
                    into.insert(path);
                }
            }
            Value::Array(values) => values
                .iter()
                .for_each(|value| collect(value, &format!("{path}[]"), into)),
            _ => {}
        }
    }
    let mut keys = BTreeSet::new();
    collect(summary, "", &mut keys);
    keys
}

fn names(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

/// The one object that a command has printed.
fn summary(output: &Output) -> Value {
    assert_eq!(output.stdout.lines().count(), 1, "{}", output.stdout);
    output.json()
}

const JSON: [&str; 2] = ["--format", "json"];

#[test]
fn every_key_of_an_import_is_in_the_table_and_every_key_of_the_table_is_printed() {
    let folder = Folder::with_leads(&(contacts_of(&[101, 102], 3) + "x,101\n07911 100009,101\n"));
    let service = service();
    let args = [
        "leads.csv",
        "--region",
        "GB",
        "--campaign-column",
        "list",
        "--report",
        "r.html",
    ];
    let import = folder.import(&service, &[&args[..], &JSON].concat());
    let complete = summary(&import.expect(1));
    assert_eq!(keys(&complete), documented("Both commands"));
    // The keys of every summary, whatever was asked for and however the run ends.
    let mut always = documented("Both commands");
    // These two are there only with a report, or if a number was completed.
    always.retain(|key| key != "report" && !key.starts_with("countries.completed[]"));
    let no_campaign = folder.import(&service, &[&["leads.csv"][..], &JSON].concat());
    let refused = summary(&no_campaign.expect(2));
    assert_eq!(keys(&refused), always);
    let revoked = scenario("token_revoked_after = 1");
    let stopped = folder.import_leads(&revoked, &JSON).expect(3);
    assert_eq!(keys(&summary(&stopped)), always);
    let both = ["leads.csv", "more.csv"];
    folder.write("more.csv", contacts_of(&[101], 1));
    let several = [&both[..], &["--campaign", "101"], &JSON].concat();
    let several = summary(&folder.import(&service, &several).expect(1));
    assert!(several["rejects"].is_array());
    assert_eq!(keys(&several), always);
}

#[test]
fn every_key_of_a_check_is_in_the_tables_and_every_key_of_the_tables_is_printed() {
    let list = contacts_of(&[101, 102], 3) + "x,101\n07911 100009,101\n+447911000099,Zzz\n";
    let (header, rows) = list.split_once('\n').unwrap();
    let rows: String = rows.lines().map(|row| format!("{row},no\n")).collect();
    let folder = Folder::with_leads(&format!("{header},Do Not Call\n{rows}"));
    let service = service();
    folder.write("do-not-call.txt", "+447911999999\n");
    let line = "check leads.csv --region GB --campaign-column list --suppress do-not-call.txt --report r.html";
    let save = ["--save-mapping", "crm", "--config", "config.toml"];
    let check = folder
        .leadload(&[])
        .at(&service)
        .args(line)
        .args(&save.join(" "));
    let found = summary(&check.args(&JSON.join(" ")).expect(1));
    let mut all = documented("Both commands");
    all.extend(documented("`check` alone"));
    assert_eq!(keys(&found), all);
    for part in ["inputs", "lists", "lead_bodies", "groups", "numbers"] {
        assert_ne!(found[part], serde_json::json!([]), "{part}");
    }
    // A command that fails has found nothing.
    let refused = folder.leadload(&["check", "nothing.csv", "--format", "json"]);
    let mut always = documented("Both commands");
    always.retain(|key| key != "report" && !key.starts_with("countries.completed[]"));
    assert_eq!(keys(&summary(&refused.expect(2))), always);
}

#[test]
fn every_status_and_every_campaign_has_all_the_words_of_the_table() {
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 4));
    let service = service();
    let args = ["leads.csv", "--campaign-column", "list"];
    let import = folder.import(&service, &[&args[..], &JSON].concat());
    let found = summary(&import.expect(0));
    let words = first_cells(&page("statuses.md"), "Statuses");
    assert_eq!(names(&found["counts"]), words);
    let campaigns = names(&found["by_campaign"]);
    assert_eq!(campaigns, ["101", "102"].map(str::to_owned).into());
    for campaign in campaigns {
        assert_eq!(names(&found["by_campaign"][campaign]), words);
    }
    // The example in the page has all of them too.
    let page = page("json.md");
    let (_, example) = page.split_once("```json\n").unwrap();
    let example: Value = serde_json::from_str(example.split("```").next().unwrap()).unwrap();
    assert_eq!(names(&example["by_campaign"]["101"]), words);
}

#[test]
fn every_reason_to_stop_is_in_the_table_with_its_exit_code() {
    let words = StoppedBy::WORDS.map(|(_, word)| word.to_owned());
    assert_eq!(documented("`stopped_by`"), words.into());
    let page = page("json.md");
    for (by, _) in StoppedBy::WORDS {
        let line = format!("\n| `{by}` | {} | ", by.exit_code() as u8);
        assert!(page.contains(&line), "{line}");
    }
}

#[test]
fn every_error_code_is_in_the_table() {
    let codes: BTreeSet<String> = ErrorCode::all().map(|code| code.to_string()).collect();
    assert_eq!(first_cells(&page("statuses.md"), "Error codes"), codes);
}
