//! Splits a number into its calling code and the national number.
//!
//! [`plans`](super::plans) has generated tables of the types defined here (so the two
//! modules refer to each other). They hold what Google's metadata says about every
//! calling code. A look-up takes nanoseconds; the library tries the patterns of one
//! country after the other. A look-up also does not need the hundred megabytes of the
//! library's compiled patterns. The tests compare every answer with the library's.

use std::collections::BTreeSet;

use rlibphonenumber::Region as LibraryRegion;

use super::plans::{CALLING_CODES, NODES};
use super::problem::Origin;
use super::{LineKind, NumberKind, PhoneNumber, PhoneProblem, Region};

/// The next step for each of the ten digits: see [`CallingCode::roots`].
pub(super) type Node = [u16; 10];

/// The numbering plan of one calling code.
#[derive(Debug)]
pub(super) struct CallingCode {
    pub code: u16,
    /// The countries that share the code, the main one first; empty if no country has it.
    pub regions: &'static [LibraryRegion],
    /// Bit n is set if a full national number can have n digits.
    pub possible_lengths: u32,
    /// Bit n is set if Google's library may change a national number of n
    /// digits by removing the prefix for calls within the country.
    pub prefixed_lengths: u32,
    /// How many digits national numbers usually have at most: as many as Google's examples of
    /// landlines and mobile numbers.
    pub usual_length: u32,
    /// The first three digits that such a prefix can begin with: inclusive ranges.
    pub prefix_beginnings: &'static [(u16, u16)],
    /// The start of the decision about country and line, indexed by the length of the national
    /// number. A value from [`FIRST_NODE`] on is the index of a node in [`NODES`] (counted from
    /// [`FIRST_NODE`]), where the next digit decides. A lower value is the answer: the low four
    /// bits are the line, the bits above are the index of the country in `regions`, counted from 1.
    pub roots: [u16; 15],
}

/// Lower values are answers; from this value on they are indexes of nodes.
const FIRST_NODE: u16 = 512;

const TENS: [u64; 16] = tens();

const fn tens() -> [u64; 16] {
    let mut tens = [1; 16];
    let mut at = 1;
    while at < tens.len() {
        tens[at] = tens[at - 1] * 10;
        at += 1;
    }
    tens
}

/// For each possible beginning of three digits: the index of its calling
/// code in [`CALLING_CODES`], counted from 1; 0 if there is none.
static BY_BEGINNING: [u8; 1000] = by_beginning();

const fn by_beginning() -> [u8; 1000] {
    let mut places = [0; 1000];
    let mut at = 0;
    while at < CALLING_CODES.len() {
        let code = CALLING_CODES[at].code as usize;
        let width = match code {
            0..10 => 100,
            10..100 => 10,
            _ => 1,
        };
        let mut beginning = code * width;
        while beginning < (code + 1) * width {
            places[beginning] = at as u8 + 1;
            beginning += 1;
        }
        at += 1;
    }
    places
}

#[derive(Debug, Clone, Copy)]
pub(super) struct National {
    pub plan: &'static CallingCode,
    value: u64,
    length: u32,
}

const MAX_AREA_DIGITS: usize = 5;

/// The answer, or the next node, after one more digit.
fn next(answer: u16, digit: u8) -> u16 {
    match answer.checked_sub(FIRST_NODE) {
        Some(node) => NODES[usize::from(node)][usize::from(digit)],
        None => answer,
    }
}

impl CallingCode {
    pub fn origin(&self) -> Origin {
        Origin {
            country: self.regions.first().copied().map(Region),
            is_shared: self.regions.len() > 1,
            calling_code: self.code,
        }
    }

    pub(super) fn has_trunk_zero(&self) -> bool {
        let mut beginnings = self.prefix_beginnings.iter();
        beginnings.any(|(lowest, _)| *lowest < 100)
    }

    /// The digits without the prefix for calls within the country; `None` if they do not begin with
    /// it. The prefix is one digit, or two if every prefix of its range begins with the same two.
    pub(super) fn without_prefix<'d>(&self, digits: &'d str) -> Option<&'d str> {
        let beginning: u16 = digits.get(..3)?.parse().ok()?;
        let is_within = |(low, high): &&(u16, u16)| (*low..=*high).contains(&beginning);
        let (low, high) = self.prefix_beginnings.iter().find(is_within)?;
        let length = if low / 10 == high / 10 { 2 } else { 1 };
        digits.get(length..)
    }

    /// Whether there is a number of a person that ends in these digits and has one to five digits
    /// of an area code before them.
    pub(super) fn has_number_ending_in(&self, digits: &[u8]) -> bool {
        let is_in_use = |answer: u16| {
            let line = digits
                .iter()
                .fold(answer, |answer, digit| next(answer, *digit));
            let line = LineKind::from_place(usize::from(line & 0xF));
            use LineKind as L;
            matches!(line, L::Fixed | L::Mobile | L::FixedOrMobile)
        };
        (1..=MAX_AREA_DIGITS).any(|area| {
            let mut answers = BTreeSet::from_iter(self.roots.get(digits.len() + area).copied());
            for _ in 0..area {
                let following = answers
                    .iter()
                    .flat_map(|answer| (0..10).map(|digit| next(*answer, digit)));
                answers = following.collect();
            }
            answers.into_iter().any(is_in_use)
        })
    }

    /// The calling code at the beginning of these digits; `None` if no
    /// country has it. Missing digits of the first three count as 0.
    pub fn beginning(digits: &str) -> Option<&'static CallingCode> {
        let mut beginning = 0;
        for place in 0..3 {
            let byte = digits.as_bytes().get(place).copied().unwrap_or(b'0');
            beginning = beginning * 10 + usize::from(byte.checked_sub(b'0')?);
        }
        let place = BY_BEGINNING.get(beginning)?.checked_sub(1)?;
        CALLING_CODES.get(usize::from(place))
    }

    /// The calling code that these digits are, without any other digits.
    pub fn written(digits: &str) -> Option<&'static CallingCode> {
        let code = digits.trim().parse::<u16>().ok()?;
        CALLING_CODES.iter().find(|known| known.code == code)
    }

    pub fn of(region: Region) -> Option<&'static CallingCode> {
        CALLING_CODES.iter().find(|code| code.is_of(region))
    }

    pub fn is_of(&self, region: Region) -> bool {
        self.regions.contains(&region.0)
    }
}

impl National {
    /// Splits the number; `None` if no country has its calling code.
    pub fn of(number: PhoneNumber) -> Option<National> {
        let digits = number.key().checked_ilog10()? + 1;
        let beginning = number.key() / TENS[digits.checked_sub(3)? as usize];
        let place = BY_BEGINNING[usize::try_from(beginning).ok()?].checked_sub(1)?;
        let plan = CALLING_CODES.get(usize::from(place))?;
        let length = digits - (u32::from(plan.code).ilog10() + 1);
        let value = number.key() % TENS[length as usize];
        Some(National {
            plan,
            value,
            length,
        })
    }

    /// Whether Google's library may read the number as another number, because
    /// the prefix for calls within the country seems to follow the calling code.
    pub fn may_have_prefix(&self) -> bool {
        if self.plan.prefixed_lengths >> self.length & 1 == 0 {
            return false;
        }
        // A number has at least seven digits, so at least four follow the calling code.
        let beginning = self.value / TENS[self.length.saturating_sub(3) as usize];
        let is_within =
            |(low, high): &(u16, u16)| (u64::from(*low)..=u64::from(*high)).contains(&beginning);
        self.plan.prefix_beginnings.iter().any(is_within)
    }

    /// Whether the calling code follows itself: it may have been put before a number that had it.
    pub fn repeats_code(&self) -> bool {
        let width = self.plan.code.ilog10() + 1;
        let beginning = self.length.checked_sub(width);
        beginning.is_some_and(|rest| self.value / TENS[rest as usize] == u64::from(self.plan.code))
    }

    /// Whether the number has no more digits than numbers of its country usually have.
    pub fn is_usual(&self) -> bool {
        self.length <= self.plan.usual_length
    }

    /// Whether no number of the country has more digits, so that none of this one can be missing.
    pub fn is_longest(&self) -> bool {
        let is_full = self.without_trunk_zero().is_none();
        is_full && self.plan.possible_lengths >> self.length == 1
    }

    /// The number without a zero at its beginning; `None` unless it has one
    /// and calls within the country begin with a zero.
    pub fn without_trunk_zero(self) -> Option<National> {
        let length = self.length.checked_sub(1)?;
        let has_zero = self.value < TENS[length as usize] && self.plan.has_trunk_zero();
        has_zero.then_some(National { length, ..self })
    }

    /// Checks whether numbers of the country can have this many digits, as Google's
    /// `isPossibleNumber` does. Numbers that can only be dialled locally are too short. If several
    /// countries share a code, the lengths are those of the main country, as in Google's library.
    pub fn check_length(&self) -> Result<(), PhoneProblem> {
        let possible = self.plan.possible_lengths;
        if possible >> self.length & 1 == 1 {
            return Ok(());
        }
        let origin = self.plan.origin();
        Err(if self.length < possible.trailing_zeros() {
            PhoneProblem::TooShort(origin)
        } else if self.has_old_prefix() {
            PhoneProblem::OldPrefix(origin)
        } else if possible >> self.length == 0 {
            PhoneProblem::TooLong(origin)
        } else {
            PhoneProblem::WrongLength(origin)
        })
    }

    /// Mexico dialled a 1 before mobile numbers from abroad until 2019, and many lists still have it.
    fn has_old_prefix(&self) -> bool {
        self.plan.code == 52 && self.length == 11 && self.value / TENS[10] == 1
    }

    pub fn kind(&self) -> NumberKind {
        let mut answer = self.plan.roots[self.length as usize];
        for ten in TENS[..self.length as usize].iter().rev() {
            if answer < FIRST_NODE {
                break;
            }
            answer = next(answer, (self.value / ten % 10) as u8);
        }
        let country = usize::from(answer >> 4).checked_sub(1);
        NumberKind {
            country: country
                .and_then(|at| self.plan.regions.get(at))
                .copied()
                .map(Region),
            calling_code: self.plan.code,
            line: LineKind::from_place(usize::from(answer & 0xF)),
        }
    }
}
