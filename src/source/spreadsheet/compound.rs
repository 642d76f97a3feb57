//! Reads the compound file (MS-CFB) that contains an .xls: a file system of
//! streams, whose sectors are linked in chains.
//!
//! If a chain leads back into itself, calamine follows it until there is no
//! memory left. The `cfb` crate refuses such a chain, but it looks streams up in
//! another way than calamine. So calamine never sees the original file. It gets a
//! new file, written here, that holds only the stream that was read and checked.

use std::io::{self, Cursor, Read, Write};

use cfb::{CompoundFile, Version};

use super::error::{self, ensure};
use super::kind::xls_stream;
use crate::message::Message;

/// Larger numbers mark the end of a chain.
const LAST_SECTOR: u32 = 0xFFFF_FFFA;

/// How many sectors are covered by one sector of the list of sector tables:
/// 127 tables of 128 sectors each. Larger sectors cover more.
const SECTORS_LISTED: usize = 127 * 128;

/// The records of an .xls: its only stream that matters. The tables that are read for it
/// take little more memory than the file itself.
pub(super) fn workbook_stream(bytes: &[u8]) -> Result<Vec<u8>, Message> {
    check_table_list(bytes)?;
    let mut file = CompoundFile::open(Cursor::new(bytes)).map_err(|_| error::cut_off())?;
    let name = xls_stream(&file)?;
    let mut stream = Vec::new();
    file.open_stream(name)
        .and_then(|mut reader| reader.read_to_end(&mut stream))
        .map_err(|_| error::cut_off())?;
    Ok(stream)
}

pub(super) fn with_stream(stream: &[u8]) -> io::Result<Cursor<Vec<u8>>> {
    // calamine would read a file of version 4 without small streams as an empty file.
    let mut file = CompoundFile::create_with_version(Version::V3, Cursor::new(Vec::new()))?;
    file.create_stream("Workbook")?.write_all(stream)?;
    file.flush()?;
    Ok(file.into_inner())
}

/// Makes sure that the list of sector tables is no longer than the file needs: the crate
/// reads all tables before it finds out that it has read one a million times.
fn check_table_list(bytes: &[u8]) -> Result<(), Message> {
    let sector_bytes = match bytes.get(30) {
        Some(9) => 512,
        Some(12) => 4096,
        _ => return Err(error::cut_off()),
    };
    let mut next = u32_at(bytes, 68)?;
    let mut length = 0;
    while next < LAST_SECTOR {
        length += 1;
        let most = bytes.len() / sector_bytes / SECTORS_LISTED + 1;
        ensure(length <= most, error::cut_off)?;
        // The header takes the space of one sector. The last number in each
        // sector of the list is the next sector.
        let end = (next as usize + 2).saturating_mul(sector_bytes);
        next = u32_at(bytes, end - 4)?;
    }
    Ok(())
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Message> {
    let number = bytes.get(at..).and_then(|rest| rest.first_chunk());
    number
        .map(|number| u16::from_le_bytes(*number))
        .ok_or_else(error::cut_off)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Message> {
    let (low, high) = (u16_at(bytes, at)?, u16_at(bytes, at + 2)?);
    Ok(u32::from(low) | u32::from(high) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tables_that_is_longer_than_the_file_needs_is_damage() {
        let mut bytes = with_stream(&[0; 100_000]).unwrap().into_inner();
        assert_eq!(workbook_stream(&bytes).unwrap(), [0; 100_000]);
        // The first sector is its own successor.
        bytes[68..72].copy_from_slice(&0_u32.to_le_bytes());
        let end = 2 * 512;
        bytes[end - 4..end].copy_from_slice(&0_u32.to_le_bytes());
        assert!(workbook_stream(&bytes).is_err());
    }
}
