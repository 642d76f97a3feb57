//! The pictures of the README, made anew by
//! `LEADLOAD_SCREENSHOTS=docs/images cargo test --test browser screenshots`.

use std::env;
use std::path::{Path, PathBuf};

use crate::browser::Browser;
use crate::page::{HEIGHT, Page, WIDTH};
use crate::site::Site;

/// Takes the picture `NAME.png`, and keeps it if pictures are asked for.
#[expect(dead_code, reason = "the screens that it is for are still to come")]
#[track_caller]
pub fn keep(page: &Page<'_>, name: &str) {
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
