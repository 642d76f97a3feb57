//! Which format a file is, by its content.

use std::io::{Cursor, Read};

use cfb::CompoundFile;

use super::archive::Archive;
use super::error::WorkbookError;

/// What every compound file begins with (MS-CFB 2.2), so .xls and whatever Excel
/// encrypts.
pub(super) const OLE_MAGIC: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// What every zip archive with a file in it begins with (PKWARE APPNOTE 4.3.7),
/// so .xlsx, .xlsm and .ods.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Whether a file that begins with these bytes, eight at least, is a workbook or another
/// zip archive or compound file, which [`Sheet::open`](super::Sheet::open) can name.
pub fn is_workbook(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(OLE_MAGIC) || first_bytes.starts_with(ZIP_MAGIC)
}

pub(super) fn xls_stream(
    file: &CompoundFile<Cursor<&[u8]>>,
) -> Result<&'static str, WorkbookError> {
    if file.exists("EncryptedPackage") {
        return Err(WorkbookError::password());
    }
    // The second is that of Excel 5 and 95.
    let mut names = ["Workbook", "Book"].into_iter();
    names.find(|name| file.is_stream(name)).ok_or_else(|| {
        if file.exists("WordDocument") {
            WorkbookError::not_a_spreadsheet("a Word document", INTO_A_SPREADSHEET)
        } else {
            WorkbookError::not_a_spreadsheet("a document of another program", EXPORT)
        }
    })
}

/// Whether an archive is an OpenDocument spreadsheet rather than an .xlsx.
pub(super) fn is_opendocument(archive: &mut Archive<'_>) -> Result<bool, WorkbookError> {
    const LONGEST_MIME: u64 = 100;
    let mut mime = String::new();
    if let Some(part) = archive.part("mimetype")? {
        let mut part = part.take(LONGEST_MIME);
        part.read_to_string(&mut mime)
            .map_err(WorkbookError::corrupt)?;
    }
    let other = match mime.strip_prefix("application/vnd.oasis.opendocument.") {
        Some(kind) if kind.starts_with("spreadsheet") => return Ok(true),
        Some(_) => ("an OpenDocument file of another kind", INTO_A_SPREADSHEET),
        None if archive.has(|name| name == "xl/workbook.bin") => {
            return Err(WorkbookError::new(
                "is a binary workbook (.xlsb), which cannot be read",
                "open it in the spreadsheet program, save it as .xlsx, and use that file",
            ));
        }
        None if archive.has(|name| name == "[content_types].xml")
            && archive.has(|name| name.starts_with("xl/") || name.ends_with("workbook.xml")) =>
        {
            return Ok(false);
        }
        None if archive.has(|name| name.starts_with("word/")) => {
            ("a Word document", INTO_A_SPREADSHEET)
        }
        None if archive.has(|name| name.starts_with("ppt/")) => {
            ("a presentation", INTO_A_SPREADSHEET)
        }
        None if archive.has(|name| name.ends_with(".iwa")) => {
            ("a document of Apple's Numbers, Pages or Keynote", EXPORT)
        }
        None => (
            "a zip archive",
            "unpack it and use the file inside that has the contacts",
        ),
    };
    Err(WorkbookError::not_a_spreadsheet(other.0, other.1))
}

const INTO_A_SPREADSHEET: &str = "put the contacts on a sheet of a spreadsheet, and use that file";
const EXPORT: &str = "export the contacts as Excel or as CSV, and use that file";
