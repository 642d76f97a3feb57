//! What keeps a wrong list from being sent: `--min-rows`, `--max-new` and `--max-invalid` as shares,
//! and variables that change from one run of a list to the next.

use serde_json::{Value, json};

use crate::util::{Folder, Run, contacts, replaced, scenario, service};

/// Runs a test with a ledger in a file, and with one on a server where there is a server.
fn with_each_ledger(test: impl Fn(&dyn Fn(Run) -> Run)) {
    test(&|run| run);
    #[cfg(unix)]
    if let Some(database) = crate::cluster::Cluster::database() {
        test(&|run| crate::shared_ledger::with_ledger(run, &database));
    }
}

#[test]
fn shares_are_of_the_rows_of_the_last_complete_run_of_the_list() {
    with_each_ledger(|ledger| {
        let (folder, service) = (Folder::with_leads(&contacts(10)), service());
        let guards = ["--min-rows", "90%", "--max-new", "20%", "-q"];
        let tonight = |rows: usize| {
            folder.write("leads.csv", contacts(rows));
            ledger(folder.import_leads(&service, &guards))
        };
        let first = tonight(10).expect(0);
        first.tells("`--min-rows 90%`");
        first.tells("`--max-new 20%`");
        let refused = tonight(8).expect(2);
        for named in ["8 data rows", " 9 (90% ", "run 1 "] {
            refused.tells(named);
        }
        assert_eq!(tonight(9).expect(0).stderr, "");
        // One more than in the first run is new; a fifth of nine rows is less than two.
        let refused = tonight(12).expect(2);
        for named in ["2 leads", " 1 (20% ", "run 2 "] {
            refused.tells(named);
        }
        assert_eq!(tonight(11).expect(0).stderr, "");
        assert_eq!(service.leads().len(), 11);
    });
}

#[test]
fn a_share_says_that_it_bounds_no_standard_input() {
    let (folder, service) = (Folder::new(), service());
    for _ in 0..2 {
        let args = ["-", "--campaign", "101", "--max-new", "0%", "-q"];
        let sent = folder
            .import(&service, &args)
            .stdin(contacts(2).as_bytes())
            .expect(0);
        sent.tells("`--max-new 0%`");
    }
}

#[test]
fn a_check_compares_the_list_as_an_import_does() {
    let (folder, service) = (Folder::with_leads(&contacts(10)), service());
    folder.import_leads(&service, &[]).expect(0);
    let check = |rows: usize| {
        folder.write("leads.csv", contacts(rows));
        let line = "check leads.csv --campaign 101 --min-rows 100% --max-new 10%";
        let args: Vec<&str> = line.split(' ').collect();
        folder.leadload(&args).at(&service)
    };
    let short = check(9).expect(2);
    short.tells(" 10 (100% ");
    assert_eq!(short.stdout, "");
    check(12).expect(0).tells("2 leads");
    assert_eq!(check(11).expect(0).stderr, "");
}

#[test]
fn only_whole_runs_of_the_same_list_and_campaign_are_compared() {
    let (folder, service) = (Folder::with_leads(&(contacts(10) + "x,Bad\n")), service());
    folder.import_leads(&service, &[]).expect(1);
    // Neither rejects nor limited runs are bounded, and no later run is compared with them.
    let rejects = ["leads.rejects.csv", "--min-rows", "900%", "--max-new", "0%"];
    let rejects = folder.import(&service, &rejects).expect(1);
    assert!(!rejects.stderr.contains("nothing:"), "{}", rejects.stderr);
    let limited = ["--limit", "1", "--min-rows", "900%", "-q"];
    assert_eq!(folder.import_leads(&service, &limited).expect(0).stderr, "");
    folder.write("leads.csv", contacts(3));
    let share = ["--min-rows", "90%"];
    for campaign in ["101", "Spring promo"] {
        let args = [&["leads.csv", "--campaign", campaign], &share[..]].concat();
        let refused = folder.import(&service, &args).expect(2);
        refused.tells(" 10 (90% ");
    }
    let bounds_nothing = "`--min-rows 90%`";
    let other = ["leads.csv", "--campaign", "102", "--min-rows", "90%"];
    let other = folder.import(&service, &other).expect(0);
    other.tells(bounds_nothing);
    let input = folder.import(&service, &["-", "--campaign", "101", "--min-rows", "90%"]);
    let input = input.stdin(contacts(1).as_bytes()).expect(0);
    input.tells(bounds_nothing);
    let without = [&share[..], &["--ledger", "none", "-q"]].concat();
    let without = folder.import_leads(&service, &without).expect(0);
    without.tells(bounds_nothing);
}

#[test]
fn a_list_with_more_invalid_rows_than_are_allowed_is_not_sent() {
    let (folder, service) = (Folder::with_leads(&(contacts(8) + "x,A\ny,B\n")), service());
    for command in ["import", "check"] {
        for most in ["1", "19.9%"] {
            let line = format!("{command} leads.csv --campaign 101 --max-invalid {most}");
            let args: Vec<&str> = line.split(' ').collect();
            let refused = folder.leadload(&args).at(&service).expect(2);
            refused.tells("2 of 10 rows");
            refused.tells("`--max-invalid`");
            assert_eq!(refused.stdout, "");
            assert_eq!(folder.names(), ["leads.csv"]);
        }
    }
    assert_eq!(service.stats().lead_requests, 0);
    folder
        .import_leads(&service, &["--max-invalid", "20%"])
        .expect(1);
    // Known bad rows are neither.
    let again = ["--max-invalid", "0", "--known-bad", "skip"];
    folder.import_leads(&service, &again).expect(0);
    folder.write("leads.csv", contacts(4) + "x,A\ny,B\nz,C\n");
    let refused = ["--max-invalid", "19%", "--known-bad", "skip"];
    let refused = folder.import_leads(&service, &refused).expect(2);
    refused.tells("1 of 5 rows");
}

#[test]
fn a_complete_run_with_problems_ends_as_it_should() {
    let folder = Folder::with_leads(&(contacts(2) + "x,Bad\n"));
    let first = scenario("token_revoked_after = 1");
    let flags = ["--problems-exit", "0", "--concurrency", "1"];
    folder.import_leads(&first, &flags).expect(3);
    let service = replaced(first, "");
    let json = [&flags[..], &["--format", "json"]].concat();
    let summary = folder.import_leads(&service, &json).expect(0).json();
    assert_eq!(
        (&summary["exit_code"], &summary["counts"]["invalid"]),
        (&json!(0), &json!(1))
    );
    let check = ["check", "leads.csv", "--problems-exit", "0"];
    folder.leadload(&check).expect(0);
    folder.write("config.toml", "problems_exit = 0\n");
    let config = ["--config", "config.toml"];
    folder.import_leads(&service, &config).expect(0);
    folder
        .import_leads(&service, &[&config[..], &["--problems-exit", "1"]].concat())
        .expect(1);
    folder
        .import_leads(&service, &["--problems-exit", "2"])
        .expect(2);
}

#[test]
fn variables_that_the_last_run_of_the_list_did_not_send_are_warned_of() {
    with_each_ledger(|ledger| {
        let (folder, service) = (Folder::new(), service());
        let json = ["--format", "json", "-q"];
        let import = |args: &[&str]| {
            ledger(folder.import_leads(&service, &[args, &json].concat())).expect(0)
        };
        let mapping = |variables: Value, new: Value, missing: Value| {
            json!({
                "phone": "phone", "variables": variables,
                "new_variables": new, "missing_variables": missing
            })
        };
        folder.write("leads.csv", "phone,name,city\n+447911000001,Ada,Leeds\n");
        let first = import(&[]);
        let same = mapping(json!(["name", "city"]), json!([]), json!([]));
        assert_eq!((&first.json()["mapping"], &*first.stderr), (&same, ""));
        folder.write(
            "leads.csv",
            "phone,name,iban,diagnosis\n+447911000002,Bo,GB1,flu\n",
        );
        let flags = ["--set", "source=fair"];
        let check = [&["check", "leads.csv"][..], &flags, &json].concat();
        let check = ledger(folder.leadload(&check)).expect(0);
        let now = json!(["name", "iban", "diagnosis", "source"]);
        let changed = mapping(
            now.clone(),
            json!(["iban", "diagnosis", "source"]),
            json!(["city"]),
        );
        let too_many = [&flags[..], &["--max-new", "0"], &json].concat();
        let refused = ledger(folder.import_leads(&service, &too_many)).expect(2);
        assert_eq!(refused.json()["mapping"], changed);
        for output in [check, import(&flags)] {
            assert_eq!(output.json()["mapping"], changed);
            for named in ["`iban`, `diagnosis`, `source`", "`city`", "run 1 "] {
                output.tells(named);
            }
        }
        let again = import(&flags);
        let same = mapping(now, json!([]), json!([]));
        assert_eq!((&again.json()["mapping"], &*again.stderr), (&same, ""));
        // Lists that differ, as they are remembered for a run of several.
        folder.write("more.csv", "phone,plan\n+447911000003,basic\n");
        for _ in 0..2 {
            let both = import(&["more.csv"]);
            assert_eq!(both.stderr, "");
            assert_eq!(both.json()["mapping"]["new_variables"], json!([]));
        }
    });
}
