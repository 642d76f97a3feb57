//! Text to an encoding whose characters have several bytes.

use std::fmt;

use encoding_rs::{Encoder, EncoderResult};

use super::Encoding;
use super::encode::UNMAPPABLE;
use super::spare_forms::SpareForms;

/// Writes Shift_JIS, EUC-JP, ISO-2022-JP, GBK, gb18030, Big5 or EUC-KR.
pub(super) struct MultiByteOutput {
    encoding: Encoding,
    encoder: Encoder,
    /// Made when a character is met for which the encoder has no bytes.
    spare: Option<SpareForms>,
}

impl MultiByteOutput {
    pub(super) fn new(encoding: Encoding) -> Self {
        MultiByteOutput {
            encoding,
            encoder: encoding.inner().new_encoder(),
            spare: None,
        }
    }

    /// Writes characters.
    pub(super) fn text(&mut self, text: &str, bytes: &mut Vec<u8>) {
        let mut rest = text;
        while !rest.is_empty() {
            let (result, read) = self.encode(rest, false, bytes);
            rest = &rest[read..];
            if let EncoderResult::Unmappable(character) = result {
                let encoding = self.encoding;
                let spare = self.spare.get_or_insert_with(|| SpareForms::of(encoding));
                match spare.get(character) {
                    Some(form) => bytes.extend(form),
                    None => bytes.push(UNMAPPABLE),
                }
            }
        }
    }

    /// Writes an undecodable byte as it is. In ISO-2022-JP that would mean
    /// something, so there it gets the bit that no byte of that encoding has.
    pub(super) fn byte(&mut self, byte: u8, bytes: &mut Vec<u8>) {
        match self.encoding == Encoding::ISO_2022_JP {
            true => {
                self.finish(bytes);
                bytes.push(byte | 0x80);
            }
            false => bytes.push(byte),
        }
    }

    /// Returns to the state in which a text begins.
    pub(super) fn finish(&mut self, bytes: &mut Vec<u8>) {
        while let (EncoderResult::OutputFull, _) = self.encode("", true, bytes) {}
        // One that has come to its end may not be used again.
        self.encoder = self.encoding.inner().new_encoder();
    }

    /// One step of the encoder; returns how it ended and how much it read.
    fn encode(&mut self, text: &str, is_last: bool, bytes: &mut Vec<u8>) -> (EncoderResult, usize) {
        /// Whatever the encoder has to write for one character fits.
        const SPARE_BYTES: usize = 32;
        let start = bytes.len();
        bytes.resize(start + 2 * text.len() + SPARE_BYTES, 0);
        let (result, read, written) =
            self.encoder
                .encode_from_utf8_without_replacement(text, &mut bytes[start..], is_last);
        bytes.truncate(start + written);
        (result, read)
    }
}

impl fmt::Debug for MultiByteOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiByteOutput")
            .field("encoding", &self.encoding)
            .finish_non_exhaustive()
    }
}
