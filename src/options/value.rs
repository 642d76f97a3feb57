//! The values that options take: how each is written and what is said of one that is wrong.
//!
//! Rule: one reader for each kind of value, wherever it was written: typed, in a variable, in
//! a file of settings or in a form.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
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
use crate::text::{alternatives, looks_secret, nearest, quoted_value, without_numbers};

/// Each request in flight takes a file descriptor, and systems give a process no more than
/// a thousand or so of them unasked.
const MAX_IN_FLIGHT: usize = 1000;

/// The longest time in days, some 20 000 years: every unit alone goes up to it.
const MAX_DAYS: u32 = 7_304_484;

/// The value of an option.
pub trait Value: Clone + fmt::Debug + Send + Sync + 'static {
    /// What a file of settings may hold for it.
    const FORM: Form;

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

    /// How it is told, where one value can be written in several ways that make no difference.
    fn told(&self, written: &OsStr) -> OsString {
        written.to_owned()
    }

    /// The words that it can be, where it can be no other.
    fn words() -> Vec<PossibleValue> {
        Vec::new()
    }
}

/// What a file of settings may hold for a value, and what to write there instead of
/// something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text.
    Text(&'static str),
    /// A text, which may be white space.
    Character(&'static str),
    /// A text, be it empty.
    AnyText(&'static str),
    /// The name of a file, from the folder of the settings.
    File,
    /// One of some words.
    Word,
    /// A whole number.
    Number,
    /// A text or a whole number.
    TextOrNumber(&'static str),
    /// The same, or a table of names and texts.
    Named(&'static str),
    /// `NAME=VALUE`, or a table of them.
    Pair,
}

impl Form {
    /// Whether a text is right.
    pub(super) fn takes_text(self) -> bool {
        self != Form::Number
    }

    /// Whether a number is right.
    pub(super) fn takes_number(self) -> bool {
        matches!(self, Form::Number | Form::TextOrNumber(_) | Form::Named(_))
    }

    /// Whether a table of names and texts is right.
    pub(super) fn takes_table(self) -> bool {
        matches!(self, Form::Named(_) | Form::Pair)
    }

    /// What has to stand there.
    pub(super) fn expected(self) -> &'static str {
        match (self.takes_text(), self.takes_number()) {
            (true, true) => "a text or a whole number",
            (false, _) => "a whole number",
            (true, false) => "a text",
        }
    }
}

/// What to write in a file of settings.
pub(super) fn instead<T: Value>() -> String {
    match T::FORM {
        Form::Text(instead) | Form::Character(instead) | Form::AnyText(instead) => {
            instead.to_owned()
        }
        Form::TextOrNumber(instead) | Form::Named(instead) => instead.to_owned(),
        Form::File => "write the name of a file, in quotes".to_owned(),
        Form::Number => "write it without quotes, such as `100`".to_owned(),
        Form::Pair => "write `{ NAME = \"text\" }`".to_owned(),
        Form::Word => {
            let words = T::words();
            let quoted = words.iter().map(|word| format!("\"{}\"", word.get_name()));
            format!("write {}", alternatives(&quoted.collect::<Vec<_>>()))
        }
    }
}

/// Why a value is not taken: what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ValueError {
    /// It is none, or not of this kind.
    #[error("{0}")]
    Wrong(String),
    /// It is one, and beyond what is meant.
    #[error("{0}")]
    TooLarge(String),
}

impl ValueError {
    /// What is wrong with a text: that its numbers are too large, where it `fits` with
    /// small ones; then `largest` says how large they may be.
    fn of(
        text: &str,
        fits: impl Fn(&str) -> bool,
        instead: impl Into<String>,
        largest: impl Into<String>,
    ) -> ValueError {
        if has_large_number(text) && fits(&with_small_numbers(text)) {
            ValueError::TooLarge(largest.into())
        } else {
            ValueError::Wrong(instead.into())
        }
    }

    /// What is wrong with a value that was written for `name`, a flag or what the help calls
    /// it. What is personal is not shown, and neither is what could be a token or a number of
    /// somebody: what is said may end in a log.
    pub fn told_of(&self, value: &str, name: &str, is_personal: bool) -> String {
        match self {
            ValueError::TooLarge(_) if looks_secret(value) || without_numbers(value) != value => {
                format!("the value of `{name}` is too large")
            }
            ValueError::TooLarge(_) => format!("{} is too large for `{name}`", quoted_value(value)),
            ValueError::Wrong(_) => unusable(value, name, is_personal),
        }
    }
}

/// That a value cannot be used.
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

/// Whether a number in it has more than two digits, and none is nought.
fn has_large_number(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let digits = numbers.filter(|number| !number.is_empty());
    let digits: Vec<usize> = digits
        .map(|number| number.trim_start_matches('0').len())
        .collect();
    digits.iter().all(|digits| *digits > 0) && digits.iter().any(|digits| *digits > 2)
}

/// The text with 1 for every number.
fn with_small_numbers(text: &str) -> String {
    let mut small = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_ascii_digit() {
            small.push(c);
        } else if !small.ends_with('1') {
            small.push('1');
        }
    }
    small
}

/// Texts that are looked into where they are used.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $form:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub String);

        impl $name {
            /// This text.
            pub fn said(text: &str) -> Said<$name> {
                Said::told_as($name(text.to_owned()), text)
            }
        }

        impl Value for $name {
            const FORM: Form = $form;

            fn parse(text: &str) -> Result<$name, ValueError> {
                Ok($name(text.to_owned()))
            }
        }
    )*};
}

texts! {
    /// Where a service is. Whether it may be plain http is for another option to say, so that
    /// it is read with that.
    Address: Form::Text("write it in quotes, such as `\"https://app.example.com\"`");
    /// The id or the name of a campaign; nothing where it is empty.
    CampaignText: Form::TextOrNumber("write the campaign's id, or its name in quotes");
    /// A column by its header or its number: which of the two, a list's header says.
    Column: Form::TextOrNumber("write the column's header in quotes, or its number");
    /// The same with a name for what stands in it, or without.
    NamedColumn: Form::Named("write the column's header in quotes, or its number");
    /// A header as it stands in a list.
    Header: Form::AnyText("write one, such as `[\"Phone\", \"City\"]`, or let `leadload check FILE --save-mapping PROFILE` write it");
    /// The name of a sheet or a profile, or a number of somebody.
    Name: Form::Text("write it in quotes");
}

/// Values that can be nothing but one of some words.
macro_rules! words {
    ($($name:ty),*) => {$(
        impl Value for $name {
            const FORM: Form = Form::Word;

            fn parse(text: &str) -> Result<$name, ValueError> {
                word(text)
            }

            fn words() -> Vec<PossibleValue> {
                possible::<$name>().collect()
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

fn possible<T: ValueEnum + 'static>() -> impl Iterator<Item = PossibleValue> {
    let variants = T::value_variants().iter();
    variants.filter_map(ValueEnum::to_possible_value)
}

fn word<T: ValueEnum + 'static>(text: &str) -> Result<T, ValueError> {
    T::from_str(text, false).map_err(|_| {
        let words: Vec<String> = possible::<T>().map(|word| word.get_name().into()).collect();
        let takes = format!("takes {}", alternatives(&words));
        ValueError::Wrong(match nearest(text, &words) {
            Some(nearest) => format!("did you mean `{nearest}`? It {takes}"),
            None => format!("it {takes}"),
        })
    })
}

/// The name of a file; what `none` and `-` mean is for its option to say.
impl Value for PathBuf {
    const FORM: Form = Form::File;

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

    fn parse(text: &str) -> Result<TokenSource, ValueError> {
        Ok(TokenSource::File(text.into()))
    }

    fn parse_os(text: &OsStr) -> Result<TokenSource, ValueError> {
        Ok(TokenSource::File(Path::new(text).to_owned()))
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
    const FORM: Form = Form::Text("write it in quotes, such as `\"100/min\"`");

    fn parse(text: &str) -> Result<RateArg, ValueError> {
        match text.trim() {
            "auto" => return Ok(RateArg::Auto),
            "none" => return Ok(RateArg::Unlimited),
            _ => {}
        }
        let or_word = |said: String| format!("{said}; or `auto` or `none`");
        text.parse()
            .map(RateArg::Limit)
            .map_err(|error: RateError| {
                let (instead, largest) = (error.to_string(), Rate::largest());
                ValueError::of(text, is_rate, or_word(instead), or_word(largest))
            })
    }
}

impl Value for Rate {
    const FORM: Form = RateArg::FORM;

    fn parse(text: &str) -> Result<Rate, ValueError> {
        text.parse().map_err(|error: RateError| {
            ValueError::of(text, is_rate, error.to_string(), Rate::largest())
        })
    }
}

fn is_rate(text: &str) -> bool {
    text.parse::<Rate>().is_ok()
}

/// A time such as `500ms`, `60s`, `1h30m` or `2d`; not zero. A day has 24 hours.
impl Value for Duration {
    const FORM: Form = Form::Text("write a number and its unit in quotes, such as `\"60s\"`");

    fn parse(text: &str) -> Result<Duration, ValueError> {
        let instead = "write a number and its unit, such as `500ms`, `60s`, `5min`, `1h` or `2d`";
        let time = |text: &str| {
            let time = span(text).and_then(|time| Duration::try_from(time).ok());
            time.filter(|time| !time.is_zero())
        };
        let fits = |text: &str| time(text).is_some();
        time(text).ok_or_else(|| ValueError::of(text, fits, instead, up_to_longest(instead)))
    }
}

/// An age such as `90d`, `2w` or `12h`; a day has 24 hours.
impl Value for SignedDuration {
    const FORM: Form = Duration::FORM;

    fn parse(text: &str) -> Result<SignedDuration, ValueError> {
        let instead = "write a number and its unit, such as `90d`, `2w` or `12h`";
        let age = |text: &str| span(text).filter(|age| !age.is_negative());
        let fits = |text: &str| age(text).is_some();
        age(text).ok_or_else(|| ValueError::of(text, fits, instead, up_to_longest(instead)))
    }
}

fn up_to_longest(instead: &str) -> String {
    format!("{instead}; the longest is `{MAX_DAYS}d`")
}

fn span(text: &str) -> Option<SignedDuration> {
    let span: Span = text.trim().parse().ok()?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    // Several units together could be more.
    let longest = SignedDuration::from_hours(24 * i64::from(MAX_DAYS));
    (span <= longest).then_some(span)
}

/// How many requests may be in flight: a number, or `auto`.
impl Value for ConcurrencyChoice {
    const FORM: Form = Form::TextOrNumber("write a whole number, or `\"auto\"`");

    fn parse(text: &str) -> Result<ConcurrencyChoice, ValueError> {
        if text.trim() == "auto" {
            return Ok(ConcurrencyChoice::Auto);
        }
        let most: Option<NonZeroUsize> = text.trim().parse().ok();
        most.filter(|most| most.get() <= MAX_IN_FLIGHT)
            .map(ConcurrencyChoice::Fixed)
            .ok_or_else(|| {
                let instead = format!("write a number from 1 to {MAX_IN_FLIGHT}, or `auto`");
                ValueError::of(text, is_number, &instead, &instead)
            })
    }
}

/// A whole number from 1 on.
impl Value for NonZeroU32 {
    const FORM: Form = Form::Number;

    fn parse(text: &str) -> Result<NonZeroU32, ValueError> {
        let instead = "write a whole number from 1 on";
        let largest = format!("write a whole number from 1 to {}", u32::MAX);
        text.trim()
            .parse()
            .map_err(|_| ValueError::of(text, is_number, instead, largest))
    }
}

/// A whole number.
impl Value for u64 {
    const FORM: Form = Form::Number;

    fn told(&self, _: &OsStr) -> OsString {
        self.to_string().into()
    }

    fn parse(text: &str) -> Result<u64, ValueError> {
        let instead = "write a whole number from 0 on";
        let largest = format!("write a whole number from 0 to {}", u64::MAX);
        text.trim()
            .parse()
            .map_err(|_| ValueError::of(text, is_number, instead, largest))
    }
}

fn is_number(text: &str) -> bool {
    text.trim().parse::<u64>().is_ok()
}

/// What stands between cells: one character that is not part of a cell's form, or its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl Value for Delimiter {
    const FORM: Form = Form::Character("write the character in quotes, such as `\";\"`");

    fn parse(text: &str) -> Result<Delimiter, ValueError> {
        let byte = match text.to_lowercase().as_str() {
            "tab" | "\\t" | "\t" => b'\t',
            "comma" => b',',
            "semicolon" => b';',
            "pipe" => b'|',
            other => match other.as_bytes() {
                [byte] if byte.is_ascii_punctuation() && *byte != b'"' || *byte == b' ' => *byte,
                _ => {
                    return Err(ValueError::Wrong(
                        "write one character, such as `;`, or `tab`".into(),
                    ));
                }
            },
        };
        Ok(Delimiter(byte))
    }
}

impl Value for Encoding {
    const FORM: Form = Form::Text("write it in quotes");

    fn parse(text: &str) -> Result<Encoding, ValueError> {
        text.parse().map_err(|error| {
            ValueError::Wrong(match error {
                EncodingError::Unknown {
                    nearest: Some(nearest),
                    ..
                } => format!("did you mean `{nearest}`?"),
                EncodingError::Unknown { nearest: None, .. } => {
                    "write its usual name, such as `UTF-8`, `windows-1252` or `Shift_JIS`".into()
                }
                EncodingError::Unsupported { .. } => {
                    "it is not read by anybody any more: convert the file to UTF-8".into()
                }
            })
        })
    }
}

impl Value for Region {
    const FORM: Form = Form::Text("write an ISO code in quotes, such as `\"GB\"`");
    const SEPARATOR: Option<char> = Some(',');

    fn told(&self, _: &OsStr) -> OsString {
        self.to_string().into()
    }

    fn parse(text: &str) -> Result<Region, ValueError> {
        Region::parse(text).ok_or_else(|| {
            let hint = match Region::nearest(text) {
                Some(nearest) => format!("; did you mean {nearest}?"),
                None => String::new(),
            };
            ValueError::Wrong(format!(
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

    fn parse(text: &str) -> Result<Constant, ValueError> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok(Constant {
                name: name.trim().to_owned(),
                value: value.to_owned(),
            }),
            _ => Err(ValueError::Wrong("write NAME=VALUE".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: Value + PartialEq>(text: &str) -> Result<T, ValueError> {
        T::parse(text)
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
        for text in ["", "60", "-5s", "0s", "soon", "1mo", "99999999999999999h"] {
            assert!(read::<Duration>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_longest_duration_can_be_added_to_any_time() {
        let longest: Duration = read("7304484d").unwrap();
        assert!(std::time::Instant::now().checked_add(longest).is_some());
    }

    #[test]
    fn requests_in_flight_are_a_number_or_left_to_the_program() {
        let fixed = |most| Ok(ConcurrencyChoice::Fixed(NonZeroUsize::new(most).unwrap()));
        assert_eq!(read("auto"), Ok(ConcurrencyChoice::Auto));
        assert_eq!(read("1"), fixed(1));
        assert_eq!(read("1000"), fixed(1000));
        for text in ["", "0", "-1", "1001", "many", "1.5"] {
            assert!(read::<ConcurrencyChoice>(text).is_err(), "{text}");
        }
    }

    fn is_too_large<T: Value + PartialEq>(text: &str) -> bool {
        match read::<T>(text) {
            Err(ValueError::TooLarge(_)) => true,
            Err(ValueError::Wrong(_)) => false,
            Ok(value) => panic!("{value:?} is taken"),
        }
    }

    #[test]
    fn what_is_too_large_is_told_from_what_is_no_number() {
        let nines = "9".repeat(20);
        for (text, expected) in [(&*nines, true), ("1.5", false), ("-1", false), ("", false)] {
            assert_eq!(is_too_large::<u64>(text), expected, "{text}");
            assert_eq!(is_too_large::<NonZeroU32>(text), expected, "{text}");
            assert_eq!(is_too_large::<ConcurrencyChoice>(text), expected, "{text}");
        }
        assert!(!is_too_large::<NonZeroU32>("0"));
        for unit in ["h", "d"] {
            let text = format!("{nines}{unit}");
            assert!(is_too_large::<Duration>(&text), "{text}");
            assert!(is_too_large::<SignedDuration>(&text), "{text}");
            assert!(is_too_large::<RateArg>(&format!("{nines}/{unit}")));
            assert!(is_too_large::<Rate>(&format!("5/{text}")));
        }
        for text in ["999", "999mo", "-999s", "0s"] {
            assert!(!is_too_large::<Duration>(text), "{text}");
        }
        for text in ["0/s", "999/0s", "999/fortnight", "999"] {
            assert!(!is_too_large::<RateArg>(text), "{text}");
        }
    }

    #[test]
    fn what_is_too_large_is_told_with_the_largest_value_which_is_taken() {
        fn said<T: Value + PartialEq>(text: &str) -> String {
            read::<T>(text).unwrap_err().to_string()
        }
        let nines = "9".repeat(20);
        let most = u32::MAX.to_string();
        assert!(read::<NonZeroU32>(&most).is_ok() && said::<NonZeroU32>(&nines).contains(&most));
        let most = u64::MAX.to_string();
        assert!(read::<u64>(&most).is_ok() && said::<u64>(&nines).contains(&most));
        for text in [format!("{nines}s"), "7304485d".into(), "7304484d1s".into()] {
            let longest = "; the longest is `7304484d`";
            assert!(said::<Duration>(&text).ends_with(longest), "{text}");
            assert!(said::<SignedDuration>(&text).ends_with(longest), "{text}");
        }
        assert!(read::<Duration>("7304484d").is_ok());
        assert!(read::<SignedDuration>("175307616h").is_ok());
        for text in ["1000001/s", "5/999d"] {
            let largest = "; up to 1000000 requests in up to a day";
            assert!(said::<Rate>(text).contains(largest), "{text}");
        }
        assert!(said::<RateArg>("1000001/s").ends_with("; or `auto` or `none`"));
        assert!(read::<RateArg>("1000000/d").is_ok());
    }

    #[test]
    fn a_rate_is_a_limit_or_one_of_two_words() {
        assert_eq!(read("auto"), Ok(RateArg::Auto));
        assert_eq!(read(" none "), Ok(RateArg::Unlimited));
        assert_eq!(read("5/s"), Ok(RateArg::Limit(Rate::per_second(5))));
        for text in ["fast", "Auto", ""] {
            let error = read::<RateArg>(text).unwrap_err().to_string();
            assert!(
                error.contains("`auto`") && error.contains("`none`"),
                "{error}"
            );
        }
    }

    #[test]
    fn ages_may_be_days_and_weeks_and_nothing_at_all() {
        assert_eq!(read("90d"), Ok(SignedDuration::from_hours(90 * 24)));
        assert_eq!(read("2w"), Ok(SignedDuration::from_hours(14 * 24)));
        assert_eq!(read("12h"), Ok(SignedDuration::from_hours(12)));
        assert_eq!(read("0s"), Ok(SignedDuration::ZERO));
        for text in ["", "90", "-1d", "3mo", "1y", "old"] {
            assert!(read::<SignedDuration>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_constant_is_split_at_the_first_equals_sign() {
        let constant = |name: &str, value: &str| {
            Ok(Constant {
                name: name.into(),
                value: value.into(),
            })
        };
        assert_eq!(read("greeting=a=b"), constant("greeting", "a=b"));
        assert_eq!(read("x="), constant("x", ""));
        assert!(read::<Constant>("=x").is_err());
        assert!(read::<Constant>("x").is_err());
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
