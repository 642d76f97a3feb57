//! The helpers do what they say, on a site of three pages.

use crate::browser::Browser;
use crate::site::Site;
use crate::util::Folder;
use thirtyfour::Key;

#[test]
fn a_form_is_filled_in_and_sent() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, site) = (browser.page(), Site::start());
    page.goto(&site.url("/"));
    assert_eq!(page.title(), "Campaign, october.xlsx");
    assert_eq!(page.heading(), "Which campaign should call these people?");

    let folder = Folder::with_leads("phone\n+447911000001\n");
    page.upload("Contact list", &folder.path("leads.csv"));
    let name = "return document.getElementById('list').files[0].name";
    assert_eq!(page.script(name), "leads.csv");
    assert_eq!(page.value("Campaign"), "Choose");
    page.fill("Campaign", "Spring promo");
    assert_eq!(page.value("Campaign"), "Spring promo");
    page.fill("Note", "new");
    assert_eq!(page.value("Note"), "new");
    page.row("Salary").tick("Send");
    assert!(page.row("Salary").is_ticked("Send"));
    assert!(!page.within("tr:nth-child(2)").is_ticked("Send"));
    page.row("Salary").untick("Send");
    page.row("First name").tick("Send");
    assert!(!page.text().contains("Encoding"));
    page.click("Does this look wrong?");
    page.wait_for("Encoding: UTF-8");

    page.click("Continue");
    page.wait_until("the next page", |page| page.title().starts_with("Columns"));
    assert!(
        page.url()
            .ends_with("list=leads.csv&campaign=Spring+promo&note=new&a=on")
    );
    page.back();
    assert_eq!(page.title(), "Campaign, october.xlsx");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn the_keyboard_moves_the_focus() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, site) = (browser.page(), Site::start());
    page.goto(&site.url("/"));
    assert_eq!(page.focused(), "");
    page.press(Key::Tab);
    assert_eq!(page.focused(), "Contact list");
    page.press(Key::Tab);
    assert_eq!(page.focused(), "Campaign");
    page.press("Spring");
    assert_eq!(page.value("Campaign"), "Spring promo");
    page.press_with(Key::Shift, Key::Tab);
    assert_eq!(page.focused(), "Contact list");
    for _ in 0..6 {
        page.press(Key::Tab);
    }
    assert_eq!(page.focused(), "Continue");
    page.press(Key::Enter);
    page.wait_until("the focus on the heading", |page| {
        page.focused() == "What should the agent know?"
    });
}

#[test]
fn live_regions_are_heard_once_for_each_new_text() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = browser.page();
    page.goto(&Site::start().url("/"));
    page.listen();
    page.click("Count to three");
    page.wait_for("Counted.");
    assert_eq!(page.heard(), ["1 of 3 rows", "2 of 3 rows", "3 of 3 rows"]);
}

#[test]
fn axe_finds_mistakes_under_a_strict_policy() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, site) = (browser.page(), Site::start());
    page.goto(&site.url("/"));
    page.expect_accessible();

    page.goto(&site.url("/faulty"));
    assert_eq!(page.title(), "Mistakes");
    let nameless = "label: Form elements must have labels (input)";
    assert_eq!(page.axe(), [nameless]);
    page.dark(true);
    let contrast =
        "color-contrast: Elements must meet minimum color contrast ratio thresholds (.pale)";
    assert_eq!(page.axe(), [contrast, nameless]);
    let complaints = page.complaints();
    assert!(
        complaints[0].contains("Content Security Policy"),
        "{complaints:?}"
    );
}

#[test]
fn dark_pages_narrow_ones_and_large_ones() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = browser.page();
    page.goto(&Site::start().url("/"));
    let color = "return getComputedStyle(document.body).backgroundColor";
    assert_eq!(page.script(color), "rgb(255, 255, 255)");
    page.dark(true);
    page.reload();
    assert_eq!(page.script(color), "rgb(17, 17, 17)");
    page.dark(false);
    assert_eq!(page.script(color), "rgb(255, 255, 255)");

    let window = "return [innerWidth, innerHeight, devicePixelRatio].join()";
    assert_eq!(page.script(window), "1200,800,1");
    page.set_width(400);
    assert_eq!(page.script(window), "400,800,1");
    assert!(!page.is_too_wide());
    page.set_width(100);
    assert!(page.is_too_wide());
    page.zoom(200);
    assert_eq!(page.script(window), "600,400,2");
}

#[test]
fn pages_work_without_javascript_and_in_two_tabs() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (first, site) = (browser.page(), Site::start());
    first.goto(&site.url("/"));
    assert!(first.text().contains("With JavaScript."));
    first.javascript(false);
    first.reload();
    assert!(first.text().contains("Without JavaScript."));
    first.fill("Campaign", "Spring promo");

    let second = browser.new_tab();
    second.goto(&site.url("/next"));
    assert_eq!(second.title(), "Columns, october.xlsx");
    assert_eq!(first.value("Campaign"), "Spring promo");
    second.click("Back");
    second.wait_for("With JavaScript.");

    first.click("Continue");
    first.wait_until("the next page", |page| {
        page.heading() == "What should the agent know?"
    });
    first.javascript(true);
    first.click("Back");
    first.wait_for("With JavaScript.");
}

#[test]
fn downloads_are_awaited_and_nothing_else_is_reached() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, site) = (browser.page(), Site::start());
    page.goto(&site.url("/"));
    let file = page.download("Download results");
    assert_eq!(file.file_name().unwrap(), "results.csv");
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        "row,status\n1,created\n"
    );
    let again = page.download("Download results");
    assert_eq!(again.file_name().unwrap(), "results (1).csv");

    for elsewhere in ["http://example.com/", "http://192.0.2.1/"] {
        let open = || page.goto(elsewhere);
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(open)).unwrap_err();
        let error = failed.downcast_ref::<String>().unwrap();
        assert!(error.contains("ERR_NAME_NOT_RESOLVED"), "{error}");
    }
}
