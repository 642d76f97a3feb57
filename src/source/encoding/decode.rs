//! Bytes of any encoding to UTF-8.

use std::io::{self, Cursor, Read};

use encoding_rs::DecoderResult;

use super::byte_table::ByteTable;
use super::{Bom, Encoding, UNDECODABLE};

/// How much is taken from the input at a time, in bytes.
const CHUNK_BYTES: usize = 16 * 1024;

/// How much text is kept for the caller. Most chunks fit: ASCII stays as long as it
/// is, and what grows is rare.
const TEXT_BYTES: usize = 32 * 1024;

/// The least room in which a step of decoding begins: whatever the decoder holds
/// back fits several times.
const SPARE_BYTES: usize = 64;

/// Room that the decoder is not told of: the longest undecodable sequence.
const MALFORMED_BYTES: usize = 4;

/// The text of an input that is written in `encoding`, without its byte order mark.
///
/// UTF-8 is handed on as it is, broken parts included, at the speed of `input`
/// itself. Every other encoding becomes UTF-8, with the byte FF, which UTF-8 never has, for
/// each byte that cannot be decoded. A mark of *another* encoding is not stepped over:
/// ask [`Bom::of`] first where the user may choose.
///
/// # Errors
///
/// Those of reading the first bytes.
pub fn decoded(
    input: Box<dyn Read + Send>,
    encoding: Encoding,
) -> io::Result<Box<dyn Read + Send>> {
    let input = without_bom(input, encoding)?;
    Ok(if encoding == Encoding::UTF_8 {
        input
    } else {
        Box::new(DecodingReader::new(input, encoding))
    })
}

/// Reads the first bytes to see whether they are the mark of `encoding`, and puts
/// them back if they are not.
fn without_bom(
    mut input: Box<dyn Read + Send>,
    encoding: Encoding,
) -> io::Result<Box<dyn Read + Send>> {
    let Some(bom) = Bom::for_encoding(encoding) else {
        return Ok(input);
    };
    let mut first = Vec::with_capacity(Bom::LONGEST);
    let most = bom.bytes().len() as u64;
    input.by_ref().take(most).read_to_end(&mut first)?;
    Ok(if first == bom.bytes() {
        input
    } else {
        Box::new(Cursor::new(first).chain(input))
    })
}

/// Turns what it reads into UTF-8. [`decoded`] has stepped over the byte order
/// mark, and hands UTF-8 on without it.
#[derive(Debug)]
pub struct DecodingReader<R> {
    input: R,
    decoder: Decoder,
    chunk: Slot,
    text: Slot,
    is_at_end: bool,
}

/// A buffer with what is left to be taken from it.
#[derive(Debug)]
struct Slot {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

#[derive(Debug)]
enum Decoder {
    SingleByte(Box<ByteTable>),
    MultiByte(Box<MultiByte>),
}

impl<R: Read> DecodingReader<R> {
    /// The text of `input`, which is written in `encoding`.
    pub fn new(input: R, encoding: Encoding) -> Self {
        let decoder = if encoding.is_single_byte() {
            Decoder::SingleByte(Box::new(ByteTable::of(encoding)))
        } else {
            Decoder::MultiByte(Box::new(MultiByte::new(encoding)))
        };
        DecodingReader {
            input,
            decoder,
            chunk: Slot::new(CHUNK_BYTES),
            text: Slot::new(TEXT_BYTES),
            is_at_end: false,
        }
    }

    /// Fills the text that is handed out, which has been used up. It stays empty at
    /// the end of the input only.
    fn fill(&mut self) -> io::Result<()> {
        self.text.start = 0;
        self.text.end = 0;
        while self.text.end == 0 && !(self.is_at_end && self.decoder.has_ended()) {
            if self.chunk.start == self.chunk.end && !self.is_at_end {
                self.chunk.start = 0;
                // In this order, so that an error leaves nothing to be read twice.
                self.chunk.end = 0;
                self.chunk.end = self.input.read(&mut self.chunk.bytes)?;
                self.is_at_end = self.chunk.end == 0;
            }
            let source = &self.chunk.bytes[self.chunk.start..self.chunk.end];
            let (read, written) = self
                .decoder
                .decode(source, self.is_at_end, &mut self.text.bytes);
            self.chunk.start += read;
            self.text.end = written;
        }
        Ok(())
    }
}

impl<R: Read> Read for DecodingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.text.start == self.text.end {
            self.fill()?;
        }
        let text = &self.text.bytes[self.text.start..self.text.end];
        let taken = text.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&text[..taken]);
        self.text.start += taken;
        Ok(taken)
    }
}

impl Slot {
    fn new(size: usize) -> Self {
        Slot {
            bytes: vec![0; size].into_boxed_slice(),
            start: 0,
            end: 0,
        }
    }
}

impl Decoder {
    /// Decodes what fits; returns how much it read and wrote. `is_last` says that
    /// nothing comes after `source`.
    fn decode(&mut self, source: &[u8], is_last: bool, target: &mut [u8]) -> (usize, usize) {
        match self {
            Decoder::SingleByte(table) => table.decode(source, target),
            Decoder::MultiByte(decoder) => decoder.decode(source, is_last, target),
        }
    }

    /// Whether nothing is left in it once the input has ended.
    fn has_ended(&self) -> bool {
        match self {
            Decoder::SingleByte(_) => true,
            Decoder::MultiByte(decoder) => decoder.has_ended,
        }
    }
}

/// Decodes an encoding whose characters have several bytes.
struct MultiByte {
    decoder: encoding_rs::Decoder,
    has_ended: bool,
}

impl MultiByte {
    fn new(encoding: Encoding) -> Self {
        MultiByte {
            decoder: encoding.inner().new_decoder_without_bom_handling(),
            has_ended: false,
        }
    }

    /// See [`Decoder::decode`].
    fn decode(&mut self, source: &[u8], is_last: bool, target: &mut [u8]) -> (usize, usize) {
        let (mut read, mut written) = (0, 0);
        let room = target.len().saturating_sub(MALFORMED_BYTES);
        while !self.has_ended && written + SPARE_BYTES <= room {
            let (result, took, gave) = self.decoder.decode_to_utf8_without_replacement(
                &source[read..],
                &mut target[written..room],
                is_last,
            );
            read += took;
            written += gave;
            match result {
                DecoderResult::InputEmpty => {
                    self.has_ended = is_last;
                    break;
                }
                DecoderResult::OutputFull => break,
                DecoderResult::Malformed(bytes, _) => {
                    let bytes = usize::from(bytes);
                    target[written..written + bytes].fill(UNDECODABLE);
                    written += bytes;
                }
            }
        }
        (read, written)
    }
}

impl std::fmt::Debug for MultiByte {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let encoding = self.decoder.encoding().name();
        f.debug_struct("MultiByte")
            .field("encoding", &encoding)
            .finish_non_exhaustive()
    }
}
