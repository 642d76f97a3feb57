//! Decodes the bytes of any encoding to UTF-8.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use encoding_rs::DecoderResult;

use super::dos::DosPage;
use super::{Encoding, Standard, UNDECODABLE};

const LONGEST_BOM: u64 = 3;

const CHUNK_BYTES: usize = 16 * 1024;

/// The text of a chunk always fits: in no encoding does a byte become more than three.
const TEXT_BYTES: usize = 4 * CHUNK_BYTES;

/// Reads an input that is written in `encoding` as text, without its byte order mark.
///
/// UTF-8 is passed on as it is, undecodable bytes included, as fast as `input` can be read.
/// Every other encoding is turned into UTF-8. Each byte that cannot be decoded becomes the byte
/// FF, which is never part of UTF-8. The byte order mark of *another* encoding is not skipped.
pub fn decoded(
    mut input: Box<dyn Read + Send>,
    encoding: Encoding,
) -> io::Result<Box<dyn Read + Send>> {
    let mut first = Vec::new();
    input.by_ref().take(LONGEST_BOM).read_to_end(&mut first)?;
    let bom = encoding_rs::Encoding::for_bom(&first).filter(|(of, _)| encoding == (*of).into());
    let bom_bytes = bom.map_or(0, |(_, len)| len);
    let input = Cursor::new(first.split_off(bom_bytes)).chain(input);
    Ok(if encoding == encoding_rs::UTF_8.into() {
        Box::new(input)
    } else {
        Box::new(DecodingReader::new(input, encoding))
    })
}

/// Decodes its input to UTF-8, and does not treat a byte order mark in any special way.
pub(super) struct DecodingReader<R> {
    input: BufReader<R>,
    decoder: Decoder,
    text: Box<[u8]>,
    /// The part of `text` that has not been read yet.
    start: usize,
    end: usize,
    is_at_end: bool,
}

enum Decoder {
    /// With whether the Encoding Standard decodes bytes that the code page
    /// leaves undefined to control characters.
    Standard(encoding_rs::Decoder, bool),
    Dos(DosPage),
}

impl<R: Read> DecodingReader<R> {
    pub(super) fn new(input: R, encoding: impl Into<Encoding>) -> Self {
        DecodingReader {
            input: BufReader::with_capacity(CHUNK_BYTES, input),
            decoder: match encoding.into() {
                Encoding::Standard(encoding) => {
                    let decoder = encoding.new_decoder_without_bom_handling();
                    Decoder::Standard(decoder, is_windows_page(encoding))
                }
                Encoding::Dos(page) => Decoder::Dos(page),
            },
            text: vec![0; TEXT_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            is_at_end: false,
        }
    }

    /// Decodes the next piece; call it when all of `text` was read. At the
    /// end of the input it decodes nothing.
    fn fill(&mut self) -> io::Result<()> {
        (self.start, self.end) = (0, 0);
        while self.end == 0 && !self.is_at_end {
            let chunk = self.input.fill_buf()?;
            let len = chunk.len();
            self.is_at_end = chunk.is_empty();
            match &mut self.decoder {
                Decoder::Standard(decoder, has_fillers) => {
                    self.end = decode_chunk(decoder, chunk, &mut self.text);
                    if *has_fillers {
                        self.end = mark_fillers(&mut self.text[..self.end]);
                    }
                }
                Decoder::Dos(page) => {
                    let text = page.decode(chunk);
                    self.text[..text.len()].copy_from_slice(text.as_bytes());
                    self.end = text.len();
                }
            }
            self.input.consume(len);
        }
        Ok(())
    }
}

/// Decodes a chunk, which is empty at the end of the input. Returns the length of its text.
fn decode_chunk(decoder: &mut encoding_rs::Decoder, chunk: &[u8], text: &mut [u8]) -> usize {
    let (mut read, mut end) = (0, 0);
    loop {
        let (result, took, gave) = decoder.decode_to_utf8_without_replacement(
            &chunk[read..],
            &mut text[end..],
            chunk.is_empty(),
        );
        (read, end) = (read + took, end + gave);
        let DecoderResult::Malformed(bytes, _) = result else {
            return end;
        };
        let bytes = usize::from(bytes);
        text[end..end + bytes].fill(UNDECODABLE);
        end += bytes;
    }
}

impl<R: Read> Read for DecodingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end && !buffer.is_empty() {
            self.fill()?;
        }
        let read = (&self.text[self.start..self.end]).read(buffer)?;
        self.start += read;
        Ok(read)
    }
}

pub(super) fn is_windows_page(encoding: Standard) -> bool {
    encoding.is_single_byte() && encoding.name().starts_with("windows-")
}

/// Replaces each control character from U+0080 to U+009F (C2 80 to C2 9F) with
/// one undecodable byte, and returns the new length. No Windows code page defines
/// these characters: the standard fills gaps with them (0x81 in windows-1252).
/// Without this, text from DOS would be sent with invisible characters.
fn mark_fillers(text: &mut [u8]) -> usize {
    let is_filler = |text: &[u8], at: usize| {
        text[at] == 0xC2 && text.get(at + 1).is_some_and(|byte| *byte < 0xA0)
    };
    let Some(first) = memchr::memchr_iter(0xC2, text).find(|at| is_filler(text, *at)) else {
        return text.len();
    };
    let (mut from, mut to) = (first, first);
    while from < text.len() {
        let (byte, len) = match is_filler(text, from) {
            true => (UNDECODABLE, 2),
            false => (text[from], 1),
        };
        text[to] = byte;
        (from, to) = (from + len, to + 1);
    }
    to
}
