//! Inputs that are compressed as one file, by gzip or zstd.
//!
//! - The first bytes show whether an input is compressed, never its name:
//!   standard input has no name, and `contacts.csv` may be a gzip file.
//! - Data that is damaged or ends early is an error: the worst input for an
//!   importer is a list that seems complete and is not.
//! - Memory is bounded, whatever the file asks for: a little more than 32 MiB for zstd,
//!   32 KiB for gzip.

use std::io::{self, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

const CHUNK_BYTES: usize = 64 * 1024;

const MAGIC_BYTES: u64 = 4;

/// The largest window (unpacked data kept for later references) of the zstd decoder, as a power
/// of two: 32 MiB, half of the memory that the whole program allows itself. `zstd` asks for at
/// most 8 MiB up to its level 19, for up to 128 MiB with `--ultra` and up to 2 GiB with `--long`.
const WINDOW_LOG: u32 = 25;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952, written by the programs `gzip`, `pigz`, `bgzip` …
    Gzip,
    /// RFC 8878, written by the program `zstd` …
    Zstd,
}

impl Compression {
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }

    /// The compression of a file that begins with these bytes: the first
    /// four, or all if it has fewer. No text in any encoding begins with
    /// these bytes: each magic number has a control character.
    pub fn of(first_bytes: &[u8]) -> Option<Self> {
        match first_bytes {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Compression::Zstd),
            // A skippable frame, with which `pzstd` begins its files.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }
}

/// Returns a reader of the unpacked data, and the compression; an input that is not compressed
/// is returned as it is. The reader unpacks all members (gzip) and frames (zstd) of a file. It
/// gives an error if the data is damaged, ends early or needs more memory than is allowed.
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
