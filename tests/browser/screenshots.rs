//! The pictures of the README, made anew by
//! `LEADLOAD_SCREENSHOTS=docs/images cargo test --test browser screenshots`.

use std::env;
use std::path::{Path, PathBuf};

use crate::browser::Browser;
use crate::page::{HEIGHT, Page, WIDTH};
use crate::screens::COLUMNS;
use crate::site::Site;
use crate::util::Folder;
use crate::web::Web;

/// Takes the picture `NAME.png`, and keeps it if pictures are asked for.
#[track_caller]
fn keep(page: &Page<'_>, name: &str) {
    let asked = env::var_os("LEADLOAD_SCREENSHOTS").map(PathBuf::from);
    let folder = asked.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    take(page, &folder.join(name).with_extension("png"));
}

#[track_caller]
fn take(page: &Page<'_>, path: &Path) {
    page.screenshot(path);
    let png = std::fs::read(path).unwrap();
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (WIDTH, HEIGHT));
}

#[test]
fn screenshots_have_the_size_of_the_window() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let page = browser.page();
    page.goto(&Site::start().url("/"));
    let folder = tempfile::tempdir().unwrap();
    take(&page, &folder.path().join("images/site.png"));
}

#[test]
fn screenshots_show_the_columns_the_problems_and_the_run_of_the_sample_list() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::new());
    let web = Web::practice(&folder);
    web.open(&page);
    page.click("Use the sample list");
    page.fill("Campaign", "Spring promo (in progress)");
    page.click("Continue");
    page.wait_for_heading(COLUMNS.heading);
    page.row("First Name").tick("Send");
    page.row("Plan").tick("Send");
    page.script("scrollTo(0, 300)");
    keep(&page, "columns");
    page.click("Continue");
    page.wait_for_problems(8);
    keep(&page, "problems");
    page.click("Continue");
    page.click("Send 194 leads");
    page.wait_until("half of the rows", |page| {
        page.script("return (document.querySelector('#live progress')?.position ?? 0) > 0.5")
            == true
    });
    keep(&page, "run");
}
