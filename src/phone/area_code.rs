//! Reads a number whose area code is in a cell of its own.
//!
//! A number is joined with its area code only if it is not whole without it. Of two readings that
//! both are numbers in use, none is guessed.

use super::dialling::KEEPS_ZERO;
use super::number::FEWEST_DIGITS;
use super::plan::{CallingCode, National};
use super::problem::Result;
use super::reader::{Read, check_part};
use super::rules::is_valid;
use super::written::is_american;
use super::{LineKind, PhoneNumber, PhoneProblem, PhoneRules, Region, Written};
use super::{amount, damage, digits, several, tidy};

/// An area code as it is written.
#[derive(Debug, PartialEq, Eq)]
enum AreaCode {
    None,
    /// The digits, perhaps with the zero that is dialled before them.
    National(String),
    /// The digits behind the plus, or behind `00`: a country, or a country and an area.
    International(String),
}

impl AreaCode {
    fn of(cell: &str) -> AreaCode {
        let cell = tidy::plain_characters(cell.trim());
        let text = tidy::unwrapped(&cell);
        let text = damage::before_zeros(text).unwrap_or(text);
        let digits = digits::of(text);
        let is_international = text.contains('+') || digits.starts_with("00");
        match digits.trim_start_matches('0') {
            "" => AreaCode::None,
            // `Berlin 2` is no area code.
            _ if text.contains(char::is_alphabetic) => AreaCode::None,
            code if is_international => AreaCode::International(code.to_owned()),
            _ => AreaCode::National(digits),
        }
    }
}

impl PhoneRules {
    /// The number in a cell whose area code is in another cell. The region is that of a number
    /// without a country code.
    pub fn read_with_area_code(
        &self,
        area: &str,
        cell: &str,
        region: Option<Region>,
    ) -> Result<Read> {
        // Which reading is meant does not depend on which countries and kinds are allowed.
        let open = self.for_any_kind();
        let read = open.with_any_area_code(area, cell, region)?;
        self.judged(read.number, read.written)
    }

    fn with_any_area_code(&self, area: &str, cell: &str, region: Option<Region>) -> Result<Read> {
        let plain = tidy::plain_characters(cell.trim());
        let number = tidy::unwrapped(&plain);
        // What is no number by itself must not become one with an area code before it.
        if damage::is_negative(&plain) {
            return Err(PhoneProblem::Damaged);
        }
        let number = damage::before_zeros(number).unwrap_or(number);
        let code = tidy::plain_characters(area.trim());
        for part in [number, damage::before_zeros(&code).unwrap_or(&code)] {
            check_part(part)?;
        }
        if several::behind_item(number, None).is_some() || holds_two(&code) {
            return Err(PhoneProblem::Several);
        }
        // As in one cell; but a local number and an ending may also look like a whole number.
        for (before, problem) in [
            (
                several::before_other_ending(number),
                PhoneProblem::TwoEndings,
            ),
            (
                amount::decimals(number).map(|(whole, _)| whole),
                PhoneProblem::Amount,
            ),
        ] {
            let read = before.map(|before| self.with_any_area_code(area, before, region));
            if read.and_then(in_use).is_some() {
                return Err(problem);
            }
        }
        let start = number.trim_start_matches(['(', '[', ' ']);
        let has_prefix = start.starts_with("00") && digits::count(number) > FEWEST_DIGITS;
        let is_international = start.starts_with('+') || has_prefix;
        if is_international || digits::count(number) == 0 {
            return self.read_as(cell, region);
        }
        let has_zero = start.starts_with('0');
        match (AreaCode::of(area), region) {
            (AreaCode::International(code), _) => {
                let country = CallingCode::beginning(&code).filter(|_| has_zero);
                let code = country.map_or(code, |country| country.code.to_string());
                self.read_as(&format!("+{code} {number}"), None)
            }
            (AreaCode::National(area), Some(region)) if has_zero => {
                self.joined_with_zero(&area, number, region)
            }
            (_, region) if has_zero => self.read_as(cell, region),
            (AreaCode::None, Some(region)) => self.without_area_code(number, region),
            (AreaCode::National(area), Some(region)) => self.joined(&area, number, region),
            (AreaCode::National(area), None) => self.read_as(&format!("{area} {number}"), None),
            (AreaCode::None, None) => self.read_as(cell, None),
        }
    }

    /// A number whose row has no area code: only if it is whole as it is.
    fn without_area_code(&self, number: &str, region: Region) -> Result<Read> {
        use PhoneProblem::{NoAreaCode, NotInUse, TooShort, WrongLength};
        match self.read_as(number, Some(region)) {
            Ok(read) if is_valid(read.number) && !may_be_local(number, region) => Ok(read),
            Ok(_) | Err(TooShort(_) | WrongLength(_) | NotInUse(_)) => Err(NoAreaCode),
            other => other,
        }
    }

    fn joined(&self, area: &str, number: &str, region: Region) -> Result<Read> {
        let joined = self.with_area_code(area, number, region);
        let seems_whole = begins_with_area_code(number, area);
        if in_use(joined).is_some() && !seems_whole {
            return joined;
        }
        let alone = self.read_as(number, Some(region));
        let abroad = || in_use(self.read_as(&format!("+{area} {number}"), None));
        match (in_use(joined), in_use(alone)) {
            (Some(one), Some(other)) if one.number != other.number => {
                Err(PhoneProblem::AreaCodeTwice)
            }
            (None, Some(_)) if seems_whole => alone,
            (None, Some(_)) if may_be_local(number, region) => joined,
            // What is in the column may be another country's calling code.
            (None, Some(one)) if abroad().is_some_and(|other| other.number != one.number) => {
                Err(PhoneProblem::TwoCountries)
            }
            (None, Some(_)) => alone,
            _ => joined,
        }
    }

    /// A number with a zero before it, which is whole with it; but behind the beginning of a mobile
    /// number, or where no trunk zero is dialled, it may be any digit.
    fn joined_with_zero(&self, area: &str, number: &str, region: Region) -> Result<Read> {
        let alone = self.read_as(number, Some(region));
        let code = area.trim_start_matches('0');
        let has_code = digits::of(number).trim_start_matches('0').starts_with(code);
        if in_use(alone).is_some() && !keeps_zero(region) && has_code {
            return alone;
        }
        let joined = self.with_area_code(area, number, region);
        let may_have_zero = |read: &Read| {
            let is_mobile = read.kind.line == LineKind::Mobile;
            is_mobile || !keeps_zero(region) && !CallingCode::of(region).has_trunk_zero()
        };
        match (in_use(joined).filter(may_have_zero), in_use(alone)) {
            (Some(_), Some(_)) => Err(PhoneProblem::AreaCodeTwice),
            (Some(_), None) => joined,
            (None, _) => alone,
        }
    }

    /// The number with its area code before it: as it is written, and with the zero that it may
    /// have lost in a spreadsheet, or without one that its country no longer writes.
    ///
    /// What is in the column may also be the country's calling code without its plus. That is meant
    /// if the number with it is in use, and otherwise has more digits than is usual.
    fn with_area_code(&self, area: &str, number: &str, region: Region) -> Result<Read> {
        let joined = self.with_own_area_code(area, number, region);
        if CallingCode::of(region).code.to_string() != area {
            return joined;
        }
        let whole = self.read_as(&format!("+{area} {number}"), None);
        match (in_use(joined), in_use(whole)) {
            (_, None) => joined,
            (Some(one), Some(other)) if one.number == other.number => joined,
            (Some(one), Some(_)) if National::of(one.number).is_usual() => {
                Err(PhoneProblem::AreaCodeTwice)
            }
            (_, Some(_)) => whole,
        }
    }

    fn with_own_area_code(&self, area: &str, number: &str, region: Region) -> Result<Read> {
        let read = |area: &str| self.read_as(&format!("{area} {number}"), Some(region));
        let (as_written, with_zero) = (|| read(area), || read(&format!("0{area}")));
        let has_trunk_zero = CallingCode::of(region).has_trunk_zero();
        let found = match area.strip_prefix('0') {
            Some(_) => in_use(as_written()).or_else(|| in_use(read(area.trim_start_matches('0')))),
            None if keeps_zero(region) => match (in_use(as_written()), in_use(with_zero())) {
                // Ten digits are a mobile number; behind a zero they would be a landline's.
                (Some(mobile), Some(_)) if is_full_mobile(mobile.number) => Some(mobile),
                (Some(_), Some(_)) => return Err(PhoneProblem::AreaCodeTwice),
                (one, other) => one.or(other),
            },
            None if has_trunk_zero => in_use(with_zero()).or_else(|| in_use(as_written())),
            // In a few countries every number begins with a zero that is no trunk zero.
            None => in_use(as_written()).or_else(|| in_use(with_zero())),
        };
        let mut read = found.map_or_else(as_written, Ok)?;
        if is_american(&format!("{area} {number}"), read.number) {
            read.written = Written::Foreign;
        }
        Ok(read)
    }
}

/// Whether the cell has two area codes with their zeros: `030/040`.
fn holds_two(code: &str) -> bool {
    let mut groups = digits::groups(code);
    let is_national = |first: &str| first.starts_with('0') && !first.starts_with("00");
    let first = groups.next().is_some_and(is_national);
    first && !code.contains('+') && groups.any(is_national)
}

fn keeps_zero(region: Region) -> bool {
    region.calling_code() == Some(KEEPS_ZERO)
}

fn in_use(read: Result<Read>) -> Option<Read> {
    read.ok().filter(|read| is_valid(read.number))
}

/// Whether an Italian mobile number has all the digits that they have today: older ones have fewer.
fn is_full_mobile(number: PhoneNumber) -> bool {
    number.key().to_string().len() == "39".len() + 10
}

/// The most digits of a number without its area code.
const MAX_LOCAL_DIGITS: usize = 8;

/// Whether the number seems to have its area code already. A local number may begin with the same
/// digits: it is in other groups, or it is short and only the area code has its zero.
fn begins_with_area_code(number: &str, area: &str) -> bool {
    let digits = digits::of(number);
    let code = area.trim_start_matches('0');
    let first = digits::groups(number).next().unwrap_or_default();
    let is_short = area.starts_with('0') && digits.len() <= MAX_LOCAL_DIGITS;
    let is_single = first.len() == digits.len();
    let is_apart = if is_single { !is_short } else { first == code };
    digits.starts_with(code) && is_apart
}

/// Whether there is an area code with which the digits would be a number in use.
fn may_be_local(number: &str, region: Region) -> bool {
    CallingCode::of(region).has_number_ending_in(&digits::of(number))
}
