//! Why a row ended as it did.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a row ended as it did: the documented words of the column `error_code`.
///
/// New codes come last: ledgers have codes by their position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ErrorCode {
    PhoneMissing,
    PhoneNotE164,
    /// The number is too long or too short for its country, or no country has its calling code.
    PhoneImpossible,
    PhoneInvalid,
    PhoneAmbiguous,
    /// A spreadsheet program has replaced the number by something else.
    PhoneDamaged,
    /// The number was completed with the region for the whole list, and there is
    /// evidence against that country.
    PhoneDoubtful,
    CountryNotAllowed,
    FieldCount,
    UnclosedQuote,
    RowTooLong,
    CampaignInvalid,
    Encoding,
    /// The answer to an attempt was lost, and that attempt may have created the lead.
    AnswerLost,
    Timeout,
    Connection,
    /// A success status without a readable id, or an answer that is not HTTP or
    /// cannot be decompressed.
    UnreadableAnswer,
    /// The lead was removed from the service again.
    Undone,
    Http(u16),
    /// The number is of a kind that is not called: premium, a pager, a satellite phone.
    PhoneKind,
    /// The list ends in the middle of the number.
    CutOff,
}

impl ErrorCode {
    const WORDS: [(ErrorCode, &'static str); 20] = [
        (ErrorCode::PhoneMissing, "phone_missing"),
        (ErrorCode::PhoneNotE164, "phone_not_e164"),
        (ErrorCode::PhoneImpossible, "phone_impossible"),
        (ErrorCode::PhoneInvalid, "phone_invalid"),
        (ErrorCode::PhoneAmbiguous, "phone_ambiguous"),
        (ErrorCode::PhoneDamaged, "phone_damaged"),
        (ErrorCode::PhoneDoubtful, "phone_doubtful"),
        (ErrorCode::CutOff, "cut_off"),
        (ErrorCode::CountryNotAllowed, "country_not_allowed"),
        (ErrorCode::PhoneKind, "phone_kind"),
        (ErrorCode::FieldCount, "field_count"),
        (ErrorCode::UnclosedQuote, "unclosed_quote"),
        (ErrorCode::RowTooLong, "row_too_long"),
        (ErrorCode::CampaignInvalid, "campaign_invalid"),
        (ErrorCode::Encoding, "encoding"),
        (ErrorCode::AnswerLost, "answer_lost"),
        (ErrorCode::Timeout, "timeout"),
        (ErrorCode::Connection, "connection"),
        (ErrorCode::Undone, "undone"),
        (ErrorCode::UnreadableAnswer, "unreadable_answer"),
    ];

    /// Whether it is an answer by which the service, and nothing on the way, refuses a request.
    pub fn is_refusal(self) -> bool {
        matches!(self, ErrorCode::Http(200..=499)) && !matches!(self, ErrorCode::Http(407 | 425))
    }

    /// Whether the phone cell of the row gives no number that may be called.
    pub fn is_about_phone(self) -> bool {
        use ErrorCode as E;
        matches!(
            self,
            E::PhoneMissing
                | E::PhoneNotE164
                | E::PhoneImpossible
                | E::PhoneInvalid
                | E::PhoneAmbiguous
                | E::PhoneDamaged
                | E::PhoneDoubtful
                | E::CutOff
                | E::CountryNotAllowed
                | E::PhoneKind
        )
    }

    pub fn all() -> impl Iterator<Item = ErrorCode> {
        ErrorCode::WORDS.iter().map(|(code, _)| *code)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ErrorCode::Http(status) = self {
            return f.pad(&format!("{HTTP}{status}"));
        }
        let mut words = ErrorCode::WORDS.iter();
        let word = words.find(|(code, _)| code == self);
        f.pad(word.map_or("", |(_, word)| word))
    }
}

impl FromStr for ErrorCode {
    type Err = String;

    fn from_str(text: &str) -> Result<ErrorCode, String> {
        let mut words = ErrorCode::WORDS.iter();
        let word = words.find(|(_, word)| *word == text);
        let http = || text.strip_prefix(HTTP)?.parse().ok().map(ErrorCode::Http);
        word.map(|(code, _)| *code)
            .or_else(http)
            .ok_or_else(|| format!("`{text}` is not an error code"))
    }
}

const HTTP: &str = "http_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_named_after_its_http_status() {
        assert_eq!(ErrorCode::Http(422).to_string(), "http_422");
    }

    #[test]
    fn a_code_is_read_as_it_is_written() {
        for code in ErrorCode::all().chain([ErrorCode::Http(422)]) {
            assert_eq!(code.to_string().parse(), Ok(code));
        }
        assert!("".parse::<ErrorCode>().is_err());
    }
}
