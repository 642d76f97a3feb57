//! The report page.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::OutputError;
use super::output_file::OutputFile;
use crate::source::Fingerprint;

/// A larger file is not a report, and is not read.
const MAX_PAGE_BYTES: u64 = 64 << 20;

/// A report that is being written. If it is dropped unfinished it is
/// removed, because it can be made again.
///
/// No ledger records it, because `check` has a report too. Instead, the
/// last line of the page shows whether the page was changed.
#[derive(Debug)]
pub struct ReportFile(OutputFile);

impl ReportFile {
    /// Makes sure that a report can be written to `path`.
    pub fn create(path: &Path) -> Result<ReportFile, OutputError> {
        OutputFile::create(path, b"", |_, part| is_as_written(part)).map(ReportFile)
    }

    /// Writes the page and moves it to its final path, which is returned. An existing file
    /// there that is not an unchanged report is renamed; its new name is returned too.
    pub fn write(self, page: &str) -> Result<(PathBuf, Option<PathBuf>), OutputError> {
        let ReportFile(mut file) = self;
        let last_line = Fingerprint::of(page.as_bytes()).map(|found| last_line(&found));
        let written = last_line.and_then(|last_line| {
            file.write_all(page.as_bytes())?;
            file.write_all(last_line.as_bytes())
        });
        written.map_err(|error| file.error(error))?;
        file.seal()?;
        let (path, goes) = (file.path(), is_as_written(file.place()));
        Ok((path, file.finish(true, goes)?))
    }
}

/// The last line, after the page: a comment that shows whether the page was changed.
fn last_line(page: &Fingerprint) -> String {
    format!("<!-- leadload: SHA-256 of the page {page} -->\n")
}

/// Whether the file is an unchanged report, which can be made again.
fn is_as_written(path: &Path) -> bool {
    // Checked before opening: opening a pipe without a writer would wait forever.
    let found = fs::symlink_metadata(path);
    let is_page = found.is_ok_and(|found| found.is_file() && found.len() <= MAX_PAGE_BYTES);
    let Some(text) = is_page.then(|| fs::read(path).ok()).flatten() else {
        return false;
    };
    let end = last_line(&Fingerprint {
        sha256: [0; 32],
        bytes: 0,
    })
    .len();
    let (page, end) = text.split_at(text.len().saturating_sub(end));
    Fingerprint::of(page).is_ok_and(|page| last_line(&page).as_bytes() == end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::paths::part_of;

    /// A folder and the path of a report in it.
    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        (folder, path)
    }

    fn write(path: &Path, page: &str) -> Option<PathBuf> {
        let (written, kept) = ReportFile::create(path).unwrap().write(page).unwrap();
        assert_eq!(written, path);
        kept
    }

    fn names(folder: &tempfile::TempDir) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn an_earlier_report_is_replaced_and_so_is_what_a_killed_run_has_left() {
        let (folder, path) = place();
        write(&path, "left");
        fs::rename(&path, part_of(&path)).unwrap();
        write(&path, "first");
        assert_eq!(write(&path, "second"), None);
        assert!(fs::read_to_string(&path).unwrap().starts_with("second<!--"));
        assert_eq!(names(&folder), 1);
    }

    #[test]
    fn a_changed_file_is_kept() {
        let (folder, path) = place();
        write(&path, "page");
        let report = fs::read_to_string(&path).unwrap();
        for other in [
            "<!DOCTYPE html><p>mine".to_owned(),
            String::new(),
            report.replace("page<", "Page<"),
            format!("{report}<p>a note"),
            report.trim_end().to_owned(),
        ] {
            fs::write(&path, &other).unwrap();
            let kept = write(&path, "new").unwrap();
            assert_eq!(fs::read_to_string(kept).unwrap(), other);
        }
        assert_eq!(names(&folder), 1 + 5);
    }

    #[test]
    fn a_file_created_there_meanwhile_is_kept() {
        let (folder, path) = place();
        let report = ReportFile::create(&path).unwrap();
        fs::write(&path, "mine").unwrap();
        let (_, kept) = report.write("").unwrap();
        assert_eq!(fs::read_to_string(kept.unwrap()).unwrap(), "mine");
        assert_eq!(names(&folder), 2);
    }

    #[test]
    fn a_report_that_is_never_written_leaves_nothing_behind() {
        let (folder, path) = place();
        drop(ReportFile::create(&path).unwrap());
        assert_eq!(names(&folder), 0);
    }
}
