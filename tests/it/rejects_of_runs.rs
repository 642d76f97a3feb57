//! Rejects name one run of one ledger: whose settings they take, and what becomes of them where
//! that run is not known.

use std::fs;

use leadload::sandbox::Sandbox;
use proptest::prelude::*;

use crate::undo::undo;
use crate::util::{Folder, contacts, number, scenario, service};

/// A list whose second row cannot be sent.
const LEADS: &str = "phone,name\n+447911000001,Ada\nx,Bob\n";

const HEADER: &str =
    "phone,name,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run";

/// All that has to be said about rejects of an unknown run.
const ALL: [&str; 8] = [
    "--campaign",
    "102",
    "--region",
    "none",
    "--suppress",
    "none",
    "--var",
    "name",
];

const IS_ANOTHER: &str = "another one";

/// Imports `leads.csv`, and returns its rejects with Bob's number.
fn rejects_of(folder: &Folder, service: &Sandbox, more: &[&str]) -> String {
    let import = [&["leads.csv"][..], more].concat();
    folder.import(service, &import).expect(1);
    with_number(&folder.read("leads.rejects.csv"))
}

fn with_number(rejects: &str) -> String {
    rejects.replace("\nx,", "\n+447911000002,")
}

/// The rejects of a run to campaign 101.
fn rejects_of_a_run(folder: &Folder, service: &Sandbox) -> String {
    folder.write("leads.csv", LEADS);
    rejects_of(folder, service, &["--campaign", "101"])
}

/// The campaigns that have Bob.
fn campaigns_of_bob(service: &Sandbox) -> Vec<u64> {
    let leads = service.leads().into_iter();
    let of_bob = leads.filter(|lead| lead.phone_number == "+447911000002");
    of_bob.map(|lead| lead.campaign_id).collect()
}

#[test]
fn rejects_of_another_ledger_take_nothing_of_the_run_with_their_number() {
    let service = service();
    let [(mine, rejects), (other, _)] = ["101", "102"].map(|campaign| {
        let folder = Folder::with_leads(LEADS);
        let set = ["--campaign", campaign, "--set", "source=fair"];
        let rejects = rejects_of(&folder, &service, &set);
        (folder, rejects)
    });
    for folder in [&mine, &other] {
        folder.write("fixed.csv", &rejects);
    }
    for command in ["check", "import"] {
        let run = other.leadload(&[command, "fixed.csv"]).at(&service);
        run.expect(2).tells(IS_ANOTHER);
    }
    assert!(campaigns_of_bob(&service).is_empty());
    mine.import(&service, &["fixed.csv"]).expect(0);
    assert_eq!(campaigns_of_bob(&service), [101]);

    let all = [&["fixed.csv"][..], &ALL].concat();
    let sent = other.import(&service, &all).expect(0);
    sent.tells("`fixed.csv`");
    let leads = service.leads();
    let last = leads
        .iter()
        .find(|lead| lead.campaign_id == 102 && lead.phone_number == "+447911000002");
    assert_eq!(last.unwrap().variables.len(), 1, "{leads:?}");
}

#[test]
fn rejects_of_a_run_that_a_restored_backup_has_not_are_not_those_of_the_next_run() {
    let folder = Folder::with_leads("phone,name\n+447911000009,Zoe\n");
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let copy = ["runs", "copy", "--to", "copy.sqlite3"];
    folder.leadload(&copy).expect(0);
    let rejects = rejects_of_a_run(&folder, &service);
    let ledger = folder.ledger();
    for ending in ["-wal", "-shm"] {
        let mut name = ledger.clone().into_os_string();
        name.push(ending);
        let _ = fs::remove_file(name);
    }
    fs::copy(folder.path("copy.sqlite3"), &ledger).unwrap();

    folder.write("fixed.csv", &rejects);
    let unknown = folder.import(&service, &["fixed.csv"]).expect(2);
    unknown.tells("run 2-");
    rejects_of(&folder, &service, &["--campaign", "102"]);
    let refused = folder.import(&service, &["fixed.csv"]).expect(2);
    refused.tells(IS_ANOTHER);
    assert!(campaigns_of_bob(&service).is_empty());
}

#[test]
fn a_row_that_was_not_in_the_rejects_is_refused_with_its_line() {
    let folder = Folder::new();
    let service = service();
    let rejects = rejects_of_a_run(&folder, &service);
    for row in ["2", " 2 ", "2.0", "1", "3", "200"] {
        let edited = rejects.replace(",2,invalid", &format!(",{row},invalid"));
        folder.write("fixed.csv", edited);
        let check = folder.leadload(&["check", "fixed.csv"]).at(&service);
        if row.trim().trim_end_matches(".0") == "2" {
            check.expect(0);
        } else {
            let why = format!("(line 2: row {row} ");
            check.expect(2).tells(&why);
        }
    }
}

#[test]
fn a_row_that_was_sent_meanwhile_is_still_a_row_of_its_rejects() {
    let folder = Folder::new();
    let service = service();
    let rejects = rejects_of_a_run(&folder, &service);
    folder.write("fixed.csv", rejects);
    for status in ["created", "already_imported"] {
        folder.import(&service, &["fixed.csv"]).expect(0);
        assert_eq!(folder.column("fixed.results.csv", "status"), [status]);
    }
    assert_eq!(campaigns_of_bob(&service), [101]);
}

#[test]
fn a_row_that_was_looked_up_and_undone_is_still_a_row_of_its_rejects() {
    let folder = Folder::with_leads(&contacts(2));
    let lost = "reply = { then = 'drop', store = true }";
    let service = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nattempts = [1]\n{lost}",
        number(1)
    ));
    let once = ["--max-attempts", "1", "--metrics-file", "night.prom"];
    let ended = folder.import_leads(&service, &once).expect(1);
    // That has the metrics of the list.
    ended.shows("leadload import leads.rejects.csv");
    assert!(!ended.stdout.contains("night.prom"), "{}", ended.stdout);
    undo(&folder, &service, "1", &[]).expect(0);
    folder
        .import(&service, &["leads.rejects.csv", "-q"])
        .expect(0);
    let statuses = folder.column("leads.rejects.results.csv", "status");
    assert_eq!(statuses, ["created"]);
    let left: Vec<_> = service.leads().into_iter().collect();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].phone_number, number(1));
}

#[test]
fn a_number_alone_is_taken_for_a_run_of_before_such_names() {
    let folder = Folder::new();
    let service = service();
    let named = rejects_of_a_run(&folder, &service);
    let plain = named.replace(&folder.run_named_in("leads.rejects.csv"), "1");
    folder.write("plain.csv", &plain);
    folder.write("named.csv", &named);
    folder.write("other.csv", plain.replace("phone,name", "phone,who"));
    let refused = |name: &str, why: &str| folder.import(&service, &[name]).expect(2).tells(why);
    refused("plain.csv", IS_ANOTHER);
    let ledger = rusqlite::Connection::open(folder.ledger()).unwrap();
    ledger.execute("UPDATE runs SET tag = NULL", []).unwrap();
    drop(ledger);
    refused("named.csv", IS_ANOTHER);
    refused("other.csv", "other columns");
    folder.import(&service, &["plain.csv"]).expect(0);
    assert_eq!(campaigns_of_bob(&service), [101]);
}

#[test]
fn columns_that_were_added_to_rejects_change_nothing_of_their_run() {
    let folder = Folder::new();
    let service = service();
    let rejects = rejects_of_a_run(&folder, &service);
    let rejects = rejects.trim_start_matches('\u{FEFF}');
    let lines = rejects.lines().zip(["a,b,", "1,2,"]);
    let wider: String = lines
        .map(|(line, more)| format!("{more}{line}\n"))
        .collect();
    folder.write("wider.csv", wider);
    folder.import(&service, &["wider.csv"]).expect(0);
    assert_eq!(campaigns_of_bob(&service), [101]);
}

#[test]
fn rows_that_name_no_run_among_others_need_a_command_of_their_own_unless_they_are_new() {
    let folder = Folder::new();
    let service = service();
    let rejects = rejects_of_a_run(&folder, &service);
    let of_check = format!("{HEADER}\n+447911000003,Cy,3,invalid,x,x,\n");
    folder.write("fixed.csv", &rejects);
    folder.write("check.csv", &of_check);
    let row = of_check.lines().nth(1).unwrap();
    folder.write("mixed.csv", format!("{rejects}{row}\n"));
    for (files, place) in [
        (&["mixed.csv"][..], "`mixed.csv` (line 3 "),
        (&["fixed.csv", "check.csv"], "`check.csv` (line 2 "),
    ] {
        folder.import(&service, files).expect(2).tells(place);
    }
    folder.write("new.csv", format!("{rejects}+447911000003,Cy,,,,,\n"));
    folder.import(&service, &["new.csv"]).expect(0);
    let leads = service.leads();
    assert_eq!(leads.len(), 3);
    assert!(leads.iter().all(|lead| lead.campaign_id == 101));
}

#[test]
fn rejects_that_name_no_run_take_the_settings_of_the_command() {
    for how in [
        "check leads.csv",
        "import leads.csv --sandbox --campaign 101",
        "import leads.csv --ledger none --campaign 101",
    ] {
        let folder = Folder::with_leads(LEADS);
        let service = service();
        let args: Vec<&str> = how.split(' ').chain(["--rejects", "fixed.csv"]).collect();
        folder.leadload(&args).at(&service).expect(1);
        folder.write("fixed.csv", with_number(&folder.read("fixed.csv")));
        let fixed = ["fixed.csv", "--campaign", "102", "-q"];
        let sent = folder.import(&service, &fixed).expect(0);
        sent.tells("`fixed.csv` (");
        assert_eq!(campaigns_of_bob(&service), [102], "{how}");
    }
}

#[test]
fn rejects_of_a_real_run_can_be_tried_on_the_sandbox() {
    let folder = Folder::new();
    let rejects = rejects_of_a_run(&folder, &service());
    folder.write("fixed.csv", rejects);
    let line = ["import", "fixed.csv", "--sandbox", "--campaign", "101"];
    folder.leadload(&line).expect(0).tells("ledger)");
}

#[test]
fn no_list_at_all_can_be_said_in_place_of_those_of_the_run() {
    let folder = Folder::with_leads(LEADS);
    let service = service();
    folder.write("dnc.txt", "+447911000002\n");
    let with_list = ["--campaign", "101", "--suppress", "dnc.txt"];
    let rejects = rejects_of(&folder, &service, &with_list);
    folder.write("fixed.csv", rejects);
    for (more, status) in [
        (&[][..], "suppressed"),
        (&["--suppress", "none"], "created"),
    ] {
        let import = [&["fixed.csv"][..], more].concat();
        folder.import(&service, &import).expect(0);
        assert_eq!(folder.column("fixed.results.csv", "status"), [status]);
    }
}

#[test]
#[cfg(unix)]
fn rejects_of_a_shared_ledger_and_those_of_a_file_are_kept_apart() {
    use crate::cluster::Cluster;
    use crate::shared_ledger::{import, with_ledger};
    let Some(database) = Cluster::database() else {
        return;
    };
    let (folder, service) = (Folder::new(), service());
    let of_file = rejects_of_a_run(&folder, &service);
    import(&folder, &service, &database, &["--new-ledger"]).expect(1);
    let of_server = with_number(&folder.read("leads.rejects.csv"));
    let send = |text: &str| {
        folder.write("fixed.csv", text);
        with_ledger(folder.import(&service, &["fixed.csv"]), &database)
    };
    send(&of_file).expect(2).tells(IS_ANOTHER);
    let edited = of_server.replace(",2,invalid", ",1,invalid");
    let refused = send(&edited).expect(2);
    refused.tells("(line 2: row 1 ");
    folder.write("fixed.csv", &of_server);
    folder
        .import(&service, &["fixed.csv"])
        .expect(2)
        .tells(IS_ANOTHER);
    assert!(campaigns_of_bob(&service).is_empty());
    send(&of_server).expect(0);
    assert_eq!(campaigns_of_bob(&service), [101]);
}

#[test]
fn rejects_of_any_ledger_are_taken_only_where_all_rows_are_of_one_run_there() {
    let service = service();
    let folders = [(); 3].map(|()| Folder::with_leads("phone,name\nx,Ada\ny,Bob\n"));
    let runs = folders.each_ref().map(|folder| {
        ["101", "102"].map(|campaign| {
            let import = ["leads.csv", "--campaign", campaign];
            folder.import(&service, &import).expect(1);
            folder.run_named_in("leads.rejects.csv")
        })
    });
    // A ledger, a run there, and a row, of which only the first two are in the rejects.
    let row = || (0..3_usize, 0..2_usize, 1..4_u64);
    let other = prop::option::weighted(0.4, row());
    proptest!(ProptestConfig::with_cases(16), |(to in 0..3_usize, first in row(), other in other)| {
        let rows = [Some(first), other];
        let mut text = format!("{HEADER}\n");
        for (at, (ledger, run, row)) in rows.iter().flatten().enumerate() {
            let run = &runs[*ledger][*run];
            text += &format!("+44791100000{at},Ada,{row},invalid,x,x,{run}\n");
        }
        folders[to].write("fixed.csv", text);
        let check = folders[to].leadload(&["check", "fixed.csv", "--format", "json"]);
        let is_known = rows
            .iter()
            .flatten()
            .all(|(ledger, run, row)| *ledger == to && *run == first.1 && *row <= 2);
        let expected = if is_known { 0 } else { 2 };
        prop_assert_eq!(check.at(&service).output().code, expected);
    });
}

#[test]
fn rejects_that_lost_the_column_that_says_who_is_not_called_are_refused() {
    for (header, mark) in [("do not call", "yes"), ("consent", "no")] {
        let (folder, service) = (Folder::new(), service());
        let other = if mark == "yes" { "no" } else { "yes" };
        let rows: String = (3..=6)
            .map(|row| format!("+44791100000{row},A{row},{other}\n"))
            .collect();
        let list = format!("phone,name,{header}\n{rows}x,Bob,{mark}\ny,Cy,{other}\n");
        folder.write("leads.csv", list);
        folder.import_leads(&service, &[]).expect(1);
        let rejects = with_number(&folder.read("leads.rejects.csv"));
        let rejects = rejects.replace("\ny,", "\n+447911000009,");
        folder.write("fixed.csv", rejects.replacen(header, "remark", 1));
        let refused = folder.import(&service, &["fixed.csv"]);
        refused.expect(2).tells(header);
        folder.write("fixed.csv", rejects);
        folder.import(&service, &["fixed.csv"]).expect(0);
        assert_eq!(campaigns_of_bob(&service), [0; 0], "{header}");
        assert_eq!(service.leads().len(), 5, "{header}");
    }
}
