//! The access token.

use super::Page;
use crate::util::Folder;

#[test]
fn of_the_token() {
    let folder = Folder::new();
    folder.write("empty", "\n");
    folder.write("scheme", "Bearer \n");
    folder.write("torn", "first-half\nsecond-half\n");
    folder.write("spaced", "first-half second-half");
    folder.write("letters", "größe");
    folder.write("bytes", [0xC3, 0x28, 0x41]);
    std::fs::create_dir(folder.path("folder")).unwrap();
    let campaigns = |args: &[&str]| {
        folder
            .leadload(&[&["campaigns"], args].concat())
            .env("LEADLOAD_BASE_URL", "http://127.0.0.1:1")
    };
    let mut page = Page::default();
    page.add(&folder, campaigns(&[]));
    for file in [
        "nowhere",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "folder",
        "empty",
        "scheme",
        "torn",
        "spaced",
        "letters",
        "bytes",
    ] {
        page.add(&folder, campaigns(&["--token-file", file]));
    }
    for (name, value) in [
        ("LEADLOAD_TOKEN", "  "),
        ("LEADLOAD_TOKEN", "first\nsecond"),
        ("LEADLOAD_TOKEN_FILE", "nowhere"),
    ] {
        page.add(&folder, campaigns(&[]).env(name, value));
    }
    page.is("token");
}
