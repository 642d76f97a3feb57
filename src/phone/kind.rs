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
        let kind = National::of(number).map(|national| national.kind());
        kind.unwrap_or_default()
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
    #[default]
    Unknown,
}

/// Every kind with its word in reports. The generated tables rely on this order.
const LINES: [(LineKind, &str); 12] = [
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
    (LineKind::Unknown, "unknown"),
];

impl LineKind {
    pub fn as_str(self) -> &'static str {
        LINES[self as usize].1
    }

    pub(super) fn from_place(place: usize) -> LineKind {
        LINES
            .get(place)
            .map_or(LineKind::Unknown, |(line, _)| *line)
    }
}
