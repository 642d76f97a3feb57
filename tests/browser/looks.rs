//! Every screen: for people who see, hear or move differently, on a phone, and enlarged.

use crate::browser::Browser;
use crate::page::{Page, WIDTH};
use crate::screens::{CAMPAIGN, COLUMNS, SEND, SERVICE};
use crate::util::{Folder, contacts, sample_data, scenario};
use crate::web::Web;

#[track_caller]
fn expect_usable(page: &Page<'_>) {
    page.expect_accessible();
    page.set_width(400);
    assert!(!page.is_too_wide(), "{} at 400 px", page.title());
    page.zoom(200);
    assert!(!page.is_too_wide(), "{} at 200 %", page.title());
    page.set_width(WIDTH);
}

#[test]
fn every_screen_is_accessible_and_narrow_enough() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::new());
    let service = scenario("latency_ms = 100\nmax_concurrent = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    expect_usable(&page);
    page.upload("Contact list", &sample_data("contacts.csv"));
    page.wait_for_heading(CAMPAIGN.heading);
    expect_usable(&page);
    page.fill("Campaign", "Spring promo (in progress)");
    page.click("Continue");
    page.wait_for_heading(COLUMNS.heading);
    page.click("Does this look wrong?");
    page.fill("Only send rows where", "Plan");
    page.fill(
        "Paste the agent's opening line",
        "Hi {{first_name}} of {{town}}!",
    );
    page.click("Preview");
    page.wait_for("[town: not sent]");
    expect_usable(&page);
    page.fill("Only send rows where", "send all rows");
    page.click("Continue");
    page.expect_errors();
    expect_usable(&page);
    page.click("Continue");
    page.wait_for_problems(8);
    page.script("document.querySelectorAll('details').forEach((one) => { one.open = true })");
    expect_usable(&page);
    page.click("Continue");
    page.wait_for_heading(SEND.heading);
    expect_usable(&page);
    page.click("Send 194 leads");
    page.wait_for_heading("Sending to Spring promo");
    expect_usable(&page);
    page.click("Stop and quit");
    expect_usable(&page);
    page.click("Stop");
    page.wait_for_heading("Stopped");
    expect_usable(&page);
    page.click("Print summary");
    expect_usable(&page);
    page.click("Back");
    page.click("Undo");
    page.wait_for("taken back");
    expect_usable(&page);
    page.click("Do not call");
    page.fill("Phone number", "+447911000001");
    page.fill(
        "Reason (optional)",
        "asked on the phone, twice, and once more by letter",
    );
    page.click("Add to the list");
    page.wait_for("1 number ");
    expect_usable(&page);
    page.click("History");
    page.wait_for_heading("History");
    expect_usable(&page);
    page.click("Service");
    page.wait_for_heading(SERVICE.heading);
    expect_usable(&page);
}

#[test]
fn the_screens_of_a_list_that_is_taken_back_are_accessible_and_narrow_enough() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(3)));
    // The service does not answer when leads are listed.
    let service = scenario("[call_faults]\nhang_before = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.send(&folder.path("leads.csv"), "Spring promo (in progress)", 3);
    page.wait_for_heading("Sent");
    page.click("Undo");
    page.click("Remove 3 leads");
    page.wait_for_heading_of("Removing");
    page.wait_for("Asking the service");
    expect_usable(&page);
    page.click("Stop and quit");
    page.wait_for("That stops");
    page.click("Keep it running");
    page.click("Stop");
    page.wait_for("at any time");
    expect_usable(&page);
}
