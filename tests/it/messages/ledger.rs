//! Ledgers that cannot be used.

use rusqlite::Connection;

use super::{Page, import};
use crate::util::{Folder, contacts, service};

#[test]
fn of_the_ledger() {
    let folder = Folder::with_leads(&contacts(500));
    let service = service();
    let mut page = Page::default();
    folder.write(
        "notes.txt",
        "not a database, and longer than a header of one: ".repeat(9),
    );
    std::fs::create_dir(folder.path("lists")).unwrap();
    for place in ["notes.txt", "lists", "notes.txt/ledger"] {
        let run = import(&folder, &service, &["--ledger", place]);
        page.add(&folder, run);
    }
    for place in [":memory:", "file::memory:", "file:ledger", "", " "] {
        let run = import(&folder, &service, &["--ledger", place]);
        page.add(&folder, run);
        page.add(&folder, folder.leadload(&["runs", "--ledger", place]));
    }
    let run = import(&folder, &service, &[]);
    page.add(&folder, run.env("LEADLOAD_LEDGER", ":memory:"));
    folder.write("config.toml", "ledger = ':memory:'");
    page.add(
        &folder,
        folder.leadload(&["runs", "--config", "config.toml"]),
    );
    assert!(!folder.path(":memory:").exists());
    import(&folder, &service, &["--ledger", "ledger", "--limit", "3"]).expect(0);
    let used = || import(&folder, &service, &["--ledger", "ledger"]);
    let ledger = Connection::open(folder.path("ledger")).unwrap();
    ledger.execute_batch("BEGIN EXCLUSIVE").unwrap();
    page.add(&folder, used());
    ledger.execute_batch("ROLLBACK").unwrap();
    let sent = import(
        &folder,
        &service,
        &["--ledger", "ledger", "--allow-duplicates"],
    );
    page.add(&folder, sent);
    for version in [1000, 3] {
        ledger.pragma_update(None, "user_version", version).unwrap();
        page.add(&folder, used());
    }
    page.is("ledger");
}
