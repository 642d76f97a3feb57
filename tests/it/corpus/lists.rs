//! Do-not-call lists together with contacts.

use super::{named, utf_16le};

corpus! {
    suppressed_before_repeated: named("leads.csv", "phone\n+447400123456\n07400 123457\n+447400123457\n+447400123456\n")
        .beside("dnc.csv", "phone\n+44 7400 123457\n"), "--region GB --suppress dnc.csv" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +447400123457 | suppressed
        4 | +447400123457 | suppressed
        5 | +447400123456 | repeated
    ";
    list_in_another_form_than_the_contacts: named("leads.csv", "phone;name\n+447400123456;Ada\n+447400123457;Bob\nx;Cy\n")
        .beside("dnc.txt", utf_16le("\u{FEFF}Name\tMobile\r\nBob\t+44 7400 123457\r\n")), "--suppress dnc.txt" => "
        exit 1
        UTF-8, semicolon, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | suppressed
        4 | x | invalid phone_not_e164
    ";
    invalid_before_suppressed: named("leads.csv", "phone,name\n+493012345678,Ada\n+447400123456,Bob,x\n")
        .beside("dnc.csv", "+493012345678\n+447400123456\n"), "--countries GB --suppress dnc.csv" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +493012345678 | invalid country_not_allowed
        3 | +447400123456 | invalid field_count
    ";
    list_that_is_missing: "phone\n+447400123456\n", "--suppress dnc.csv" => "
        exit 2
        cannot read `dnc.csv`: there is no such file
    ";
}
