//! What earlier runs have written where the outputs of this one go.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::lead::RunId;
use crate::ledger::OutputAt;
use crate::source::Fingerprint;

/// The outputs that the ledger has recorded, by place. Whatever is in them can be made
/// again from the ledger, so they need not be kept. Without a ledger nothing is known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct KnownOutputs {
    places: HashMap<PathBuf, KnownPlace>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct KnownPlace {
    /// The SHA-256 of every file that was completed there, and who wrote it.
    completed: Vec<([u8; 32], WrittenBy)>,
    /// Whether a run has begun to write there and not come to an end.
    is_begun: bool,
}

/// A run that has written a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenBy {
    pub(super) run: RunId,
    /// How many rows the file has.
    pub(super) rows: u64,
}

impl KnownOutputs {
    /// From what the ledger has recorded of the
    /// [places](super::OutputPaths::places).
    pub fn new(records: impl IntoIterator<Item = OutputAt>) -> KnownOutputs {
        let mut places: HashMap<_, KnownPlace> = HashMap::new();
        for output in records {
            let known = places.entry(output.path).or_default();
            known.is_begun |= output.sha256.is_none();
            let by = WrittenBy {
                run: output.run,
                rows: output.rows.unwrap_or_default(),
            };
            known
                .completed
                .extend(output.sha256.map(|sha256| (sha256, by)));
        }
        KnownOutputs { places }
    }

    /// Whether the ledger has all that stands in `part`, which was to come to `place`: the
    /// run that wrote it was killed, before its end or just after it. A run without the
    /// ledger may have left one too, and that is all that is known of its leads.
    pub(super) fn has_part(&self, place: &Path, part: &Path) -> bool {
        self.places
            .get(place)
            .is_some_and(|known| known.is_begun || !known.authors(part).is_empty())
    }

    /// The runs that have written the file that stands there as it is; none if somebody has
    /// changed it, or if it cannot be read.
    pub(super) fn authors(&self, place: &Path) -> Vec<WrittenBy> {
        let known = self.places.get(place);
        known.map_or_else(Vec::new, |known| known.authors(place))
    }
}

impl KnownPlace {
    fn authors(&self, path: &Path) -> Vec<WrittenBy> {
        // Asked before opening, which would wait for ever at a pipe without a writer.
        let is_file = || fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        if self.completed.is_empty() || !is_file() {
            return Vec::new();
        }
        let Ok(found) = File::open(path).and_then(Fingerprint::of) else {
            return Vec::new();
        };
        let as_found = self.completed.iter().filter(|of| of.0 == found.sha256);
        as_found.map(|(_, by)| *by).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha256(bytes: &[u8]) -> [u8; 32] {
        Fingerprint::of(bytes).unwrap().sha256
    }

    fn record(place: &Path, run: u64, bytes: Option<&[u8]>) -> OutputAt {
        OutputAt {
            path: place.to_owned(),
            run: RunId(run),
            sha256: bytes.map(sha256),
            rows: bytes.map(|bytes| bytes.len() as u64),
        }
    }

    fn author(run: u64, rows: u64) -> WrittenBy {
        WrittenBy {
            run: RunId(run),
            rows,
        }
    }

    #[test]
    fn a_file_is_known_by_its_place_and_its_bytes_and_so_are_the_runs_that_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        let elsewhere = folder.path().join("s.csv");
        let known = KnownOutputs::new([
            record(&place, 1, Some(b"first")),
            record(&place, 2, None),
            record(&place, 3, Some(b"second")),
            record(&place, 4, Some(b"first")),
        ]);
        for (bytes, authors) in [
            ("first", &[author(1, 5), author(4, 5)][..]),
            ("second", &[author(3, 6)]),
            ("mine", &[]),
        ] {
            fs::write(&place, bytes).unwrap();
            fs::write(&elsewhere, bytes).unwrap();
            assert_eq!(known.authors(&place), authors, "{bytes}");
            assert_eq!(known.authors(&elsewhere), [], "{bytes}");
        }
    }

    #[test]
    fn where_nothing_was_completed_no_file_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        let begun = KnownOutputs::new([record(&place, 1, None)]);
        assert!(begun.has_part(&place, &place));
        assert!(!KnownOutputs::default().has_part(&place, &place));
        let completed = KnownOutputs::new([record(&place, 1, Some(b""))]);
        assert_eq!(completed.authors(&place), [], "there is none");
        fs::write(&place, "").unwrap();
        assert_eq!(begun.authors(&place), []);
        assert_eq!(completed.authors(&place), [author(1, 0)]);
    }
}
