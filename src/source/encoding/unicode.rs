//! Recognizes UTF-8 and UTF-16 in an input that comes in pieces, by counting.

use super::Standard;

/// In UTF-16, at least one of this many units is ASCII: lists in every script have
/// digits, delimiters and line ends. Bytes with a stray zero here and there have fewer.
const UNITS_PER_ASCII: u64 = 8;

/// One byte order must have this many times as many ASCII units as the other. The
/// other has some by chance: `一` (U+4E00) and the wide space (U+3000) have a zero too.
const LEAD: u64 = 4;

/// Counts the zeros of UTF-16: the high byte of each ASCII character. In one byte
/// order it is always the second of two bytes, in the other always the first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Utf16Count {
    /// Whole units, of two bytes each.
    units: u64,
    /// The first byte of a unit, if the last piece ended within one.
    half: Option<u8>,
    /// Units of two zeros: padding in a file of bytes; UTF-16 text has none.
    padding: u64,
    little_endian: u64,
    big_endian: u64,
}

impl Utf16Count {
    /// Counts the next piece. A piece without a zero costs next to nothing.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if let Some((half, (first, after))) = self.half.zip(bytes.split_first()) {
            self.half = None;
            self.count(&[[half, *first]]);
            rest = after;
        }
        let (units, half) = rest.as_chunks();
        if let [half] = half {
            self.half = Some(*half);
        }
        match memchr::memchr(0, rest) {
            None => self.units += units.len() as u64,
            Some(_) => self.count(units),
        }
    }

    fn count(&mut self, units: &[[u8; 2]]) {
        let is_text = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
        self.units += units.len() as u64;
        for unit in units {
            match unit {
                [0, 0] => self.padding += 1,
                [low, 0] => self.little_endian += u64::from(is_text(*low)),
                [0, low] => self.big_endian += u64::from(is_text(*low)),
                _ => {}
            }
        }
    }

    pub(super) fn encoding(&self) -> Option<Standard> {
        let is_utf16 = |these: u64, others: u64| {
            // At least two: a single zero is an accident in a file of bytes.
            these >= (self.units / UNITS_PER_ASCII).max(2)
                && these >= LEAD * others
                && these >= LEAD * self.padding
        };
        if is_utf16(self.little_endian, self.big_endian) {
            Some(encoding_rs::UTF_16LE)
        } else if is_utf16(self.big_endian, self.little_endian) {
            Some(encoding_rs::UTF_16BE)
        } else {
            None
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Utf8Count {
    /// Characters beyond ASCII.
    pub(super) characters: u64,
    undecodable: u64,
    cut: Vec<u8>,
}

impl Utf8Count {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.cut.is_empty() && bytes.is_ascii() {
            return;
        }
        let mut joined = std::mem::take(&mut self.cut);
        joined.extend_from_slice(bytes);
        let mut rest = &joined[..];
        // `utf8_chunks` would do the same at half the speed.
        while let Err(error) = std::str::from_utf8(rest) {
            let (valid, after) = rest.split_at(error.valid_up_to());
            self.characters += count_beyond_ascii(valid);
            let Some(len) = error.error_len() else {
                self.cut = after.to_vec();
                return;
            };
            self.undecodable += len as u64;
            rest = &after[len..];
        }
        self.characters += count_beyond_ascii(rest);
    }

    pub(super) fn undecodable(&self) -> u64 {
        self.undecodable + self.cut.len() as u64
    }
}

fn count_beyond_ascii(text: &[u8]) -> u64 {
    // Counts in runs that are short enough for a `u8` sum: the compiler
    // turns these into vector instructions, which are several times as fast.
    let runs = text.chunks(usize::from(u8::MAX));
    let is_first = |byte: &u8| u8::from(*byte >= 0xC0);
    runs.map(|run| u64::from(run.iter().map(is_first).sum::<u8>()))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utf16(bytes: &[u8]) -> Option<Standard> {
        let mut count = Utf16Count::default();
        count.feed(bytes);
        let mut in_pieces = Utf16Count::default();
        bytes.chunks(3).for_each(|piece| in_pieces.feed(piece));
        assert_eq!(count.encoding(), in_pieces.encoding());
        count.encoding()
    }

    #[test]
    fn utf16_is_recognized_by_digits_and_delimiters() {
        for list in [
            "Имя;Город;Телефон\r\nАлександр Александров;Санкт-Петербург;+74951234567\r\n",
            "name,phone\n東京　太郎,0312345678\n上海　一郎,0312345679\n",
            "નામ;ફોન\nઆરવ પટેલ;9812345678\n",
            "name;phone",
        ] {
            let low_first: Vec<u8> = list.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let high_first: Vec<u8> = list.encode_utf16().flat_map(u16::to_be_bytes).collect();
            assert_eq!(utf16(&low_first), Some(encoding_rs::UTF_16LE));
            assert_eq!(utf16(&high_first), Some(encoding_rs::UTF_16BE));
        }
    }

    #[test]
    fn stray_zeros_in_a_file_of_bytes_are_not_mistaken_for_utf16() {
        let rows = b"Anna,Berlin,030 1234567\r\n".repeat(40);
        assert_eq!(utf16(&rows), None);
        for every in [25, 26, 100, 333] {
            let mut damaged = rows.clone();
            damaged.iter_mut().step_by(every).for_each(|byte| *byte = 0);
            assert_eq!(utf16(&damaged), None, "every {every}");
        }
        assert_eq!(utf16(&b"Anna;Berlin;12345\0\r\n".repeat(500)), None);
        assert_eq!(utf16(&b"Anna\0\0\0\0Berlin\0\0\n".repeat(90)), None);
        assert_eq!(utf16(b"a\0"), None);
        assert_eq!(utf16(b""), None);
    }

    fn utf8(pieces: &[&[u8]]) -> (u64, u64) {
        let mut count = Utf8Count::default();
        for piece in pieces {
            count.feed(piece);
        }
        (count.characters, count.undecodable())
    }

    #[test]
    fn characters_of_utf8_and_other_bytes_are_counted() {
        assert_eq!(utf8(&[b"abc"]), (0, 0));
        assert_eq!(utf8(&["Größe 東京 😀".as_bytes()]), (5, 0));
        assert_eq!(utf8(&[b"M\xFCller, Stra\xDFe"]), (0, 2));
        assert_eq!(utf8(&[b"\xE6\x9D"]), (0, 2));
    }

    proptest! {
        #[test]
        fn utf8_counts_do_not_depend_on_how_the_input_is_split(
            bytes in proptest::collection::vec(prop_oneof![
                any::<u8>(), Just(0xE6), Just(0x9D), Just(0xF0), Just(0x9F), Just(0xC3), Just(b'a'),
            ], 0..60),
            size in 1_usize..9,
        ) {
            let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(utf8(&pieces), utf8(&[&bytes]));
        }
    }
}
