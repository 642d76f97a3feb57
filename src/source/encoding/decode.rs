//! Decodes the bytes of any encoding to UTF-8.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use encoding_rs::{Decoder, DecoderResult};

use super::dos::DosReader;
use super::{Encoding, Standard, UNDECODABLE};

const LONGEST_BOM: u64 = 3;

const CHUNK_BYTES: usize = 16 * 1024;

/// Twice a chunk: the text of a chunk of nearly all ASCII always fits.
const TEXT_BYTES: usize = 2 * CHUNK_BYTES;

/// A step of decoding starts only with this much free space, several times
/// what the decoder may hold back.
const SPARE_BYTES: usize = 64;

const MALFORMED_BYTES: usize = 4;

/// Reads an input that is written in `encoding` as text, without its byte order mark.
///
/// UTF-8 is passed on as it is, undecodable bytes included, as fast as `input` can be read.
/// Every other encoding is turned into UTF-8. Each byte that cannot be decoded becomes the byte
/// FF, which is never part of UTF-8. The byte order mark of *another* encoding is not skipped.
pub fn decoded(
    mut input: Box<dyn Read + Send>,
    encoding: Encoding,
) -> io::Result<Box<dyn Read + Send>> {
    let encoding = match encoding {
        Encoding::Standard(encoding) => encoding,
        Encoding::Dos(page) => return Ok(Box::new(DosReader::new(input, page))),
    };
    let mut first = Vec::new();
    input.by_ref().take(LONGEST_BOM).read_to_end(&mut first)?;
    let bom = encoding_rs::Encoding::for_bom(&first).filter(|(of, _)| *of == encoding);
    let bom_bytes = bom.map_or(0, |(_, len)| len);
    let input = Cursor::new(first.split_off(bom_bytes)).chain(input);
    Ok(if encoding == encoding_rs::UTF_8 {
        Box::new(input)
    } else {
        Box::new(DecodingReader::new(input, encoding))
    })
}

/// Decodes its input to UTF-8, and does not treat a byte order mark in any special way.
pub(super) struct DecodingReader<R> {
    input: BufReader<R>,
    decoder: Decoder,
    /// Whether the Encoding Standard decodes bytes that the code page
    /// leaves undefined to control characters.
    has_fillers: bool,
    text: Box<[u8]>,
    /// The part of `text` that has not been read yet.
    start: usize,
    end: usize,
    is_at_end: bool,
}

impl<R: Read> DecodingReader<R> {
    pub(super) fn new(input: R, encoding: Standard) -> Self {
        DecodingReader {
            input: BufReader::with_capacity(CHUNK_BYTES, input),
            decoder: encoding.new_decoder_without_bom_handling(),
            has_fillers: is_windows_page(encoding),
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
            let source = self.input.fill_buf()?;
            let is_last = source.is_empty();
            let most = self.text.len() - MALFORMED_BYTES;
            let mut read = 0;
            while self.end + SPARE_BYTES <= most {
                let (result, took, gave) = self.decoder.decode_to_utf8_without_replacement(
                    &source[read..],
                    &mut self.text[self.end..most],
                    is_last,
                );
                read += took;
                self.end += gave;
                match result {
                    DecoderResult::InputEmpty => {
                        self.is_at_end = is_last;
                        break;
                    }
                    DecoderResult::OutputFull => break,
                    DecoderResult::Malformed(bytes, _) => {
                        let bytes = usize::from(bytes);
                        self.text[self.end..self.end + bytes].fill(UNDECODABLE);
                        self.end += bytes;
                    }
                }
            }
            self.input.consume(read);
            if self.has_fillers {
                self.end = mark_fillers(&mut self.text[..self.end]);
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for DecodingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end && !buffer.is_empty() {
            self.fill()?;
        }
        let text = &self.text[self.start..self.end];
        let taken = text.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&text[..taken]);
        self.start += taken;
        Ok(taken)
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
        if is_filler(text, from) {
            text[to] = UNDECODABLE;
            from += 2;
        } else {
            text[to] = text[from];
            from += 1;
        }
        to += 1;
    }
    to
}
