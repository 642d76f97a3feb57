//! The page without scripts.

use crate::browser::Browser;
use crate::screens::{CAMPAIGN, COLUMNS, SEND};
use crate::util::{Folder, contacts, service};
use crate::web::Web;

#[test]
fn a_list_is_sent_without_javascript() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::with_leads(&contacts(3)), service());
    let web = Web::start(&folder, &service);
    page.javascript(false);
    web.open(&page);
    page.upload("Contact list", &folder.path("leads.csv"));
    page.click("Continue");
    page.wait_for_heading(CAMPAIGN.heading);
    page.fill("Campaign", "Spring promo (in progress)");
    page.click("Continue");
    page.wait_for_heading(COLUMNS.heading);
    page.row("name").tick("Send");
    page.click("Preview");
    page.wait_until("the end of the check", |page| {
        if page.heading() == "Checking the list …" {
            page.reload();
        }
        page.heading() == COLUMNS.heading
    });
    page.wait_for("would get");
    page.click("Continue");
    page.wait_for_heading(SEND.heading);
    page.click("Send 3 leads");
    page.wait_until("the end", |page| {
        if page.heading() != "Sent" {
            page.click("Show how it is now");
        }
        page.heading() == "Sent"
    });
    let results = page.download("Download results (CSV)");
    let results = std::fs::read_to_string(results).unwrap();
    assert_eq!(results.matches(",created,").count(), 3, "{results}");
    assert_eq!(service.stats().created, 3);
}
