//! Whether bytes are UTF-16 without a byte order mark.
//!
//! Lists in every script have digits, delimiters and line ends, each of which has a
//! zero for its high byte: always the second byte of two, or always the first.

use super::Encoding;

/// Of so many units one at least is ASCII in a list. Names in Cyrillic have one in
/// eight even without a number; Chinese ones with a phone number one in two.
const UNITS_PER_ASCII: u64 = 16;

/// How much more often one order must fit than the other. The other fits by chance
/// where a character's low byte is zero: `一`, or the wide space of Japanese.
const LEAD: u64 = 4;

/// Of so many units one at least is ASCII where the line ends do not tell.
const UNITS_PER_ASCII_WITHOUT_LINES: u64 = 4;

/// Of so many bytes that could be line feeds one at least is one. `上` (U+4E0A) and
/// others have the same low byte, and all letters of Gujarati the same high one.
const BYTES_PER_LINE_FEED: u64 = 4;

/// Counts what speaks for UTF-16.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Utf16Evidence {
    /// Whole units, of two bytes each.
    units: u64,
    /// The first byte of a unit that the last piece ended in.
    half: Option<u8>,
    /// Bytes that could be line feeds.
    line_feeds: u64,
    /// Units that are zero altogether: padding in a file of bytes, none in UTF-16.
    padding: u64,
    /// Units that are ASCII if the low byte comes first …
    low_first: Ascii,
    /// … and if the high byte does.
    high_first: Ascii,
}

#[derive(Debug, Clone, Copy, Default)]
struct Ascii {
    printable: u64,
    line_feeds: u64,
}

impl Utf16Evidence {
    /// Takes the next piece. One without a zero costs next to nothing.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.line_feeds += memchr::memchr_iter(b'\n', bytes).count() as u64;
        let mut rest = bytes;
        if let Some((half, (first, after))) = self.half.zip(bytes.split_first()) {
            self.half = None;
            self.feed_units(&[[half, *first]]);
            rest = after;
        }
        let (units, half) = rest.as_chunks();
        if let [half] = half {
            self.half = Some(*half);
        }
        match memchr::memchr(0, rest) {
            None => self.units += units.len() as u64,
            Some(_) => self.feed_units(units),
        }
    }

    fn feed_units(&mut self, units: &[[u8; 2]]) {
        self.units += units.len() as u64;
        for unit in units {
            match unit {
                [0, 0] => self.padding += 1,
                [low, 0] => self.low_first.add(*low),
                [0, low] => self.high_first.add(*low),
                _ => {}
            }
        }
    }

    /// The order of bytes that the input is written in, if it is UTF-16.
    pub(super) fn encoding(&self) -> Option<Encoding> {
        if self.fits(self.low_first, self.high_first) {
            Some(Encoding::UTF_16LE)
        } else if self.fits(self.high_first, self.low_first) {
            Some(Encoding::UTF_16BE)
        } else {
            None
        }
    }

    fn fits(&self, these: Ascii, others: Ascii) -> bool {
        let (units, ascii) = (self.units, these.count());
        let has_lines =
            these.line_feeds > 0 && these.line_feeds * BYTES_PER_LINE_FEED >= self.line_feeds;
        let needed = if has_lines {
            units / UNITS_PER_ASCII
        } else {
            units / UNITS_PER_ASCII_WITHOUT_LINES
        };
        let leads = if has_lines {
            these.line_feeds >= LEAD * others.line_feeds
        } else {
            ascii >= LEAD * others.count()
        };
        // Two at least: a single zero is a slip in a file of bytes.
        ascii >= needed.max(2) && ascii >= LEAD * self.padding && leads
    }
}

impl Ascii {
    fn add(&mut self, low: u8) {
        match low {
            b'\n' => self.line_feeds += 1,
            b'\t' | b'\r' | b' '..=b'~' => self.printable += 1,
            _ => {}
        }
    }

    fn count(self) -> u64 {
        self.printable + self.line_feeds
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_lists;
    use super::*;

    fn found(bytes: &[u8]) -> Option<Encoding> {
        let mut evidence = Utf16Evidence::default();
        evidence.feed(bytes);
        let mut in_pieces = Utf16Evidence::default();
        bytes.chunks(3).for_each(|piece| in_pieces.feed(piece));
        assert_eq!(evidence.encoding(), in_pieces.encoding());
        evidence.encoding()
    }

    fn utf16(text: &str) -> (Vec<u8>, Vec<u8>) {
        let low_first = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let high_first = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        (low_first, high_first)
    }

    #[test]
    fn lists_in_every_script_are_known_by_their_digits_and_line_ends() {
        for list in sample_lists::ALL {
            let (low_first, high_first) = utf16(&list.csv());
            assert_eq!(
                found(&low_first),
                Some(Encoding::UTF_16LE),
                "{}",
                list.language
            );
            assert_eq!(
                found(&high_first),
                Some(Encoding::UTF_16BE),
                "{}",
                list.language
            );
        }
    }

    #[test]
    fn names_alone_are_enough() {
        for names in [
            "Имя;Город\r\nАлександр Александров;Санкт-Петербург\r\n",
            "name\n東京　太郎\n上海　一郎\n",
            "નામ;ફોન\nઆરવ પટેલ;9812345678\n",
            "name;phone",
        ] {
            let (low_first, high_first) = utf16(&names.repeat(50));
            assert_eq!(found(&low_first), Some(Encoding::UTF_16LE));
            assert_eq!(found(&high_first), Some(Encoding::UTF_16BE));
        }
    }

    #[test]
    fn stray_zeros_in_a_file_of_bytes_are_not_mistaken_for_it() {
        let rows = b"Anna,Berlin,030 1234567\r\n".repeat(40);
        assert_eq!(found(&rows), None);
        for every in [25, 26, 100, 333] {
            let mut damaged = rows.clone();
            damaged.iter_mut().step_by(every).for_each(|byte| *byte = 0);
            assert_eq!(found(&damaged), None, "every {every}");
        }
        assert_eq!(
            found(b"Anna\0\0\0\0Berlin\0\0\n".repeat(90).as_slice()),
            None
        );
        assert_eq!(found(b"a\0"), None);
        assert_eq!(found(b""), None);
    }

    #[test]
    fn rows_of_one_length_that_end_in_a_zero_are_not_mistaken_for_it() {
        let row = b"Anna;Berlin;12345\0\r\n";
        assert_eq!(row.len() % 2, 0);
        assert_eq!(found(&row.repeat(500)), None);
    }
}
