//! The country of a number without a calling code: what the row says comes
//! before what applies to the whole list.

use serde_json::Value;

use crate::page::Page;
use crate::util::{Folder, scenario, seen};

const LIST: &str = "name,phone,Country\n\
    Ada,07400 123456,UK\n\
    Bob,030 23125123,Deutschland\n\
    Cy,(212) 555-0123,U.S.A.\n\
    Di,07400 123457,\n\
    Ed,07400 123458,Neverland\n\
    Flo,+33199001234,Neverland\n\
    Gus,01 99 00 12 35,+33\n";

/// The numbers and error codes that `check` gives for `leads.csv`, and its JSON summary.
#[track_caller]
fn checked(folder: &Folder, flags: &str) -> (Vec<String>, Value) {
    let args = "check leads.csv --format json --results out.csv ";
    let args = args.to_owned() + flags;
    let args: Vec<&str> = args.split_whitespace().collect();
    let object = folder.leadload(&args).output().json();
    let rows = folder.records("out.csv");
    let said = rows.iter().map(|row| match &*row["error_code"] {
        "" => row["phone_number"].clone(),
        code => code.to_owned(),
    });
    (said.collect(), object)
}

#[test]
fn a_country_column_is_found_and_used_row_by_row_and_stays_a_variable() {
    let folder = Folder::with_leads(LIST);
    let (rows, object) = checked(&folder, "--region GB");
    let expected = [
        "+447400123456",
        "+493023125123",
        "+12125550123",
        "+447400123457",
        "phone_not_e164",
        "+33199001234",
        "+33199001235",
    ];
    assert_eq!(rows, expected);
    let quoted = &folder.records("out.csv")[4]["error"];
    assert!(
        quoted.contains("`Neverland` (column `Country`)"),
        "{quoted}"
    );
    let countries = &object["countries"];
    assert_eq!(countries["region"], "GB");
    assert_eq!(countries["region_from"], "--region");
    assert_eq!(countries["region_columns"][0], "Country");
    assert_eq!(object["lead_bodies"][0]["variables"][0]["country"], "UK");
    // The summary reports what was detected, but quotes no cells.
    let output = folder.leadload(&["check", "leads.csv", "--region", "GB"]);
    let output = output.expect(1);
    output.shows("`Country` (--region-column)");
    output.shows("GB (--region)");
    output.shows("`Neverland` (1 row)\n");
    let service = crate::util::service();
    let import = folder.import_leads(&service, &["--region", "GB"]).expect(1);
    assert!(!import.stdout.contains("Neverland"), "{}", import.stdout);
    assert!(!import.stderr.contains("Neverland"), "{}", import.stderr);
}

#[test]
fn a_column_that_the_flag_names_is_no_variable_and_none_turns_the_search_off() {
    let folder = Folder::with_leads(LIST);
    let (rows, object) = checked(&folder, "--region-column Country");
    assert_eq!(rows[3], "phone_not_e164");
    assert!(
        object["lead_bodies"][0]["variables"][0]
            .get("country")
            .is_none()
    );
    let (rows, object) = checked(&folder, "--region GB --region-column none");
    assert_eq!(rows[1], "+443023125123");
    assert_eq!(object["countries"]["region_columns"], serde_json::json!([]));
    assert_eq!(object["lead_bodies"][0]["variables"][0]["country"], "UK");
}

#[test]
fn two_columns_that_contradict_each_other_make_a_national_number_invalid() {
    let folder = Folder::with_leads(
        "phone,Billing Country,Shipping Country\n\
         07400 123456,UK,\n\
         07400 123457,UK,Germany\n\
         +447400123458,UK,Germany\n\
         07400 123459,UK,England\n",
    );
    let (rows, _) = checked(&folder, "--region GB");
    let expected = [
        "+447400123456",
        "phone_not_e164",
        "+447400123458",
        "+447400123459",
    ];
    assert_eq!(rows, expected);
    let said = &folder.records("out.csv")[1]["error"];
    assert!(
        said.contains("`Billing Country` and `Shipping Country`"),
        "{said}"
    );
}

#[test]
fn a_column_of_other_places_is_not_used_and_that_is_said_of_one_called_country() {
    let folder = Folder::with_leads(
        "phone,State/Country,Country\n07400 123456,US,North\n07400 123457,US,South\n",
    );
    let (rows, object) = checked(&folder, "--region GB");
    assert_eq!(rows, ["+447400123456", "+447400123457"]);
    let note = object["inputs"][0]["note"].as_str().unwrap();
    assert!(note.contains("column 3 (`Country`)"), "{note}");
}

#[test]
fn none_and_assumed_pluses_go_before_the_region_of_a_profile() {
    let folder = Folder::with_leads("phone\n07400 123456\n447400123457\n");
    folder.write("config.toml", "[profiles.crm]\nregion = 'GB'\n");
    let profile = "--config config.toml --profile crm";
    let both = ["+447400123456", "+447400123457"];
    assert_eq!(checked(&folder, profile).0, both);
    let none = ["phone_not_e164", "phone_not_e164"];
    assert_eq!(
        checked(&folder, &format!("{profile} --region none")).0,
        none
    );
    let assumed = ["phone_not_e164", "+447400123457"];
    assert_eq!(
        checked(&folder, &format!("{profile} --assume-plus")).0,
        assumed
    );
    // A `--region` that is typed as well is used.
    let beside = format!("{profile} --assume-plus --region GB");
    assert_eq!(checked(&folder, &beside).0, both);
    folder.write(
        "config.toml",
        "region = 'GB'\n[profiles.crm]\nregion = 'none'\n",
    );
    assert_eq!(checked(&folder, profile).0, none);
}

#[test]
fn the_profile_that_gives_the_region_is_named() {
    let folder = Folder::with_leads("phone\n07400 123456\n");
    folder.write("config.toml", "[profiles.crm]\nregion = 'GB'\n");
    let args = [
        "check",
        "leads.csv",
        "--config",
        "config.toml",
        "--profile",
        "crm",
    ];
    let output = folder.leadload(&args).expect(0);
    output.shows("`crm` (--region)");
}

#[test]
fn rejects_are_read_with_the_country_column_whatever_is_in_it() {
    let folder = Folder::with_leads(LIST);
    let service = crate::util::service();
    folder.import_leads(&service, &["--region", "GB"]).expect(1);
    // The only country name that is left is unknown.
    let args = ["leads.rejects.csv", "--campaign", "101"];
    folder.import(&service, &args).expect(1);
    let codes = folder.column("leads.rejects.results.csv", "error_code");
    assert_eq!(codes, ["phone_not_e164"]);
}

#[test]
fn a_column_of_calling_codes_needs_no_plus() {
    let list = "Name,Country Code,Phone\nAda,44,7911123456\nBob,1,2035550132\nCy,49,0171 3920001\nDi,353,087 123 4567\n";
    let folder = Folder::with_leads(list);
    for flags in [
        &[][..],
        &["--region", "GB"],
        &["--region-column", "Country Code"],
    ] {
        let service = scenario("keep_bodies = true");
        folder
            .import_leads(&service, &[flags, &["--ledger", "none"]].concat())
            .expect(0);
        let phones: Vec<String> = seen(&service).into_iter().map(|lead| lead.phone).collect();
        let expected = [
            "+447911123456",
            "+12035550132",
            "+491713920001",
            "+353871234567",
        ];
        assert_eq!(phones, expected);
    }
}

#[test]
fn an_unknown_country_is_quoted() {
    let list = "phone,Country\n07400 123456,UK\n07400 123457,Neverland\n07400 123458,GB\n";
    let folder = Folder::with_leads(list);
    let (rows, _) = checked(&folder, "--region GB");
    assert_eq!(rows, ["+447400123456", "phone_not_e164", "+447400123458"]);
    let said = &folder.records("out.csv")[1]["error"];
    assert!(said.contains("`Neverland` (column `Country`)"), "{said}");
}

#[test]
fn the_report_page_says_where_countries_come_from_and_how_many_numbers_they_completed() {
    let folder = Folder::with_leads(LIST);
    let args = "check leads.csv --region GB --report report.html";
    folder
        .leadload(&args.split(' ').collect::<Vec<_>>())
        .expect(1);
    let page = Page::read(&folder.read("report.html"));
    for named in [
        "Country (--region-column)",
        "GB (--region)",
        "5 numbers",
        "Germany (by row)",
        "United Kingdom (--region)",
    ] {
        page.says(named);
    }
}

#[test]
fn titles_above_the_header_are_skipped_and_it_is_said() {
    let folder = Folder::with_leads("Export of leads\n\nname,phone\nAda,+447400123456\n");
    let output = folder.leadload(&["check", "leads.csv"]).expect(0);
    output.shows("line 3");
    output.shows("(--no-header)");
    output.shows("ready                    1 ");
}
