//! Rows that are not wanted are left out.

use crate::util::{Folder, scenario, seen, service};

const LIST: &str = "name,phone,Consent,is_test\n\
    Ada,+447911000001,Yes,false\n\
    Bob,+447911000002,no,false\n\
    Cy,+447911000003, YES ,false\n\
    Di,+447911000004,yes,true\n\
    Ed,x,no,false\n\
    Flo,+447911000005\n";

#[test]
fn only_rows_with_the_value_are_sent_and_the_others_are_excluded() {
    let (folder, service) = (Folder::with_leads(LIST), scenario("keep_bodies = true"));
    let args = ["--only", "consent=yes", "--only", "is_test=false"];
    let output = folder.import_leads(&service, &args).expect(1);
    let phones: Vec<String> = seen(&service).into_iter().map(|lead| lead.phone).collect();
    assert_eq!(phones, ["+447911000001", "+447911000003"]);
    let statuses = folder.column("leads.results.csv", "status");
    let expected = [
        "created", "excluded", "created", "excluded", "excluded", "invalid",
    ];
    assert_eq!(
        statuses, expected,
        "a row without all its cells is wrong before all else"
    );
    let numbers = folder.column("leads.results.csv", "phone_number");
    assert_eq!(numbers[1], "+447911000002");
    assert_eq!(folder.records("leads.rejects.csv").len(), 1);
    output.shows("excluded                 3 ");
    // Left-out rows are not errors.
    folder.write("leads.csv", LIST.replace("Flo,+447911000005\n", ""));
    folder.import_leads(&service, &args).expect(0);
}

#[test]
fn another_choice_of_rows_is_another_run_and_rejects_keep_the_choice() {
    let (folder, service) = (Folder::with_leads(LIST), scenario("keep_bodies = true"));
    folder
        .import_leads(&service, &["--only", "Consent=yes"])
        .expect(1);
    let args = ["leads.rejects.csv", "--campaign", "101", "--format", "json"];
    let fixed = folder.read("leads.rejects.csv");
    let fixed = fixed.replace("Flo,+447911000005,,", "Flo,+447911000005,no,false");
    folder.write("leads.rejects.csv", fixed.replace("field_count", ""));
    let found = folder.import(&service, &args).expect(0).json();
    assert_eq!(found["counts"]["excluded"], 1);
    let both = [
        "--only",
        "Consent=yes",
        "--only",
        "Consent=no",
        "--format",
        "json",
    ];
    let found = folder.import_leads(&service, &both).expect(1).json();
    assert_eq!(
        (&found["run"], &found["counts"]["created"]),
        (&3.into(), &1.into())
    );
}

#[test]
fn a_missing_column_and_a_value_that_no_row_has_are_reported() {
    let (folder, service) = (Folder::with_leads(LIST), service());
    let output = folder
        .import_leads(&service, &["--only", "Consnt=yes"])
        .expect(2);
    output.tells("`--only Consnt`");
    output.tells("`Consent`?");
    folder.write("leads.csv", LIST.replace("Flo,+447911000005\n", ""));
    let output = folder
        .import_leads(&service, &["--only", "Consent=si"])
        .expect(0);
    output.tells("`--only`");
}

#[test]
fn test_leads_that_the_list_marks_are_mentioned_with_what_leaves_them_out() {
    let folder = Folder::with_leads(LIST);
    let note = |flags: &[&str]| {
        let args = [&["check", "leads.csv", "--format", "json"], flags].concat();
        let found = folder.leadload(&args).output().json();
        found["inputs"][0]["note"].clone()
    };
    let advice = note(&[]);
    for named in [
        "column 4 (`is_test`)",
        "`--only 'is_test=' --only 'is_test=false'`",
    ] {
        assert!(advice.as_str().unwrap().contains(named), "{advice}");
    }
    assert!(note(&["--only", "is_test=false"]).is_null());
}

#[test]
fn a_profile_and_a_saved_mapping_keep_the_choice() {
    let (folder, service) = (Folder::with_leads(LIST), service());
    let config = ["--config", "config.toml"];
    folder.write(
        "config.toml",
        "[profiles.crm]\nonly = { Consent = 'yes', is_test = 'false' }\n",
    );
    let crm = [&config[..], &["--profile", "crm", "--format", "json"]].concat();
    let found = folder.import_leads(&service, &crm).expect(1).json();
    assert_eq!(found["counts"]["excluded"], 3);
    let save = ["--save-mapping", "new", "--only", "Consent=no"];
    let check = [&["check", "leads.csv"], &config[..], &save].concat();
    folder.leadload(&check).expect(1);
    assert!(
        folder
            .read("config.toml")
            .contains("only = [\"Consent=no\"]")
    );
}

#[test]
fn a_choice_that_is_typed_names_the_one_that_it_replaces() {
    let folder = Folder::with_leads(
        "name,phone,consent,lang\nAda,+447911000001,no,de\nBob,+447911000002,yes,de\n",
    );
    folder.write("dnc.txt", "+447911000009\n");
    folder.write(
        "config.toml",
        "[profiles.fair]\nonly = ['consent=yes']\nsuppress = ['dnc.txt']\n",
    );
    let args = "check leads.csv --config config.toml --profile fair";
    let check =
        |more: &str| folder.leadload(&format!("{args} {more}").split(' ').collect::<Vec<_>>());
    let output = check("--only lang=de").expect(0);
    output.tells("`consent=yes`");
    let output = check("--only consent=yes --only lang=de --suppress dnc.txt").output();
    assert!(
        !output.stderr.contains("`consent=yes`"),
        "{}",
        output.stderr
    );
}
