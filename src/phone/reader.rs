//! Reads a cell as a phone number.
//!
//! Two promises. Nothing that changes who is called is done silently: a cell
//! that can be read in more than one way is an error. And digits are read as
//! Google's library reads them: the shortcuts here are used only if the table
//! of calling codes shows that the library would not change the digits.

use super::date::{is_date, may_be_date};
use super::dialled::Dialled;
use super::mask::is_masked;
use super::number::{FEWEST_DIGITS, MAX_DIGITS};
use super::plan::{CallingCode, National};
use super::problem::Result;
use super::rules::{check_trunk_zero, is_possible, is_valid};
use super::{
    LineKind, LineKinds, NumberKind, PhoneNumber, PhoneProblem, PhoneRule, PhoneRules, Region,
};
use super::{Written, amount, damage, digits, extension, google, several, tidy};

/// The longest cell that is read, in characters: Google's limit for a number.
const MAX_CHARACTERS: usize = 250;

/// If the country is not known, `011` counts as the North American prefix
/// for calls abroad only with at least this many digits after it.
const FEWEST_AFTER_011: usize = 10;

/// Italy and the Vatican: here the zero of a landline is part of the number.
pub(super) const KEEPS_ZERO: u16 = 39;

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
        if is_plain(text) {
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
            let is_number = |((number, _), _)| is_valid(number);
            let is_zero = decimals.bytes().all(|digit| digit == b'0');
            return match is_zero && !self.one(text, region).is_ok_and(is_number) {
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
        if several::behind_item(text).is_some_and(is_item) {
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

    /// The number that is dialled. One with `(0)` is read without the zero (in Italy with it),
    /// unless only the other reading is a number in use. If both are, an Italian number with more
    /// digits than is usual stays in doubt.
    fn number(&self, dialled: &Dialled, region: Option<Region>) -> Result<PhoneNumber> {
        let without = self.dialled(dialled.has_plus, &dialled.digits, region);
        if dialled.zero_at.is_none() {
            return without;
        }
        let is_italian = without.is_ok_and(|number| number.calling_code() == KEEPS_ZERO);
        if !is_italian && without.is_ok_and(is_valid) {
            return without;
        }
        let with = self.dialled(dialled.has_plus, &dialled.with_zero(), region);
        let (usual, other) = if is_italian {
            (with, without)
        } else {
            (without, with)
        };
        match (usual.is_ok_and(is_valid), other.is_ok_and(is_valid)) {
            (false, true) => other,
            // As long as this are only few landlines, and every mobile number with a zero too many.
            (true, true) if !usual.is_ok_and(is_usual) => Err(PhoneProblem::CodeTwice),
            _ => usual,
        }
    }

    fn dialled(&self, has_plus: bool, digits: &str, region: Option<Region>) -> Result<PhoneNumber> {
        match region {
            _ if has_plus => self.international(digits),
            Some(region) => self.within(digits, region),
            None => self.anywhere(digits),
        }
    }

    /// Reads digits after a plus. If the calling code is there twice, the first may have been put
    /// before a number that had it.
    fn international(&self, digits: &str) -> Result<PhoneNumber> {
        let as_written = self.after_plus(digits);
        let Some(plan) = CallingCode::beginning(digits) else {
            return as_written;
        };
        let behind = plan.behind(digits);
        match behind.map(|rest| rest.strip_prefix("00").unwrap_or(rest)) {
            Some(rest) if plan.behind(rest).is_some() => {
                with_or_without_code(as_written, self.after_plus(rest))
            }
            _ => as_written,
        }
    }

    fn after_plus(&self, digits: &str) -> Result<PhoneNumber> {
        if digits.starts_with('0') {
            return Err(PhoneProblem::LeadingZero);
        }
        let as_written = PhoneNumber::from_digits(digits);
        if let Some(number) = as_written
            && !may_have_prefix(number)
        {
            return Ok(number);
        }
        let takes_anything = self.rule == PhoneRule::E164;
        match (google::read_international(digits), as_written) {
            (Ok(read), _) if is_possible(read) => Ok(read),
            (_, Some(number)) if takes_anything => Ok(number),
            (_, None) if takes_anything => Err(PhoneProblem::NotE164),
            (read, Some(_)) => read,
            (_, None) => {
                let plan = CallingCode::beginning(digits);
                let plan = plan.ok_or(PhoneProblem::NoSuchCallingCode)?;
                Err(google::too_short_or_long(digits, plan.origin()))
            }
        }
    }

    /// Reads digits without a plus as dialled from a country. They may begin with its own calling
    /// code, twice or before the prefix for calls within the country.
    fn within(&self, digits: &str, region: Region) -> Result<PhoneNumber> {
        let as_written = self.dialled_within(digits, region);
        let plan = CallingCode::of(region);
        let behind = plan.behind(digits);
        let mut rests = plan.without_prefix(digits).into_iter().chain(behind);
        if let Some(rest) = rests.find(|rest| plan.behind(rest).is_some()) {
            return with_or_without_code(as_written, self.after_plus(rest));
        }
        if behind.is_none_or(|rest| plan.without_prefix(rest).is_none()) {
            return as_written;
        }
        let without = self.after_plus(digits);
        // Unless the prefix was taken off, nothing was too much.
        if without.is_ok_and(|number| number.key().to_string() == digits) {
            return as_written;
        }
        with_or_without_code(as_written, without)
    }

    /// Reads digits without a plus as dialled from a country. The prefix for calls abroad is the
    /// country's own. `00`, which is written everywhere, also counts: in Singapore `0049 1512 345…`
    /// may be a number of Germany, and one of India behind `004`, the prefix of a company there.
    /// `011` does not: with one digit too many, it would be the area code of Johannesburg or Buenos
    /// Aires.
    fn dialled_within(&self, digits: &str, region: Region) -> Result<PhoneNumber> {
        if let Some(number) = lost_plus(digits, region).or_else(|| behind_zero(digits, region)) {
            return Ok(number);
        }
        let abroad = digits.strip_prefix("00");
        let abroad = abroad.map(|digits| (digits, self.international(digits)));
        // Nobody writes another country's prefix before a number at home.
        if let Some((digits, Ok(number))) = abroad
            && CallingCode::of(region).behind(digits).is_some()
            && is_valid(number)
        {
            return Ok(number);
        }
        let here = google::read_within(digits, region).and_then(|number| {
            let national = National::of(number);
            // Of what has no plus, only what can be a number is taken, whatever the rule.
            if self.rule == PhoneRule::E164 {
                national.check_length()?;
            }
            check_trunk_zero(national)?;
            Ok(number)
        });
        match (abroad, here) {
            (Some((_, Ok(abroad))), Ok(other)) if is_valid(other) && is_possible(abroad) => {
                let is_same = abroad == other;
                is_same.then_some(abroad).ok_or(PhoneProblem::TwoCountries)
            }
            (Some((_, Ok(abroad))), _) if is_possible(abroad) => Ok(abroad),
            _ => here,
        }
    }

    fn anywhere(&self, digits: &str) -> Result<PhoneNumber> {
        if let Some(digits) = digits.strip_prefix("00") {
            return self.international(digits);
        }
        if let Some(digits) = digits.strip_prefix("011")
            && digits.len() >= FEWEST_AFTER_011
            && let Ok(number) = self.international(digits)
            && is_valid(number)
        {
            return Ok(number);
        }
        if self.assume_plus && !digits.starts_with('0') {
            return self.international(digits);
        }
        let has_code = PhoneNumber::from_digits(digits).is_some_and(is_valid);
        Err(PhoneProblem::NoCountry { has_code })
    }
}

/// Whether the text has only digits and spaces, perhaps behind a plus and with brackets before
/// other digits, and not too many digits: none of the signs that show something else than one
/// number.
fn is_plain(text: &str) -> bool {
    let has_brackets = text.starts_with(['+', '(']) && !text.ends_with(')');
    let is_sign = |sign| sign == b' ' || has_brackets && matches!(sign, b'(' | b')');
    let mut signs = text.strip_prefix('+').unwrap_or(text).bytes();
    let is_plain = signs.all(|sign| sign.is_ascii_digit() || is_sign(sign));
    is_plain && digits::count(text) <= MAX_DIGITS
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

/// Decides about a calling code that may be too much. The number stays as it is written if it is in
/// use and has no more digits than is usual in its country; else the code goes if only the number
/// without it is in use.
fn with_or_without_code(
    as_written: Result<PhoneNumber>,
    without: Result<PhoneNumber>,
) -> Result<PhoneNumber> {
    match (as_written, without) {
        (Ok(number), _) if is_valid(number) && is_usual(number) => as_written,
        (Ok(number), Ok(other)) if number == other => as_written,
        (Ok(number), _) if is_valid(number) => Err(PhoneProblem::CodeTwice),
        (_, Ok(other)) if is_valid(other) => without,
        (Ok(number), Ok(other)) if is_possible(number) && is_possible(other) => {
            Err(PhoneProblem::CodeTwice)
        }
        _ => as_written,
    }
}

fn is_usual(number: PhoneNumber) -> bool {
    National::of(number).is_usual()
}

/// The phone number, if only its plus was lost. In a country where national
/// numbers are dialled with a prefix, digits that begin with the country's own calling
/// code instead, and are then a number in use, are meant as that number. Google would
/// read `491713920001` as a number of Leer (0491) of full length; every German reads
/// it as a mobile number. With fewer digits after the calling code this is not safe:
/// in Finland (+358) they may be a number of Tampere (03) without its zero.
pub(super) fn lost_plus(digits: &str, region: Region) -> Option<PhoneNumber> {
    let plan = CallingCode::of(region);
    let is_long = plan.behind(digits)?.len() >= FEWEST_DIGITS;
    undoubted(digits).filter(|_| is_long && !plan.prefix_beginnings.is_empty())
}

/// The number in use behind the zero for calls within the country, where the library would take off
/// that zero and nothing else. Most national numbers are written so, and the library is slow.
pub(super) fn behind_zero(digits: &str, region: Region) -> Option<PhoneNumber> {
    let plan = CallingCode::of(region);
    let national = digits.strip_prefix('0')?;
    if !plan.has_plain_zero || plan.country(0) != Some(region) || national.starts_with('0') {
        return None;
    }
    let number = PhoneNumber::from_digits(&format!("{}{national}", plan.code))?;
    let kind = NumberKind::of(number);
    let is_own = kind.country == Some(region);
    (is_own && kind.line != LineKind::Unknown).then_some(number)
}

/// The number of a text with the plus after its digits, as in lists that were
/// written from right to left. If that number is not in use the plus is ignored.
fn with_plus_at_end(text: &str) -> Option<PhoneNumber> {
    let digits = text.trim().strip_suffix('+')?;
    undoubted(&digits.replace([' ', '-'], ""))
}

/// The number with these digits, if it is in use and the library reads no other number.
fn undoubted(digits: &str) -> Option<PhoneNumber> {
    let number = PhoneNumber::from_digits(digits)?;
    (is_valid(number) && !may_have_prefix(number)).then_some(number)
}

/// Whether the library may read another number than the one that is written.
fn may_have_prefix(number: PhoneNumber) -> bool {
    National::of(number).may_have_prefix()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::phone::plans::CALLING_CODES;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_plain_text_is_read_as_it_would_be_with_every_step(
            cell in "\\+?[(]?[0-9]{1,3}[ ()]{0,2}[0-9]{3,5}[ )]?[0-9]{2,5}[ (0-9)]{0,3}",
            at in 0..CALLING_CODES.len(),
        ) {
            let region = CALLING_CODES[at].regions.first().copied().map(Region);
            let text = tidy::unwrapped(&cell);
            if is_plain(text) {
                let rules = PhoneRules::default();
                let plain = rules.one(text, region).map(|(read, _)| read);
                prop_assert_eq!(plain, rules.with_signs(text, region));
            }
        }
    }
}
