//! Which country a number belongs to, and which numbers are allowed.

const RULES: &str = "phone\n+447400123456\n+999 1234 5678\n+11115550123\n+44 7400 12\n";

corpus! {
    rule_e164: RULES, "--phone-rule e164" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +99912345678 | ready
        4 | +11115550123 | ready
        5 | +44740012 | ready
    ";
    rule_possible: RULES, "--phone-rule possible" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +999 1234 5678 | invalid phone_impossible
        4 | +11115550123 | ready
        5 | +44 7400 12 | invalid phone_impossible
    ";
    rule_valid: RULES, "--phone-rule valid" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +999 1234 5678 | invalid phone_impossible
        4 | +11115550123 | invalid phone_invalid
        5 | +44 7400 12 | invalid phone_impossible
    ";
    only_some_countries: "phone\n+447400123456\n+12125550123\n+493012345678\n+447911123456\n+14165550123\n", "--countries GB,US" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +12125550123 | ready
        4 | +493012345678 | invalid country_not_allowed
        5 | +447911123456 | ready
        6 | +14165550123 | invalid country_not_allowed
    ";
    region_column_with_codes_and_names: "name,phone,country\n\
         Ada,07400 123456,GB\n\
         Bob,030 12345678,Germany\n\
         Cy,06 12 34 56 78,fr\n\
         Di,(212) 555-0123,United States\n\
         Ed,0412 345 678,\n\
         Flo,07400 123457,Neverland\n\
         Gus,+447400123458,Neverland\n", "--region-column country --region AU" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +493012345678 | ready | name=Bob
        4 | +33612345678 | ready | name=Cy
        5 | +12125550123 | ready
        6 | +61412345678 | ready
        7 | 07400 123457 | invalid phone_not_e164
        8 | +447400123458 | ready
    ";
    region_column_without_a_region: "phone,country\n07400 123456,UK\n07400 123457,\n", "--region-column 2" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | 07400 123457 | invalid phone_not_e164
    ";
    region_column_sent_when_it_is_named: "phone,country\n07400 123456,GB\n", "--region-column country --var country" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | country=GB
    ";
    region_by_its_english_name: "phone\n030 12345678\n", "--region Germany" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +493012345678 | ready
    ";
    region_that_is_none: "phone\n030 12345678\n", "--region Germny" => "
        exit 2
        `Germny` cannot be used for `--region`
    ";
}
