//! The zip archive that a modern workbook is, before anything is unpacked.

use std::io::{Cursor, Read};

use quick_xml::events::Event;
use zip::ZipArchive;

use super::error::{Refusal, TooLarge};

/// The most bytes that the parts of a workbook may unpack to. The `zip` crate
/// gives no part more bytes than the archive declares for it, so the declared
/// sizes are as good as the real ones.
pub(super) const MAX_UNPACKED_BYTES: u64 = 1 << 30;

/// Strings that may be announced however small the part is: 24 bytes of memory each.
const HARMLESS_STRINGS: u64 = 1 << 20;

/// The fewest bytes that a shared string takes: `<si/>`.
const LEAST_STRING_BYTES: u64 = 5;

/// An archive's list of contents.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// The names in small letters and with `/` between folders, in the archive's order.
    names: Vec<String>,
}

impl<'a> Archive<'a> {
    /// Reads what the archive contains, and refuses it if it unpacks to too much.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| {
            Refusal::corrupt("it is cut off or damaged, as after a broken download")
        })?;
        let mut names = Vec::with_capacity(zip.len());
        let mut unpacked = 0u64;
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(Refusal::corrupt)?;
            let name = String::from_utf8_lossy(entry.name_raw())
                .to_ascii_lowercase()
                .replace('\\', "/");
            // Pictures are never unpacked.
            if name.ends_with(".xml") || name.ends_with(".bin") || name.ends_with(".rels") {
                unpacked = unpacked.saturating_add(entry.size());
            }
            names.push(name);
        }
        if unpacked > MAX_UNPACKED_BYTES {
            return Err(Refusal::TooLarge(TooLarge::Unpacked));
        }
        Ok(Archive { zip, names })
    }

    /// Whether the archive has a file whose name, in small letters, is as asked for.
    pub(super) fn has(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.names.iter().any(|name| is_wanted(name))
    }

    /// The part called exactly `name`, unpacked as it is read.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<impl Read + '_>, Refusal> {
        match self.zip.index_for_name(name) {
            Some(index) => self.zip.by_index(index).map(Some).map_err(Refusal::corrupt),
            None => Ok(None),
        }
    }

    /// What an OpenDocument file says that it is.
    pub(super) fn mime(&mut self) -> Result<Option<String>, Refusal> {
        const LONGEST: u64 = 100;
        let Some(part) = self.part("mimetype")? else {
            return Ok(None);
        };
        let mut mime = Vec::new();
        part.take(LONGEST)
            .read_to_end(&mut mime)
            .map_err(Refusal::corrupt)?;
        Ok(Some(String::from_utf8_lossy(&mime).into_owned()))
    }

    /// Makes sure that the shared strings announce no more of them than they can
    /// hold: calamine reserves room for as many, and a lack of memory ends the
    /// process at once.
    pub(super) fn check_shared_strings(&mut self) -> Result<(), Refusal> {
        for index in 0..self.names.len() {
            if !self.names[index].ends_with("sharedstrings.xml") {
                continue;
            }
            let part = self.zip.by_index(index).map_err(Refusal::corrupt)?;
            let possible = part.size() / LEAST_STRING_BYTES + HARMLESS_STRINGS;
            if announced_strings(part)? > possible {
                return Err(Refusal::corrupt("its list of strings is damaged"));
            }
        }
        Ok(())
    }
}

/// How many strings the root element says that there are; 0 if it does not say.
fn announced_strings(part: impl Read) -> Result<u64, Refusal> {
    let mut reader = quick_xml::Reader::from_reader(std::io::BufReader::new(part));
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                if element.local_name().as_ref() != "sst" {
                    continue;
                }
                let count = element
                    .try_get_attribute("uniqueCount")
                    .map_err(Refusal::corrupt)?;
                return Ok(count.map_or(0, |count| number_in(&count.value)));
            }
            Ok(Event::Eof) => return Ok(0),
            Ok(_) => {}
            Err(error) => return Err(Refusal::corrupt(error)),
        }
    }
}

/// The number that an attribute holds: 0 if it is none, the largest if it is larger.
pub(super) fn number_in(text: &str) -> u64 {
    let digits = text.trim_start_matches('+');
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    digits.parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_element_announces_the_strings() {
        let xml = "<?xml version=\"1.0\"?><x:sst count=\"3\" uniqueCount=\"2\"><si/></x:sst>";
        assert_eq!(announced_strings(xml.as_bytes()).unwrap(), 2);
        assert_eq!(announced_strings(&b"<sst/>"[..]).unwrap(), 0);
        let xml = "<sst uniqueCount=\"99999999999999999999999\"/>";
        assert_eq!(announced_strings(xml.as_bytes()).unwrap(), u64::MAX);
    }
}
