//! What takes inputs from outside, each as a function of bytes that panics where a law is broken.

mod cells;
mod files;
mod page;
mod service;
mod settings;

/// Its name, which is that of its folder in `corpus`, and what it does with an input: whether that was
/// understood, for a corpus of which nothing is understood tries nothing out.
pub type Target = (&'static str, fn(&[u8]) -> bool);

pub const TARGETS: &[Target] = &[
    ("csv", files::csv),
    ("workbook", files::workbook),
    ("rejects", files::rejects),
    ("phone", cells::phone),
    ("country", cells::country),
    ("retry_after", service::retry_after),
    ("answer", service::answer),
    ("lead_page", service::lead_page),
    ("settings", settings::settings),
    ("page_form", page::form),
];

/// What comes before a line end, and what comes after it.
fn split_line(input: &[u8]) -> (&[u8], &[u8]) {
    match input.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, &[]),
    }
}

/// What was refused has a text for people: it says something, and moves no cursor.
fn refused(text: &str) -> bool {
    assert_readable(text);
    false
}

fn assert_readable(text: &str) {
    assert!(!text.trim().is_empty(), "an empty message");
    let is_odd = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(is_odd), "{text:?}");
}
