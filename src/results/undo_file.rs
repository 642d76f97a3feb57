//! What became of the leads of a run that is undone: one line for each.

use std::path::{Path, PathBuf};

use super::csv_output::{CsvForm, CsvOutput};
use super::formula::harmless;
use super::ours::Completion;
use super::sealed::SealedFile;
use super::{KnownOutputs, OutputError, Written};
use crate::lead::RunId;
use crate::ledger::{OutputKind, OutputRecord, RunRecord, UndoRow};
use crate::paths::{absolute_place, folder_of, from_here};
use crate::private_file;

pub(super) const COLUMNS: [&str; 8] = [
    "row",
    "phone_number",
    "campaign_id",
    "lead_id",
    "status",
    "http_status",
    "error",
    "settled_at",
];

const ENDING: &str = "undo.csv";

/// What became of the leads, on its way to its place.
#[derive(Debug)]
pub struct UndoFile {
    csv: CsvOutput,
    known: KnownOutputs,
    rows: u64,
}

/// An [`UndoFile`] that is complete and on disk, without its final name.
#[derive(Debug)]
pub struct SealedUndoFile {
    file: SealedFile,
    known: KnownOutputs,
}

impl UndoFile {
    /// Where the file of a run belongs: beside its first input; or in `otherwise`, if that is not
    /// there any more or the folder is somebody else's, since people are called as long as nothing is removed. The path of a
    /// run of another computer is only a name here.
    pub fn path(run: &RunRecord, otherwise: &Path) -> PathBuf {
        let path = run.inputs.first().and_then(|input| input.path.as_deref());
        let Some(path) = path else {
            return otherwise.join(format!("leads.{ENDING}"));
        };
        let beside = super::paths::beside_path(from_here(path), ENDING);
        if run.is_of_here() && path.is_file() && UndoFile::can_be_at(&beside) {
            return beside;
        }
        let name = beside.file_name().unwrap_or_default();
        otherwise.join(name)
    }

    /// Whether it can be written there, as far as this is known in advance.
    pub fn can_be_at(path: &Path) -> bool {
        folder_of(path).is_dir() && private_file::probe(path).is_ok()
    }

    /// The path under which the ledger records the file.
    pub fn places(path: &Path) -> Vec<PathBuf> {
        absolute_place(path).into_iter().collect()
    }

    /// Makes sure that the file can be written. `known` is what the ledger has recorded there.
    pub fn create(
        path: &Path,
        run: RunId,
        known: Vec<OutputRecord>,
    ) -> Result<UndoFile, OutputError> {
        let mut known = KnownOutputs::new(known);
        known.run = Some(run);
        let mut csv = CsvOutput::create(path, CsvForm::default(), &known)?;
        csv.record(COLUMNS)?;
        Ok(UndoFile {
            csv,
            known,
            rows: 0,
        })
    }

    /// Writes a row, if it has an outcome.
    pub fn write(&mut self, row: &UndoRow) -> Result<(), OutputError> {
        let Some(outcome) = &row.outcome else {
            return Ok(());
        };
        self.rows += 1;
        let http_status = outcome.http_status.map(|status| status.to_string());
        let error = outcome.error.as_ref().map(ToString::to_string);
        let settled_at = outcome.settled_at.map(|time| format!("{time:.0}"));
        let cells = [
            row.row.to_string(),
            row.number.to_string(),
            row.campaign.to_string(),
            row.lead_id.clone().unwrap_or_default(),
            outcome.status.as_str().to_owned(),
            http_status.unwrap_or_default(),
            error.unwrap_or_default(),
            settled_at.unwrap_or_default(),
        ];
        let delimiter = self.csv.form.delimiter;
        let cells = cells
            .iter()
            .map(|cell| harmless(cell.as_bytes(), delimiter));
        self.csv.record(cells)
    }

    /// Makes sure that the whole file is on disk.
    pub fn seal(self) -> Result<SealedUndoFile, OutputError> {
        let file = self.csv.into_file()?;
        Ok(SealedUndoFile {
            file: SealedFile::new(file, OutputKind::Undo, self.rows, None)?,
            known: self.known,
        })
    }
}

impl SealedUndoFile {
    /// What the ledger has to record before the file gets its name.
    pub fn records(&self) -> Vec<OutputRecord> {
        self.file.outputs(&self.known, Completion::WHOLE)
    }

    /// Gives the file its name. One that is there already is replaced if it is as leadload wrote it
    /// for this run, and otherwise renamed.
    pub fn finish(self) -> Result<Written, OutputError> {
        let mut written = Written::default();
        let existing = self.file.existing(&self.known, Completion::WHOLE);
        self.file.finish(existing, &mut written)?;
        Ok(written)
    }
}
