//! The kind of a number: its country and its type of line.

use super::plan::National;
use super::{PhoneNumber, Region};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NumberKind {
    /// `None` for a number without a country (a satellite phone). Also if
    /// several countries share the calling code and the digits fit none of them.
    pub country: Option<Region>,
    /// The calling code, without a plus; 0 if the number begins with none.
    pub calling_code: u16,
    pub line: LineKind,
}

impl NumberKind {
    /// The country and line of a number. Looks them up in tables, and loads nothing.
    pub fn of(number: PhoneNumber) -> NumberKind {
        National::of(number).kind()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LineKind {
    Mobile,
    Fixed,
    /// A landline or a mobile phone, in countries whose numbers do not tell them apart.
    FixedOrMobile,
    TollFree,
    Premium,
    SharedCost,
    Voip,
    /// A personal number, which reaches its owner anywhere.
    Personal,
    Pager,
    /// A company's number, which reaches one of its offices.
    Uan,
    Voicemail,
    Satellite,
    #[default]
    Unknown,
}

/// Every kind with its word in reports. The generated tables rely on this order.
const LINES: [(LineKind, &str); 13] = [
    (LineKind::Mobile, "mobile"),
    (LineKind::Fixed, "fixed"),
    (LineKind::FixedOrMobile, "fixed_or_mobile"),
    (LineKind::TollFree, "toll_free"),
    (LineKind::Premium, "premium"),
    (LineKind::SharedCost, "shared_cost"),
    (LineKind::Voip, "voip"),
    (LineKind::Personal, "personal"),
    (LineKind::Pager, "pager"),
    (LineKind::Uan, "uan"),
    (LineKind::Voicemail, "voicemail"),
    (LineKind::Satellite, "satellite"),
    (LineKind::Unknown, "unknown"),
];

impl LineKind {
    pub fn as_str(self) -> &'static str {
        LINES[self as usize].1
    }

    pub fn all() -> impl Iterator<Item = LineKind> {
        LINES.iter().map(|(line, _)| *line)
    }

    /// The kind within a sentence: `a premium number`.
    pub(super) fn in_sentence(self) -> String {
        match self {
            LineKind::Uan => "a company-wide number".to_owned(),
            LineKind::Unknown => "of an unknown kind".to_owned(),
            LineKind::FixedOrMobile => "a fixed or mobile number".to_owned(),
            line => format!("a {} number", line.as_str().replace('_', "-")),
        }
    }

    pub(super) fn from_place(place: usize) -> LineKind {
        let line = LINES.get(place);
        line.map_or(LineKind::Unknown, |(line, _)| *line)
    }
}

/// One of the kinds that a user names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindChoice {
    All,
    /// Only this kind, and others that are named.
    Only(LineKind),
    /// This kind beside the usual ones.
    Also(LineKind),
}

/// Kinds of lines that may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineKinds(u16);

impl LineKinds {
    pub const NONE: LineKinds = LineKinds(0);

    pub const ALL: LineKinds = LineKinds((1 << LINES.len()) - 1);

    /// With this kind too. Landlines and mobiles include numbers that do not tell them apart.
    #[must_use]
    pub const fn and(self, line: LineKind) -> LineKinds {
        let may_be_either = matches!(line, LineKind::Mobile | LineKind::Fixed);
        let either = (may_be_either as u16) << LineKind::FixedOrMobile as u16;
        LineKinds(self.0 | 1 << line as u16 | either)
    }

    pub const fn has(self, line: LineKind) -> bool {
        self.0 & 1 << line as u16 != 0
    }

    /// The kinds that these choices are together: the usual ones, unless some are named by themselves.
    pub fn chosen(choices: &[KindChoice]) -> LineKinds {
        let is_only = |choice: &KindChoice| matches!(choice, KindChoice::Only(_));
        let first = match choices.iter().any(is_only) {
            true => LineKinds::NONE,
            false => LineKinds::default(),
        };
        choices.iter().fold(first, |kinds, choice| match choice {
            KindChoice::All => LineKinds::ALL,
            KindChoice::Only(line) | KindChoice::Also(line) => kinds.and(*line),
        })
    }
}

impl Default for LineKinds {
    /// All but those that nobody means to call: who answers there is no person of the list, and the
    /// call is expensive.
    fn default() -> LineKinds {
        let expensive = LineKinds::NONE.and(LineKind::Premium).and(LineKind::Pager);
        LineKinds(LineKinds::ALL.0 & !expensive.and(LineKind::Satellite).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn premium_numbers_pagers_and_satellite_phones_are_not_called_unless_the_user_says_so() {
        let left_out = LineKind::all().filter(|line| !LineKinds::default().has(*line));
        let expected = [LineKind::Premium, LineKind::Pager, LineKind::Satellite];
        assert_eq!(left_out.collect::<Vec<_>>(), expected);
        assert!(LineKind::all().all(|line| LineKinds::ALL.has(line)));
    }

    #[test]
    fn landlines_and_mobiles_each_include_what_may_be_either() {
        for line in [LineKind::Fixed, LineKind::Mobile] {
            let kinds = LineKinds::NONE.and(line);
            let had = LineKind::all().filter(|line| kinds.has(*line));
            assert_eq!(had.count(), 2);
            assert!(kinds.has(LineKind::FixedOrMobile) && kinds.has(line));
        }
        assert!(
            !LineKinds::NONE
                .and(LineKind::FixedOrMobile)
                .has(LineKind::Fixed)
        );
    }
}
