//! Workbooks with several sheets: the only one with phone numbers is read, of several the user
//! chooses one.

use leadload::sandbox::Sandbox;

use crate::sheets::{XlsSheet, ods, ods_row, xls, xls_rows, xlsx};
use crate::terminal::Terminal;
use crate::util::{Folder, scenario, seen};

fn recorder() -> Sandbox {
    scenario("keep_bodies = true")
}

fn sent(service: &Sandbox) -> Vec<String> {
    let phones = seen(service).into_iter().map(|lead| lead.phone);
    phones
        .map(|phone| phone.replace("+4479110000", ""))
        .collect()
}

type Table<'a> = &'a [&'a [&'a str]];

const PEOPLE: Table<'_> = &[
    &["name", "phone"],
    &["Ada", "+447911000001"],
    &["Bob", "+447911000002"],
];
const OTHERS: Table<'_> = &[&["Telefon", "Ort"], &["+447911000003", "Kiel"]];
const CODES: Table<'_> = &[&["code", "meaning"], &["A", "new"], &["B", "known"]];
const TEMPLATE: Table<'_> = &[&["name", "phone"]];
const EMPTY: Table<'_> = &[];

/// The same sheets as an .xlsx, an .xls and an .ods: each with its name and whether it is shown.
fn books(sheets: &[(&str, bool, Table<'_>)]) -> [(&'static str, Vec<u8>); 3] {
    let modern = xlsx(|book| {
        for (name, is_shown, rows) in sheets {
            let sheet = book.add_worksheet().set_name(*name)?;
            sheet.set_hidden(!is_shown);
            for (at, row) in (0..).zip(*rows) {
                sheet.write_row(at, 0, row.iter().copied())?;
            }
        }
        let shown = sheets.iter().position(|(_, is_shown, _)| *is_shown);
        book.worksheet_from_index(shown.unwrap_or(0))?
            .set_active(true);
        Ok(())
    });
    let old: Vec<XlsSheet<'_>> = sheets
        .iter()
        .map(|(name, is_shown, rows)| {
            let rows: Vec<_> = rows.iter().map(|row| (Some(0), *row)).collect();
            (*name, *is_shown, xls_rows(&rows))
        })
        .collect();
    let tables = sheets.iter().map(|(name, is_shown, rows)| {
        let style = if *is_shown { "shown" } else { "hidden" };
        let rows: String = rows.iter().map(|row| ods_row("", row)).collect();
        format!(
            r#"<table:table table:name="{name}" table:style-name="{style}">{rows}</table:table>"#
        )
    });
    let hidden = r#"<style:style style:name="hidden"><style:table-properties table:display="false"/></style:style>"#;
    let tables: String = [hidden.to_owned()].into_iter().chain(tables).collect();
    [
        ("leads.xlsx", modern),
        ("leads.xls", xls(&old)),
        ("leads.ods", ods(&tables, "")),
    ]
}

#[test]
fn of_several_sheets_with_numbers_one_has_to_be_named() {
    let sheets = [
        ("Codes", true, CODES),
        ("October", true, PEOPLE),
        ("Alt", true, OTHERS),
        ("Old", false, PEOPLE),
    ];
    for (name, bytes) in books(&sheets) {
        let (folder, service) = (Folder::new(), recorder());
        folder.write(name, bytes);
        for command in ["import", "check"] {
            let args = [command, name, "--campaign", "101"];
            let refused = folder.leadload(&args).at(&service).expect(2);
            refused.tells("`October` (2 rows), `Alt` (1 row)");
            refused.tells("`--sheet October`");
        }
        assert_eq!(
            (sent(&service).len(), folder.names().len()),
            (0, 1),
            "{name}"
        );
        let args = [name, "--campaign", "101", "--sheet", "alt"];
        folder.import(&service, &args).expect(0);
        assert_eq!(sent(&service), ["03"], "{name}");
        // A hidden sheet is read if it is named.
        let args = [
            name,
            "--campaign",
            "101",
            "--sheet",
            "Old",
            "--format",
            "json",
        ];
        let old = folder.import(&service, &args).expect(0).json();
        assert_eq!(
            (&old["run"], &old["counts"]["created"]),
            (&2.into(), &2.into())
        );
    }
}

#[test]
fn the_only_sheet_with_numbers_is_read_wherever_it_is() {
    let cases: [&[(&str, bool, Table<'_>)]; 6] = [
        &[("Codes", true, CODES), ("Leads", true, PEOPLE)],
        &[("Leads", true, PEOPLE), ("Codes", true, CODES)],
        &[("Cover", true, EMPTY), ("Leads", true, PEOPLE)],
        &[("Template", true, TEMPLATE), ("Leads", true, PEOPLE)],
        &[
            ("Old", false, OTHERS),
            ("Codes", true, CODES),
            ("Leads", true, PEOPLE),
        ],
        &[("Old", false, OTHERS), ("Leads", true, PEOPLE)],
    ];
    for sheets in cases {
        for (name, bytes) in books(sheets) {
            let (folder, service) = (Folder::new(), recorder());
            folder.write(name, bytes);
            let output = folder
                .import(&service, &[name, "--campaign", "101"])
                .expect(0);
            assert_eq!(sent(&service), ["01", "02"], "{name}");
            output.tells("not read:");
        }
    }
}

#[test]
fn a_hidden_sheet_is_never_read_without_a_word() {
    for (name, bytes) in books(&[("Codes", true, CODES), ("Old", false, PEOPLE)]) {
        let (folder, service) = (Folder::new(), recorder());
        folder.write(name, bytes);
        let refused = folder
            .import(&service, &[name, "--campaign", "101"])
            .expect(2);
        refused.tells("`--sheet Old`");
        assert_eq!(sent(&service).len(), 0);
    }
}

#[test]
fn a_phone_column_that_is_named_says_which_sheet_is_meant() {
    let sheets = [("October", true, PEOPLE), ("Alt", true, OTHERS)];
    for (name, bytes) in books(&sheets) {
        let (folder, service) = (Folder::new(), recorder());
        folder.write(name, bytes);
        let import = |column: &str, code| {
            let args = [name, "--campaign", "101", "--phone-column", column];
            folder.import(&service, &args).expect(code)
        };
        import("telefon", 0);
        assert_eq!(sent(&service), ["03"]);
        // Both sheets have a second column, but only one of them has numbers there.
        import("2", 0);
        assert_eq!(sent(&service), ["03", "01", "02"]);
        import("Mobile", 2).tells("`--phone-column Mobile`");
    }
}

#[test]
fn a_sheet_that_begins_with_a_contact_counts_too() {
    let bare: Table<'_> = &[&["Cy", "+447911000004"], &["Di", "+447911000005"]];
    for (name, bytes) in books(&[("A", true, PEOPLE), ("B", true, bare)]) {
        let (folder, service) = (Folder::new(), recorder());
        folder.write(name, bytes);
        let refused = folder
            .import(&service, &[name, "--campaign", "101"])
            .expect(2);
        refused.tells("`A` (");
    }
}

#[test]
fn the_sheet_is_asked_at_the_terminal_with_the_rows_of_each() {
    let (folder, service) = (Folder::new(), recorder());
    let [(name, bytes), ..] = books(&[("October", true, PEOPLE), ("Alt", true, OTHERS)]);
    folder.write(name, bytes);
    let import = folder.import(&service, &[name, "--campaign", "101"]);
    let mut terminal = Terminal::start(import, 100, 60);
    terminal.wait_for("  1  October: 2 rows\n  2  Alt: 1 row\n");
    terminal.answer("(Enter cancels):", "2\r");
    terminal.answer("[y/N]", "y\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(sent(&service), ["03"]);
}
