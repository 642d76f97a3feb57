//! How values are stored that databases have no type for; the same in every kind of ledger.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use gethostname::gethostname;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::lead::{RowId, Status};

/// A digest of the path, by which it is known after it was pruned.
pub(super) fn place(path: &Path) -> [u8; 32] {
    Sha256::digest(path.as_os_str().as_encoded_bytes()).into()
}

/// This computer and the user of this process, by name.
pub fn here() -> (String, String) {
    let host = gethostname().to_string_lossy().into_owned();
    (host, whoami::username().unwrap_or_else(|_| nameless_user()))
}

/// A user that the system has no name for, as in a container.
#[cfg(unix)]
fn nameless_user() -> String {
    format!("user {}", rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn nameless_user() -> String {
    "unknown".to_owned()
}

#[cfg(unix)]
pub(super) fn os_text(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes.to_vec())
}

/// On other systems names are Unicode, except for
/// unpaired surrogates, which are read as `\u{FFFD}`.
#[cfg(not(unix))]
pub(super) fn os_text(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// What is stored for a line: its distance from the row. The distance is the same
/// for every row of a plain file; in the first file it is 1, which takes no byte.
pub(super) fn line_offset(row: RowId, line: u64) -> i64 {
    line.wrapping_sub(row.0).cast_signed()
}

pub(super) fn line(row: i64, offset: i64) -> u64 {
    row.wrapping_add(offset).cast_unsigned()
}

/// The number of a status: its place among all. 0 and 1 take no space in the table: they are
/// those that occur by the million.
pub(super) const fn status_code(status: Status) -> i64 {
    status as i64
}

/// Added to the stored status of a row whose lead was removed from the service again, or may have been for
/// another row that has it: `created` or `duplicate`, it does not count as settled any more.
pub(super) const REMOVED: i64 = Status::ALL.len() as i64;

/// What is stored for a `duplicate` of such a lead.
pub(super) const OF_REMOVED: i64 = REMOVED + status_code(Status::Duplicate);

pub(super) fn status_of(code: i64) -> Option<Status> {
    match code {
        REMOVED => Some(Status::Created),
        OF_REMOVED => Some(Status::Duplicate),
        _ => Status::ALL.get(usize::try_from(code).ok()?).copied(),
    }
}

/// The fewest digits that a number has.
const MIN_DIGITS: usize = 7;

/// Whether a cell may be a spelling of the number: with or without
/// the calling code, and with anything between the digits.
pub(super) fn may_be_number(cell: &str, digits: &str) -> bool {
    let written: String = cell.chars().filter(char::is_ascii_digit).collect();
    let written = written.trim_start_matches('0');
    written.len() >= MIN_DIGITS && digits.ends_with(written)
}

/// Text as every kind of ledger can store it: a server knows no NUL.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => text.replace('\0', "\u{FFFD}").into(),
        false => text.into(),
    }
}

/// JSON as a server can look into it.
pub(super) fn storable_json(json: &str) -> String {
    json.replace("\\u0000", "\\ufffd")
}

/// Times are whole seconds, as in every kind of ledger.
pub(super) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_status_is_its_place_among_all() {
        assert_eq!(
            Status::ALL.map(status_code),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        );
    }

    #[test]
    fn what_a_row_was_stays_known_when_its_lead_is_removed() {
        for was in [Status::Created, Status::Duplicate] {
            assert_eq!(status_of(status_code(was) + REMOVED), Some(was));
        }
    }

    #[test]
    fn a_line_is_found_again_whether_before_or_after_the_row_s_number() {
        for (row, at) in [(1, 2), (5, 5), (1_000_000, 2), (u64::MAX, 1)] {
            let offset = line_offset(RowId(row), at);
            assert_eq!(line(row.cast_signed(), offset), at);
        }
    }

    #[test]
    fn a_number_is_found_in_a_cell_however_it_is_written() {
        for cell in [
            "+44 7911 123456",
            "07911 123456",
            "(0044) 7911-123456",
            "7911123456",
        ] {
            assert!(may_be_number(cell, "447911123456"), "{cell}");
        }
        for cell in ["", "none", "123456", "+44 7911 123457", "1447911123456"] {
            assert!(!may_be_number(cell, "447911123456"), "{cell}");
        }
    }
}
