//! How the page looks.

/// The style sheet.
pub(super) const SHEET: &str = include_str!("style.css");
