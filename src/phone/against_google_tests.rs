//! Tests that numbers are read as Google's library reads them.
//!
//! The generated tables must agree with the library that is linked in: for
//! every beginning and length of every calling code, for every answer of the
//! decision table, and for Google's own examples (`tests/phones/README.md`).

use proptest::prelude::*;
use rlibphonenumber::{NumberLengthType, PHONE_NUMBER_UTIL, PhoneNumberFormat, PhoneNumberType};

use super::dialling::{behind_zero, lost_plus};
use super::plan::{CallingCode, National};
use super::plans::{CALLING_CODES, NODES};
use super::rules::is_valid;
use super::*;

const FIRST_NODE: u16 = 512;

fn reader(rule: PhoneRule) -> PhoneRules {
    PhoneRules {
        rule,
        kinds: LineKinds::ALL,
        ..PhoneRules::default()
    }
}

/// How the library reads a text.
struct Reading {
    number: rlibphonenumber::PhoneNumber,
    e164: String,
    is_possible: bool,
}

fn library(text: &str, region: Option<Region>) -> Option<Reading> {
    let number = PHONE_NUMBER_UTIL
        .parse(text, region.map(|region| region.0))
        .ok()?;
    let e164 = PHONE_NUMBER_UTIL
        .format(&number, PhoneNumberFormat::E164)
        .into_owned();
    let is_possible = number.is_possible_with_reason() == Ok(NumberLengthType::IsPossible);
    Some(Reading {
        number,
        e164,
        is_possible,
    })
}

fn line(kind: PhoneNumberType) -> LineKind {
    match kind {
        PhoneNumberType::FixedLine => LineKind::Fixed,
        PhoneNumberType::Mobile => LineKind::Mobile,
        PhoneNumberType::FixedLineOrMobile => LineKind::FixedOrMobile,
        PhoneNumberType::TollFree => LineKind::TollFree,
        PhoneNumberType::PremiumRate => LineKind::Premium,
        PhoneNumberType::SharedCost => LineKind::SharedCost,
        PhoneNumberType::VoIP => LineKind::Voip,
        PhoneNumberType::PersonalNumber => LineKind::Personal,
        PhoneNumberType::Pager => LineKind::Pager,
        PhoneNumberType::UAN => LineKind::Uan,
        PhoneNumberType::VoiceMail => LineKind::Voicemail,
        PhoneNumberType::Unknown => LineKind::Unknown,
    }
}

/// The line where the plans say something else than Google (`tests/phones/plans.py`).
fn corrected(code: u16, national: &str) -> Option<LineKind> {
    let is_premium = national.starts_with("0899") && !national.starts_with("08996");
    match code {
        39 if is_premium && (8..=11).contains(&national.len()) => Some(LineKind::Premium),
        870 | 881 => Some(LineKind::Satellite),
        882 if national.starts_with("13") || national.starts_with("16") => {
            Some(LineKind::Satellite)
        }
        _ => None,
    }
}

/// Compares the kind of a number with the library's; the digits are taken as they are.
fn assert_kind(code: u16, national: &str) {
    let text = format!("+{code}{national}");
    let Ok(ours) = PhoneNumber::from_e164(&text) else {
        return;
    };
    let kind = NumberKind::of(ours);
    let zeros = national.len() - national.trim_start_matches('0').len();
    let number = rlibphonenumber::PhoneNumber {
        country_code: i32::from(code),
        national_number: national.parse().unwrap(),
        italian_leading_zero: Some(zeros > 0),
        number_of_leading_zeros: Some(zeros.min(national.len() - 1) as i32),
        ..Default::default()
    };
    let country = number
        .get_region_code()
        .filter(|region| *region != rlibphonenumber::Region::World);
    assert_eq!(kind.country.map(|region| region.0), country, "{text}");
    let expected = match line(number.get_type()) {
        LineKind::Unknown => LineKind::Unknown,
        of_google => corrected(code, national).unwrap_or(of_google),
    };
    assert_eq!(kind.line, expected, "{text}");
    assert_eq!(kind.calling_code, code, "{text}");
    let valid = reader(PhoneRule::Valid).judged_alone(ours);
    let is_possible = number.is_possible_with_reason() == Ok(NumberLengthType::IsPossible);
    assert_eq!(valid, number.is_valid() && is_possible, "{text}");
}

/// Whether digits without a plus begin with the region's calling code, and are a number with it, or
/// have it twice or with a prefix behind or before it: our reader decides on purpose what is meant.
fn begins_with_own_code(digits: &str, region: Region) -> bool {
    let is_decided = |plan: &CallingCode| {
        let code = plan.code.to_string();
        let rest = digits.strip_prefix(&code);
        let behind_prefix = plan.without_prefix(digits);
        let twice = PhoneNumber::from_digits(&format!("{code}{digits}"));
        let is_long = |number| is_valid(number) && !National::of(number).is_usual();
        rest.is_some_and(|rest| rest.starts_with(&code) || plan.without_prefix(rest).is_some())
            || rest.is_some() && twice.is_some_and(is_long)
            || behind_prefix.is_some_and(|rest| rest.starts_with(&code))
    };
    lost_plus(digits, region).is_some() || is_decided(CallingCode::of(region))
}

/// Whether the digits begin with a calling code that follows itself: our reader decides on purpose
/// about what the library takes as it is.
fn has_code_twice(digits: &str) -> bool {
    CallingCode::beginning(digits).is_some_and(|plan| {
        let code = plan.code.to_string();
        let rest = digits.strip_prefix(&code).unwrap_or_default();
        rest.strip_prefix("00").unwrap_or(rest).starts_with(&code)
    })
}

/// Compares how `+` and digits are read with how the library reads them.
fn assert_reading(digits: &str) {
    if has_code_twice(digits) {
        return;
    }
    let text = format!("+{digits}");
    let as_written = PhoneNumber::from_e164(&text).ok();
    let read = library(&text, None);
    let possible = read.as_ref().filter(|read| read.is_possible);
    let possible = possible.and_then(|read| PhoneNumber::from_e164(&read.e164).ok());
    assert_eq!(
        reader(PhoneRule::E164).read(&text, None).ok(),
        possible.or(as_written),
        "{text}"
    );
    assert_eq!(
        reader(PhoneRule::Possible).read(&text, None).ok(),
        possible,
        "{text}"
    );
    let valid = possible.filter(|_| read.is_some_and(|read| read.number.is_valid()));
    assert_eq!(
        reader(PhoneRule::Valid).read(&text, None).ok(),
        valid,
        "{text}"
    );
}

impl PhoneRules {
    /// Whether the rules take a number as it is.
    fn judged_alone(&self, number: PhoneNumber) -> bool {
        self.judge(National::of(number)).is_ok()
    }
}

/// Digits that look random and are the same in every run.
fn filler(seed: u64) -> String {
    let mixed = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("{:015}", (mixed ^ mixed >> 29) % 1_000_000_000_000_000)
}

fn lengths(code: u16) -> std::ops::RangeInclusive<usize> {
    let width = code.to_string().len();
    7 - width..=15 - width
}

#[test]
fn the_calling_codes_are_those_of_the_library() {
    let ours: Vec<i32> = CALLING_CODES
        .iter()
        .map(|code| i32::from(code.code))
        .collect();
    let mut theirs: Vec<i32> = PHONE_NUMBER_UTIL.get_supported_calling_codes().collect();
    theirs.sort_unstable();
    theirs.dedup();
    assert_eq!(ours, theirs);
}

#[test]
fn no_decision_takes_more_digits_than_the_number_has() {
    fn check(answer: u16, digits_left: usize) {
        let Some(node) = answer.checked_sub(FIRST_NODE) else {
            return;
        };
        assert!(digits_left > 0);
        for next in NODES[usize::from(node)] {
            check(next, digits_left - 1);
        }
    }
    for code in &CALLING_CODES {
        for length in lengths(code.code) {
            check(code.roots[length], length);
        }
    }
}

/// National numbers of a calling code, of every beginning and length.
fn national_numbers(code: u16) -> impl Iterator<Item = String> {
    let beginnings = lengths(code).flat_map(|length| (0..1000).map(move |first| (length, first)));
    beginnings.map(move |(length, first)| {
        let rest = filler(first << 16 | u64::from(code) << 4 | length as u64);
        format!("{first:03}{}", &rest[..length - 3])
    })
}

#[test]
fn every_beginning_and_length_of_every_calling_code_is_read_as_the_library_reads_it() {
    for code in &CALLING_CODES {
        for national in national_numbers(code.code) {
            assert_reading(&format!("{}{national}", code.code));
        }
    }
}

#[test]
fn a_zero_is_taken_off_without_the_library_only_if_it_takes_off_that_zero_too() {
    let (mut taken, mut left) = (0, 0);
    for code in CALLING_CODES.iter().filter(|code| code.has_plain_zero) {
        for region in code.regions.iter().copied().map(Region) {
            for national in national_numbers(code.code) {
                let digits = format!("0{national}");
                let Some(number) = behind_zero(&digits, region) else {
                    left += 1;
                    continue;
                };
                taken += 1;
                let read = library(&digits, Some(region)).unwrap();
                assert_eq!(read.e164, number.to_string(), "{digits} {region}");
            }
        }
    }
    assert!(taken > 50_000 && left > 500_000, "{taken} {left}");
}

#[test]
fn every_answer_of_the_decision_table_is_that_of_the_library() {
    fn check(code: &CallingCode, answer: u16, beginning: &str, length: usize) {
        let Some(node) = answer.checked_sub(FIRST_NODE) else {
            let rest = filler(beginning.parse().unwrap_or(0) + length as u64);
            assert_kind(
                code.code,
                &format!("{beginning}{}", &rest[..length - beginning.len()]),
            );
            return;
        };
        for (digit, next) in NODES[usize::from(node)].into_iter().enumerate() {
            check(code, next, &format!("{beginning}{digit}"), length);
        }
    }
    for code in &CALLING_CODES {
        for length in lengths(code.code) {
            check(code, code.roots[length], "", length);
        }
    }
}

#[test]
fn examples_of_google_are_read_as_google_reads_them() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/phones/examples.csv"
    ))
    .unwrap();
    let mut count = 0;
    for line in text.lines().filter(|line| !line.starts_with(['#'])).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_example(&cells.try_into().expect(line));
        count += 1;
    }
    assert!(count > 3000);
}

fn assert_example(row: &[&str; 11]) {
    let [
        region,
        international,
        national,
        rfc3966,
        e164,
        with_plus,
        with_region,
        possible,
        valid,
        country,
        line,
    ] = *row;
    let written = PhoneNumber::from_e164(e164).ok();
    let region = Region::parse(region);
    for rule in [PhoneRule::E164, PhoneRule::Possible, PhoneRule::Valid] {
        let expected = expected(rule, with_plus, e164);
        let expected = expected.or(written.filter(|_| rule == PhoneRule::E164));
        for cell in [international, rfc3966, e164] {
            assert_eq!(
                reader(rule).read(cell, None).ok(),
                expected,
                "{rule:?} {cell}"
            );
            assert_eq!(
                reader(rule).read(cell, region).ok(),
                expected,
                "{rule:?} {cell}"
            );
        }
        if region.is_some() {
            let read = reader(rule).read(national, region).ok();
            let expected = self::expected(rule, with_region, e164);
            assert_eq!(
                read,
                expected.filter(|number| !keeps_zero(*number)),
                "{rule:?} {national} {region:?}"
            );
        }
        let alone = reader(rule).read(national, None);
        if let Some(abroad) = national.strip_prefix("00") {
            assert_eq!(
                alone,
                reader(rule).read(&format!("+{abroad}"), None),
                "{national}"
            );
            continue;
        }
        assert!(
            matches!(alone, Err(PhoneProblem::NoCountry { .. })),
            "{national} {alone:?}"
        );
    }
    if let Some(number) = written {
        let kind = NumberKind::of(number);
        assert_eq!(
            kind.country
                .map_or("-".to_owned(), |country| country.to_string()),
            country,
            "{e164}"
        );
        let national = e164.trim_start_matches(&format!("+{}", kind.calling_code));
        let own = corrected(kind.calling_code, national).map(LineKind::as_str);
        let own = own.filter(|_| line != "unknown");
        assert_eq!(kind.line.as_str(), own.unwrap_or(line), "{e164}");
        assert_eq!(
            reader(PhoneRule::Possible).judged_alone(number),
            possible == "yes",
            "{e164}"
        );
        assert_eq!(
            reader(PhoneRule::Valid).judged_alone(number),
            possible == "yes" && valid == "yes",
            "{e164}"
        );
    }
}

/// What a rule gives for a reading in the examples.
fn expected(rule: PhoneRule, reading: &str, e164: &str) -> Option<PhoneNumber> {
    let (number, grade) = reading.split_once(' ')?;
    let is_good = match rule {
        PhoneRule::Valid => grade == "valid",
        PhoneRule::E164 | PhoneRule::Possible => grade != "impossible",
    };
    let number = if number == "=" { e164 } else { number };
    PhoneNumber::from_e164(number).ok().filter(|_| is_good)
}

/// Whether a number still has its trunk zero because too few digits follow it. Google calls
/// such a number possible. Our reader does not, if the number is written in national form.
fn keeps_zero(number: PhoneNumber) -> bool {
    let digits = number.key().to_string();
    let code = CallingCode::beginning(&digits).unwrap();
    let national = &digits[code.code.to_string().len()..];
    // By length: the library would take the next zero for another trunk zero.
    let is_full = code.possible_lengths >> (national.len() - 1) & 1 == 1;
    national.starts_with('0')
        && code.has_trunk_zero()
        && !library(&number.to_string(), None).is_some_and(|read| read.number.is_valid())
        && !is_full
}

/// A calling code and the digits after it. Most have a possible length.
fn numbers() -> impl Strategy<Value = (u16, String)> {
    let lengths = |code: &'static CallingCode| {
        let possible: Vec<usize> = lengths(code.code)
            .filter(|length| code.possible_lengths >> length & 1 == 1)
            .collect();
        if possible.is_empty() {
            lengths(code.code).boxed()
        } else {
            prop_oneof![4 => proptest::sample::select(possible), 1 => lengths(code.code)].boxed()
        }
    };
    (0..CALLING_CODES.len())
        .prop_flat_map(move |at| (Just(&CALLING_CODES[at]), lengths(&CALLING_CODES[at])))
        .prop_flat_map(|(code, length)| {
            (Just(code.code), proptest::collection::vec(0..10_u8, length))
        })
        .prop_map(|(code, digits)| {
            (
                code,
                digits
                    .iter()
                    .map(|digit| char::from(b'0' + digit))
                    .collect(),
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chance_numbers_of_every_calling_code_are_read_as_the_library_reads_them((code, national) in numbers()) {
        assert_reading(&format!("{code}{national}"));
        assert_kind(code, &national);
    }

    #[test]
    fn digits_after_a_plus_are_read_as_the_library_reads_them(digits in "[1-9][0-9]{0,18}") {
        assert_reading(&digits);
    }

    #[test]
    fn national_digits_are_read_as_the_library_reads_them(digits in "[1-9][0-9]{1,14}|0[1-9][0-9]{5,12}", at in 0..CALLING_CODES.len()) {
        if let Some(region) = CALLING_CODES[at].regions.first().copied().map(Region)
            && !digits.starts_with("011")
            && !begins_with_own_code(&digits, region)
        {
            let read = library(&digits, Some(region)).filter(|read| read.is_possible);
            let expected = read.and_then(|read| PhoneNumber::from_e164(&read.e164).ok());
            let expected = expected.filter(|number| !keeps_zero(*number));
            prop_assert_eq!(reader(PhoneRule::Possible).read(&digits, Some(region)).ok(), expected);
        }
    }

    #[test]
    fn written_numbers_are_read_as_the_library_reads_them(cell in "[+(]?[1-9]([ ().-]?[0-9]){4,14}", at in 0..CALLING_CODES.len()) {
        let region = CALLING_CODES[at].regions.first().copied().map(Region);
        // Parts that our reader removes on purpose and Google does not.
        let digits: String = cell.chars().filter(char::is_ascii_digit).collect();
        let is_repaired = cell.contains("(0)")
            || cell.ends_with(')')
            || amount::decimals(&cell).is_some()
            || has_code_twice(&digits)
            || amount::is_amount(&cell)
            || date::is_date(&cell)
            || date::may_be_date(&cell)
            || damage::is_negative(&cell)
            || several::before_other_ending(&cell).is_some()
            || several::behind_item(&cell, region).is_some()
            || region.is_some_and(|region| begins_with_own_code(&digits, region));
        if (region.is_some() || cell.starts_with('+')) && !is_repaired {
            // With a plus the region does not matter.
            let read = library(&cell, region.filter(|_| !cell.starts_with('+'))).filter(|read| read.is_possible);
            let expected = read.and_then(|read| PhoneNumber::from_e164(&read.e164).ok());
            let expected = expected.filter(|number| cell.starts_with('+') || !keeps_zero(*number));
            prop_assert_eq!(reader(PhoneRule::Possible).read(&cell, region).ok(), expected);
        }
    }

    #[test]
    fn a_number_that_has_no_prefix_is_left_alone_by_the_library((code, national) in numbers()) {
        let digits = format!("+{code}{national}");
        let number = PhoneNumber::from_e164(&digits).unwrap();
        if !National::of(number).may_have_prefix() {
            prop_assert_eq!(library(&digits, None).unwrap().e164, digits);
        }
    }
}
