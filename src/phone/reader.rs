//! Reads a cell as a phone number.
//!
//! Two promises. Nothing that changes who is called is done silently: a cell
//! that can be read in more than one way is an error. And digits are read as
//! Google's library reads them: the shortcuts here are used only if the table
//! of calling codes shows that the library would not change the digits.

use super::amount::is_amount;
use super::date::{is_date, may_be_date};
use super::dialled::Dialled;
use super::mask::is_masked;
use super::number::FEWEST_DIGITS;
use super::plan::{CallingCode, National};
use super::rules::{check_trunk_zero, is_valid};
use super::{
    LineKinds, NumberKind, PhoneNumber, PhoneProblem, PhoneRule, PhoneRules, Region, Written,
};
use super::{damage, extension, google, several, tidy};

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
    pub fn read(&self, cell: &str, region: Option<Region>) -> Result<PhoneNumber, PhoneProblem> {
        self.read_as(cell, region).map(|read| read.number)
    }

    pub fn read_as(&self, cell: &str, region: Option<Region>) -> Result<Read, PhoneProblem> {
        let cell = cell.trim();
        if let Some(number) = PhoneNumber::clean(cell) {
            let national = National::of(number);
            if !may_be_another(national) {
                return self.judged(number, Written::International, national);
            }
        }
        if cell.len() > MAX_CHARACTERS && cell.chars().count() > MAX_CHARACTERS {
            return Err(PhoneProblem::TooMuchText);
        }
        if is_masked(cell) {
            return Err(PhoneProblem::Masked);
        }
        let (number, written) = self.written(&tidy::plain_characters(cell), region)?;
        self.judged(number, written, National::of(number))
    }

    pub(super) fn judged(
        &self,
        number: PhoneNumber,
        written: Written,
        national: Option<National>,
    ) -> Result<Read, PhoneProblem> {
        let kind = self.judge(national)?;
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
            rule: match self.rule {
                PhoneRule::E164 => PhoneRule::E164,
                PhoneRule::Possible | PhoneRule::Valid => PhoneRule::Possible,
            },
            assume_plus: self.assume_plus,
            countries: Vec::new(),
            kinds: LineKinds::ALL,
        }
    }

    pub fn without_assuming(&self) -> PhoneRules {
        PhoneRules {
            assume_plus: false,
            ..self.clone()
        }
    }

    /// The number in a text of plain characters, before the rules are applied.
    fn written(&self, text: &str, region: Option<Region>) -> Result<Parsed, PhoneProblem> {
        if let Some(number) = with_plus_at_end(text) {
            return Ok((number, Written::International));
        }
        let text = tidy::unwrapped(text);
        if damage::is_damaged(text) {
            return Err(PhoneProblem::Damaged);
        }
        if let Some(whole) = damage::before_zeros(text) {
            return self.decimal(whole, region);
        }
        if is_date(text) {
            return Err(PhoneProblem::Date);
        }
        if is_amount(text) {
            return Err(PhoneProblem::Amount);
        }
        if let Some((first, rest)) = several::split(text) {
            return self.repeated(first, rest, region);
        }
        if several::before_other_ending(text).is_some_and(|before| self.is_whole(before, region)) {
            return Err(PhoneProblem::TwoEndings);
        }
        let unmarked = tidy::without_mark(text).unwrap_or(text);
        let plain = extension::without_extension(unmarked)?;
        let dialled = Dialled::of(plain)?;
        let number = self.with_or_without_zero(&dialled, region)?;
        let is_longest = || {
            let digits = number.key().to_string();
            let code = number.calling_code().to_string();
            // The library puts area codes before some numbers that have none.
            let national = digits.strip_prefix(&code).unwrap_or(&digits);
            let is_as_written = dialled.digits.ends_with(national) && is_valid(number);
            is_as_written && National::of(number).is_some_and(|national| national.is_longest())
        };
        // A sign after the digits may be there in place of one more.
        if (unmarked.len() < text.len() || extension::is_glued(plain, unmarked)) && !is_longest() {
            return Err(PhoneProblem::Masked);
        }
        if may_be_date(text) && !is_valid(number) {
            return Err(PhoneProblem::Date);
        }
        Ok((number, Written::of(plain, &dialled, number, region)))
    }

    /// The digits before the zeros of a decimal, if they are a whole number: a spreadsheet makes
    /// decimals of numbers, and also of parts of numbers.
    fn decimal(&self, whole: &str, region: Option<Region>) -> Result<Parsed, PhoneProblem> {
        use PhoneProblem::{CodeTwice, Damaged, NoCountry, OldPrefix, TooLong};
        let read = self
            .written(whole, region)
            .map_err(|problem| match problem {
                // No digits are lost: there may be some too many, or the country is not known.
                NoCountry { .. } | CodeTwice | TooLong(_) | OldPrefix(_) => problem,
                _ => Damaged,
            })?;
        match National::of(read.0).map(|national| national.check_length()) {
            Some(Ok(()) | Err(TooLong(_) | OldPrefix(_))) => Ok(read),
            _ => Err(Damaged),
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
    fn repeated(
        &self,
        first: &str,
        rest: &str,
        region: Option<Region>,
    ) -> Result<Parsed, PhoneProblem> {
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

    /// Reads digits after a plus. If the calling code is there twice, the first may have been put
    /// before a number that had it.
    fn international(&self, digits: &str) -> Result<PhoneNumber, PhoneProblem> {
        let as_written = self.after_plus(digits);
        let code = CallingCode::beginning(digits).map(|plan| plan.code.to_string());
        let behind = code
            .as_ref()
            .and_then(|code| digits.strip_prefix(code.as_str()));
        let behind = behind.map(|rest| rest.strip_prefix("00").unwrap_or(rest));
        match behind.zip(code.as_ref()) {
            Some((rest, code)) if rest.starts_with(code.as_str()) => {
                with_or_without_code(as_written, self.after_plus(rest))
            }
            _ => as_written,
        }
    }

    fn after_plus(&self, digits: &str) -> Result<PhoneNumber, PhoneProblem> {
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

    /// Reads digits without a plus as dialled from a country. They may begin with its own calling
    /// code, twice or before the prefix for calls within the country.
    fn within(&self, digits: &str, region: Region) -> Result<PhoneNumber, PhoneProblem> {
        let as_written = self.dialled_within(digits, region);
        let Some(plan) = CallingCode::of(region) else {
            return as_written;
        };
        let code = plan.code.to_string();
        match digits.strip_prefix(&code) {
            Some(rest) if rest.starts_with(&code) => {
                with_or_without_code(as_written, self.after_plus(rest))
            }
            Some(rest) if plan.without_prefix(rest).is_some() => {
                let without = self.after_plus(digits);
                // Unless the prefix was taken off, nothing was too much.
                if without.is_ok_and(|number| number.key().to_string() == digits) {
                    return as_written;
                }
                with_or_without_code(as_written, without)
            }
            _ => as_written,
        }
    }

    /// Reads digits without a plus as dialled from a country. The prefix for calls
    /// abroad is the country's own. `00`, which is written everywhere, also counts
    /// if the digits are not a number of the country. `011` does not: with one
    /// digit too many, it would be the area code of Johannesburg or Buenos Aires.
    fn dialled_within(&self, digits: &str, region: Region) -> Result<PhoneNumber, PhoneProblem> {
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

/// Decides about a calling code that may be too much. The number stays as it is written if it is in
/// use and has no more digits than is usual in its country; else the code goes if only the number
/// without it is in use.
fn with_or_without_code(
    as_written: Result<PhoneNumber, PhoneProblem>,
    without: Result<PhoneNumber, PhoneProblem>,
) -> Result<PhoneNumber, PhoneProblem> {
    let is_usual = |number| National::of(number).is_some_and(|national| national.is_usual());
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

fn is_possible(number: PhoneNumber) -> bool {
    National::of(number).is_some_and(|national| national.check_length().is_ok())
}

/// Whether the digits after a plus may mean another number than the one that is written.
fn may_be_another(national: Option<National>) -> bool {
    may_have_prefix(national) || national.is_some_and(|national| national.repeats_code())
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
