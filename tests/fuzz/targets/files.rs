//! Files of contacts.

use std::env;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::Arc;

use leadload::campaign::CampaignBook;
use leadload::intake::{GivenRegion, InspectedInput, Intake, Once, PlannedInput, Purpose};
use leadload::lead::RowId;
use leadload::mapping::MappingSpec;
use leadload::phone::{PhoneRules, Region};
use leadload::screen::SuppressionLists;
use leadload::source::{Form, FormChoice, Input, SourceError, Survey, Workbook, encoding_named};
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{assert_readable, refused};

/// A file with these bytes, in memory where the system has files there.
fn file(bytes: &[u8]) -> NamedTempFile {
    let memory = PathBuf::from("/dev/shm");
    let folder = Some(memory).filter(|memory| memory.is_dir());
    let folder = folder.unwrap_or_else(env::temp_dir);
    let mut file = NamedTempFile::new_in(folder).unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn form(input: &Input, choice: &FormChoice) -> Result<Form, SourceError> {
    match input.survey(choice)? {
        Survey::Text(form) => Ok(form),
        Survey::Workbook(mut forms) => forms.form(None, !choice.no_header, true),
    }
}

/// A row's number, its line, and its cells.
type Row = (u64, u64, Vec<Vec<u8>>);

struct Table {
    header: Vec<String>,
    rows: Vec<Row>,
    has_footer: bool,
    has_flaws: bool,
}

fn table(bytes: &[u8], choice: &FormChoice) -> Result<Table, SourceError> {
    let file = file(bytes);
    let input = Input::open(file.path())?;
    let form = form(&input, choice)?;
    let mut reader = input.read(&form)?;
    let header = reader.read_header(&form)?.names;
    let (mut rows, mut has_flaws): (Vec<Row>, bool) = (Vec::new(), false);
    loop {
        let next = rows.last().map_or(1, |(id, ..)| id + 1);
        let batch = reader.read_batch(0, RowId(next), 16)?;
        if batch.is_empty() {
            break;
        }
        for row in batch.rows() {
            has_flaws |= row.flaw().is_some();
            let cells = row.cells().map(<[u8]>::to_vec).collect();
            rows.push((row.id().0, row.line(), cells));
        }
    }
    let has_footer = !reader.footer().is_empty();
    Ok(Table {
        header,
        rows,
        has_footer,
        has_flaws,
    })
}

const DELIMITERS: [Option<u8>; 6] = [
    None,
    Some(b','),
    Some(b';'),
    Some(b'\t'),
    Some(b'|'),
    Some(b'^'),
];

const ENCODINGS: [Option<&str>; 8] = [
    None,
    Some("utf-8"),
    Some("windows-1252"),
    Some("utf-16le"),
    Some("shift_jis"),
    Some("gb18030"),
    Some("ibm850"),
    Some("macintosh"),
];

/// Three bytes for the options, and the file.
pub fn csv(input: &[u8]) -> bool {
    let Some(([delimiter, encoding, header], text)) = input.split_first_chunk() else {
        return false;
    };
    let encoding = ENCODINGS[usize::from(*encoding) % ENCODINGS.len()];
    let choice = FormChoice {
        delimiter: DELIMITERS[usize::from(*delimiter) % DELIMITERS.len()],
        encoding: encoding.and_then(|name| encoding_named(name).ok()),
        no_header: header & 1 == 1,
        sheet: None,
    };
    let read = match table(text, &choice) {
        Ok(read) => read,
        Err(error) => return refused(&error.message.to_string()),
    };
    let is_packed = [&b"\x1F\x8B"[..], b"\x28\xB5"]
        .iter()
        .any(|magic| text.starts_with(magic));
    // A byte that cannot be read takes three, and no character takes more than four.
    let cells = read.rows.iter().flat_map(|(.., cells)| cells);
    assert!(is_packed || cells.map(Vec::len).sum::<usize>() <= 4 * text.len());
    // Each row comes once, in the order of the file.
    assert!((1..).zip(&read.rows).all(|(nth, (id, ..))| *id == nth));
    assert!(read.rows.is_sorted_by(|one, next| one.1 < next.1));
    if !read.has_flaws && !read.has_footer {
        assert_reads_back(&read);
    }
    true
}

/// What was read is read again where it is written as plain CSV.
fn assert_reads_back(read: &Table) {
    let mut writer = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(Vec::new());
    writer.write_record(&read.header).unwrap();
    for (_, _, cells) in &read.rows {
        writer.write_record(cells).unwrap();
    }
    let choice = FormChoice {
        delimiter: Some(b','),
        encoding: encoding_named("utf-8").ok(),
        ..FormChoice::default()
    };
    let Ok(again) = table(&writer.into_inner().unwrap(), &choice) else {
        return;
    };
    if again.has_footer {
        return;
    }
    let cells = |table: &Table| -> Vec<Vec<Vec<u8>>> {
        table.rows.iter().map(|(.., cells)| cells.clone()).collect()
    };
    assert_eq!(again.header, read.header);
    assert_eq!(cells(&again), cells(read));
}

/// A byte for the kind, and its parts one after the other, as they are before they are packed.
pub fn workbook(input: &[u8]) -> bool {
    let Some((kind, content)) = input.split_first() else {
        return false;
    };
    let bytes = match kind % 4 {
        0 => content.to_vec(),
        1 => packed(&XLSX, content),
        2 => packed(&ODS, content),
        _ => xls(content),
    };
    let mut workbook = match Workbook::open(bytes) {
        Ok(workbook) => workbook,
        Err(message) => return refused(&message.to_string()),
    };
    let mut is_read = false;
    for name in workbook.visible_sheets() {
        match workbook.sheet(Some(&name), false) {
            Ok(sheet) => {
                let numbers: Vec<u64> = sheet.rows().map(|row| row.number()).collect();
                assert!(numbers.is_sorted_by(|one, next| one < next));
                for row in sheet.rows() {
                    row.cells(2).for_each(drop);
                }
                is_read = true;
            }
            Err(message) => assert_readable(&message.to_string()),
        }
    }
    is_read
}

/// A part whose content comes from the input, or is fixed.
type Part = (&'static str, Option<&'static str>);

const XLSX: [Part; 6] = [
    (
        "[Content_Types].xml",
        Some(r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>"#),
    ),
    (
        "xl/_rels/workbook.xml.rels",
        Some(
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#,
        ),
    ),
    ("xl/worksheets/sheet1.xml", None),
    ("xl/sharedStrings.xml", None),
    ("xl/styles.xml", None),
    ("xl/workbook.xml", None),
];

const ODS: [Part; 3] = [
    (
        "mimetype",
        Some("application/vnd.oasis.opendocument.spreadsheet"),
    ),
    ("content.xml", None),
    ("settings.xml", None),
];

/// What is between the parts of an input.
const BETWEEN: &[u8] = b"\n--\n";

fn packed(parts: &[Part], content: &[u8]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut rest = content;
    for (name, fixed) in parts {
        let part = match fixed {
            Some(text) => text.as_bytes(),
            None => {
                let end = rest.windows(BETWEEN.len()).position(|at| at == BETWEEN);
                let end = end.unwrap_or(rest.len());
                let part = &rest[..end];
                rest = rest.get(end + BETWEEN.len()..).unwrap_or_default();
                part
            }
        };
        if !part.is_empty() {
            writer.start_file(*name, stored).unwrap();
            writer.write_all(part).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn xls(stream: &[u8]) -> Vec<u8> {
    let empty = Cursor::new(Vec::new());
    let mut file = cfb::CompoundFile::create_with_version(cfb::Version::V3, empty).unwrap();
    file.create_stream("/Workbook")
        .unwrap()
        .write_all(stream)
        .unwrap();
    file.into_inner().into_inner()
}

/// Rejects that are given back, mended or damaged: a row that is read is a row that is accounted for.
pub fn rejects(input: &[u8]) -> bool {
    let file = file(input);
    let inspected = Input::open(file.path())
        .and_then(|input| InspectedInput::new(input, &FormChoice::default()));
    let inspected = match inspected {
        Ok(inspected) => inspected,
        Err(error) => return refused(&error.message.to_string()),
    };
    let planned = match PlannedInput::new(inspected, &MappingSpec::default()) {
        Ok(planned) => planned,
        Err(error) => return refused(&error.to_string()),
    };
    let intake = Intake {
        inputs: Arc::new([planned]),
        limit: None,
        phones: PhoneRules::default(),
        region: Region::parse("GB").map(|region| GivenRegion {
            region,
            from: "--region".to_owned(),
        }),
        doubts: true,
        doubted: None,
        doubt: None,
        marked: Arc::default(),
        suppression: Arc::new(SuppressionLists::default()),
        allow_duplicates: false,
        once: Once::Campaign,
        earlier: Arc::new([]),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let rows = runtime.block_on(async {
        let book = CampaignBook::new(None, Default::default());
        let mut batches = intake.start(book, Purpose::Checking, None);
        let mut rows = 0;
        while let Some(batch) = batches.next().await {
            let Ok(batch) = batch else { return None };
            assert_eq!(batch.rows.len(), batch.prepared.len());
            rows += batch.rows.len() as u64;
        }
        Some(rows)
    });
    if let (Some(rows), Ok(counted)) = (rows, intake.count_rows()) {
        assert_eq!(rows, counted);
    }
    rows.is_some()
}
