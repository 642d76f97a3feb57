//! Estimates the memory that a part of a workbook takes once it is decoded.
//!
//! The size of a part says little about that. An empty tag of five bytes becomes a
//! structure of two hundred. A text is copied to every place that refers to it, so a few
//! kilobytes of number formats can take gigabytes. One text of a gigabyte is compressed
//! to a megabyte. So a part is first read here, in little memory, and weighed. Its hidden rows are
//! noted on the way.

use std::borrow::Cow;
use std::io::{BufReader, Read};
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::archive::Archive;
use super::error::{self, ensure};
use super::hidden_rows::HiddenRows;
use crate::message::Message;

/// The most memory that decoded parts may take. A million rows of twenty
/// different texts each stay below it.
pub(super) const MAX_WEIGHT: u64 = 2 << 30;

/// The most bytes of one cell, and of one tag. Excel's cells hold 32,767 characters.
const MAX_PIECE_BYTES: u64 = 16 << 20;

const STRING_BYTES: u64 = 56;

/// What calamine reserves for each string that a part announces.
const RESERVED_STRING_BYTES: u64 = 24;

const HIDDEN_ROW_BYTES: u64 = 8;

/// What a sheet, a font, a cell format and similar structures take besides their texts.
pub(super) const STRUCTURE_BYTES: u64 = 256;

/// A part of an .xlsx.
#[derive(Debug)]
pub(super) struct Part {
    /// Where its packed bytes are in the file.
    pub(super) place: Range<u64>,
    pub(super) hidden: HiddenRows,
}

/// Makes sure that the parts of an .xlsx fit into memory, and returns them. All of them are
/// weighed: other parts say which ones calamine reads and which one is the sheet, under any name.
pub(super) fn check(archive: &mut Archive<'_>) -> Result<Vec<Part>, Message> {
    let mut weight = Weight::default();
    let mut parts = Vec::new();
    for index in 0..archive.zip.len() {
        // calamine cannot read a part that cannot be unpacked either, and reports it.
        if let Ok(part) = archive.zip.by_index(index) {
            let (size, start) = (part.size(), part.data_start().unwrap_or(0));
            let place = start..start + part.compressed_size();
            let hidden = weight.add_part(part, size)?;
            parts.push(Part { place, hidden });
        }
    }
    Ok(parts)
}

/// calamine keeps each sheet that it decodes whole, and returns a copy of it.
pub(super) const COPIES: u64 = 2;

#[derive(Debug, Default)]
pub(super) struct Weight {
    bytes: u64,
    /// The longest text that may be copied, and how many copies there may be. These are
    /// kept apart because a text may come in a later part than the tags that refer to it.
    longest: u64,
    copies: u64,
}

impl Weight {
    pub(super) fn add(&mut self, bytes: u64) -> Result<(), Message> {
        self.bytes = self.bytes.saturating_add(bytes);
        let copied = self.longest.saturating_mul(self.copies);
        ensure(self.bytes.saturating_add(copied) <= MAX_WEIGHT, too_heavy)
    }

    /// Adds a part of an .xlsx, of `size` bytes.
    fn add_part(&mut self, part: impl Read, size: u64) -> Result<HiddenRows, Message> {
        self.add(size)?;
        let (mut next, mut hidden) = (0, HiddenRows::default());
        walk(part, false, |event| match event {
            Event::Start(tag) if tag.local_name().as_ref() == "row" => {
                let (row, is_hidden) = row_of(tag, next);
                next = row.saturating_add(1);
                hidden.add_rows(row..next, is_hidden);
                self.add(HIDDEN_ROW_BYTES * u64::from(is_hidden))
            }
            Event::Start(tag) => self.add_tag(tag),
            _ => Ok(()),
        })?;
        Ok(hidden)
    }

    fn add_tag(&mut self, tag: &BytesStart<'_>) -> Result<(), Message> {
        match tag.local_name().as_ref() {
            "si" => self.add(STRING_BYTES),
            // calamine reserves memory for this many strings; too little
            // memory ends the process at once.
            "sst" => {
                let count = number_in(tag, "uniqueCount", 0)?;
                self.add(count.saturating_mul(RESERVED_STRING_BYTES))
            }
            // Font names, number formats and paths are copied to each tag that refers to them.
            "name" | "numFmt" | "Relationship" => {
                self.longest = self.longest.max(tag.len() as u64);
                self.add(STRUCTURE_BYTES)
            }
            "xf" | "sheet" => {
                self.copies += 2;
                self.add(STRUCTURE_BYTES)
            }
            "font" | "fill" | "border" | "definedName" => self.add(STRUCTURE_BYTES),
            _ => Ok(()),
        }
    }
}

/// The row (from 0) of a tag, which is `next` if it does not say so, and whether it is hidden. A row
/// without height is seen as little as one that is called hidden.
fn row_of(tag: &BytesStart<'_>, next: u32) -> (u32, bool) {
    let (mut row, mut is_hidden) = (next, false);
    for attribute in tag.attributes().with_checks(false).flatten() {
        let value = attribute.value.trim();
        match attribute.key.as_ref() {
            "r" => {
                row = value
                    .parse()
                    .map_or(next, |number: u32| number.saturating_sub(1))
            }
            "hidden" => is_hidden |= matches!(value, "1" | "true"),
            "ht" => is_hidden |= value.parse() == Ok(0.0),
            _ => {}
        }
    }
    (row, is_hidden)
}

pub(super) fn too_heavy() -> Message {
    error::too_many_bytes("it would take", MAX_WEIGHT, " of memory")
}

fn piece_too_long() -> Message {
    error::too_many_bytes("a single cell of it holds", MAX_PIECE_BYTES, "")
}

/// The text in an attribute as it is written.
pub(super) fn text_in<'t>(
    tag: &'t BytesStart<'_>,
    name: &str,
) -> Result<Option<Cow<'t, str>>, Message> {
    let attribute = tag.try_get_attribute(name).map_err(error::corrupt)?;
    Ok(attribute.map(|attribute| attribute.value))
}

/// The number in an attribute: `missing` where there is none, 0 if it is not a number, the
/// largest if it is larger.
pub(super) fn number_in(tag: &BytesStart<'_>, name: &str, missing: u64) -> Result<u64, Message> {
    let Some(value) = text_in(tag, name)? else {
        return Ok(missing);
    };
    // Read as a float, because the cast of one that is too large gives the largest number.
    Ok(value.parse().map_or(0, |number: f64| number as u64))
}

/// Reads XML tag by tag, as calamine does, and refuses a cell or a tag that is too long
/// to be held in memory. An empty tag counts as a start and an end. With `must_be_whole`,
/// XML that is invalid or ends early is an error; without it calamine reports that later.
pub(super) fn walk(
    part: impl Read,
    must_be_whole: bool,
    mut see: impl FnMut(&Event<'_>) -> Result<(), Message>,
) -> Result<(), Message> {
    let mut reader = Reader::from_reader(BufReader::new(part).take(MAX_PIECE_BYTES));
    reader.config_mut().check_end_names = must_be_whole;
    reader.config_mut().expand_empty_elements = true;
    let mut buffer = Vec::new();
    let (mut depth, mut is_in_cell) = (0usize, false);
    loop {
        buffer.clear();
        // The parser holds each tag and each text whole, and calamine each cell.
        if !is_in_cell {
            reader.get_mut().set_limit(MAX_PIECE_BYTES);
        }
        let event = reader.read_event_into(&mut buffer);
        if reader.get_ref().limit() == 0 {
            return Err(piece_too_long());
        }
        let event = match event {
            Ok(event) => event,
            Err(error) if must_be_whole => return Err(error::corrupt(error)),
            Err(_) => return Ok(()),
        };
        match &event {
            Event::Start(tag) => {
                depth += 1;
                is_in_cell |= is_cell(tag.local_name().as_ref());
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                is_in_cell &= !is_cell(tag.local_name().as_ref());
            }
            Event::Eof if must_be_whole && depth > 0 => {
                return Err(error::corrupt("it ends in the middle"));
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
        see(&event)?;
    }
}

fn is_cell(name: &str) -> bool {
    matches!(name, "c" | "si")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weigh(xml: &str) -> Result<u64, Message> {
        let mut weight = Weight::default();
        weight.add_part(xml.as_bytes(), xml.len() as u64)?;
        Ok(weight.bytes - xml.len() as u64)
    }

    fn is_too_heavy(result: Result<u64, Message>) -> bool {
        result.is_err_and(|error| error.to_string().contains("MiB of memory"))
    }

    #[test]
    fn a_shared_text_is_counted_once_for_each_reference() {
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
        assert!(is_too_heavy(weigh(&format!("{sheets}{path}"))));
    }

    #[test]
    fn shared_strings_count_towards_memory_and_cells_do_not() {
        assert_eq!(weigh("<row><c r=\"A1\"><v>1</v></c></row>").unwrap(), 0);
        let strings = "<x:sst uniqueCount=\"2\"><si><t>a</t></si><si/></x:sst>";
        let expected = 2 * (STRING_BYTES + RESERVED_STRING_BYTES);
        assert_eq!(weigh(strings).unwrap(), expected);
    }

    #[test]
    fn announced_strings_count_towards_memory() {
        for count in ["999999999999", "99999999999999999999999"] {
            let strings = format!("<sst uniqueCount=\"{count}\"/>");
            assert!(is_too_heavy(weigh(&strings)));
        }
    }

    #[test]
    fn one_long_piece_is_refused_and_many_short_ones_are_not() {
        let is_refused = |xml: &str| match walk(xml.as_bytes(), false, |_| Ok(())) {
            Ok(()) => false,
            Err(error) => error == piece_too_long(),
        };
        let long = "a".repeat(MAX_PIECE_BYTES as usize + 1);
        assert!(is_refused(&format!("<c><is><t>{long}</t></is></c>")));
        assert!(is_refused(&format!("<c r=\"{long}\"/>")));
        assert!(is_refused(&format!("<!-- {long} -->")));
        let half = "a".repeat(MAX_PIECE_BYTES as usize / 2 + 1);
        assert!(is_refused(&format!("<c><is>{half}&amp;{half}</is></c>")));
        assert!(!is_refused(&format!("<c>{half}</c><c>{half}</c>")));
    }
}
