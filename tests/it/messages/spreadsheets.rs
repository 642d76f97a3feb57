//! Workbooks that cannot be read.

use super::{Page, check};
use crate::sheets::{compound, ods, xlsx, zip_of};
use crate::util::Folder;

#[test]
fn of_spreadsheets() {
    let folder = Folder::new();
    let two_sheets = xlsx(|workbook| {
        let people = workbook.add_worksheet().set_name("People")?;
        people.write_string(0, 0, "phone")?;
        workbook.add_worksheet().set_name("Notes").map(drop)
    });
    let several = xlsx(|workbook| {
        for name in ["October", "Leads of '25"] {
            let sheet = workbook.add_worksheet().set_name(name)?;
            sheet.write_column(0, 0, ["phone", "+447911123456"])?;
        }
        Ok(())
    });
    let hidden = |rows: &[u32]| {
        xlsx(|workbook| {
            let sheet = workbook.add_worksheet();
            sheet.write_column(0, 0, ["phone", "+447911123456", "+447911123457"])?;
            for row in rows {
                sheet.set_row_hidden(*row)?;
            }
            Ok(())
        })
    };
    let repeats = format!(
        r#"<table:table table:name="S"><table:table-row><table:table-cell table:formula="{}" table:number-columns-repeated="16384"/></table:table-row></table:table>"#,
        "a".repeat(100_000)
    );
    for (name, bytes) in [
        (
            "letter.docx",
            zip_of(
                &[("[Content_Types].xml", b""), ("word/document.xml", b"")],
                true,
            ),
        ),
        ("slides.pptx", zip_of(&[("ppt/slide.xml", b"")], true)),
        ("list.numbers", zip_of(&[("Index/Document.iwa", b"")], true)),
        ("lists.zip", zip_of(&[("leads.csv", b"phone\n")], true)),
        ("letter.doc", compound(&[("WordDocument", b"")])),
        (
            "letter.odt",
            zip_of(
                &[("mimetype", b"application/vnd.oasis.opendocument.text")],
                true,
            ),
        ),
        (
            "list.xlsb",
            zip_of(
                &[("[Content_Types].xml", b""), ("xl/workbook.bin", b"")],
                true,
            ),
        ),
        ("list.msg", compound(&[("Message", b"")])),
        ("secret.xlsx", compound(&[("EncryptedPackage", b"")])),
        ("charts.ods", ods("", "")),
        ("repeats.ods", ods(&repeats, "")),
        ("cut.xlsx", two_sheets[..two_sheets.len() / 2].to_vec()),
        ("list.xlsx", two_sheets),
        ("several.xlsx", several),
        ("hidden.xlsx", hidden(&[2])),
        ("all.xlsx", hidden(&[1, 2])),
    ] {
        folder.write(name, bytes);
    }
    let mut page = Page::default();
    for args in [
        &["letter.docx"][..],
        &["slides.pptx"],
        &["list.numbers"],
        &["lists.zip"],
        &["letter.doc"],
        &["letter.odt"],
        &["list.xlsb"],
        &["list.msg"],
        &["secret.xlsx"],
        &["charts.ods"],
        &["repeats.ods"],
        &["cut.xlsx"],
        &["list.xlsx", "--sheet", "Poeple"],
        &["list.xlsx", "--sheet", "Sheet1"],
        &["list.xlsx", "--sheet", "Notes"],
        &["several.xlsx"],
        &["hidden.xlsx"],
        &["all.xlsx"],
    ] {
        page.add(&folder, check(&folder, args));
    }
    page.is("spreadsheets");
}
