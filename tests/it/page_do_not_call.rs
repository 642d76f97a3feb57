//! The do-not-call list in the page, over HTTP with the real program.

use crate::page_runs::Page;
use crate::page_session::Answer;
use crate::util::{Folder, contacts, number, service};

fn pressed(page: &Page, address: &str, fields: &[(&str, &str)]) -> Answer {
    let answer = page.session.post(address, fields);
    match &answer.to {
        Some(to) => page.session.arrive(to).1,
        None => answer,
    }
}

fn add(page: &Page, number: &str, more: &[(&str, &str)]) -> Answer {
    let fields = [&[("action", "add"), ("number", number)][..], more].concat();
    pressed(page, "do-not-call", &fields)
}

#[test]
fn a_number_that_is_added_is_not_sent_and_the_screen_before_says_so() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    let page = Page::start(&folder, &service);
    assert!(page.session.get("do-not-call").says("Nobody yet"));
    let list = page.prepare(&folder);
    assert!(
        page.session
            .arrive(&format!("{list}/send"))
            .1
            .says("Send 3 leads")
    );

    let after = add(&page, &number(1), &[("reason", "asked <twice>")]);
    assert!(after.says("1 number "), "{}", after.body);
    assert!(after.says("asked &lt;twice&gt;"), "{}", after.body);
    let send = page.session.arrive(&format!("{list}/send")).1;
    assert!(send.says("Send 2 leads"), "{}", send.body);
    assert!(send.says("(1 number)"), "{}", send.body);
    page.send(&list, &[]);
    page.end(&list);
    let statuses: Vec<_> = page
        .results(&list)
        .iter()
        .map(|row| row["status"].clone())
        .collect();
    assert_eq!(statuses, ["created", "suppressed", "created"]);

    // A command line with this ledger has the same list.
    let listed = folder
        .leadload(&["suppress", "list", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(listed["numbers"][0]["phone_number"], number(1));
    assert_eq!(listed["numbers"][0]["reason"], "asked <twice>");
}

#[test]
fn who_is_a_lead_already_is_said_with_campaign_and_list() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    page.end(&list);
    let after = add(&page, &number(0), &[]);
    assert!(after.says("1 of these people"), "{}", after.body);
    assert!(
        after.says("Spring promo") && after.says("leads.csv"),
        "{}",
        after.body
    );
    // It is said once.
    assert!(!page.session.get("do-not-call").says("of these people"));
    let again = add(&page, &number(0), &[]);
    assert!(
        again.says("0 numbers ") && again.says(" 1 was"),
        "{}",
        again.body
    );
    // A list with this person says it before and after.
    folder.write("leads.csv", contacts(3));
    let list = page.prepare(&folder);
    let said = "1 person on a do-not-call list is a lead already";
    let send = page.session.arrive(&format!("{list}/send")).1;
    assert!(send.says(said), "{}", send.body);
    page.send(&list, &[]);
    let end = page.end(&list);
    assert!(end.says(said), "{}", end.body);
}

#[test]
fn numbers_are_read_with_the_country_that_is_chosen_and_refused_without_one() {
    let folder = Folder::new();
    let service = service();
    let page = Page::start(&folder, &service);
    let refused = add(&page, "07911 000001", &[("country", "")]);
    assert_eq!(refused.status, 422);
    assert!(refused.says("no country"), "{}", refused.body);
    assert!(refused.says("value=\"07911 000001\""));
    for wrong in ["", "hello", "+44 7911"] {
        assert_eq!(add(&page, wrong, &[]).status, 422, "{wrong}");
    }
    let after = add(&page, "07911 000001", &[("country", "GB")]);
    assert!(after.says("+447911000001"), "{}", after.body);
    let removed = pressed(&page, "do-not-call/remove", &[("number", "+447911000001")]);
    assert!(removed.says("Removed"), "{}", removed.body);
    assert!(removed.says("Nobody yet"), "{}", removed.body);
    let fields = [("action", "remove"), ("number", "+447911000001")];
    let unknown = pressed(&page, "do-not-call", &fields);
    assert!(unknown.says("not on the list"), "{}", unknown.body);
}

#[test]
fn all_of_a_list_is_added_or_nothing_and_the_download_can_be_added_again() {
    let folder = Folder::new();
    let service = service();
    let page = Page::start(&folder, &service);
    folder.write("never.csv", "phone\n+447911000001\n07911 000002\n");
    let file = folder.path("never.csv");
    let refused = page
        .session
        .upload("do-not-call/list", &[("country", "")], Some(&file));
    assert_eq!(refused.status, 422);
    assert!(refused.says("“never.csv”"), "{}", refused.body);
    assert!(
        refused.says("line 3") || refused.says("lines 3"),
        "{}",
        refused.body
    );
    assert!(refused.says("Nobody yet"));
    let fields = [("country", "GB"), ("reason", "left")];
    let taken = page
        .session
        .upload("do-not-call/list", &fields, Some(&file));
    let after = page.session.arrive(&taken.to.expect(&taken.body)).1;
    assert!(after.says("2 numbers "), "{}", after.body);

    let csv = page.session.get("do-not-call/do-not-call.csv");
    assert!(
        csv.body.starts_with("phone_number,added_at,reason\n"),
        "{}",
        csv.body
    );
    assert_eq!(csv.body.lines().count(), 3);
    folder.write("again.csv", &csv.body);
    let again = folder.path("again.csv");
    let taken = page.session.upload("do-not-call/list", &[], Some(&again));
    let after = page.session.arrive(&taken.to.expect(&taken.body)).1;
    assert!(
        after.says("0 numbers ") && after.says(" 2 were"),
        "{}",
        after.body
    );
}
