//! A new ledger beside results of runs that it does not know: people would be called twice.

use crate::cluster::Cluster;
use crate::shared_ledger::with_ledger;
use crate::terminal::Terminal;
use crate::util::{Folder, contacts, service};

const NEW: [&str; 2] = ["--ledger", "new.sqlite3"];

#[test]
fn a_ledger_that_knows_no_run_is_refused_beside_results_with_leads_until_that_is_said() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), service());
    folder.import_leads(&service, &[]).expect(0);
    let results = folder.read("leads.results.csv");
    // A ledger that was refused still knows no run.
    for more in [&[][..], &["--yes"], &["-q"]] {
        let refused = folder.import_leads(&service, &[&NEW, more].concat());
        let refused = refused.expect(5);
        refused.tells("`leads.results.csv`");
        refused.tells("`--new-ledger`");
    }
    let json = [&NEW[..], &["--format", "json"]].concat();
    let summary = folder.import_leads(&service, &json).expect(5).json();
    assert_eq!(summary["stopped_by"], "ledger");
    assert_eq!(folder.read("leads.results.csv"), results);
    assert_eq!(service.stats().lead_requests, 3);
    let said = [&NEW[..], &["--new-ledger"]].concat();
    folder.import_leads(&service, &said).expect(0);
    assert_eq!(service.stats().lead_requests, 6);
    folder.import_leads(&service, &NEW).expect(0);
    assert_eq!(service.stats().lead_requests, 6);
}

#[test]
fn a_new_database_is_a_new_ledger_too() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let (folder, service) = (Folder::with_leads(&contacts(3)), service());
    folder.import_leads(&service, &[]).expect(0);
    let import = |more: &[&str]| with_ledger(folder.import_leads(&service, more), &database);
    for _ in 0..2 {
        import(&[]).expect(5).tells("`--new-ledger`");
    }
    import(&["--new-ledger"]).expect(0);
    import(&[]).expect(0);
    assert_eq!(service.stats().lead_requests, 6);
}

#[test]
fn results_of_several_lists_count_and_so_do_those_that_a_spreadsheet_has_saved() {
    let (folder, service) = (Folder::with_leads(&contacts(2)), service());
    folder.write("more.csv", "phone\n+447911900001\n");
    let both = ["leads.csv", "more.csv", "--campaign", "101"];
    folder.import(&service, &both).expect(0);
    let import = || folder.import(&service, &[&both[..], &NEW].concat());
    import().expect(5);
    let results = folder.read("leads.results.csv").replace(',', ";");
    folder.write("leads.results.csv", format!("\u{FEFF}{results}"));
    import().expect(5);
}

#[test]
fn results_of_a_night_without_new_people_count_and_those_of_a_check_do_not() {
    let (folder, service) = (Folder::with_leads(&contacts(2)), service());
    for _ in 0..2 {
        folder.import_leads(&service, &[]).expect(0);
    }
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!(statuses, ["already_imported"; 2]);
    folder.import_leads(&service, &NEW).expect(5);
    folder.write("leads.csv", contacts(3));
    let check = [
        "check",
        "leads.csv",
        "--campaign",
        "101",
        "--results",
        "leads.results.csv",
    ];
    folder.leadload(&check).at(&service).expect(0);
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!(statuses, ["already_imported", "already_imported", "ready"]);
    folder.import_leads(&service, &NEW).expect(0);
}

#[test]
fn files_that_name_nobody_as_sent_are_in_nobodys_way() {
    let trial = ["import", "leads.csv", "--campaign", "101", "--sandbox"];
    let check = ["check", "leads.csv", "--results", "leads.results.csv"];
    let (folder, service) = (Folder::with_leads(&contacts(3)), service());
    folder.leadload(&check).expect(0);
    folder.leadload(&trial).expect(0);
    folder.import_leads(&service, &[]).expect(0);
    // Nor are results elsewhere, and those of trials in the way of a trial.
    let elsewhere = [&NEW[..], &["--results", "elsewhere.csv"]].concat();
    folder.import_leads(&service, &elsewhere).expect(0);
    let trial = [&trial[..], &["--ledger", "trial.sqlite3"]].concat();
    folder.leadload(&trial).expect(0);
    let folder = Folder::with_leads(&contacts(3));
    folder.write("leads.results.csv", "phone,status\n+447911000001,created\n");
    folder.import_leads(&service, &[]).expect(0);
}

#[test]
fn a_ledger_whose_runs_were_forgotten_is_not_new() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), service());
    folder.import_leads(&service, &[]).expect(0);
    folder.leadload(&["runs", "forget", "1", "--yes"]).expect(0);
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(service.stats().lead_requests, 6);
}

#[test]
fn at_a_terminal_it_is_asked() {
    for (answer, code, sent) in [("\r", 2, 0), ("y\r", 0, 2)] {
        let (folder, service) = (Folder::with_leads(&contacts(2)), service());
        folder.import_leads(&service, &[]).expect(0);
        let before = service.stats().lead_requests;
        let run = folder.import_leads(&service, &NEW);
        let mut terminal = Terminal::start(run, 100, 60);
        terminal.wait_for("`leads.results.csv`");
        terminal.answer("[y/N]", answer);
        if sent > 0 {
            terminal.wait_for("ready");
            terminal.answer("[y/N]", "y\r");
        }
        assert_eq!(terminal.end().0, code, "{answer:?}");
        assert_eq!(service.stats().lead_requests - before, sent, "{answer:?}");
    }
}

#[test]
fn the_flag_is_for_one_import_alone() {
    let folder = Folder::with_leads(&contacts(1));
    folder.write("config.toml", "new_ledger = true\n");
    let refused = folder.leadload(&["import", "leads.csv", "--config", "config.toml"]);
    refused.expect(2).tells("new_ledger");
    let check = folder.leadload(&["check", "leads.csv", "--new-ledger"]);
    check.expect(2).tells("`--new-ledger`");
}
