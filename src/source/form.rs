//! The form of an input: compression, text or spreadsheet, encoding, delimiter, sheet.

use std::io::{self, Read};
use std::sync::Arc;

use super::dialect::detect_delimiter;
use super::spreadsheet::{MAX_WORKBOOK_BYTES, Workbook};
use super::{
    Certainty, Compression, Encoding, Input, Sheet, SourceError, decoded, detect_encoding,
    is_workbook,
};
use crate::message::{Message, Template};

const SAMPLE_BYTES: u64 = 256 * 1024;

const FIRST_BYTES: u64 = 512;

/// What the user says about the form of the inputs. The rest is detected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormChoice {
    pub encoding: Option<Encoding>,
    pub delimiter: Option<u8>,
    pub no_header: bool,
    pub sheet: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Form {
    pub compression: Option<Compression>,
    pub content: Content,
    pub has_header: bool,
    /// How many rows above the header (titles and notes) are skipped.
    pub above: usize,
}

#[derive(Debug, Clone)]
pub enum Content {
    Text(TextForm),
    Sheet(Arc<Sheet>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextForm {
    pub encoding: Encoding,
    pub certainty: Certainty,
    pub has_bom: bool,
    pub delimiter: u8,
}

impl Form {
    pub fn text(&self) -> Option<&TextForm> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Sheet(_) => None,
        }
    }
}

/// An input whose form is known, but for the sheet of a workbook.
pub enum Survey {
    Text(Form),
    Workbook(Box<WorkbookForms>),
}

/// The forms in which a workbook can be read: one for each sheet.
pub struct WorkbookForms {
    input: String,
    compression: Option<Compression>,
    pub workbook: Workbook,
}

impl WorkbookForms {
    /// The form for one sheet, which is decoded: see [`Workbook::sheet`].
    pub fn form(
        &mut self,
        sheet: Option<&str>,
        has_header: bool,
        is_last: bool,
    ) -> Result<Form, SourceError> {
        let decoded = self.workbook.sheet(sheet, is_last);
        let decoded = decoded.map_err(|message| SourceError {
            sheets: match sheet.is_none_or(|wanted| self.workbook.has_sheet(wanted)) {
                true => Vec::new(),
                false => self.workbook.sheets(),
            },
            ..unusable_workbook(&self.input, message)
        });
        Ok(Form {
            compression: self.compression,
            content: Content::Sheet(Arc::new(decoded?)),
            has_header,
            above: 0,
        })
    }
}

impl Input {
    /// Detects every part of the form that `choice` does not give. Reads
    /// the input to its end unless a byte order mark or `choice` gives the
    /// encoding: the only letter that shows the encoding may be the last.
    pub fn survey(&self, choice: &FormChoice) -> Result<Survey, SourceError> {
        let name = self.name();
        let unreadable = |error| self.unreadable(error);
        let (compression, reader) = self.unpacked().map_err(unreadable)?;
        let first = beginning(reader, FIRST_BYTES).map_err(unreadable)?;
        if let Some((kind, hint)) = not_a_list(&first) {
            let what = text!(
                "`{name}` is {kind}{: rows are read only from CSV files and spreadsheets|, not a list of contacts}",
                name,
                kind
            );
            return Err(SourceError::unusable(Message::new(what, hint)));
        }
        if is_workbook(&first) {
            return Ok(Survey::Workbook(Box::new(WorkbookForms {
                input: name.to_owned(),
                compression,
                workbook: workbook(self)?,
            })));
        }
        let text = TextForm::detect(self, &first, choice).map_err(unreadable)?;
        if choice.sheet.is_some() {
            let message = message!(
                "`{name}` is not a spreadsheet, so it has no sheet to choose",
                "{leave `--sheet` out|choose how it is read under “Does this look wrong?”, or choose the workbook again}",
                name
            );
            return Err(SourceError::unusable(message));
        }
        Ok(Survey::Text(Form {
            compression,
            content: Content::Text(text),
            has_header: !choice.no_header,
            above: 0,
        }))
    }
}

impl TextForm {
    fn detect(input: &Input, first: &[u8], choice: &FormChoice) -> io::Result<TextForm> {
        let bom = encoding_rs::Encoding::for_bom(first).map(|(encoding, _)| encoding);
        // A byte order mark is more reliable than the user's choice.
        let (encoding, certainty) = match bom.map(Encoding::from).or(choice.encoding) {
            Some(encoding) => {
                // A compressed file may be cut off, which must be known before anything is sent.
                if let (Some(_), mut packed) = input.unpacked()? {
                    io::copy(&mut packed, &mut io::sink())?;
                }
                (encoding, Certainty::Certain)
            }
            None => {
                let (encoding, certainty) = detect_encoding(input.unpacked()?.1)?;
                (encoding.into(), certainty)
            }
        };
        let delimiter = match choice.delimiter {
            Some(delimiter) => delimiter,
            None => {
                let text = decoded(input.unpacked()?.1, encoding)?;
                let sample = beginning(text, SAMPLE_BYTES)?;
                let is_whole = (sample.len() as u64) < SAMPLE_BYTES;
                detect_delimiter(&sample, is_whole)
            }
        };
        Ok(TextForm {
            encoding,
            certainty,
            has_bom: bom.is_some(),
            delimiter,
        })
    }
}

fn workbook(input: &Input) -> Result<Workbook, SourceError> {
    let mut bytes = Vec::new();
    let unpacked = input.unpacked();
    unpacked
        .and_then(|(_, reader)| reader.take(MAX_WORKBOOK_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| input.unreadable(error))?;
    Workbook::open(bytes).map_err(|message| unusable_workbook(input.name(), message))
}

fn unusable_workbook(input: &str, message: Message) -> SourceError {
    SourceError::unusable(message.behind(text!("`{input}`", input)))
}

fn beginning(reader: Box<dyn Read + Send>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

const UNPACK: Template =
    template!("unpack it{ and use the file inside|, and choose the file that is inside}");
const EXPORT: Template = template!(
    "{export the list as CSV or as a spreadsheet from the program it comes from|in the program that it comes from, export the contacts as Excel or CSV, and choose that file}"
);

/// The format of a file that begins with these bytes (after unpacking), and
/// what to do instead; `None` if the file may be a list.
fn not_a_list(first: &[u8]) -> Option<(&'static str, Template)> {
    let magics: [(&[u8], &str, Template); 9] = [
        (b"%PDF-", "a PDF", EXPORT),
        (b"\x89PNG", "a picture", EXPORT),
        (b"\xFF\xD8\xFF", "a picture", EXPORT),
        (b"{\\rtf", "a document (RTF)", EXPORT),
        (b"BZh", "compressed by bzip2", UNPACK),
        (b"\xFD7zXZ\0", "compressed by xz", UNPACK),
        (b"7z\xBC\xAF\x27\x1C", "a 7z archive", UNPACK),
        (b"Rar!\x1A\x07", "a RAR archive", UNPACK),
        (b"\x1F\x8B", "compressed twice", UNPACK),
    ];
    let mut magics = magics.into_iter();
    if let Some((_, what, hint)) = magics.find(|(magic, ..)| first.starts_with(magic)) {
        return Some((what, hint));
    }
    let text = first.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(first);
    let text = text.trim_ascii_start();
    let begins = |word: &[u8]| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let markup: [&[u8]; 5] = [b"<!", b"<?", b"<html", b"<head", b"<table"];
    match text {
        _ if markup.iter().any(|tag| begins(tag)) => Some(("a web page or XML", EXPORT)),
        _ if begins(b"begin:vcard") => Some(("a file of vCards", EXPORT)),
        [b'{' | b'[', rest @ ..] if matches!(rest.trim_ascii_start(), [b'"' | b'{', ..]) => {
            Some(("JSON", EXPORT))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &[u8]) -> Option<&'static str> {
        not_a_list(text).map(|(what, _)| what)
    }

    #[test]
    fn files_that_are_not_lists_are_named_by_their_format() {
        for (first, name) in [
            (&b"%PDF-1.7"[..], "a PDF"),
            (b"{\"error\":\"phone list unavailable\"}", "JSON"),
            (b"[\n {\"phone\":1}]", "JSON"),
            (b"\xEF\xBB\xBF\n<HTML><body>phone", "a web page or XML"),
            (b"<?xml version=\"1.0\"?>", "a web page or XML"),
            (b"BEGIN:VCARD\r\n", "a file of vCards"),
            (b"BZh91AY", "compressed by bzip2"),
        ] {
            assert_eq!(what(first), Some(name));
        }
    }

    #[test]
    fn a_list_with_an_odd_beginning_is_a_list() {
        for first in [
            &b"[Phone],[Name]"[..],
            b"<phone>,name",
            b"{x},y",
            b"",
            b"phone",
        ] {
            assert_eq!(what(first), None);
        }
    }
}
