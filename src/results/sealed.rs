//! An output that is complete and safely on disk, but does not have its final name yet.
//!
//! A run can be killed between the sealing and the last renaming. The digests are recorded
//! before anything is renamed, so that the next run knows the files that it finds.

use std::path::{Path, PathBuf};

use super::OutputError;
use super::ours::{Completion, Existing, KnownOutputs};
use super::output_file::OutputFile;
use crate::ledger::{OutputKind, OutputRecord};
use crate::message::Text;

/// The files of a run that has ended.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Written {
    pub results: Option<PathBuf>,
    /// The rejects files that have rows.
    pub rejects: Vec<WrittenRejects>,
    pub report: Option<PathBuf>,
    /// The new names of files that existed before.
    pub kept: Vec<PathBuf>,
    /// What is reported about the files besides their paths.
    pub notes: Vec<Text>,
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
            OutputKind::Results | OutputKind::Undo => self.results = Some(path),
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
    /// Why the file does not have the form that it should have, if so.
    note: Option<Text>,
}

impl SealedFile {
    /// Makes sure that the whole file is on disk.
    pub(super) fn new(
        mut file: OutputFile,
        kind: OutputKind,
        rows: u64,
        note: Option<Text>,
    ) -> Result<SealedFile, OutputError> {
        Ok(SealedFile {
            sha256: file.seal()?,
            file,
            kind,
            rows,
            note,
        })
    }

    /// What happens to an existing file at the final path.
    pub(super) fn existing(&self, known: &KnownOutputs, end: Completion) -> Existing {
        known.existing(end, self.kind, self.rows, self.file.place())
    }

    /// What the ledger has to know before the file is finished: the file itself, if it
    /// will be kept, and the new name of a file that is renamed for it.
    pub(super) fn outputs(&self, known: &KnownOutputs, end: Completion) -> Vec<OutputRecord> {
        let existing = self.existing(known, end);
        let mut outputs = match existing {
            Existing::IsRenamed => known.renamed(self.file.place(), &self.file.aside()),
            _ => Vec::new(),
        };
        let has_more = matches!(existing, Existing::HasMore(_));
        let run = known.run.filter(|_| self.is_left_behind() && !has_more);
        outputs.extend(run.map(|run| OutputRecord {
            run,
            path: Some(self.file.recorded_path()),
            kind: self.kind,
            sha256: Some(self.sha256),
            rows: Some(self.rows),
            state: None,
        }));
        outputs
    }

    /// Empties a file that will not be left behind: the ledger is about to forget that it was begun, and
    /// would not know what a kill leaves of it.
    pub(super) fn clear_if_unused(
        &mut self,
        known: &KnownOutputs,
        end: Completion,
    ) -> Result<(), OutputError> {
        let is_used = match self.existing(known, end) {
            Existing::Goes | Existing::IsRenamed => self.is_left_behind(),
            Existing::Stays | Existing::HasMore(_) => false,
        };
        if is_used { Ok(()) } else { self.file.clear() }
    }

    /// Moves the file to its final path and adds it to `written`.
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

    /// Keeps the file under a new name.
    pub(super) fn set_aside(self, written: &mut Written) -> Result<(), OutputError> {
        if self.rows == 0 {
            self.file.discard();
            return Ok(());
        }
        let path = self.file.set_aside()?;
        written.notes.push(text!(
            "`{path}` may have rows that {ledger} does not have: keep it until the {run is complete|list is sent}",
            path = path.display().to_string()
        ));
        Ok(())
    }

    /// Rejects without rows have nothing to fix.
    fn is_left_behind(&self) -> bool {
        self.kind == OutputKind::Results || self.rows > 0
    }
}
