//! Several inputs at once.

use super::{encoded, gzip, named, utf_16le};
use crate::sheets::xlsx;

fn workbook() -> Vec<u8> {
    xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write_row(0, 0, ["Mobile", "Name"])?;
        sheet.write_row(1, 0, ["+447400123459", "Di"])?;
        Ok(())
    })
}

corpus! {
    several_inputs_with_different_forms: named("a.txt", utf_16le("\u{FEFF}name\tphone\r\nZoë\t+447400123456\r\n"))
        .and("b.csv", encoded("windows-1252", "Telefon;Name\r\nx;Jörg\r\n+447400123456;Björn\r\n+447400123457;Käthe\r\n"))
        .and("c.csv.gz", gzip("phone,name\n+447400123458,Cy\n"))
        .and("d.xlsx", workbook()), "" => "
        exit 1
        a.txt: UTF-16LE, mark, tab, header in line 1
        b.csv: windows-1252, semicolon, header in line 1
        c.csv.gz: gzip, UTF-8, comma, header in line 1
        d.xlsx: sheet Sheet1, header in line 1
        a.txt 2 | +447400123456 | ready | name=Zoë
        b.csv 2 | x | invalid phone_not_e164
        b.csv 3 | +447400123456 | repeated
        b.csv 4 | +447400123457 | ready | name=Käthe
        c.csv.gz 2 | +447400123458 | ready | name=Cy
        d.xlsx 2 | +447400123459 | ready
    ";
    a_workbook_before_a_text: named("d.xlsx", workbook()).and("a.csv", "\u{FEFF}phone;name\n+447400123456;Zoë\n"), "" => "
        exit 0
        d.xlsx: sheet Sheet1, header in line 1
        a.csv: UTF-8, mark, semicolon, header in line 1
        d.xlsx 2 | +447400123459 | ready | name=Di
        a.csv 2 | +447400123456 | ready | name=Zoë
    ";
    a_limit_across_inputs: named("a.csv", "phone\n+447400123456\n+447400123457\n").and("b.csv", "phone\n+447400123458\n+447400123459\n"), "--limit 3" => "
        exit 0
        a.csv: UTF-8, comma, header in line 1
        b.csv: UTF-8, comma, header in line 1
        a.csv 2 | +447400123456 | ready
        a.csv 3 | +447400123457 | ready
        b.csv 2 | +447400123458 | ready
    ";
    a_sheet_for_a_text: named("a.csv", "phone\n+447400123456\n").and("d.xlsx", workbook()), "--sheet Sheet1" => "
        exit 2
        `a.csv` is not a spreadsheet, so it has no sheet to choose
    ";
}
