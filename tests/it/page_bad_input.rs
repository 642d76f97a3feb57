//! What the page says to input that it cannot use: what, why and what to do, with the way back.

use std::fs;
use std::io::Write;

use crate::page_client::{Screen, Visitor};
use crate::phone_columns::{REGISTRY, zipped};
use crate::util::{Folder, contacts, scenario, service};

/// Words that the page never uses: what is typed at a terminal, and names of files and statuses
/// for which it has other words.
const NEVER: [&str; 16] = [
    "--",
    "`",
    "LEADLOAD_",
    "leadload import",
    "leadload check",
    "leadload config",
    "leadload campaigns",
    "leadload runs",
    "Ctrl-C",
    "the same command",
    "rejects",
    "profile",
    "ledger",
    "sandbox",
    "os error",
    "panicked",
];

/// A whole page in the right words, with a way back.
#[track_caller]
pub fn is_page(screen: &Screen) {
    let text = screen.text();
    for word in NEVER {
        assert!(!text.contains(word), "{word}: {text}");
    }
    assert!(!screen.heading().is_empty(), "{text}");
    assert!(screen.html.starts_with("<!DOCTYPE html>"), "{text}");
    let (_, main) = screen.html.split_once("<main>").unwrap();
    assert!(
        main.contains("<a href=") || main.contains("<form"),
        "{text}"
    );
    let state = ".local/state";
    assert!(!text.contains(state), "{text}");
}

/// A page that says what is wrong and names this.
#[track_caller]
fn says(screen: &Screen, parts: &[&str]) {
    is_page(screen);
    let problem = screen.problem();
    assert_ne!(problem, "", "{}", screen.text());
    for part in parts {
        assert!(
            problem.contains(part),
            "{part:?} is not in {problem:?}: {}",
            screen.text()
        );
    }
}

/// The page is this step of its list.
#[track_caller]
pub fn is_step(screen: &Screen, step: &str) {
    let is_there = screen.at.ends_with(&format!("/{step}"));
    assert!(is_there, "{}: {}", screen.at, screen.text());
}

/// Sends the form with the first campaign that can be chosen.
fn first_campaign(visitor: &Visitor, screen: &Screen) -> Screen {
    is_step(screen, "campaign");
    let form = screen.form("campaign");
    let first = form.choices["campaign"][1].0.clone();
    visitor.send(&form.set("campaign", &first))
}

/// The columns of a list that has just been chosen.
pub fn columns(visitor: &Visitor, name: &str, bytes: impl AsRef<[u8]>) -> Screen {
    first_campaign(visitor, &visitor.upload(name, bytes))
}

pub fn go_on(visitor: &Visitor, columns: &Screen) -> Screen {
    visitor.send(
        &columns
            .form("columns")
            .set("nothing", "yes")
            .press("continue"),
    )
}

/// The list, ready to be sent.
pub fn ready(visitor: &Visitor, name: &str, bytes: impl AsRef<[u8]>) -> Screen {
    let screen = go_on(visitor, &columns(visitor, name, bytes));
    is_step(&screen, "send");
    screen
}

pub fn workbook(sheets: &[(&str, &[&[&str]])]) -> Vec<u8> {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    for (name, rows) in sheets {
        let sheet = workbook.add_worksheet();
        sheet.set_name(*name).unwrap();
        for (at, row) in (0..).zip(*rows) {
            sheet.write_row(at, 0, row.iter().copied()).unwrap();
        }
    }
    workbook.save_to_buffer().unwrap()
}

/// What Excel writes for a workbook with a password, and for one that a company protects.
pub fn encrypted() -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(std::io::Cursor::new(Vec::new())).unwrap();
    for name in ["EncryptionInfo", "EncryptedPackage"] {
        let mut stream = file.create_stream(name).unwrap();
        stream.write_all(&[7; 5000]).unwrap();
    }
    file.into_inner().into_inner()
}

#[test]
fn a_header_without_rows_has_nobody_to_send() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let screen = go_on(&visitor, &columns(&visitor, "none.csv", "phone,name\n"));
    is_page(&screen);
    let screen = visitor.get(&format!("{}/send", screen.list()));
    is_page(&screen);
    assert!(screen.text().contains("nobody"), "{}", screen.text());
}

/// A page that asks for the settings of rejects whose run is not known.
#[track_caller]
fn asks_for_settings(screen: &Screen) {
    is_page(screen);
    assert!(screen.text().contains("above all"), "{}", screen.text());
}

#[test]
fn rows_to_fix_of_an_unknown_list_ask_for_its_settings_again() {
    let folder = Folder::with_leads(&(contacts(3) + "no number,Eve\n"));
    let service = service();
    folder.import_leads(&service, &[]).expect(1);
    let visitor = Visitor::practice(&folder);
    let rejects = folder.read("leads.rejects.csv");
    let screen = columns(&visitor, "to fix.csv", rejects);
    asks_for_settings(&screen);
    let screen = go_on(&visitor, &screen);
    is_page(&screen);
    assert!(screen.text().contains("does not know"), "{}", screen.text());
}

#[test]
fn rows_to_fix_that_name_another_run_with_this_number_take_nothing_of_it() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let send = ready(&visitor, "a.csv", contacts(3));
    let list = send.list();
    visitor.send(&send.form("send"));
    visitor.wait(&format!("{list}/run"), |screen| screen.heading() == "Sent");
    let ours = "leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run";
    for run in ["1", "1-bcdfg"] {
        let row = format!("+447911123456,Ada,2,invalid,phone_missing,,{run}\n");
        let rows = format!("phone,name,{ours}\n{row}");
        let screen = columns(&visitor, "to fix.csv", rows);
        asks_for_settings(&screen);
    }
}

#[test]
fn rows_to_fix_of_another_ledger_take_nothing_of_the_run_with_their_number() {
    let service = service();
    let other = Folder::with_leads("phone,name\nno number,Eve\n+447911123456,Ada\n");
    other.import_leads(&service, &[]).expect(1);
    let folder = Folder::with_leads(&contacts(3));
    folder.import_leads(&service, &[]).expect(0);
    let visitor = page_of(&folder, &service);
    let screen = columns(&visitor, "to fix.csv", other.read("leads.rejects.csv"));
    asks_for_settings(&screen);
}

#[test]
fn a_newer_version_without_the_sheet_or_a_column_says_so_and_goes_on() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let rows: &[&[&str]] = &[&["phone", "name"], &["+447911123456", "Ada"]];
    let two = workbook(&[("Old", &[&["x"], &["y"]]), ("New", rows)]);
    let screen = columns(&visitor, "two.xlsx", two);
    // It is the only one with numbers; from now on it is meant by its name.
    let screen = visitor.send(&screen.form("reading").choose("sheet", "New"));
    let send = go_on(&visitor, &screen);
    let newer = |bytes: Vec<u8>| {
        let screen = visitor.get(&format!("{}/list", send.list()));
        visitor.send(&screen.form("list").file("one.xlsx", bytes))
    };
    let screen = newer(workbook(&[("Other", rows)]));
    says(&screen, &["“one.xlsx”", "“New”"]);
    let screen = visitor.send(&screen.form("reading").choose("sheet", "Other"));
    is_step(&screen, "send");

    let screen = newer(workbook(&[(
        "Other",
        &[&["tel", "name"], &["+447911123456", "Ada"]],
    )]));
    says(&screen, &["“one.xlsx”", "“phone”"]);
}

#[test]
fn several_phone_columns_are_asked_for_with_their_numbers() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let list = "Mobile,Phone,Name\n+447911123456,,Ada\n,+442079460001,Bob\n+447911123457,,Eve\n";
    let screen = columns(&visitor, "two.csv", list);
    says(&screen, &[]);
    let form = screen.form("columns");
    for begin in ["Mobile (2 ", "Phone (1 "] {
        let mut labels = form.choices["phone"].iter();
        assert!(labels.any(|(_, label)| label.starts_with(begin)), "{begin}");
    }
    let screen = visitor.send(
        &form
            .choose("phone", "Mobile")
            .set("nothing", "yes")
            .press("continue"),
    );
    is_page(&screen);
    is_step(&screen, "problems");
    assert!(screen.text().contains("another phone column"));
}

#[test]
fn an_area_code_in_a_column_of_its_own_stays_with_its_number() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let list =
        "Name;Vorwahl;Rufnummer;Durchwahl\nAda;030;1234567;\nBob;;1234568;\nCy;030;1234569;12\n";
    let screen = columns(&visitor, "split.csv", list);
    let form = screen.form("columns");
    assert_eq!(
        form.get("phone"),
        Some("1+2"),
        "{:?}",
        form.choices["phone"]
    );
    let pair = ("1+2".to_owned(), "Vorwahl + Rufnummer".to_owned());
    assert!(form.choices["phone"].contains(&pair));
    let form = form.choose("country", "Germany").set("nothing", "yes");
    let screen = visitor.send(&form.press("continue"));
    is_page(&screen);
    is_step(&screen, "problems");
    let text = screen.text();
    for said in ["no area code", "extension", "area codes"] {
        assert!(text.to_lowercase().contains(said), "{said}: {text}");
    }
    // The number alone is joined too: it would be somebody else's.
    let screen = visitor.look(&screen.at.replace("/problems", "/columns"));
    let form = screen.form("columns").choose("phone", "Rufnummer");
    visitor.send(&form.press("continue"));
    let screen = visitor.look(&screen.at);
    assert_eq!(screen.form("columns").get("phone"), Some("1+2"));
}

#[test]
fn what_keeps_nobody_from_sending_is_said_before() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let list =
        "Mobile,Phone,Consent\n+447911123456,,yes\n,+442079460001,\n+44791,+442079460002,yes\n";
    let screen = columns(&visitor, "two.csv", list);
    let old_registry = zipped(&[("2024-02-29_202.txt", REGISTRY)]);
    let form = screen.form("columns").file("registry.zip", old_registry);
    let screen = visitor.send(&form.choose("phone", "Mobile").press("block"));
    let mut form = screen.form("columns").choose("phone", "Mobile");
    form.fields.push(("phone".to_owned(), "1".to_owned()));
    let screen = visitor.send(&form.set("nothing", "yes").press("continue"));
    is_step(&screen, "send");
    is_page(&screen);
    for note in ["2 rows", "(line 4)", "1 row has", " 31.", "Send 3 leads"] {
        assert!(screen.text().contains(note), "{note}: {}", screen.text());
    }
}

#[test]
fn a_list_without_a_phone_column_asks_for_it() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let screen = columns(&visitor, "people.csv", "name,city\nAda,Leeds\nBob,York\n");
    says(&screen, &["“people.csv”"]);
    assert!(screen.html.contains("href=\"#phone\""));
}

/// A workbook of which no visible sheet has numbers.
fn without_visible_numbers(first: &[&[&str]]) -> Vec<u8> {
    let people: &[&[&str]] = &[&["phone", "name"], &["+447911123456", "Ada"]];
    let mut book = rust_xlsxwriter::Workbook::new();
    for (name, rows) in [
        ("Cover", first),
        ("Notes", &[&["text"]]),
        ("People", people),
    ] {
        let sheet = book.add_worksheet().set_name(name).unwrap();
        sheet.set_hidden(name == "People");
        for (at, row) in (0..).zip(rows) {
            sheet.write_row(at, 0, row.iter().copied()).unwrap();
        }
    }
    book.save_to_buffer().unwrap()
}

#[test]
fn an_empty_sheet_leads_to_the_others() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let screen = visitor.upload("book.xlsx", without_visible_numbers(&[]));
    says(&screen, &["“Cover”"]);
    let screen = visitor.send(&screen.form("reading").choose("sheet", "People"));
    let screen = go_on(&visitor, &first_campaign(&visitor, &screen));
    is_step(&screen, "send");
}

#[test]
fn another_sheet_with_the_numbers_is_offered() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let about: &[&[&str]] = &[&["title", "text"], &["Contacts", "of October"]];
    let screen = columns(&visitor, "book.xlsx", without_visible_numbers(about));
    says(&screen, &["“People”"]);
    assert_eq!(screen.html.matches("id=\"sheet\"").count(), 1);
    let screen = visitor.send(&screen.form("reading").choose("sheet", "People"));
    assert_eq!(screen.problem(), "", "{}", screen.text());
    assert_eq!(screen.form("columns").choices["phone"][1].1, "phone");
}

#[test]
fn of_several_sheets_with_numbers_one_is_chosen_before_anything_else() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let people: &[&[&str]] = &[&["phone"], &["+447911123456"], &["+447911123457"]];
    let others: &[&[&str]] = &[&["phone"], &["+447911123458"]];
    let book = workbook(&[("October", people), ("September", others)]);
    let screen = visitor.upload("book.xlsx", book);
    says(&screen, &[]);
    // No step leads past the question.
    for step in ["campaign", "columns", "problems", "send", "list"] {
        says(&visitor.get(&format!("{}/{step}", screen.list())), &[]);
    }
    let form = screen.form("reading");
    let labels: Vec<&str> = form.choices["sheet"]
        .iter()
        .map(|(_, label)| label.as_str())
        .collect();
    assert_eq!(labels, ["October (2 rows)", "September (1 row)"]);
    let screen = visitor.send(&form.choose("sheet", "September (1 row)"));
    let screen = go_on(&visitor, &first_campaign(&visitor, &screen));
    is_step(&screen, "send");
    assert!(screen.text().contains("September"), "{}", screen.text());
}

#[test]
fn hidden_people_are_asked_about_and_stay_left_out_in_a_corrected_copy() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    let phones = [
        "phone",
        "+447911123456",
        "+447911123457",
        "x",
        "+447911123459",
    ];
    sheet.write_column(0, 0, phones).unwrap();
    sheet.set_row_hidden(2).unwrap().set_row_hidden(4).unwrap();
    let asked = ["2 of 4", "row 3"];
    let screen = visitor.upload("book.xlsx", book.save_to_buffer().unwrap());
    says(&screen, &asked);
    for step in ["campaign", "columns", "problems", "send", "list"] {
        says(&visitor.get(&format!("{}/{step}", screen.list())), &asked);
    }
    // Nobody is sent before somebody has said so.
    let screen = visitor.send(&screen.form("reading"));
    says(&screen, &asked);
    let screen = visitor.send(
        &screen
            .form("reading")
            .choose("hidden-rows", "Leave them out"),
    );
    let screen = go_on(&visitor, &first_campaign(&visitor, &screen));
    let problems = visitor.get(&format!("{}/problems", screen.list()));
    let form = problems.form("problems").set("row-3", "+447911123458");
    let screen = visitor.send(&form.press("continue"));
    let screen = visitor.get(&format!("{}/send", screen.list()));
    is_step(&screen, "send");
    let text = screen.text();
    assert!(text.contains("2 hidden"), "{text}");
    assert!(text.contains("Send 2 leads"), "{text}");
    // It can be changed where the reading of the list is.
    let columns = visitor.get(&format!("{}/columns", screen.list()));
    let screen = visitor.send(
        &columns
            .form("reading")
            .choose("hidden-rows", "Send them too"),
    );
    let screen = go_on(&visitor, &screen);
    assert!(screen.text().contains("Send 4 leads"), "{}", screen.text());
}

#[test]
fn words_of_a_column_that_says_who_is_called_are_asked_about() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let list = "phone,Do Not Call\n+447911123456,\n+447911123457,perhaps\n+447911123458,x\n+447911123459,no\n";
    for (answer, name, leads) in [("Leave them out", "a.csv", 2), ("Call them", "b.csv", 3)] {
        let screen = go_on(&visitor, &columns(&visitor, name, list));
        let asked = ["“perhaps”"];
        says(&screen, &asked);
        // Nobody is sent before somebody has said so.
        let unsaid = visitor.send(&screen.form("reading"));
        let screen = go_on(&visitor, &unsaid);
        says(&screen, &asked);
        let screen = visitor.send(&screen.form("reading").choose("marks", answer));
        let screen = go_on(&visitor, &screen);
        let text = screen.text();
        assert!(text.contains(&format!("Send {leads} leads")), "{text}");
        assert!(text.contains("“Do Not Call”"), "{text}");
    }
}

#[test]
fn a_column_that_would_leave_out_most_people_is_asked_about() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let list = "phone,Blocked\n+447911123456,1\n+447911123457,1\n+447911123458,0\n";
    for (answer, name, button) in [
        ("Who must not be called", "a.csv", "Send 1 lead"),
        ("Something else", "b.csv", "Send 3 leads"),
    ] {
        let screen = go_on(&visitor, &columns(&visitor, name, list));
        says(&screen, &["2 of 3", "“Blocked”"]);
        let screen = visitor.send(&screen.form("reading").choose("marks", answer));
        let screen = go_on(&visitor, &screen);
        assert!(screen.text().contains(button), "{}", screen.text());
    }
}

#[test]
fn numbers_without_a_country_ask_for_it_once_and_then_can_go_without() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let numbers: Vec<String> = (0..10).map(|n| format!("07911 12345{n}")).collect();
    let screen = columns(
        &visitor,
        "gb.csv",
        format!("phone\n{}\n", numbers.join("\n")),
    );
    let screen = go_on(&visitor, &screen);
    says(&screen, &["10 numbers"]);
    assert!(screen.html.contains("href=\"#country\""));
    let again = go_on(&visitor, &screen);
    is_step(&again, "problems");
    is_page(&again);
    let form = screen
        .form("columns")
        .set("version", again_version(&visitor, &again).as_str());
    let sent = visitor.send(
        &form
            .choose("country", "United Kingdom")
            .set("nothing", "yes")
            .press("continue"),
    );
    is_step(&sent, "send");
}

/// The present version of the list that a page is about.
fn again_version(visitor: &Visitor, screen: &Screen) -> String {
    let columns = visitor.get(&format!("{}/columns", screen.list()));
    columns.form("columns").get("version").unwrap().to_owned()
}

#[test]
fn numbers_of_another_country_are_doubted_and_can_be_said_to_be_right() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let numbers: Vec<String> = (30..60).map(|n| format!("(203) 555-01{n}")).collect();
    let screen = columns(
        &visitor,
        "us.csv",
        format!("phone\n{}\n", numbers.join("\n")),
    );
    let form = screen.form("columns").choose("country", "United Kingdom");
    let screen = visitor.send(&form.set("nothing", "yes").press("continue"));
    says(&screen, &["30 numbers", "(203) 555-0130", "line 2"]);
    let form = screen.form("columns").set("numbers-are-right", "yes");
    let screen = visitor.send(&form.set("nothing", "yes").press("continue"));
    is_page(&screen);
    assert!(!screen.at.ends_with("/columns"), "{}", screen.text());
}

#[test]
fn numbers_that_excel_has_shortened_are_said_to_be_lost() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let list =
        "phone,name\n4.47911E+11,Ada\n+447911123456,Bob\n+447911123457,Eve\n+447911123458,Dan\n";
    let screen = go_on(&visitor, &columns(&visitor, "short.csv", list));
    is_page(&screen);
    let text = screen.text();
    assert!(
        text.contains("Excel") && text.contains("4.47911E+11"),
        "{text}"
    );
}

#[test]
fn corrections_that_cannot_be_sent_are_asked_for_again_and_the_others_are_kept() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let list = "phone,name\n+447911123456,Ada\n123,Bob\n,Eve\n999,Kim\n";
    let screen = go_on(&visitor, &columns(&visitor, "a.csv", list));
    let form = screen
        .form("problems")
        .set("row-2", "bad")
        .set("row-3", "xyz");
    let screen = visitor.send(&form.set("row-4", "+447911123499").press("continue"));
    assert!(screen.heading().starts_with("2 rows"), "{}", screen.text());
    assert_eq!(screen.status, 422);
    let form = screen.form("problems");
    assert_eq!(form.get("row-2"), Some("bad"));
    assert_eq!(form.get("row-3"), Some("xyz"));
    assert_eq!(form.get("row-4"), None);
    // Pressed again, these rows are left out.
    let screen = visitor.send(&form.press("continue"));
    is_step(&screen, "send");
}

#[test]
fn names_for_the_agent_are_checked_where_they_are_typed() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let screen = columns(
        &visitor,
        "a.csv",
        "phone,First,Last\n+447911123456,Ada,Byron\n",
    );
    let form = screen
        .form("columns")
        .set("send-1", "yes")
        .set("send-2", "yes");
    let two = form.clone().set("name-1", "name").set("name-2", "name");
    let screen = visitor.send(&two.press("continue"));
    assert_eq!(screen.status, 422);
    says(&screen, &["name"]);
    assert!(screen.html.contains("href=\"#name-2\""));
    let none = form.set("name-1", " ").set("name-2", "last");
    let screen = visitor.send(&none.press("continue"));
    assert_eq!(screen.status, 422);
    says(&screen, &["First"]);
}

#[test]
fn a_do_not_call_list_is_kept_when_something_else_is_wrong() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let screen = columns(&visitor, "a.csv", contacts(3));
    let form = screen
        .form("columns")
        .set("send-1", "yes")
        .set("name-1", "");
    let form = form.file("blocked.csv", "phone\n+447700900001\n");
    let screen = visitor.send(&form.press("continue"));
    says(&screen, &["name"]);
    assert!(screen.text().contains("blocked.csv"), "{}", screen.text());
    let screen = visitor.send(
        &screen
            .form("columns")
            .set("name-1", "name")
            .press("continue"),
    );
    assert!(screen.text().contains("blocked.csv"), "{}", screen.text());
    let columns = visitor.get(&format!("{}/columns", screen.list()));
    let add = |screen: &Screen, numbers: &str| {
        let form = screen.form("columns").file("blocked.csv", numbers);
        let screen = visitor.send(&form.press("block"));
        (screen.text().matches("Remove blocked.csv").count(), screen)
    };
    // Another one with the same name is added. One that is corrected takes the place of its first
    // version.
    let (lists, screen) = add(&columns, "phone\n+447700900002\n");
    assert_eq!(lists, 2);
    let screen = visitor.send(&screen.form("columns").press("remove-1"));
    let (lists, screen) = add(
        &visitor.send(&screen.form("columns").press("remove-0")),
        "phone\n+44\n",
    );
    assert_eq!(lists, 1);
    let screen = go_on(&visitor, &screen);
    says(&screen, &["“blocked.csv”"]);
    assert_eq!(add(&screen, "phone\n+447700900002\n").0, 1);
}

#[test]
fn unknown_names_of_campaigns_keep_a_list_from_being_sent() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let list = "phone,campaign\n+447911123456,Sprnig\n+447911123457,Autumn\n";
    let screen = visitor.upload("a.csv", list);
    let screen = visitor.send(&screen.form("campaign").choose("campaign", "campaign"));
    let screen = go_on(&visitor, &screen);
    is_page(&screen);
    is_step(&screen, "problems");
    let text = screen.text();
    assert!(
        text.contains("“Sprnig”") && text.contains("line 2"),
        "{text}"
    );
    let send = visitor.get(&format!("{}/send", screen.list()));
    is_step(&send, "problems");
}

#[test]
fn people_of_a_campaign_that_was_made_anew_are_called_again_only_after_a_tick() {
    let spring = |id: u32| format!("[[campaign]]\nid = {id}\nname = 'Spring'");
    let (folder, service) = (Folder::new(), scenario(&spring(17)));
    folder.write("leads.csv", "phone,which\n+447911123456,Spring\n");
    let by_column = ["leads.csv", "--campaign-column", "which"];
    folder.import(&service, &by_column).expect(0);
    let service = crate::util::replaced(service, &spring(18));
    let visitor = page_of(&folder, &service);
    let screen = visitor.upload("a.csv", "tel,campaign\n+447911123456,Spring\n");
    let screen = visitor.send(&screen.form("campaign").choose("campaign", "campaign"));
    let screen = go_on(&visitor, &screen);
    let run = format!("{}/run", screen.list());
    visitor.send(&screen.form("send"));
    let refused = visitor.wait(&run, |screen| !screen.problem().is_empty());
    says(&refused, &["“Spring”", "18", "17"]);
    assert_eq!(service.stats().lead_requests, 0);
    visitor.send(&refused.form("send").set("again", "yes"));
    visitor.wait(&run, |screen| screen.heading() == "Sent");
    assert_eq!(service.leads().len(), 1);
}

#[test]
fn a_list_whose_record_of_what_was_sent_is_lost_is_not_sent_again() {
    let (folder, service) = (Folder::new(), scenario("token_revoked_after = 4"));
    let visitor = page_of(&folder, &service);
    let screen = ready(&visitor, "a.csv", contacts(10));
    let list = screen.list();
    visitor.send(&screen.form("send"));
    visitor.wait(&format!("{list}/run"), |screen| {
        screen.heading() == "Stopped"
    });
    drop(visitor);
    for ending in ["", "-wal", "-shm"] {
        let mut file = folder.ledger().into_os_string();
        file.push(ending);
        let _ = fs::remove_file(file);
    }
    let service = crate::util::replaced(service, "");
    let visitor = page_of(&folder, &service);
    let screen = visitor.get(&format!("{list}/send"));
    visitor.send(&screen.form("send"));
    let refused = visitor.wait(&format!("{list}/send"), |screen| {
        !screen.problem().is_empty()
    });
    says(&refused, &[]);
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn an_old_form_changes_nothing_and_shows_the_present_state() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let screen = columns(&visitor, "a.csv", contacts(3));
    let old = screen
        .form("columns")
        .set("nothing", "yes")
        .press("continue");
    visitor.send(&old);
    let stale = visitor.send(&old);
    assert_eq!(stale.status, 409);
    says(&stale, &[]);
    let list = screen.list();
    for action in ["campaign", "reading"] {
        let page = if action == "campaign" {
            "campaign"
        } else {
            "columns"
        };
        let form = visitor
            .get(&format!("{list}/{page}"))
            .form(action)
            .set("version", "1");
        let first = form.choices.get("campaign").map(|all| all[1].0.clone());
        let stale = visitor.send(&form.set("campaign", &first.unwrap_or_default()));
        assert_eq!(stale.status, 409, "{action}: {}", stale.text());
    }
}

#[test]
fn addresses_that_lead_nowhere_are_pages_too() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    for page in [
        "lists/7/columns",
        "lists/7/run",
        "lists/seven/columns",
        "lists/99999999999999999999999/send",
        "nowhere",
        "history/7",
        "history/seven",
        "lists/7/live",
        "lists/7/files/list",
        "lists/7/stop",
    ] {
        let screen = visitor.look(page);
        is_page(&screen);
        assert!(
            screen.status == 404 || screen.at == "history",
            "{page}: {}",
            screen.status
        );
    }
}

const HOSTILE: &str = "<script>alert(1)</script>\"'&amp;<img src=x onerror=alert(2)>";

#[track_caller]
fn shows_no_html(screen: &Screen) {
    for tag in ["<script>alert", "<img src=x", "onerror=alert(2)>"] {
        assert!(!screen.html.contains(tag), "{}", screen.html);
    }
}

#[test]
fn html_in_a_list_and_its_name_is_shown_as_text() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let quoted = HOSTILE.replace('"', "\"\"");
    let header = format!("phone,\"{quoted}\",\"b{quoted}\"");
    let rows = format!(
        "+447911123456,\"{quoted}\",b\n\"{quoted}\",\"x{quoted}\",\"y{quoted}\"\n+447911123457,a,b\n+447911123458,a,b\n"
    );
    let name = "<img src=x onerror=alert(2)>.csv";
    let screen = columns(&visitor, name, format!("{header}\n{rows}"));
    shows_no_html(&screen);
    assert!(
        screen.text().contains("<script>alert(1)"),
        "{}",
        screen.text()
    );
    let form = screen
        .form("columns")
        .set("send-1", "yes")
        .set("opening-line", HOSTILE);
    let form = form.set("only-0", "1");
    let screen = visitor.send(&form.press("values"));
    shows_no_html(&screen);
    let list = screen.list();
    let form = screen.form("columns").set("only-0", "").press("preview");
    shows_no_html(&visitor.send(&form));
    let screen = visitor.get(&format!("{list}/columns"));
    shows_no_html(&go_on(&visitor, &screen));
    for page in ["list", "campaign", "columns", "problems", "send", "run"] {
        shows_no_html(&visitor.get(&format!("{list}/{page}")));
    }
    for page in ["list", "history", "quit"] {
        shows_no_html(&visitor.get(page));
    }
    let typed = visitor.get(&format!("{list}/problems")).form("problems");
    let row = typed
        .fields
        .iter()
        .find(|(name, _)| name.starts_with("row-"))
        .unwrap()
        .0
        .clone();
    let screen = visitor.send(&typed.set(&row, HOSTILE));
    shows_no_html(&screen);
    let send = visitor.get(&format!("{list}/send"));
    visitor.send(&send.form("send"));
    visitor.wait(&format!("{list}/run"), |screen| screen.heading() == "Sent");
    for page in ["history", "history/1/summary"] {
        shows_no_html(&visitor.get(page));
    }
}

/// The page for this service.
pub fn page_of(folder: &Folder, service: &leadload::sandbox::Sandbox) -> Visitor {
    Visitor::of(folder.leadload(&["web", "--no-open"]).at(service))
}

#[test]
fn html_in_what_the_service_says_is_shown_as_text() {
    let folder = Folder::new();
    let service = scenario(
        "[[campaign]]\nid = 101\nname = '<img src=x onerror=alert(2)>'\nstatus = '<script>alert(1)</script>'\n\n[[rule]]\nreply = { status = 403, body = '{\"message\":\"<script>alert(1)</script>\"}' }",
    );
    let visitor = page_of(&folder, &service);
    let screen = visitor.upload("a.csv", contacts(3));
    shows_no_html(&screen);
    let screen = go_on(&visitor, &first_campaign(&visitor, &screen));
    shows_no_html(&screen);
    let screen = visitor.send(&screen.form("send"));
    let run = visitor.wait(&format!("{}/run", screen.list()), |screen| {
        screen.heading() == "Stopped"
    });
    shows_no_html(&run);
    is_page(&run);
    shows_no_html(&visitor.get("history"));
}

#[test]
fn a_service_that_is_down_is_said_to_be_and_can_be_tried_again() {
    let folder = Folder::new();
    let service = service();
    let run = folder.leadload(&["web", "--no-open"]).at(&service);
    drop(service);
    let visitor = Visitor::of(run);
    let screen = visitor.upload("a.csv", contacts(3));
    says(&screen, &[]);
    assert!(screen.text().contains("Try again"));
    assert!(screen.text().contains("Change the service"));
}

pub fn connect(visitor: &Visitor, address: &str, token: &str) -> Screen {
    let form = visitor.get("service").form("service");
    visitor.send(&form.set("address", address).set("token", token))
}

#[test]
fn a_run_whose_token_is_revoked_asks_for_a_new_one_and_goes_on() {
    let folder = Folder::new();
    let service = scenario("token_revoked_after = 4");
    let visitor = Visitor::of(folder.leadload(&["web", "--no-open"]));
    connect(&visitor, &service.base_url(), service.token());
    let screen = ready(&visitor, "a.csv", contacts(10));
    let screen = visitor.send(&screen.form("send"));
    let page = format!("{}/run", screen.list());
    let run = visitor.wait(&page, |screen| screen.heading() == "Stopped");
    says(&run, &["token"]);
    let refused = visitor.send(&run.form("resume").set("token", "two words"));
    assert_eq!(refused.status, 422);
    says(&refused, &[]);
    // The same address with a token that is accepted.
    let sent = service.leads().len();
    assert!((1..10).contains(&sent), "{sent}");
    let service = crate::util::replaced(service, "");
    let screen = visitor.send(&run.form("resume").set("token", service.token()));
    let run = visitor.wait(&screen.at, |screen| screen.heading() == "Sent");
    is_page(&run);
    assert_eq!(service.leads().len() + sent, 10);
}

#[test]
fn a_campaign_that_was_deleted_meanwhile_stops_the_run_with_advice() {
    let folder = Folder::new();
    let service = scenario(
        "[[rule]]\nreply = { status = 422, body = '{\"message\":\"The selected campaign id is invalid.\",\"errors\":{\"campaign_id\":[\"The selected campaign id is invalid.\"]}}' }",
    );
    let visitor = page_of(&folder, &service);
    let screen = ready(&visitor, "a.csv", contacts(60));
    let screen = visitor.send(&screen.form("send"));
    let run = visitor.wait(&screen.at, |screen| screen.heading() == "Stopped");
    is_page(&run);
    let problem = run.problem();
    assert!(
        problem.contains("“Campaign”") || problem.contains("rows to fix"),
        "{problem}"
    );
}

#[test]
fn a_damaged_record_of_what_was_sent_is_said_to_be_and_nothing_is_sent() {
    let folder = Folder::new();
    fs::create_dir_all(folder.ledger().parent().unwrap()).unwrap();
    fs::write(folder.ledger(), "no database ".repeat(1000)).unwrap();
    let service = service();
    let visitor = page_of(&folder, &service);
    let screen = visitor.upload("a.csv", contacts(3));
    says(&screen, &["damaged", "backup"]);
    says(&visitor.get("history"), &["damaged"]);
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn a_list_waits_while_another_program_sends_and_says_who() {
    let folder = Folder::with_leads(&contacts(400));
    let service = scenario("latency_ms = 50");
    let slow = [
        "import",
        "leads.csv",
        "--campaign",
        "101",
        "--concurrency",
        "1",
        "--yes",
    ];
    let import = folder.leadload(&slow).at(&service).start();
    crate::util::wait_for_requests(&service, 5);
    let visitor = page_of(&folder, &service);
    let screen = ready(&visitor, "october.csv", "phone\n+447911999999\n");
    let screen = visitor.send(&screen.form("send"));
    let waiting = visitor.wait(&screen.at, |screen| {
        screen.heading().starts_with("october.csv")
    });
    is_page(&waiting);
    assert!(waiting.text().contains("leads.csv"), "{}", waiting.text());
    crate::util::kill(import);
    let run = visitor.wait(&screen.at, |screen| screen.heading() == "Sent");
    is_page(&run);
}

/// The list of a run that a command line began stays at its place, where others can change it.
#[test]
fn a_list_that_somebody_else_changes_on_the_disk_does_not_go_on_as_that_run() {
    let folder = Folder::with_leads(&contacts(10));
    let service = scenario("token_revoked_after = 4");
    folder
        .import_leads(&service, &["--concurrency", "1"])
        .expect(3);
    let service = crate::util::replaced(service, "");
    folder.write("leads.csv", "phone,name\n+447911999999,Eve\n");
    let visitor = page_of(&folder, &service);
    let history = visitor.get("history/1");
    assert!(history.html.contains("Resume"), "{}", history.text());
    let screen = visitor.send(&history.form("history/1/resume"));
    let end = visitor.wait(&screen.at, |screen| !screen.problem().is_empty());
    says(&end, &["leads.csv"]);
    is_step(&end, "send");
    assert!(end.text().contains("Send 1 lead"), "{}", end.text());
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn a_list_that_is_gone_is_said_to_be() {
    let folder = Folder::with_leads(&contacts(10));
    let service = scenario("token_revoked_after = 4");
    folder
        .import_leads(&service, &["--concurrency", "1"])
        .expect(3);
    let visitor = page_of(&folder, &service);
    let form = visitor.get("history/1").form("history/1/resume");
    fs::remove_file(folder.path("leads.csv")).unwrap();
    let screen = visitor.send(&form);
    says(&screen, &[]);
}

/// Files cannot grow beyond this limit, as on a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_said_to_be_when_a_list_arrives_and_when_it_is_sent() {
    let folder = Folder::new();
    let service = service();
    let script = "trap '' XFSZ; ulimit -f 400; exec \"$0\" \"$@\"";
    let run = folder
        .through_shell(script, &["web", "--no-open"])
        .at(&service);
    let visitor = Visitor::of(run);
    let screen = visitor.upload("long.csv", contacts(20_000));
    assert_eq!(screen.status, 422);
    says(&screen, &["disk"]);
    // The page goes on.
    let screen = ready(&visitor, "a.csv", contacts(4000));
    let screen = visitor.send(&screen.form("send"));
    let run = visitor.wait(&screen.at, |screen| {
        screen.heading() == "Stopped" || !screen.problem().is_empty()
    });
    is_page(&run);
    let problem = run.problem();
    assert!(problem.contains("disk"), "{problem}");
}
