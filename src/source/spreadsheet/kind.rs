//! Which format a file is, by its content.

use super::archive::Archive;
use super::compound;
use super::error::WorkbookError;

/// What every compound file begins with (MS-CFB 2.2), so .xls and whatever Excel
/// encrypts.
const OLE_MAGIC: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// What every zip archive with a file in it begins with (PKWARE APPNOTE 4.3.7),
/// so .xlsx, .xlsm, .xlsb and .ods.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

const ODS_MIME: &str = "application/vnd.oasis.opendocument.spreadsheet";

/// Whether a file that begins with these bytes, eight at least, is a workbook or another
/// zip archive or compound file, which [`Sheet::open`](super::Sheet::open) can name.
pub fn is_workbook(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(OLE_MAGIC) || first_bytes.starts_with(ZIP_MAGIC)
}

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Xls,
    Xlsx,
    Xlsb,
    Ods,
}

/// What the bytes are.
pub(super) fn kind_of(bytes: &[u8]) -> Result<Kind, WorkbookError> {
    if bytes.starts_with(OLE_MAGIC) {
        return kind_of_compound(bytes);
    }
    if bytes.starts_with(ZIP_MAGIC) {
        return kind_of_archive(&mut Archive::open(bytes)?);
    }
    Err(WorkbookError::NotAWorkbook {
        what: "a text or an unknown format",
        hint: "use a .csv, .xlsx, .xls or .ods file",
    })
}

fn kind_of_compound(bytes: &[u8]) -> Result<Kind, WorkbookError> {
    let file = compound::open(bytes)?;
    if file.exists("EncryptedPackage") {
        Err(WorkbookError::Password)
    } else if file.exists("Workbook") || file.exists("Book") {
        Ok(Kind::Xls)
    } else if file.exists("WordDocument") {
        Err(not_a_workbook("a Word document", INTO_A_SPREADSHEET))
    } else {
        Err(not_a_workbook("a document of another program", EXPORT))
    }
}

fn kind_of_archive(archive: &mut Archive<'_>) -> Result<Kind, WorkbookError> {
    if let Some(mime) = archive.mime()? {
        return match mime {
            mime if mime.starts_with(ODS_MIME) => Ok(Kind::Ods),
            mime if mime.starts_with("application/vnd.oasis.opendocument") => Err(not_a_workbook(
                "an OpenDocument file of another kind",
                INTO_A_SPREADSHEET,
            )),
            _ => Err(other_archive(archive)),
        };
    }
    if archive.has(|name| name == "xl/workbook.bin") {
        return Ok(Kind::Xlsb);
    }
    if archive.has(|name| name == "[content_types].xml")
        && archive.has(|name| name.starts_with("xl/") || name.ends_with("workbook.xml"))
    {
        return Ok(Kind::Xlsx);
    }
    Err(other_archive(archive))
}

/// What an archive without a workbook in it is.
fn other_archive(archive: &Archive<'_>) -> WorkbookError {
    if archive.has(|name| name.starts_with("word/")) {
        not_a_workbook("a Word document", INTO_A_SPREADSHEET)
    } else if archive.has(|name| name.starts_with("ppt/")) {
        not_a_workbook("a presentation", INTO_A_SPREADSHEET)
    } else if archive.has(|name| name.ends_with(".iwa")) {
        not_a_workbook("a document of Apple's Numbers, Pages or Keynote", EXPORT)
    } else {
        let hint = "unpack it and use the file inside that has the contacts";
        not_a_workbook("a zip archive", hint)
    }
}

const INTO_A_SPREADSHEET: &str = "put the contacts on a sheet of a spreadsheet, and use that file";
const EXPORT: &str = "export the contacts as Excel or as CSV, and use that file";

fn not_a_workbook(what: &'static str, hint: &'static str) -> WorkbookError {
    WorkbookError::NotAWorkbook { what, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zip_and_ole_are_recognized_by_their_first_bytes() {
        assert!(is_workbook(b"PK\x03\x04\x14\x00"));
        assert!(is_workbook(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\x00"));
        assert!(!is_workbook(b"PK,name\n"));
        assert!(!is_workbook(b""));
        assert!(!is_workbook(b"\xEF\xBB\xBFphone_number"));
    }
}
