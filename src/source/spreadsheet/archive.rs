//! The zip archive of a modern workbook, before anything is unpacked.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::error;
use crate::message::Message;

/// The most bytes of a workbook, and of its parts when unpacked. The `zip` crate never unpacks
/// more of a part than the archive declares, so checking the declared sizes is enough.
pub(in crate::source) const MAX_WORKBOOK_BYTES: u64 = 1 << 30;

pub(super) struct Archive<'a> {
    pub(super) zip: ZipArchive<Cursor<&'a [u8]>>,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Message> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| error::cut_off())?;
        let mut unpacked = 0u64;
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(error::corrupt)?;
            // All parts count, pictures too: the sheet may have any name.
            unpacked = unpacked.saturating_add(entry.size());
        }
        if unpacked > MAX_WORKBOOK_BYTES {
            return Err(error::too_many_bytes(
                "it unpacks to",
                MAX_WORKBOOK_BYTES,
                "",
            ));
        }
        Ok(Archive { zip })
    }

    /// Whether it has such a name, in lower case and with `/` between folders.
    pub(super) fn has(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.zip.file_names_raw().any(|name| {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            is_wanted(&name.replace('\\', "/"))
        })
    }

    /// The part called exactly `name`, unpacked as it is read.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<impl Read + '_>, Message> {
        let index = self.zip.index_for_name(name);
        let part = index.map(|index| self.zip.by_index(index));
        part.transpose().map_err(error::corrupt)
    }
}
