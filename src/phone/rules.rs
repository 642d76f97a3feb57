//! The user's rules for phone numbers, and whether a number meets them.

use super::plan::{CallingCode, National};
use super::problem::Origin;
use super::{LineKind, NumberKind, PhoneNumber, PhoneProblem, Region};

/// How good a number must be to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// Whether a number without a plus and without a region is read as if the plus were
    /// lost.
    pub assume_plus: bool,
    /// The countries whose numbers are allowed; empty: all.
    pub countries: Vec<Region>,
}

impl PhoneRules {
    /// The number, if it is good enough and allowed. `national` is the same number, split.
    pub(super) fn judge(
        &self,
        number: PhoneNumber,
        national: Option<National>,
    ) -> Result<PhoneNumber, PhoneProblem> {
        let takes_any_country = self.countries.is_empty();
        let Some(national) = national else {
            return match self.rule {
                PhoneRule::E164 if takes_any_country => Ok(number),
                PhoneRule::E164 => Err(PhoneProblem::CountryNotAllowed(Origin::default())),
                PhoneRule::Possible | PhoneRule::Valid => Err(PhoneProblem::NoSuchCallingCode),
            };
        };
        if self.rule != PhoneRule::E164 {
            national.check_length()?;
        }
        if self.rule != PhoneRule::Valid && takes_any_country {
            return Ok(number);
        }
        let kind = national.kind();
        if self.rule == PhoneRule::Valid && kind.line == LineKind::Unknown {
            return Err(PhoneProblem::NotInUse(national.plan.origin()));
        }
        if takes_any_country || self.allows(kind, national.plan) {
            return Ok(number);
        }
        Err(PhoneProblem::CountryNotAllowed(Origin {
            country: kind.country,
            is_shared: false,
            calling_code: kind.calling_code,
        }))
    }

    /// Whether the country is allowed. Where the digits do not show the country, one of
    /// those with the calling code is enough.
    fn allows(&self, kind: NumberKind, code: &CallingCode) -> bool {
        match kind.country {
            Some(country) => {
                self.countries.contains(&country) || self.countries.contains(&country.plan_holder())
            }
            None => self.countries.iter().any(|region| code.is_of(*region)),
        }
    }
}

/// Whether a number that was dialled within its country is a full one without the zero for
/// such calls, which Google leaves where too few digits would follow it: `020 7946` is then
/// as long as some British numbers are.
pub(super) fn check_trunk_zero(national: National) -> Result<(), PhoneProblem> {
    match national.without_trunk_zero() {
        Some(rest) if national.kind().line == LineKind::Unknown => rest.check_length(),
        _ => Ok(()),
    }
}

/// Whether the number is in use, as Google's `isValidNumber` says: it has a line.
pub(super) fn is_valid(number: PhoneNumber) -> bool {
    National::of(number).is_some_and(|national| national.kind().line != LineKind::Unknown)
}
