//! Which of the many encodings that are no Unicode an input is in.
//!
//! `chardetng`, the detector of Firefox, knows nearly all of them by which letters
//! follow which in the languages that they are for. It does not know those of the
//! Mac, which Excel there still writes, and takes them for those of Windows.
//!
//! It is slow, so it is given the lines that can tell it anything, and of these no
//! more than it needs. The words of all lines are looked at for the Mac's sake.

use std::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use super::Encoding;
use super::word_fit::WordFit;

/// How many times as many words as those of a Mac must be wrong in the encoding that
/// was guessed before the Mac's is preferred.
const LEAD: u64 = 4;

/// How much the detector is given at most, in bytes. It takes a second for ten million,
/// and what a hundred thousand letters have not told a million will not tell either.
/// Lines of ASCII alone tell it nothing and do not count.
const DETECTOR_BYTES: u64 = 4 << 20;

/// How much the detector is given of a line before its first letter beyond ASCII.
const CONTEXT_BYTES: usize = 64;

const ESCAPE: u8 = 0x1B;

/// Looks at all letters of an input that is known to be no Unicode, in pieces of any
/// size, and tells what it is most likely written in. Keeps counts only.
pub struct LegacyGuess {
    detector: EncodingDetector,
    /// How many bytes the detector has been given.
    given: u64,
    /// Whether the rest of the line goes to the detector.
    is_wanted: bool,
    /// The end of what the line has begun with, as long as that is ASCII.
    context: Vec<u8>,
    words: Vec<WordFit>,
    /// How many bytes were beyond ASCII.
    letters: u64,
    /// The last two bytes of the input so far.
    last: [u8; 2],
}

impl LegacyGuess {
    /// A guess that has seen nothing yet.
    pub fn new() -> Self {
        let macs = [Encoding::MACINTOSH, Encoding::X_MAC_CYRILLIC];
        let mistakable = MISTAKABLE.iter().map(|(encoding, _)| *encoding);
        LegacyGuess {
            // Nothing here runs scripts, which is why browsers may not allow it.
            detector: EncodingDetector::new(Iso2022JpDetection::Allow),
            given: 0,
            is_wanted: false,
            context: Vec::new(),
            words: macs
                .into_iter()
                .chain(mistakable)
                .map(WordFit::of)
                .collect(),
            letters: 0,
            last: *b"\n\n",
        }
    }

    /// Takes the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.feed_line(line);
        }
        self.letters += bytes.iter().filter(|byte| !byte.is_ascii()).count() as u64;
        self.feed_words(bytes);
    }

    /// How many bytes beyond ASCII it has seen.
    pub fn letters(&self) -> u64 {
        self.letters
    }

    /// The most likely encoding.
    pub fn finish(mut self) -> Encoding {
        self.detector.feed(b"", true);
        self.feed_words(b"\n");
        let guess = self.detector.guess(None, Utf8Detection::Deny);
        let guess = Encoding::new(guess).unwrap_or(Encoding::WINDOWS_1252);
        self.mac(guess).unwrap_or(guess)
    }

    /// Takes a line or a part of one. No encoding has line feeds within characters.
    fn feed_line(&mut self, line: &[u8]) {
        let mut rest = line;
        if !self.is_wanted {
            let plain = encoding_rs::Encoding::ascii_valid_up_to(line);
            let plain = memchr::memchr(ESCAPE, &line[..plain]).unwrap_or(plain);
            let (before, after) = line.split_at(plain);
            self.context
                .extend_from_slice(&before[before.len().saturating_sub(CONTEXT_BYTES)..]);
            let surplus = self.context.len().saturating_sub(CONTEXT_BYTES);
            self.context.drain(..surplus);
            if !after.is_empty() {
                let context = std::mem::take(&mut self.context);
                self.give(&context);
                self.is_wanted = true;
            }
            rest = after;
        }
        self.give(rest);
        if line.ends_with(b"\n") {
            self.is_wanted = false;
            self.context.clear();
        }
    }

    fn give(&mut self, bytes: &[u8]) {
        if self.given < DETECTOR_BYTES {
            self.detector.feed(bytes, false);
            self.given += bytes.len() as u64;
        }
    }

    fn feed_words(&mut self, bytes: &[u8]) {
        // The first two bytes have neighbours in the piece before.
        let (first, _) = bytes.split_at(bytes.len().min(2));
        let mut seam = [self.last[0], self.last[1], 0, 0];
        seam[2..2 + first.len()].copy_from_slice(first);
        let seam = &seam[..2 + first.len()];
        self.feed_run(seam);
        self.feed_run(bytes);
        match bytes.last_chunk() {
            Some(last) => self.last = *last,
            None => self.last.copy_from_slice(&seam[seam.len() - 2..]),
        }
    }

    /// Looks at all but the first and the last byte of `run`.
    fn feed_run(&mut self, run: &[u8]) {
        let mut at = 1;
        while at + 1 < run.len() {
            at += encoding_rs::Encoding::ascii_valid_up_to(&run[at..run.len() - 1]);
            if let [before, byte, after, ..] = run[at - 1..]
                && !byte.is_ascii()
            {
                for words in &mut self.words {
                    words.feed(before, byte, after);
                }
            }
            at += 1;
        }
    }

    /// The Mac's encoding for the alphabet of `guess`, if the words fit it and do not
    /// fit that.
    fn mac(&self, guess: Encoding) -> Option<Encoding> {
        let (_, mac) = MISTAKABLE.iter().find(|(encoding, _)| *encoding == guess)?;
        (self.misfits(guess)? > LEAD * self.misfits(*mac)?).then_some(*mac)
    }

    fn misfits(&self, encoding: Encoding) -> Option<u64> {
        let words = self.words.iter().find(|words| words.encoding() == encoding);
        words.map(WordFit::misfits)
    }
}

/// What text in the encoding of a Mac may be taken for, with that.
const MISTAKABLE: &[(Encoding, Encoding)] = &[
    (Encoding::WINDOWS_1252, Encoding::MACINTOSH),
    (Encoding::WINDOWS_1250, Encoding::MACINTOSH),
    (Encoding::WINDOWS_1254, Encoding::MACINTOSH),
    (Encoding::WINDOWS_1257, Encoding::MACINTOSH),
    (Encoding::WINDOWS_1258, Encoding::MACINTOSH),
    (Encoding::WINDOWS_1251, Encoding::X_MAC_CYRILLIC),
];

impl fmt::Debug for LegacyGuess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LegacyGuess")
            .field("words", &self.words)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_lists::{self, encoded, in_language};
    use super::*;

    fn guessed(bytes: &[u8]) -> Encoding {
        let mut guess = LegacyGuess::new();
        guess.feed(bytes);
        let whole = guess.finish();
        for size in [1, 3] {
            let mut guess = LegacyGuess::new();
            bytes.chunks(size).for_each(|piece| guess.feed(piece));
            assert_eq!(whole, guess.finish());
        }
        whole
    }

    fn read_as_guessed(bytes: &[u8]) -> (Encoding, String) {
        let guess = guessed(bytes);
        let text = guess.inner().decode_without_bom_handling(bytes).0;
        (guess, text.into_owned())
    }

    /// What it has to be is the text: many encodings have most letters in common.
    #[test]
    fn lists_in_every_language_are_read_right() {
        for list in sample_lists::ALL {
            for label in list.labels {
                let (guess, text) = read_as_guessed(&encoded(&list.csv(), label));
                assert_eq!(text, list.csv(), "{} in {label}: {guess}", list.language);
            }
        }
    }

    /// The two that are left out are known to fail: Italian has its accents at the
    /// end of a word, where a sign may stand; and the capitals of a Mac's Cyrillic
    /// are those of IBM866 but for `Ё`.
    #[test]
    fn lists_in_capitals_are_read_right() {
        for list in sample_lists::ALL {
            for label in list.labels {
                if matches!(
                    (list.language, *label),
                    ("Italian", "macintosh") | (_, "x-mac-cyrillic")
                ) {
                    continue;
                }
                let capitals = list.csv().to_uppercase();
                let (guess, text) = read_as_guessed(&encoded(&capitals, label));
                assert_eq!(text, capitals, "{} in {label}: {guess}", list.language);
            }
        }
    }

    #[test]
    fn five_rows_of_a_western_list_are_enough() {
        for language in [
            "German",
            "French",
            "Spanish",
            "Portuguese",
            "Italian",
            "Swedish",
        ] {
            let csv = in_language(language).csv();
            let rows: String = csv.split_inclusive('\n').take(6).collect();
            for label in ["windows-1252", "macintosh"] {
                let (guess, text) = read_as_guessed(&encoded(&rows, label));
                assert_eq!(text, rows, "{language} in {label}: {guess}");
            }
        }
    }

    #[test]
    fn capitals_by_a_database_that_knows_ascii_only_stay_windows() {
        for language in ["German", "French", "Spanish", "Portuguese", "Danish"] {
            for changed in [str::to_ascii_uppercase, str::to_ascii_lowercase] {
                let csv = changed(&in_language(language).csv());
                let guess = guessed(&encoded(&csv, "windows-1252"));
                assert_eq!(guess, Encoding::WINDOWS_1252, "{language}");
            }
        }
    }

    #[test]
    fn apostrophes_and_quotes_of_windows_are_none_of_a_mac() {
        let bytes = "Kevin O\u{92}Brien;\u{93}Acme\u{94} Ltd.;5 \u{80};Acme\u{95}Corp\n".repeat(30);
        let bytes: Vec<u8> = bytes.chars().map(|c| c as u8).collect();
        assert_eq!(guessed(&bytes), Encoding::WINDOWS_1252);
    }

    /// No DOS code page but IBM866 is one of the standard's: such a list is read with
    /// undecodable bytes, which is told, rather than as a Mac's, which is not.
    #[test]
    fn a_list_from_dos_is_not_taken_for_that_of_a_mac() {
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
        assert_ne!(guessed(&bytes), Encoding::MACINTOSH);
    }

    #[test]
    fn slovenian_letters_that_windows_1252_has_are_read_right() {
        let csv = in_language("Slovenian without č").csv();
        for label in ["windows-1250", "windows-1252"] {
            let (_, text) = read_as_guessed(&encoded(&csv, label));
            assert_eq!(text, csv);
        }
    }

    #[test]
    fn japanese_in_escape_sequences_is_known() {
        let csv = in_language("Japanese").csv();
        assert_eq!(
            guessed(&encoded(&csv, "iso-2022-jp")),
            Encoding::ISO_2022_JP
        );
    }
}
