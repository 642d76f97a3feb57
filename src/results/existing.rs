//! What becomes of the files that are already where outputs go.
//!
//! A file is replaced only if nothing is lost by it:
//!
//! - one that is not as leadload wrote it is somebody's, and is renamed;
//! - a complete run replaces what any run has written there, but under `--known-bad skip`
//!   no rejects: bad rows that stood in them are in no later rejects file;
//! - a run that stopped early replaces only what it has written itself, and not even that
//!   if it has come less far this time.

use std::path::Path;

use super::KnownOutputs;
use crate::lead::RunId;
use crate::ledger::OutputKind;

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
    /// The end of something that has no earlier starts, and leaves nothing out.
    pub const WHOLE: RunEnd = RunEnd {
        is_complete: true,
        is_shorter: false,
        keeps_rejects: false,
    };
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// It goes.
    Goes,
    /// It gets another name.
    IsRenamed,
    /// It stays where it is.
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
            Author::AnotherRun | Author::SomebodyElse => Existing::IsRenamed,
        }
    }

    /// How many rows the file at `place` has, where it stays because this run had come
    /// further when it wrote it.
    pub(super) fn staying(&self, place: &Path) -> Option<u64> {
        // Asked first: who wrote a file is found out by reading all of it.
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
            Author::SomebodyElse => Existing::IsRenamed,
        }
    }

    fn author(&self, place: &Path) -> Author {
        let authors = self.known.authors(place);
        let by_this_run = authors.iter().find(|by| Some(by.run) == self.run);
        match by_this_run {
            _ if authors.is_empty() => Author::SomebodyElse,
            Some(by) => Author::ThisRun(by.rows),
            None => Author::AnotherRun,
        }
    }
}

/// Who has written a file as it is.
enum Author {
    /// This run, with so many rows.
    ThisRun(u64),
    AnotherRun,
    SomebodyElse,
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Existing::{Goes, IsRenamed, Stays};
    use super::*;
    use crate::ledger::OutputAt;
    use crate::source::Fingerprint;

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

    /// What becomes of a file that run 1 has written, one that run 2 has written, and one of
    /// somebody else's, when run 1 has ended.
    fn each<T>(of_one: impl Fn(Places<'_>, &Path) -> T, end: RunEnd) -> [T; 3] {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("leads.csv");
        let record = |run: u64, bytes: &[u8]| OutputAt {
            path: place.clone(),
            run: RunId(run),
            sha256: Some(Fingerprint::of(bytes).unwrap().sha256),
            rows: Some(10 * run),
        };
        let known = KnownOutputs::new([record(1, b"one"), record(2, b"two")]);
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
}
