//! Rejects files in the form of their input: their exact bytes, and what
//! happens when they are fixed and imported again.

use std::io::Cursor;

use leadload::results::{SheetLayout, WorkbookError, write_workbook};

use crate::corpus::{check, encoded, gzip, named, utf_16le};
use crate::sheets::{Rows, ods, read, row, unzip, xlsx};
use crate::util::Folder;

/// The rejects that `leadload check` writes for an input.
fn rejects_under(rejects: &str, name: &str, bytes: &[u8], flags: &[&str]) -> Vec<u8> {
    let folder = Folder::new();
    folder.write(name, bytes);
    let args = [&["check", "--quiet", name, "--rejects", rejects], flags].concat();
    folder.leadload(&args).expect(1);
    std::fs::read(folder.path(rejects)).unwrap()
}

fn rejects_of(bytes: impl AsRef<[u8]>, flags: &[&str]) -> Vec<u8> {
    rejects_under("fix.csv", "leads.csv", bytes.as_ref(), flags)
}

/// The headers of the added columns.
fn added(delimiter: char) -> String {
    [
        "",
        "leadload_row",
        "leadload_status",
        "leadload_error_code",
        "leadload_error",
        "leadload_run",
    ]
    .join(&delimiter.to_string())
}

/// The added cells of a row whose cell has no number in it.
fn letters(row: u64, delimiter: char) -> String {
    [
        "",
        &row.to_string(),
        "invalid",
        "phone_not_e164",
        "there is no phone number in this cell",
        "",
    ]
    .join(&delimiter.to_string())
}

/// The bytes with one text in them replaced.
#[track_caller]
fn replaced(bytes: &[u8], from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> Vec<u8> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let at = bytes.windows(from.len()).position(|window| window == from);
    let at = at.expect("the text to be replaced");
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

fn workbook(rows: &Rows) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let cells = rows
        .iter()
        .map(|(_, cells)| Ok::<_, WorkbookError>(cells.clone()));
    let layout = SheetLayout {
        name: "rejects",
        has_header: true,
    };
    write_workbook(&layout, cells, &mut out).unwrap();
    out.into_inner()
}

/// How many cells of the first sheet are text, and how many cells there are.
fn texts_of_all(bytes: &[u8]) -> (usize, usize) {
    let files = unzip(bytes);
    let sheet = files
        .iter()
        .find(|(name, _)| name == "xl/worksheets/sheet1.xml");
    let xml = String::from_utf8(sheet.unwrap().1.clone()).unwrap();
    (
        xml.matches("t=\"inlineStr\"").count(),
        xml.matches("<c ").count(),
    )
}

/// Rejects of a list in any encoding are in a form that spreadsheets open
/// correctly, and can be imported again.
#[test]
fn rejects_of_every_encoding_are_utf_8_with_a_mark_and_the_delimiter_of_their_list() {
    let lists = [
        ("utf-8", "", ',', "name,phone\nZoë,x\nBob,+447400123456\n"),
        (
            "utf-16le",
            "",
            '\t',
            "\u{FEFF}name\tphone\r\nZoë\tx\r\nBob\t+447400123456\r\n",
        ),
        (
            "utf-16le",
            "",
            '\t',
            "name\tphone\nZoë\tx\nBob\t+447400123456\n",
        ),
        (
            "windows-1252",
            "DE",
            ';',
            "name;phone\r\nZoë;x\r\nKäthe Müller;030 12345678\r\n",
        ),
        (
            "macintosh",
            "FR",
            ';',
            "name;phone\rZoë;x\rFrançois Noël;06 12 34 56 79\r",
        ),
        (
            "shift_jis",
            "JP",
            ',',
            "name,phone\r\n佐藤,x\r\n鈴木花子,080-1234-5678\r\n",
        ),
    ];
    for (label, region, delimiter, list) in lists {
        let flags = ["--region", region];
        let flags = if region.is_empty() {
            &[][..]
        } else {
            &flags[..]
        };
        let input = match label {
            "utf-16le" => utf_16le(list),
            label => encoded(label, list),
        };
        let rejects = String::from_utf8(rejects_of(input, flags)).unwrap();
        let name = if label == "shift_jis" {
            "佐藤"
        } else {
            "Zoë"
        };
        let expected = format!(
            "\u{FEFF}name{delimiter}phone{}\n{name}{delimiter}x{}\n",
            added(delimiter),
            letters(1, delimiter)
        );
        assert_eq!(rejects, expected, "{label}");
        let words = match delimiter {
            ',' => "comma",
            ';' => "semicolon",
            _ => "tab",
        };
        check(
            rejects.replace(
                &format!("{delimiter}x{delimiter}"),
                &format!("{delimiter}+447400123457{delimiter}"),
            ),
            "",
            &format!(
                "exit 0
                 UTF-8, mark, {words}, rejects, header in line 1
                 2 | +447400123457 | ready | name={name}"
            ),
        );
    }
}

/// A rejected row is fixed and imported again, without the other rows of
/// its list: the name that is then read.
fn comes_back_as(label: &str, name: &str, others: &str, flags: &[&str]) -> String {
    let input = format!("id,name,phone\n1,{name},x\n{others}");
    let rejects = rejects_of(encoded(label, &input), flags);
    let folder = Folder::new();
    folder.write("fixed.csv", replaced(&rejects, ",x,", ",+447400123456,"));
    let args = [&["check", "fixed.csv", "--format", "json"], flags].concat();
    let summary = folder.leadload(&args).expect(0).json();
    let name = &summary["lead_bodies"][0]["variables"][0]["name"];
    name.as_str().unwrap().to_owned()
}

/// Encoding, a name that is alone in the rejects, and the other rows of its list.
type Lists<const N: usize> = [(&'static str, &'static str, &'static str); N];

const KNOWN_AGAIN: Lists<5> = [
    (
        "windows-1252",
        "Zoë",
        "2,Jörg Müller,+447400123461\n3,Käthe Weiß,+447400123462\n",
    ),
    (
        "windows-1250",
        "Łukasz",
        "2,Małgorzata Dąbrowska,+447400123463\n3,Paweł Zieliński,+447400123464\n",
    ),
    (
        "macintosh",
        "Zoé",
        "2,Hélène Lefèvre,+447400123465\n3,François Noël,+447400123466\n4,Jérôme Garçon,+447400123467\n",
    ),
    (
        "windows-1254",
        "Işıl",
        "2,Ayşe Yıldız,+447400123468\n3,İbrahim Doğan,+447400123469\n4,Işık Şahin,+447400123470\n",
    ),
    (
        "shift_jis",
        "佐藤",
        "2,鈴木花子,+447400123473\n3,高橋一郎,+447400123474\n4,渡辺美咲,+447400123475\n",
    ),
];

const MISTAKEN: Lists<3> = [
    (
        "windows-1251",
        "Иван",
        "2,Александр Иванов,+447400123471\n3,Мария Смирнова,+447400123472\n",
    ),
    (
        "gbk",
        "李娜",
        "2,王伟,+447400123476\n3,张秀英,+447400123477\n4,上海市浦东新区,+447400123478\n",
    ),
    (
        "windows-1257",
        "Rūta",
        "2,Šarūnas Žukauskas,+447400123479\n3,Jūratė Vaičiūnaitė,+447400123480\n4,Eglė Petrauskienė,+447400123481\n",
    ),
];

#[test]
fn a_single_name_is_the_same_name_when_it_comes_back() {
    for (label, name, others) in KNOWN_AGAIN {
        assert_eq!(comes_back_as(label, name, others, &[]), name, "{label}");
    }
}

#[test]
fn any_single_name_is_the_same_name_where_its_encoding_is_named() {
    for (label, name, others) in MISTAKEN {
        let flags = ["--encoding", label];
        assert_eq!(comes_back_as(label, name, others, &flags), name, "{label}");
    }
}

#[test]
fn cells_are_as_they_were() {
    let cells = "phone|note|code\nx|\"a|b \"\"c\"\"\nd\"| 007 \n=1+1|=cmd|'x\n";
    let rejects = String::from_utf8(rejects_of(cells, &["--phone-column", "1"])).unwrap();
    let added = rejects.replace(&letters(1, '|'), "");
    assert!(
        added.starts_with(&format!(
            "\u{FEFF}phone|note|code{}\nx|\"a|b \"\"c\"\"\nd\"| 007 \n=1+1|=cmd|'x|2|",
            self::added('|')
        )),
        "{rejects}"
    );
}

#[test]
fn a_packed_list_has_rejects_that_are_not() {
    let folder = Folder::new();
    folder.write(
        "leads.csv.gz",
        gzip("phone,name\nx,Ada\n+447400123456,Bob\n"),
    );
    folder
        .leadload(&["import", "leads.csv.gz", "--sandbox", "--campaign", "101"])
        .expect(1);
    let text = folder.read("leads.sandbox.rejects.csv");
    assert_eq!(
        text,
        format!(
            "\u{FEFF}phone,name{}\nx,Ada{}\n",
            added(','),
            letters(1, ',')
        )
    );
    check(
        gzip(text.replace("\nx,", "\n+447400123457,")),
        "",
        "exit 0
         gzip, UTF-8, mark, comma, rejects, header in line 1
         2 | +447400123457 | ready | name=Ada",
    );
}

#[test]
fn a_workbook_has_rejects_in_a_workbook_of_texts() {
    let input = xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write_row(0, 0, ["Phone", "Code", "Name"])?;
        sheet.write_row(1, 0, ["x", "007", "Zoë"])?;
        sheet
            .write_number(2, 0, 447_400_123_456.0)?
            .write(2, 2, "Bob")?;
        sheet.write_row(3, 0, ["+447400123457", "008", "Cy"])?;
        Ok(())
    });
    let folder = Folder::new();
    folder.write("leads.xlsx", input);
    folder
        .leadload(&["import", "leads.xlsx", "--sandbox", "--campaign", "101"])
        .expect(1);
    let bytes = std::fs::read(folder.path("leads.sandbox.rejects.xlsx")).unwrap();
    let (texts, cells) = texts_of_all(&bytes);
    assert!(texts > 15 && texts == cells, "{texts} of {cells}");
    let mut rows = read(bytes).unwrap();
    assert_eq!(
        rows[0],
        row(
            1,
            &[
                "Phone",
                "Code",
                "Name",
                "leadload_row",
                "leadload_status",
                "leadload_error_code",
                "leadload_error",
                "leadload_run",
            ]
        )
    );
    assert_eq!(
        rows[1].1[..6],
        ["x", "007", "Zoë", "1", "invalid", "phone_not_e164"]
    );
    assert_eq!(rows[2].1[..4], ["447400123456", "", "Bob", "2"]);
    rows[1].1[0] = "+44 7400 123455".into();
    rows[2].1[0] = "+447400123456".into();
    check(
        named("fixed.xlsx", workbook(&rows)),
        "--sheet nowhere",
        "exit 0
         sheet rejects, rejects, header in line 1
         2 | +447400123455 | ready | code=007 | name=Zoë
         3 | +447400123456 | ready | name=Bob",
    );
}

#[test]
fn an_opendocument_list_has_rejects_in_a_workbook() {
    let cell = |text: &str| {
        format!(
            r#"<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>"#
        )
    };
    let line = |cells: [&str; 2]| {
        format!(
            "<table:table-row>{}</table:table-row>",
            cells.map(cell).concat()
        )
    };
    let table = line(["phone", "name"]) + &line(["x", "Zoë"]);
    let input = ods(
        &format!(r#"<table:table table:name="L">{table}</table:table>"#),
        "",
    );
    let mut rows = read(rejects_under("fix.xlsx", "leads.ods", &input, &[])).unwrap();
    assert_eq!(rows[1].1[..4], ["x", "Zoë", "1", "invalid"]);
    rows[1].1[0] = "+447400123456".into();
    check(
        named("fixed.xlsx", workbook(&rows)),
        "",
        "exit 0
         sheet rejects, rejects, header in line 1
         2 | +447400123456 | ready | name=Zoë",
    );
    let csv = rejects_under("fix.csv", "leads.ods", &input, &[]);
    assert_eq!(
        csv,
        format!(
            "\u{FEFF}phone,name{}\nx,Zoë{}\n",
            added(','),
            letters(1, ',')
        )
        .as_bytes()
    );
}

#[test]
fn a_text_has_rejects_in_a_workbook_where_its_name_says_so() {
    let input = encoded(
        "windows-1252",
        "Name;Telefon\r\nJörg Weiß;x\r\nKäthe;0049 30 1\r\nBjörn;+493012345678\r\n",
    );
    let bytes = rejects_under("fix.XLSX", "leads.csv", &input, &[]);
    let (texts, cells) = texts_of_all(&bytes);
    assert!(texts > 15 && texts == cells, "{texts} of {cells}");
    let mut rows = read(bytes).unwrap();
    assert_eq!(rows[1].1[..3], ["Jörg Weiß", "x", "1"]);
    assert_eq!(
        rows[2].1[..5],
        ["Käthe", "0049 30 1", "2", "invalid", "phone_impossible"]
    );
    rows[1].1[1] = "+493012345679".into();
    check(
        named("fixed.xlsx", workbook(&rows)),
        "--phone-column Telefon",
        "exit 1
         sheet rejects, rejects, header in line 1
         2 | +493012345679 | ready | name=Jörg Weiß
         3 | 0049 30 1 | invalid phone_impossible",
    );
}

#[test]
fn bytes_that_no_workbook_can_hold_do_not_count_as_fixed() {
    let input = b"name,phone\nJ\xC3\xB6rg,+493012345678\nK\xC3\xA4the M\xFCller,+493012345679\n\xC3\x85sa,+4687654321\n";
    let bytes = rejects_under("fix.xlsx", "leads.csv", input, &[]);
    let folder = Folder::new();
    folder.write("fix.xlsx", bytes);
    let output = folder
        .leadload(&["check", "fix.xlsx", "--format", "json"])
        .output();
    assert_eq!(output.json()["counts"]["ready"], 0);
}

#[test]
fn columns_without_a_header_are_numbered_and_keep_their_numbers() {
    let input = "Ada,x\nBob,+447400123456\n";
    let rejects = rejects_of(input, &["--no-header", "--phone-column", "2"]);
    let text = format!("\u{FEFF}1,2{}\nAda,x{}\n", added(','), letters(1, ','));
    assert_eq!(rejects, text.as_bytes());
    check(
        text.replace(",x,", ",+447400123457,"),
        "--no-header --phone-column 2 --limit 0",
        "exit 0
         UTF-8, mark, comma, rejects, header in line 1
         2 | +447400123457 | ready | 1=Ada",
    );
}

#[test]
fn undecodable_bytes_are_shown_as_such_and_can_be_corrected() {
    let input = b"name;phone;city\nJ\xC3\xB6rg;+493012345678;K\xC3\xB6ln\nK\xC3\xA4the M\xFCller;+493012345679;D\xC3\xBCren/K\xC3\xB6ln\n";
    let rejects = rejects_of(input, &[]);
    let rejects = String::from_utf8(rejects).unwrap();
    let row = "\nKäthe M\u{FFFD}ller;+493012345679;Düren/Köln;2;invalid;encoding;";
    assert!(rejects.contains(row), "{rejects}");
    check(
        rejects.clone(),
        "",
        "exit 1
         UTF-8, mark, semicolon, rejects, header in line 1
         2 | +493012345679 | invalid encoding",
    );
    check(
        rejects.replace('\u{FFFD}', "ü"),
        "",
        "exit 0
         UTF-8, mark, semicolon, rejects, header in line 1
         2 | +493012345679 | ready | name=Käthe Müller | city=Düren/Köln",
    );
}

#[test]
fn undecodable_bytes_are_not_fixed_by_coming_back() {
    let input = b"name,phone\nJ\xC3\xB6rg,+493012345678\nK\xC3\xA4the M\xFCller,+493012345679\n\xC3\x85sa,+4687654321\n";
    check(
        rejects_of(input, &[]),
        "",
        "exit 1
         UTF-8, mark, comma, rejects, header in line 1
         2 | +493012345679 | invalid encoding",
    );
}

#[test]
fn undecodable_bytes_are_shown_in_surplus_cells_too() {
    let input = b"phone,name\n+493012345678,J\xC3\xB6rg,M\xFCller\n+493012345679,K\xC3\xA4the\n";
    let rejects = rejects_of(input, &[]);
    // Saved by a program that writes other bytes, and not fixed.
    let saved = replaced(&rejects, "M\u{FFFD}ller", b"M\xFCller");
    for rejects in [rejects, rejects_of(saved, &[])] {
        let rejects = String::from_utf8(rejects).unwrap();
        assert!(rejects.contains("M\u{FFFD}ller"), "{rejects}");
    }
}

#[test]
fn undecodable_bytes_of_utf_16_are_shown_as_such() {
    let half = b"\x00\xD8";
    let input = [
        utf_16le("\u{FEFF}name\tphone\nZoë"),
        half.to_vec(),
        utf_16le("\t+447400123456\n"),
    ]
    .concat();
    let rejects = rejects_of(input, &[]);
    let rejects = String::from_utf8(rejects).unwrap();
    check(
        rejects.replace('\u{FFFD}', ""),
        "",
        "exit 0
         UTF-8, mark, tab, rejects, header in line 1
         2 | +447400123456 | ready | name=Zoë",
    );
}

#[test]
fn an_unclosed_quote_is_fixed_by_hand_and_by_clearing_its_code() {
    let input = "name,phone,city\nAda,+447400123456,Leeds\n\"Bob,+447400123457,York\nCy,+447400123458,Hull\n";
    let rejects = rejects_of(input, &[]);
    let before = b"\n\"\"\"Bob\",+447400123457,York,2,invalid,unclosed_quote,";
    let half_fixed = replaced(
        &rejects,
        before,
        "\nBob,+447400123457,York,2,invalid,unclosed_quote,",
    );
    check(
        half_fixed.clone(),
        "",
        "exit 1
         UTF-8, mark, comma, rejects, header in line 1
         2 | +447400123457 | invalid unclosed_quote",
    );
    check(
        replaced(&half_fixed, "unclosed_quote", ""),
        "",
        "exit 0
         UTF-8, mark, comma, rejects, header in line 1
         2 | +447400123457 | ready | name=Bob | city=York",
    );
}

#[test]
fn cells_too_few_and_too_many_are_put_in_their_places() {
    let input = "name;phone;city\nOak; Bob;+447400123456;York\nCy;+447400123457\n";
    let rejects = String::from_utf8(rejects_of(input, &[])).unwrap();
    let lines: Vec<&str> = rejects.lines().collect();
    assert_eq!(
        lines[0],
        format!("\u{FEFF}name;phone;city{};leadload_surplus", added(';'))
    );
    assert!(
        lines[1].starts_with("Oak; Bob;+447400123456;1;invalid;field_count;"),
        "{rejects}"
    );
    assert!(lines[1].ends_with(";York"), "{rejects}");
    assert!(
        lines[2].starts_with("Cy;+447400123457;;2;invalid;field_count;"),
        "{rejects}"
    );
    assert!(lines[2].ends_with(';'), "{rejects}");
    let fixed = rejects
        .replace(
            "Oak; Bob;+447400123456;1;",
            "Oak, Bob;+447400123456;York;1;",
        )
        .replace("field_count", "");
    check(
        fixed,
        "",
        "exit 0
         UTF-8, mark, semicolon, rejects, header in line 1
         2 | +447400123456 | ready | name=Oak, Bob | city=York
         3 | +447400123457 | ready | name=Cy",
    );
}

#[test]
fn another_column_is_not_called_because_the_rejected_numbers_are_bad() {
    let input = "name,phone,emergency contact phone\n\
         Ada,+447400123456,+447400123457\n\
         Bob,x,+447400123458\n";
    check(
        input,
        "--phone-column phone",
        "exit 1
         UTF-8, comma, header in line 1
         2 | +447400123456 | ready | name=Ada | emergency_contact_phone=+447400123457
         3 | x | invalid phone_not_e164",
    );
    check(
        rejects_of(input, &["--phone-column", "phone"]),
        "",
        "exit 1
         UTF-8, mark, comma, rejects, header in line 1
         2 | x | invalid phone_not_e164",
    );
}

#[test]
fn rejects_that_fit_into_no_workbook_do_not_take_the_place_of_their_input() {
    let text = format!("phone,name\nx,{}\n", "y".repeat(40_000));
    let folder = Folder::with_leads(&text);
    let args = ["check", "--quiet", "leads.csv", "--rejects", "leads.xlsx"];
    folder.leadload(&args).output();
    assert!(folder.read("leads.csv") == text);
}

#[test]
fn rejects_that_fit_into_no_workbook_do_not_take_the_place_of_the_results() {
    let folder = Folder::with_leads(&format!("phone,name\nx,{}\n", "y".repeat(40_000)));
    let args = [
        "check",
        "--quiet",
        "leads.csv",
        "--results",
        "out.csv",
        "--rejects",
        "out.xlsx",
    ];
    folder.leadload(&args).output();
    assert!(folder.read("out.csv").starts_with("row,line,"));
}

#[test]
fn rejects_that_fit_into_no_workbook_are_a_csv_that_can_be_fixed() {
    let folder = Folder::with_leads(&format!("phone,name\nx,{}\n", "y".repeat(40_000)));
    let args = ["check", "leads.csv", "--rejects", "fix.xlsx"];
    let output = folder.leadload(&args).expect(1);
    let names = folder.names();
    let fix = names.iter().find(|name| name.starts_with("fix.2"));
    let fix = fix.expect("a name of its own");
    output.shows(fix);
    check(
        folder.read(fix).replace("\nx,", "\n+447400123456,"),
        "",
        "exit 0
         UTF-8, mark, comma, rejects, header in line 1
         2 | +447400123456 | ready | name=<40000 characters>",
    );
}

#[test]
fn surplus_cells_of_a_workbook_have_a_column_of_their_own() {
    let input = xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write_row(0, 0, ["phone", "name"])?;
        sheet.write_row(1, 0, ["x", "Ada"])?;
        sheet.write_row(2, 0, ["Oak", "Bob", "+447400123456", "a,b"])?;
        Ok(())
    });
    let mut rows = read(rejects_under("fix.xlsx", "leads.xlsx", &input, &[])).unwrap();
    assert_eq!(rows[0].1[7], "leadload_surplus");
    assert_eq!(rows[1].1.len(), 8);
    assert_eq!(rows[2].1[7], "'+447400123456,\"a,b\"");
    rows[2].1[..2].clone_from_slice(&["+447400123456".into(), "Oak, Bob".into()]);
    rows[2].1[4].clear();
    check(
        named("fixed.xlsx", workbook(&rows)),
        "",
        "exit 1
         sheet rejects, rejects, header in line 1
         2 | x | invalid phone_not_e164
         3 | +447400123456 | ready | name=Oak, Bob",
    );
}

#[test]
fn damage_that_is_all_that_came_back_is_still_damage() {
    let mut input = b"name,phone\n".to_vec();
    for row in 10..90 {
        input.extend(format!("\u{7530}\u{4E2D}{row},+4474001234{row}\n").bytes());
    }
    input.extend(b"\xE7\x94,+447400129999\n");
    check(
        rejects_of(input, &[]),
        "",
        "exit 1
         UTF-8, mark, comma, rejects, header in line 1
         2 | +447400129999 | invalid encoding",
    );
}

#[test]
fn a_row_of_rejects_with_a_cell_too_many_is_not_fixed_by_being_the_only_one() {
    let row = "Bob,+447400123456,Leeds, West,2,invalid,field_count,x,\n";
    check(
        format!("name,phone,city{}\n{row}", added(',')),
        "",
        "exit 1
         UTF-8, comma, rejects, header in line 1
         2 | +447400123456 | invalid field_count",
    );
}
