//! Detects the encoding of a list, and decodes its bytes to text.
//!
//! - The encoding is detected over the *whole* input, in one pass that keeps
//!   little: an accent in the last row counts as much as one in the first.
//! - Nothing is lost silently. Other programs replace bytes that they cannot
//!   decode with `�`. Here each such byte becomes a byte that is never part of
//!   UTF-8, so its cell cannot be mistaken for text. The byte is shown as `�`.
//! - No input makes it panic.

mod decode;
mod detect;
mod dos;
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
use name::Standard;
pub use name::{Encoding, encoding_named};

/// Written for each byte that could not be decoded. It is never part of UTF-8.
const UNDECODABLE: u8 = 0xFF;
