//! The settings file: where it is, and how it is read.
//!
//! It is the file that `--config` or LEADLOAD_CONFIG names, otherwise `config.toml` in
//! the user's configuration folder. It is never a file of the current folder: that could
//! have come with a list from someone else, and would send the leads to their service.
//!
//! The file may contain a token by mistake, so no message quotes
//! it: messages only say where it is wrong, by line and column.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use directories::ProjectDirs;
use toml_edit::Document;

use crate::message::{Message, Text};
use crate::paths::with_reason;
use crate::results::what_to_fix_with_folders;

#[derive(Debug)]
pub(in crate::settings) struct ConfigFile {
    /// Its absolute path.
    pub(in crate::settings) path: PathBuf,
    pub(in crate::settings) document: Document<String>,
}

impl ConfigFile {
    pub(in crate::settings) fn find(named: Option<&Path>) -> Result<Option<ConfigFile>> {
        match (named, usual_place()) {
            (Some(path), _) => match ConfigFile::read(path)? {
                Some(file) => Ok(Some(file)),
                None => bail!(Message::new(
                    Text::terminal(format!("there is no settings file `{}`", path.display())),
                    terminal_text!("check the name, or create it with `leadload config init`")
                )),
            },
            (None, Some(path)) => ConfigFile::read(&path),
            (None, None) => Ok(None),
        }
    }

    pub(in crate::settings) fn read(path: &Path) -> Result<Option<ConfigFile>> {
        let Some(text) = text_of(path)? else {
            return Ok(None);
        };
        let document = Document::parse(text.clone());
        let document = document.map_err(|error| {
            let place = error.span().map(|span| place_in(&text, span.start));
            let (line, column) = place.unwrap_or((1, 1));
            message!("{|leadload's settings on this computer can't be used: }{file} is not valid TOML: line {line}, column {column}: {why}", "{a setting looks like `region = \"GB\"`, with quotes around texts|{ask_setup}}", file = path, line, column, why = error.message())
        })?;
        Ok(Some(ConfigFile {
            path: std::path::absolute(path)?,
            document,
        }))
    }

    /// The line (from 1) in which an item of the document begins.
    pub(in crate::settings) fn line_of(&self, span: Option<std::ops::Range<usize>>) -> usize {
        span.map_or(1, |span| place_in(self.document.raw(), span.start).0)
    }

    /// The folder that relative paths in the file start from.
    pub(in crate::settings) fn folder(&self) -> &Path {
        crate::paths::folder_of(&self.path)
    }
}

pub(in crate::settings) fn unwritable(path: &Path, error: &io::Error) -> Message {
    let fix = what_to_fix_with_folders(path, error);
    message!(
        "cannot write {place}",
        "{fix}, or {name another settings file with `--config`; then run the same command again|{ask_setup}}",
        place = with_reason(path, error),
        fix
    )
}

/// The file that is used if none is named.
pub(in crate::settings) fn usual_place() -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "leadload")?;
    Some(folders.config_dir().join("config.toml"))
}

fn text_of(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => bail!(Message::new(
            Text::terminal(format!(
                "cannot read the settings in {}",
                with_reason(path, &error)
            )),
            terminal_text!(
                "check that it is a text file in UTF-8 which you may read, or name another one with `--config`"
            )
        )),
    }
}

/// Line and column of an offset, both from 1, the column in characters.
fn place_in(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_and_a_column_in_characters() {
        let text = "a = 1\nörtlich = ?\n";
        assert_eq!(place_in(text, 0), (1, 1));
        assert_eq!(place_in(text, text.find('?').unwrap()), (2, 11));
        assert_eq!(place_in(text, 1000), (3, 1));
    }

    #[test]
    fn a_file_that_is_not_toml_is_reported_by_line_and_column_and_not_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        for line in [
            "token_file = 1|s3cretToken",
            "s3cretToken",
            "token_file = \"s3cretToken",
            "a = \"s3cretToken\" b",
            "[s3cretToken",
            "a = \"\\s3cretToken\"",
        ] {
            fs::write(&path, format!("region = 'GB'\n{line}\n")).unwrap();
            let text = ConfigFile::read(&path).unwrap_err().to_string();
            assert!(text.contains(": line "), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, "\u{FEFF}region = 'GB'\n").unwrap();
        let file = ConfigFile::read(&path).unwrap().unwrap();
        assert!(file.document.as_table().contains_key("region"));
    }
}
