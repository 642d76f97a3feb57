//! The values that options take: how each is written and what is said of one that is wrong.
//!
//! Rule: one reader for each kind of value, wherever it was written: typed, in a variable, in
//! a file of settings or in a form.

use std::ffi::OsStr;
use std::fmt;
use std::num::{IntErrorKind, NonZeroU32, NonZeroUsize, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use secrecy::SecretString;
use thiserror::Error;

use super::Said;
use super::output::{Format, LogFormat, Progress};
use crate::api::wire::VariablesShape;
use crate::intake::{KnownBad, OnUncertain, Once};
use crate::mapping::{EmptyCells, VarNames};
use crate::phone::{PhoneRule, Region};
use crate::pipeline::ConcurrencyChoice;
use crate::rate::{Rate, RateError};
use crate::source::{Encoding, EncodingError};
use crate::text::{alternatives, nearest, quoted_value};

/// Each request in flight takes a file descriptor, and systems give a process no more than
/// a thousand or so of them unasked.
const MAX_IN_FLIGHT: usize = 1000;

/// The longest time, some 20 000 years: every unit alone goes up to it.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 7_304_484);

/// The value of an option.
pub trait Value: Clone + fmt::Debug + Send + Sync + 'static {
    /// What a file of settings may hold for it.
    const FORM: Form;

    /// What to write there instead of something else.
    const INSTEAD: &'static str = "";

    /// What stands between several of them in one text.
    const SEPARATOR: Option<char> = None;

    /// Reads it.
    ///
    /// # Errors
    ///
    /// What to write instead.
    fn parse(text: &str) -> Result<Self, ValueError>;

    /// Reads it from what need not be Unicode, as names of files.
    ///
    /// # Errors
    ///
    /// What to write instead.
    fn parse_os(text: &OsStr) -> Result<Self, ValueError> {
        Self::parse(&text.to_string_lossy())
    }

    /// Its usual form, where one value can be written in several ways.
    fn usual_form(&self) -> Option<String> {
        None
    }

    /// The words that it can be, where it can be no other.
    fn words() -> Vec<PossibleValue> {
        Vec::new()
    }
}

/// What a file of settings may hold for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text.
    Text,
    /// A text, which may be white space.
    Character,
    /// A text, be it empty.
    AnyText,
    /// The name of a file, from the folder of the settings.
    File,
    /// A whole number.
    Number,
    /// A text or a whole number.
    TextOrNumber,
    /// The same, or a table of names and texts.
    Named,
    /// `NAME=VALUE`, or a table of them.
    Pair,
}

impl Form {
    /// Whether a whole number is right.
    pub(super) fn takes_number(self) -> bool {
        matches!(self, Form::Number | Form::TextOrNumber | Form::Named)
    }

    /// Whether a table of names and texts is right.
    pub(super) fn takes_table(self) -> bool {
        matches!(self, Form::Named | Form::Pair)
    }

    /// What has to stand there.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Form::Number => "a whole number",
            _ if self.takes_number() => "a text or a whole number",
            _ => "a text",
        }
    }
}

/// What to write in a file of settings.
pub(super) fn instead<T: Value>() -> String {
    let words = T::words();
    if words.is_empty() {
        return T::INSTEAD.to_owned();
    }
    let quoted = words.iter().map(|word| format!("\"{}\"", word.get_name()));
    format!("write {}", alternatives(&quoted.collect::<Vec<_>>()))
}

/// Why a value is not taken: what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ValueError(pub String);

impl From<&str> for ValueError {
    fn from(instead: &str) -> ValueError {
        ValueError(instead.to_owned())
    }
}

/// That a value cannot be used which was written for `name`, a flag or what the help calls
/// it. What is personal is not shown, and neither is what could be a token or a number of
/// somebody: what is said may end in a log.
pub fn unusable(value: &str, name: &str, is_personal: bool) -> String {
    if value.is_empty() {
        format!("`{name}` has no value")
    } else if is_personal {
        format!("the value of `{name}` cannot be used")
    } else if name.starts_with('-') {
        format!("{} cannot be used for `{name}`", quoted_value(value))
    } else {
        format!("{} cannot be used as {name}", quoted_value(value))
    }
}

/// Texts that are looked into where they are used.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $form:ident, $instead:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub String);

        impl $name {
            /// This text.
            pub fn said(text: &str) -> Said<$name> {
                Said::told_as($name(text.to_owned()), text)
            }

            /// These texts.
            pub fn all(texts: &[String]) -> Vec<Said<$name>> {
                texts.iter().map(|text| $name::said(text)).collect()
            }
        }

        impl Value for $name {
            const FORM: Form = Form::$form;
            const INSTEAD: &'static str = $instead;

            fn parse(text: &str) -> Result<$name, ValueError> {
                Ok($name(text.to_owned()))
            }
        }
    )*};
}

const COLUMN: &str = "write the column's header in quotes, or its number";

texts! {
    /// Where a service is. Whether it may be plain http is for another option to say, so that
    /// it is read with that.
    Address: Text, "write it in quotes, such as `\"https://app.example.com\"`";
    /// The id or the name of a campaign; nothing where it is empty.
    CampaignText: TextOrNumber, "write the campaign's id, or its name in quotes";
    /// A column by its header or its number: which of the two, a list's header says.
    Column: TextOrNumber, COLUMN;
    /// The same with a name for what stands in it, or without.
    NamedColumn: Named, COLUMN;
    /// A header as it stands in a list.
    Header: AnyText, "write one, such as `[\"Phone\", \"City\"]`, or let `leadload check FILE --save-mapping PROFILE` write it";
    /// The name of a sheet or a profile, or a number of somebody.
    Name: Text, "write it in quotes";
}

/// Values that can be nothing but one of some words.
macro_rules! words {
    ($($name:ty),*) => {$(
        impl Value for $name {
            const FORM: Form = Form::Text;

            fn parse(text: &str) -> Result<$name, ValueError> {
                word(text)
            }

            fn words() -> Vec<PossibleValue> {
                let variants = <$name>::value_variants().iter();
                variants.filter_map(ValueEnum::to_possible_value).collect()
            }
        }
    )*};
}

words!(
    VarNames,
    EmptyCells,
    PhoneRule,
    OnUncertain,
    Once,
    KnownBad,
    VariablesShape,
    Format,
    Progress,
    LogFormat
);

fn word<T: Value + ValueEnum>(text: &str) -> Result<T, ValueError> {
    T::from_str(text, false).map_err(|_| {
        let words = T::words();
        let words: Vec<&str> = words.iter().map(PossibleValue::get_name).collect();
        let takes = format!("takes {}", alternatives(&words));
        ValueError(match nearest(text, &words) {
            Some(nearest) => format!("did you mean `{nearest}`? It {takes}"),
            None => format!("it {takes}"),
        })
    })
}

const FILE: &str = "write the name of a file, in quotes";

/// The name of a file; what `none` and `-` mean is for its option to say.
impl Value for PathBuf {
    const FORM: Form = Form::File;
    const INSTEAD: &'static str = FILE;

    fn parse(text: &str) -> Result<PathBuf, ValueError> {
        Ok(text.into())
    }

    fn parse_os(text: &OsStr) -> Result<PathBuf, ValueError> {
        Ok(text.into())
    }
}

/// Where the access token is.
#[derive(Debug, Clone)]
pub enum TokenSource {
    /// In this file.
    File(PathBuf),
    /// Here: a variable had it.
    Text(SecretString),
}

impl Value for TokenSource {
    const FORM: Form = Form::File;
    const INSTEAD: &'static str = FILE;

    fn parse(text: &str) -> Result<TokenSource, ValueError> {
        TokenSource::parse_os(text.as_ref())
    }

    fn parse_os(text: &OsStr) -> Result<TokenSource, ValueError> {
        Ok(TokenSource::File(text.into()))
    }
}

/// A limit of requests, or a word in the place of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateArg {
    /// `auto`: what the service is found to allow.
    Auto,
    /// `none`: no limit of our own.
    Unlimited,
    /// A limit.
    Limit(Rate),
}

impl Value for RateArg {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = Rate::INSTEAD;

    fn parse(text: &str) -> Result<RateArg, ValueError> {
        match text.trim() {
            "auto" => Ok(RateArg::Auto),
            "none" => Ok(RateArg::Unlimited),
            _ => Rate::parse(text)
                .map(RateArg::Limit)
                .map_err(|instead| ValueError(format!("{instead}; or `auto` or `none`"))),
        }
    }
}

impl Value for Rate {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write it in quotes, such as `\"100/min\"`";

    fn parse(text: &str) -> Result<Rate, ValueError> {
        text.parse()
            .map_err(|error: RateError| ValueError(error.to_string()))
    }
}

/// A time such as `500ms`, `60s`, `1h30m` or `2d`; not zero. A day has 24 hours.
impl Value for Duration {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write a number and its unit in quotes, such as `\"60s\"`";

    fn parse(text: &str) -> Result<Duration, ValueError> {
        let time = span(text).and_then(|time| Duration::try_from(time).ok());
        let instead = "write a number and its unit, such as `500ms`, `60s`, `5min`, `1h` or `2d`";
        let time = time.filter(|time| !time.is_zero());
        time.ok_or(instead.into())
    }
}

/// An age such as `90d`, `2w` or `12h`; a day has 24 hours.
impl Value for SignedDuration {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = Duration::INSTEAD;

    fn parse(text: &str) -> Result<SignedDuration, ValueError> {
        let instead = "write a number and its unit, such as `90d`, `2w` or `12h`";
        let age = span(text).filter(|age| !age.is_negative());
        age.ok_or(instead.into())
    }
}

fn span(text: &str) -> Option<SignedDuration> {
    let span: Span = text.trim().parse().ok()?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    // Several units together could be more than can be added to a time.
    (span <= LONGEST).then_some(span)
}

/// How many requests may be in flight: a number, or `auto`.
impl Value for ConcurrencyChoice {
    const FORM: Form = Form::TextOrNumber;
    const INSTEAD: &'static str = "write a whole number, or `\"auto\"`";

    fn parse(text: &str) -> Result<ConcurrencyChoice, ValueError> {
        if text.trim() == "auto" {
            return Ok(ConcurrencyChoice::Auto);
        }
        let most: Option<NonZeroUsize> = text.trim().parse().ok();
        most.filter(|most| most.get() <= MAX_IN_FLIGHT)
            .map(ConcurrencyChoice::Fixed)
            .ok_or_else(|| {
                ValueError(format!(
                    "write a number from 1 to {MAX_IN_FLIGHT}, or `auto`"
                ))
            })
    }
}

const NUMBER: &str = "write it without quotes, such as `100`";

/// A whole number from 1 on.
impl Value for NonZeroU32 {
    const FORM: Form = Form::Number;
    const INSTEAD: &'static str = NUMBER;

    fn parse(text: &str) -> Result<NonZeroU32, ValueError> {
        whole_number(text, 1, u32::MAX)
    }
}

/// A whole number.
impl Value for u64 {
    const FORM: Form = Form::Number;
    const INSTEAD: &'static str = NUMBER;

    fn usual_form(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn parse(text: &str) -> Result<u64, ValueError> {
        whole_number(text, 0, u64::MAX)
    }
}

fn whole_number<T>(text: &str, least: u8, most: impl fmt::Display) -> Result<T, ValueError>
where
    T: FromStr<Err = ParseIntError>,
{
    text.trim().parse().map_err(|error: ParseIntError| {
        let up_to = match error.kind() {
            IntErrorKind::PosOverflow => format!("to {most}"),
            _ => "on".to_owned(),
        };
        ValueError(format!("write a whole number from {least} {up_to}"))
    })
}

/// What stands between cells: one character that is not part of a cell's form, or its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl Value for Delimiter {
    const FORM: Form = Form::Character;
    const INSTEAD: &'static str = "write the character in quotes, such as `\";\"`";

    fn parse(text: &str) -> Result<Delimiter, ValueError> {
        let byte = match text.to_lowercase().as_str() {
            "tab" | "\\t" | "\t" => b'\t',
            "comma" => b',',
            "semicolon" => b';',
            "pipe" => b'|',
            other => match other.as_bytes() {
                [byte] if byte.is_ascii_punctuation() && *byte != b'"' || *byte == b' ' => *byte,
                _ => return Err("write one character, such as `;`, or `tab`".into()),
            },
        };
        Ok(Delimiter(byte))
    }
}

impl Value for Encoding {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write it in quotes";

    fn parse(text: &str) -> Result<Encoding, ValueError> {
        text.parse().map_err(|error| match error {
            EncodingError::Unknown {
                nearest: Some(nearest),
                ..
            } => ValueError(format!("did you mean `{nearest}`?")),
            EncodingError::Unknown { nearest: None, .. } => {
                "write its usual name, such as `UTF-8`, `windows-1252` or `Shift_JIS`".into()
            }
            EncodingError::Unsupported { .. } => {
                "it is not read by anybody any more: convert the file to UTF-8".into()
            }
        })
    }
}

impl Value for Region {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write an ISO code in quotes, such as `\"GB\"`";
    const SEPARATOR: Option<char> = Some(',');

    fn usual_form(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn parse(text: &str) -> Result<Region, ValueError> {
        Region::parse(text).ok_or_else(|| {
            let hint = Region::nearest(text)
                .map(|nearest| format!("; did you mean {nearest}?"))
                .unwrap_or_default();
            ValueError(format!(
                "write an ISO code such as DE, or an English name{hint}"
            ))
        })
    }
}

/// The same text for every row: `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// What it is sent as.
    pub name: String,
    /// What is sent.
    pub value: String,
}

impl Value for Constant {
    const FORM: Form = Form::Pair;
    const INSTEAD: &'static str = "write `{ NAME = \"text\" }`";

    fn parse(text: &str) -> Result<Constant, ValueError> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok(Constant {
                name: name.trim().to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("write NAME=VALUE".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: Value>(text: &str) -> Result<T, ValueError> {
        T::parse(text)
    }

    fn is_none<T: Value>(texts: &[&str]) {
        for text in texts {
            assert!(read::<T>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_need_a_unit_and_are_not_zero() {
        for (text, millis) in [
            ("60s", 60_000),
            ("500ms", 500),
            ("5min", 300_000),
            ("90m", 5_400_000),
            ("1h", 3_600_000),
            ("1h30m", 5_400_000),
            ("2d", 2 * 86_400_000),
        ] {
            assert_eq!(read(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        is_none::<Duration>(&["", "60", "-5s", "0s", "soon", "1mo", "99999999999999999h"]);
    }

    #[test]
    fn the_longest_duration_can_be_added_to_any_time() {
        let longest: Duration = read("7304484d").unwrap();
        assert!(std::time::Instant::now().checked_add(longest).is_some());
        is_none::<Duration>(&["7304485d", "7304484d1s"]);
    }

    #[test]
    fn ages_may_be_days_and_weeks_and_nothing_at_all() {
        for (text, hours) in [("90d", 90 * 24), ("2w", 14 * 24), ("12h", 12), ("0s", 0)] {
            assert_eq!(read(text), Ok(SignedDuration::from_hours(hours)), "{text}");
        }
        is_none::<SignedDuration>(&["", "90", "-1d", "3mo", "1y", "old"]);
    }

    #[test]
    fn requests_in_flight_are_a_number_or_left_to_the_program() {
        let fixed = |most| Ok(ConcurrencyChoice::Fixed(NonZeroUsize::new(most).unwrap()));
        assert_eq!(read("auto"), Ok(ConcurrencyChoice::Auto));
        assert_eq!(read("1"), fixed(1));
        assert_eq!(read("1000"), fixed(1000));
        is_none::<ConcurrencyChoice>(&["", "0", "-1", "1001", "many", "1.5"]);
    }

    #[test]
    fn a_number_that_is_too_large_is_told_how_large_it_may_be() {
        let said = |text| read::<NonZeroU32>(text).unwrap_err().to_string();
        assert_eq!(said("0"), "write a whole number from 1 on");
        assert_eq!(said("1.5"), "write a whole number from 1 on");
        assert_eq!(
            said("4294967296"),
            "write a whole number from 1 to 4294967295"
        );
        assert!(read::<NonZeroU32>("4294967295").is_ok());
    }

    #[test]
    fn a_rate_is_a_limit_or_one_of_two_words() {
        assert_eq!(read("auto"), Ok(RateArg::Auto));
        assert_eq!(read(" none "), Ok(RateArg::Unlimited));
        assert_eq!(read("5/s"), Ok(RateArg::Limit(Rate::per_second(5))));
        for text in ["fast", "Auto", ""] {
            let error = read::<RateArg>(text).unwrap_err().to_string();
            assert!(error.ends_with("; or `auto` or `none`"), "{error}");
        }
    }

    #[test]
    fn a_constant_is_split_at_the_first_equals_sign() {
        for (text, name, value) in [("greeting=a=b", "greeting", "a=b"), ("x=", "x", "")] {
            let (name, value) = (name.to_owned(), value.to_owned());
            assert_eq!(read(text), Ok(Constant { name, value }));
        }
        is_none::<Constant>(&["=x", "x"]);
    }

    #[test]
    fn a_word_that_is_none_is_told_with_those_that_are() {
        let said = |text| read::<Format>(text).unwrap_err().to_string();
        assert_eq!(said("yaml"), "it takes `text` or `json`");
        assert_eq!(
            said("jsn"),
            "did you mean `json`? It takes `text` or `json`"
        );
    }
}
