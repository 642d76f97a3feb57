//! Reads a cell as a phone number.
//!
//! Promise: nothing that changes who is called is done silently. A cell that can be read in more
//! than one way is an error.

use super::date::{is_date, may_be_date};
use super::dialled::Dialled;
use super::dialling::undoubted;
use super::mask::is_masked;
use super::number::MAX_DIGITS;
use super::plan::National;
use super::problem::Result;
use super::rules::is_valid;
use super::{LineKinds, NumberKind, PhoneNumber, PhoneProblem, PhoneRule, PhoneRules, Region};
use super::{Written, amount, damage, digits, extension, several, tidy};

/// The longest cell that is read, in characters: Google's limit for a number.
const MAX_CHARACTERS: usize = 250;

/// A number that may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    pub number: PhoneNumber,
    pub written: Written,
    pub kind: NumberKind,
}

/// A number as it is written, before the rules are applied.
type Parsed = (PhoneNumber, Written);

impl PhoneRules {
    /// The number in a cell. The region is that of a number written without its
    /// calling code; it does not matter for one that has a plus.
    pub fn read(&self, cell: &str, region: Option<Region>) -> Result<PhoneNumber> {
        self.read_as(cell, region).map(|read| read.number)
    }

    pub fn read_as(&self, cell: &str, region: Option<Region>) -> Result<Read> {
        let cell = cell.trim();
        if let Some(number) = cell.strip_prefix('+').and_then(PhoneNumber::from_digits) {
            let national = National::of(number);
            if !national.may_have_prefix() && !national.repeats_code() {
                let kind = self.judge(national)?;
                let written = Written::International;
                return Ok(Read {
                    number,
                    written,
                    kind,
                });
            }
        }
        if cell.len() > MAX_CHARACTERS && cell.chars().count() > MAX_CHARACTERS {
            return Err(PhoneProblem::TooMuchText);
        }
        if is_masked(cell) {
            return Err(PhoneProblem::Masked);
        }
        let (number, written) = self.written(&tidy::plain_characters(cell), region)?;
        self.judged(number, written)
    }

    pub(super) fn judged(&self, number: PhoneNumber, written: Written) -> Result<Read> {
        let kind = self.judge(National::of(number))?;
        Ok(Read {
            number,
            written,
            kind,
        })
    }

    /// The rules for do-not-call lists: a number of any country counts, also one that is
    /// not in use, since it may be called all the same.
    pub fn for_lists(&self) -> PhoneRules {
        PhoneRules {
            rule: self.rule.min(PhoneRule::Possible),
            ..self.for_any_kind()
        }
    }

    pub(super) fn for_any_kind(&self) -> PhoneRules {
        PhoneRules {
            countries: Vec::new(),
            kinds: LineKinds::ALL,
            ..self.clone()
        }
    }

    pub fn without_assuming(&self) -> PhoneRules {
        PhoneRules {
            assume_plus: false,
            ..self.clone()
        }
    }

    /// The number in a text of plain characters, before the rules are applied.
    fn written(&self, text: &str, region: Option<Region>) -> Result<Parsed> {
        if let Some(number) = with_plus_at_end(text) {
            return match self.written(tidy::without_mark(text).unwrap_or_default(), region) {
                // The plus may also be a mark behind a number of the region.
                Ok((other, _)) if is_valid(other) && other != number => {
                    Err(PhoneProblem::TwoCountries)
                }
                _ => Ok((number, Written::International)),
            };
        }
        if damage::is_negative(text.trim()) {
            return Err(PhoneProblem::Damaged);
        }
        let text = tidy::unwrapped(text);
        if is_plain(text, region) {
            return self.one(text, region).map(|(parsed, _)| parsed);
        }
        self.with_signs(text, region)
    }

    /// The number in a text with signs that may show that it is something else than one number.
    fn with_signs(&self, text: &str, region: Option<Region>) -> Result<Parsed> {
        if let Some(whole) = damage::before_zeros(text) {
            return self.decimal(whole, region);
        }
        check_part(text)?;
        if let Some((first, rest)) = several::split(text) {
            return self.repeated(first, rest, region);
        }
        if several::before_other_ending(text).is_some_and(|before| self.is_whole(before, region)) {
            return Err(PhoneProblem::TwoEndings);
        }
        if let Some((before, decimals)) = amount::decimals(text)
            && self.is_whole(before, region)
        {
            let is_longer = |((number, _), _)| is_valid(number);
            let may_go =
                digits::are_zeros(decimals) && !self.one(text, region).is_ok_and(is_longer);
            return match may_go {
                true => self.written(before, region),
                false => Err(PhoneProblem::Amount),
            };
        }
        let unmarked = tidy::without_mark(text).unwrap_or(text);
        let plain = extension::without_extension(unmarked)?;
        let ((number, written), dialled) = self.one(plain, region)?;
        let is_longest = || {
            let national = National::of(number);
            let digits = number.key().to_string();
            // The library puts area codes before some numbers that have none.
            let written = national.plan.behind(&digits).unwrap_or(&digits);
            dialled.digits.ends_with(written) && is_valid(number) && national.is_longest()
        };
        // A sign after the digits may be there in place of one more.
        if (unmarked.len() < text.len() || extension::is_glued(plain, unmarked)) && !is_longest() {
            return Err(PhoneProblem::Masked);
        }
        let is_item = |behind| {
            let read = self.written(behind, region);
            read.is_ok_and(|(other, _)| is_valid(other) && other != number)
        };
        if several::behind_item(text, region).is_some_and(is_item) {
            return Err(PhoneProblem::Several);
        }
        // Where numbers have so few digits, they are written like dates.
        let is_full = || is_valid(number) && National::of(number).has_usual_length();
        if may_be_date(text) && !is_full() {
            return Err(PhoneProblem::Date);
        }
        Ok((number, written))
    }

    /// The number in a text that has nothing else in it. With the text as it is dialled.
    fn one(&self, text: &str, region: Option<Region>) -> Result<(Parsed, Dialled)> {
        let dialled = Dialled::of(text)?;
        let number = self.number(&dialled, region)?;
        let written = Written::of(text, &dialled, number, region);
        Ok(((number, written), dialled))
    }

    /// The digits before the zeros of a decimal, if they are a whole number: a spreadsheet makes
    /// decimals of numbers, and also of parts of numbers.
    fn decimal(&self, whole: &str, region: Option<Region>) -> Result<Parsed> {
        use PhoneProblem::{CodeTwice, Damaged, NoCountry, OldPrefix, TooLong};
        let read = self.written(whole, region);
        match read.and_then(|(number, _)| National::of(number).check_length()) {
            // No digits are lost: there may be some too many, or the country is not known.
            Ok(()) | Err(NoCountry { .. } | CodeTwice | TooLong(_) | OldPrefix(_)) => read,
            Err(_) => Err(Damaged),
        }
    }

    /// Whether the text before another ending is a number by itself, or several.
    fn is_whole(&self, before: &str, region: Option<Region>) -> bool {
        match self.written(before, region) {
            Ok((number, _)) => is_valid(number),
            Err(problem) => problem == PhoneProblem::TwoEndings,
        }
    }

    /// Reads one number that is written twice, perhaps in two ways.
    fn repeated(&self, first: &str, rest: &str, region: Option<Region>) -> Result<Parsed> {
        match (self.written(first, region), self.written(rest, region)) {
            // If one of them has the calling code there is no doubt.
            (Ok((number, _)), Ok(also)) if also == (number, Written::International) => Ok(also),
            (Ok(read), Ok((other, _))) if read.0 == other => Ok(read),
            _ => Err(PhoneProblem::Several),
        }
    }
}

/// As many characters behind a bracket are more than another ending.
const FEWEST_BEHIND: usize = 7;

/// Whether the text has only digits and spaces, perhaps behind a plus and with brackets before
/// other digits, and not too many digits: none of the signs that show something else than one
/// number.
fn is_plain(text: &str, region: Option<Region>) -> bool {
    let last_bracket = text.rfind(['(', ')']).unwrap_or_default();
    let has_brackets = text.starts_with(['+', '(']) && last_bracket + FEWEST_BEHIND <= text.len();
    let is_sign = |sign| sign == b' ' || has_brackets && matches!(sign, b'(' | b')');
    let mut signs = text.strip_prefix('+').unwrap_or(text).bytes();
    let is_plain = signs.all(|sign| sign.is_ascii_digit() || is_sign(sign));
    is_plain && digits::count(text) <= MAX_DIGITS && several::behind_item(text, region).is_none()
}

/// Refuses a text that a spreadsheet has damaged, or that is something else than a number or a part
/// of one.
pub(super) fn check_part(text: &str) -> Result<()> {
    if damage::is_damaged(text) {
        return Err(PhoneProblem::Damaged);
    }
    if is_date(text) {
        return Err(PhoneProblem::Date);
    }
    if amount::is_amount(text) {
        return Err(PhoneProblem::Amount);
    }
    Ok(())
}

/// The number of a text with the plus after its digits, as in lists that were
/// written from right to left. If that number is not in use the plus is ignored.
fn with_plus_at_end(text: &str) -> Option<PhoneNumber> {
    let digits = text.trim().strip_suffix('+')?;
    undoubted(&digits.replace([' ', '-'], ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::phone::plans::CALLING_CODES;
    use crate::phone::{KindChoice, LineKind};

    fn gb() -> Option<Region> {
        Region::parse("GB")
    }

    #[test]
    fn a_cell_is_read_if_it_has_250_characters_at_most_however_many_bytes() {
        let rules = PhoneRules::default();
        for space in [" ", "\u{2007}"] {
            let cell = |characters: usize| format!("07400{}123456", space.repeat(characters - 11));
            assert!(rules.read(&cell(250), gb()).is_ok());
            let long = rules.read(&cell(251), gb());
            assert_eq!(long, Err(PhoneProblem::TooMuchText));
        }
    }

    #[test]
    fn a_number_that_is_there_twice_is_that_number() {
        let rules = PhoneRules::default();
        let once = rules.read("07400 123456", gb());
        assert!(once.is_ok());
        for cell in [
            "07400 123456 / 07400123456",
            "07400 123456 / +44 7400 123456",
        ] {
            assert_eq!(rules.read(cell, gb()), once, "{cell}");
        }
        let two = rules.read("07400 123456 / 07400 123457", gb());
        assert_eq!(two, Err(PhoneProblem::Several));
    }

    #[test]
    fn on_lists_numbers_count_that_nobody_may_call_and_nothing_else_is_read_otherwise() {
        let rules = PhoneRules {
            countries: vec![Region::parse("DE").unwrap()],
            kinds: LineKinds::chosen(&[KindChoice::Only(LineKind::Mobile)]),
            assume_plus: true,
            rule: PhoneRule::Valid,
        };
        let not_in_use = "+441000000000";
        for cell in [not_in_use, "+442079460958", "442079460958"] {
            assert!(rules.read(cell, None).is_err(), "{cell}");
            assert!(rules.for_lists().read(cell, None).is_ok(), "{cell}");
        }
        let lenient = PhoneRules {
            rule: PhoneRule::E164,
            ..rules.clone()
        };
        assert_eq!(lenient.for_lists().rule, PhoneRule::E164);
        let strict = rules.without_assuming().for_lists();
        let read = strict.read("442079460958", None);
        assert!(matches!(read, Err(PhoneProblem::NoCountry { .. })));
        assert_eq!(strict.countries, []);
        assert_eq!(rules.without_assuming().countries, rules.countries);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_plain_text_is_read_as_it_would_be_with_every_step(
            cell in "\\+?[(]?[0-9]{1,3}[ ()]{0,2}[0-9]{3,5}[ )]?[0-9]{2,5}[ (0-9)]{0,3}",
            at in 0..CALLING_CODES.len(),
        ) {
            let region = CALLING_CODES[at].regions.first().copied().map(Region);
            let text = tidy::unwrapped(&cell);
            if is_plain(text, region) {
                let rules = PhoneRules::default();
                let plain = rules.one(text, region).map(|(read, _)| read);
                prop_assert_eq!(plain, rules.with_signs(text, region));
            }
        }
    }
}
