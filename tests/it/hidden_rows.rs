//! Rows that are hidden in a workbook: by a filter, by hand or in a collapsed group.

use std::sync::Arc;

use leadload::lead::RowId;
use leadload::sandbox::Sandbox;
use leadload::source::{RowReader, Sheet, SheetReader};
use proptest::prelude::*;
use rust_xlsxwriter::{FilterCondition, Workbook, Worksheet, XlsxError};

use crate::sheets::{ods, ods_row, unzip, xls, xls_record, xls_rows, xlsx, zip_of};
use crate::terminal::Terminal;
use crate::util::{Folder, scenario, seen};

/// The lines of the hidden rows below the header.
fn hidden(bytes: Vec<u8>) -> Vec<u64> {
    hidden_in(bytes, None)
}

fn hidden_in(bytes: Vec<u8>, sheet: Option<&str>) -> Vec<u64> {
    let sheet = Arc::new(Sheet::open(bytes, sheet).unwrap());
    let mut reader = SheetReader::new("list", sheet);
    reader.read_header(true, 0).unwrap();
    let mut reader = RowReader::Sheet(reader);
    let rows = reader.read_batch(0, RowId(1), 10_000).unwrap();
    let hidden = rows.rows().filter(|row| row.is_hidden());
    hidden.map(|row| row.line()).collect()
}

/// What is added to a sheet.
type Fill = fn(&mut Worksheet) -> Result<(), XlsxError>;

/// A sheet with a header and this many people.
fn people(sheet: &mut Worksheet, count: u32) -> Result<(), XlsxError> {
    sheet.write_row(0, 0, ["phone", "city"])?;
    for row in 1..=count {
        let city = if row % 2 == 0 { "Bath" } else { "Leeds" };
        sheet.write_row(row, 0, [format!("+4479110000{row:02}"), city.to_owned()])?;
    }
    Ok(())
}

fn sheet_of(fill: impl FnOnce(&mut Worksheet) -> Result<(), XlsxError>) -> Vec<u8> {
    xlsx(|book| {
        let sheet = book.add_worksheet();
        people(sheet, 6)?;
        fill(sheet)
    })
}

#[test]
fn rows_of_an_xlsx_are_hidden_by_hand_by_a_filter_and_in_collapsed_groups() {
    let by_hand = sheet_of(|sheet| {
        sheet
            .set_row_hidden(2)?
            .set_row_hidden(5)?
            .set_row_hidden(40)?;
        Ok(())
    });
    assert_eq!(hidden(by_hand), [3, 6]);
    let by_filter = sheet_of(|sheet| {
        sheet.autofilter(0, 0, 6, 1)?;
        let only_bath = FilterCondition::new().add_list_filter("Bath");
        sheet.filter_column(1, &only_bath).map(drop)
    });
    assert_eq!(hidden(by_filter), [2, 4, 6]);
    let collapsed = sheet_of(|sheet| sheet.group_rows_collapsed(3, 4).map(drop));
    assert_eq!(hidden(collapsed), [4, 5]);
    let open = sheet_of(|sheet| sheet.group_rows(3, 4).map(drop));
    assert_eq!(hidden(open), [0_u64; 0]);
    // Rows are shown that have content, although all others are hidden.
    let by_default = sheet_of(|sheet| {
        sheet.hide_unused_rows(true);
        Ok(())
    });
    assert_eq!(hidden(by_default), [0_u64; 0]);
    let without_height = sheet_of(|sheet| sheet.set_row_height(4, 0).map(drop));
    assert_eq!(hidden(without_height), [5]);
}

#[test]
fn each_sheet_has_its_own_hidden_rows_whatever_its_part_is_called() {
    let book = xlsx(|book| {
        for (name, hidden) in [("A", 1), ("B", 2), ("C", 3)] {
            let sheet = book.add_worksheet().set_name(name)?;
            people(sheet, 4)?;
            sheet.set_row_hidden(hidden)?;
        }
        Ok(())
    });
    let mut parts = unzip(&book);
    parts.reverse();
    for (name, bytes) in &mut parts {
        let text = String::from_utf8_lossy(bytes).replace("worksheets/sheet2.xml", "/Odd.PNG");
        match name.as_str() {
            "xl/_rels/workbook.xml.rels" => *bytes = text.into(),
            "xl/worksheets/sheet2.xml" => *name = "odd.png".to_owned(),
            _ => {}
        }
    }
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(n, b)| (n.as_str(), &b[..])).collect();
    for is_packed in [false, true] {
        let moved = zip_of(&parts, is_packed);
        for (name, line) in [("A", 2), ("B", 3), ("C", 4)] {
            assert_eq!(hidden_in(book.clone(), Some(name)), [line], "{name}");
            assert_eq!(hidden_in(moved.clone(), Some(name)), [line], "{name}");
        }
    }
}

#[test]
fn rows_of_an_xlsx_need_not_say_their_numbers() {
    let book = |rows: &str| {
        let parts = unzip(&sheet_of(|_| Ok(())));
        let cell = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
        let rows = rows.replace("<c/>", &cell("1"));
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        let parts = parts.iter().map(|(name, bytes)| match name.as_str() {
            "xl/worksheets/sheet1.xml" => (name.as_str(), sheet.as_bytes()),
            _ => (name.as_str(), &bytes[..]),
        });
        zip_of(&parts.collect::<Vec<_>>(), true)
    };
    let rows = "<row><c/></row><row hidden=\"true\"><c/></row><row/><row hidden=\" 1 \"><c/></row>\
        <row r=\"9\" hidden=\"0\"><c/></row><row hidden=\"1\"><c/></row><row hidden=\"false\"><c/></row>";
    assert_eq!(hidden(book(rows)), [2, 4, 10]);
    let prefixed = "<x:row><x:c t=\"str\"><x:v>1</x:v></x:c></x:row><x:row hidden=\"1\"><x:c t=\"str\"><x:v>2</x:v></x:c></x:row>";
    assert_eq!(hidden(book(prefixed)), [2]);
}

#[test]
fn rows_of_an_xls_are_hidden_by_their_flag_or_by_default() {
    let rows: &[(Option<u8>, &[&str])] = &[
        (Some(0), &["phone"]),
        (Some(0x20), &["1"]),
        (Some(0x13), &["2"]),
        (None, &["3"]),
        (Some(0x33), &["4"]),
    ];
    let leads = xls_rows(rows);
    assert_eq!(hidden(xls(&[("Leads", true, leads.clone())])), [2, 5]);
    let by_default = [xls_record(0x0225, &[0x02, 0, 0xFF, 0]), leads.clone()].concat();
    let plain = xls_rows(&[(Some(0), &["phone"]), (Some(0), &["1"])]);
    let book = xls(&[("Plain", true, plain), ("Leads", true, by_default)]);
    assert_eq!(hidden_in(book.clone(), Some("Leads")), [2, 4, 5]);
    assert_eq!(hidden(book), [0_u64; 0]);
}

#[test]
fn rows_of_an_opendocument_sheet_are_hidden_by_hand_by_a_filter_and_in_collapsed_groups() {
    let person = |attributes: &str| ods_row(attributes, &["+447911000001"]);
    let table = [
        "<table:table table:name=\"Leads\">".to_owned(),
        ods_row("", &["phone"]),
        person("table:visibility=\"collapse\" table:number-rows-repeated=\"2\""),
        ods_row("table:number-rows-repeated=\"3\"", &[]),
        person("table:visibility=\"visible\""),
        person("table:visibility=\"filter\""),
        "<table:table-row-group><table:table-row-group table:display=\"false\">".to_owned(),
        person(""),
        "</table:table-row-group>".to_owned(),
        person(""),
        "</table:table-row-group>".to_owned(),
        person("table:visibility=\"collapse\""),
        "</table:table>".to_owned(),
    ];
    let other = "<table:table table:name=\"Other\"><table:table-row table:visibility=\"filter\"><table:table-cell office:value-type=\"string\"><text:p>x</text:p></table:table-cell></table:table-row></table:table>";
    let book = ods(&(other.to_owned() + &table.concat()), "");
    assert_eq!(hidden_in(book, Some("Leads")), [2, 3, 8, 9, 11]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_same_rows_are_hidden_in_every_format(
        rows in prop::collection::vec((any::<bool>(), any::<bool>()), 1..40),
    ) {
        // Hidden or not, with content or not.
        let lines = (2..).zip(&rows);
        let expected: Vec<u64> = lines
            .filter(|(_, (is_hidden, is_filled))| *is_hidden && *is_filled)
            .map(|(line, _)| line)
            .collect();
        let mut book = Workbook::new();
        let sheet = book.add_worksheet();
        sheet.write(0, 0, "phone").unwrap();
        let mut old: Vec<(Option<u8>, &[&str])> = vec![(Some(0), &["phone"])];
        let mut open = ods_row("", &["phone"]);
        for (at, (is_hidden, is_filled)) in (1..).zip(&rows) {
            let cells: &[&str] = if *is_filled { &["1"] } else { &[] };
            sheet.write_row(at, 0, cells.iter().copied()).unwrap();
            if *is_hidden {
                sheet.set_row_hidden(at).unwrap();
            }
            old.push((is_hidden.then_some(0x20), cells));
            open += &ods_row(if *is_hidden { "table:visibility=\"filter\"" } else { "" }, cells);
        }
        prop_assert_eq!(&hidden(book.save_to_buffer().unwrap()), &expected);
        prop_assert_eq!(&hidden(xls(&[("L", true, xls_rows(&old))])), &expected);
        let table = format!("<table:table table:name=\"L\">{open}</table:table>");
        prop_assert_eq!(&hidden(ods(&table, "")), &expected);
    }
}

/// What LibreOffice makes of one document: `Notes`, `Leads` and the hidden sheet `Codes`. Of the
/// eight people in `Leads` the second is hidden by hand, the third by a filter, and the fifth and
/// sixth are in a collapsed group. A hidden row without content lies between the last two.
const WORKBOOKS: [(&str, &[u8]); 3] = [
    ("leads.xlsx", include_bytes!("../data/hidden.xlsx")),
    ("leads.xls", include_bytes!("../data/hidden.xls")),
    ("leads.ods", include_bytes!("../data/hidden.ods")),
];

fn recorder() -> Sandbox {
    scenario("keep_bodies = true")
}

fn sent(service: &Sandbox) -> Vec<String> {
    let phones = seen(service).into_iter().map(|lead| lead.phone);
    phones
        .map(|phone| phone.replace("+4479110000", ""))
        .collect()
}

#[test]
fn hidden_people_are_a_question_in_every_format() {
    for (name, bytes) in WORKBOOKS {
        let (folder, service) = (Folder::new(), recorder());
        folder.write(name, bytes);
        let of = format!("4 of 8 rows of `{name}`");
        for command in ["import", "check"] {
            let args = [command, name, "--campaign", "101"];
            let refused = folder.leadload(&args).at(&service).expect(2);
            refused.tells(&of);
            refused.tells("line 3");
            refused.tells("`--hidden-rows skip`");
            refused.tells("`--hidden-rows send`");
        }
        assert_eq!(
            (sent(&service).len(), folder.names().len()),
            (0, 1),
            "{name}"
        );

        let args = [name, "--campaign", "101", "--hidden-rows", "skip"];
        folder.import(&service, &args).expect(0);
        assert_eq!(sent(&service), ["01", "04", "07", "08"], "{name}");
        let lines = folder.records("leads.results.csv").into_iter().map(|line| {
            let [row, at, status] = ["row", "line", "status"].map(|key| &line[key]);
            assert_eq!(line["error"].is_empty(), status == "created");
            format!("{row},{at},{status}")
        });
        assert_eq!(
            lines.collect::<Vec<_>>(),
            [
                "1,2,created",
                "2,3,excluded",
                "3,4,excluded",
                "4,5,created",
                "5,6,excluded",
                "6,7,excluded",
                "7,8,created",
                "8,10,created",
            ],
            "{name}"
        );
        // What is done with hidden rows is part of what a run is.
        let args = [
            name,
            "--campaign",
            "101",
            "--hidden-rows",
            "send",
            "--format",
            "json",
        ];
        let all = folder.import(&service, &args).expect(0).json();
        assert_eq!(all["run"], 2, "{name}");
        assert_eq!(all["counts"]["created"], 4, "{name}");
        assert_eq!(all["counts"]["already_imported"], 4, "{name}");
    }
}

#[test]
fn a_check_says_which_sheet_is_read_and_what_becomes_of_hidden_rows() {
    let folder = Folder::new();
    let (name, bytes) = WORKBOOKS[0];
    folder.write(name, bytes);
    let check = |hidden: &str, format: &str| {
        let args = ["check", name, "--hidden-rows", hidden, "--format", format];
        folder.leadload(&args).expect(0)
    };
    let text = check("skip", "text");
    text.shows("`Leads`");
    let hidden = |output: &str| {
        let mut lines = output
            .lines()
            .filter(|line| line.contains("(--hidden-rows)"));
        let line = lines.next().unwrap().trim().to_owned();
        assert!(line.starts_with("hidden     4 rows, "), "{line}");
        line
    };
    assert_ne!(hidden(&text.stdout), hidden(&check("send", "text").stdout));
    for (hidden, ready) in [("skip", 4), ("send", 8)] {
        let json = check(hidden, "json").json();
        assert_eq!(json["counts"]["ready"], ready);
        assert_eq!(json["counts"]["excluded"], 8 - ready);
        let input = &json["inputs"][0];
        assert_eq!(input["sheet"], "Leads");
        assert_eq!(input["other_sheets"], serde_json::json!(["Notes", "Codes"]));
        assert_eq!(input["hidden_rows"], 4);
    }
}

#[test]
fn rows_that_hide_nobody_are_no_question() {
    let quiet: [Fill; 3] = [
        // The header, rows without content, and a row of spaces.
        |sheet| sheet.set_row_hidden(0).map(drop),
        |sheet| sheet.set_row_hidden(7)?.set_row_hidden(30).map(drop),
        |sheet| {
            sheet
                .write_row(8, 0, [" ", "  "])?
                .set_row_hidden(8)
                .map(drop)
        },
    ];
    for fill in quiet {
        let (folder, service) = (Folder::new(), recorder());
        folder.write("leads.xlsx", sheet_of(fill));
        folder
            .import(&service, &["leads.xlsx", "--campaign", "101"])
            .output();
        assert_eq!(sent(&service).len(), 6);
    }
    // Titles above the header.
    let (folder, service) = (Folder::new(), recorder());
    let book = xlsx(|book| {
        let sheet = book.add_worksheet();
        sheet.write(0, 0, "Contacts of October")?;
        sheet.write_row(2, 0, ["name", "phone"])?;
        sheet.write_row(3, 0, ["Ada", "+447911000001"])?;
        sheet.set_row_hidden(0).map(drop)
    });
    folder.write("leads.xlsx", book);
    folder
        .import(&service, &["leads.xlsx", "--campaign", "101"])
        .expect(0);
    assert_eq!(sent(&service), ["01"]);
}

#[test]
fn a_rejects_workbook_in_which_somebody_filters_is_a_question_too() {
    let (folder, service) = (Folder::new(), recorder());
    let book = sheet_of(|sheet| {
        sheet.write(1, 0, "x")?.write(2, 0, "y")?;
        Ok(())
    });
    folder.write("leads.xlsx", book);
    folder
        .import(&service, &["leads.xlsx", "--campaign", "101"])
        .expect(1);
    let fixed = unzip(&std::fs::read(folder.path("leads.rejects.xlsx")).unwrap());
    let fixed = fixed.into_iter().map(|(name, bytes)| {
        let text = String::from_utf8_lossy(&bytes);
        let bytes = match name.as_str() {
            "xl/worksheets/sheet1.xml" => text
                .replace("<t>x</t>", "<t>+447911000011</t>")
                .replace("<t>y</t>", "<t>+447911000012</t>")
                .replace("<row r=\"3\"", "<row r=\"3\" hidden=\"1\"")
                .into_bytes(),
            _ => bytes,
        };
        (name, bytes)
    });
    let fixed: Vec<_> = fixed.collect();
    let parts: Vec<(&str, &[u8])> = fixed.iter().map(|(n, b)| (n.as_str(), &b[..])).collect();
    folder.write("fixed.xlsx", zip_of(&parts, true));
    let refused = folder.import(&service, &["fixed.xlsx"]).expect(2);
    refused.tells("1 of 2 rows");
    let args = ["fixed.xlsx", "--hidden-rows", "skip", "--sheet", "nowhere"];
    folder.import(&service, &args).expect(0);
    assert_eq!(sent(&service), ["03", "04", "05", "06", "11"]);
    assert_eq!(
        folder.column("fixed.results.csv", "status"),
        ["created", "excluded"]
    );
}

#[test]
fn hidden_rows_of_a_do_not_call_list_count() {
    let (folder, service) = (
        Folder::with_leads("phone\n+447911000002\n+447911000009\n"),
        recorder(),
    );
    let hidden = sheet_of(|sheet| sheet.set_row_hidden(2).map(drop));
    folder.write("stop.xlsx", hidden);
    let rows = [
        ods_row("", &["phone"]),
        ods_row("table:visibility=\"filter\"", &["+447911000002"]),
    ];
    let table = format!(
        "<table:table table:name=\"Stop\">{}</table:table>",
        rows.concat()
    );
    folder.write("stop.ods", ods(&table, ""));
    for name in ["stop.xlsx", "stop.ods"] {
        let args = ["check", "leads.csv", "--suppress", name, "--format", "json"];
        let found = folder.leadload(&args).at(&service).expect(0).json();
        assert_eq!(found["counts"]["suppressed"], 1, "{name}");
    }
}

#[test]
fn the_answer_about_hidden_rows_counts_like_the_flag() {
    for (answer, expected) in [("skip\r", 4), ("SEND\r", 8), ("\r", 0)] {
        let (folder, service) = (Folder::new(), recorder());
        let (name, bytes) = WORKBOOKS[1];
        folder.write(name, bytes);
        let import = folder.import(&service, &[name, "--campaign", "101"]);
        let mut terminal = Terminal::start(import, 100, 60);
        terminal.wait_for("4 of 8 rows");
        terminal.answer("(Enter cancels):", answer);
        if expected > 0 {
            terminal.answer("[y/N]", "y\r");
        }
        let (code, shown) = terminal.end();
        assert_eq!(code, if expected > 0 { 0 } else { 2 }, "{shown}");
        assert_eq!(sent(&service).len(), expected);
    }
}

#[test]
fn a_saved_mapping_keeps_the_sheet_and_what_is_done_with_hidden_rows() {
    let (folder, service) = (Folder::new(), recorder());
    let (name, bytes) = WORKBOOKS[2];
    folder.write(name, bytes);
    let flags = [
        "--sheet",
        "Leads",
        "--hidden-rows",
        "skip",
        "--save-mapping",
        "fair",
    ];
    folder
        .leadload(&[&["check", name][..], &flags].concat())
        .expect(0);
    let args = [name, "--campaign", "101", "--profile", "fair"];
    folder.import(&service, &args).expect(0);
    assert_eq!(sent(&service), ["01", "04", "07", "08"]);
}

#[test]
fn an_interrupted_import_goes_on_with_the_same_command() {
    let (folder, service) = (Folder::new(), recorder());
    let (name, bytes) = WORKBOOKS[0];
    folder.write(name, bytes);
    let skip = [name, "--campaign", "101", "--hidden-rows", "skip"];
    let stopped = [&skip[..], &["--max-duration", "1ms"]].concat();
    folder.import(&service, &stopped).expect(4);
    folder.import(&service, &skip).expect(0);
    assert_eq!(sent(&service), ["01", "04", "07", "08"]);
}
