//! Inputs that were packed to one file.
//!
//! What this module promises:
//!
//! - Whether an input is packed is seen from its first bytes, never from its name:
//!   standard input has none, and `contacts.csv` may be a gzip file all the same.
//! - Data that is damaged or ends early is an error. A list that seems to be complete
//!   and is not is the worst that an importer can be given.
//! - The memory is bounded: zstd's may grow to [`zst::WINDOW_BYTES`] and a little,
//!   whatever the file asks for; gzip needs 32 KiB.

mod gzip;
mod zst;

use std::fmt;
use std::io::{self, BufReader, Cursor, Read};

/// How much packed data is read at a time, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// How many bytes tell how a file is packed.
const MAGIC_BYTES: u64 = 4;

/// A way to pack one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952, by the programs `gzip`, `pigz`, `bgzip` …
    Gzip,
    /// RFC 8878, by the program `zstd` …
    Zstd,
}

impl Compression {
    /// How a file is packed of which these are the first four bytes, or all if it
    /// has fewer. No text in any encoding begins so: all have a control character.
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

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        })
    }
}

/// The reader of what is inside, with how it was packed; an input that is not packed
/// comes back as it is.
///
/// A file cut off within its first two bytes (gzip) or four (zstd) cannot be told
/// from a text of so many bytes.
///
/// # Errors
///
/// Those of reading the first bytes. The reader gives an error where the data is
/// damaged, ends early or needs more memory than is allowed; errors of `input` itself
/// come through unchanged. After an error it gives the like again, never an end.
pub fn decompressed(
    mut input: Box<dyn Read + Send>,
) -> io::Result<(Option<Compression>, Box<dyn Read + Send>)> {
    let mut first = Vec::new();
    input.by_ref().take(MAGIC_BYTES).read_to_end(&mut first)?;
    let compression = Compression::of(&first);
    let whole = Cursor::new(first).chain(input);
    let reader: Box<dyn Read + Send> = match compression {
        None => Box::new(whole),
        Some(Compression::Gzip) => Box::new(gzip::GzipReader::new(buffered(whole))),
        Some(Compression::Zstd) => Box::new(zst::ZstdReader::new(buffered(whole))?),
    };
    Ok((compression, reader))
}

fn buffered<R: Read>(input: R) -> BufReader<R> {
    BufReader::with_capacity(CHUNK_BYTES, input)
}

/// The data stops before its end.
fn ends_early(compression: Compression) -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        format!("the {compression} data ends early"),
    )
}

/// The data is not what was packed.
fn damaged(compression: Compression, what: impl fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the {compression} data is damaged ({what})"),
    )
}

/// What any error of either reader is once it has been told.
fn failed_before(compression: Compression) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the {compression} data could not be read to its end"),
    )
}

#[cfg(test)]
mod tests;
