//! Bytes to text: which encoding a list is written in, and how to read it.
//!
//! - The encoding is detected over the *whole* input, in one pass that keeps little:
//!   an accent in the last row counts as much as one in the first.
//! - Nothing is lost silently. Where other programs replace what they cannot decode
//!   by `�`, each such byte becomes one that is never part of UTF-8. The cell that
//!   holds it cannot be mistaken for text, and is shown with a `�` for it.
//! - No input makes it panic.

mod decode;
mod detect;
mod legacy;
mod name;
mod unicode;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod samples;

pub use decode::decoded;
#[cfg(test)]
use decode::{DecodingReader, is_windows_page};
pub use detect::{Certainty, detect_encoding};
pub use name::{Encoding, encoding_named};

/// Written for each byte that could not be decoded; never part of UTF-8.
const UNDECODABLE: u8 = 0xFF;
