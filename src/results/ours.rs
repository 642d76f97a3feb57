//! Whether a file in the place of an output is ours, and what becomes of it.
//!
//! It is ours if it is, byte for byte, one that the ledger has recorded there: anything that
//! was edited or added since must not be lost. (The ledger needs the SHA-256 anyhow: `runs show`
//! prints it.) A file is replaced only if nothing is lost by it:
//!
//! - one that is not as leadload wrote it is renamed;
//! - a complete run replaces what any run has written there, but under `--known-bad skip` no
//!   rejects: bad rows that were in them are in no later rejects file;
//! - a run that stopped early replaces only what it has written itself, and not even that if it
//!   has come less far this time.

use std::fs::{self, File};
use std::path::Path;

use crate::lead::RunId;
use crate::ledger::{OutputKind, OutputRecord};
use crate::source::Fingerprint;

/// The outputs that the ledger has recorded in some places. What is in them can be made again
/// from the ledger, so they need not be kept. Without a ledger nothing is known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct KnownOutputs(pub Vec<OutputRecord>);

impl KnownOutputs {
    /// Whether the ledger has all that is in `part`, which was to come to `place`: the run that
    /// wrote it was killed, before its end or just after it. A run without the ledger may have
    /// left one too, and that is all that is known of its leads.
    pub(super) fn has_part(&self, place: &Path, part: &Path) -> bool {
        let is_begun = self.at(place).any(|output| output.sha256.is_none());
        is_begun || !self.authors_of(place, part).is_empty()
    }

    /// The outputs that are the file at `place` as it is; none if it was changed, or cannot be
    /// read.
    pub(super) fn authors(&self, place: &Path) -> Vec<&OutputRecord> {
        self.authors_of(place, place)
    }

    fn authors_of(&self, place: &Path, path: &Path) -> Vec<&OutputRecord> {
        let mut completed = self.at(place).filter(|output| output.sha256.is_some());
        // Checked before opening, which would wait for ever at a pipe without a writer.
        let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        if !is_file || completed.next().is_none() {
            return Vec::new();
        }
        let found = File::open(path).and_then(Fingerprint::of);
        let found = found.ok().map(|found| found.sha256);
        let outputs = self.at(place);
        outputs
            .filter(|output| found.is_some() && output.sha256 == found)
            .collect()
    }

    fn at(&self, place: &Path) -> impl Iterator<Item = &OutputRecord> {
        self.0
            .iter()
            .filter(move |output| output.path.as_deref() == Some(place))
    }
}

/// How a run has ended, as far as its outputs depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    /// Every row has its outcome.
    pub is_complete: bool,
    /// It did not come as far as the files of an earlier start.
    pub is_shorter: bool,
    /// Rejects of earlier runs stay (`--known-bad skip`).
    pub keeps_rejects: bool,
}

impl RunEnd {
    /// The end of a run that has no earlier starts, and leaves nothing out.
    pub const WHOLE: RunEnd = RunEnd {
        is_complete: true,
        is_shorter: false,
        keeps_rejects: false,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Goes,
    IsRenamed,
    Stays,
}

/// Decides on the files in the places of a run's outputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) known: &'a KnownOutputs,
    pub(super) run: Option<RunId>,
    pub(super) end: RunEnd,
}

impl Places<'_> {
    /// What becomes of the file at `place`, where an output of this kind goes.
    pub(super) fn taken(&self, kind: OutputKind, place: &Path) -> Existing {
        let keeps = self.end.keeps_rejects && kind == OutputKind::Rejects;
        match self.author(place) {
            Author::ThisRun(_) => Existing::Goes,
            Author::AnotherRun if self.end.is_complete && !keeps => Existing::Goes,
            Author::AnotherRun | Author::NotOurs => Existing::IsRenamed,
        }
    }

    /// How many rows the file at `place` has, where it stays because this run had come
    /// further when it wrote it.
    pub(super) fn staying(&self, place: &Path) -> Option<u64> {
        // Checked first: who wrote a file is found out by reading all of it.
        if !self.end.is_shorter {
            return None;
        }
        match self.author(place) {
            Author::ThisRun(rows) => Some(rows),
            _ => None,
        }
    }

    /// What becomes of the file at `place`, where rejects would go if there were any.
    pub(super) fn left_empty(&self, place: &Path) -> Existing {
        let RunEnd {
            is_complete,
            is_shorter,
            keeps_rejects,
        } = self.end;
        if keeps_rejects || is_shorter {
            return Existing::Stays;
        }
        match self.author(place) {
            Author::ThisRun(_) => Existing::Goes,
            _ if !is_complete => Existing::Stays,
            Author::AnotherRun => Existing::Goes,
            // Beside the results of this run it would pass for its rejects.
            Author::NotOurs => Existing::IsRenamed,
        }
    }

    fn author(&self, place: &Path) -> Author {
        let authors = self.known.authors(place);
        let by_this_run = authors.iter().find(|by| Some(by.run) == self.run);
        match by_this_run {
            _ if authors.is_empty() => Author::NotOurs,
            Some(by) => Author::ThisRun(by.rows.unwrap_or_default()),
            None => Author::AnotherRun,
        }
    }
}

/// Who has written a file as it is.
enum Author {
    /// This run, with that many rows.
    ThisRun(u64),
    AnotherRun,
    NotOurs,
}

#[cfg(test)]
mod tests {
    use super::Existing::{Goes, IsRenamed, Stays};
    use super::*;

    const COMPLETE: RunEnd = RunEnd::WHOLE;
    const STOPPED: RunEnd = RunEnd {
        is_complete: false,
        ..COMPLETE
    };
    const ENDED_AT_ONCE: RunEnd = RunEnd {
        is_shorter: true,
        ..STOPPED
    };
    const SKIPS_KNOWN_BAD: RunEnd = RunEnd {
        keeps_rejects: true,
        ..COMPLETE
    };
    const SKIPS_AND_STOPPED: RunEnd = RunEnd {
        keeps_rejects: true,
        ..STOPPED
    };

    /// What becomes of a file that run 1 has written, one that run 2 has written, and one that is
    /// not ours, when run 1 has ended.
    fn each<T>(of_one: impl Fn(Places<'_>, &Path) -> T, end: RunEnd) -> [T; 3] {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("leads.csv");
        let record = |run: u64, bytes: &[u8]| OutputRecord {
            run: RunId(run),
            path: Some(place.clone()),
            kind: OutputKind::Results,
            sha256: Some(Fingerprint::of(bytes).unwrap().sha256),
            rows: Some(10 * run),
        };
        let known = KnownOutputs(vec![record(1, b"one"), record(2, b"two")]);
        let places = Places {
            known: &known,
            run: Some(RunId(1)),
            end,
        };
        ["one", "two", "three"].map(|text| {
            fs::write(&place, text).unwrap();
            of_one(places, &place)
        })
    }

    #[test]
    fn a_file_that_is_replaced_takes_nothing_with_it() {
        let results = |end| each(|p, place| p.taken(OutputKind::Results, place), end);
        let rejects = |end| each(|p, place| p.taken(OutputKind::Rejects, place), end);
        for end in [COMPLETE, SKIPS_KNOWN_BAD] {
            assert_eq!(results(end), [Goes, Goes, IsRenamed]);
        }
        for end in [STOPPED, SKIPS_AND_STOPPED] {
            assert_eq!(results(end), [Goes, IsRenamed, IsRenamed]);
        }
        assert_eq!(rejects(COMPLETE), [Goes, Goes, IsRenamed]);
        for end in [STOPPED, SKIPS_KNOWN_BAD, SKIPS_AND_STOPPED] {
            assert_eq!(rejects(end), [Goes, IsRenamed, IsRenamed]);
        }
        let staying = |end| each(|p, place| p.staying(place), end);
        assert_eq!(staying(ENDED_AT_ONCE), [Some(10), None, None]);
        for end in [COMPLETE, STOPPED, SKIPS_AND_STOPPED] {
            assert_eq!(staying(end), [None; 3]);
        }
    }

    #[test]
    fn without_rejects_of_its_own_a_run_removes_only_those_that_are_out_of_date() {
        let rejects = |end| each(|p, place| p.left_empty(place), end);
        assert_eq!(rejects(COMPLETE), [Goes, Goes, IsRenamed]);
        assert_eq!(rejects(STOPPED), [Goes, Stays, Stays]);
        for end in [ENDED_AT_ONCE, SKIPS_KNOWN_BAD, SKIPS_AND_STOPPED] {
            assert_eq!(rejects(end), [Stays; 3]);
        }
    }

    fn sha256(bytes: &[u8]) -> [u8; 32] {
        Fingerprint::of(bytes).unwrap().sha256
    }

    fn record(place: &Path, run: u64, bytes: Option<&[u8]>) -> OutputRecord {
        OutputRecord {
            run: RunId(run),
            path: Some(place.to_owned()),
            kind: OutputKind::Results,
            sha256: bytes.map(sha256),
            rows: bytes.map(|bytes| bytes.len() as u64),
        }
    }

    fn authors(known: &KnownOutputs, place: &Path) -> Vec<(u64, Option<u64>)> {
        let authors = known.authors(place).into_iter();
        authors.map(|by| (by.run.0, by.rows)).collect()
    }

    #[test]
    fn a_file_is_known_by_its_place_and_its_bytes_and_so_are_the_runs_that_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        let elsewhere = folder.path().join("s.csv");
        let known = KnownOutputs(vec![
            record(&place, 1, Some(b"first")),
            record(&place, 2, None),
            record(&place, 3, Some(b"second")),
            record(&place, 4, Some(b"first")),
        ]);
        for (bytes, by) in [
            ("first", &[(1, Some(5)), (4, Some(5))][..]),
            ("second", &[(3, Some(6))]),
            ("mine", &[]),
        ] {
            fs::write(&place, bytes).unwrap();
            fs::write(&elsewhere, bytes).unwrap();
            assert_eq!(authors(&known, &place), by, "{bytes}");
            assert_eq!(authors(&known, &elsewhere), [], "{bytes}");
        }
    }

    #[test]
    fn where_nothing_was_completed_no_file_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        let begun = KnownOutputs(vec![record(&place, 1, None)]);
        assert!(begun.has_part(&place, &place));
        assert!(!KnownOutputs::default().has_part(&place, &place));
        let completed = KnownOutputs(vec![record(&place, 1, Some(b""))]);
        assert_eq!(authors(&completed, &place), [], "there is none");
        fs::write(&place, "").unwrap();
        assert_eq!(authors(&begun, &place), []);
        assert_eq!(authors(&completed, &place), [(1, Some(0))]);
    }
}
