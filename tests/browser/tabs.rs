//! Two tabs, and tabs that are loaded again or closed.

use crate::browser::Browser;
use crate::screens::{CAMPAIGN, COLUMNS, SEND};
use crate::util::{Folder, contacts, scenario, service};
use crate::web::Web;

#[test]
fn a_tab_that_is_behind_is_told_so_and_shown_how_it_is_now() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (first, folder, service) = (browser.page(), Folder::with_leads(&contacts(3)), service());
    let web = Web::start(&folder, &service);
    web.open(&first);
    first.choose(&folder.path("leads.csv"), "Spring promo (in progress)");

    let second = browser.new_tab();
    second.goto(&first.url());
    second.wait_for_heading(COLUMNS.heading);
    second.row("name").tick("Send");
    second.click("Continue");
    second.wait_for_heading(SEND.heading);

    first.fill("Country", "Germany");
    first.click("Continue");
    first.wait_for_heading("Nothing was changed");
    first.wait_for("another tab");
    let status = "return performance.getEntriesByType('navigation')[0].responseStatus";
    assert_eq!(first.script(status), 409);
    first.click("Show how it is now");
    first.wait_for_heading(COLUMNS.heading);
    assert!(first.row("name").is_ticked("Send"));
    assert!(first.value("Country").contains("+44"));
}

#[test]
fn loading_a_step_again_loses_nothing() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(30)));
    let service = scenario("latency_ms = 200\nmax_concurrent = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.upload("Contact list", &folder.path("leads.csv"));
    page.wait_for_heading(CAMPAIGN.heading);
    page.reload();
    page.fill("Campaign", "Spring promo (in progress)");
    page.click("Continue");
    page.wait_for_heading(COLUMNS.heading);
    page.click("Select all");
    page.wait_until("a ticked column", |page| page.row("name").is_ticked("Send"));
    page.reload();
    assert!(page.row("name").is_ticked("Send"));
    page.click("Campaign");
    page.wait_for_heading(CAMPAIGN.heading);
    assert_eq!(page.value("Campaign"), "Spring promo (in progress)");
    page.click("Send");
    page.wait_for_heading(COLUMNS.heading);
    page.click("Continue");
    page.wait_for_heading(SEND.heading);
    page.reload();
    page.click("Send 30 leads");
    page.wait_for_heading("Sending to Spring promo");
    page.reload();
    page.wait_for_heading("Sending to Spring promo");
    page.wait_for_heading("Sent");
    page.reload();
    page.wait_for_heading("Sent");
    assert_eq!(service.stats().created, 30);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn closing_the_tab_stops_nothing() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(30)));
    let service = scenario("latency_ms = 100\nmax_concurrent = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.choose(&folder.path("leads.csv"), "Spring promo (in progress)");
    page.go_on_to_send();
    page.click("Send 30 leads");
    page.wait_for_heading("Sending to Spring promo");
    let url = page.url();
    let other = browser.new_tab();
    page.close();
    other.goto(&url);
    other.wait_for_heading("Sent");
    assert_eq!(service.stats().created, 30);
}
