//! Reads a cell as a phone number.
//!
//! Two promises. Nothing that changes who is called is done silently: a cell
//! that can be read in more than one way is an error. And digits are read as
//! Google's library reads them: the shortcuts here are used only if the table
//! of calling codes shows that the library would not change the digits.

use super::dialled::Dialled;
use super::number::FEWEST_DIGITS;
use super::plan::{CallingCode, National};
use super::rules::{check_trunk_zero, is_valid};
use super::{NumberKind, PhoneNumber, PhoneProblem, PhoneRule, PhoneRules, Region, Written};
use super::{damage, extension, google, several, tidy};

/// The longest cell that is read, in characters: Google's limit for a number.
const MAX_CHARACTERS: usize = 250;

/// If the country is not known, `011` counts as the North American prefix
/// for calls abroad only with at least this many digits after it.
const FEWEST_AFTER_011: usize = 10;

/// Italy and the Vatican: here the zero of a landline is part of the number.
pub(super) const KEEPS_ZERO: u16 = 39;

pub type Read = (PhoneNumber, Written);

impl PhoneRules {
    /// The number in a cell. The region is that of a number written without its
    /// calling code; it does not matter for one that has a plus.
    pub fn read(&self, cell: &str, region: Option<Region>) -> Result<PhoneNumber, PhoneProblem> {
        self.read_as(cell, region).map(|(number, _)| number)
    }

    pub fn read_as(&self, cell: &str, region: Option<Region>) -> Result<Read, PhoneProblem> {
        let cell = cell.trim();
        if let Some(number) = PhoneNumber::clean(cell) {
            let national = National::of(number);
            if !may_have_prefix(national) {
                let judged = self.judge(number, national)?;
                return Ok((judged, Written::International));
            }
        }
        if cell.len() > MAX_CHARACTERS && cell.chars().count() > MAX_CHARACTERS {
            return Err(PhoneProblem::TooMuchText);
        }
        let (number, written) = self.written(&tidy::plain_characters(cell), region)?;
        let judged = self.judge(number, National::of(number))?;
        Ok((judged, written))
    }

    /// The rules for do-not-call lists: a number of any country counts, also one that is
    /// not in use, since it may be called all the same.
    pub fn for_lists(&self) -> PhoneRules {
        PhoneRules {
            rule: match self.rule {
                PhoneRule::E164 => PhoneRule::E164,
                PhoneRule::Possible | PhoneRule::Valid => PhoneRule::Possible,
            },
            assume_plus: self.assume_plus,
            countries: Vec::new(),
        }
    }

    pub fn without_assuming(&self) -> PhoneRules {
        PhoneRules {
            assume_plus: false,
            ..self.clone()
        }
    }

    /// The number in a text of plain characters, before the rules are applied.
    fn written(&self, text: &str, region: Option<Region>) -> Result<Read, PhoneProblem> {
        if let Some(number) = with_plus_at_end(text) {
            return Ok((number, Written::International));
        }
        let text = tidy::unwrapped(text);
        if damage::is_damaged(text) {
            return Err(PhoneProblem::Damaged);
        }
        let text = damage::without_fraction(text);
        if let Some((first, rest)) = several::split(text) {
            return self.repeated(first, rest, region);
        }
        let text = extension::without_extension(text)?;
        let dialled = Dialled::of(text)?;
        let number = self.with_or_without_zero(&dialled, region)?;
        Ok((number, Written::of(text, &dialled, number, region)))
    }

    /// Reads one number that is written twice, perhaps in two ways.
    fn repeated(
        &self,
        first: &str,
        rest: &str,
        region: Option<Region>,
    ) -> Result<Read, PhoneProblem> {
        match (self.written(first, region), self.written(rest, region)) {
            (Ok((number, written)), Ok((other, also))) if number == other => {
                // If one of them has the calling code there is no doubt.
                let is_plain = also == Written::International;
                Ok((number, if is_plain { also } else { written }))
            }
            _ => Err(PhoneProblem::Several),
        }
    }

    /// A number with `(0)`: without the zero (in Italy with it), unless
    /// only the other reading is a number in use.
    fn with_or_without_zero(
        &self,
        dialled: &Dialled,
        region: Option<Region>,
    ) -> Result<PhoneNumber, PhoneProblem> {
        let without = self.dialled(dialled.has_plus, &dialled.digits, region);
        let is_italian =
            without.is_ok_and(|number| NumberKind::of(number).calling_code == KEEPS_ZERO);
        let is_settled = without.is_ok_and(is_valid) && !is_italian;
        if dialled.zero_at.is_none() || is_settled {
            return without;
        }
        let with = self.dialled(dialled.has_plus, &dialled.with_zero(), region);
        let (usual, other) = if is_italian {
            (with, without)
        } else {
            (without, with)
        };
        match other {
            Ok(number) if is_valid(number) && !usual.is_ok_and(is_valid) => other,
            _ => usual,
        }
    }

    fn dialled(
        &self,
        has_plus: bool,
        digits: &str,
        region: Option<Region>,
    ) -> Result<PhoneNumber, PhoneProblem> {
        match region {
            _ if has_plus => self.international(digits),
            Some(region) => self.within(digits, region),
            None => self.anywhere(digits),
        }
    }

    fn international(&self, digits: &str) -> Result<PhoneNumber, PhoneProblem> {
        if digits.starts_with('0') {
            return Err(PhoneProblem::LeadingZero);
        }
        let as_written = PhoneNumber::from_digits(digits);
        if let Some(number) = as_written
            && !may_have_prefix(National::of(number))
        {
            return Ok(number);
        }
        let takes_anything = self.rule == PhoneRule::E164;
        let is_possible = |read| National::of(read).is_some_and(|n| n.check_length().is_ok());
        match (google::read_international(digits), as_written) {
            (Ok(read), _) if is_possible(read) => Ok(read),
            (_, Some(number)) if takes_anything => Ok(number),
            (_, None) if takes_anything => Err(PhoneProblem::NotE164),
            (read, Some(_)) => read,
            (_, None) => Err(wrong_length(digits)),
        }
    }

    /// Reads digits without a plus as dialled from a country. The prefix for calls
    /// abroad is the country's own. `00`, which is written everywhere, also counts
    /// if the digits are not a number of the country. `011` does not: with one
    /// digit too many, it would be the area code of Johannesburg or Buenos Aires.
    fn within(&self, digits: &str, region: Region) -> Result<PhoneNumber, PhoneProblem> {
        if let Some(number) = lost_plus(digits, region) {
            return Ok(number);
        }
        let here = google::read_within(digits, region).and_then(|number| {
            let national = National::of(number).ok_or(PhoneProblem::NoSuchCallingCode)?;
            // Of what has no plus, only what can be a number is taken, whatever the rule.
            if self.rule == PhoneRule::E164 {
                national.check_length()?;
            }
            check_trunk_zero(national)?;
            Ok(number)
        });
        match digits
            .strip_prefix("00")
            .map(|digits| self.international(digits))
        {
            Some(Ok(number)) if is_valid(number) && !here.is_ok_and(is_valid) => Ok(number),
            _ => here,
        }
    }

    fn anywhere(&self, digits: &str) -> Result<PhoneNumber, PhoneProblem> {
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
        let with_plus = PhoneNumber::from_digits(digits);
        Err(PhoneProblem::NoCountry {
            has_code: with_plus.is_some_and(is_valid),
        })
    }
}

/// The phone number, if only its plus was lost. In a country where national
/// numbers are dialled with a prefix, digits that begin with the country's own calling
/// code instead, and are then a number in use, are meant as that number. Google would
/// read `491713920001` as a number of Leer (0491) of full length; every German reads
/// it as a mobile number. With fewer digits after the calling code this is not safe:
/// in Finland (+358) they may be a number of Tampere (03) without its zero.
pub(super) fn lost_plus(digits: &str, region: Region) -> Option<PhoneNumber> {
    let plan = CallingCode::of(region)?;
    let national = digits.strip_prefix(&plan.code.to_string())?;
    if national.len() < FEWEST_DIGITS || plan.prefix_beginnings.is_empty() {
        return None;
    }
    let number = PhoneNumber::from_digits(digits)?;
    let is_sure = is_valid(number) && !may_have_prefix(National::of(number));
    is_sure.then_some(number)
}

/// The number of a text with the plus after its digits, as in lists that were
/// written from right to left. If that number is not in use the plus is ignored.
fn with_plus_at_end(text: &str) -> Option<PhoneNumber> {
    let digits = text.trim().strip_suffix('+')?;
    let plain: String = digits.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let number = PhoneNumber::from_digits(&plain)?;
    (is_valid(number) && !may_have_prefix(National::of(number))).then_some(number)
}

/// Whether the library may read another number than the one that is written.
fn may_have_prefix(national: Option<National>) -> bool {
    national.is_some_and(|national| national.may_have_prefix())
}

/// The problem of digits after a plus that are too few or too many for a number.
fn wrong_length(digits: &str) -> PhoneProblem {
    match CallingCode::beginning(digits).map(CallingCode::origin) {
        None => PhoneProblem::NoSuchCallingCode,
        Some(origin) if digits.len() < FEWEST_DIGITS => PhoneProblem::TooShort(origin),
        Some(origin) => PhoneProblem::TooLong(origin),
    }
}
