//! The words of the page: for statuses, and for what went wrong with files.

use std::io::{self, ErrorKind};

use super::server::upload::UploadError;
use crate::lead::ErrorCode;
use crate::message::{Text, Voice};

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
pub fn row_error(error: Option<&Text>) -> String {
    match error {
        Some(error) => error.words(Voice::Page),
        None => "This number can't be called as it is.".to_owned(),
    }
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
        _ => text!("leadload can't write to this computer's disk; {error}; {again}", error)
            .words(Voice::Page),
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
