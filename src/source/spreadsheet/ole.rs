//! The compound file that an .xls is (MS-CFB): which streams it has, and their bytes.
//!
//! A compound file is a file system: chains of sectors, each of which says which
//! comes next. calamine follows a chain that leads back into itself until there
//! is no memory left, so every chain that it will follow is followed here first,
//! for no more steps than there are sectors.

use super::error::Refusal;

/// Marks the end of a chain; larger numbers than the first are no sectors.
const END_OF_CHAIN: u32 = 0xFFFF_FFFE;
const LAST_SECTOR: u32 = 0xFFFF_FFFA;

const HEADER_BYTES: usize = 512;
const ENTRY_BYTES: usize = 128;
const MINI_SECTOR_BYTES: usize = 64;

/// Streams that are smaller than this are in the mini stream.
const MINI_STREAM_LIMIT: u64 = 4096;

/// A compound file's directory and chains.
pub(super) struct Compound<'a> {
    bytes: &'a [u8],
    sector_bytes: usize,
    fat: Vec<u32>,
    mini_fat: Vec<u32>,
    mini_stream: Vec<u8>,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    start: u32,
    len: u64,
}

impl<'a> Compound<'a> {
    /// Reads the directory, which the file's magic number has been seen before.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let sector_bytes = match u16_at(bytes, 30)? {
            0x0009 => 512,
            0x000C => 4096,
            _ => return Err(damaged()),
        };
        let mut file = Compound {
            bytes,
            sector_bytes,
            fat: Vec::new(),
            mini_fat: Vec::new(),
            mini_stream: Vec::new(),
            entries: Vec::new(),
        };
        for sector in file.fat_sectors()? {
            file.fat.extend(numbers(file.sector(sector)?));
        }
        let directory = file.chain(u32_at(bytes, 48)?, None)?;
        file.entries = directory
            .chunks_exact(ENTRY_BYTES)
            .map(|entry| Entry::read(entry, sector_bytes))
            .collect::<Result<_, _>>()?;
        let root = file.entries.first().ok_or_else(damaged)?;
        if u32_at(bytes, 64)? > 0 {
            file.mini_stream = file.chain(root.start, Some(root.len))?;
            file.mini_fat = numbers(&file.chain(u32_at(bytes, 60)?, None)?).collect();
        }
        Ok(file)
    }

    /// Whether there is a stream or a storage of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// The bytes of the stream `name`, if there is one.
    pub(super) fn stream(&self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(entry) = self.entry(name) else {
            return Ok(None);
        };
        if entry.len < MINI_STREAM_LIMIT {
            self.mini_chain(entry.start, entry.len).map(Some)
        } else {
            self.chain(entry.start, Some(entry.len)).map(Some)
        }
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.name.eq_ignore_ascii_case(name))
    }

    /// The sectors that hold the table of chains: the header names the first 109,
    /// a chain of sectors of its own the others.
    fn fat_sectors(&self) -> Result<Vec<u32>, Refusal> {
        let in_header = self.bytes.get(76..HEADER_BYTES).ok_or_else(damaged)?;
        let mut sectors: Vec<u32> = numbers(in_header).collect();
        let mut next = u32_at(self.bytes, 68)?;
        let mut steps = 0;
        while next < LAST_SECTOR {
            steps += 1;
            if steps > self.bytes.len() / self.sector_bytes + 1 {
                return Err(damaged());
            }
            sectors.extend(numbers(self.sector(next)?));
            next = sectors.pop().ok_or_else(damaged)?;
        }
        sectors.retain(|sector| *sector < LAST_SECTOR);
        Ok(sectors)
    }

    /// The bytes of a sector; fewer than a sector has at the end of a file that is
    /// cut off in the middle of one.
    fn sector(&self, sector: u32) -> Result<&'a [u8], Refusal> {
        // The header takes the room of one sector, whatever its size.
        let start = (sector as usize + 1).saturating_mul(self.sector_bytes);
        let end = (start + self.sector_bytes).min(self.bytes.len());
        self.bytes.get(start..end).ok_or_else(damaged)
    }

    /// The bytes of a chain of sectors, of its first `len` bytes if that is said.
    fn chain(&self, start: u32, len: Option<u64>) -> Result<Vec<u8>, Refusal> {
        follow(start, &self.fat, len, |sector| self.sector(sector))
    }

    fn mini_chain(&self, start: u32, len: u64) -> Result<Vec<u8>, Refusal> {
        follow(start, &self.mini_fat, Some(len), |sector| {
            let start = sector as usize * MINI_SECTOR_BYTES;
            let end = (start + MINI_SECTOR_BYTES).min(self.mini_stream.len());
            self.mini_stream.get(start..end).ok_or_else(damaged)
        })
    }
}

impl Entry {
    fn read(entry: &[u8], sector_bytes: usize) -> Result<Entry, Refusal> {
        let units = entry[..64].chunks_exact(2).map(|unit| u16_at(unit, 0));
        let units: Vec<u16> = units.collect::<Result<_, _>>()?;
        let name = units.split(|unit| *unit == 0).next().unwrap_or_default();
        let len = u64::from(u32_at(entry, 120)?);
        let len_high = match sector_bytes {
            512 => 0,
            _ => u64::from(u32_at(entry, 124)?),
        };
        Ok(Entry {
            name: String::from_utf16_lossy(name),
            start: u32_at(entry, 116)?,
            len: len | len_high << 32,
        })
    }
}

/// The bytes of the sectors from `start` on, for no more steps than `table` has.
fn follow<'b>(
    start: u32,
    table: &[u32],
    len: Option<u64>,
    sector: impl Fn(u32) -> Result<&'b [u8], Refusal>,
) -> Result<Vec<u8>, Refusal> {
    let mut chain = Vec::new();
    let mut next = start;
    for _ in 0..=table.len() {
        if next == END_OF_CHAIN {
            return Ok(chain);
        }
        chain.extend_from_slice(sector(next)?);
        if let Some(len) = len.and_then(|len| usize::try_from(len).ok())
            && chain.len() >= len
        {
            chain.truncate(len);
            return Ok(chain);
        }
        next = *table.get(next as usize).ok_or_else(damaged)?;
    }
    Err(damaged())
}

fn damaged() -> Refusal {
    Refusal::corrupt("it is cut off or damaged, as after a broken download")
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .chunks_exact(4)
        .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// The 16-bit number at `at`, lowest byte first.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Refusal> {
    match bytes.get(at..at + 2) {
        Some(&[low, high]) => Ok(u16::from_le_bytes([low, high])),
        _ => Err(damaged()),
    }
}

/// The 32-bit number at `at`, lowest byte first.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Refusal> {
    let (low, high) = (u16_at(bytes, at)?, u16_at(bytes, at + 2)?);
    Ok(u32::from(low) | u32::from(high) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sectors(at: u32) -> Result<&'static [u8], Refusal> {
        const BYTES: &[u8] = b"abcdef";
        let at = at as usize;
        BYTES.get(2 * at..2 * at + 2).ok_or_else(damaged)
    }

    #[test]
    fn a_chain_is_followed_to_its_end_or_to_its_length() {
        let table = [2, END_OF_CHAIN, 1];
        assert_eq!(follow(0, &table, None, sectors).unwrap(), b"abefcd");
        assert_eq!(follow(0, &table, Some(3), sectors).unwrap(), b"abe");
    }

    #[test]
    fn a_chain_that_leads_back_into_itself_or_nowhere_is_damage() {
        assert!(follow(0, &[1, 0, 0], None, sectors).is_err());
        assert!(follow(0, &[1, 0, 0], Some(u64::MAX), sectors).is_err());
        assert!(follow(0, &[7, 0, 0], None, sectors).is_err());
    }
}
