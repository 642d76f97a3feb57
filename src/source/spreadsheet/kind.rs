//! Recognizes the format of a file by its content.

use std::io::{Cursor, Read};

use cfb::CompoundFile;

use super::archive::Archive;
use super::error;
use crate::message::Message;

/// The first bytes of every compound file (MS-CFB 2.2): .xls, and everything that Excel encrypts.
pub(super) const OLE_MAGIC: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// The first bytes of every zip archive that has a file in it (PKWARE
/// APPNOTE 4.3.7): .xlsx, .xlsm and .ods.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Whether a file that begins with these bytes (at least eight) is a workbook, or another
/// zip archive or compound file, which [`Sheet::open`](super::Sheet::open) refuses by name.
pub fn is_workbook(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(OLE_MAGIC) || first_bytes.starts_with(ZIP_MAGIC)
}

pub(super) fn xls_stream(file: &CompoundFile<Cursor<&[u8]>>) -> Result<&'static str, Message> {
    if file.exists("EncryptedPackage") {
        return Err(error::password());
    }
    // `Book` is the name in Excel 5 and 95.
    let mut names = ["Workbook", "Book"].into_iter();
    let found = names.find(|name| file.is_stream(name));
    found.ok_or_else(other_document)
}

pub(super) fn is_opendocument(archive: &mut Archive<'_>) -> Result<bool, Message> {
    const LONGEST_MIME: u64 = 100;
    let mut mime = String::new();
    if let Some(part) = archive.part("mimetype")? {
        let mut part = part.take(LONGEST_MIME);
        part.read_to_string(&mut mime).map_err(error::corrupt)?;
    }
    match mime.strip_prefix("application/vnd.oasis.opendocument.") {
        Some(kind) if kind.starts_with("spreadsheet") => Ok(true),
        Some(_) => Err(other_document()),
        None if archive.has(|name| name == "xl/workbook.bin") => Err(message!(
            "is a binary workbook (.xlsb), which cannot be read",
            "open it in {the spreadsheet program|Excel}, save it as .xlsx, and {use|choose} that file"
        )),
        None if archive.has(|name| name == "[content_types].xml")
            && archive.has(|name| name.starts_with("xl/") || name.ends_with("workbook.xml")) =>
        {
            Ok(false)
        }
        // Documents of Word, PowerPoint and Apple's programs.
        None if archive.has(|name| {
            name.starts_with("word/") || name.starts_with("ppt/") || name.ends_with(".iwa")
        }) =>
        {
            Err(other_document())
        }
        None => Err(message!(
            "is a zip archive, not a spreadsheet",
            "unpack it and {use|choose} the file inside that has the contacts"
        )),
    }
}

fn other_document() -> Message {
    message!(
        "is a document of another program, not a spreadsheet",
        "export the contacts as Excel or as CSV, or put them on a sheet of a spreadsheet, and {use|choose} that file"
    )
}
