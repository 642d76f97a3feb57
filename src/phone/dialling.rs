//! Reads dialled digits as a number.
//!
//! Promise: digits are read as Google's library reads them. The shortcuts here are used only if the
//! table of calling codes shows that the library would not change the digits.

use super::dialled::Dialled;
use super::google;
use super::number::FEWEST_DIGITS;
use super::plan::{CallingCode, National};
use super::problem::Result;
use super::rules::{check_trunk_zero, is_possible, is_valid};
use super::{LineKind, NumberKind, PhoneNumber, PhoneProblem, PhoneRule, PhoneRules, Region};

/// If the country is not known, `011` counts as the North American prefix
/// for calls abroad only with at least this many digits after it.
const FEWEST_AFTER_011: usize = 10;

/// Italy and the Vatican: here the zero of a landline is part of the number.
pub(super) const KEEPS_ZERO: u16 = 39;

impl PhoneRules {
    /// The number that is dialled. One with `(0)` is read without the zero (in Italy with it),
    /// unless only the other reading is a number in use. If both are, an Italian number with more
    /// digits than is usual stays in doubt.
    pub(super) fn number(&self, dialled: &Dialled, region: Option<Region>) -> Result<PhoneNumber> {
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
            let is_long = |number| is_valid(number) && !is_usual(number);
            let repeats = |number| National::of(number).repeats_code();
            // As behind a plus: the code may be that of a number with a digit too few.
            return match as_written {
                Ok(number) if behind.is_some() && is_long(number) && repeats(number) => {
                    Err(PhoneProblem::CodeTwice)
                }
                _ => as_written,
            };
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
        let Some(behind) = digits.strip_prefix("00") else {
            return self.as_dialled(digits, region);
        };
        let abroad = self.international(behind);
        // Nobody writes another country's prefix before a number at home.
        if abroad.is_ok_and(is_valid) && CallingCode::of(region).behind(behind).is_some() {
            return abroad;
        }
        match (abroad, self.as_dialled(digits, region)) {
            (Err(PhoneProblem::CodeTwice), _) => abroad,
            (Ok(abroad), Ok(here)) if is_valid(here) && is_possible(abroad) => {
                let is_same = abroad == here;
                is_same.then_some(abroad).ok_or(PhoneProblem::TwoCountries)
            }
            (Ok(abroad), _) if is_possible(abroad) => Ok(abroad),
            (_, here) => here,
        }
    }

    /// Reads digits with the prefixes of a country alone.
    fn as_dialled(&self, digits: &str, region: Region) -> Result<PhoneNumber> {
        if let Some(number) = lost_plus(digits, region).or_else(|| behind_zero(digits, region)) {
            return Ok(number);
        }
        let number = google::read_within(digits, region)?;
        let national = National::of(number);
        // Of what has no plus, only what can be a number is taken, whatever the rule.
        if self.rule == PhoneRule::E164 {
            national.check_length()?;
        }
        check_trunk_zero(national)?;
        Ok(number)
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

/// The number with these digits, if it is in use and the library reads no other number.
pub(super) fn undoubted(digits: &str) -> Option<PhoneNumber> {
    let number = PhoneNumber::from_digits(digits)?;
    (is_valid(number) && !may_have_prefix(number)).then_some(number)
}

/// Whether the library may read another number than the one that is written.
fn may_have_prefix(number: PhoneNumber) -> bool {
    National::of(number).may_have_prefix()
}
