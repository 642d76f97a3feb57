//! What ends the reading of a workbook: messages to be shown behind its name.

use crate::message::{Message, Text};
use crate::text::{printable, shortened, without_numbers};

pub(super) fn password() -> Message {
    message!(
        "is protected by a password{| or by your company}",
        "open it in {the spreadsheet program, remove the password from a copy, and use the copy|Excel, copy the contacts into a new workbook, save that without a password, and choose it here}"
    )
}

/// An error unless something is right.
pub(super) fn ensure(is_right: bool, error: impl FnOnce() -> Message) -> Result<(), Message> {
    match is_right {
        true => Ok(()),
        false => Err(error()),
    }
}

/// For a workbook that would take more memory than a list of contacts can need.
fn too_large(limit: Text) -> Message {
    message!(
        "is too large to be read as a spreadsheet: {limit}",
        "save the sheet as CSV, {which can be of any size|and choose that file}",
        limit
    )
}

/// Where `it_takes` more bytes than `limit`, for example `it would take` … ` of memory`.
pub(super) fn too_many_bytes(it_takes: &str, limit: u64, of: &str) -> Message {
    too_large(text!(
        "{it_takes} more than {limit} MiB{of}",
        it_takes,
        limit = (limit >> 20).to_string(),
        of
    ))
}

pub(super) fn too_many_cells(limit: u64) -> Message {
    let limit = limit.to_string();
    too_large(text!("it has more than {limit} cells", limit))
}

pub(super) fn cut_off() -> Message {
    corrupt("it is cut off or damaged, as after a broken download")
}

/// For a workbook that is damaged as `error` says, which may quote the file: control
/// characters and anything that could be a phone number are left out.
pub(super) fn corrupt(error: impl std::fmt::Display) -> Message {
    const MAX_LEN: usize = 120;
    let why = without_numbers(&printable(&error.to_string()));
    message!(
        "cannot be read as a spreadsheet: {why}",
        "open it in the spreadsheet program and save it again, or save the sheet as CSV{|; then choose that file}",
        why = shortened(&why, MAX_LEN)
    )
}
