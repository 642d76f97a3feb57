//! Variables and settings as they are often written: with quotation marks, with `~/`, or with a
//! letter missing.

#[cfg(unix)]
use std::fs;

#[cfg(unix)]
use crate::util::service;
use crate::util::{Folder, contacts};

const IMPORT: [&str; 4] = ["import", "leads.csv", "--campaign", "101"];

const NOWHERE: &str = "http://127.0.0.1:1";

#[test]
fn a_variable_in_quotation_marks_is_refused_by_its_name_and_makes_no_file() {
    let folder = Folder::with_leads(&contacts(1));
    for (name, value) in [
        ("LEADLOAD_LEDGER", "ledger.sqlite3"),
        ("LEADLOAD_LEDGER", "/data/ledger.sqlite3"),
        ("LEADLOAD_LEDGER", "postgresql://me:s3cret@db.example/leads"),
        ("LEADLOAD_CONFIG", "config.toml"),
        ("LEADLOAD_BASE_URL", NOWHERE),
        ("LEADLOAD_TOKEN", "17|s3cretToken"),
        ("LEADLOAD_TOKEN_FILE", "crm.token"),
    ] {
        for [before, after] in [["'", "'"], ["\"", "\""], ["“", "”"], ["„", "“"]] {
            let output = folder
                .leadload(&IMPORT)
                .env("LEADLOAD_BASE_URL", NOWHERE)
                .env(name, &format!("{before}{value}{after}"))
                .expect(2);
            output.tells(name);
            output.tells("quotation marks");
            assert!(!output.stderr.contains("s3cret"), "{}", output.stderr);
            assert_eq!(folder.names(), ["leads.csv"]);
        }
    }
}

#[test]
fn a_flag_or_a_setting_in_quotation_marks_is_refused_by_its_name() {
    let folder = Folder::with_leads(&contacts(1));
    for flag in [
        "--ledger 'l'",
        "--ledger 'postgresql://me:s3cret@db.example/leads'",
        "--token-file 't'",
        "--base-url 'http://127.0.0.1:1'",
        "--ca-file 'a.pem'",
        "--config 'c.toml'",
        "--results 'r.csv'",
        "--suppress 's.csv'",
    ] {
        let output = folder.leadload(&IMPORT).args(flag).expect(2);
        output.tells(&format!("`{}`", flag.split(' ').next().unwrap()));
        output.tells("quotation marks");
        assert!(!output.stderr.contains("s3cret"), "{}", output.stderr);
    }
    for args in [
        "runs copy --to 'postgresql://me:s3cret@db.example/leads'",
        "runs export --results 'r.csv'",
        "runs undo last --results 'u.csv'",
        "man --folder 'man'",
        "sandbox --scenario 's.toml'",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let output = folder.leadload(&args).expect(2);
        output.tells("quotation marks");
        assert!(!output.stderr.contains("s3cret"), "{}", output.stderr);
    }
    folder.write("config.toml", "region = 'GB'\nledger = \"'l'\"\n");
    let run = folder.leadload(&IMPORT).args("--config config.toml");
    let output = run.expect(2);
    output.tells("`ledger` in `");
    output.tells("(line 2)");
    folder.write("crm.token", "\"17|s3cretToken\"\n");
    let run = folder.leadload(&IMPORT).env("LEADLOAD_BASE_URL", NOWHERE);
    let output = run.args("--token-file crm.token").expect(2);
    output.tells("`crm.token`");
    assert!(!output.stderr.contains("s3cret"), "{}", output.stderr);
    assert_eq!(folder.names(), ["config.toml", "crm.token", "leads.csv"]);
}

#[test]
fn a_list_may_have_quotation_marks_in_its_name_if_it_exists() {
    let folder = Folder::with_leads(&contacts(1));
    let check = ["check", "'leads.csv'"];
    let output = folder.leadload(&check).expect(2);
    output.tells("quotation marks");
    folder.write("'leads.csv'", contacts(1));
    folder.leadload(&check).expect(0);
}

#[cfg(unix)]
#[test]
fn a_path_of_the_environment_may_begin_in_the_home_folder() {
    let (folder, service) = (Folder::with_leads(&contacts(1)), service());
    fs::write(folder.home().join("crm.token"), service.token()).unwrap();
    folder
        .leadload(&IMPORT)
        .env("LEADLOAD_BASE_URL", &service.base_url())
        .env("LEADLOAD_TOKEN_FILE", "~/crm.token")
        .env("LEADLOAD_LEDGER", "~/own.sqlite3")
        .expect(0);
    assert!(folder.home().join("own.sqlite3").is_file());
    assert_eq!(service.leads().len(), 1);
    assert!(!folder.path("~").exists());
}

#[test]
fn a_variable_with_almost_the_right_name_is_warned_of_once() {
    let folder = Folder::with_leads(&contacts(1));
    let stderr = |args: &[&str]| {
        let run = folder.leadload(args).env("LEADLOAD_LEDGR", "l");
        run.env("LEADLOAD_SCREENSHOTS", "x").expect(0).stderr
    };
    let warned = stderr(&["check", "leads.csv"]);
    assert_eq!(warned.matches("LEADLOAD_LEDGR").count(), 1, "{warned}");
    assert!(warned.contains("LEADLOAD_LEDGER?"), "{warned}");
    assert!(!warned.contains("SCREENSHOTS"), "{warned}");
    for without in [&["check", "leads.csv", "-q"][..], &["completions", "bash"]] {
        assert_eq!(stderr(without), "");
    }
}
