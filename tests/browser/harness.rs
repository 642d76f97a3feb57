//! The helpers do what they say, on a site of two pages.

use crate::browser::Browser;
use crate::site::Site;

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
fn downloads_are_awaited_and_nothing_else_is_reached() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, site) = (browser.page(), Site::start());
    page.goto(&site.url("/"));
    let file = page.download("Download results");
    assert_eq!(file.file_name().unwrap(), "results.csv");
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "row,status\n1,created\n"
    );
    let again = page.download("Download results");
    assert_ne!(again, file);

    for elsewhere in ["http://example.com/", "http://192.0.2.1/"] {
        let open = || page.goto(elsewhere);
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(open)).unwrap_err();
        let error = failed.downcast_ref::<String>().unwrap();
        assert!(error.contains("ERR_NAME_NOT_RESOLVED"), "{error}");
    }
}
