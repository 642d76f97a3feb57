//! Decides whether leadload wrote a file at an output's path, and whether to replace it.
//!
//! The file is ours if it is, byte for byte, one that the ledger has recorded there:
//! anything that was edited or added since must not be lost. (The ledger has the
//! SHA-256 anyway: `runs show` prints it.) A file is replaced only if nothing is lost:
//!
//! - A file that is not as leadload wrote it is renamed.
//! - A complete run replaces the files of the runs it covers: all their rows are in its
//!   own files (the ledger says which runs these are). Exception: with `--known-bad skip`
//!   it replaces no rejects, because later rejects files leave out the bad rows in them.
//! - A run that stopped early replaces only files that the same run has
//!   written, and not even these if it got less far this time.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::located::begins_as_written;
use crate::lead::RunId;
use crate::ledger::{Begun, OutputKind, OutputRecord, Sha256};
use crate::source::Fingerprint;

/// The outputs that the ledger has recorded at the paths of a run's outputs. Their content can
/// be made again from the ledger, so they need not be kept. Without a ledger none are known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct KnownOutputs {
    outputs: Vec<OutputRecord>,
    /// The current run, once it has begun. `covered` are the runs it covers.
    pub(super) run: Option<RunId>,
    covered: Vec<RunId>,
}

/// How a run has ended: the part of it that decides about its outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Every row has its outcome.
    pub is_complete: bool,
    /// It did not get as far as the files of an earlier start.
    pub is_shorter: bool,
    /// Rejects of earlier runs stay (`--known-bad skip`).
    pub keeps_rejects: bool,
}

impl Completion {
    /// The end of a run that has no earlier starts and leaves nothing out.
    pub const WHOLE: Completion = Completion {
        is_complete: true,
        is_shorter: false,
        keeps_rejects: false,
    };
}

/// What happens to an existing file at the path of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Goes,
    IsRenamed,
    /// The file stays, and there is no new file: the output has no rows.
    Stays,
    /// The file stays: an earlier start of this run wrote it with this many rows, and got further.
    HasMore(u64),
}

impl KnownOutputs {
    pub fn new(outputs: Vec<OutputRecord>) -> KnownOutputs {
        KnownOutputs {
            outputs,
            ..KnownOutputs::default()
        }
    }

    pub(super) fn begin(&mut self, begun: &Begun) {
        self.run = Some(begun.run);
        self.covered.clone_from(&begun.covers);
    }

    /// Whether the ledger has everything in `part`, which was to be renamed to `place`.
    /// This is so if a run with the ledger wrote `part` and was killed. A run without a
    /// ledger may have left a `.part` file too, which is then the only record of its leads.
    pub(super) fn has_part(&self, place: &Path, part: &Path) -> bool {
        let is_begun = self.at(place).any(|output| output.sha256.is_none());
        is_begun || !self.authors(place, part).is_empty()
    }

    /// What the ledger has to know of the file at `place` before that is renamed.
    pub(super) fn renamed(&self, place: &Path, new_name: &Path) -> Vec<OutputRecord> {
        let mut authors = self.authors(place, place);
        if authors.is_empty() && place.is_file() {
            // Somebody has edited what was written last.
            let written = self.at(place).filter(|output| output.sha256.is_some());
            authors.extend(written.max_by_key(|output| output.run));
        }
        let renamed = authors.into_iter().map(|by| OutputRecord {
            path: Some(new_name.to_owned()),
            ..by.clone()
        });
        renamed.collect()
    }

    /// What happens to the file at `place` when the run has ended with this many rows for it.
    pub(super) fn existing(
        &self,
        end: Completion,
        kind: OutputKind,
        rows: u64,
        place: &Path,
    ) -> Existing {
        let keeps_rejects = end.keeps_rejects && kind == OutputKind::Rejects;
        let is_empty = kind == OutputKind::Rejects && rows == 0;
        let mut authors = self.authors(place, place);
        // An import and an undo replace nothing of each other.
        authors.retain(|by| (by.kind == OutputKind::Undo) == (kind == OutputKind::Undo));
        let by_this_run = authors.iter().find(|by| Some(by.run) == self.run);
        let is_covered = authors.iter().any(|by| self.covered.contains(&by.run));
        match by_this_run {
            Some(by) if end.is_shorter => Existing::HasMore(by.rows.unwrap_or_default()),
            _ if is_empty && (keeps_rejects || end.is_shorter) => Existing::Stays,
            Some(_) => Existing::Goes,
            None if is_empty && !end.is_complete => Existing::Stays,
            None if is_covered && end.is_complete && !keeps_rejects => Existing::Goes,
            // Next to the results of this run it would be mistaken for the rejects of this run.
            None => Existing::IsRenamed,
        }
    }

    /// The recorded outputs of `place` with the same bytes as the file at `path`, which begins as they do: a
    /// ledger that was forged does not decide what is replaced. Empty if the file was changed or cannot be
    /// read.
    fn authors(&self, place: &Path, path: &Path) -> Vec<&OutputRecord> {
        if !self.at(place).any(|output| output.sha256.is_some()) {
            return Vec::new();
        }
        let found = digest_at(path).ok().flatten();
        let outputs = self.at(place);
        outputs
            .filter(|output| found.is_some() && output.sha256 == found)
            .filter(|output| begins_as_written(path, output))
            .collect()
    }

    fn at(&self, place: &Path) -> impl Iterator<Item = &OutputRecord> {
        let outputs = self.outputs.iter();
        outputs.filter(move |output| output.path.as_deref() == Some(place))
    }
}

/// The digest of the file at a path; `None` if that is no file.
pub(super) fn digest_at(path: &Path) -> io::Result<Option<Sha256>> {
    // Checked before opening: opening a pipe without a writer would wait forever.
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    Ok(Some(Fingerprint::of(File::open(path)?)?.sha256))
}

#[cfg(test)]
mod tests {
    use super::Existing::{Goes, HasMore, IsRenamed, Stays};
    use super::*;

    const COMPLETE: Completion = Completion::WHOLE;
    const STOPPED: Completion = Completion {
        is_complete: false,
        ..COMPLETE
    };
    const ENDED_AT_ONCE: Completion = Completion {
        is_shorter: true,
        ..STOPPED
    };
    const SKIPS_KNOWN_BAD: Completion = Completion {
        keeps_rejects: true,
        ..COMPLETE
    };
    const SKIPS_AND_STOPPED: Completion = Completion {
        keeps_rejects: true,
        ..STOPPED
    };

    /// What happens to four files when run 1 has ended with this many rows:
    /// a file of run 1; of run 2, which run 1 covers; of run 3, which it
    /// does not cover; and one that leadload did not write.
    fn each(kind: OutputKind, rows: u64, end: Completion) -> [Existing; 4] {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("leads.csv");
        let text = |of: u8| format!("{HEADER}{of}\n");
        let outputs = [1, 2, 3].map(|run| record(&place, run, Some(text(run as u8).as_bytes())));
        let known = KnownOutputs {
            run: Some(RunId(1)),
            covered: vec![RunId(2)],
            ..KnownOutputs::new(outputs.to_vec())
        };
        [1_u8, 2, 3, 4].map(|byte| {
            fs::write(&place, text(byte)).unwrap();
            known.existing(end, kind, rows, &place)
        })
    }

    #[test]
    fn a_file_that_is_replaced_takes_nothing_with_it() {
        let results = |end| each(OutputKind::Results, 5, end);
        let rejects = |end| each(OutputKind::Rejects, 5, end);
        for end in [COMPLETE, SKIPS_KNOWN_BAD] {
            assert_eq!(results(end), [Goes, Goes, IsRenamed, IsRenamed]);
        }
        for end in [STOPPED, SKIPS_AND_STOPPED] {
            assert_eq!(results(end), [Goes, IsRenamed, IsRenamed, IsRenamed]);
        }
        assert_eq!(rejects(COMPLETE), [Goes, Goes, IsRenamed, IsRenamed]);
        for end in [STOPPED, SKIPS_KNOWN_BAD, SKIPS_AND_STOPPED] {
            assert_eq!(rejects(end), [Goes, IsRenamed, IsRenamed, IsRenamed]);
        }
        for of_kind in [results, rejects] {
            let ended_at_once = of_kind(ENDED_AT_ONCE);
            assert_eq!(ended_at_once, [HasMore(1), IsRenamed, IsRenamed, IsRenamed]);
        }
    }

    #[test]
    fn without_rejects_of_its_own_a_run_removes_only_those_that_are_out_of_date() {
        let rejects = |end| each(OutputKind::Rejects, 0, end);
        assert_eq!(rejects(COMPLETE), [Goes, Goes, IsRenamed, IsRenamed]);
        assert_eq!(rejects(STOPPED), [Goes, Stays, Stays, Stays]);
        assert_eq!(rejects(ENDED_AT_ONCE), [HasMore(1), Stays, Stays, Stays]);
        for end in [SKIPS_KNOWN_BAD, SKIPS_AND_STOPPED] {
            assert_eq!(rejects(end), [Stays; 4]);
        }
    }

    const HEADER: &str = "phone_number,lead_id,settled_at\n";

    fn sha256(bytes: &[u8]) -> [u8; 32] {
        Fingerprint::of(bytes).unwrap().sha256
    }

    fn record(place: &Path, run: u64, bytes: Option<&[u8]>) -> OutputRecord {
        OutputRecord {
            run: RunId(run),
            path: Some(place.to_owned()),
            kind: OutputKind::Results,
            sha256: bytes.map(sha256),
            rows: bytes.map(|_| run),
            state: None,
        }
    }

    fn authors(known: &KnownOutputs, place: &Path) -> Vec<(u64, Option<u64>)> {
        let authors = known.authors(place, place).into_iter();
        authors.map(|by| (by.run.0, by.rows)).collect()
    }

    #[test]
    fn a_file_is_known_by_its_place_and_its_bytes_and_so_are_the_runs_that_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        let elsewhere = folder.path().join("s.csv");
        let [first, second, mine] = ["first", "second", "mine"].map(|of| format!("{HEADER}{of}\n"));
        let diary = "not of leadload, though the ledger says so";
        let known = KnownOutputs::new(vec![
            record(&place, 1, Some(first.as_bytes())),
            record(&place, 2, None),
            record(&place, 3, Some(second.as_bytes())),
            record(&place, 4, Some(first.as_bytes())),
            record(&place, 5, Some(diary.as_bytes())),
        ]);
        for (text, by) in [
            (&*first, &[(1, Some(1)), (4, Some(4))][..]),
            (&second, &[(3, Some(3))]),
            (&mine, &[]),
            (diary, &[]),
        ] {
            fs::write(&place, text).unwrap();
            fs::write(&elsewhere, text).unwrap();
            assert_eq!(authors(&known, &place), by, "{text}");
            assert_eq!(authors(&known, &elsewhere), [], "{text}");
        }
    }

    #[test]
    fn where_nothing_was_completed_no_file_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        let begun = KnownOutputs::new(vec![record(&place, 1, None)]);
        assert!(begun.has_part(&place, &place));
        assert!(!KnownOutputs::default().has_part(&place, &place));
        let completed = KnownOutputs::new(vec![record(&place, 1, Some(HEADER.as_bytes()))]);
        assert_eq!(authors(&completed, &place), [], "there is none");
        fs::write(&place, HEADER).unwrap();
        assert_eq!(authors(&begun, &place), []);
        assert_eq!(authors(&completed, &place), [(1, Some(1))]);
    }
}
