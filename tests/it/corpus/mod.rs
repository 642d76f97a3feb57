//! Realistic lists, each with its correct reading.
//!
//! A case is a name, the bytes of the input, the flags, and the expected
//! result of `leadload check`:
//!
//! ```text
//! exit 1
//! gzip, windows-1252, semicolon, header in line 1
//! 2 | +493012345678 | ready | name=Jörg | city=Köln
//! 3 | 030 | invalid phone_impossible
//! ```
//!
//! A row is shown as its line, its number (or else the cell) and its
//! status. The first three rows that are ready also show what is sent. If
//! there are many rows, those in the middle are only counted.

/// Makes a test of each case.
macro_rules! corpus {
    ($($(#[$attribute:meta])* $name:ident: $input:expr, $flags:literal => $expected:literal;)*) => {
        $($(#[$attribute])* #[test] fn $name() {
            crate::corpus::check($input, $flags, $expected);
        })*
    };
}

mod delimiters;
mod encodings;
mod exports;
mod headers;
mod lists;
mod numbers;
mod packed;
mod regions;
mod rows;
mod scripts;
mod several;
mod workbooks;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::Value;

use crate::util::{Folder, Output};

/// If there are more rows than this, not all are shown.
const MAX_ROWS: usize = 12;

/// The inputs of a case, and the files next to them.
pub struct Files {
    inputs: Vec<(&'static str, Vec<u8>)>,
    others: Vec<(&'static str, Vec<u8>)>,
}

impl Files {
    /// Adds an input.
    pub fn and(mut self, name: &'static str, bytes: impl Into<Vec<u8>>) -> Files {
        self.inputs.push((name, bytes.into()));
        self
    }

    /// Adds a file that is not an input.
    pub fn beside(mut self, name: &'static str, bytes: impl Into<Vec<u8>>) -> Files {
        self.others.push((name, bytes.into()));
        self
    }
}

/// An input with this name; `-` is standard input.
pub fn named(name: &'static str, bytes: impl Into<Vec<u8>>) -> Files {
    Files {
        inputs: vec![(name, bytes.into())],
        others: Vec::new(),
    }
}

impl<T: Into<Vec<u8>>> From<T> for Files {
    fn from(bytes: T) -> Files {
        named("leads.csv", bytes)
    }
}

/// The text in the encoding with this label, which must have all its characters.
pub fn encoded(label: &str, text: &str) -> Vec<u8> {
    let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
    let (bytes, _, has_unmappable) = encoding.encode(text);
    assert!(!has_unmappable, "{text:?} in {label}");
    bytes.into_owned()
}

pub fn utf_16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

pub fn utf_16be(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

pub fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    zstd::encode_all(bytes.as_ref(), 1).unwrap()
}

/// Runs a case.
#[track_caller]
pub fn check(files: impl Into<Files>, flags: &str, expected: &str) {
    let files = files.into();
    let folder = Folder::new();
    let mut stdin = None;
    for (name, bytes) in files.inputs.iter().chain(&files.others) {
        match *name {
            "-" => stdin = Some(bytes.clone()),
            name => folder.write(name, bytes),
        }
    }
    let mut args = vec!["check", "--quiet", "--format", "json", "--results", "out"];
    args.extend(files.inputs.iter().map(|(name, _)| *name));
    args.extend(flags.split_whitespace());
    let mut run = folder.leadload(&args);
    if let Some(bytes) = stdin {
        run = run.stdin(&bytes);
    }
    let reading = reading(&folder, &run.output());
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    let expected = expected.join("\n");
    assert!(
        reading == expected,
        "read:\n{reading}\n\nexpected:\n{expected}\n"
    );
}

/// What `check` has read from its inputs, as text.
fn reading(folder: &Folder, output: &Output) -> String {
    let summary = output.json();
    assert_eq!(summary["exit_code"], output.code);
    let mut text = format!("exit {}", output.code);
    if let Some(error) = summary["error"].as_str() {
        assert!(!folder.names().contains(&"out".to_owned()));
        return text + "\n" + error.lines().next().unwrap_or_default();
    }
    let inputs = summary["inputs"].as_array().unwrap();
    let name = |input: &Value| match inputs.len() {
        1 => String::new(),
        _ => format!("{}: ", input["name"].as_str().unwrap()),
    };
    for input in inputs {
        write!(text, "\n{}{}", name(input), form(input)).unwrap();
        if let Some(note) = input["note"].as_str() {
            write!(text, "\nnote: {note}").unwrap();
        }
    }
    let rows = results(folder, inputs);
    assert_counts(&rows, &summary);
    let mut bodies = summary["lead_bodies"].as_array().unwrap().iter();
    let rows: Vec<(String, String)> = rows
        .iter()
        .map(|row| (row["status"].clone(), shown_row(row, &mut bodies)))
        .collect();
    let between = if rows.len() > MAX_ROWS {
        2..rows.len() - 2
    } else {
        0..0
    };
    for (at, (_, row)) in rows.iter().enumerate() {
        if !between.contains(&at) {
            write!(text, "\n{row}").unwrap();
        } else if at == between.start {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for (status, _) in &rows[between.clone()] {
                *counts.entry(status).or_default() += 1;
            }
            let counts: Vec<String> = counts.iter().map(|(s, n)| format!("{n} {s}")).collect();
            write!(text, "\n… {}", counts.join(", ")).unwrap();
        }
    }
    text
}

/// What was detected about an input.
fn form(input: &Value) -> String {
    let mut parts = Vec::new();
    parts.extend(input["compression"].as_str().map(str::to_owned));
    parts.extend(input["encoding"].as_str().map(str::to_owned));
    if input["byte_order_mark"] == true {
        parts.push("mark".to_owned());
    }
    parts.extend(input["delimiter"].as_str().map(|delimiter| {
        match delimiter {
            "," => "comma",
            ";" => "semicolon",
            "\t" => "tab",
            "|" => "pipe",
            other => other,
        }
        .to_owned()
    }));
    parts.extend(
        input["sheet"]
            .as_str()
            .map(|sheet| format!("sheet {sheet}")),
    );
    if input["is_rejects_file"] == true {
        parts.push("rejects".to_owned());
    }
    parts.push(match input["header_line"].as_u64() {
        Some(line) => format!("header in line {line}"),
        None => "no header".to_owned(),
    });
    parts.join(", ")
}

/// The rows of the results file. It has the delimiter of the first input,
/// and a byte order mark if any input has one.
fn results(folder: &Folder, inputs: &[Value]) -> Vec<BTreeMap<String, String>> {
    let text = folder.read("out");
    let has_mark = inputs.iter().any(|input| input["byte_order_mark"] == true);
    assert_eq!(text.starts_with('\u{FEFF}'), has_mark);
    let delimiter = inputs[0]["delimiter"].as_str().unwrap_or(",").as_bytes()[0];
    let rows: Vec<BTreeMap<String, String>> = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_reader(text.trim_start_matches('\u{FEFF}').as_bytes())
        .deserialize()
        .map(Result::unwrap)
        .collect();
    for (number, row) in (1_usize..).zip(&rows) {
        assert_eq!(row["row"], number.to_string());
    }
    rows
}

fn assert_counts(rows: &[BTreeMap<String, String>], summary: &Value) {
    assert_eq!(summary["rows"], rows.len());
    for (status, count) in summary["counts"].as_object().unwrap() {
        let found = rows.iter().filter(|row| row["status"] == *status).count();
        assert_eq!(*count, found, "{status}");
    }
}

fn shown_row<'a>(
    row: &BTreeMap<String, String>,
    bodies: &mut impl Iterator<Item = &'a Value>,
) -> String {
    let mut text = match row.get("file") {
        Some(file) => format!("{file} {}", row["line"]),
        None => row["line"].clone(),
    };
    let code = &row["error_code"];
    write!(
        text,
        " | {} | {}",
        shown(&row["phone_number"]),
        row["status"]
    )
    .unwrap();
    if !code.is_empty() {
        write!(text, " {code}").unwrap();
    }
    if row["status"] == "ready"
        && let Some(body) = bodies.next()
    {
        assert_eq!(body["phone_number"], row["phone_number"]);
        for (name, value) in body["variables"][0].as_object().into_iter().flatten() {
            let value = shown(value.as_str().unwrap());
            write!(text, " | {}={value}", shown(name)).unwrap();
        }
    }
    text
}

/// A text on one line, without invisible characters.
fn shown(text: &str) -> String {
    if text.len() > 200 {
        return format!("<{} characters>", text.chars().count());
    }
    let is_plain = |c: char| c == ' ' || !c.is_whitespace() && !c.is_control();
    text.chars()
        .map(|c| match c {
            _ if "\u{200B}\u{200E}\u{200F}\u{202A}\u{202C}\u{FEFF}".contains(c) => {
                c.escape_unicode().to_string()
            }
            _ if is_plain(c) => c.to_string(),
            _ => c.escape_debug().to_string(),
        })
        .collect()
}
