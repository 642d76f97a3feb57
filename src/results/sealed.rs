//! An output that is complete and safely on disk, but not yet in its place.
//!
//! Between the sealing and the last renaming a run can be killed. So that the next one
//! knows what it finds, the digests are recorded before anything is renamed.

use std::path::{Path, PathBuf};

use super::OutputError;
use super::ours::{Existing, KnownOutputs, RunEnd};
use super::output_file::OutputFile;
use crate::ledger::{OutputKind, OutputRecord};

/// The files that were left behind.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Written {
    pub results: Option<PathBuf>,
    /// The rejects files that have rows.
    pub rejects: Vec<WrittenRejects>,
    pub report: Option<PathBuf>,
    /// The new names of files that were there before.
    pub kept: Vec<PathBuf>,
    /// What is reported about the files beside where they are.
    pub notes: Vec<String>,
    /// Whether every row that has to be corrected is in the rejects.
    pub has_all_rejects: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenRejects {
    pub path: PathBuf,
    pub rows: u64,
}

impl Written {
    fn add(&mut self, kind: OutputKind, path: PathBuf, rows: u64) {
        match kind {
            OutputKind::Results => self.results = Some(path),
            OutputKind::Rejects => self.rejects.push(WrittenRejects { path, rows }),
        }
    }

    pub fn rejects_paths(&self) -> impl Iterator<Item = &Path> {
        self.rejects.iter().map(|rejects| rejects.path.as_path())
    }
}

#[derive(Debug)]
pub(super) struct SealedFile {
    file: OutputFile,
    kind: OutputKind,
    rows: u64,
    sha256: [u8; 32],
    /// Why it is not in the form in which it should be, if so.
    note: Option<String>,
}

impl SealedFile {
    /// Makes sure that all of the file is on disk.
    pub(super) fn new(
        mut file: OutputFile,
        kind: OutputKind,
        rows: u64,
        note: Option<String>,
    ) -> Result<SealedFile, OutputError> {
        Ok(SealedFile {
            sha256: file.seal()?,
            file,
            kind,
            rows,
            note,
        })
    }

    /// What becomes of the file that is in its place.
    pub(super) fn existing(&self, known: &KnownOutputs, end: RunEnd) -> Existing {
        known.existing(end, self.kind, self.rows, self.file.place())
    }

    /// The record of it; none where it will not be left behind.
    pub(super) fn output(&self, known: &KnownOutputs, end: RunEnd) -> Option<OutputRecord> {
        let has_more = matches!(self.existing(known, end), Existing::HasMore(_));
        let run = known.run.filter(|_| self.is_left_behind() && !has_more)?;
        Some(OutputRecord {
            run,
            path: Some(self.file.recorded_path()),
            kind: self.kind,
            sha256: Some(self.sha256),
            rows: Some(self.rows),
        })
    }

    /// Puts it in its place and adds that to what was written.
    pub(super) fn finish(
        self,
        existing: Existing,
        written: &mut Written,
    ) -> Result<(), OutputError> {
        let (path, stays) = (self.file.path(), self.is_left_behind());
        match existing {
            Existing::Stays => self.file.discard(),
            Existing::HasMore(rows) => {
                self.file.discard();
                written.add(self.kind, path, rows);
            }
            Existing::Goes | Existing::IsRenamed => {
                let kept = self.file.finish(stays, existing == Existing::Goes)?;
                written.kept.extend(kept);
                written.notes.extend(self.note);
                if stays {
                    written.add(self.kind, path, self.rows);
                }
            }
        }
        Ok(())
    }

    /// Leaves it beside its place, under a name of its own.
    pub(super) fn set_aside(self, written: &mut Written) -> Result<(), OutputError> {
        if self.rows == 0 {
            self.file.discard();
            return Ok(());
        }
        let path = self.file.set_aside()?;
        written.notes.push(format!(
            "rows that are not in the ledger are in `{}`",
            path.display()
        ));
        Ok(())
    }

    /// Rejects without rows have nothing to fix.
    fn is_left_behind(&self) -> bool {
        self.kind == OutputKind::Results || self.rows > 0
    }
}
