//! Properties that hold for every table and for every sequence of bytes.

use std::sync::Arc;

use leadload::campaign::CampaignBook;
use leadload::intake::{InspectedInput, Intake, Once, PlannedInput, Purpose};
use leadload::lead::RowId;
use leadload::mapping::MappingSpec;
use leadload::phone::PhoneRules;
use leadload::screen::SuppressionLists;
use leadload::source::{Form, FormChoice, Input, SourceError, Survey, encoding_named};
use proptest::prelude::*;
use proptest::sample::select;

use crate::corpus::{encoded, gzip, utf_16be, utf_16le, zstd};
use crate::util::Folder;

type Table = Vec<Vec<String>>;

/// Opens a file with these bytes.
fn input(folder: &Folder, bytes: &[u8]) -> Input {
    folder.write("leads", bytes);
    Input::open(&folder.path("leads")).unwrap()
}

/// The form of an input; for a workbook, that of the sheet which is shown first.
fn form(input: &Input, choice: &FormChoice) -> Result<Form, SourceError> {
    match input.survey(choice)? {
        Survey::Text(form) => Ok(form),
        Survey::Workbook(mut forms) => forms.form(None, !choice.no_header, true),
    }
}

/// All cells, without the rows that are not whole.
fn table(input: &Input, choice: &FormChoice) -> Result<Table, SourceError> {
    let form = form(input, choice)?;
    let mut reader = input.read(&form)?;
    let mut table = vec![reader.read_header(&form)?.names];
    loop {
        let batch = reader.read_batch(0, RowId(1), 256)?;
        if batch.is_empty() {
            return Ok(table);
        }
        table.extend(batch.rows().filter(|row| row.flaw().is_none()).map(|row| {
            (0..row.len())
                .map(|column| row.text(column).unwrap().to_owned())
                .collect::<Vec<_>>()
        }));
    }
}

#[derive(Debug, Clone, Copy)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// How a table is written.
#[derive(Debug, Clone, Copy)]
struct Writing {
    delimiter: u8,
    line_end: csv::Terminator,
    packing: Packing,
}

fn writings() -> impl Strategy<Value = Writing> {
    let line_ends = [
        csv::Terminator::CRLF,
        csv::Terminator::Any(b'\n'),
        csv::Terminator::Any(b'\r'),
    ];
    (
        select(b",;\t|".to_vec()),
        select(line_ends.to_vec()),
        select(vec![Packing::None, Packing::Gzip, Packing::Zstd]),
    )
        .prop_map(|(delimiter, line_end, packing)| Writing {
            delimiter,
            line_end,
            packing,
        })
}

impl Writing {
    fn write(self, table: &Table, encode: impl Fn(&str) -> Vec<u8>) -> Vec<u8> {
        let mut writer = csv::WriterBuilder::new()
            .delimiter(self.delimiter)
            .terminator(self.line_end)
            .from_writer(Vec::new());
        for cells in table {
            writer.write_record(cells).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let bytes = encode(&text);
        match self.packing {
            Packing::None => bytes,
            Packing::Gzip => gzip(bytes),
            Packing::Zstd => zstd(bytes),
        }
    }
}

/// The text in an encoding, with a byte order mark if the name ends in ` mark`.
fn written_in(name: &str, text: &str) -> Vec<u8> {
    match name {
        "utf-8 mark" => format!("\u{FEFF}{text}").into_bytes(),
        "utf-16le" => utf_16le(text),
        "utf-16be" => utf_16be(text),
        "utf-16le mark" => utf_16le(&format!("\u{FEFF}{text}")),
        "utf-16be mark" => utf_16be(&format!("\u{FEFF}{text}")),
        label => encoded(label, text),
    }
}

/// Encodings with some of their letters, including letters whose bytes look like something else.
const LETTERS: [(&str, &str); 16] = [
    ("utf-8", "é猫🐈ß\u{85}\u{2028}"),
    ("utf-8 mark", "é猫🐈ß"),
    ("utf-16le", "é猫🐈ੴ上Ċ"),
    ("utf-16be", "é猫🐈ੴ上Ċ"),
    ("utf-16le mark", "é猫🐈ੴ上Ċ"),
    ("utf-16be mark", "é猫🐈ੴ上Ċ"),
    ("windows-1252", "éß€’–ÿ"),
    ("windows-1250", "łŻőš"),
    ("windows-1251", "яЯёщ"),
    ("windows-1253", "άΩςϊ"),
    ("koi8-r", "яЯёщ"),
    ("macintosh", "éß€’Ω"),
    ("shift_jis", "ソポ表ｱ佐"),
    ("gbk", "王伟娜亅"),
    ("big5", "陳功許蓋"),
    ("euc-kr", "김민똠"),
];

/// A table of two columns or more with any cells in one of the encodings.
fn tables() -> impl Strategy<Value = (&'static str, Table)> {
    (select(LETTERS.to_vec()), 2..5_usize).prop_flat_map(|((name, letters), columns)| {
        let signs = "aZ0 ,;|\t\"\n\r'".chars();
        let letters: Vec<char> = signs.chain(letters.chars()).collect();
        let cell = prop::collection::vec(select(letters), 0..6);
        let cell = cell.prop_map(String::from_iter);
        // A row of nothing but white space is none.
        let row = prop::collection::vec(cell, columns).prop_map(|mut row: Vec<String>| {
            if row.iter().all(|cell| cell.trim().is_empty()) {
                row[0].push('a');
            }
            row
        });
        let rows = prop::collection::vec(row, 1..12);
        (Just(name), rows)
    })
}

/// Encodings and people who write in them.
const PEOPLE: [(&[&str], [&str; 6], [&str; 4]); 4] = [
    (
        &[
            "utf-8",
            "utf-8 mark",
            "utf-16le",
            "utf-16be mark",
            "windows-1252",
        ],
        [
            "Jörg Müller",
            "Käthe Weiß",
            "Günther Schäfer",
            "Björn Köhler",
            "Anna Groß",
            "Zoë Jäger",
        ],
        ["Köln", "München", "Düsseldorf", "Gießen, Hessen"],
    ),
    (
        &["utf-8", "utf-16le mark", "utf-16be", "windows-1251"],
        [
            "Александр Иванов",
            "Мария Смирнова",
            "Дмитрий Кузнецов",
            "Наталья Попова",
            "Юрий Чехов",
            "Ольга Щербакова",
        ],
        ["Москва", "Казань", "Челябинск", "Самара; Тольятти"],
    ),
    (
        &["utf-8", "utf-16le mark", "shift_jis", "euc-jp"],
        [
            "佐藤太郎",
            "鈴木花子",
            "高橋一郎",
            "渡辺美咲",
            "ケンジ山本",
            "小林さくら",
        ],
        ["東京都千代田区", "大阪府大阪市", "横浜市", "福岡県\n福岡市"],
    ),
    (
        &["utf-8", "utf-16be mark", "gbk"],
        ["王伟", "李秀英", "张敏", "刘静", "陈建华", "赵丽娜"],
        ["北京市", "上海市浦东新区", "广州市", "深圳市|南山区"],
    ),
];

/// A typical list of contacts.
fn contacts() -> impl Strategy<Value = (&'static str, Table)> {
    select(PEOPLE.to_vec()).prop_flat_map(|(encodings, names, cities)| {
        let row = (
            select(names.to_vec()),
            select(cities.to_vec()),
            0..1_000_000_u32,
        );
        let rows = prop::collection::vec(row, 8..30).prop_map(|rows| {
            let header = ["id", "name", "phone", "city"].map(str::to_owned).to_vec();
            let rows = (1..).zip(rows).map(|(id, (name, city, number))| {
                vec![
                    id.to_string(),
                    name.to_owned(),
                    format!("+49 30 {number:06}"),
                    city.to_owned(),
                ]
            });
            [header].into_iter().chain(rows).collect()
        });
        (select(encodings.to_vec()), rows)
    })
}

/// The line (from 1) of the first byte after `before`.
fn line_behind(before: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(before).replace("\r\n", "\n");
    1 + text.chars().filter(|c| matches!(c, '\r' | '\n')).count() as u64
}

/// Texts of rows and blank lines, with the lines on which the rows begin.
fn messy_texts() -> impl Strategy<Value = (String, Vec<u64>)> {
    let cell = "(x|é|0|[+]447400123456|\"([a,\r\n]|\"\"){0,5}\"| a\"b|  ){1}";
    let row = prop::collection::vec(cell, 0..4).prop_map(|cells| {
        let mut row = String::from("+4474001");
        for cell in cells {
            row += ",";
            row += &cell;
        }
        (true, row)
    });
    let blank = "[ \t]{0,3}".prop_map(|blank| (false, blank));
    let ends = |ends: &'static [&'static str]| select(ends.to_vec());
    let kinds = [&["\r"][..], &["\n"], &["\r\n"], &["\r", "\n", "\r\n"]];
    select(kinds.to_vec()).prop_flat_map(move |kind| {
        let piece = (
            prop_oneof![3 => row.clone(), 1 => blank.clone()],
            ends(kind),
        );
        (ends(kind), prop::collection::vec(piece, 0..40)).prop_map(|(end, pieces)| {
            let mut text = format!("phone,name{end}");
            let mut lines = Vec::new();
            for ((is_row, piece), end) in pieces {
                if is_row {
                    lines.push(line_behind(text.as_bytes()));
                }
                text += &piece;
                text += end;
            }
            (text, lines)
        })
    })
}

/// The number and line of each row that the intake returns.
fn taken_in(bytes: &[u8], choice: &FormChoice) -> Vec<(u64, u64)> {
    let folder = Folder::new();
    let spec = MappingSpec {
        phone_columns: vec!["phone".into()],
        ..MappingSpec::default()
    };
    let surveyed = InspectedInput::new(input(&folder, bytes), choice).unwrap();
    let planned = PlannedInput::new(surveyed, &spec).unwrap();
    let intake = Intake {
        inputs: Arc::new([planned]),
        limit: None,
        phones: PhoneRules::default(),
        region: None,
        doubts: false,
        doubted: None,
        doubt: None,
        marked: Arc::default(),
        suppression: Arc::new(SuppressionLists::default()),
        allow_duplicates: false,
        once: Once::Campaign,
        earlier: Arc::new([]),
    };
    let mut rows = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut batches = intake.start(
            CampaignBook::new(None, Default::default()),
            Purpose::Sending,
            None,
        );
        while let Some(batch) = batches.next().await {
            let batch = batch.unwrap();
            assert_eq!(batch.rows.len(), batch.prepared.len());
            rows.extend(batch.rows.rows().map(|row| (row.id().0, row.line())));
        }
    });
    assert_eq!(intake.count_rows().unwrap(), rows.len() as u64);
    rows
}

fn comma() -> FormChoice {
    FormChoice {
        delimiter: Some(b','),
        ..FormChoice::default()
    }
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn any_table_reads_back_in_the_form_that_is_named((name, table) in tables(), writing in writings()) {
        let folder = Folder::new();
        let bytes = writing.write(&table, |text| written_in(name, text));
        let choice = FormChoice {
            encoding: Some(encoding_named(name.trim_end_matches(" mark")).unwrap()),
            delimiter: Some(writing.delimiter),
            ..FormChoice::default()
        };
        prop_assert_eq!(self::table(&input(&folder, &bytes), &choice).unwrap(), table);
    }

    #[test]
    fn any_list_of_contacts_reads_back_in_the_form_that_is_found((name, contacts) in contacts(), writing in writings()) {
        let folder = Folder::new();
        let bytes = writing.write(&contacts, |text| written_in(name, text));
        let found = table(&input(&folder, &bytes), &FormChoice::default()).unwrap();
        prop_assert_eq!(found, contacts, "{}", name);
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_row_comes_once_with_the_line_on_which_it_begins((text, lines) in messy_texts(), is_wide in any::<bool>()) {
        let bytes = if is_wide { utf_16le(&format!("\u{FEFF}{text}")) } else { text.clone().into_bytes() };
        let expected: Vec<(u64, u64)> = (1..).zip(lines).collect();
        prop_assert_eq!(taken_in(&bytes, &comma()), expected, "{:?}", text);
    }
}
