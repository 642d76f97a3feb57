//! Do-not-call lists.

use super::{Page, check};
use crate::util::Folder;

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
    page.is("suppression");
}
