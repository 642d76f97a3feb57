//! The words of the page: for statuses, reasons and what went wrong. None of them names a flag or
//! a command.

use super::server::upload::UploadError;
use super::trouble::{sentence, without_flags};
use crate::lead::{ErrorCode, Status};
use crate::text::{grouped, printable};

/// What a status is called on the page.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Created => "added to the campaign",
        Status::Duplicate => "already in the campaign",
        Status::Repeated => "twice in this list",
        Status::AlreadyImported => "already sent",
        Status::Excluded => "not among the rows to send",
        Status::Suppressed => "on a do-not-call list",
        Status::Invalid => "can't be sent",
        Status::Rejected => "refused by the service",
        Status::Failed => "not sent",
        Status::Uncertain => "not sure it arrived",
        Status::Ready => "ready to send",
    }
}

/// Rows that are left out: `12 are on a do-not-call list.`
pub fn left_out(of: Status, rows: u64) -> String {
    let verb = match (of, rows) {
        (Status::Invalid, _) => "",
        (_, 1) => " is",
        _ => " are",
    };
    format!("{}{verb} {}.", grouped(rows), status(of))
}

/// Names in a sentence: `“Mobile”, “Office”`.
pub fn names<S: AsRef<str>>(names: &[S]) -> String {
    let names = names
        .iter()
        .map(|name| format!("“{}”", printable(name.as_ref())));
    names.collect::<Vec<_>>().join(", ")
}

/// The setting that cures all rows with this problem: the step, and what the link says.
pub fn cure(code: ErrorCode) -> Option<(&'static str, &'static str)> {
    Some(match code {
        ErrorCode::PhoneMissing => (
            "columns#phone",
            "Use another phone column where this one is empty",
        ),
        ErrorCode::PhoneNotE164 | ErrorCode::PhoneDoubtful => {
            ("columns#country", "Choose the country of these numbers")
        }
        ErrorCode::CampaignInvalid => ("campaign", "Choose one campaign for all rows"),
        ErrorCode::Encoding | ErrorCode::FieldCount | ErrorCode::UnclosedQuote => {
            ("columns#reading", "Change how the file is read")
        }
        _ => return None,
    })
}

/// Why one row cannot be sent.
pub fn row_error(text: &str) -> String {
    without_flags(text).unwrap_or_else(|| sentence("this number cannot be called as it is"))
}

/// Why a file did not arrive.
pub fn upload_error(error: &UploadError) -> String {
    match error {
        UploadError::TooLarge { .. } => {
            "This file is larger than 2 GB. Split it into smaller lists and choose the first one.".to_owned()
        }
        UploadError::DiskFull => {
            "This computer's disk is full. Free some space and choose the list again.".to_owned()
        }
        UploadError::Disk(why) => {
            format!("The list cannot be kept on this computer: {why}. Choose it again.")
        }
        UploadError::TooManyParts => {
            "This list has too many columns for the page. Delete the ones that nobody needs and choose it again.".to_owned()
        }
        _ => "The list did not arrive whole. Choose it again.".to_owned(),
    }
}
