//! What the page says to input that it cannot use, with the way on.

use std::time::{Duration, Instant};

use super::Page;
use crate::page_bad_input::{
    columns, connect, encrypted, go_on, is_page, is_step, page_of, ready, workbook,
};
use crate::page_client::{Screen, Visitor};
use crate::transcript::normalised;
use crate::util::{Folder, contacts, service};

impl Page {
    /// Adds what a page says is wrong.
    #[track_caller]
    fn add_screen(&mut self, folder: &Folder, what: &str, screen: &Screen) {
        is_page(screen);
        let problem = screen.problem();
        assert_ne!(problem, "", "{}", screen.text());
        let begin = if self.0.is_empty() { "" } else { "\n" };
        self.0.push_str(begin);
        let text = format!("{what}\n  {problem}");
        self.0.push_str(&normalised(&text, folder));
    }
}

#[test]
fn of_files_on_the_page() {
    let folder = Folder::with_leads(&contacts(3));
    let visitor = Visitor::practice(&folder);
    folder.import_leads(&service(), &[]).expect(0);
    let results = folder.read("leads.results.csv");
    let people: &[&[&str]] = &[&["phone"], &["+447911123456"]];
    let two = workbook(&[("October", people), ("September", people)]);
    let mut page = Page::default();
    let none = visitor.send(&visitor.get("list").form("list"));
    assert_eq!(none.status, 422);
    page.add_screen(&folder, "no file", &none);
    for (name, bytes) in [
        ("offer.pdf", &b"%PDF-1.7\n%x"[..]),
        ("me.png", b"\x89PNG\r\n\x1a\n"),
        ("a.html", b"<!doctype html><p>hi"),
        ("empty.csv", b""),
        ("blank.xlsx", &workbook(&[("Empty", &[])])),
        ("secret.xlsx", &encrypted()),
        ("broken.xlsx", b"PK\x03\x04 cut off"),
        ("old.gz", b"\x1f\x8b\x08\x00cut"),
        ("quote.csv", b"phone,\"name\n+447911123456,Ada\n"),
        ("leads.results.csv", results.as_bytes()),
        ("two.xlsx", &two),
    ] {
        let screen = visitor.upload(name, bytes);
        page.add_screen(&folder, name, &screen);
        if name == "two.xlsx" {
            continue;
        }
        // The way on is a better file.
        let better = screen.form("list").file("contacts.csv", contacts(3));
        is_step(&visitor.send(&better), "campaign");
    }
    page.is("page-files");
}

#[test]
fn of_columns_on_the_page() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let mut page = Page::default();
    for list in [
        "Mobile,Phone\n+447911123456,\n,+442079460001\n",
        "name,city\nAda,Leeds\nBob,York\n",
    ] {
        let screen = columns(&visitor, "a.csv", list);
        page.add_screen(&folder, list, &screen);
    }
    let without_country = (0..10).map(|n| format!("07911 12345{n}\n"));
    let without_country = format!("phone\n{}", without_country.collect::<String>());
    for list in [
        &without_country,
        "phone,Do Not Call\n+447911123456,\n+447911123457,perhaps\n+447911123458,x\n",
        "phone,Blocked\n+447911123456,1\n+447911123457,1\n+447911123458,0\n",
    ] {
        let screen = go_on(&visitor, &columns(&visitor, "a.csv", list));
        page.add_screen(&folder, list, &screen);
    }
    page.is("page-columns");
}

#[test]
fn of_do_not_call_lists_on_the_page() {
    let folder = Folder::new();
    let visitor = Visitor::practice(&folder);
    let mut page = Page::default();
    for list in [
        "email\nada@example.com\n",
        "name\nAda\n",
        "phone\n+44123\n",
        "%PDF-1.7",
        "",
    ] {
        let screen = columns(&visitor, "a.csv", contacts(3));
        let form = screen.form("columns").file("blocked.csv", list);
        let screen = go_on(&visitor, &visitor.send(&form.press("block")));
        page.add_screen(&folder, list, &screen);
        let screen = visitor.send(&screen.form("columns").press("remove-0"));
        is_step(&go_on(&visitor, &screen), "send");
    }
    page.is("page-do-not-call-lists");
}

#[test]
fn of_the_service_on_the_page() {
    let folder = Folder::new();
    let service = service();
    let (address, token) = (service.base_url(), service.token().to_owned());
    let visitor = Visitor::of(folder.leadload(&["web", "--no-open"]));
    assert_eq!(visitor.get("").at, "service");
    assert_eq!(visitor.get("list").at, "service");
    let began = Instant::now();
    let mut page = Page::default();
    for (typed, with) in [
        ("nonsense", &*token),
        ("http://app.example.com", &token),
        ("'https://app.example.com'", &token),
        ("“app.example.com”", &token),
        (&address, &format!("\"{token}\"")),
        (&address, ""),
        (&address, "two words"),
        (&address, "wrong"),
        ("http://127.0.0.1:1", &token),
    ] {
        let screen = connect(&visitor, typed, with);
        assert_eq!(screen.status, 422);
        assert!(!screen.html.contains(&*token));
        page.add_screen(&folder, &format!("{typed}, {with}"), &screen);
    }
    assert!(began.elapsed() < Duration::from_secs(60));
    let screen = connect(&visitor, &address, &token);
    assert_eq!(screen.at, "list");
    assert!(!visitor.get("service").html.contains(&*token));
    ready(&visitor, "a.csv", contacts(3));
    let other = page_of(&folder, &service);
    let screen = connect(&other, &address, &token);
    page.add_screen(&folder, "one that was given at the start", &screen);
    drop(service);
    let screen = other.upload("a.csv", contacts(3));
    page.add_screen(&folder, "one that is down", &screen);
    page.is("page-service");
}

#[cfg(unix)]
#[test]
fn of_settings_on_the_page() {
    let folder = Folder::new();
    let visitor = Visitor::of(folder.leadload(&["web", "--no-open"]));
    std::fs::create_dir_all(folder.config().parent().unwrap()).unwrap();
    let mut page = Page::default();
    for text in [
        "region = GB",
        "[profiles.default]\nregio = \"GB\"",
        "[profiles.default]\nregion = \"Atlantis\"",
    ] {
        std::fs::write(folder.config(), text).unwrap();
        assert_eq!(visitor.get("").at, "service");
        let screen = visitor.get("list");
        assert_eq!(screen.at, "service");
        page.add_screen(&folder, text, &screen);
    }
    page.is("page-settings");
}
