//! Do-not-call lists.

use super::{Page, check};
use crate::util::{Folder, service};

#[test]
fn of_the_list_that_stays() {
    let folder = Folder::with_leads(super::ONE);
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    folder.write("stop.csv", "phone\n+447911000001\n+447911000009\n");
    folder.write("names.txt", "Ada\nBob\n");
    let mut page = Page::default();
    for args in [
        "list",
        "add stop.csv",
        "add stop.csv",
        "remove --number +447911000001 --number +447911000002",
        "add names.txt",
        "add --number 07911000001",
        "list --ledger none",
    ] {
        let args: Vec<&str> = ["suppress"].into_iter().chain(args.split(' ')).collect();
        let run = folder.leadload(&args);
        let typed = run.typed();
        page.push(&folder, &typed, run.output());
    }
    page.is("list-that-stays");
}

#[test]
fn of_do_not_call_lists() {
    let folder = Folder::with_leads(super::ONE);
    std::fs::create_dir(folder.path("lists")).unwrap();
    folder.write("empty.txt", "");
    folder.write("names.txt", "Ada\nBob\n");
    folder.write(
        "national.txt",
        "+447911000009\n07911 000001\n07911 000002\n",
    );
    folder.write("letter.pdf", "%PDF-1.7");
    let mut page = Page::default();
    for list in [
        "nowhere.txt",
        "lists",
        "-",
        "empty.txt",
        "names.txt",
        "national.txt",
        "letter.pdf",
    ] {
        page.add(&folder, check(&folder, &["leads.csv", "--suppress", list]));
    }
    for (list, text) in [
        ("quote.csv", "phone\n\"+447911000009\n"),
        ("many.csv", &("phone\n".to_owned() + &"x1\n".repeat(14))),
        ("mail.csv", "Name,E-mail\nAda,ada@example.com\n"),
        ("mail.txt", "ada@example.com\nbob@example.com\n"),
        ("people.csv", "name,town\nAda,Leeds\n"),
        ("american.csv", "phone\n(203) 555-0101\n(203) 555-0102\n"),
        (
            "one.csv",
            "phone\n07911 000001\n(203) 555-0101\n07911 000002\n07911 000003\n",
        ),
    ] {
        folder.write(list, text);
        let args = ["leads.csv", "--region", "GB", "--suppress", list];
        page.add(&folder, check(&folder, &args));
    }
    page.is("suppression");
}
