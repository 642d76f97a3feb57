//! `leadload sandbox`.

use super::Page;
use crate::relay::address_of;
use crate::util::{Folder, service};

#[test]
fn of_the_sandbox() {
    let folder = Folder::new();
    for (name, text) in [
        ("no.toml", "listen = \n"),
        ("unknown.toml", "seed = 1\nlatncy_ms = 5\n"),
        ("type.toml", "latency_ms = 'long'\n"),
        ("share.toml", "[faults]\nstatus_429 = 2.0\n"),
        ("secret.toml", "token = 1|abcdefghijklmnop\n"),
    ] {
        folder.write(name, text);
    }
    folder.write("empty", "\n");
    let service = service();
    let taken = address_of(&service).to_string();
    let mut page = Page::default();
    for args in [
        &["--listen", &taken][..],
        &["--listen", "192.0.2.1:0"],
        &["--scenario", "nowhere.toml"],
        &["--scenario", "no.toml"],
        &["--scenario", "unknown.toml"],
        &["--scenario", "type.toml"],
        &["--scenario", "share.toml"],
        &["--scenario", "secret.toml"],
        &["--token-file", "nowhere"],
        &["--token-file", "empty"],
    ] {
        page.add(&folder, folder.leadload(&[&["sandbox"], args].concat()));
    }
    page.is("sandbox");
}
