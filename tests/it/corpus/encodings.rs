//! Encodings of Western lists, and bytes in them that are damaged.

use super::{encoded, named, utf_16be, utf_16le};

const GERMAN: &str = "Vorname;Nachname;Telefon;Ort\r\n\
     Jörg;Müller;0171 7654321;München\r\n\
     Anna;Weiß;030 12345678;Köln\r\n";

const FRENCH: &str = "Prénom;Nom;Téléphone;Ville\n\
     Hélène;Lefèvre;06 12 34 56 78;Orléans\n\
     François;Noël;06 12 34 56 79;Besançon\n\
     Jérôme;Garçon;06 12 34 56 80;Saint-Étienne\n";

fn macroman_with_cr() -> Vec<u8> {
    encoded("macintosh", &FRENCH.replace('\n', "\r"))
}

/// A list of 50,000 rows whose only letter beyond ASCII is in the last row.
fn late_accent(label: &str) -> Vec<u8> {
    let mut text = String::from("phone,name\n");
    for i in 1..50_000 {
        text += &format!("+4474001{i:05},Name {i}\n");
    }
    text += "+447400200000,Jörg\n";
    encoded(label, &text)
}

corpus! {
    excel_german_semicolons_windows_1252_crlf: encoded("windows-1252", GERMAN), "--region DE" => "
        exit 0
        windows-1252, semicolon, header in line 1
        2 | +491717654321 | ready | vorname=Jörg | nachname=Müller | ort=München
        3 | +493012345678 | ready | vorname=Anna | nachname=Weiß | ort=Köln
    ";
    excel_csv_utf_8_has_a_mark: format!("\u{FEFF}{GERMAN}"), "--region DE" => "
        exit 0
        UTF-8, mark, semicolon, header in line 1
        2 | +491717654321 | ready | vorname=Jörg | nachname=Müller | ort=München
        3 | +493012345678 | ready | vorname=Anna | nachname=Weiß | ort=Köln
    ";
    export_in_utf_8_without_a_mark: FRENCH, "--region FR" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +33612345678 | ready | prénom=Hélène | nom=Lefèvre | ville=Orléans
        3 | +33612345679 | ready | prénom=François | nom=Noël | ville=Besançon
        4 | +33612345680 | ready | prénom=Jérôme | nom=Garçon | ville=Saint-Étienne
    ";
    mac_excel_macroman_cr_only: macroman_with_cr(), "--region FR" => "
        exit 0
        macintosh, semicolon, header in line 1
        2 | +33612345678 | ready | prénom=Hélène | nom=Lefèvre | ville=Orléans
        3 | +33612345679 | ready | prénom=François | nom=Noël | ville=Besançon
        4 | +33612345680 | ready | prénom=Jérôme | nom=Garçon | ville=Saint-Étienne
    ";
    excel_unicode_text_is_utf_16_with_tabs: utf_16le("\u{FEFF}Name\tMobile\r\nZoë\t+44 7400 123456\r\n"), "" => "
        exit 0
        UTF-16LE, mark, tab, header in line 1
        2 | +447400123456 | ready | name=Zoë
    ";
    google_contacts_utf16le_tabs_without_bom: utf_16le(
        "Name\tGiven Name\tPhone 1 - Type\tPhone 1 - Value\r\n\
         Zoë Ash\tZoë\tMobile\t+44 7400 123456\r\n\
         Bob Oak\tBob\tHome\t+44 20 7946 0000\r\n"), "" => "
        exit 0
        UTF-16LE, tab, header in line 1
        2 | +447400123456 | ready | name=Zoë Ash | given_name=Zoë | phone_1_type=Mobile
        3 | +442079460000 | ready | name=Bob Oak | given_name=Bob | phone_1_type=Home
    ";
    utf_16be_with_a_mark: utf_16be("\u{FEFF}name,phone\nŁukasz,+48 501 234 567\n"), "" => "
        exit 0
        UTF-16BE, mark, comma, header in line 1
        2 | +48501234567 | ready | name=Łukasz
    ";
    utf_16be_without_a_mark: utf_16be("name,phone\nŁukasz,+48 501 234 567\n"), "" => "
        exit 0
        UTF-16BE, comma, header in line 1
        2 | +48501234567 | ready | name=Łukasz
    ";
    utf_16_that_is_mostly_chinese: utf_16le("\u{FEFF}姓名\t手机\r\n王伟\t+86 138 0013 8000\r\n"), "" => "
        exit 0
        UTF-16LE, mark, tab, header in line 1
        2 | +8613800138000 | ready | 姓名=王伟
    ";
    first_accent_in_row_50000: late_accent("windows-1252"), "" => "
        exit 0
        windows-1252, comma, header in line 1
        2 | +447400100001 | ready | name=Name 1
        3 | +447400100002 | ready | name=Name 2
        … 49996 ready
        50000 | +447400149999 | ready
        50001 | +447400200000 | ready
    ";
    first_accent_in_row_50000_of_utf_8: late_accent("utf-8"), "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400100001 | ready | name=Name 1
        3 | +447400100002 | ready | name=Name 2
        … 49996 ready
        50000 | +447400149999 | ready
        50001 | +447400200000 | ready
    ";
    one_umlaut_alone: encoded("windows-1252", "name,phone\nMüller,+493012345678\n"), "" => "
        exit 0
        windows-1252, comma, header in line 1
        2 | +493012345678 | ready | name=Müller
    ";
    curly_apostrophe_and_euro_sign: encoded("windows-1252", "name,phone,fee\nO’Brien,+353 85 012 3456,5 €\n"), "" => "
        exit 0
        windows-1252, comma, header in line 1
        2 | +353850123456 | ready | name=O’Brien | fee=5 €
    ";
    damaged_utf_8_row_among_valid_ones:
        b"name,phone\nJ\xC3\xB6rg,+493012345678\nM\xFCller,+493012345679\nK\xC3\xA4the,+493012345680\n".to_vec(), "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +493012345678 | ready | name=Jörg
        3 | +493012345679 | invalid encoding
        4 | +493012345680 | ready | name=Käthe
    ";
    utf_8_cut_in_the_middle_of_a_letter: b"name,phone\nJ\xC3\xB6rg,+493012345678\nK\xC3,+493012345679\n".to_vec(), "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +493012345678 | ready | name=Jörg
        3 | +493012345679 | invalid encoding
    ";
    windows_1252_byte_that_is_undefined: [
        encoded("windows-1252", GERMAN),
        b"K\x81the;Sch\xE4fer;030 12345679;Gie\xDFen\r\n".to_vec(),
    ].concat(), "--region DE --encoding windows-1252" => "
        exit 1
        windows-1252, semicolon, header in line 1
        2 | +491717654321 | ready | vorname=Jörg | nachname=Müller | ort=München
        3 | +493012345678 | ready | vorname=Anna | nachname=Weiß | ort=Köln
        4 | 030 12345679 | invalid encoding
    ";
    half_a_pair_in_utf_16: [
        utf_16le("\u{FEFF}name\tphone\nAda\t+447400123456\nBob"),
        b"\x00\xD8".to_vec(),
        utf_16le("\t+447400123457\nCy\t+447400123458\n"),
    ].concat(), "" => "
        exit 1
        UTF-16LE, mark, tab, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | invalid encoding
        4 | +447400123458 | ready | name=Cy
    ";
    utf_16_with_an_odd_byte_at_its_end: [
        utf_16le("\u{FEFF}phone\tname\n+447400123456\tAda\n+447400123457\tBob"),
        b"\n".to_vec(),
    ].concat(), "" => "
        exit 1
        UTF-16LE, mark, tab, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | invalid encoding
    ";
    a_nul_in_a_cell: "name,phone\nAda\0,+447400123456\nBob,+447400123457\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada\\0
        3 | +447400123457 | ready | name=Bob
    ";
    encoding_named_where_it_cannot_be_told: encoded("ibm866", "имя,phone\nЯ,+79123456789\n"), "--encoding cp866" => "
        exit 0
        IBM866, comma, header in line 1
        2 | +79123456789 | ready | имя=Я
    ";
    encoding_named_wrongly_is_taken_at_its_word: "name,phone\nZoë,+447400123456\n", "--encoding latin1" => "
        exit 0
        windows-1252, comma, header in line 1
        2 | +447400123456 | ready | name=ZoÃ«
    ";
    utf_16_named_as_its_other_half_with_a_mark: utf_16be("\u{FEFF}name,phone\nZoë,+447400123456\n"), "--encoding utf-16le" => "
        exit 0
        UTF-16BE, mark, comma, header in line 1
        2 | +447400123456 | ready | name=Zoë
    ";
    encoding_that_nobody_knows: "phone\n", "--encoding utf-9" => "
        exit 2
        `utf-9` cannot be used for `--encoding`
    ";
    header_decoded_twice: "PrÃ©nom,TÃ©lÃ©phone\nZoé,+33612345678\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +33612345678 | ready | prã_nom=Zoé
    ";
    exports_pasted_together_with_their_marks: named("leads.txt", "\u{FEFF}name,phone\nAda,+447400123456\n\u{FEFF}name,phone\nBob,+447400123457\n"), "" => "
        exit 1
        UTF-8, mark, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | phone | invalid phone_not_e164
        4 | +447400123457 | ready | name=Bob
    ";
}
