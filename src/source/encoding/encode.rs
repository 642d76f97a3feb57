//! UTF-8 back to the encoding that an input was written in.

use std::io::{self, Write};

use super::Encoding;
use super::byte_table::ByteTable;
use super::escape::{self, Start};
use super::multi_byte::MultiByteOutput;
use super::utf16_output::{Order, Utf16Output};

/// How much is encoded at a time, in bytes.
const CHUNK_BYTES: usize = 16 * 1024;

/// What is written for a character that the encoding does not have.
pub(super) const UNMAPPABLE: u8 = b'?';

/// Turns the UTF-8 that it is given into an input's own encoding, with the bytes
/// themselves for the escapes that [`decoded`](super::decoded) has left in it, so that
/// rows can be handed back as they came.
///
/// - A target of UTF-8 gets everything unchanged.
/// - A character that the encoding does not have becomes `?`, and so does each byte
///   that is neither UTF-8 nor an escape, of which there should be none.
/// - Pieces may be cut anywhere, inside a character or an escape too.
/// - [`finish`](Self::finish) or [`into_inner`](Self::into_inner) must end it: what
///   a cut piece has left is written only then, and ISO-2022-JP has to return to
///   ASCII at its end. `flush` flushes the inner writer and holds these back.
/// - An error of the inner writer may have lost what it was given.
///
/// There are two encodings that cannot hand back everything. ISO-2022-JP has no bytes
/// by themselves: an undecodable one is written with its highest bit set, which
/// leaves the cell undecodable, and half-width katakana become full-width. Four
/// characters of Big5 are two for Unicode (`Ê̄` …) and lose their second half.
#[derive(Debug)]
pub struct EncodingWriter<W> {
    inner: W,
    target: Target,
    /// The beginning of a character or an escape that the last piece ended in.
    cut: Vec<u8>,
    /// Encoded bytes on their way to the inner writer.
    bytes: Vec<u8>,
}

#[derive(Debug)]
enum Target {
    Unchanged,
    SingleByte(Box<ByteTable>),
    Utf16(Utf16Output),
    MultiByte(Box<MultiByteOutput>),
}

impl<W: Write> EncodingWriter<W> {
    /// Writes to `inner` in `encoding`. No byte order mark is written.
    pub fn new(inner: W, encoding: Encoding) -> Self {
        let target = if encoding == Encoding::UTF_8 {
            Target::Unchanged
        } else if encoding == Encoding::UTF_16LE {
            Target::Utf16(Utf16Output::new(Order::LowFirst))
        } else if encoding == Encoding::UTF_16BE {
            Target::Utf16(Utf16Output::new(Order::HighFirst))
        } else if encoding.is_single_byte() {
            Target::SingleByte(Box::new(ByteTable::of(encoding)))
        } else {
            Target::MultiByte(Box::new(MultiByteOutput::new(encoding)))
        };
        EncodingWriter {
            inner,
            target,
            cut: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Writes what is held back and flushes. More may be written after it, as the
    /// beginning of a new text.
    ///
    /// # Errors
    ///
    /// Those of the inner writer.
    pub fn finish(&mut self) -> io::Result<()> {
        for _ in 0..std::mem::take(&mut self.cut).len() {
            self.target.text("?", &mut self.bytes);
        }
        self.target.finish(&mut self.bytes);
        self.write_bytes()?;
        self.inner.flush()
    }

    /// Finishes and hands out the inner writer.
    ///
    /// # Errors
    ///
    /// Those of the inner writer, which is lost then.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.finish()?;
        Ok(self.inner)
    }

    fn write_bytes(&mut self) -> io::Result<()> {
        let written = self.inner.write_all(&self.bytes);
        self.bytes.clear();
        written
    }

    /// Encodes all of `text` but what may be continued by the next piece, and
    /// returns that.
    fn encode<'a>(&mut self, mut text: &'a [u8]) -> &'a [u8] {
        loop {
            let (valid, broken_len) = match std::str::from_utf8(text) {
                Ok(valid) => (valid, Some(0)),
                Err(error) => {
                    let valid = std::str::from_utf8(&text[..error.valid_up_to()]);
                    (valid.unwrap_or_default(), error.error_len())
                }
            };
            self.target.text(valid, &mut self.bytes);
            text = &text[valid.len()..];
            match (escape::at_start(text), broken_len) {
                (Start::Cut, _) | (_, None) => return text,
                (Start::Escape(byte), _) => {
                    self.target.byte(byte, &mut self.bytes);
                    text = &text[escape::LEN..];
                }
                (Start::Other, Some(len)) => {
                    self.target.text("?", &mut self.bytes);
                    text = &text[len..];
                }
            }
        }
    }
}

impl<W: Write> Write for EncodingWriter<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if matches!(self.target, Target::Unchanged) {
            return self.inner.write(text);
        }
        let piece = &text[..text.len().min(CHUNK_BYTES)];
        if self.cut.is_empty() {
            self.cut = self.encode(piece).to_vec();
        } else {
            let mut whole = std::mem::take(&mut self.cut);
            whole.extend_from_slice(piece);
            self.cut = self.encode(&whole).to_vec();
        }
        self.write_bytes()?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Target {
    fn text(&mut self, text: &str, bytes: &mut Vec<u8>) {
        match self {
            Target::Unchanged => bytes.extend_from_slice(text.as_bytes()),
            Target::SingleByte(table) => {
                bytes.extend(text.chars().map(|c| table.byte(c).unwrap_or(UNMAPPABLE)));
            }
            Target::Utf16(output) => output.text(text, bytes),
            Target::MultiByte(output) => output.text(text, bytes),
        }
    }

    /// Writes a byte that could not be decoded.
    fn byte(&mut self, byte: u8, bytes: &mut Vec<u8>) {
        match self {
            Target::Unchanged => bytes.extend_from_slice(&escape::of(byte)),
            Target::SingleByte(_) => bytes.push(byte),
            Target::Utf16(output) => output.byte(byte, bytes),
            Target::MultiByte(output) => output.byte(byte, bytes),
        }
    }

    fn finish(&mut self, bytes: &mut Vec<u8>) {
        match self {
            Target::Unchanged | Target::SingleByte(_) => {}
            Target::Utf16(output) => output.finish(bytes),
            Target::MultiByte(output) => output.finish(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &[u8], encoding: Encoding) -> Vec<u8> {
        let mut writer = EncodingWriter::new(Vec::new(), encoding);
        writer.write_all(text).unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn what_the_encoding_does_not_have_becomes_a_question_mark() {
        let text = "Łódź – 東京 €".as_bytes();
        assert_eq!(
            encoded(text, Encoding::WINDOWS_1252),
            b"?\xF3d? \x96 ?? \x80"
        );
        assert_eq!(encoded(text, Encoding::MACINTOSH), b"?\x97d? \xD0 ?? \xDB");
        assert_eq!(
            encoded("Müller 東京".as_bytes(), "sjis".parse().unwrap()),
            b"M?ller \x93\x8C\x8B\x9E"
        );
    }

    #[test]
    fn broken_text_becomes_question_marks_and_ends_as_such() {
        let text = b"a\xFFb\xC3";
        assert_eq!(encoded(text, Encoding::WINDOWS_1252), b"a?b?");
        assert_eq!(encoded(text, Encoding::UTF_8), text);
    }

    #[test]
    fn an_escape_becomes_its_byte() {
        let text = [b"a", &escape::of(0x81)[..], b"\xC3\xBC"].concat();
        assert_eq!(encoded(&text, Encoding::WINDOWS_1252), b"a\x81\xFC");
    }

    #[test]
    fn iso_2022_jp_returns_to_ascii() {
        let bytes = encoded("東".as_bytes(), Encoding::ISO_2022_JP);
        assert_eq!(bytes, b"\x1B$BEl\x1B(B");
    }
}
