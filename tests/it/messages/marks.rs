//! Columns that say who must not be called, and what only some rows have.

use super::{Page, check};
use crate::util::Folder;

#[test]
fn of_marks() {
    let folder = Folder::new();
    let dates = |name: &str, dates: [&str; 3]| {
        let rows = (0..).zip(dates);
        let rows = rows.map(|(at, date)| format!("+44791100000{at},{date}\n"));
        folder.write(name, format!("phone,since\n{}", rows.collect::<String>()));
    };
    for (name, list) in [
        (
            "words.csv",
            "DNC\n+447911000001,no\n+447911000002,perhaps\n",
        ),
        (
            "most.csv",
            "DNC\n+447911000001,x\n+447911000002,x\n+447911000003,\n",
        ),
        (
            "two.csv",
            "DNC,Opt-out\n+447911000001,x,\n+447911000002,,x\n+447911000003,,\n",
        ),
        (
            "consent.csv",
            "Consent\n+447911000001,perhaps\n+447911000002,yes\n",
        ),
    ] {
        folder.write(name, format!("phone,{list}"));
    }
    dates("either.csv", ["02/01/2025", "01/02/2025", ""]);
    dates("both.csv", ["13/01/2025", "01/13/2025", ""]);
    dates("none.csv", ["yes", "no", ""]);
    let mut page = Page::default();
    for args in [
        "words.csv",
        "words.csv --do-not-call-column nothing",
        "most.csv",
        "two.csv",
        "consent.csv",
        "either.csv --only since>=2025-01-02",
        "both.csv --only since>=2025-01-02",
        "both.csv --only since>=2025",
        "none.csv --only since>=2025-01-02",
        "none.csv --only nothing=x",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        page.add(&folder, check(&folder, &args));
    }
    page.is("marks");
}
