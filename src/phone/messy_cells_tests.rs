//! Cells from real files, each with a name that says what is special about it.

use proptest::prelude::*;

use super::*;

/// Name, cell, region (or empty), and the number or the code of the problem.
type Case = (&'static str, &'static str, &'static str, &'static str);

const GOOD: &[Case] = &[
    ("E.164", "+447911123456", "", "+447911123456"),
    (
        "white space around",
        " \u{a0}+447911123456\r\n",
        "",
        "+447911123456",
    ),
    ("spaces", "+44 7911 123456", "", "+447911123456"),
    (
        "no-break spaces",
        "+44\u{a0}7911\u{202f}123\u{2009}456",
        "",
        "+447911123456",
    ),
    ("tabs", "+44\t7911\t123456", "", "+447911123456"),
    (
        "ideographic space",
        "+44\u{3000}7911\u{3000}123456",
        "",
        "+447911123456",
    ),
    (
        "a line break within",
        "+44\n7911 123456",
        "",
        "+447911123456",
    ),
    (
        "a mark of direction within",
        "+44 7911\u{200e}123456",
        "",
        "+447911123456",
    ),
    (
        "marks of direction around",
        "\u{202a}+447911123456\u{202c}",
        "",
        "+447911123456",
    ),
    (
        "a byte order mark",
        "\u{feff}+447911123456",
        "",
        "+447911123456",
    ),
    (
        "soft hyphens",
        "+44\u{ad}7911\u{ad}123456",
        "",
        "+447911123456",
    ),
    ("Unicode dashes", "+44–7911‑123−456", "", "+447911123456"),
    (
        "full-width signs",
        "＋４４（７９１１）１２３－４５６",
        "",
        "+447911123456",
    ),
    ("Arabic digits", "+٤٤٧٩١١١٢٣٤٥٦", "", "+447911123456"),
    ("Persian digits", "۰۷۹۱۱ ۱۲۳۴۵۶", "GB", "+447911123456"),
    ("points", "+44.7911.123456", "", "+447911123456"),
    ("middle dots", "+44·7911·123456", "", "+447911123456"),
    (
        "brackets around the plus",
        "(+44) 7911 123456",
        "",
        "+447911123456",
    ),
    (
        "brackets after the plus",
        "+(44) 7911 123456",
        "",
        "+447911123456",
    ),
    ("two pluses in front", "++447911123456", "", "+447911123456"),
    (
        "a space after the plus",
        "+ 44 7911 123456",
        "",
        "+447911123456",
    ),
    ("plus and zeros", "+00447911123456", "", "+447911123456"),
    (
        "a zero in brackets",
        "+44 (0)7911 123456",
        "",
        "+447911123456",
    ),
    (
        "a spaced zero in brackets",
        "+44 ( 0 ) 7911 123456",
        "",
        "+447911123456",
    ),
    (
        "a zero in square brackets",
        "+44 [0] 7911 123456",
        "",
        "+447911123456",
    ),
    (
        "a zero in brackets after 00",
        "0044 (0) 7911 123456",
        "",
        "+447911123456",
    ),
    (
        "a trunk zero left in",
        "+44 07911 123456",
        "",
        "+447911123456",
    ),
    (
        "a trunk zero in Germany",
        "+49 (0) 30 901820",
        "",
        "+4930901820",
    ),
    (
        "Italy's zero in brackets",
        "+39 (0)6 698 82022",
        "",
        "+390669882022",
    ),
    (
        "Italy's zero without brackets",
        "+39 06 698 82022",
        "",
        "+390669882022",
    ),
    (
        "an Italian mobile with a zero too many",
        "+39 (0)347 123 4567",
        "",
        "+393471234567",
    ),
    (
        "00 without a region",
        "0044 7911 123456",
        "",
        "+447911123456",
    ),
    (
        "00 with its region",
        "0044 7911 123456",
        "GB",
        "+447911123456",
    ),
    ("00 in America", "0044 7911 123456", "US", "+447911123456"),
    (
        "011 in America",
        "011 44 7911 123456",
        "US",
        "+447911123456",
    ),
    (
        "011 without a region",
        "011 44 7911 123456",
        "",
        "+447911123456",
    ),
    ("a national number", "07911 123456", "GB", "+447911123456"),
    (
        "a lost plus where Google sees a longer national number",
        "491713920001",
        "DE",
        "+491713920001",
    ),
    (
        "a lost plus where Google sees Lund",
        "46 70 174 06 05",
        "SE",
        "+46701740605",
    ),
    (
        "a mobile of Italy that begins like the country's code",
        "392 123 4567",
        "IT",
        "+393921234567",
    ),
    (
        "brackets around the area",
        "(212) 555-0123",
        "US",
        "+12125550123",
    ),
    ("1 in front", "1-212-555-0123", "US", "+12125550123"),
    ("the plus lost", "447911123456", "GB", "+447911123456"),
    ("slashes", "0171/1234567", "DE", "+491711234567"),
    (
        "slashes after a plus",
        "+49/171/1234567",
        "",
        "+491711234567",
    ),
    ("8 in Russia", "8 (912) 345-67-89", "RU", "+79123456789"),
    (
        "a genuine 8 in Russia",
        "+7 812 345-67-89",
        "",
        "+78123456789",
    ),
    (
        "8 left in, in Belarus",
        "+375 8 0291 234567",
        "",
        "+375291234567",
    ),
    (
        "15 in Argentina",
        "011 15-2345-6789",
        "AR",
        "+5491123456789",
    ),
    ("Mexico", "55 1234 5678", "MX", "+525512345678"),
    (
        "a formula for text",
        "=\"07911123456\"",
        "GB",
        "+447911123456",
    ),
    (
        "an apostrophe in front",
        "'07911123456",
        "GB",
        "+447911123456",
    ),
    (
        "a curly apostrophe in front",
        "’+447911123456",
        "",
        "+447911123456",
    ),
    ("quotes", "\"+447911123456\"", "", "+447911123456"),
    ("a tel: address", "tel:+44-7911-123456", "", "+447911123456"),
    ("a Tel label", "Tel. +44 7911 123456", "", "+447911123456"),
    (
        "a decimal fraction",
        "447911123456.0",
        "GB",
        "+447911123456",
    ),
    (
        "a decimal fraction with a comma",
        "+447911123456,00",
        "",
        "+447911123456",
    ),
    (
        "an empty extension",
        "+44 20 7946 0000 ext.",
        "",
        "+442079460000",
    ),
    (
        "a zero extension",
        "+44 20 7946 0000 x0",
        "",
        "+442079460000",
    ),
    (
        "the same number twice",
        "+44 7911 123456 / +447911123456",
        "",
        "+447911123456",
    ),
    (
        "the same number in two ways",
        "07911 123456; +44 7911 123456",
        "GB",
        "+447911123456",
    ),
    (
        "a list with its end lost",
        "+44 7911 123456;",
        "",
        "+447911123456",
    ),
    (
        "a number of no country",
        "+800 1234 5678",
        "",
        "+80012345678",
    ),
];

const BAD: &[Case] = &[
    ("nothing", "", "GB", "phone_missing"),
    ("white space", " \u{a0}\t", "", "phone_missing"),
    (
        "only invisible characters",
        "\u{200b}\u{feff}",
        "",
        "phone_missing",
    ),
    ("a dash for nothing", "-", "GB", "phone_missing"),
    ("a long dash for nothing", "—", "GB", "phone_missing"),
    ("points for nothing", "...", "", "phone_missing"),
    ("quotes for nothing", "\"\"", "", "phone_missing"),
    ("a word for nothing", "n/a", "GB", "phone_not_e164"),
    ("a remark", "+44 7911 123456 (home)", "", "phone_not_e164"),
    (
        "a letter after it",
        "+56 600 127 169 M",
        "",
        "phone_not_e164",
    ),
    (
        "a number spelt as a word",
        "1-800-FLOWERS",
        "US",
        "phone_not_e164",
    ),
    ("a short code", "*123#", "GB", "phone_not_e164"),
    ("one x", "1x 07911 123456", "GB", "phone_not_e164"),
    (
        "an extension",
        "+44 20 7946 0000 ext 12",
        "",
        "phone_not_e164",
    ),
    (
        "an extension after x",
        "(212) 555-0123 x12",
        "US",
        "phone_not_e164",
    ),
    (
        "an extension after #",
        "(212) 555-0123 #12",
        "US",
        "phone_not_e164",
    ),
    (
        "an extension in an address",
        "tel:+442079460000;ext=12",
        "",
        "phone_not_e164",
    ),
    (
        "an extension in German",
        "030 901820 Durchwahl 12",
        "DE",
        "phone_not_e164",
    ),
    (
        "an extension in Russian",
        "+7 495 123-45-67 доб. 12",
        "",
        "phone_not_e164",
    ),
    (
        "a plus and one zero",
        "+07911123456",
        "GB",
        "phone_not_e164",
    ),
    (
        "a national number without a region",
        "07911 123456",
        "",
        "phone_not_e164",
    ),
    (
        "a lost plus without a region",
        "447911123456",
        "",
        "phone_not_e164",
    ),
    (
        "a national number that begins with 011",
        "011 4567 8901",
        "",
        "phone_not_e164",
    ),
    (
        "011 in Britain",
        "011 1 212 555 0123",
        "GB",
        "phone_impossible",
    ),
    ("scientific notation", "4.47912E+11", "GB", "phone_damaged"),
    (
        "scientific notation with a comma",
        "4,47912E+11",
        "",
        "phone_damaged",
    ),
    (
        "scientific notation, all digits there",
        "4.47911123456e+11",
        "",
        "phone_damaged",
    ),
    (
        "scientific notation without a fraction",
        "4E+11",
        "",
        "phone_damaged",
    ),
    ("an error value", "#REF!", "GB", "phone_damaged"),
    ("a missing value", "#N/A", "", "phone_damaged"),
    ("a narrow column", "########", "", "phone_damaged"),
    (
        "two numbers after a semicolon",
        "+447911123456;+447911123457",
        "",
        "phone_ambiguous",
    ),
    (
        "two numbers after a comma",
        "07911 123456, 07911 123457",
        "GB",
        "phone_ambiguous",
    ),
    (
        "two numbers on two lines",
        "07911 123456\n07911 123457",
        "GB",
        "phone_ambiguous",
    ),
    (
        "two numbers with or",
        "07911 123456 or 07911 123457",
        "GB",
        "phone_ambiguous",
    ),
    (
        "two numbers with a slash",
        "+44 7911 123456 / 7911 123457",
        "",
        "phone_ambiguous",
    ),
    (
        "a number with another end",
        "089 1234567/68",
        "DE",
        "phone_ambiguous",
    ),
    (
        "two pluses apart",
        "+44 7911 123456 +44 7911 123457",
        "",
        "phone_ambiguous",
    ),
    (
        "two numbers with a space",
        "07911 123456 07911 123457",
        "GB",
        "phone_ambiguous",
    ),
    (
        "an extension dialled after a pause",
        "+442079460000,,12",
        "",
        "phone_ambiguous",
    ),
    (
        "no such calling code",
        "+999 1234 5678",
        "",
        "phone_impossible",
    ),
    ("too short", "+44 7911 12", "", "phone_impossible"),
    ("too long", "+44 7911 1234567", "", "phone_impossible"),
    (
        "too many digits for any number",
        "+4479111234567890123",
        "",
        "phone_impossible",
    ),
    ("a local number", "555-0123", "US", "phone_impossible"),
    (
        "a local number with its trunk zero",
        "020 7946",
        "GB",
        "phone_impossible",
    ),
    ("six digits", "+49 1234", "", "phone_impossible"),
    ("one digit", "0", "GB", "phone_impossible"),
];

fn outcome(rules: PhoneRules, cell: &str, region: &str) -> String {
    let region = Region::parse(region);
    match rules.read(cell, region) {
        Ok(number) => number.to_string(),
        Err(problem) => problem.code().to_string(),
    }
}

fn with_rule(rule: PhoneRule) -> PhoneRules {
    PhoneRules {
        rule,
        ..PhoneRules::default()
    }
}

#[test]
fn messy_cells_that_hold_one_number_give_it() {
    for (name, cell, region, expected) in GOOD {
        assert_eq!(
            outcome(PhoneRules::default(), cell, region),
            *expected,
            "{name}"
        );
        assert_eq!(
            outcome(with_rule(PhoneRule::E164), cell, region),
            *expected,
            "{name}"
        );
    }
}

#[test]
fn cells_that_hold_no_number_or_an_uncertain_one_are_refused() {
    for (name, cell, region, expected) in BAD {
        assert_eq!(
            outcome(PhoneRules::default(), cell, region),
            *expected,
            "{name}"
        );
    }
    let long = format!("+44 7911 123456{}", " ".repeat(300));
    assert_eq!(outcome(PhoneRules::default(), &long, ""), "+447911123456");
    let long = format!("+44 7911{}123456", " ".repeat(300));
    assert_eq!(outcome(PhoneRules::default(), &long, ""), "phone_not_e164");
}

#[test]
fn the_rule_e164_takes_whatever_has_the_form() {
    let e164 = |cell, region| outcome(with_rule(PhoneRule::E164), cell, region);
    assert_eq!(e164("+999 1234 5678", ""), "+99912345678");
    assert_eq!(e164("+44 7911 12", ""), "+44791112");
    assert_eq!(e164("+44 07911 123456", ""), "+447911123456");
    assert_eq!(e164("+491234", ""), "phone_not_e164");
    assert_eq!(e164("+4479111234567890", ""), "phone_not_e164");
    assert_eq!(e164("0791", "GB"), "phone_impossible");
    assert_eq!(e164("020 7946", "GB"), "phone_impossible");
}

#[test]
fn the_rule_valid_takes_digits_in_use_only() {
    let valid = |cell, region| outcome(with_rule(PhoneRule::Valid), cell, region);
    assert_eq!(valid("+447911123456", ""), "+447911123456");
    assert_eq!(valid("+447000000", ""), "phone_invalid");
    assert_eq!(valid("+12125550123", ""), "+12125550123");
    assert_eq!(valid("+11115550123", ""), "phone_invalid");
    assert_eq!(valid("+4479111234567", ""), "phone_impossible");
    assert_eq!(valid("+99912345678", ""), "phone_impossible");
}

#[test]
fn a_lost_plus_is_only_put_back_where_the_user_says_so() {
    let rules = PhoneRules {
        assume_plus: true,
        ..PhoneRules::default()
    };
    assert_eq!(outcome(rules.clone(), "447911123456", ""), "+447911123456");
    assert_eq!(
        outcome(rules.clone(), "447911123456.0", ""),
        "+447911123456"
    );
    assert_eq!(outcome(rules.clone(), "07911123456", ""), "phone_not_e164");
    assert_eq!(outcome(rules, "07911123456", "GB"), "+447911123456");
}

#[test]
fn the_hint_on_a_lost_plus_is_given_only_where_it_would_help() {
    let problem = |cell| PhoneRules::default().read(cell, None).unwrap_err();
    assert_eq!(
        problem("447911123456"),
        PhoneProblem::NoCountry { has_code: true }
    );
    assert_eq!(
        problem("07911123456"),
        PhoneProblem::NoCountry { has_code: false }
    );
}

#[test]
fn only_numbers_of_the_wanted_countries_are_taken() {
    let of = |names: &[&str], rule, cell| {
        let rules = PhoneRules {
            rule,
            countries: names
                .iter()
                .filter_map(|name| Region::parse(name))
                .collect(),
            ..PhoneRules::default()
        };
        outcome(rules, cell, "")
    };
    let possible = PhoneRule::Possible;
    assert_eq!(
        of(&["GB", "US"], possible, "+447400123456"),
        "+447400123456"
    );
    assert_eq!(
        of(&["US"], possible, "+447400123456"),
        "country_not_allowed"
    );
    assert_eq!(of(&["US"], possible, "+12125550123"), "+12125550123");
    assert_eq!(of(&["CA"], possible, "+12125550123"), "country_not_allowed");
    // Guernsey has a range of Britain's mobile numbers: --countries GB allows both.
    assert_eq!(of(&["GB"], possible, "+447911123456"), "+447911123456");
    assert_eq!(of(&["GG"], possible, "+447911123456"), "+447911123456");
    assert_eq!(
        of(&["GG"], possible, "+447400123456"),
        "country_not_allowed"
    );
    // Digits that fit no country of the calling code: any country of the code is accepted.
    assert_eq!(of(&["CA"], possible, "+11115550123"), "+11115550123");
    assert_eq!(of(&["GB"], possible, "+80012345678"), "country_not_allowed");
    assert_eq!(
        of(&["GB"], PhoneRule::E164, "+99912345678"),
        "country_not_allowed"
    );
}

#[test]
fn a_problem_with_the_country_names_it() {
    let rules = PhoneRules {
        countries: Region::parse("US").into_iter().collect(),
        ..PhoneRules::default()
    };
    let problem = rules.read("+447400123456", None).unwrap_err();
    let text = problem.text().to_string();
    assert!(text.contains("+44 (United Kingdom)"), "{text}");
    assert!(text.contains("--countries"), "{text}");
}

#[test]
fn a_reader_can_be_sent_to_another_thread() {
    fn is_send<T: Send + Clone>() {}
    is_send::<PhoneRules>();
}

fn regions() -> impl Strategy<Value = Option<Region>> {
    proptest::sample::select(vec![
        "", "GB", "US", "IT", "AR", "BR", "RU", "AU", "CN", "XK",
    ])
    .prop_map(Region::parse)
}

/// Checks that nothing panics, and that a number that is read is read again as itself.
fn check(cell: &str, region: Option<Region>, rule: PhoneRule, assume_plus: bool) {
    let rules = PhoneRules {
        rule,
        assume_plus,
        ..PhoneRules::default()
    };
    let reader = rules;
    match reader.read(cell, region) {
        Ok(number) => {
            assert_eq!(PhoneNumber::from_e164(&number.to_string()), Ok(number));
            NumberKind::of(number);
        }
        Err(problem) => assert!(!problem.text().to_string().is_empty()),
    }
    looks_like_number(cell);
    is_surely_number(cell);
    Region::parse(cell);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(
        cell in any::<String>(),
        signs in "[-+0-9 ().,;/\\\\~#xeE'\"=\\[\\]٠-٩０-９＋\u{200e}\u{a0}\n]{0,40}",
        digits in "\\+?[0-9]{0,260}",
        region in regions(),
        rule in proptest::sample::select(vec![PhoneRule::E164, PhoneRule::Possible, PhoneRule::Valid]),
        assume_plus in any::<bool>(),
    ) {
        for cell in [&cell, &signs, &digits] {
            check(cell, region, rule, assume_plus);
        }
    }

    #[test]
    fn signs_between_the_digits_of_a_number_change_nothing(
        digits in "[1-9][0-9]{6,14}",
        signs in proptest::collection::vec(proptest::sample::select(vec!["", " ", "-", ".", "\u{a0}", "–", "\u{200e}"]), 15),
    ) {
        let spaced: String = digits.chars().zip(&signs).flat_map(|(digit, sign)| [digit.to_string(), (*sign).to_owned()]).collect();
        let cell = format!("+{spaced}");
        // `+390000.00` is the decimal that a spreadsheet makes of `+390000`.
        let plain = tidy::plain_characters(&cell);
        let plain = tidy::unwrapped(&plain);
        prop_assume!(damage::before_zeros(plain).is_none() && amount::decimals(plain).is_none());
        let reader = PhoneRules::default();
        prop_assert_eq!(reader.read(&cell, None), reader.read(&format!("+{digits}"), None));
    }
}
