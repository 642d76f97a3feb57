//! Which rooms of `src` may import which: a list in place of walls between crates.
//!
//! A room is a folder or a file directly below `src`. The list is read from the top of the program
//! to its ground. Rooms should import only rooms below them; where one doesn't yet, the import is
//! listed as wrong, and goes away with the code that needs it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A room, the rooms below it that it imports, and those above it that it imports wrongly.
type Layer = (&'static str, &'static str, &'static str);

const LAYERS: [Layer; 39] = [
    (
        "commands",
        "web cli follow_up import report do_not_call settings command_line sandbox options pipeline results event intake stop screen mapping ledger api campaign signals phone lead open_files exit message private_file paths text double_click",
        "",
    ),
    (
        "web",
        "follow_up import report do_not_call settings command_line sandbox options results event intake screen mapping ledger api campaign source signals phone lead exit message private_file paths text",
        "",
    ),
    (
        "cli",
        "sandbox options phone lead rate exit message text",
        "",
    ),
    (
        "follow_up",
        "import report settings pipeline results stop ledger api campaign signals phone lead open_files exit message text clock",
        "",
    ),
    (
        "import",
        "report settings command_line sandbox options pipeline results event intake stop screen mapping ledger api campaign source signals clock phone lead rate open_files exit message text simulation",
        "",
    ),
    (
        "report",
        "do_not_call settings command_line options results event intake stop screen mapping ledger api campaign source signals phone lead rate exit message private_file paths shell text clock",
        "follow_up",
    ),
    (
        "do_not_call",
        "settings screen ledger phone lead exit clock",
        "",
    ),
    (
        "settings",
        "command_line options pipeline results intake mapping ledger api campaign source phone lead rate exit message private_file paths shell text",
        "",
    ),
    ("command_line", "options lead shell text", ""),
    ("sandbox", "options api rate", ""),
    (
        "options",
        "pipeline intake mapping api source phone rate exit message text",
        "",
    ),
    (
        "pipeline",
        "event intake stop screen ledger api source signals clock phone lead rate exit text backoff simulation message",
        "",
    ),
    (
        "results",
        "intake mapping ledger source phone lead exit message contain private_file paths text clock simulation",
        "",
    ),
    ("event", "source phone lead rate exit", ""),
    (
        "intake",
        "screen mapping ledger campaign source phone lead exit text simulation message",
        "",
    ),
    ("stop", "ledger api signals lead exit message", ""),
    (
        "screen",
        "mapping ledger campaign source phone lead message text",
        "",
    ),
    ("mapping", "source phone lead exit message shell text", ""),
    (
        "ledger",
        "clock phone lead rate exit message private_file paths text simulation",
        "options results",
    ),
    (
        "api",
        "campaign phone lead exit message paths text backoff clock simulation",
        "",
    ),
    ("campaign", "lead message text", ""),
    ("source", "lead exit message contain paths text", ""),
    ("signals", "clock", ""),
    ("open_files", "exit message", ""),
    ("exit", "message", ""),
    ("phone", "lead text message", ""),
    ("lead", "message", ""),
    ("private_file", "paths", ""),
    ("paths", "message", ""),
    ("message", "clock text", ""),
    ("clock", "simulation", ""),
    ("simulation", "", ""),
    ("rate", "", ""),
    ("contain", "", ""),
    ("shell", "text", ""),
    ("text", "", ""),
    ("backoff", "", ""),
    ("double_click", "", ""),
    ("core_file", "", ""),
];

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn a_room_imports_only_the_rooms_that_its_layer_lists() {
    let mut listed = Imports::new();
    for (room, below, wrong) in LAYERS {
        let rooms = below.split_whitespace().chain(wrong.split_whitespace());
        listed.insert(room.to_owned(), rooms.map(str::to_owned).collect());
    }
    let mut found = found();
    for (room, imports) in &mut found {
        let listed = listed.get(room).unwrap_or_else(|| {
            panic!("the room `{room}` is in no layer: put it where data comes from above it")
        });
        let new: Vec<&String> = imports.difference(listed).collect();
        assert_eq!(
            new, [""; 0],
            "`{room}` imports rooms that its layer does not list"
        );
        let gone: Vec<&String> = listed.difference(imports).collect();
        assert_eq!(
            gone, [""; 0],
            "the layer of `{room}` lists rooms that it does not import"
        );
    }
}

#[test]
fn the_layers_are_in_order_apart_from_the_imports_that_are_listed_as_wrong() {
    let place = |room: &str| {
        LAYERS
            .iter()
            .position(|(layer, ..)| *layer == room)
            .unwrap()
    };
    for (at, (room, below, wrong)) in LAYERS.iter().enumerate() {
        for import in below.split_whitespace() {
            assert!(place(import) > at, "`{import}` is above `{room}`");
        }
        for import in wrong.split_whitespace() {
            assert!(
                place(import) < at,
                "`{import}` is below `{room}`: it is not wrong"
            );
        }
    }
}

/// What each room imports, tests apart.
fn found() -> Imports {
    let mut imports = Imports::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![src.clone()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if let Some(room) = room(&src, &path) {
            let text = fs::read_to_string(&path).unwrap();
            imports.entry(room).or_default().extend(imported(&text));
        }
    }
    for (room, imports) in &mut imports {
        imports.remove(room);
    }
    imports.retain(|room, _| room != "lib" && room != "main");
    imports
}

/// The room of a file with code; `None` for other files and for tests.
fn room(src: &Path, path: &Path) -> Option<String> {
    let below: PathBuf = path.strip_prefix(src).unwrap().with_extension("");
    let is_test = |part: &str| {
        let is_model = ["model", "protocol", "scenarios"].contains(&part);
        is_model || part == "testing" || part == "tests" || part.ends_with("_tests")
    };
    let mut parts = below.iter().map(|part| part.to_str().unwrap());
    let is_code = path.extension().is_some_and(|extension| extension == "rs");
    let room = parts.next()?;
    (is_code && !parts.any(is_test)).then(|| room.to_owned())
}

/// The rooms that a text names as `crate::ROOM`, above its tests and outside of comments.
fn imported(text: &str) -> BTreeSet<String> {
    let code = text
        .split("\n#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines = code.lines().map(str::trim_start);
    let code = lines.filter(|line| !line.starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1))
        .map(|path| {
            path.split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
        })
        .map(|room| room.unwrap_or_default().to_owned())
        .collect()
}
