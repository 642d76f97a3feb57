//! Why an output cannot be written. Each text says what happened, where, and what to do.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};
use crate::source::folder_of;

/// An output that cannot be written.
#[derive(Debug, Error)]
#[error("{}", self.text())]
pub struct OutputError {
    /// The file, or its part for one that was deleted.
    path: PathBuf,
    pub(super) problem: OutputProblem,
    /// The flags that name outputs of the command, as hints have them.
    flags: &'static str,
}

#[derive(Debug)]
pub(super) enum OutputProblem {
    Unwritable(io::Error),
    /// The file in its place cannot be replaced: on Windows, while another program has it open.
    NotReplaced(io::Error),
    Gone,
    NotAFile,
    NotCsv,
    NotHtml,
    IsAnInput,
    IsTheLedger,
    /// It is a file of settings, a token or certificates.
    IsReserved,
    Twice,
    Busy,
}

impl OutputError {
    pub(super) fn new(path: &Path, problem: OutputProblem) -> OutputError {
        OutputError {
            path: path.to_owned(),
            problem,
            flags: "`--results`, `--rejects` or `--report`",
        }
    }

    pub(super) fn unwritable(path: &Path, error: io::Error) -> OutputError {
        OutputError::new(path, OutputProblem::Unwritable(error))
    }

    /// Whether what was being written was deleted, so that nothing of it is left.
    pub fn is_gone(&self) -> bool {
        matches!(self.problem, OutputProblem::Gone)
    }

    /// The failure of a command that has not begun to send.
    pub fn before_sending(self) -> Failure {
        Failure::new(self.stops_before(), self)
    }

    /// The same of an export, which has no other flag for a file than `--results`.
    pub fn of_export(self) -> OutputError {
        OutputError {
            flags: "`--results`",
            ..self
        }
    }

    fn stops_before(&self) -> StoppedBy {
        match self.problem {
            OutputProblem::Busy => StoppedBy::Busy,
            OutputProblem::Unwritable(_) | OutputProblem::NotReplaced(_) => StoppedBy::Disk,
            _ => StoppedBy::Usage,
        }
    }

    fn text(&self) -> String {
        let flags = self.flags;
        let path = self.path.display();
        let (what, hint) = match &self.problem {
            OutputProblem::Unwritable(error) => (
                format!("cannot write `{path}`: {error}"),
                format!(
                    "{}, or choose another place with {flags}; then run the same command again",
                    what_to_fix(&self.path, error)
                ),
            ),
            OutputProblem::NotReplaced(error) => (
                format!("cannot replace `{path}`: {error}"),
                "if another program has it open, close it there; then run the same command again"
                    .to_owned(),
            ),
            OutputProblem::Gone => (
                format!("`{path}`, which was being written, has been deleted or moved away"),
                "leave it there while leadload is running, and run the same command again: it writes the whole file again".into(),
            ),
            OutputProblem::NotAFile => (
                format!("`{path}` is not a regular file, so it cannot be an output"),
                "name another file".into(),
            ),
            OutputProblem::NotCsv => (
                format!("the results cannot be `{path}`: they are a CSV file"),
                "give it a name that ends in `.csv`".into(),
            ),
            OutputProblem::NotHtml => (
                format!("the report cannot be `{path}`: it is a page for a browser"),
                "give it a name that ends in `.html`".into(),
            ),
            OutputProblem::IsAnInput => (
                format!("`{path}` is an input, and inputs are never written to"),
                format!("name another file with {flags}"),
            ),
            OutputProblem::IsTheLedger => (
                format!("`{path}` is a file of the ledger, which is never written over"),
                "name another file".into(),
            ),
            OutputProblem::IsReserved => (
                format!(
                    "`{path}` holds settings, a token or certificates that this command uses, and is never written over"
                ),
                "name another file".into(),
            ),
            OutputProblem::Twice => (
                format!("two outputs would be written to `{path}`"),
                "name different files with `--results`, `--rejects` and `--report`, or import the inputs one by one".into(),
            ),
            OutputProblem::Busy => (
                format!("another run is writing `{path}`"),
                format!("wait until it has ended, or name another file with {flags}"),
            ),
        };
        format!("{what}\n\nhint: {hint}")
    }
}

/// What has to be fixed before the file can be written.
pub fn what_to_fix(path: &Path, error: &io::Error) -> String {
    let folder = folder_of(path).display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free space on that disk".to_owned(),
        ErrorKind::FileTooLarge => {
            "lift the limit on the size of files (`ulimit -f`), if it is not the disk's own"
                .to_owned()
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory if folder_of(path).is_file() => {
            format!("remove the file `{folder}`, which is in the place of a folder")
        }
        // Such as a folder that the system makes up.
        ErrorKind::NotFound if folder_of(path).is_dir() => {
            format!("make sure that files can be created in the folder `{folder}`")
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => format!("create the folder `{folder}`"),
        ErrorKind::PermissionDenied if is_read_only(path) => {
            format!("get permission to write `{}`", path.display())
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            format!("get permission to write in the folder `{folder}`")
        }
        _ => "fix that".to_owned(),
    }
}

/// The same where missing folders are made: what prevents the first of them.
pub fn what_to_fix_with_folders(path: &Path, error: &io::Error) -> String {
    let missing = path.ancestors().filter(|place| !place.exists());
    let missing = missing.filter(|place| !place.as_os_str().is_empty());
    what_to_fix(missing.last().unwrap_or(path), error)
}

fn is_read_only(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_folders_are_made_it_is_the_one_above_them_that_has_to_be_fixed() {
        let folder = tempfile::tempdir().unwrap();
        let above = folder.path().display();
        let path = folder.path().join("a/b/config.toml");
        for (kind, advice) in [
            (ErrorKind::PermissionDenied, "get permission to write in"),
            (
                ErrorKind::NotFound,
                "make sure that files can be created in",
            ),
        ] {
            assert_eq!(
                what_to_fix_with_folders(&path, &kind.into()),
                format!("{advice} the folder `{above}`")
            );
        }
    }

    #[test]
    fn hints_of_an_export_name_its_flag_and_leave_paths_as_they_are() {
        let path = PathBuf::from("`--results`, `--rejects` or `--report`.csv");
        let error = || io::Error::from(ErrorKind::Other);
        for error in [
            OutputProblem::Unwritable(error()),
            OutputProblem::IsAnInput,
            OutputProblem::Busy,
        ] {
            let failure = OutputError::new(&path, error).of_export();
            let text = failure.to_string();
            assert!(text.contains(&format!("`{}`", path.display())), "{text}");
            assert!(text.contains(" with `--results`"), "{text}");
            assert!(!text.contains(" with `--results`, `--rejects`"), "{text}");
        }
    }

    #[test]
    fn every_reason_why_a_file_cannot_be_written_says_what_to_do() {
        for (kind, advice) in [
            (ErrorKind::StorageFull, "free space on that disk, or choose"),
            (
                ErrorKind::QuotaExceeded,
                "free space on that disk, or choose",
            ),
            (
                ErrorKind::FileTooLarge,
                "lift the limit on the size of files",
            ),
            (
                ErrorKind::NotFound,
                "create the folder `out`, or choose another",
            ),
            (
                ErrorKind::PermissionDenied,
                "get permission to write in the folder `out`",
            ),
            (
                ErrorKind::ReadOnlyFilesystem,
                "get permission to write in the folder `out`",
            ),
            (
                ErrorKind::Other,
                "fix that, or choose another place with `--results`",
            ),
        ] {
            let path = Path::new("out/leads.results.csv");
            let text = OutputError::unwritable(path, kind.into()).to_string();
            assert!(
                text.starts_with("cannot write `out/leads.results.csv`: "),
                "{text}"
            );
            assert!(text.contains(&format!("\n\nhint: {advice}")), "{text}");
            assert!(
                text.ends_with("; then run the same command again"),
                "{text}"
            );
        }
    }
}
