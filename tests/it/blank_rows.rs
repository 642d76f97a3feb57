//! Rows with nothing but white space in their cells are no data rows.

use crate::sheets::xlsx;
use crate::util::{Folder, service};

const LIST: &str = "name;phone;city\n;;\nAda;+447911000001;Leeds\n ; ;\t\n\n\"  \";\"\";\nBob;+447911000002;York\n;;;;;\n";

#[test]
fn blank_rows_have_no_line_and_no_number_and_are_counted_apart() {
    let folder = Folder::with_leads(LIST);
    let service = service();
    let output = folder.import_leads(&service, &[]).expect(0);
    output.shows("Blank rows, not counted: 4");
    assert_eq!(
        folder.column_of("leads.results.csv", b';', "row"),
        ["1", "2"]
    );
    assert_eq!(
        folder.column_of("leads.results.csv", b';', "line"),
        ["3", "7"]
    );
    assert!(!folder.names().contains(&"leads.rejects.csv".to_owned()));
    let args = ["check", "leads.csv", "--format", "json"];
    let found = folder.leadload(&args).expect(0).json();
    assert_eq!(
        (&found["rows"], &found["blank_rows"]),
        (&2.into(), &4.into())
    );
    folder
        .leadload(&["check", "leads.csv"])
        .expect(0)
        .shows("4 rows, not counted");
}

#[test]
fn limits_count_data_rows_only() {
    let folder = Folder::with_leads(LIST);
    let args = ["check", "leads.csv", "--limit", "2", "--format", "json"];
    let found = folder.leadload(&args).expect(0).json();
    assert_eq!(
        (&found["rows"], &found["counts"]["ready"]),
        (&2.into(), &2.into())
    );
    let too_few = ["check", "leads.csv", "--min-rows", "3"];
    folder.leadload(&too_few).expect(2).tells("has 2 data rows");
}

#[test]
fn a_footer_may_follow_a_blank_row() {
    let folder = Folder::with_leads(&format!("{LIST}Total: 2;;\n;;\nMade by Ada;;\n"));
    let args = ["check", "leads.csv", "--format", "json"];
    let found = folder.leadload(&args).expect(0).json();
    assert_eq!(
        (&found["rows"], &found["blank_rows"], &found["footer_rows"]),
        (&2.into(), &5.into(), &2.into())
    );
}

#[test]
fn in_a_workbook_a_row_of_spaces_is_blank_too() {
    let folder = Folder::new();
    let book = xlsx(|book| {
        let sheet = book.add_worksheet();
        sheet.write_row(0, 0, ["name", "phone"])?;
        sheet.write_row(1, 0, [" ", "\u{a0}"])?;
        sheet.write_row(2, 0, ["Ada", "+447911000001"])?;
        sheet.write_row(3, 0, ["", "  "])?;
        sheet.write_row(4, 0, ["Total: 1"])?;
        Ok(())
    });
    folder.write("leads.xlsx", book);
    let args = ["check", "leads.xlsx", "--format", "json"];
    let found = folder.leadload(&args).expect(0).json();
    assert_eq!(
        (&found["rows"], &found["blank_rows"], &found["footer_rows"]),
        (&1.into(), &2.into(), &1.into())
    );
}

#[test]
fn a_do_not_call_list_may_have_blank_rows() {
    let folder = Folder::with_leads(LIST);
    folder.write("dnc.csv", "name;phone\n;\nAda;+447911000001\n ;\t\n");
    let args = [
        "check",
        "leads.csv",
        "--suppress",
        "dnc.csv",
        "--format",
        "json",
    ];
    let found = folder.leadload(&args).expect(0).json();
    assert_eq!(found["counts"]["suppressed"], 1);
}

#[test]
fn only_runs_of_lists_with_blank_rows_are_known_by_them() {
    for (list, is_known) in [(LIST, true), ("name;phone\nAda;+447911000001\n", false)] {
        let folder = Folder::with_leads(list);
        let service = service();
        folder.import_leads(&service, &[]).expect(0);
        let args = ["runs", "show", "last", "--format", "json"];
        let shown = folder.leadload(&args).expect(0).json().to_string();
        assert_eq!(
            shown.contains("\"blank_rows\":\"not counted\""),
            is_known,
            "{shown}"
        );
    }
}
