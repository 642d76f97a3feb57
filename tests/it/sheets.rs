//! Workbooks made for the tests.

use std::io::{Cursor, Write};

use leadload::message::Message;
use leadload::source::Sheet;
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook, XlsxError};
use zip::write::SimpleFileOptions;

/// The rows of a sheet: number and cells.
pub type Rows = Vec<(u64, Vec<String>)>;

pub fn rows(sheet: &Sheet) -> Rows {
    let header = sheet.rows().next();
    let width = header.map_or(0, |header| header.cells(0).count());
    sheet
        .rows()
        .map(|row| (row.number(), row.cells(width).map(str::to_owned).collect()))
        .collect()
}

pub fn read(bytes: Vec<u8>) -> Result<Rows, Message> {
    Sheet::open(bytes, None).map(|sheet| rows(&sheet))
}

pub fn row(number: u64, cells: &[&str]) -> (u64, Vec<String>) {
    (number, cells.iter().map(|&cell| cell.to_owned()).collect())
}

/// The workbook that `fill` makes from an empty one.
pub fn xlsx(fill: impl FnOnce(&mut Workbook) -> Result<(), XlsxError>) -> Vec<u8> {
    let mut workbook = Workbook::new();
    fill(&mut workbook).unwrap();
    workbook.save_to_buffer().unwrap()
}

/// One row for each kind of cell: its description, and the cell.
pub fn kinds_of_cells() -> Vec<u8> {
    xlsx(|workbook| {
        let date = Format::new().set_num_format("yyyy-mm-dd");
        let time = Format::new().set_num_format("hh:mm:ss");
        let both = Format::new().set_num_format("yyyy-mm-dd hh:mm:ss");
        let duration = Format::new().set_num_format("[h]:mm:ss");
        let bold = Format::new().set_bold();
        let sheet = workbook.add_worksheet();
        sheet.write_row(0, 0, ["kind", "cell"])?;
        for (row, kind) in (1..).zip(KINDS) {
            sheet.write_string(row, 0, kind.0)?;
        }
        let day = ExcelDateTime::from_ymd(2026, 11, 21)?;
        sheet.write_number(1, 1, 447_911_123_456.0)?;
        sheet.write_number(2, 1, 1e21)?;
        sheet.write_number(3, 1, -12.5)?;
        sheet.write_boolean(4, 1, true)?;
        sheet.write_datetime_with_format(5, 1, &day, &date)?;
        sheet.write_datetime_with_format(6, 1, day.clone().and_hms(10, 30, 0)?, &both)?;
        sheet.write_number_with_format(7, 1, 10.5 / 24.0, &time)?;
        sheet.write_number_with_format(8, 1, 36.5 / 24.0, &duration)?;
        sheet.write_formula(9, 1, Formula::new("=1/0").set_result("#DIV/0!"))?;
        sheet.write_formula(10, 1, Formula::new("=\"a\"&\"b\"").set_result("ab"))?;
        let plain = Format::new();
        sheet.write_rich_string(11, 1, &[(&bold, "Ann"), (&plain, " Lee")])?;
        sheet.write_string(12, 1, "+447911123456")?;
        sheet.write_string(13, 1, "two\nlines, and  spaces ")?;
        Ok(())
    })
}

/// The rows of [`kinds_of_cells`], and the text of their cells.
pub const KINDS: [(&str, &str); 13] = [
    ("phone as a number", "447911123456"),
    ("large number", "1000000000000000000000"),
    ("negative number", "-12.5"),
    ("truth", "TRUE"),
    ("date", "2026-11-21"),
    ("date and time", "2026-11-21T10:30:00"),
    ("time", "10:30:00"),
    ("duration", "36:30:00"),
    ("error", "#DIV/0!"),
    ("formula", "ab"),
    ("rich text", "Ann Lee"),
    ("phone as text", "+447911123456"),
    ("text of two lines", "two\nlines, and  spaces "),
];

pub fn zip_of(files: &[(&str, &[u8])], is_packed: bool) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let method = if is_packed {
        zip::CompressionMethod::Deflated
    } else {
        zip::CompressionMethod::Stored
    };
    for (name, bytes) in files {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The files of an archive, unpacked.
pub fn unzip(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..zip.len())
        .map(|index| {
            let mut file = zip.by_index(index).unwrap();
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
            (file.name().unwrap().into_owned(), bytes)
        })
        .collect()
}

pub const ODS_MIME: &[u8] = b"application/vnd.oasis.opendocument.spreadsheet";

/// An OpenDocument spreadsheet with these tables in its content.
pub fn ods(tables: &str, manifest: &str) -> Vec<u8> {
    let content = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><office:document-content
        xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
        xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
        xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>
        <office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"#
    );
    let manifest = format!(
        r#"<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{manifest}</manifest:manifest>"#
    );
    zip_of(
        &[
            ("mimetype", ODS_MIME),
            ("META-INF/manifest.xml", manifest.as_bytes()),
            ("content.xml", content.as_bytes()),
        ],
        false,
    )
}

/// A compound file with these streams.
pub fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (name, bytes) in streams {
        file.create_stream(name).unwrap().write_all(bytes).unwrap();
    }
    file.into_inner().into_inner()
}

/// A sheet of an .xls: its name, whether it is shown, and its records between BOF and EOF.
pub type XlsSheet<'a> = (&'a str, bool, Vec<u8>);

/// An .xls with these sheets.
pub fn xls(sheets: &[XlsSheet<'_>]) -> Vec<u8> {
    let begin = xls_record(0x0809, b"\0\x06\x05\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let end = xls_record(0x000A, b"");
    let names: usize = sheets.iter().map(|(name, ..)| 4 + 8 + name.len()).sum();
    let mut place = begin.len() + names + end.len();
    let mut stream = begin.clone();
    let mut rest = Vec::new();
    for (name, is_shown, records) in sheets {
        let place_of_it = u32::try_from(place).unwrap().to_le_bytes();
        let name_of_it = [&[u8::try_from(name.len()).unwrap(), 0], name.as_bytes()].concat();
        let bound = [&place_of_it[..], &[u8::from(!is_shown), 0], &name_of_it].concat();
        stream.extend(xls_record(0x0085, &bound));
        let sheet = [&begin[..], records, &end].concat();
        place += sheet.len();
        rest.extend(sheet);
    }
    stream.extend(end);
    stream.extend(rest);
    compound(&[("Workbook", &stream)])
}

pub fn xls_record(kind: u16, data: &[u8]) -> Vec<u8> {
    let len = u16::try_from(data.len()).unwrap().to_le_bytes();
    [&kind.to_le_bytes()[..], &len, data].concat()
}

/// The records of a table in the first rows of an .xls sheet. Each row has its flags: 0x20 is a
/// hidden row; `None` is a row of which nothing is said.
pub fn xls_rows(rows: &[(Option<u8>, &[&str])]) -> Vec<u8> {
    let mut records = Vec::new();
    for (row, (flags, _)) in (0_u16..).zip(rows) {
        if let Some(flags) = flags {
            let mut data = [0; 16];
            data[..2].copy_from_slice(&row.to_le_bytes());
            (data[6], data[12], data[13]) = (0xFF, *flags, 1);
            records.extend(xls_record(0x0208, &data));
        }
    }
    for (row, (_, cells)) in (0_u16..).zip(rows) {
        for (column, text) in (0_u16..).zip(*cells) {
            let len = u16::try_from(text.len()).unwrap().to_le_bytes();
            let place = [row.to_le_bytes(), column.to_le_bytes(), [0, 0], len].concat();
            let data = [&place[..], &[0], text.as_bytes()].concat();
            records.extend(xls_record(0x0204, &data));
        }
    }
    records
}

/// A row of an OpenDocument table, with these attributes.
pub fn ods_row(attributes: &str, cells: &[&str]) -> String {
    let cells = cells.iter().map(|text| {
        format!(r#"<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>"#)
    });
    let cells: String = cells.collect();
    format!("<table:table-row {attributes}>{cells}</table:table-row>")
}
