//! The two code pages of DOS that western lists are still written in: Excel's "CSV (MS-DOS)", old
//! cash registers. The Encoding Standard has neither.

use std::io::{self, BufRead, BufReader, Read};

/// A code page of DOS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DosPage {
    /// Western Europe.
    Cp850,
    /// The United States, and lists from before 1987.
    Cp437,
}

/// The characters of the bytes from 80 to FF (Unicode's mappings CP850.TXT and CP437.TXT).
const CP850: &str = "\
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒ\
    áíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀\
    ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}";
const CP437: &str = "\
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒ\
    áíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
    αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";

impl DosPage {
    pub(super) fn named(label: &str) -> Option<DosPage> {
        let label = label.trim().to_ascii_lowercase();
        let number = ["cp", "ibm", "csibm"]
            .iter()
            .find_map(|prefix| label.strip_prefix(prefix));
        match number.unwrap_or(&label).trim_start_matches(['-', '_']) {
            "850" => Some(DosPage::Cp850),
            "437" => Some(DosPage::Cp437),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            DosPage::Cp850 => "cp850",
            DosPage::Cp437 => "cp437",
        }
    }

    pub(super) fn decode(self, bytes: &[u8]) -> String {
        let high = self.high_characters();
        let character = |byte: &u8| match byte.checked_sub(0x80) {
            None => char::from(*byte),
            Some(at) => high[usize::from(at)],
        };
        bytes.iter().map(character).collect()
    }

    fn high_characters(self) -> [char; 128] {
        let text = match self {
            DosPage::Cp850 => CP850,
            DosPage::Cp437 => CP437,
        };
        let mut characters = ['\u{FFFD}'; 128];
        characters
            .iter_mut()
            .zip(text.chars())
            .for_each(|(to, from)| *to = from);
        characters
    }
}

/// Decodes its input to UTF-8. Every byte has a character.
pub(super) struct DosReader<R> {
    input: BufReader<R>,
    page: DosPage,
    text: io::Cursor<String>,
}

impl<R: Read> DosReader<R> {
    pub(super) fn new(input: R, page: DosPage) -> Self {
        DosReader {
            input: BufReader::new(input),
            page,
            text: io::Cursor::default(),
        }
    }
}

impl<R: Read> Read for DosReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        let bytes = self.input.fill_buf()?;
        let len = bytes.len();
        self.text = io::Cursor::new(self.page.decode(bytes));
        self.input.consume(len);
        self.text.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_character_and_letters_are_right() {
        for page in [DosPage::Cp850, DosPage::Cp437] {
            let characters = page.decode(&(0..=255).collect::<Vec<u8>>());
            let distinct: std::collections::BTreeSet<char> = characters.chars().collect();
            assert_eq!(
                (distinct.len(), distinct.contains(&'\u{FFFD}')),
                (256, false)
            );
            assert_eq!(
                page.decode(b"Jos\x82 Pe\xA4a, M\x81ller, Stra\xE1e"),
                "José Peña, Müller, Straße"
            );
        }
        assert_eq!(
            DosPage::Cp850.decode(b"Jo\xC6o, S\x9Bren, \x9D"),
            "João, Søren, Ø"
        );
    }

    #[test]
    fn a_page_is_known_by_its_usual_names() {
        for label in [
            "cp850", "CP850", "IBM850", "850", "cp-850", "ibm_850", " cp850 ",
        ] {
            assert_eq!(DosPage::named(label), Some(DosPage::Cp850), "{label}");
        }
        for label in ["cp437", "ibm437", "437", "IBM-437", "csIBM437"] {
            assert_eq!(DosPage::named(label), Some(DosPage::Cp437), "{label}");
        }
        for label in ["", "cp", "85", "cp8500", "dos", "cp852"] {
            assert_eq!(DosPage::named(label), None, "{label}");
        }
    }
}
