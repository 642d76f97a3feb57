//! One target under libFuzzer, which keeps inputs that take new ways through the program.

#![no_main]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../it/page_session.rs"]
mod page_session;
#[path = "../targets/mod.rs"]
mod targets;

use std::env;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

use targets::{TARGETS, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let wanted = env::var("LEADLOAD_FUZZ_TARGET").expect("the name of a target");
    let target = TARGETS.iter().find(|(name, _)| *name == wanted);
    *target.unwrap_or_else(|| panic!("no target {wanted}"))
});

fuzz_target!(|input: &[u8]| {
    TARGET.1(input);
});
