//! Tells apart the many encodings that are not Unicode.
//!
//! `chardetng`, the detector of Firefox, recognizes them by which letters follow which.
//! It does not know the Mac encodings, in which Excel for Mac writes its plain "CSV".
//! It takes such a list for the Windows encoding, and the text is full of `MŸller` and
//! `JosŽ`. So if it guesses one of these Windows encodings, the words decide.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use super::Standard as Encoding;
use super::dos::DosPage;

/// How many bytes are kept, of lines with letters beyond ASCII. The detector takes a
/// second for ten million bytes, and learns no more from them than from a million.
const SAMPLE_BYTES: usize = 1 << 20;

/// Pairs of a Windows encoding and the Mac encoding that is mistaken for it.
static MACS: [(Encoding, Encoding); 2] = [
    (encoding_rs::WINDOWS_1252, encoding_rs::MACINTOSH),
    (encoding_rs::WINDOWS_1251, encoding_rs::X_MAC_CYRILLIC),
];

/// The Mac encoding is preferred only if the Windows encoding gives more
/// than this many times as many misfits.
const LEAD: usize = 4;

/// The lines of an input that have letters beyond ASCII, as many as are
/// needed. The other lines are the same in every encoding.
#[derive(Debug, Default)]
pub(super) struct LegacySample {
    lines: Vec<u8>,
    /// Whether the last piece ended within a line that is kept.
    is_within_line: bool,
}

impl LegacySample {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if !self.is_within_line && bytes.is_ascii() {
            return;
        }
        // In no encoding is a line feed part of a character.
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.lines.len() >= SAMPLE_BYTES {
                return;
            }
            if self.is_within_line || !line.is_ascii() {
                self.lines.extend_from_slice(line);
                self.is_within_line = !line.ends_with(b"\n");
            }
        }
    }

    /// How many bytes of the sample are beyond ASCII.
    pub(super) fn letters(&self) -> u64 {
        self.lines.iter().filter(|byte| !byte.is_ascii()).count() as u64
    }

    /// Whether the letters make more sense in the DOS code page of western Europe than in the
    /// encoding that was guessed. The code page of the United States has the usual ones at the
    /// same places.
    pub(super) fn is_like_dos(&self, guess: Encoding) -> bool {
        let dos = DosPage::Cp850.decode(&self.lines);
        let others = || dos.chars().filter(|c| !c.is_ascii());
        let western = others().filter(|c| is_western(*c)).count();
        let text = guess.decode_without_bom_handling(&self.lines).0;
        10 * western >= 9 * others().count() && misfits(&text) > LEAD * misfits(&dos)
    }

    pub(super) fn guess(&self) -> Encoding {
        // A list in ISO-2022-JP is all ASCII bytes, so it never reaches this detector.
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        // `false`: this is not the end, because the sample may end within a character.
        detector.feed(&self.lines, false);
        let guess = detector.guess(None, Utf8Detection::Deny);
        let misfits =
            |encoding: Encoding| misfits(&encoding.decode_without_bom_handling(&self.lines).0);
        let mac = MACS.iter().find(|(windows, _)| *windows == guess);
        mac.map(|(_, mac)| *mac)
            .filter(|mac| misfits(guess) > LEAD * misfits(*mac))
            .unwrap_or(guess)
    }
}

/// Whether a character is one that words in a western language are written with.
fn is_western(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '¡' | '¿' | '·' | '«' | '»' | '°' | '§' | '´')
}

/// How many characters are in odd places: in the wrong encoding an accented letter
/// becomes a sign or a capital in the middle of a word, as in `Stra§e`, `JosŽ`, `MŸller`.
fn misfits(text: &str) -> usize {
    let (mut before, mut misfits) = (' ', 0);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if !c.is_ascii() {
            let after = characters.peek().copied().unwrap_or(' ');
            misfits += usize::from(is_misfit(before, c, after));
        }
        before = c;
    }
    misfits
}

fn is_misfit(before: char, c: char, after: char) -> bool {
    if !is_letter(before) {
        return false;
    }
    match c {
        // Databases that only know ASCII write `MüLLER`, so a small letter may be anywhere.
        c if is_letter(c) => c.is_uppercase() && (before.is_lowercase() || after.is_lowercase()),
        // An undefined byte, or an accent by itself.
        '\u{80}'..='\u{9F}' | '‚' | '„' | 'ƒ' | '¯' | '¸' | 'ˆ'..='˝' => true,
        // As in O’Brien, O´Brien, Mª, nº.
        '\u{A0}' | '\u{AD}' | '‘' | '’' | '´' | 'ª' | 'º' => false,
        // `Acme•Corp` is two words.
        _ => is_letter(after) && !(before.is_lowercase() && after.is_uppercase()),
    }
}

/// Whether the character is a letter of a language that these encodings are for.
fn is_letter(c: char) -> bool {
    matches!(c, 'a'..='z' | 'A'..='Z' | 'À'..='ž' | 'Ѐ'..='џ') && c.is_alphabetic() && c != 'ı'
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, encoded, in_language};
    use super::*;

    fn guessed(bytes: &[u8]) -> Encoding {
        let mut sample = LegacySample::default();
        sample.feed(bytes);
        sample.guess()
    }

    fn read_as_guessed(bytes: &[u8]) -> (Encoding, String) {
        let guess = guessed(bytes);
        let text = guess.decode_without_bom_handling(bytes).0;
        (guess, text.into_owned())
    }

    /// Compares the text, not the encoding: many encodings share most letters.
    #[test]
    fn lists_in_every_language_are_read_right() {
        for list in samples::ALL {
            for label in list.labels {
                let (guess, text) = read_as_guessed(&encoded(&list.csv(), label));
                assert_eq!(text, list.csv(), "{} in {label}: {guess:?}", list.language);
            }
        }
    }

    /// Two cases that are known to fail are left out. Italian has its
    /// accents at the end of a word, where a sign may be. The capitals of
    /// the Mac's Cyrillic encoding are those of IBM866, except for `Ё`.
    #[test]
    fn lists_in_capitals_are_read_right() {
        for list in samples::ALL {
            for label in list.labels {
                if matches!(
                    (list.language, *label),
                    ("Italian", "macintosh") | (_, "x-mac-cyrillic")
                ) {
                    continue;
                }
                let capitals = list.csv().to_uppercase();
                let (guess, text) = read_as_guessed(&encoded(&capitals, label));
                assert_eq!(text, capitals, "{} in {label}: {guess:?}", list.language);
            }
        }
    }

    #[test]
    fn two_rows_of_a_western_list_are_enough() {
        for language in [
            "German",
            "French",
            "Spanish",
            "Portuguese",
            "Italian",
            "Swedish",
        ] {
            let csv = in_language(language).csv();
            let rows: String = csv.split_inclusive('\n').take(3).collect();
            for label in ["windows-1252", "macintosh"] {
                let (guess, text) = read_as_guessed(&encoded(&rows, label));
                assert_eq!(text, rows, "{language} in {label}: {guess:?}");
            }
        }
    }

    #[test]
    fn text_changed_by_ascii_only_case_conversion_stays_windows_1252() {
        for language in ["German", "French", "Spanish", "Portuguese", "Danish"] {
            for changed in [str::to_ascii_uppercase, str::to_ascii_lowercase] {
                let csv = changed(&in_language(language).csv());
                let guess = guessed(&encoded(&csv, "windows-1252"));
                assert_eq!(guess, encoding_rs::WINDOWS_1252, "{language}");
            }
        }
    }

    #[test]
    fn windows_quotes_are_not_taken_for_mac_ones() {
        let bytes = "Kevin O\u{92}Brien;\u{93}Acme\u{94} Ltd.;5 \u{80};Acme\u{95}Corp\n".repeat(30);
        let bytes: Vec<u8> = bytes.chars().map(|c| c as u8).collect();
        assert_eq!(guessed(&bytes), encoding_rs::WINDOWS_1252);
    }

    /// The standard has no DOS code page but IBM866. So a list in another
    /// one is decoded with undecodable bytes, which are reported. Read as a
    /// Mac encoding it would be wrong without a report.
    #[test]
    fn a_list_from_dos_is_not_taken_for_one_from_a_mac() {
        let csv = in_language("German").csv();
        let dos = "\u{81}\u{84}\u{94}\u{8E}\u{99}\u{9A}\u{E1}";
        let bytes: Vec<u8> = csv
            .chars()
            .map(|c| {
                "üäöÄÖÜß"
                    .chars()
                    .position(|umlaut| umlaut == c)
                    .map_or(c, |at| dos.chars().nth(at).unwrap())
            })
            .map(|c| c as u8)
            .collect();
        assert_ne!(guessed(&bytes), encoding_rs::MACINTOSH);
    }

    #[test]
    fn slovenian_letters_that_windows_1252_has_are_read_right() {
        let csv = in_language("Slovenian without č").csv();
        for label in ["windows-1250", "windows-1252"] {
            let (_, text) = read_as_guessed(&encoded(&csv, label));
            assert_eq!(text, csv);
        }
    }
}
