//! Splits a number into its calling code and the national number.
//!
//! [`plans`](super::plans) has generated tables of the types defined here (so the two
//! modules refer to each other). They hold what Google's metadata says about every
//! calling code. A look-up takes nanoseconds; the library tries the patterns of one
//! country after the other. A look-up also does not need the hundred megabytes of the
//! library's compiled patterns. The tests compare every answer with the library's.

use std::collections::BTreeSet;

use rlibphonenumber::Region as LibraryRegion;

use std::sync::LazyLock;

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
    /// Whether Google's library takes a zero off what is dialled within the main country, and
    /// nothing else, if one zero is at its beginning.
    pub has_plain_zero: bool,
    /// The start of the decision about country and line, indexed by the length of the national
    /// number. A value from [`FIRST_NODE`] on is the index of a node in [`NODES`] (counted from
    /// [`FIRST_NODE`]), where the next digit decides. A lower value is the answer: the low four
    /// bits are the line, the bits above are the index of the country in `regions`, counted from 1.
    pub roots: [u16; 15],
}

/// Lower values are answers; from this value on they are indexes of nodes.
const FIRST_NODE: u16 = 512;

/// The plan of a number whose calling code no country has, and of a country without one.
static NO_PLAN: CallingCode = CallingCode {
    code: 0,
    regions: &[],
    possible_lengths: 0,
    prefixed_lengths: 0,
    usual_length: 0,
    prefix_beginnings: &[],
    has_plain_zero: false,
    roots: [LineKind::Unknown as u16; 15],
};

/// The calling code of each beginning of three digits: every number is looked up here.
static BY_BEGINNING: LazyLock<Vec<Option<&CallingCode>>> = LazyLock::new(|| {
    // No calling code begins with a zero, and none with another one.
    let found = |three: u16| {
        [three, three / 10, three / 100]
            .into_iter()
            .find_map(CallingCode::known)
    };
    (0..1000)
        .map(|three| found(three).filter(|_| three >= 100))
        .collect()
});

/// A number behind its calling code; without digits if no country has the calling code.
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

fn line_of(answer: u16) -> LineKind {
    LineKind::from_place(usize::from(answer & 0xF))
}

impl CallingCode {
    /// One of the countries that share the code, the main one at 0.
    pub fn country(&self, at: usize) -> Option<Region> {
        self.regions.get(at).copied().map(Region)
    }

    pub fn origin(&self) -> Origin {
        Origin {
            country: self.country(0),
            is_shared: self.regions.len() > 1,
            calling_code: self.code,
        }
    }

    pub(super) fn has_trunk_zero(&self) -> bool {
        let mut beginnings = self.prefix_beginnings.iter();
        beginnings.any(|(lowest, _)| *lowest < 100)
    }

    /// The digits behind the calling code; `None` if they do not begin with it.
    pub fn behind<'d>(&self, digits: &'d str) -> Option<&'d str> {
        let width = self.code.checked_ilog10()? as usize + 1;
        let (code, rest) = digits.split_at_checked(width)?;
        (code.parse() == Ok(self.code)).then_some(rest)
    }

    /// The digits without the prefix for calls within the country; `None` if they do not begin with
    /// it. The prefix is one digit, or two if every prefix of its range begins with the same two.
    pub(super) fn without_prefix<'d>(&self, digits: &'d str) -> Option<&'d str> {
        let (low, high) = self.prefixes_with(digits.get(..3)?.parse().ok()?)?;
        let length = if low / 10 == high / 10 { 2 } else { 1 };
        digits.get(length..)
    }

    /// The range of [`prefix_beginnings`](Self::prefix_beginnings) that these three digits are in.
    fn prefixes_with(&self, beginning: u64) -> Option<(u16, u16)> {
        let mut ranges = self.prefix_beginnings.iter().copied();
        ranges.find(|(low, high)| (u64::from(*low)..=u64::from(*high)).contains(&beginning))
    }

    /// Whether there is a number of a person that ends in these digits and has one to five digits
    /// of an area code before them.
    pub(super) fn has_number_ending_in(&self, digits: &str) -> bool {
        let is_in_use = |answer: u16| {
            let digits = digits.bytes().map(|byte| byte - b'0');
            let answer = digits.fold(answer, next);
            use LineKind as L;
            matches!(line_of(answer), L::Fixed | L::Mobile | L::FixedOrMobile)
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
        let padded = digits.bytes().chain([b'0'; 3]).take(3);
        let value = padded.fold(0, |value, digit| 10 * value + u64::from(digit - b'0'));
        CallingCode::first_of(value)
    }

    fn first_of(three_digits: u64) -> Option<&'static CallingCode> {
        *BY_BEGINNING.get(usize::try_from(three_digits).ok()?)?
    }

    fn known(code: u16) -> Option<&'static CallingCode> {
        let place = CALLING_CODES.binary_search_by_key(&code, |plan| plan.code);
        CALLING_CODES.get(place.ok()?)
    }

    /// The calling code that these digits are, without any other digits.
    pub fn written(digits: &str) -> Option<&'static CallingCode> {
        CallingCode::known(digits.trim().parse().ok()?)
    }

    pub fn of(region: Region) -> &'static CallingCode {
        let mut codes = CALLING_CODES.iter();
        codes.find(|code| code.is_of(region)).unwrap_or(&NO_PLAN)
    }

    pub fn is_of(&self, region: Region) -> bool {
        self.regions.contains(&region.0)
    }
}

impl National {
    /// Splits the number.
    pub fn of(number: PhoneNumber) -> National {
        let digits = number.key().checked_ilog10().unwrap_or(0) + 1;
        let three_digits = number.key() / 10_u64.pow(digits.saturating_sub(3));
        let (plan, length) = match CallingCode::first_of(three_digits) {
            Some(plan) => (plan, digits - (plan.code.ilog10() + 1)),
            None => (&NO_PLAN, 0),
        };
        let value = number.key() % 10_u64.pow(length);
        National {
            plan,
            value,
            length,
        }
    }

    /// The number that the first digits are.
    fn beginning(&self, digits: u32) -> u64 {
        self.value / 10_u64.pow(self.length.saturating_sub(digits))
    }

    /// Whether Google's library may read the number as another number, because
    /// the prefix for calls within the country seems to follow the calling code.
    pub fn may_have_prefix(&self) -> bool {
        self.plan.prefixed_lengths >> self.length & 1 == 1
            && self.plan.prefixes_with(self.beginning(3)).is_some()
    }

    /// Whether the calling code follows itself, perhaps behind `00`: it may have been put before a
    /// number that had it.
    pub fn repeats_code(&self) -> bool {
        let width = self.plan.code.checked_ilog10().map(|tens| tens + 1);
        let is_code = |digits| self.beginning(digits) == u64::from(self.plan.code);
        // Only behind two zeros do two digits more make the same number.
        width.is_some_and(|width| is_code(width) || is_code(width + 2))
    }

    /// Whether the number has no more digits than numbers of its country usually have.
    pub fn is_usual(&self) -> bool {
        self.length <= self.plan.usual_length
    }

    /// Whether the number has at least as many digits as numbers of its country usually have.
    pub fn has_usual_length(&self) -> bool {
        self.length >= self.plan.usual_length
    }

    /// Whether no number of the country has more digits, so that none of this one can be missing.
    pub fn is_longest(&self) -> bool {
        let is_full = self.without_trunk_zero().is_none();
        is_full && self.plan.possible_lengths >> self.length == 1
    }

    /// The number without a zero at its beginning; `None` unless it has one
    /// and calls within the country begin with a zero.
    pub fn without_trunk_zero(self) -> Option<National> {
        let has_zero = self.beginning(1) == 0 && self.plan.has_trunk_zero();
        let length = self.length.checked_sub(1).filter(|_| has_zero)?;
        Some(National { length, ..self })
    }

    /// Checks whether numbers of the country can have this many digits, as Google's
    /// `isPossibleNumber` does. Numbers that can only be dialled locally are too short. If several
    /// countries share a code, the lengths are those of the main country, as in Google's library.
    pub fn check_length(&self) -> Result<(), PhoneProblem> {
        if self.plan.code == 0 {
            return Err(PhoneProblem::NoSuchCallingCode);
        }
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
        self.plan.code == 52 && self.length == 11 && self.beginning(1) == 1
    }

    pub fn kind(&self) -> NumberKind {
        let mut answer = self.plan.roots[self.length as usize];
        let mut place = 10_u64.pow(self.length);
        while answer >= FIRST_NODE && place > 1 {
            place /= 10;
            answer = next(answer, (self.value / place % 10) as u8);
        }
        let country = usize::from(answer >> 4).checked_sub(1);
        NumberKind {
            country: country.and_then(|at| self.plan.country(at)),
            calling_code: self.plan.code,
            line: line_of(answer),
        }
    }
}
