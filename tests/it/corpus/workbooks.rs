//! Spreadsheets.

use super::{gzip, named};
use crate::sheets::{compound, ods, xlsx};
use rust_xlsxwriter::{ExcelDateTime, Format};

fn numbers_as_numbers() -> Vec<u8> {
    xlsx(|workbook| {
        let sheet = workbook.add_worksheet().set_name("Leads")?;
        sheet.write_row(0, 0, ["Name", "Phone"])?;
        sheet
            .write_row(1, 0, ["Ada"])?
            .write(1, 1, 447_400_123_456_i64)?;
        sheet
            .write_row(2, 0, ["Bob"])?
            .write(2, 1, 7_400_123_457_i64)?;
        sheet.write_row(3, 0, ["Cy", "+447400123458"])?;
        sheet.write_row(4, 0, ["Di", "07400 123459"])?;
        Ok(())
    })
}

fn dates_and_amounts() -> Vec<u8> {
    xlsx(|workbook| {
        let date = Format::new().set_num_format("dd/mm/yyyy");
        let money = Format::new().set_num_format("€ #,##0.00");
        let sheet = workbook.add_worksheet();
        sheet.write_row(0, 0, ["Phone", "Since", "Fee", "VIP"])?;
        sheet.write_string(1, 0, "+447400123456")?;
        sheet.write_datetime_with_format(1, 1, ExcelDateTime::from_ymd(2026, 11, 21)?, &date)?;
        sheet.write_number_with_format(1, 2, 1234.5, &money)?;
        sheet.write_boolean(1, 3, true)?;
        Ok(())
    })
}

fn moved_and_with_gaps() -> Vec<u8> {
    xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write_row(3, 2, ["Phone", "Name"])?;
        sheet.write_row(5, 2, ["+447400123456", "Ada"])?;
        sheet.write_row(9, 2, ["+447400123457"])?;
        sheet.write_row(10, 2, ["+447400123458", "Cy", "surplus"])?;
        Ok(())
    })
}

fn two_sheets() -> Vec<u8> {
    xlsx(|workbook| {
        let codes = workbook.add_worksheet().set_name("Codes")?;
        codes.write_row(0, 0, ["code"])?;
        let leads = workbook.add_worksheet().set_name("Leads")?;
        leads.write_row(0, 0, ["phone", "name"])?;
        leads.write_row(1, 0, ["+447400123456", "Ada"])?;
        Ok(())
    })
}

fn dates_in_opendocument() -> Vec<u8> {
    let text = |text: &str| {
        format!(
            r#"<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>"#
        )
    };
    let header = ["Name", "Phone", "Since"].map(text).concat();
    let row = text("Zoë")
        + r#"<table:table-cell office:value-type="float" office:value="447400123456"><text:p>4.474E+11</text:p></table:table-cell>"#
        + r#"<table:table-cell office:value-type="date" office:date-value="2026-11-21"><text:p>21.11.26</text:p></table:table-cell>"#;
    ods(
        &format!(
            r#"<table:table table:name="Kontakte"><table:table-row>{header}</table:table-row><table:table-row>{row}</table:table-row></table:table>"#
        ),
        "",
    )
}

/// Records of BIFF8 (MS-XLS 2.4): globals with one sheet, `S`, and its cells.
fn from_1997() -> Vec<u8> {
    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        let len = u16::try_from(data.len()).unwrap();
        [&kind.to_le_bytes()[..], &len.to_le_bytes(), data].concat()
    }
    fn at(row: u16, column: u16) -> Vec<u8> {
        [row, column, 0]
            .into_iter()
            .flat_map(u16::to_le_bytes)
            .collect()
    }
    fn label(row: u16, column: u16, text: &str) -> Vec<u8> {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let len = (units.len() as u16 / 2).to_le_bytes();
        record(0x0204, &[&at(row, column)[..], &len, &[1], &units].concat())
    }
    fn number(row: u16, column: u16, value: f64) -> Vec<u8> {
        record(
            0x0203,
            &[&at(row, column)[..], &value.to_le_bytes()].concat(),
        )
    }
    let begin = record(0x0809, b"\x00\x06\x05\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let end = record(0x000A, b"");
    // BOF, this record and EOF come before the sheet.
    let sheet_at = (begin.len() + 13 + end.len()) as u32;
    let bound_sheet = record(
        0x0085,
        &[&sheet_at.to_le_bytes()[..], b"\0\0\x01\0S"].concat(),
    );
    let cells = [
        label(0, 0, "Telefon"),
        label(0, 1, "Name"),
        number(1, 0, 447_400_123_456.0),
        label(1, 1, "Łucja"),
        label(2, 0, "+48 501 234 567"),
        label(2, 1, "Jörg"),
    ]
    .concat();
    let stream = [&begin[..], &bound_sheet, &end, &begin, &cells, &end].concat();
    compound(&[("Workbook", &stream)])
}

corpus! {
    xlsx_numbers_as_numbers: named("leads.xlsx", numbers_as_numbers()), "--region GB" => "
        exit 0
        sheet Leads, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
        4 | +447400123458 | ready | name=Cy
        5 | +447400123459 | ready
    ";
    xlsx_numbers_as_numbers_without_a_region: named("leads.xlsx", numbers_as_numbers()), "" => "
        exit 1
        sheet Leads, header in line 1
        2 | 447400123456 | invalid phone_not_e164
        3 | 7400123457 | invalid phone_not_e164
        4 | +447400123458 | ready | name=Cy
        5 | 07400 123459 | invalid phone_not_e164
    ";
    xlsx_with_dates_amounts_and_truths: named("leads.xlsx", dates_and_amounts()), "" => "
        exit 0
        sheet Sheet1, header in line 1
        2 | +447400123456 | ready | since=2026-11-21 | fee=1234.5 | vip=TRUE
    ";
    xlsx_whose_table_is_not_in_the_corner: named("leads.xlsx", moved_and_with_gaps()), "" => "
        exit 1
        sheet Sheet1, header in line 4
        6 | +447400123456 | ready | name=Ada
        10 | +447400123457 | ready
        11 | +447400123458 | invalid field_count
    ";
    xlsx_sheet_by_name: named("leads.xlsx", two_sheets()), "--sheet leads" => "
        exit 0
        sheet Leads, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    xlsx_sheet_that_is_not_there: named("leads.xlsx", two_sheets()), "--sheet Lead" => "
        exit 2
        `leads.xlsx` has no sheet `Lead`; it has `Codes`, `Leads`
    ";
    xlsx_first_sheet_that_holds_something_else: named("leads.xlsx", two_sheets()), "" => "
        exit 0
        sheet Leads, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    xlsx_named_csv: named("leads.csv", numbers_as_numbers()), "--region GB --limit 1" => "
        exit 0
        sheet Leads, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    xlsx_packed_by_gzip: named("leads.xlsx.gz", gzip(numbers_as_numbers())), "--region GB --limit 1" => "
        exit 0
        gzip, sheet Leads, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    xlsx_without_a_header: named("leads.xlsx", xlsx(|workbook| {
        workbook.add_worksheet().write_row(0, 0, ["Ada", "+447400123456"]).map(drop)
    })), "--no-header" => "
        exit 0
        sheet Sheet1, no header
        note: column 2 is used: its cells look like phone numbers
        1 | +447400123456 | ready | 1=Ada
    ";
    ods_with_dates: named("leads.ods", dates_in_opendocument()), "--assume-plus" => "
        exit 0
        sheet Kontakte, header in line 1
        2 | +447400123456 | ready | name=Zoë | since=2026-11-21
    ";
    xls_from_1997: named("leads.xls", from_1997()), "--assume-plus" => "
        exit 0
        sheet S, header in line 1
        2 | +447400123456 | ready | name=Łucja
        3 | +48501234567 | ready | name=Jörg
    ";
    empty_workbook: named("leads.xlsx", xlsx(|workbook| workbook.add_worksheet().set_name("Leads").map(drop))), "" => "
        exit 2
        the sheet `Leads` of `leads.xlsx` is empty
    ";
}
