//! The words of the page: for statuses, reasons and what went wrong. None of them names a flag or
//! a command.

use std::io::{self, ErrorKind};

use super::server::upload::UploadError;
use super::trouble::sentence;
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

/// The parts of row errors that name flags, and what the page says instead. Row errors are texts of
/// this program, which stand in the results too.
const FLAGS_IN_ROW_ERRORS: [(&str, &str); 11] = [
    (
        "a kind that is not among those that --phone-kinds allows",
        "a kind that is not called from this computer",
    ),
    (
        "or name its country with --region (or --assume-plus, if the country code is there and only the `+` is missing)",
        "or choose its country under “Country”",
    ),
    (
        ": name it with --delimiter",
        ". Choose what stands between two cells under “Does this look wrong?”: ",
    ),
    (
        "Export the list again, or complete the number; if it is complete, empty",
        "Export the list again, or complete the number. If it is complete, download the rows to fix and empty",
    ),
    (
        "or name its country with --region",
        "or choose its country under “Country”",
    ),
    (
        "which is not among the countries that --countries allows",
        "and numbers of that country are not allowed on this computer",
    ),
    (
        "or name the column that counts with --region-column",
        "or choose the column that counts under “Country”",
    ),
    (
        " (if it is correct, use --phone-rule possible)",
        ". If it is right as it is, tick that below “Country”",
    ),
    (" and no --campaign is given", ""),
    (
        "fix the row in the rejects file",
        "fix it in the rows to fix",
    ),
    ("column leadload_error_code", "column “leadload_error_code”"),
];

/// Why one row cannot be sent.
pub fn row_error(text: &str) -> String {
    let replace = |text: String, (flag, words): &(&str, &str)| text.replace(flag, words);
    let text = FLAGS_IN_ROW_ERRORS.iter().fold(text.to_owned(), replace);
    match &*text {
        "" => sentence("this number can't be called as it is"),
        _ => sentence(&text),
    }
}

/// What all requests wait for.
pub fn waiting(state: &str) -> String {
    sentence(&state.replacen("service not answering", "the service has not answered", 1))
}

/// Why nothing can be written to this computer's disk.
pub fn disk(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "This computer's disk is full. Free some space and try again.".to_owned()
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "leadload may not write in its folder on this computer. Ask the person who set up leadload."
                .to_owned()
        }
        _ => {
            let why = sentence(&error.to_string());
            format!("leadload can't write to this computer's disk. {why} Try again.")
        }
    }
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
        UploadError::Disk(why) => disk(why),
        UploadError::TooManyParts => {
            "This list has too many columns for the page. Delete the ones that nobody needs and choose it again.".to_owned()
        }
        _ => "The list did not arrive whole. Choose it again.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_why_a_file_did_not_arrive_says_what_to_do() {
        let error = |kind: ErrorKind| UploadError::Disk(kind.into());
        for (error, words) in [
            (
                UploadError::TooLarge { limit: 1 },
                "larger than 2 GB. Split it",
            ),
            (
                UploadError::TooManyParts,
                "Delete the ones that nobody needs",
            ),
            (
                UploadError::TooSlow,
                "did not arrive whole. Choose it again.",
            ),
            (
                UploadError::Unreadable,
                "did not arrive whole. Choose it again.",
            ),
            (UploadError::DiskFull, "disk is full. Free some space"),
            (
                error(ErrorKind::StorageFull),
                "disk is full. Free some space",
            ),
            (
                error(ErrorKind::PermissionDenied),
                "may not write in its folder",
            ),
            (
                error(ErrorKind::Other),
                "can't write to this computer's disk",
            ),
        ] {
            let text = upload_error(&error);
            assert!(text.contains(words) && text.ends_with('.'), "{text}");
        }
    }
}
