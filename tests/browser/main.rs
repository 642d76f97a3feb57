//! The pages in a real browser: Chromium, steered by its driver.
//!
//! A machine without them leaves these tests out and says so, unless the
//! environment variable `CI` is set. Each test has a browser of its own with an
//! empty profile, which takes about half a second and reaches this computer only.
//!
//! `LEADLOAD_SCREENSHOTS=docs/images cargo test --test browser screenshots`
//! makes the pictures of the README.

// Helpers outside test functions may fail by panicking too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod axe;
mod browser;
mod harness;
mod installed;
mod interruptions;
mod keyboard;
mod known_lists;
mod listening;
mod lists;
mod looks;
mod page;
mod screens;
mod screenshots;
mod scripts;
mod services;
mod site;
mod speech;
mod tabs;
mod undo;
#[path = "../it/util.rs"]
#[allow(dead_code, reason = "the other integration tests use all of it")]
mod util;
mod web;
