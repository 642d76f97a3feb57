//! What a part of a workbook takes in memory once it is decoded.
//!
//! The size of a part says little about that. An empty tag of five bytes becomes a
//! structure of two hundred; a text is copied to every place that refers to it, so that a
//! few kilobytes of number formats can take gigabytes; and one text of a gigabyte packs to
//! a megabyte. So a part is read here first, in little memory, and weighed.

use std::io::{self, BufRead, BufReader, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::archive::number_in;
use super::error::{MAX_PIECE_BYTES, MAX_WEIGHT, TooLarge, WorkbookError};

/// What a shared string takes besides its text.
const STRING_BYTES: u64 = 56;

/// What is reserved for each string that a part announces.
const RESERVED_STRING_BYTES: u64 = 24;

/// What a sheet, a font, a cell format and the like takes besides its texts.
pub(super) const STRUCTURE_BYTES: u64 = 256;

/// Strings that may be announced however small the part is.
const HARMLESS_STRINGS: u64 = 1 << 20;

/// The fewest bytes that a shared string takes: `<si/>`.
const MIN_STRING_BYTES: u64 = 5;

/// What has been weighed so far.
#[derive(Debug, Default)]
pub(super) struct Weight {
    bytes: u64,
    /// The longest text that others can refer to.
    longest: u64,
}

impl Weight {
    /// Adds bytes, and refuses what is too much.
    pub(super) fn add(&mut self, bytes: u64) -> Result<(), WorkbookError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_WEIGHT {
            Err(WorkbookError::TooLarge(TooLarge::Memory))
        } else {
            Ok(())
        }
    }

    /// Adds an XML part of `size` bytes that calamine reads whole.
    pub(super) fn add_xml(&mut self, part: impl Read, size: u64) -> Result<(), WorkbookError> {
        self.add(size)?;
        walk(part, |tag| self.add_tag(tag, size))
    }

    fn add_tag(&mut self, tag: &BytesStart<'_>, part_size: u64) -> Result<(), WorkbookError> {
        let len = tag.len() as u64;
        match tag.local_name().as_ref() {
            "si" => self.add(STRING_BYTES),
            "sst" => self.add(announced_strings(tag, part_size)? * RESERVED_STRING_BYTES),
            // Font names, number formats and paths are copied to whatever uses them.
            "name" | "numFmt" | "Relationship" => {
                self.longest = self.longest.max(len);
                self.add(STRUCTURE_BYTES)
            }
            "xf" | "sheet" => self.add(STRUCTURE_BYTES + 2 * self.longest),
            "font" | "fill" | "border" | "definedName" => self.add(STRUCTURE_BYTES),
            _ => Ok(()),
        }
    }

    /// Adds a binary part of `size` bytes (MS-XLSB 2.1.4) that calamine reads whole.
    pub(super) fn add_records(&mut self, part: impl Read, size: u64) -> Result<(), WorkbookError> {
        // Its text is UTF-16 and becomes UTF-8.
        self.add(size.saturating_mul(2))?;
        walk_records(part, |kind, data| self.add_record(kind, data))
    }

    fn add_record(&mut self, kind: u16, data: &[u8]) -> Result<(), WorkbookError> {
        /// The kinds of record (MS-XLSB 2.3) that become more than they are.
        mod kind {
            pub(super) const SHARED_STRING: u16 = 0x0013;
            pub(super) const NAME: u16 = 0x0027;
            pub(super) const SHEET: u16 = 0x009C;
            pub(super) const EXTERN_SHEET: u16 = 0x016A;
        }
        let len = data.len() as u64;
        match kind {
            kind::SHARED_STRING => self.add(STRING_BYTES),
            kind::SHEET => {
                self.longest = self.longest.max(2 * len);
                self.add(STRUCTURE_BYTES + 2 * self.longest)
            }
            // Twelve bytes for each reference to a sheet, whose name is copied.
            kind::EXTERN_SHEET => self.add((len / 12).saturating_mul(24 + self.longest)),
            kind::NAME => {
                let characters = data.get(9..13).map_or(0, |count| {
                    u64::from(u32::from_le_bytes([count[0], count[1], count[2], count[3]]))
                });
                self.longest = self.longest.max(characters.min(len).saturating_mul(3));
                // A formula takes five bytes at least for each name that it writes out.
                self.add(STRUCTURE_BYTES + (len / 5).saturating_mul(16 + self.longest))
            }
            _ => Ok(()),
        }
    }
}

/// How many strings the root element announces: calamine reserves memory for them, and
/// a lack of memory ends the process at once.
fn announced_strings(root: &BytesStart<'_>, part_size: u64) -> Result<u64, WorkbookError> {
    let count = root
        .try_get_attribute("uniqueCount")
        .map_err(WorkbookError::corrupt)?;
    let count = count.map_or(0, |count| number_in(&count.value));
    if count > part_size / MIN_STRING_BYTES + HARMLESS_STRINGS {
        Err(WorkbookError::corrupt("its list of strings is damaged"))
    } else {
        Ok(count)
    }
}

/// Makes sure that no cell and no tag of an XML part is too long to be held. The cells
/// of a sheet are decoded one by one, so nothing else in it weighs anything.
pub(super) fn check_pieces(part: impl Read) -> Result<(), WorkbookError> {
    walk(part, |_| Ok(()))
}

/// The same for the records of a binary part.
pub(super) fn check_records(part: impl Read) -> Result<(), WorkbookError> {
    walk_records(part, |_, _| Ok(()))
}

/// Reads XML as calamine does, tag by tag. Where it is not XML, calamine reports it.
fn walk(
    part: impl Read,
    mut see: impl FnMut(&BytesStart<'_>) -> Result<(), WorkbookError>,
) -> Result<(), WorkbookError> {
    let mut reader = Reader::from_reader(Pieces::new(part));
    reader.config_mut().check_end_names = false;
    let mut buffer = Vec::new();
    let mut cell_start = None;
    loop {
        buffer.clear();
        reader.get_mut().begin();
        let position = reader.buffer_position();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag)) => {
                see(&tag)?;
                if is_cell(tag.local_name().as_ref()) {
                    cell_start = Some(position);
                }
            }
            Ok(Event::Empty(tag)) => see(&tag)?,
            Ok(Event::End(tag)) if is_cell(tag.local_name().as_ref()) => cell_start = None,
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(_) if reader.get_ref().is_exceeded => return Err(piece_too_long()),
            Err(_) => return Ok(()),
        }
        if cell_start.is_some_and(|start| position - start > MAX_PIECE_BYTES as u64) {
            return Err(piece_too_long());
        }
    }
}

/// A cell of a sheet, or a text that cells share.
fn is_cell(name: &str) -> bool {
    matches!(name, "c" | "si")
}

/// The records of a binary part: their kind and their data.
fn walk_records(
    part: impl Read,
    mut see: impl FnMut(u16, &[u8]) -> Result<(), WorkbookError>,
) -> Result<(), WorkbookError> {
    let mut part = BufReader::new(part);
    let mut data = Vec::new();
    // Where the bytes are no record, calamine gives up and reports it.
    while let (Some(kind), Some(len)) = (number(&mut part, 2), number(&mut part, 4)) {
        let len = len as usize;
        if len > MAX_PIECE_BYTES {
            return Err(piece_too_long());
        }
        data.resize(len, 0);
        if part.read_exact(&mut data).is_err() {
            break;
        }
        see(kind as u16, &data)?;
    }
    Ok(())
}

/// A number of at most this many bytes, of seven bits each, lowest first.
fn number(part: &mut impl Read, most_bytes: u32) -> Option<u32> {
    let mut number = 0;
    for at in 0..most_bytes {
        let mut byte = [0];
        part.read_exact(&mut byte).ok()?;
        number |= u32::from(byte[0] & 0x7F) << (7 * at);
        if byte[0] & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

fn piece_too_long() -> WorkbookError {
    WorkbookError::TooLarge(TooLarge::Piece)
}

/// A part whose tags and texts are bounded: the parser holds each of them whole.
pub(super) struct Pieces<R> {
    part: BufReader<R>,
    left: usize,
    /// Whether the last piece was longer than it may be.
    pub(super) is_exceeded: bool,
}

impl<R: Read> Pieces<R> {
    pub(super) fn new(part: R) -> Self {
        Pieces {
            part: BufReader::new(part),
            left: MAX_PIECE_BYTES,
            is_exceeded: false,
        }
    }

    /// The next piece begins.
    pub(super) fn begin(&mut self) {
        self.left = MAX_PIECE_BYTES;
    }
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let len = available.read(buffer)?;
        self.consume(len);
        Ok(len)
    }
}

impl<R: Read> BufRead for Pieces<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            self.is_exceeded = true;
            return Err(io::Error::other("a piece is too long"));
        }
        self.part.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.left = self.left.saturating_sub(len);
        self.part.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weigh(xml: &str) -> Result<u64, WorkbookError> {
        let mut weight = Weight::default();
        weight.add_xml(xml.as_bytes(), xml.len() as u64)?;
        Ok(weight.bytes - xml.len() as u64)
    }

    fn is_too_heavy(result: Result<u64, WorkbookError>) -> bool {
        matches!(result, Err(WorkbookError::TooLarge(TooLarge::Memory)))
    }

    #[test]
    fn a_text_weighs_as_often_as_it_is_referred_to() {
        let styles = |len: usize| {
            let format = "0".repeat(len);
            let uses = "<xf numFmtId=\"170\"/>".repeat(10_000);
            format!("<x:numFmts><x:numFmt formatCode=\"{format}\"/></x:numFmts>{uses}")
        };
        assert!(weigh(&styles(1_000)).is_ok());
        assert!(is_too_heavy(weigh(&styles(200_000))));
        let path = format!("<Relationship Target=\"{}\"/>", "a".repeat(200_000));
        let sheets = "<sheet id=\"r\"/>".repeat(10_000);
        assert!(is_too_heavy(weigh(&format!("{path}{sheets}"))));
    }

    #[test]
    fn the_cells_of_a_sheet_weigh_nothing_and_shared_strings_something() {
        assert_eq!(weigh("<row><c r=\"A1\"><v>1</v></c></row>").unwrap(), 0);
        let strings = "<x:sst uniqueCount=\"2\"><si><t>a</t></si><si/></x:sst>";
        let expected = 2 * (STRING_BYTES + RESERVED_STRING_BYTES);
        assert_eq!(weigh(strings).unwrap(), expected);
    }

    #[test]
    fn more_strings_than_fit_the_part_are_damage() {
        for count in ["999999999999", "99999999999999999999999"] {
            let strings = format!("<sst uniqueCount=\"{count}\"/>");
            assert!(matches!(weigh(&strings), Err(WorkbookError::Corrupt(_))));
        }
    }

    #[test]
    fn one_long_piece_is_refused_and_many_short_ones_are_not() {
        let is_refused = |xml: &str| match check_pieces(xml.as_bytes()) {
            Ok(()) => false,
            Err(WorkbookError::TooLarge(TooLarge::Piece)) => true,
            Err(error) => panic!("{error:?}"),
        };
        let long = "a".repeat(MAX_PIECE_BYTES + 1);
        assert!(is_refused(&format!("<c><is><t>{long}</t></is></c>")));
        assert!(is_refused(&format!("<c r=\"{long}\"/>")));
        assert!(is_refused(&format!("<!-- {long} -->")));
        let half = "a".repeat(MAX_PIECE_BYTES / 2 + 1);
        assert!(is_refused(&format!("<c><is>{half}&amp;{half}</is></c>")));
        assert!(!is_refused(&format!("<c>{half}</c><c>{half}</c>")));
    }

    fn record(kind: u8, data: &[u8]) -> Vec<u8> {
        let len = data.len() as u32;
        let len = [0, 7, 14, 21].map(|shift| (len >> shift) as u8 & 0x7F | 0x80);
        let kind = [kind | 0x80, kind >> 7];
        [&kind[..], &len[..3], &[len[3] & 0x7F], data].concat()
    }

    #[test]
    fn a_name_weighs_as_often_as_formulas_can_write_it_out() {
        let weigh = |name: usize, formula: usize| {
            let characters = (name as u32).to_le_bytes();
            let data = [&[0; 9][..], &characters, &vec![0; 2 * name + formula]].concat();
            let part = record(0x27, &data);
            Weight::default().add_records(&part[..], part.len() as u64)
        };
        assert!(weigh(255, 8_000).is_ok());
        assert!(weigh(100_000, 100_000).is_err());
    }

    #[test]
    fn a_long_record_is_refused() {
        let part = record(0x01, &vec![0; MAX_PIECE_BYTES + 1]);
        assert!(matches!(
            check_records(&part[..]),
            Err(WorkbookError::TooLarge(TooLarge::Piece))
        ));
    }
}
