//! Lists whose settings are known, corrections, and a call to oneself.

use crate::browser::Browser;
use crate::screens::{CAMPAIGN, SEND};
use crate::util::{Folder, contacts, service};
use crate::web::Web;

const SPRING: &str = "Spring promo (in progress)";

#[test]
fn a_list_whose_columns_were_sent_before_goes_straight_to_send() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::with_leads(&contacts(3)), service());
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.choose(&folder.path("leads.csv"), SPRING);
    page.go_on_to_send();
    page.click("Send 3 leads");
    page.wait_for_heading("Sent");

    folder.write("november.csv", contacts(5));
    page.click("New list");
    page.upload("Contact list", &folder.path("november.csv"));
    page.wait_for_heading(SEND.heading);
    assert_eq!(page.title(), "Send, november.csv");
    page.wait_for("leads.csv");
    page.wait_for("3 are already sent.");
    page.wait_for("Send 2 leads");
    page.click("Start from scratch");
    page.wait_for_heading(CAMPAIGN.heading);
    assert_eq!(page.value("Campaign"), "Choose a campaign");
}

#[test]
fn phone_numbers_are_corrected_in_place() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = Folder::with_leads("phone,name\n+447911000001,Ada\nnone,Ben\n+44791,Cara\n");
    let (page, service) = (browser.page(), service());
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.choose(&folder.path("leads.csv"), SPRING);
    page.row("name").tick("Send");
    page.click("Continue");
    page.wait_for_problems(2);
    page.row("3")
        .fill("Phone number in line 3", "+447911000002");
    page.row("4").fill("Phone number in line 4", "+44");
    page.click("Keep corrections");
    page.wait_for_problems(1);
    page.fill("Phone number in line 4", "+447911000003");
    // Continue keeps what was typed too.
    page.click("Continue");
    page.wait_for_heading(SEND.heading);
    let corrected = page.download("Download the corrected list");
    // As Excel reads it without damage.
    assert_eq!(
        std::fs::read_to_string(corrected).unwrap(),
        "\u{feff}\"phone\",\"name\"\n\"+447911000001\",\"Ada\"\n\"+447911000002\",\"Ben\"\n\"+447911000003\",\"Cara\"\n"
    );
    page.click("Send 3 leads");
    page.wait_for_heading("Sent");
    assert_eq!(service.stats().created, 3);
}

#[test]
fn a_test_call_goes_to_ones_own_number_alone() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::with_leads(&contacts(3)), service());
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.choose(&folder.path("leads.csv"), SPRING);
    page.go_on_to_send();
    page.fill("Your own phone number", "0791");
    page.click("Send a test call");
    page.expect_errors();
    page.fill("Your own phone number", "+447911999001");
    page.click("Send a test call");
    page.wait_for("The test lead");
    let leads = service.leads();
    assert_eq!(leads.len(), 1);
    assert_eq!(leads[0].phone_number, "+447911999001");
    assert_eq!(leads[0].variables["name"], "Name 0");
}
