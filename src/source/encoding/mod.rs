//! Bytes to text: which encoding a list is written in, and how to read it.
//!
//! What this module promises:
//!
//! - The encoding is found by looking at the *whole* input: a list whose only
//!   accent stands in its last row is read as well as any other. Whatever looks
//!   at it does so in pieces and keeps little, so the size does not matter.
//! - Nothing is lost silently. Every other program replaces what it cannot decode
//!   by `�`; here each such byte becomes one that is never part of UTF-8. The cell that
//!   holds it cannot be mistaken for text, and is shown with a `�` for it.
//! - No bytes at all make it panic.

mod bom;
mod byte_table;
mod decode;
mod detect;
mod guess;
mod name;
mod survey;
mod utf16_evidence;
mod utf8_evidence;
mod word_fit;

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod sample_lists;

pub use bom::Bom;
#[cfg(test)]
use decode::DecodingReader;
pub use decode::decoded;
pub use detect::{Basis, detect_encoding};
pub use guess::LegacyGuess;
pub use name::{Encoding, EncodingError};
pub use survey::{SurveyedText, TextSurvey};

/// What stands for a byte that could not be decoded.
const UNDECODABLE: u8 = 0xFF;
