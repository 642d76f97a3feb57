//! The file of settings: where it is, and how it is read and written.
//!
//! It is the one that `--config` names, or `LEADLOAD_CONFIG`, or else `config.toml` in the
//! user's configuration folder, or else a system-wide one. Never a file of the current
//! folder: it could have come with a list of somebody else's, and send the leads to their
//! service.
//!
//! A token may stand in it by mistake, so no message quotes the file: only where it is
//! wrong, by line and column.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use directories::ProjectDirs;
use toml_edit::Document;

use crate::options::ProfileOptions;
use crate::private_file;
use crate::results::what_to_fix_with_folders;

/// What the file is called in its folder.
const FILE_NAME: &str = "config.toml";

/// More than anybody writes by hand: what is longer is another file.
const MAX_BYTES: u64 = 1024 * 1024;

/// A file of settings.
#[derive(Debug)]
pub(in crate::settings) struct ConfigFile {
    /// Where it is, as an absolute path.
    pub(in crate::settings) path: PathBuf,
    pub(in crate::settings) document: Document<String>,
}

impl ConfigFile {
    /// The file that is in force, if there is one.
    ///
    /// # Errors
    ///
    /// Where a file that was named is missing, or one that is there cannot be read.
    pub(in crate::settings) fn find(named: Option<&Path>) -> Result<Option<ConfigFile>> {
        if let Some(path) = named {
            let file = ConfigFile::read(path)?;
            return file.map(Some).ok_or_else(|| missing(path));
        }
        for path in usual_places() {
            if let Some(file) = ConfigFile::read(&path)? {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    /// Reads a file, if it is there.
    pub(in crate::settings) fn read(path: &Path) -> Result<Option<ConfigFile>> {
        let Some(text) = text_of(path)? else {
            return Ok(None);
        };
        let document = Document::parse(text.clone());
        let document = document.map_err(|error| {
            let place = error.span().map(|span| place_in(&text, span.start));
            let (line, column) = place.unwrap_or((1, 1));
            anyhow!(
                "`{}` is no TOML: line {line}, column {column}: {}\n\nhint: a setting looks like `region = \"GB\"`, and texts stand in quotes",
                path.display(),
                error.message()
            )
        })?;
        Ok(Some(ConfigFile {
            path: std::path::absolute(path)?,
            document,
        }))
    }

    /// The line (from 1) in which something of the document begins.
    pub(in crate::settings) fn line_of(&self, span: Option<std::ops::Range<usize>>) -> usize {
        span.map_or(1, |span| place_in(self.document.raw(), span.start).0)
    }

    /// The folder that relative paths in it start from.
    pub(in crate::settings) fn folder(&self) -> &Path {
        crate::source::folder_of(&self.path)
    }
}

/// The file that settings are written to: the one that was named, or the user's own. What
/// holds for the whole system is nothing that a user may write.
///
/// # Errors
///
/// Where none is named and the user has no home folder.
pub(in crate::settings) fn place_to_write(said: &ProfileOptions) -> Result<PathBuf> {
    if let Some(path) = said.config.as_deref() {
        return Ok(std::path::absolute(path)?);
    }
    users_own_file().ok_or_else(|| {
        anyhow!(
            "there is no home folder to keep settings in\n\nhint: name a file for them with `--config`"
        )
    })
}

/// Finds out whether the file can be written, which nobody wants to hear when all questions
/// are answered; it stays as it is.
///
/// # Errors
///
/// Where it cannot.
pub(in crate::settings) fn probe(path: &Path) -> Result<()> {
    let path = place_of(path);
    private_file::probe(&path).map_err(|error| unwritable(&path, &error))
}

/// Whether the file, once it is there, is found by whoever names none.
pub(in crate::settings) fn is_found_unnamed(path: &Path) -> bool {
    let places = usual_places();
    let mut there = places
        .iter()
        .filter(|place| *place == path || place.exists());
    there.next().is_some_and(|first| first == path)
}

/// Where it is: a link, such as one into a folder of versioned settings, stays one.
pub(super) fn place_of(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Why a file of settings, or one beside it, is not written.
pub(in crate::settings) fn unwritable(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!(
        "cannot write `{}`: {error}\n\nhint: {}, or name another file of settings with `--config`; then run the same command again",
        path.display(),
        what_to_fix_with_folders(path, error)
    )
}

/// The file that is not read any more once there is one at `path`: the user's own comes
/// before the system's.
pub(in crate::settings) fn hidden_by(path: &Path) -> Option<PathBuf> {
    hidden_among(&usual_places(), path)
}

fn hidden_among(places: &[PathBuf], new: &Path) -> Option<PathBuf> {
    let at = places.iter().position(|place| place == new)?;
    let is_in_force = places[..=at].iter().all(|place| !place.exists());
    let mut after = places[at + 1..].iter();
    after.find(|place| is_in_force && place.exists()).cloned()
}

fn text_of(path: &Path) -> Result<Option<String>> {
    let bytes = match bytes_of(path) {
        Ok(bytes) => bytes,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => bail!(
            "cannot read the settings in `{}`: {error}\n\nhint: check that it is a file which you may read, or name another one with `--config`",
            path.display()
        ),
    };
    if bytes.len() as u64 > MAX_BYTES {
        bail!(
            "`{}` is longer than 1 MiB, so it is no file of settings\n\nhint: name another one with `--config`",
            path.display()
        );
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        anyhow!(
            "`{}` is not in UTF-8\n\nhint: save it as UTF-8",
            path.display()
        )
    })?;
    // Some editors begin a file with a mark.
    Ok(Some(match text.strip_prefix('\u{FEFF}') {
        Some(text) => text.to_owned(),
        None => text,
    }))
}

/// What is in the file, as far as a file of settings can be long.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    // Asked before opening, which would wait for ever at a pipe without a writer.
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() {
        let what = if kind.is_dir() {
            "it is a folder"
        } else {
            "it is a device or a pipe"
        };
        return Err(io::Error::other(what));
    }
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn missing(path: &Path) -> anyhow::Error {
    anyhow!(
        "there is no file of settings `{}`\n\nhint: check the name, or make one with `leadload config init`",
        path.display()
    )
}

/// Where the file may be, in order.
fn usual_places() -> Vec<PathBuf> {
    let system = system_folder().map(|folder| folder.join(FILE_NAME));
    users_own_file().into_iter().chain(system).collect()
}

fn users_own_file() -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "leadload")?;
    Some(folders.config_dir().join(FILE_NAME))
}

#[cfg(unix)]
fn system_folder() -> Option<PathBuf> {
    Some(PathBuf::from("/etc/leadload"))
}

#[cfg(not(unix))]
fn system_folder() -> Option<PathBuf> {
    crate::settings::environment::program_data().map(|folder| folder.join("leadload"))
}

/// Line and column, both from 1, the column in characters.
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
    fn what_is_no_toml_is_told_by_line_and_column_and_not_quoted() {
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
            assert!(text.contains("is no TOML: line "), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn what_is_no_file_or_too_long_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| ConfigFile::read(path).unwrap_err().to_string();
        assert!(refused(folder.path()).contains("it is a folder"));
        let path = folder.path().join("config.toml");
        let line = "# nothing but remarks\n";
        fs::write(&path, line.repeat(MAX_BYTES as usize / line.len() + 1)).unwrap();
        assert!(refused(&path).contains("longer than 1 MiB"));
        fs::write(&path, line.repeat(MAX_BYTES as usize / line.len())).unwrap();
        assert!(ConfigFile::read(&path).unwrap().is_some());
        #[cfg(unix)]
        assert!(refused(Path::new("/dev/null")).contains("it is a device or a pipe"));
    }

    #[test]
    fn a_file_that_comes_first_hides_the_one_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let places = ["own", "system"].map(|name| folder.path().join(name));
        let [own, system] = &places;
        assert_eq!(hidden_among(&places, own), None);
        fs::write(system, "").unwrap();
        assert_eq!(hidden_among(&places, own).as_ref(), Some(system));
        assert_eq!(hidden_among(&places, &folder.path().join("other")), None);
        fs::write(own, "").unwrap();
        assert_eq!(hidden_among(&places, own), None, "it is hidden already");
    }

    #[test]
    fn a_mark_at_the_beginning_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, "\u{FEFF}region = 'GB'\n").unwrap();
        let file = ConfigFile::read(&path).unwrap().unwrap();
        assert!(file.document.as_table().contains_key("region"));
    }
}
