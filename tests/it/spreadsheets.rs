//! Workbooks of every format, whole and damaged.

use std::sync::Arc;

use super::sheets::{KINDS, compound, kinds_of_cells, ods, read, row, rows, unzip, xlsx, zip_of};
use leadload::lead::RowId;
use leadload::source::{Flaw, RowReader, Sheet, SheetReader};
use proptest::prelude::*;
use rust_xlsxwriter::Worksheet;

const XLS: &[u8] = include_bytes!("../data/kinds.xls");
const ODS: &[u8] = include_bytes!("../data/kinds.ods");
const XLS_1904: &[u8] = include_bytes!("../data/dates_1904.xls");

fn error_of(bytes: Vec<u8>) -> String {
    Sheet::open(bytes, None).unwrap_err().to_string()
}

#[test]
fn every_kind_of_cell_reads_the_same_from_every_format() {
    let workbooks = [
        ("xlsx", kinds_of_cells()),
        ("xls", XLS.to_vec()),
        ("ods", ODS.to_vec()),
    ];
    for (format, bytes) in workbooks {
        let rows = read(bytes).unwrap();
        assert_eq!(rows[0], row(1, &["kind", "cell"]), "{format}");
        for ((number, (kind, cell)), read) in (2..).zip(KINDS).zip(&rows[1..]) {
            // LibreOffice stores a boolean without the boolean number format as
            // a number, and in .xls it stores a text formula without its value.
            let cell = match (format, kind) {
                ("ods", "truth") => "1",
                ("xls", "formula") => "0",
                _ => cell,
            };
            assert_eq!(*read, row(number, &[kind, cell]), "{kind} in {format}");
        }
        assert_eq!(rows.len(), 1 + KINDS.len(), "{format}");
    }
}

#[test]
fn dates_counted_from_1904_are_the_same_dates() {
    let sheet = Sheet::open(XLS_1904.to_vec(), None).unwrap();
    assert_eq!(rows(&sheet)[1], row(2, &["447911123456", "2026-11-21"]));
    assert_eq!(
        (sheet.name, sheet.names),
        ("Leads".into(), vec!["Leads".into(), "Hidden".into()])
    );

    let mut parts = unzip(&kinds_of_cells());
    for (name, bytes) in &mut parts {
        if name == "xl/workbook.xml" {
            let text = String::from_utf8(bytes.clone()).unwrap();
            *bytes = text
                .replace("<workbookPr ", "<workbookPr date1904=\"1\" ")
                .into();
        }
    }
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(n, b)| (n.as_str(), &b[..])).collect();
    assert_eq!(
        read(zip_of(&parts, true)).unwrap()[5],
        row(6, &["date", "2030-11-22"])
    );
}

#[test]
fn row_numbers_are_those_that_the_user_sees() {
    let bytes = xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write_row(3, 2, ["phone", "name"])?;
        sheet.write_row(4, 2, ["1", ""])?;
        sheet.write_row(8, 3, ["x", "surplus"])?;
        Ok(())
    });
    let sheet = Sheet::open(bytes, None).unwrap();
    assert_eq!(
        rows(&sheet),
        [
            row(4, &["", "", "phone", "name"]),
            row(5, &["", "", "1", ""]),
            row(9, &["", "", "", "x", "surplus"]),
        ]
    );
}

#[test]
fn a_reader_returns_batches_as_the_csv_reader_does() {
    let bytes = xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write_row(0, 0, ["phone", "name"])?;
        for row in (2..2000).step_by(2) {
            sheet.write_row(row, 0, [format!("+{row}"), format!("n{row}")])?;
        }
        Ok(())
    });
    let sheet = Arc::new(Sheet::open(bytes, None).unwrap());
    for _ in 0..2 {
        let mut reader = SheetReader::new("list.xlsx", Arc::clone(&sheet));
        assert_eq!(
            reader.read_header(true, 0).unwrap().names,
            ["phone", "name"]
        );
        let mut reader = RowReader::Sheet(reader);
        let mut seen = Vec::new();
        loop {
            let first = RowId(1 + seen.len() as u64);
            let batch = reader.read_batch(0, first, 256).unwrap();
            if batch.is_empty() {
                break;
            }
            seen.extend(batch.rows().map(|row| {
                let texts: Vec<_> = (0..row.len())
                    .map(|c| row.text(c).unwrap().to_owned())
                    .collect();
                (row.id().0, row.line(), texts)
            }));
        }
        assert_eq!(seen.len(), 999);
        assert_eq!(
            seen[500],
            (501, 1003, vec!["+1002".to_owned(), "n1002".to_owned()])
        );
    }
}

#[test]
fn a_sheet_is_chosen_by_its_name_or_by_what_is_seen_first() {
    let bytes = xlsx(|workbook| {
        workbook
            .add_worksheet()
            .set_name("Codes")?
            .set_hidden(true)
            .write(0, 0, "c")?;
        workbook
            .add_worksheet()
            .set_name("Leads")?
            .set_active(true)
            .write(0, 0, "l")?;
        Ok(())
    });
    let open = |wanted| Sheet::open(bytes.clone(), wanted);
    assert_eq!(rows(&open(None).unwrap()), [row(1, &["l"])]);
    assert_eq!(rows(&open(Some("CODES")).unwrap()), [row(1, &["c"])]);
    let error = open(Some("Lead")).unwrap_err().to_string();
    assert!(error.contains("`Leads`?"), "{error}");
}

#[test]
fn a_stray_cell_in_the_far_corner_takes_no_memory_for_what_lies_between() {
    let bytes = xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write(0, 0, "phone")?.write(1_048_575, 16_383, "x")?;
        Ok(())
    });
    let sheet = Sheet::open(bytes, None).unwrap();
    let last = sheet.rows().last().unwrap();
    assert_eq!((last.number(), last.cells(0).count()), (1_048_576, 16_384));
}

#[test]
fn a_row_that_is_longer_than_any_contact_is_reported_with_its_number() {
    let long = "x".repeat(32_767);
    let bytes = xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write(0, 0, "phone")?;
        for column in 0..40 {
            sheet.write(2, column, &long)?;
        }
        Ok(())
    });
    let sheet = Arc::new(Sheet::open(bytes, None).unwrap());
    let mut reader = SheetReader::new("list.xlsx", sheet);
    reader.read_header(true, 0).unwrap();
    let mut reader = RowReader::Sheet(reader);
    let rows = reader.read_batch(0, RowId(1), 256).unwrap();
    let row = rows.row(0);
    assert_eq!((row.line(), row.flaw()), (3, Some(Flaw::TooLong)));
}

#[test]
fn an_empty_sheet_has_no_header() {
    let bytes = xlsx(|workbook| workbook.add_worksheet().set_name("Leads").map(drop));
    let sheet = Arc::new(Sheet::open(bytes, None).unwrap());
    let error = SheetReader::new("list.xlsx", sheet)
        .read_header(true, 0)
        .unwrap_err();
    assert!(error.message.to_string().contains("`Leads` of `list.xlsx`"));
}

#[test]
fn a_password_is_not_taken_for_damage_in_any_format() {
    let xlsx = compound(&[("EncryptionInfo", b""), ("EncryptedPackage", b"")]);
    // The beginning of the globals, and FilePass (MS-XLS 2.4.117) with RC4.
    let records =
        b"\x09\x08\x10\x00\0\x06\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\x2F\x00\x06\x00\x01\0\x01\0\x01\0";
    let xls = compound(&[("Workbook", records)]);
    let ods = ods(
        "",
        r#"<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>"#,
    );
    for bytes in [xlsx, xls, ods] {
        let error = error_of(bytes);
        assert!(error.contains("password"), "{error}");
    }
}

#[test]
fn a_formula_in_an_old_workbook_gives_the_text_that_was_stored_with_it() {
    let begin: &[u8] = b"\x09\x08\x10\x00\0\x06\x05\0\0\0\0\0\0\0\0\0\0\0\0\0";
    // One sheet, `S`, after the globals: BOF 20 bytes, this record 13, EOF 4.
    let bound_sheet: &[u8] = b"\x85\x00\x09\x00\x25\0\0\0\0\0\x01\0S";
    let end: &[u8] = b"\x0A\x00\x00\x00";
    let formula: &[u8] = b"\x06\x00\x16\x00\x01\0\0\0\0\0\0\0\0\0\0\0\xFF\xFF\0\0\0\0\0\0\0\0";
    let text: &[u8] = b"\x07\x02\x05\x00\x02\0\0ab";
    let stream = [begin, bound_sheet, end, begin, formula, text, end].concat();
    let bytes = compound(&[("Workbook", &stream)]);
    assert_eq!(read(bytes).unwrap(), [row(2, &["ab"])]);
}

#[test]
fn hand_made_opendocument_reads_with_its_repeats() {
    let bytes = ods(
        r#"<table:table table:name="Leads"><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="16384"/></table:table-row><table:table-row><table:table-cell/><table:table-cell office:value-type="string"><text:p>phone</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>a<text:s text:c="2"/>b</text:p><text:p>c</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="2"><table:table-cell/><table:table-cell office:value-type="float" office:value="447911123456"><text:p>4.47911E+11</text:p></table:table-cell><table:table-cell office:value-type="time" office:time-value="PT10H30M00S"/></table:table-row></table:table>"#,
        "",
    );
    assert_eq!(
        read(bytes).unwrap(),
        [
            row(4, &["", "phone", "a  b\nc"]),
            row(5, &["", "447911123456", "10:30:00"]),
            row(6, &["", "447911123456", "10:30:00"]),
        ]
    );
}

/// The limit that the workbook exceeds, as in `more than 16 MiB`.
fn too_large(bytes: Vec<u8>) -> String {
    let error = error_of(bytes);
    let (_, limit) = error.split_once("more than ").expect(&error);
    limit.split_inclusive("MiB").next().unwrap().to_owned()
}

/// How much a workbook may unpack to.
const UNPACKED: &str = "1024 MiB";
/// How much memory it may take.
const MEMORY: &str = "2048 MiB";
/// How much a single cell may hold.
const PIECE: &str = "16 MiB";

#[test]
fn what_unpacks_to_all_memory_is_refused_before_it_is_unpacked_whatever_it_is_called() {
    let sheet = vec![b' '; 1 << 20];
    for name in [
        "xl/worksheets/sheet1.xml",
        "xl/foo.png",
        "XL\\Media\\Sheet",
        "x/../../leads",
        "/xl/sheet1.XML",
    ] {
        let parts: [(&str, &[u8]); 3] = [
            ("[Content_Types].xml", b""),
            ("xl/workbook.xml", b""),
            (name, &sheet),
        ];
        let mut bytes = zip_of(&parts, true);
        let size = |len: u32| len.to_le_bytes();
        let declared = bytes
            .windows(4)
            .rposition(|four| four == size(1 << 20))
            .unwrap();
        bytes[declared..declared + 4].copy_from_slice(&size((1 << 30) + 1));
        assert_eq!(too_large(bytes), UNPACKED, "{name}");
    }
}

/// A workbook whose parts have unusual names.
fn oddly_named(sheet: &[u8], strings: &[u8], styles: &[u8]) -> Vec<u8> {
    let rels = br#"<Relationships><Relationship Type="x/relationships/officeDocument" Target="/a/../Book"/></Relationships>"#;
    let book = br#"<workbook><sheet name="Leads" r:id="r"/></workbook>"#;
    let book_rels = br#"<Relationships><Relationship Id="r" Type="x/worksheet" Target="/Foo.PNG"/></Relationships>"#;
    zip_of(
        &[
            ("[Content_Types].xml", b"<Types/>"),
            ("xl/", b""),
            ("_RELS\\.rels", rels),
            ("A/../book", book),
            ("a/../_rels/BOOK.rels", book_rels),
            ("a/../SHAREDstrings.XML", strings),
            ("A\\..\\styles.XML", styles),
            ("foo.png", sheet),
        ],
        true,
    )
}

const SHEET: &[u8] =
    b"<worksheet><sheetData><row><c t=\"s\"><v>0</v></c></row></sheetData></worksheet>";
const STRINGS: &[u8] = b"<sst><si><t>phone</t></si></sst>";

#[test]
fn a_workbook_whose_parts_have_odd_names_is_read() {
    let bytes = oddly_named(SHEET, STRINGS, b"<styleSheet></styleSheet>");
    assert_eq!(read(bytes).unwrap(), [row(1, &["phone"])]);
}

#[test]
fn a_part_is_weighed_before_it_is_read_whatever_it_is_called() {
    // A few kilobytes: one number format, which is copied for every style.
    let format = "0".repeat(100_000);
    let styles = "<xf numFmtId=\"170\"/>".repeat(50_000);
    let styles = format!(
        "<styleSheet><numFmts><numFmt numFmtId=\"170\" formatCode=\"{format}\"/></numFmts><cellXfs>{styles}</cellXfs></styleSheet>"
    );
    let bytes = oddly_named(SHEET, STRINGS, styles.as_bytes());
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    assert_eq!(too_large(bytes), MEMORY);

    // A gigabyte of one letter would be compressed to a megabyte.
    let long = "a".repeat(64 << 20);
    let sheet = format!(
        "<worksheet><sheetData><row><c t=\"inlineStr\"><is><t>{long}</t></is></c></row></sheetData></worksheet>"
    );
    let bytes = oddly_named(sheet.as_bytes(), STRINGS, b"<styleSheet/>");
    assert_eq!(too_large(bytes), PIECE);
    let long = "a".repeat((16 << 20) + 1);
    let strings = format!("<sst><si><t>{long}</t></si></sst>");
    let bytes = oddly_named(SHEET, strings.as_bytes(), b"<styleSheet/>");
    assert_eq!(too_large(bytes), PIECE);
}

#[test]
fn a_text_that_an_opendocument_sheet_repeats_counts_each_time() {
    let text = "a".repeat(100_000);
    let table = format!(
        r#"<table:table table:name="Leads"><table:table-row><table:table-cell office:value-type="string" table:number-columns-repeated="16384"><text:p>{text}</text:p></table:table-cell></table:table-row></table:table>"#
    );
    assert_eq!(too_large(ods(&table, "")), MEMORY);
}

#[test]
fn a_part_that_unpacks_to_more_than_it_declares_is_damage() {
    let mut parts = unzip(&kinds_of_cells());
    let (_, sheet) = parts
        .iter_mut()
        .find(|(name, _)| name == "xl/worksheets/sheet1.xml")
        .unwrap();
    let filler = [&b"<sheetData>"[..], &vec![b' '; 1 << 20]].concat();
    let at = sheet
        .windows(11)
        .position(|tag| tag == b"<sheetData>")
        .unwrap();
    sheet.splice(at..at + 11, filler);
    let len = u32::try_from(sheet.len()).unwrap();
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(n, b)| (n.as_str(), &b[..])).collect();
    let mut bytes = zip_of(&parts, true);
    assert!(read(bytes.clone()).is_ok());
    while let Some(at) = bytes.windows(4).position(|four| four == len.to_le_bytes()) {
        bytes[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes());
    }
    assert!(error_of(bytes).starts_with(CORRUPT));
}

/// How the error of a damaged workbook begins.
const CORRUPT: &str = "cannot be read";

#[test]
fn a_list_of_strings_that_announces_too_many_takes_no_memory() {
    let strings = b"<sst uniqueCount=\"999999999999\"></sst>";
    let bytes = oddly_named(SHEET, strings, b"<styleSheet/>");
    assert_eq!(too_large(bytes), MEMORY);
}

#[test]
fn text_that_excel_escapes_reads_as_it_was_typed() {
    let typed = [
        "_x000D_",
        "a\rb",
        "_x0041_",
        " \u{a0}x ",
        "=1+1",
        "007",
        "1e5",
    ];
    let bytes = xlsx(|workbook| {
        let sheet: &mut Worksheet = workbook.add_worksheet();
        for (row, text) in (0..).zip(typed) {
            sheet.write_string(row, 0, text)?;
        }
        Ok(())
    });
    let read: Vec<String> = read(bytes)
        .unwrap()
        .into_iter()
        .map(|(_, mut cells)| cells.remove(0))
        .collect();
    assert_eq!(read, typed);
}

#[test]
fn a_workbook_cut_off_anywhere_is_an_error_and_no_panic() {
    for whole in [kinds_of_cells(), XLS.to_vec(), ODS.to_vec()] {
        for len in (8..whole.len() - 600).step_by(97) {
            let error = error_of(whole[..len].to_vec());
            assert!(error.starts_with(CORRUPT), "{len}: {error}");
        }
    }
}

proptest! {
    #[test]
    fn no_damage_ends_the_program_or_makes_it_hang(
        which in 0..3_usize,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..6),
    ) {
        let mut bytes = [kinds_of_cells(), XLS.to_vec(), ODS.to_vec()][which].clone();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        let _ = read(bytes);
    }
}
