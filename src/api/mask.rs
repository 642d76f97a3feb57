//! Finds secrets in a text, in any of their spellings.
//!
//! A service may echo a part of a token, escaped as in an address, in HTML or in JSON. So any
//! run of twelve of its characters is looked for, and each character may be spelled in another way,
//! also more than once (`%2541`, `&amp;#65;`). In base64 a character has no spelling of its own: those
//! of a group of three depend on each other, so a secret has three forms there, which are looked for
//! like the secret itself.

use std::collections::{HashMap, HashSet};
use std::fmt;

use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD, Engine};

const MASK: &str = "[token]";

/// So many characters of a secret are not shown.
const RUN: usize = 12;

/// So many characters of base64 say nothing but a run, wherever in a group it begins.
const RUN_IN_BASE64: usize = 15;

/// How long a secret must be to be looked for in base64: what a shorter one is there may be in any text.
const MIN_IN_BASE64: usize = 8;

/// More of a text is not read, and not shown.
const MAX_BYTES: usize = 16 * 1024;

/// How many readings are followed from one place: so much is no text, but made to take time.
const MAX_READINGS: usize = 16;

/// A byte that can be read at a place, and where the text goes on.
type Reading = (u8, usize);

/// The text of a secret in one of its forms, and how much of it is not shown.
struct Form {
    text: Vec<u8>,
    run: usize,
}

/// Secrets of graphic ASCII characters, which it never prints.
pub(super) struct Secrets {
    forms: Vec<Form>,
    /// Each place in a form where a run may begin, in the order of the texts from there on.
    begins: Vec<(usize, usize)>,
    shortest_run: usize,
    /// How all runs may start, as much as the shortest has.
    starts: HashSet<Vec<u8>>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    pub(super) fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Secrets {
        let mut forms = Vec::new();
        for secret in secrets {
            let mut add = |text: &[u8], most: usize| {
                let (text, run) = (text.to_vec(), most.min(text.len()));
                forms.push(Form { text, run });
            };
            add(secret.as_bytes(), RUN);
            if secret.len() < MIN_IN_BASE64 {
                continue;
            }
            for before in 0..3 {
                let padded = [&[0; 3][..before], secret.as_bytes()].concat();
                // Without the characters that also depend on what is before or behind it.
                let own = (before * 8).div_ceil(6)..padded.len() * 8 / 6;
                for text in [
                    BASE64_STANDARD_NO_PAD.encode(&padded),
                    BASE64_URL_SAFE_NO_PAD.encode(&padded),
                ] {
                    add(&text.as_bytes()[own.clone()], RUN_IN_BASE64);
                }
            }
        }
        let places = forms.iter().enumerate();
        let mut begins: Vec<(usize, usize)> = places
            .flat_map(|(at, form)| (0..=form.text.len() - form.run).map(move |from| (at, from)))
            .collect();
        begins.sort_by_key(|(form, from)| &forms[*form].text[*from..]);
        let shortest_run = forms.iter().map(|form| form.run).min().unwrap_or_default();
        let starts = begins
            .iter()
            .map(|(form, from)| forms[*form].text[*from..][..shortest_run].to_vec())
            .collect();
        Secrets {
            forms,
            begins,
            shortest_run,
            starts,
        }
    }

    /// The text with all runs replaced.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut ends = (0..=text.len().min(MAX_BYTES)).rev();
        let end = ends.find(|end| text.is_char_boundary(*end));
        let text = &text[..end.unwrap_or_default()];
        let read = Text::new(text);
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            match self.end_of_run(&read, at) {
                Some(end) => {
                    shown.push_str(MASK);
                    at = end;
                }
                None => {
                    shown.push(first);
                    at += first.len_utf8();
                }
            }
        }
        shown
    }

    /// Where the longest run ends that begins at this place.
    fn end_of_run(&self, text: &Text<'_>, at: usize) -> Option<usize> {
        let shortest = text.bytes.get(at..at + self.shortest_run)?;
        // Nearly all texts are these: the id of a lead, without an escape and without a secret.
        if text.escapes.is_empty() && !self.starts.contains(shortest) {
            return None;
        }
        let mut end = None;
        // Where the text goes on, and the places in forms from which all that was read is there.
        let mut paths = vec![(at, 0, self.begins.len())];
        for length in 1.. {
            let narrowed = paths.iter().flat_map(|(at, first, last)| {
                let readings = text.readings(*at);
                readings.filter_map(|(byte, on)| {
                    let (first, last) = self.narrowed(*first, *last, length - 1, byte);
                    (first < last).then_some((on, first, last))
                })
            });
            let mut narrowed: Vec<(usize, usize, usize)> = narrowed.collect();
            narrowed.sort_unstable();
            narrowed.dedup();
            let is_run = |(form, _): &(usize, usize)| self.forms[*form].run <= length;
            let runs = narrowed
                .iter()
                .filter(|(_, first, last)| self.begins[*first..*last].iter().any(is_run));
            end = end.max(runs.map(|(on, ..)| *on).max());
            paths = narrowed;
            if paths.is_empty() {
                break;
            }
        }
        end
    }

    /// Those of the places in forms `first..last` that have this byte so far behind them.
    fn narrowed(&self, first: usize, last: usize, behind: usize, byte: u8) -> (usize, usize) {
        let places = &self.begins[first..last];
        let there =
            |(form, from): &(usize, usize)| self.forms[*form].text.get(from + behind).copied();
        let less = places.partition_point(|place| there(place) < Some(byte));
        let same = places[less..].partition_point(|place| there(place) == Some(byte));
        (first + less, first + less + same)
    }
}

/// A text with all its readings.
struct Text<'t> {
    bytes: &'t [u8],
    /// The readings of escapes, by the place where they begin.
    escapes: HashMap<usize, Vec<Reading>>,
}

impl Text<'_> {
    fn new(text: &str) -> Text<'_> {
        let mut read = Text {
            bytes: text.as_bytes(),
            escapes: HashMap::new(),
        };
        // From the end, since an escape may be made of others.
        for (at, byte) in text.bytes().enumerate().rev() {
            if matches!(byte, b'%' | b'&' | b'\\') {
                let found = read.escapes_at(at, byte);
                if !found.is_empty() {
                    read.escapes.insert(at, found);
                }
            }
        }
        read
    }

    fn readings(&self, at: usize) -> impl Iterator<Item = Reading> {
        let itself = self.bytes.get(at).map(|byte| (*byte, at + 1));
        let escapes = self.escapes.get(&at).into_iter().flatten().copied();
        itself.into_iter().chain(escapes)
    }

    /// The characters that an escape, or several in one another, may mean that begins with this byte.
    fn escapes_at(&self, at: usize, byte: u8) -> Vec<Reading> {
        let mut found = vec![(byte, at + 1)];
        let mut known = 0;
        while known < found.len().min(MAX_READINGS) {
            let (byte, on) = found[known];
            for reading in self.escape(byte, on) {
                if !found.contains(&reading) {
                    found.push(reading);
                }
            }
            known += 1;
        }
        found.truncate(MAX_READINGS);
        // That is no escape.
        found.remove(0);
        found
    }

    /// The characters that one escape may mean that begins with this byte, before `at`.
    fn escape(&self, byte: u8, at: usize) -> Vec<Reading> {
        let numbers = match byte {
            b'%' => self.digits(at, 16, 2..=2),
            b'\\' => {
                let others = self
                    .readings(at)
                    .filter(|(byte, _)| byte.is_ascii_punctuation());
                let others = others.map(|(byte, on)| (u32::from(byte), on));
                let numbers = self
                    .behind(at, b"u")
                    .flat_map(|at| self.digits(at, 16, 4..=4));
                others.chain(numbers).collect()
            }
            b'&' => self.entity(at),
            _ => Vec::new(),
        };
        let graphic = |(number, on)| Some((u8::try_from(number).ok()?, on));
        let graphic = numbers.into_iter().filter_map(graphic);
        graphic
            .filter(|(byte, _)| byte.is_ascii_graphic())
            .collect()
    }

    /// The characters that an entity of HTML may mean, of which the `&` is read. Browsers read many without a `;` too.
    fn entity(&self, at: usize) -> Vec<(u32, usize)> {
        let word = self.bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic());
        let end = at + word.count();
        let named = ENTITIES
            .iter()
            .filter(|(name, _)| name.as_bytes() == &self.bytes[at..end]);
        let mut found: Vec<(u32, usize)> = named.map(|(_, byte)| (u32::from(*byte), end)).collect();
        for at in self.behind(at, b"#") {
            found.extend(self.digits(at, 10, 2..=8));
            let hex = self.behind(at, b"xX");
            found.extend(hex.flat_map(|at| self.digits(at, 16, 2..=8)));
        }
        let closed: Vec<_> = found
            .iter()
            .flat_map(|(number, at)| self.behind(*at, b";").map(|on| (*number, on)))
            .collect();
        found.extend(closed);
        found
    }

    /// Where the text goes on behind one of these bytes.
    fn behind<'s>(&'s self, at: usize, bytes: &'s [u8]) -> impl Iterator<Item = usize> + 's {
        let readings = self.readings(at).filter(|(byte, _)| bytes.contains(byte));
        readings.map(|(_, on)| on)
    }

    /// The numbers that are written at this place with so many digits, and where the text goes on.
    fn digits(
        &self,
        at: usize,
        radix: u32,
        counts: std::ops::RangeInclusive<usize>,
    ) -> Vec<(u32, usize)> {
        let mut found = Vec::new();
        let mut numbers = vec![(0, at)];
        for count in 1..=*counts.end() {
            let longer = numbers.iter().flat_map(|(number, at)| {
                let digits = self.readings(*at);
                digits.filter_map(move |(byte, on)| {
                    Some((number * radix + char::from(byte).to_digit(radix)?, on))
                })
            });
            numbers = longer.take(MAX_READINGS).collect();
            if counts.contains(&count) {
                found.extend(&numbers);
            }
        }
        found
    }
}

/// The names that HTML has for graphic ASCII characters.
#[rustfmt::skip]
const ENTITIES: [(&str, u8); 43] = [
    ("excl", b'!'), ("quot", b'"'), ("QUOT", b'"'), ("num", b'#'), ("dollar", b'$'), ("percnt", b'%'),
    ("amp", b'&'), ("AMP", b'&'), ("apos", b'\''), ("lpar", b'('), ("rpar", b')'), ("ast", b'*'),
    ("midast", b'*'), ("plus", b'+'), ("comma", b','), ("period", b'.'), ("sol", b'/'), ("colon", b':'),
    ("semi", b';'), ("lt", b'<'), ("LT", b'<'), ("equals", b'='), ("gt", b'>'), ("GT", b'>'),
    ("quest", b'?'), ("commat", b'@'), ("lsqb", b'['), ("lbrack", b'['), ("bsol", b'\\'), ("rsqb", b']'),
    ("rbrack", b']'), ("Hat", b'^'), ("lowbar", b'_'), ("UnderBar", b'_'), ("grave", b'`'),
    ("DiacriticalGrave", b'`'), ("lcub", b'{'), ("lbrace", b'{'), ("verbar", b'|'), ("vert", b'|'),
    ("VerticalLine", b'|'), ("rcub", b'}'), ("rbrace", b'}'),
];

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;
