//! Campaigns that rows name: what `check` says about them, and what an import refuses.

use leadload::sandbox::Sandbox;
use serde_json::json;

use crate::relay::always;
use crate::util::{Folder, Output, service};

const LIST: &str = "phone,list\n\
    +447911000001,Spring promo\n\
    +447911000002,101\n\
    +447911000003,Zzz\n\
    x,Yyy\n\
    +447911000004,Newsletter\n\
    +447911000005,Zzz\n\
    +447911000006\n\
    +447911000001,Spring promo\n";

const BY_LIST: [&str; 4] = ["check", "leads.csv", "--campaign-column", "list"];

fn check(folder: &Folder, service: &Sandbox, more: &[&str]) -> Output {
    let args = [&BY_LIST, more].concat();
    folder.leadload(&args).at(service).output()
}

#[test]
fn rows_are_counted_under_the_name_where_no_service_is_set_up() {
    let folder = Folder::with_leads(LIST);
    let check = |more: &[&str]| folder.leadload(&[&BY_LIST, more].concat()).expect(1);
    let output = check(&[]);
    output.shows_words("`Spring promo` 2 1 ready");
    output.shows_words("`Yyy` 1 0 ready");
    assert_eq!(output.stderr, "");
    let found = check(&["--format", "json"]).json();
    let rows = |campaign: &str| {
        let counts = found["by_campaign"][campaign].as_object().unwrap();
        counts.values().map(|n| n.as_u64().unwrap()).sum::<u64>()
    };
    let names: Vec<&String> = found["by_campaign"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["101", "Newsletter", "Spring promo", "Yyy", "Zzz"]);
    assert_eq!(rows("Spring promo"), 2);
    assert_eq!(found["by_campaign"]["Spring promo"]["repeated"], 1);
    assert_eq!(found["by_campaign"]["Zzz"]["ready"], 2);
    assert_eq!(
        found["campaign_names"],
        json!({ "looked_up": false, "reason": found["campaign_names"]["reason"], "unclear": [] })
    );
}

#[test]
fn names_are_looked_up_and_those_that_mean_no_campaign_are_listed_with_their_lines() {
    let folder = Folder::with_leads(LIST);
    let service = service();
    let output = check(&folder, &service, &[]);
    assert_eq!(output.code, 1, "{}", output.stderr);
    // A name and the id of the same campaign count as one campaign.
    output.shows_words("“Spring promo” (101) 3 2 ready");
    output.shows_words("`Zzz` 2 2 ready");
    output.shows("  `Zzz`: 2 rows, in lines 4, 7\n");
    output.shows("  `Newsletter`: 1 row, in line 6\n");
    output.tells("2 campaign names");
    let found = check(&folder, &service, &["--format", "json"]).json();
    assert_eq!(found["by_campaign"]["101"]["ready"], 2);
    assert_eq!(
        found["campaign_names"],
        json!({ "looked_up": true, "reason": null, "unclear": [
            { "name": "Zzz", "problem": "unknown", "ids": [], "rows": 2,
              "first": [{ "file": "leads.csv", "line": 4 }, { "file": "leads.csv", "line": 7 }] },
            { "name": "Newsletter", "problem": "ambiguous", "ids": ["104", "105"], "rows": 1,
              "first": [{ "file": "leads.csv", "line": 6 }] },
        ]})
    );
    assert_eq!(service.stats().lead_requests, 0);

    // An import says the same, and sends nothing.
    let args = ["leads.csv", "--campaign-column", "list"];
    let refused = folder.import(&service, &args).expect(2);
    refused.tells("  `Zzz`: 2 rows, in lines 4, 7\n");
    refused.tells("  `Newsletter`: 1 row, in line 6\n");
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn lines_are_those_of_their_files() {
    let folder = Folder::with_leads("phone,list\n\n+447911000001,Zzz\n");
    folder.write(
        "more.csv",
        "phone,list\n\"+447911\n000002\",Spring promo\n+447911000003,Zzz\n",
    );
    let service = service();
    let args = ["leads.csv", "more.csv", "--campaign-column", "list"];
    let refused = folder.import(&service, &args).expect(2);
    refused.tells("  `Zzz`: 2 rows, in line 3 of leads.csv, line 4 of more.csv\n");
}

#[test]
fn a_name_for_all_rows_is_counted_under_its_id_and_looked_up_in_the_ledger() {
    let folder = Folder::with_leads("phone\n+447911000001\n+447911000002\n");
    let service = service();
    let args = ["leads.csv", "--campaign", "101", "--limit", "1"];
    folder.import(&service, &args).expect(0);
    let check = |name: &str, more: &[&str]| {
        let args = [&["check", "leads.csv", "--campaign", name], more].concat();
        folder.leadload(&args).at(&service).expect(0)
    };
    let output = check("Spring promo", &[]);
    output.shows_words("“Spring promo” (101) 2 1 ready");
    assert_eq!(output.stderr, "");
    let found = check("Spring promo", &["--format", "json"]).json();
    assert_eq!(found["by_campaign"]["101"]["ready"], 1);
    assert_eq!(found["by_campaign"]["101"]["already_imported"], 1);
    assert_eq!(found["lead_bodies"][0]["campaign_id"], 101);
    let unknown = check("Sprung promo", &[]);
    unknown.shows_words("`Sprung promo` 2 2 ready");
    unknown.shows("`Spring promo`? ");
    // An id is not a name, so the service is not asked.
    let found = check("101", &["--format", "json"]).json();
    assert_eq!(found["campaign_names"], json!(null));
}

#[test]
fn a_service_that_does_not_list_its_campaigns_is_a_warning_and_no_end() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let args = ["check", "leads.csv", "--campaign", "Spring promo"];
    for (status, body, why) in [
        (
            401,
            r#"{"error":"Unauthenticated"}"#,
            "HTTP 401: Unauthenticated",
        ),
        (200, "<html>", "WARN"),
    ] {
        let run = folder
            .leadload(&args)
            .env("LEADLOAD_BASE_URL", &always(status, body))
            .env("LEADLOAD_TOKEN", "t0ken");
        let output = run.expect(0);
        output.tells(" WARN ");
        output.tells(why);
        output.shows_words("`Spring promo` 1 1 ready");
        output.shows("looked up");
    }
    let without_token = folder
        .leadload(&args)
        .env("LEADLOAD_BASE_URL", "https://app.example.com")
        .expect(0);
    without_token.shows("access token");
    assert_eq!(without_token.stderr, "");
}

#[test]
fn ids_in_a_column_need_no_request() {
    let folder = Folder::with_leads("phone,list\n+447911000001,101\n+447911000002,102\n");
    let output = folder
        .leadload(&BY_LIST)
        .env("LEADLOAD_BASE_URL", "http://127.0.0.1:1")
        .env("LEADLOAD_TOKEN", "t0ken")
        .expect(0);
    output.shows_words("101 1 1 ready");
    assert_eq!(output.stderr, "");
    let without = folder.leadload(&BY_LIST).expect(0);
    assert!(!without.stdout.contains("looked up"), "{}", without.stdout);
}

#[test]
fn a_row_whose_cells_have_shifted_has_no_campaign() {
    let folder = Folder::with_leads("phone,list\n+447911000001,Ada,Spring promo\n");
    let args = [&BY_LIST[..], &["--format", "json"]].concat();
    let found = folder.leadload(&args).expect(1).json();
    assert_eq!(found["by_campaign"], json!({}));
}
