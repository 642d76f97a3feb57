//! The values of options: how each is written, and the hint if one is wrong.
//!
//! Rule: one parser for each kind of value, whether it comes
//! from the command line, a variable, a settings file or a form.

use std::ffi::OsStr;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use secrecy::SecretString;

use crate::api::wire::VariablesShape;
use crate::exit::ExitCode;
use crate::intake::{KnownBad, OnUncertain, Once};
use crate::mapping::{ColumnChoice, EmptyCells, HiddenRows, Unclear, VarNames};
use crate::phone::{KindChoice, LineKind, PhoneRule, Region};
use crate::pipeline::ConcurrencyChoice;
use crate::rate::{Rate, RateChoice};
use crate::source::{Encoding, encoding_named};
use crate::text::alternatives;

pub trait Value: Clone + fmt::Debug + Send + Sync + 'static {
    const FORM: Form = Form::Text;

    /// The character that separates several values in one text.
    const SEPARATOR: Option<char> = None;

    /// Parses a value; the error says what to write instead.
    fn parse(text: &str) -> Result<Self, String>;

    /// Parses text that need not be Unicode, such as the name of a file.
    fn parse_os(text: &OsStr) -> Result<Self, String> {
        Self::parse(&text.to_string_lossy())
    }

    /// Its usual form, if one value can be written in several ways.
    fn usual_form(&self) -> Option<String> {
        None
    }

    /// The accepted words, if it is one of a few words.
    fn words() -> Vec<PossibleValue> {
        Vec::new()
    }
}

/// The kind of value that a settings file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text, or a whole number that is read as text.
    Text,
    /// The name of a file, relative to the folder of the settings file.
    File,
    Number,
    /// `true` or `false`.
    Switch,
}

/// A text that is checked where it is used.
impl Value for String {
    fn parse(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }
}

/// The name of a file; some options accept `none` or `-` too.
impl Value for PathBuf {
    const FORM: Form = Form::File;

    fn parse(text: &str) -> Result<PathBuf, String> {
        Ok(text.into())
    }

    fn parse_os(text: &OsStr) -> Result<PathBuf, String> {
        Ok(text.into())
    }
}

#[derive(Debug, Clone)]
pub enum TokenSource {
    File(PathBuf),
    /// The token itself, which comes from a variable.
    Text(SecretString),
}

impl Value for TokenSource {
    const FORM: Form = Form::File;

    fn parse(text: &str) -> Result<TokenSource, String> {
        TokenSource::parse_os(text.as_ref())
    }

    fn parse_os(text: &OsStr) -> Result<TokenSource, String> {
        Ok(TokenSource::File(text.into()))
    }
}

/// A password, which comes from a variable.
impl Value for SecretString {
    fn parse(text: &str) -> Result<SecretString, String> {
        Ok(text.into())
    }
}

/// `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    pub name: String,
    pub value: String,
}

impl Value for Constant {
    fn parse(text: &str) -> Result<Constant, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok(Constant {
                name: name.trim().to_owned(),
                value: value.to_owned(),
            }),
            Some(_) => Err("there is nothing before the `=`: write it like `city=York`".into()),
            None => Err("it has no `=`: write it like `city=York`".into()),
        }
    }
}

impl Value for bool {
    const FORM: Form = Form::Switch;

    fn parse(text: &str) -> Result<bool, String> {
        text.parse().map_err(|_| "write `true` or `false`".into())
    }
}

/// How often a flag is given.
impl Value for u8 {
    const FORM: Form = Form::Number;

    fn parse(text: &str) -> Result<u8, String> {
        let times = text.parse().ok().filter(|times| *times <= 9);
        times.ok_or("write a whole number from 0 to 9".into())
    }
}

impl Value for NonZeroU32 {
    const FORM: Form = Form::Number;

    fn parse(text: &str) -> Result<NonZeroU32, String> {
        text.parse()
            .map_err(|_| "write a whole number from 1 to 4294967295".into())
    }
}

impl Value for u64 {
    const FORM: Form = Form::Number;

    fn parse(text: &str) -> Result<u64, String> {
        let hint = match text.contains('/') {
            true => {
                "write a whole number; `--rate` limits how many requests are sent per second or minute"
            }
            false => "write a whole number of at most 19 digits, such as `500`",
        };
        text.parse().map_err(|_| hint.into())
    }
}

/// How many rows there must or may be: a number, or a share of some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Rows(u64),
    /// In thousandths of a percent.
    Share(u64),
}

impl Bound {
    /// A hundred percent.
    const WHOLE: u128 = 100_000;

    /// No list has more than ten times the rows that it should have and is right.
    const LARGEST: u64 = 1_000_000;

    /// The fewest rows that are not below the bound, if it is a share of `all`.
    pub fn at_least(self, all: u64) -> u64 {
        self.rows(all, |rows| rows.div_ceil(Bound::WHOLE))
    }

    /// The most rows that are not above the bound, if it is a share of `all`.
    pub fn at_most(self, all: u64) -> u64 {
        self.rows(all, |rows| rows / Bound::WHOLE)
    }

    fn rows(self, all: u64, rounded: impl Fn(u128) -> u128) -> u64 {
        match self {
            Bound::Rows(rows) => rows,
            Bound::Share(share) => {
                let rows = rounded(u128::from(all) * u128::from(share));
                u64::try_from(rows).unwrap_or(u64::MAX)
            }
        }
    }
}

impl Value for Bound {
    fn parse(text: &str) -> Result<Bound, String> {
        // Not what else a number is parsed from, such as a phone number with its plus.
        let number = |digits: &str| {
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| is_plain)
        };
        let Some(share) = text.trim().strip_suffix('%') else {
            let rows = number(text.trim()).map(Bound::Rows);
            return rows
                .ok_or("write a whole number such as `500`, or a share such as `90%`".into());
        };
        let share = share.trim_end();
        let (whole, thousandths) = share.split_once('.').unwrap_or((share, ""));
        let share = match whole.is_empty() || thousandths.len() > 3 {
            true => None,
            false => number(&format!("{whole}{thousandths:0<3}")),
        };
        let share = share.filter(|share| *share <= Bound::LARGEST);
        let share = share.map(Bound::Share);
        share.ok_or("write a share from `0%` to `1000%`, such as `90%` or `0.5%`".into())
    }
}

/// Each request in flight needs a file descriptor, and
/// by default systems give a process about a thousand.
const MAX_IN_FLIGHT: usize = 1000;

impl Value for ConcurrencyChoice {
    fn parse(text: &str) -> Result<ConcurrencyChoice, String> {
        if text.trim() == "auto" {
            return Ok(ConcurrencyChoice::Auto);
        }
        let most: Option<NonZeroUsize> = text.trim().parse().ok();
        most.filter(|most| most.get() <= MAX_IN_FLIGHT)
            .map(ConcurrencyChoice::Fixed)
            .ok_or_else(|| format!("write a number from 1 to {MAX_IN_FLIGHT}, or `auto`"))
    }
}

/// A single limit, of which several may apply together, or a word.
impl Value for RateChoice {
    fn parse(text: &str) -> Result<RateChoice, String> {
        match text.trim() {
            "auto" => Ok(RateChoice::Auto),
            "none" => Ok(RateChoice::Unlimited),
            _ => Rate::parse(text)
                .map(|rate| RateChoice::Limits(vec![rate]))
                .map_err(|hint| format!("{hint}; or `auto` or `none`")),
        }
    }
}

impl Value for Rate {
    fn parse(text: &str) -> Result<Rate, String> {
        text.parse().map_err(|error: &str| error.to_owned())
    }
}

/// The longest time, about 20,000 years: a longer one cannot be added to a point in time.
const MAX_TIME: SignedDuration = SignedDuration::from_hours(24 * 7_304_484);

/// A time such as `500ms`, `60s`, `1h30m` or `2d`; not zero. A day has 24 hours.
impl Value for Duration {
    fn parse(text: &str) -> Result<Duration, String> {
        let hint = "write a number and its unit, such as `500ms`, `60s`, `5min`, `1h` or `2d`";
        let time = span(text).ok_or(hint)?;
        let time = Duration::try_from(time).ok().filter(|time| !time.is_zero());
        time.ok_or("it must be more than 0, such as `60s`".into())
    }
}

/// An age such as `90d`, `2w` or `12h`; a day has 24 hours.
impl Value for SignedDuration {
    fn parse(text: &str) -> Result<SignedDuration, String> {
        let hint = "write a number and its unit, such as `90d`, `2w` or `12h`";
        let age = span(text).filter(|age| !age.is_negative());
        age.ok_or(hint.into())
    }
}

fn span(text: &str) -> Option<SignedDuration> {
    let span: Span = text.trim().parse().ok()?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    (span <= MAX_TIME).then_some(span)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl Value for Delimiter {
    fn parse(text: &str) -> Result<Delimiter, String> {
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
    fn parse(text: &str) -> Result<Encoding, String> {
        encoding_named(text)
    }
}

impl Value for Region {
    const SEPARATOR: Option<char> = Some(',');

    fn usual_form(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn parse(text: &str) -> Result<Region, String> {
        Region::parse(text).ok_or_else(|| {
            let nearest = Region::nearest(text);
            let question = nearest.map(|nearest| format!("; did you mean {nearest}?"));
            format!(
                "write a country code such as DE, or the country's name in English{}",
                question.unwrap_or_default()
            )
        })
    }
}

/// A kind of number by its word, with a plus to add it to the usual ones, or all of them.
impl Value for KindChoice {
    const SEPARATOR: Option<char> = Some(',');

    fn usual_form(&self) -> Option<String> {
        Some(match self {
            KindChoice::All => "all".to_owned(),
            KindChoice::Only(line) => line.as_str().to_owned(),
            KindChoice::Also(line) => format!("+{}", line.as_str()),
        })
    }

    fn parse(text: &str) -> Result<KindChoice, String> {
        let text = text.trim().to_lowercase().replace('-', "_");
        let word = text.strip_prefix('+').unwrap_or(&text);
        if text == "all" {
            return Ok(KindChoice::All);
        }
        let line = LineKind::all().find(|line| line.as_str() == word);
        let line = line.ok_or_else(|| {
            let words: Vec<&str> = LineKind::all().map(LineKind::as_str).collect();
            format!(
                "write {} or all, or one with `+` before it, to add it to the usual kinds",
                words.join(", ")
            )
        })?;
        Ok(if word.len() < text.len() {
            KindChoice::Also(line)
        } else {
            KindChoice::Only(line)
        })
    }
}

const NONE: &str = "none";

/// A country, or `none`, which overrides a profile's country.
impl Value for Option<Region> {
    fn usual_form(&self) -> Option<String> {
        Some(self.map_or(NONE.to_owned(), |region| region.to_string()))
    }

    fn parse(text: &str) -> Result<Option<Region>, String> {
        if text.trim().eq_ignore_ascii_case(NONE) {
            Ok(None)
        } else {
            <Region as Value>::parse(text).map(Some)
        }
    }
}

impl Value for ColumnChoice {
    fn parse(text: &str) -> Result<ColumnChoice, String> {
        Ok(match text.trim().to_lowercase().as_str() {
            "auto" => ColumnChoice::Auto,
            NONE => ColumnChoice::None,
            _ => ColumnChoice::Named(text.to_owned()),
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    #[default]
    Auto,
    Always,
    Never,
}

/// Implements `Value` for types that accept a few words, each with its help.
macro_rules! words {
    ($($type:ident { $($variant:ident = $word:literal, $help:literal;)* })*) => {$(
        impl Value for $type {
            fn parse(text: &str) -> Result<$type, String> {
                match text {
                    $($word => Ok($type::$variant),)*
                    _ => Err(format!("write {}", alternatives(&[$($word),*]))),
                }
            }

            fn words() -> Vec<PossibleValue> {
                vec![$(PossibleValue::new($word).help($help)),*]
            }
        }
    )*};
}

words! {
    ExitCode {
        Complete = "0", "As if no row had a problem";
        Problems = "1", "Some rows have problems";
    }
    VarNames {
        Snake = "snake", "`Customer Name` → `customer_name`";
        AsIs = "as-is", "Unchanged";
    }
    EmptyCells {
        Omit = "omit", "No variable";
        Send = "send", "An empty variable";
    }
    HiddenRows {
        Send = "send", "Send them too";
        Skip = "skip", "Leave them out; their status is `excluded`";
    }
    Unclear {
        LeaveOut = "leave-out", "Leave these people out";
        Call = "call", "Call them";
    }
    PhoneRule {
        E164 = "e164", "`+` and 7 to 15 digits, whatever they are";
        Possible = "possible", "An existing calling code and a length that numbers of that country can have";
        Valid = "valid", "Digits that are in use for numbers of that country";
    }
    OnUncertain {
        Resend = "resend", "Send it again; unless duplicates are allowed, the service refuses a second lead";
        Hold = "hold", "Leave the row `uncertain`";
    }
    Once {
        Campaign = "campaign", "Once to each campaign";
        Service = "service", "Once, whatever the campaign";
    }
    KnownBad {
        Retry = "retry", "Try them again";
        Skip = "skip", "Skip them";
    }
    VariablesShape {
        Array = "array", "`[{\"name\":\"Ada\"}]`, as in the API documentation of the service";
        Object = "object", "`{\"name\":\"Ada\"}`, as newer versions of the service expect it";
    }
    Format {
        Text = "text", "For people";
        Json = "json", "One JSON object";
    }
    Progress {
        Auto = "auto", "On a terminal";
        Always = "always", "Even if standard error is no terminal";
        Never = "never", "Never";
    }
    LogFormat {
        Text = "text", "For people";
        Json = "json", "One JSON object on each line";
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refuses<T: Value>(texts: &[&str]) {
        for text in texts {
            assert!(T::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn requests_in_flight_are_a_number_or_left_to_the_program() {
        let fixed = |most| Ok(ConcurrencyChoice::Fixed(NonZeroUsize::new(most).unwrap()));
        assert_eq!(Value::parse("auto"), Ok(ConcurrencyChoice::Auto));
        assert_eq!(Value::parse("1"), fixed(1));
        assert_eq!(Value::parse("1000"), fixed(1000));
        refuses::<ConcurrencyChoice>(&["", "0", "-1", "1001", "many", "1.5"]);
    }

    #[test]
    fn a_constant_is_split_at_the_first_equals_sign() {
        for (text, name, value) in [("greeting=a=b", "greeting", "a=b"), ("x=", "x", "")] {
            let (name, value) = (name.to_owned(), value.to_owned());
            assert_eq!(Value::parse(text), Ok(Constant { name, value }));
        }
        refuses::<Constant>(&["=x", "x"]);
    }

    #[test]
    fn a_bound_is_a_number_of_rows_or_a_share_with_up_to_three_decimals() {
        for (text, bound) in [
            ("0", Bound::Rows(0)),
            (" 500 ", Bound::Rows(500)),
            ("90%", Bound::Share(90_000)),
            ("0.5 %", Bound::Share(500)),
            ("12.345%", Bound::Share(12_345)),
            ("1000%", Bound::Share(1_000_000)),
        ] {
            assert_eq!(Value::parse(text), Ok(bound), "{text}");
        }
        refuses::<Bound>(&[
            "",
            "-1",
            "+5",
            "%",
            "-5%",
            ".5%",
            "1.2345%",
            "1,5%",
            "1000.001%",
            "1e2%",
            "90%%",
            "many",
        ]);
    }

    proptest! {
        #[test]
        fn a_share_bounds_exactly_the_rows_that_are_fewer_or_more(
            share in 0..=Bound::LARGEST,
            all in 0..=10_000_000_000_u64,
            rows in 0..=100_u64,
        ) {
            let bound = Bound::Share(share);
            let (least, most) = (bound.at_least(all), bound.at_most(all));
            // Rows around the bound, where an error of rounding would show.
            for rows in [rows, least, least.saturating_sub(1), most, most + 1] {
                let (is, said) = (u128::from(rows) * 100_000, u128::from(all) * u128::from(share));
                prop_assert_eq!(rows < least, is < said);
                prop_assert_eq!(rows > most, is > said);
            }
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
            let parsed = Value::parse(text);
            assert_eq!(parsed, Ok(Duration::from_millis(millis)), "{text}");
        }
        refuses::<Duration>(&["", "60", "-5s", "0s", "soon", "1mo", "99999999999999999h"]);
    }

    #[test]
    fn the_longest_duration_can_be_added_to_any_time() {
        let longest: Duration = Value::parse("7304484d").unwrap();
        assert!(std::time::Instant::now().checked_add(longest).is_some());
        refuses::<Duration>(&["7304485d", "7304484d1s"]);
    }

    #[test]
    fn ages_may_be_days_and_weeks_and_zero() {
        for (text, hours) in [("90d", 90 * 24), ("2w", 14 * 24), ("12h", 12), ("0s", 0)] {
            let parsed = Value::parse(text);
            assert_eq!(parsed, Ok(SignedDuration::from_hours(hours)), "{text}");
        }
        refuses::<SignedDuration>(&["", "90", "-1d", "3mo", "1y", "old"]);
    }

    #[test]
    fn a_rate_is_a_limit_or_one_of_two_words() {
        assert_eq!(Value::parse("auto"), Ok(RateChoice::Auto));
        assert_eq!(Value::parse(" none "), Ok(RateChoice::Unlimited));
        let limit = RateChoice::Limits(vec![Rate::per_second(5)]);
        assert_eq!(Value::parse("5/s"), Ok(limit));
        for text in ["fast", "Auto", ""] {
            let error = RateChoice::parse(text).unwrap_err().to_string();
            assert!(error.ends_with("`auto` or `none`"), "{error}");
        }
    }

    #[test]
    fn words_are_parsed_as_the_help_lists_them() {
        let words = PhoneRule::words();
        let names: Vec<&str> = words.iter().map(PossibleValue::get_name).collect();
        assert_eq!(names, ["e164", "possible", "valid"]);
        assert!(names.iter().all(|name| PhoneRule::parse(name).is_ok()));
        let error = Format::parse("yaml").unwrap_err();
        assert!(error.to_string().ends_with("`text` or `json`"));
    }
}
