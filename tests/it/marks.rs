//! What the list itself says about calling: columns such as `Do Not Call` and `Consent`.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::util::{Folder, Output, scenario, seen, service};

/// Bob is marked in his second row alone, and his number is written in another way there.
const LIST: &str = "name,phone,Do Not Call,city\n\
    Ada,+447911000001,0,York\n\
    Bob,+447911000002,,Leeds\n\
    Cy,+447911000003,no,Bath\n\
    Di,+447911000004,false,Hull\n\
    Bob,07911 000002,x,Leeds\n";

fn import(folder: &Folder, flags: &str) -> (Vec<String>, Output) {
    let service = scenario("keep_bodies = true");
    let flags: Vec<&str> = flags.split(' ').filter(|flag| !flag.is_empty()).collect();
    let output = folder.import_leads(&service, &flags).output();
    let phones = seen(&service).into_iter().map(|lead| lead.phone);
    (phones.collect(), output)
}

fn statuses(folder: &Folder) -> Vec<String> {
    folder.column("leads.results.csv", "status")
}

#[test]
fn a_number_that_any_row_marks_is_left_out_in_all_its_rows() {
    let folder = Folder::with_leads(LIST);
    let service = scenario("keep_bodies = true");
    let output = folder.import_leads(&service, &["--region", "GB"]).expect(0);
    let phones: Vec<String> = seen(&service).into_iter().map(|lead| lead.phone).collect();
    assert_eq!(phones, ["+447911000001", "+447911000003", "+447911000004"]);
    let expected = ["created", "suppressed", "created", "created", "suppressed"];
    assert_eq!(statuses(&folder), expected);
    let errors = folder.column("leads.results.csv", "error");
    let is_marked = errors
        .iter()
        .map(|why| why.ends_with("`Do Not Call`, line 6"));
    assert_eq!(
        is_marked.collect::<Vec<_>>(),
        [false, true, false, false, true]
    );
    output.tells("`Do Not Call`: 1 row");
    output.tells("--do-not-call-column");
    let body = String::from_utf8(service.requests()[0].body.to_vec()).unwrap();
    assert!(!body.contains("do_not_call") && body.contains("york") | body.contains("York"));
    assert!(!folder.path("leads.rejects.csv").exists());
    // A check says the same.
    let check = ["check", "leads.csv", "--region", "GB", "--format", "json"];
    let found = folder.leadload(&check).expect(0).json();
    assert_eq!(found["counts"]["suppressed"], 2);
    assert_eq!(found["marks"][0]["says"], "do_not_call");
    assert_eq!(found["marks"][0]["rows"], 1);
    assert_eq!(found["inputs"][0]["columns"][2]["read_for"], "mark");
}

#[test]
fn the_flag_names_another_column_or_none() {
    let folder = Folder::with_leads(LIST);
    let (phones, output) = import(&folder, "--region GB --do-not-call-column none");
    assert_eq!(phones.len(), 4, "{}", output.stderr);
    output.tells("`name`, `do_not_call`, `city`");
    let folder =
        Folder::with_leads("phone,flag\n+447911000001,x\n+447911000002,x\n+447911000003,\n");
    let (phones, output) = import(&folder, "--do-not-call-column flag");
    assert_eq!(phones, ["+447911000003"], "{}", output.stderr);
    let (_, output) = import(&folder, "--do-not-call-column mark");
    output.tells("`--do-not-call-column mark`");
    let named = "--do-not-call-column flag --var flag --ledger none";
    let (_, output) = import(&folder, named);
    output.tells("variables  `flag`");
}

#[test]
fn only_on_that_column_decides_alone() {
    let folder = Folder::with_leads(&LIST.replace("Bob,07911 000002,x", "Eve,07911 000005,x"));
    let args = ["--region", "GB", "--only", "Do Not Call=x"];
    let service = scenario("keep_bodies = true");
    folder.import_leads(&service, &args).expect(0);
    let phones: Vec<String> = seen(&service).into_iter().map(|lead| lead.phone).collect();
    assert_eq!(phones, ["+447911000005"]);
    let mut expected = ["excluded"; 5];
    expected[4] = "created";
    assert_eq!(statuses(&folder), expected);
}

#[test]
fn another_word_is_refused_with_its_line() {
    let list = LIST.replace("Cy,+447911000003,no", "Cy,+447911000003,perhaps");
    let folder = Folder::with_leads(&list.replace("4,false", "4,Perhaps"));
    for flags in ["--region GB", "--region GB --do-not-call-column 3"] {
        let (phones, output) = import(&folder, flags);
        assert_eq!((phones.len(), output.code), (0, 2));
        for named in ["`perhaps` (1 row", "line 4", "`Perhaps` (1 row", "line 5"] {
            output.tells(named);
        }
        output.tells("`--do-not-call-column none`");
        assert!(!folder.path("leads.results.csv").exists());
    }
    let check = ["check", "leads.csv", "--region", "GB"];
    folder.leadload(&check).expect(2).tells("`perhaps`");
}

#[test]
fn of_many_unknown_words_ten_are_named_each_with_how_often_it_stands_there() {
    let long = "perhaps later, when the summer is over and all are back";
    let words = [
        "a b", long, "qc", "qd", "qe", "qf", "qg", "qh", "qi", "qj", "qk", "a b", "qk",
    ];
    let rows = (1..)
        .zip(words)
        .map(|(n, word)| format!("+4479110000{n:02},\"{word}\"\n"));
    let list = rows.fold("phone,Do Not Call\n".to_owned(), |list, row| list + &row);
    let (phones, output) = import(&Folder::with_leads(&list), "");
    assert_eq!((phones.len(), output.code), (0, 2));
    for named in [
        "`a b` (2 rows",
        "line 2)",
        "`perhaps later, when the summer is over …` (1 row",
        "line 3)",
        "`qc` (1 row",
        "`qj` (1 row",
        "line 11)\n",
    ] {
        output.tells(named);
    }
    assert!(!output.stderr.contains("qk"), "{}", output.stderr);
}

#[test]
fn more_than_half_of_the_rows_are_left_out_only_if_a_flag_says_so() {
    let folder = Folder::with_leads(
        "phone,Blocked\n+447911000001,1\n+447911000002,1\n+447911000003,1\n+447911000004,0\n+447911000005,0\n",
    );
    let (phones, output) = import(&folder, "");
    assert_eq!((phones.len(), output.code), (0, 2), "{}", output.stderr);
    output.tells("3 of 5 rows");
    output.tells("`--do-not-call-column Blocked`");
    output.tells("`--do-not-call-column none`");
    let (phones, _) = import(&folder, "--do-not-call-column blocked");
    assert_eq!(phones, ["+447911000004", "+447911000005"]);
    // Half of them is not too many, and rows that are left out anyway do not count.
    folder.write(
        "leads.csv",
        "phone,Blocked,city\n+447911000011,1,York\n+447911000012,0,York\n+447911000013,1,Bath\n+447911000012,1,Bath\n",
    );
    let (phones, output) = import(&folder, "--only city=York");
    assert_eq!((phones.len(), output.code), (0, 0), "{}", output.stderr);
    let expected = ["suppressed", "suppressed", "excluded", "excluded"];
    assert_eq!(
        statuses(&folder),
        expected,
        "a row that is left out marks too"
    );
}

#[test]
fn a_consent_that_says_no_is_kept_and_empty_cells_are_told() {
    let folder = Folder::with_leads(
        "phone,Einwilligung,name\n+447911000001,Ja,Ada\n+447911000002,Nein,Bob\n+447911000003,,Cy\n+447911000004,widerrufen,Di\n+447911000005,2026-03-04,Ed\n",
    );
    let (phones, output) = import(&folder, "");
    let called = ["+447911000001", "+447911000003", "+447911000005"];
    assert_eq!(phones, called, "{}", output.stderr);
    output.tells("`Einwilligung`: 2 rows");
    let mut lines = output.stderr.lines();
    assert!(lines.any(|line| line.contains(" WARN ") && line.contains("`Einwilligung`")));
    let errors = folder.column("leads.results.csv", "error");
    assert!(errors[1].ends_with("`Einwilligung`, line 3"), "{errors:?}");
    let (phones, _) = import(&folder, "--only Einwilligung=ja --ledger none");
    assert_eq!(phones, called[..1]);
    let (phones, _) = import(&folder, "--consent-column none --ledger none");
    assert_eq!(phones.len(), 5);
}

#[test]
fn a_list_says_for_another_list_of_the_same_import() {
    let folder = Folder::with_leads("phone,name\n+447911000001,Ada\n+447911000002,Bob\n");
    folder.write(
        "other.csv",
        "phone,DNC\n+447911000003,\n+447911000002,y\n+447911000004,\n",
    );
    let service = service();
    folder
        .import_leads(
            &service,
            &["other.csv", "--results", "all.csv", "--rejects", "none"],
        )
        .expect(0);
    let errors = folder.column("all.csv", "error");
    let is_marked = errors
        .iter()
        .map(|why| why.ends_with("`DNC`, line 3 of other.csv"));
    assert_eq!(
        is_marked.collect::<Vec<_>>(),
        [false, true, false, true, false]
    );
}

#[test]
fn a_row_marks_all_its_phone_columns_and_numbers_that_are_not_sent_anyway() {
    let folder = Folder::with_leads(
        "phone,mobile,Do not contact\n\
        +447911000001,+447911000002,yes\n\
        +447911000002,,\n\
        +447911000003,,no\n\
        +447911000005,,\n\
        +447911000006,,\n",
    );
    let (phones, output) = import(&folder, "--phone-column phone --phone-column mobile");
    let called = ["+447911000003", "+447911000005", "+447911000006"];
    assert_eq!(phones, called, "{}", output.stderr);
    // A number that is doubtful in its marked row, and certain in another one.
    let mut list = "phone,Do Not Call\n".to_owned();
    (10..40).for_each(|row| list += &format!("+4420794600{row},\n"));
    (1..5).for_each(|row| list += &format!("(020) 7946-010{row},x\n"));
    (1..5).for_each(|row| list += &format!("+44207946010{row},\n"));
    folder.write("leads.csv", list);
    let (phones, output) = import(&folder, "--region GB --ledger none");
    assert_eq!(phones.len(), 30, "{}", output.stderr);
}

#[test]
fn a_marked_row_counts_whatever_is_wrong_with_it() {
    let folder = Folder::with_leads(
        "phone,Do Not Call,note\n\
        +447911000001,no,\n\
        +447911000001 / +447911000002,yes,\n\
        +447911000002,no,\n\
        +447911000003 ext 5,yes,\n\
        +447911000003,no,\n\
        +447911000004,x\n\
        +447911000004,,\n\
        see 79-11,x,\n\
        +447911000005,,\n\
        +447911000006,,\n\
        +447911000007,,\n",
    );
    let (phones, output) = import(&folder, "");
    let called = ["+447911000005", "+447911000006", "+447911000007"];
    assert_eq!(phones, called, "{}", output.stderr);
    output.tells("line 9");
    // A mark below the last row that is sent counts too.
    folder.write(
        "leads.csv",
        "phone,DNC\n+447911000011,\n+447911000012,\n+447911000013,\n+447911000011,x\n",
    );
    let (phones, _) = import(&folder, "--limit 2 --ledger none");
    assert_eq!(phones, ["+447911000012"]);
}

#[test]
fn a_saved_mapping_misses_the_columns_that_say_who_is_called() {
    let folder = Folder::with_leads(
        "phone,DNC,Consent\n+447911000001,x,yes\n+447911000002,,no\n+447911000003,,yes\n+447911000004,,yes\n",
    );
    let save = [
        "check",
        "leads.csv",
        "--save-mapping",
        "crm",
        "--config",
        "c.toml",
    ];
    folder.leadload(&save).expect(0);
    folder.write("leads.csv", "phone,Consent\n+447911000001,yes\n");
    let check = [
        "check",
        "leads.csv",
        "--config",
        "c.toml",
        "--profile",
        "crm",
    ];
    let refused = folder.leadload(&check).expect(2);
    refused.tells("`--do-not-call-column DNC`");
}

#[test]
fn a_column_that_is_new_since_the_mapping_was_saved_counts_too() {
    let list = "phone,DNC\n+447911000001,x\n+447911000002,\n+447911000003,\n+447911000004,\n";
    let folder = Folder::with_leads(list);
    let save = [
        "check",
        "leads.csv",
        "--save-mapping",
        "crm",
        "--config",
        "c.toml",
    ];
    folder.leadload(&save).expect(0);
    let list = "phone,DNC,Opt-out\n+447911000001,x,\n+447911000002,,yes\n+447911000003,,\n+447911000004,,\n";
    folder.write("leads.csv", list);
    let (phones, output) = import(&folder, "--config c.toml --profile crm --ledger none");
    assert_eq!(
        phones,
        ["+447911000003", "+447911000004"],
        "{}",
        output.stderr
    );
}

#[test]
fn several_columns_that_leave_out_most_rows_are_all_named() {
    let folder = Folder::with_leads(
        "phone,Unsubscribed,Do Not Call\n+447911000001,1,no\n+447911000002,1,no\n+447911000003,0,yes\n+447911000004,0,no\n",
    );
    let (phones, output) = import(&folder, "");
    assert_eq!((phones.len(), output.code), (0, 2), "{}", output.stderr);
    output.tells("`Unsubscribed`");
    output.tells("`Do Not Call`");
    output.tells("`--do-not-call-column`");
}

#[test]
fn rejects_keep_the_columns_of_their_run() {
    let folder =
        Folder::with_leads("phone,mark\n+447911000001,x\ny,\n+447911000003,\n+447911000004,0\n");
    let service = service();
    folder
        .import_leads(&service, &["--do-not-call-column", "mark"])
        .expect(1);
    let rejects = folder.read("leads.rejects.csv");
    folder.write(
        "leads.rejects.csv",
        rejects.replace("\ny,,", "\n+447911000009,x,"),
    );
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    let statuses = folder.column("leads.rejects.results.csv", "status");
    assert_eq!(statuses, ["suppressed"]);
}

#[test]
fn dates_of_consent_are_compared() {
    let list = |dates: [&str; 4]| {
        let rows = dates.iter().enumerate();
        let rows: String = rows
            .map(|(at, date)| format!("+44791100000{at},{date}\n"))
            .collect();
        format!("phone,consent_date\n{rows}")
    };
    let folder = Folder::with_leads(&list(["2024-12-31", "2025-01-01 08:00", "", "soon"]));
    let (phones, output) = import(&folder, "--only consent_date>=2025-01-01");
    assert_eq!(phones, ["+447911000001"], "{}", output.stderr);
    output.tells("from 2025-01-01");
    let expected = ["excluded", "created", "excluded", "excluded"];
    assert_eq!(statuses(&folder), expected);
    // The whole column shows the order of day and month.
    folder.write(
        "leads.csv",
        list(["02/01/2025", "01/02/2025", "13/01/2025", ""]),
    );
    let between = "--only consent_date>=2025-01-10 --only consent_date<=2025-02-01 --ledger none";
    let (phones, _) = import(&folder, between);
    assert_eq!(phones, ["+447911000001", "+447911000002"]);
    folder.write(
        "leads.csv",
        list(["02/01/2025", "01/02/2025", "01/13/2025", ""]),
    );
    let (phones, _) = import(&folder, between);
    assert_eq!(phones, ["+447911000000", "+447911000002"]);
    folder.write(
        "leads.csv",
        list(["02/01/2025", "01/02/2025", "03/03/2025", ""]),
    );
    let (phones, output) = import(&folder, between);
    assert_eq!((phones.len(), output.code), (0, 2));
    output.tells("(line 2)");
    folder.write(
        "leads.csv",
        list(["13/01/2025", "01/13/2025", "03/03/2025", ""]),
    );
    assert_eq!(import(&folder, between).1.code, 2);
    let output = import(&folder, "--only consent_date>=2025").1;
    assert_eq!(output.code, 2);
    folder.write("leads.csv", list(["yes", "no", "", ""]));
    assert_eq!(import(&folder, between).1.code, 2);
}

#[test]
fn rejects_that_show_no_order_of_day_and_month_are_taken_as_before() {
    let folder = Folder::with_leads(
        "phone,since\n+447911000001,02/01/2025\nx,03/02/2025\n+447911000003,13/02/2025\n",
    );
    let service = service();
    folder
        .import_leads(&service, &["--only", "since>=2025-01-15"])
        .expect(1);
    assert_eq!(statuses(&folder), ["excluded", "invalid", "created"]);
    let rejects = folder.read("leads.rejects.csv");
    folder.write(
        "leads.rejects.csv",
        rejects.replace("\nx,", "\n+447911000002,"),
    );
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    let statuses = folder.column("leads.rejects.results.csv", "status");
    assert_eq!(statuses, ["created"]);
}

#[cfg(unix)]
mod at_a_terminal {
    use super::*;
    use crate::terminal::Terminal;

    fn start(folder: &Folder, service: &leadload::sandbox::Sandbox) -> Terminal {
        let args = ["leads.csv", "--campaign", "101"];
        Terminal::start(folder.import(service, &args), 120, 60)
    }

    #[test]
    fn words_that_are_not_known_are_asked_about() {
        let list = "phone,DNC\n+447911000001,\n+447911000002,ask first\n+447911000003,x\n+447911000004,0\n";
        for (answer, created) in [("leave-out", 2), ("CALL", 3)] {
            let (folder, service) = (Folder::with_leads(list), service());
            let mut terminal = start(&folder, &service);
            terminal.wait_for("`ask first`");
            terminal.answer("(Enter cancels):", &format!("{answer}\r"));
            terminal.answer("[y/N]", "y\r");
            assert_eq!(terminal.end().0, 0);
            assert_eq!(service.stats().created, created);
        }
        let (folder, service) = (Folder::with_leads(list), service());
        let mut terminal = start(&folder, &service);
        terminal.answer("(Enter cancels):", "\r");
        assert_eq!(terminal.end().0, 2);
    }

    #[test]
    fn empty_consents_are_asked_about() {
        let list = "phone,Consent\n+447911000001,\n+447911000002,yes\n+447911000003,no\n+447911000004,yes\n";
        for (answer, created) in [("leave-out", 2), ("call", 3), ("", 3)] {
            let (folder, service) = (Folder::with_leads(list), service());
            let mut terminal = start(&folder, &service);
            terminal.wait_for("`Consent`");
            terminal.answer("(Enter calls them):", &format!("{answer}\r"));
            terminal.answer("[y/N]", "y\r");
            assert_eq!(terminal.end().0, 0);
            assert_eq!(service.stats().created, created, "{answer}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whoever is marked anywhere is never sent, and nobody else is lost.
    #[test]
    fn exactly_the_numbers_that_a_row_marks_are_left_out(
        rows in prop::collection::vec((0..40_u32, 0..3_u8, any::<bool>()), 1..120),
    ) {
        let header = "phone,Do Not Call,Consent,Email Opt Out\n";
        let mut list = header.to_owned();
        let mut marked = BTreeSet::new();
        let mut all = BTreeSet::new();
        for (number, says, is_national) in &rows {
            let digits = format!("79110000{number:02}");
            let phone = if *is_national { format!("0{digits}") } else { format!("+44{digits}") };
            let (mark, consent) = match says {
                0 => ("x", "yes"),
                1 => ("", "no"),
                _ => ("0", "ja"),
            };
            list += &format!("{phone},{mark},{consent},x\n");
            all.insert(format!("+44{digits}"));
            if *says < 2 {
                marked.insert(format!("+44{digits}"));
            }
        }
        let folder = Folder::with_leads(&list);
        let flags = "--region GB --do-not-call-column 2 --consent-column 3";
        let (phones, output) = import(&folder, flags);
        let sent: BTreeSet<String> = phones.iter().cloned().collect();
        prop_assert_eq!(output.code, 0, "{}", output.stderr);
        prop_assert_eq!(sent.len(), phones.len());
        let expected: BTreeSet<String> = all.difference(&marked).cloned().collect();
        prop_assert_eq!(sent, expected);
        let suppressed = statuses(&folder).iter().filter(|status| *status == "suppressed").count();
        let expected = rows.iter().filter(|(number, ..)| marked.contains(&format!("+4479110000{number:02}")));
        prop_assert_eq!(suppressed, expected.count());
    }
}
