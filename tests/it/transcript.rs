//! The output of a command, as a text that is the same in every run and on every machine.
//!
//! Parts that differ from run to run are replaced with words: folders,
//! ports, times, durations, and the error texts of the system.

use std::path::Path;

use crate::util::{Folder, Output};

/// The exit code and both streams.
pub fn transcript(folder: &Folder, command: &str, output: &Output) -> String {
    let mut text = format!("$ {command}\n");
    for (name, stream) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !stream.is_empty() {
            text.push_str(&format!("--- {name}\n{}\n", stream.trim_end()));
        }
    }
    text.push_str(&format!("--- exit {}\n", output.code));
    normalised(&text, folder)
}

/// The text without the parts that differ from run to run.
pub fn normalised(text: &str, folder: &Folder) -> String {
    let text = without_path(text, &folder.home(), "HOME");
    let text = without_path(&text, &folder.path(""), "FOLDER");
    let text = SHAPES
        .iter()
        .fold(text, |text, (shape, word)| replaced(&text, shape, word));
    let lines: Vec<String> = text
        .lines()
        .map(|line| system_error(line.trim_end()))
        .collect();
    lines.join("\n") + "\n"
}

/// The text with every tag of a run, as in `7-bcdfg`, replaced.
pub fn without_tags(text: &str) -> String {
    replaced(text, TAG.0, TAG.1)
}

const TAG: (&str, &str) = ("-@@@@@", "-TAG");

/// The shapes of the parts that differ, in this order: `#` is a digit, `*` some digits, `@` a
/// consonant.
const SHAPES: [(&str, &str); 11] = [
    TAG,
    ("127.0.0.1:#####", "127.0.0.1:PORT"),
    ("####-##-##T##:##:##.*Z", "TIME"),
    ("####-##-##T##:##:##Z", "TIME"),
    ("########T######Z", "TIME"),
    ("####-##-## ##:##:##", "TIME"),
    ("####-##-## ##:##", "TIME"),
    (" of ####-##-##", " of DATE"),
    ("since ##:## UTC", "since TIME"),
    (" in *.* s", " in N s"),
    ("\"elapsed_s\":*.*", "\"elapsed_s\":N"),
];

/// The text with a path replaced, in any form in which the system writes it.
fn without_path(text: &str, path: &Path, word: &str) -> String {
    let shown = path.display().to_string();
    let shown = shown.trim_end_matches(['/', '\\']);
    text.replace(shown, word)
}

/// The text with every match of `shape` replaced.
fn replaced(text: &str, shape: &str, word: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match matched(rest, shape) {
            Some(length) => {
                result.push_str(word);
                rest = &rest[length..];
            }
            None => {
                result.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    result
}

/// How many bytes at the beginning of `text` have this shape.
fn matched(text: &str, shape: &str) -> Option<usize> {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut at = 0;
    for expected in shape.chars() {
        let rest = &text[at..];
        at += match expected {
            '#' => digits(rest).min(1),
            '*' => digits(rest),
            '@' => usize::from(rest.starts_with(is_consonant)),
            other if rest.starts_with(other) => other.len_utf8(),
            _ => 0,
        };
        if at + rest.len() == text.len() {
            return None;
        }
    }
    Some(at)
}

fn is_consonant(c: char) -> bool {
    c.is_ascii_lowercase() && !"aeiouy".contains(c)
}

/// The system words `…: No such file or directory (os error 2)`.
fn system_error(line: &str) -> String {
    let Some((before, after)) = line.split_once(" (os error ") else {
        return line.to_owned();
    };
    let Some((_, after)) = after.split_once(')') else {
        return line.to_owned();
    };
    let what = before.rsplit_once(": ").map_or(before, |(what, _)| what);
    format!("{what}: REASON{after}")
}
