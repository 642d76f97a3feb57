//! The zip archive that a modern workbook is, before anything is unpacked.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::error::{MAX_UNPACKED_BYTES, TooLarge, WorkbookError};

/// An archive's list of contents.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// The names in lower case and with `/` between folders, in the archive's order.
    names: Vec<String>,
}

impl<'a> Archive<'a> {
    /// Reads what the archive contains, and refuses it if it unpacks to too much.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, WorkbookError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| {
            WorkbookError::corrupt("it is cut off or damaged, as after a broken download")
        })?;
        let mut names = Vec::with_capacity(zip.len());
        let mut unpacked = 0u64;
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(WorkbookError::corrupt)?;
            let name = String::from_utf8_lossy(entry.name_raw())
                .to_ascii_lowercase()
                .replace('\\', "/");
            // All of them, pictures too: any name can be that of the sheet.
            unpacked = unpacked.saturating_add(entry.size());
            names.push(name);
        }
        if unpacked > MAX_UNPACKED_BYTES {
            return Err(WorkbookError::TooLarge(TooLarge::Unpacked));
        }
        Ok(Archive { zip, names })
    }

    /// Whether the archive has a file with such a name, in lower case.
    pub(super) fn has(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.names.iter().any(|name| is_wanted(name))
    }

    /// The part called exactly `name`, unpacked as it is read.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<impl Read + '_>, WorkbookError> {
        match self.zip.index_for_name(name) {
            Some(index) => self
                .zip
                .by_index(index)
                .map(Some)
                .map_err(WorkbookError::corrupt),
            None => Ok(None),
        }
    }

    /// What an OpenDocument file says that it is.
    pub(super) fn mime(&mut self) -> Result<Option<String>, WorkbookError> {
        const LONGEST: u64 = 100;
        let Some(part) = self.part("mimetype")? else {
            return Ok(None);
        };
        let mut mime = Vec::new();
        part.take(LONGEST)
            .read_to_end(&mut mime)
            .map_err(WorkbookError::corrupt)?;
        Ok(Some(String::from_utf8_lossy(&mime).into_owned()))
    }
}

/// The number in an attribute: 0 if it is not a number, the largest if it is larger.
pub(super) fn number_in(text: &str) -> u64 {
    let digits = text.trim_start_matches('+');
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    digits.parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_none_is_0_and_one_that_is_too_large_the_largest() {
        assert_eq!(number_in("+12"), 12);
        assert_eq!(number_in("twelve"), 0);
        assert_eq!(number_in("99999999999999999999999"), u64::MAX);
    }
}
