//! The whole way with the keyboard alone.

use thirtyfour::Key;

use crate::browser::Browser;
use crate::page::Page;
use crate::screens::{CAMPAIGN, COLUMNS, LIST, SEND};
use crate::util::Folder;
use crate::web::Web;

/// Presses Tab until the focus is there.
#[track_caller]
fn tab_to(page: &Page<'_>, name: &str) {
    let mut passed = Vec::new();
    while page.focused() != name {
        passed.push(page.focused());
        assert!(passed.len() < 80, "{name} is not reached: {passed:?}");
        page.press(Key::Tab);
    }
}

#[test]
fn the_sample_list_is_sent_with_the_keyboard_alone() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::new());
    let web = Web::practice(&folder);
    web.open(&page);
    let list = "contacts.csv";
    page.expect(LIST.title, LIST.heading);
    tab_to(&page, "Use the sample list");
    page.press(Key::Enter);
    page.expect_screen(&CAMPAIGN, list);
    tab_to(&page, "Campaign");
    page.press("Spring");
    tab_to(&page, "Continue");
    page.press(Key::Enter);
    page.expect_screen(&COLUMNS, list);

    // Enter in a field continues; a mistake leads to the field.
    tab_to(&page, "Name for First Name");
    page.press(Key::Enter);
    page.wait_for("Nothing is ticked");
    page.expect_errors();
    page.press(Key::Tab);
    page.press(Key::Enter);
    assert_eq!(page.focused(), "Send");
    page.press(" ");
    assert!(page.row("First Name").is_ticked("Send"));
    page.press(Key::Tab);
    assert_eq!(page.focused(), "Name for First Name");
    page.press(Key::Enter);
    page.expect_problems("contacts.csv", 8);
    tab_to(&page, "Phone number in line 80");
    page.press("+12");
    page.press(Key::Enter);
    page.expect_errors();
    page.press(Key::Tab);
    page.press(Key::Enter);
    assert_eq!(page.focused(), "Phone number in line 80");
    assert_eq!(page.value("Phone number in line 80"), "+12");
    page.press_with(Key::Control, Key::Home);
    page.press(Key::Delete + Key::Delete + Key::Delete);
    page.press("+447700900999");
    page.press(Key::Enter);
    page.wait_for_problems(7);
    tab_to(&page, "Continue");
    page.press(Key::Enter);
    page.wait_for_heading(SEND.heading);
    assert_eq!(page.focused(), SEND.heading);
    tab_to(&page, "Send 195 leads");
    page.press(Key::Enter);
    page.wait_for_heading("Sending to Spring promo");
    assert_eq!(page.focused(), "Sending to Spring promo");

    // What is renewed does not take the focus, and what goes gives it to the heading.
    tab_to(&page, "Stop");
    let rows = page.within("#live").text();
    page.wait_until("new numbers", |page| page.within("#live").text() != rows);
    assert_eq!(page.focused(), "Stop");
    page.wait_for_heading("Sent");
    assert_eq!(page.focused(), "Sent");
    // Nothing keeps the focus for itself.
    tab_to(&page, "Print summary");
    page.press(Key::Tab);
    tab_to(&page, "Stop and quit");

    tab_to(&page, "Undo");
    page.press(Key::Enter);
    page.wait_for_heading("Remove 195 leads from Spring promo?");
    tab_to(&page, "Remove 195 leads");
    page.press(Key::Enter);
    page.wait_for_heading("Removed again");
    assert_eq!(page.focused(), "Removed again");
}
