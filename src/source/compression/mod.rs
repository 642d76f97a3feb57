//! Inputs that are packed as one file, by gzip or zstd.
//!
//! - Whether an input is packed is seen from its first bytes, never from its name:
//!   standard input has none, and `contacts.csv` may be a gzip file all the same.
//! - Data that is damaged or ends early is an error: a list that seems complete and is
//!   not is the worst that an importer can be given.
//! - The memory is bounded: at most 32 MiB and a little for zstd, whatever
//!   the file asks for; 32 KiB for gzip.

use std::io::{self, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

const CHUNK_BYTES: usize = 64 * 1024;

const MAGIC_BYTES: u64 = 4;

/// The most that the zstd decoder may remember of what it has unpacked, as a power of two:
/// 32 MiB, half of the memory that the whole program allows itself. `zstd` asks for 8 MiB at
/// most up to its level 19, for up to 128 MiB with `--ultra` and up to 2 GiB with `--long`.
const WINDOW_LOG: u32 = 25;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952, by the programs `gzip`, `pigz`, `bgzip` …
    Gzip,
    /// RFC 8878, by the program `zstd` …
    Zstd,
}

impl Compression {
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }

    /// How a file is packed that begins with these four bytes, or all if it has fewer.
    /// No text in any encoding begins so: all have a control character.
    pub fn of(first_bytes: &[u8]) -> Option<Self> {
        match first_bytes {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Compression::Zstd),
            // A frame to be skipped, with which `pzstd` begins its files.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }
}

/// The reader of what is inside, with how it is packed; an input that is not packed
/// comes back as it is. All members (gzip) and frames (zstd) of a file are read. The reader
/// gives an error where the data is damaged, ends early or needs more memory than is allowed.
pub fn decompressed(
    mut input: Box<dyn Read + Send>,
) -> io::Result<(Option<Compression>, Box<dyn Read + Send>)> {
    let mut first = Vec::new();
    input.by_ref().take(MAGIC_BYTES).read_to_end(&mut first)?;
    let compression = Compression::of(&first);
    let whole = Cursor::new(first).chain(input);
    let Some(compression) = compression else {
        return Ok((None, Box::new(whole)));
    };
    let whole = BufReader::with_capacity(CHUNK_BYTES, whole);
    let decoder: Box<dyn Read + Send> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(whole)),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(whole)?;
            decoder.window_log_max(WINDOW_LOG)?;
            Box::new(decoder)
        }
    };
    Ok((Some(compression), decoder))
}

#[cfg(test)]
mod tests;
