//! Every template of the program in both voices, as one list: what there is to read, to correct and one
//! day to translate. The words of the page stand below those of the terminal, where they differ.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use super::Voice;
use super::names::NAMES;
use super::template::{Piece, pieces};

/// The macros whose first literals are templates: whether the page has words for them, and how many.
const MACROS: [(&str, bool, usize); 5] = [
    ("text", true, 1),
    ("template", true, 1),
    ("message", true, 2),
    ("terminal_text", false, 1),
    ("terminal_message", false, 2),
];

#[test]
fn the_catalogue_has_every_template_in_both_voices() {
    let mut catalogue = String::from("Names\n");
    for (key, terminal, page) in NAMES {
        let _ = writeln!(catalogue, "  {key}: {terminal} | {page}");
    }
    for (name, found) in templates() {
        let _ = writeln!(catalogue, "\n{}", name.replace('\\', "/"));
        for (template, is_for_page) in found {
            let [terminal, page] =
                [Voice::Terminal, Voice::Page].map(|voice| shown(&template, voice));
            let _ = writeln!(catalogue, "  - {terminal}");
            if is_for_page && page != terminal {
                let _ = writeln!(catalogue, "    {page}");
            }
        }
    }
    insta::with_settings!({
        omit_expression => true,
        snapshot_path => "../../tests/it/snapshots",
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!("messages-catalogue", catalogue);
    });
}

/// The page begins a sentence behind each `; `.
#[test]
fn no_sentence_of_the_page_ends_within_brackets() {
    for (file, found) in templates() {
        for (template, _) in found.iter().filter(|(_, is_for_page)| *is_for_page) {
            let page = shown(template, Voice::Page);
            let brackets = page.split('(').skip(1);
            let mut brackets = brackets.map(|rest| rest.split(')').next().unwrap_or_default());
            assert!(
                !brackets.any(|inside| inside.contains("; ")),
                "{file}: {page}"
            );
        }
    }
}

/// The templates of each file, and whether the page has words for them.
fn templates() -> Vec<(String, Vec<(String, bool)>)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    for file in sources(&src) {
        let text = fs::read_to_string(&file).unwrap();
        let mut found = Vec::new();
        collect(text.parse().unwrap(), &mut found);
        // The tests' own.
        if !found.is_empty() && !file.starts_with(src.join("message")) {
            let name = file.strip_prefix(&src).unwrap();
            all.push((name.to_string_lossy().into_owned(), found));
        }
    }
    all
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files = paths.into_iter().flat_map(|path| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    });
    files
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

/// The templates in these tokens, and whether the page has words for them. Those of tests are among them.
fn collect(tokens: TokenStream, found: &mut Vec<(String, bool)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let name = at.checked_sub(2).map(|at| tokens[at].to_string());
        let is_call = at > 0 && tokens[at - 1].to_string() == "!";
        let called = MACROS
            .iter()
            .find(|(of, ..)| is_call && name.as_deref() == Some(of));
        if let Some((_, is_for_page, templates)) = called {
            // Between two of them stands a comma.
            for token in group.stream().into_iter().step_by(2).take(*templates) {
                if let TokenTree::Literal(literal) = token {
                    found.push((unescaped(&literal.to_string()), *is_for_page));
                }
            }
        }
        // Texts stand in texts, and all literals of advice are templates.
        if is_call && name.as_deref() == Some("advice") {
            advice(group.stream(), found);
        } else {
            collect(group.stream(), found);
        }
    }
}

fn advice(tokens: TokenStream, found: &mut Vec<(String, bool)>) {
    for token in tokens {
        match token {
            TokenTree::Literal(literal) => found.push((unescaped(&literal.to_string()), true)),
            TokenTree::Group(group) => advice(group.stream(), found),
            _ => {}
        }
    }
}

/// What a literal says.
fn unescaped(literal: &str) -> String {
    let text = literal.trim_matches('"');
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    let text = lines.fold(first, |text, line| text + line.trim_start());
    let text = text.replace("\\n", "\n").replace("\\\"", "\"");
    text.replace("\\u{FFFD}", "\u{FFFD}")
}

/// A template in the words of a voice, with its places as they are.
fn shown(template: &str, voice: Voice) -> String {
    let mut words = String::new();
    for piece in pieces(template, voice) {
        match piece {
            Piece::Words(piece) => words.push_str(piece),
            Piece::Place(place) => match super::names::name(place, voice) {
                Some(name) => words.push_str(name),
                None => words.push_str(&format!("⟨{place}⟩")),
            },
            Piece::Template(template) => words.push_str(&shown(template, voice)),
        }
    }
    words
}
