//! The user's rules for phone numbers, and whether a number meets them.

use super::plan::{CallingCode, National};
use super::problem::{Origin, Result};
use super::{LineKind, LineKinds, NumberKind, PhoneNumber, PhoneProblem, Region};

/// How good a number must be to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PhoneRule {
    /// `+` and 7 to 15 digits, whatever they are
    E164,
    /// An existing calling code and a length that numbers of that country can have
    #[default]
    Possible,
    /// Digits that are in use for numbers of that country
    Valid,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhoneRules {
    pub rule: PhoneRule,
    /// Whether a number without a plus and without a region is read as if only its plus were lost.
    pub assume_plus: bool,
    /// The countries whose numbers are allowed; empty means all.
    pub countries: Vec<Region>,
    pub kinds: LineKinds,
}

impl PhoneRules {
    /// Returns the kind of the number if it is good enough and allowed. `national` is the number,
    /// split.
    pub(super) fn judge(&self, national: National) -> Result<NumberKind> {
        if self.rule != PhoneRule::E164 {
            national.check_length()?;
        }
        let kind = national.kind();
        if self.rule == PhoneRule::Valid && kind.line == LineKind::Unknown {
            return Err(PhoneProblem::NotInUse(national.plan.origin()));
        }
        if !self.countries.is_empty() && !self.allows(kind, national.plan) {
            return Err(PhoneProblem::CountryNotAllowed(Origin {
                country: kind.country,
                is_shared: false,
                calling_code: kind.calling_code,
            }));
        }
        if !self.kinds.has(kind.line) {
            return Err(PhoneProblem::KindNotAllowed(kind.line));
        }
        Ok(kind)
    }

    /// Whether the country is allowed. If the digits do not show the country,
    /// it is enough that one country with the calling code is allowed.
    fn allows(&self, kind: NumberKind, code: &CallingCode) -> bool {
        let has = |country| self.countries.contains(&country);
        match kind.country {
            Some(country) => has(country) || has(country.plan_holder()),
            None => self.countries.iter().any(|region| code.is_of(*region)),
        }
    }
}

/// Checks that a number that was dialled within its country is a full number. Google
/// keeps the zero for such calls if too few digits follow it: with that zero, `020 7946`
/// has as many digits as some British numbers. So the length is checked without the zero.
pub(super) fn check_trunk_zero(national: National) -> Result<()> {
    match national.without_trunk_zero() {
        Some(rest) if national.kind().line == LineKind::Unknown => rest.check_length(),
        _ => Ok(()),
    }
}

/// Whether the number has as many digits as numbers of its country can have.
pub(super) fn is_possible(number: PhoneNumber) -> bool {
    National::of(number).check_length().is_ok()
}

/// Whether the number is in use, as Google's `isValidNumber` says: its line is known.
pub(super) fn is_valid(number: PhoneNumber) -> bool {
    NumberKind::of(number).line != LineKind::Unknown
}
