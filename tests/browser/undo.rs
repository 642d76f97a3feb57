//! Taking a list back, and the people who are never called.

use crate::browser::Browser;
use crate::util::{Folder, contacts, number, scenario};
use crate::web::Web;

const SPRING: &str = "Spring promo (in progress)";

#[test]
fn the_wrong_list_is_taken_back_after_a_question() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(40)));
    let service = scenario("latency_ms = 100\nmax_concurrent = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.send(&folder.path("leads.csv"), SPRING, 40);
    page.wait_for_heading("Sent");
    page.click("Undo");
    page.expect("Undo, leads.csv", "Remove 40 leads from Spring promo?");
    page.click("Keep them");
    page.wait_for_heading("Sent");
    assert_eq!(service.leads().len(), 40);

    page.click("Undo");
    page.click("Remove 40 leads");
    page.wait_for_heading_of("Removing");
    page.wait_for(" of 40");
    // It stands on every screen.
    page.click("New list");
    page.wait_for("Removing");
    page.click("Removing the leads of leads.csv");
    page.wait_for_heading("Removed again");
    assert_eq!(page.focused(), "Removed again");
    assert_eq!(service.leads().len(), 0);
    assert_eq!(page.complaints(), [""; 0]);
    let file = page.download("Download what was removed");
    assert_eq!(csv::Reader::from_path(file).unwrap().records().count(), 40);
    page.click("History");
    page.wait_for("removed again");
}

#[test]
fn leads_that_are_being_removed_stop_and_go_on() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(60)));
    let service = scenario("latency_ms = 50\nmax_concurrent = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.send(&folder.path("leads.csv"), SPRING, 60);
    page.wait_for_heading("Sent");
    page.click("Undo");
    page.click("Remove 60 leads");
    page.wait_for_heading_of("Removing");
    page.wait_until("a lead that is removed", |_| service.leads().len() < 60);
    page.click("Stop");
    page.wait_for_heading("Removed in part");
    page.wait_for("at any time");
    let left = service.leads().len();
    assert!(left > 0);
    page.click("Undo");
    page.click(&format!("Remove {left} leads"));
    page.wait_for_heading("Removed again");
    assert_eq!(service.leads().len(), 0);
}

#[test]
fn somebody_who_said_never_again_is_kept_on_a_list() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(3)));
    let service = scenario("");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.click("Do not call");
    page.expect("Do not call", "Do not call");
    page.fill("Phone number", "not a number");
    page.click("Add to the list");
    page.expect_errors();
    // The browser notes that the form was refused.
    assert_eq!(page.complaints().len(), 1);
    page.fill("Phone number", &number(0));
    page.click("Add to the list");
    page.wait_for("1 number ");
    let never = folder.path("never.csv");
    std::fs::write(&never, format!("phone\n{}\n", number(1))).unwrap();
    page.upload("List of numbers", &never);
    page.wait_for("2 numbers.");
    page.click("New list");
    page.choose(&folder.path("leads.csv"), SPRING);
    page.go_on_to_send();
    page.wait_for("(2 numbers)");
    page.click("Send 1 lead");
    page.wait_for_heading("Sent");
    assert_eq!(service.leads().len(), 1);
    page.click("Do not call");
    page.click(&format!("Remove {}", number(0)));
    page.wait_for("Removed.");
    assert_eq!(page.complaints(), [""; 0]);
}
