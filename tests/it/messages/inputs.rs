//! Files that cannot be read, and files that are not lists.

use super::{ONE, Page, check, import};
use crate::corpus::{gzip, zstd};
use crate::util::{Folder, service};

#[test]
fn of_inputs() {
    let folder = Folder::with_leads(ONE);
    std::fs::create_dir(folder.path("lists")).unwrap();
    for (name, bytes) in [
        ("empty.csv", &b""[..]),
        ("blank.csv", b"\xEF\xBB\xBF\r\n\n"),
        ("torn.csv", b"phone,\"name\n+447911000001,Ada\n"),
        (
            "mixed.csv",
            b"phone,\xFF\xFEname\xC3\n+447911000001,Z\xC3\xB6e\n",
        ),
        ("letter.pdf", b"%PDF-1.7\n"),
        ("photo.csv", b"\x89PNG\r\n"),
        ("letter.rtf", b"{\\rtf1 phone"),
        ("page.xls", b"<html><table><tr><td>phone"),
        ("people.vcf", b"BEGIN:VCARD\r\n"),
        ("answer.csv", b"{\"error\":\"no list\"}"),
        ("list.7z", b"7z\xBC\xAF\x27\x1C\0\0"),
        ("data.csv", b"+447911000001,Ada\n+447911000002,Bob\n"),
    ] {
        folder.write(name, bytes);
    }
    folder.write("long.csv", "x".repeat((1 << 20) + 1));
    folder.write("twice.csv.gz", gzip(gzip(ONE)));
    folder.write("cut.csv.gz", &gzip(ONE.repeat(50))[..40]);
    folder.write("cut.csv.zst", &zstd(ONE.repeat(50))[..20]);
    let mut page = Page::default();
    for args in [
        &["nowhere.csv"][..],
        &["laeds.csv"],
        &["nowhere/leads.csv"],
        &["My", "leads.csv"],
        &["lists"],
        &["empty.csv"],
        &["blank.csv"],
        &["torn.csv"],
        &["mixed.csv", "--encoding", "utf-8"],
        &["long.csv"],
        &["letter.pdf"],
        &["photo.csv"],
        &["letter.rtf"],
        &["page.xls"],
        &["people.vcf"],
        &["answer.csv"],
        &["list.7z"],
        &["twice.csv.gz"],
        &["cut.csv.gz"],
        &["cut.csv.zst"],
        &["data.csv"],
        &["leads.csv", "--sheet", "Leads"],
        &["leads.csv", "./leads.csv"],
        &["-", "-"],
    ] {
        page.add(&folder, check(&folder, args));
    }
    let service = service();
    import(&folder, &service, &[]).expect(0);
    let args = ["import", "leads.results.csv", "--campaign", "101"];
    page.add(&folder, folder.leadload(&args).at(&service));
    let rejects = |name: &str, campaign: &str| {
        folder.write(name, "phone,town\n07911 1,Leeds\n");
        let import = ["import", name, "--campaign", campaign];
        folder.leadload(&import).at(&service).expect(1);
    };
    rejects("one.csv", "101");
    rejects("two.csv", "102");
    let args = ["import", "one.rejects.csv", "two.rejects.csv"];
    page.add(&folder, folder.leadload(&args).at(&service));
    let header =
        "phone,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run";
    let mut of_rows = |name: &str, rows: &str, more: &[&str]| {
        folder.write(name, format!("{header}\n{rows}\n"));
        let args = [&["import", name][..], more].concat();
        page.add(&folder, folder.leadload(&args).at(&service));
    };
    of_rows("other.csv", "+447911000009,1,invalid,,x,7-bcdfg", &[]);
    let some = ["--campaign", "101", "--region", "GB"];
    of_rows("plain.csv", "+447911000009,1,invalid,,x,2", &some);
    of_rows("mixed.csv", "1,1,invalid,,x,2\n1,1,invalid,,x,", &some);
    of_rows("typed.csv", "1,one,invalid,,x,2", &some);
    of_rows("no-ledger.csv", "1,1,invalid,,x,2", &["--ledger", "none"]);
    let args = ["import", "one.rejects.csv"];
    page.add(&folder, folder.leadload(&args).at(&self::service()));
    page.is("inputs");
}

#[test]
#[cfg(unix)]
fn of_standard_input() {
    let folder = Folder::new();
    let mut page = Page::default();
    let run = check(&folder, &["-"]);
    page.add(&folder, run.env("TMPDIR", "/nowhere/to/be"));
    page.is("standard-input");
}
