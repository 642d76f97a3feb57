//! What earlier runs have written where the outputs of this one go.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::source::Fingerprint;

/// The outputs that the ledger has recorded, by place. Whatever is in them can be made
/// again from the ledger, so they need not be kept. Without a ledger nothing is known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct KnownOutputs {
    places: HashMap<PathBuf, KnownPlace>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct KnownPlace {
    /// The SHA-256 of every file that was completed there.
    completed: Vec<[u8; 32]>,
    /// Whether a run has begun to write there and not come to an end.
    is_begun: bool,
}

impl KnownOutputs {
    /// From records of places, as [`OutputPaths::places`](super::OutputPaths::places)
    /// names them. With a SHA-256: such a file was completed there. Without: a run began
    /// to write there.
    pub fn new(records: impl IntoIterator<Item = (PathBuf, Option<[u8; 32]>)>) -> KnownOutputs {
        let mut places: HashMap<_, KnownPlace> = HashMap::new();
        for (place, sha256) in records {
            let known = places.entry(place).or_default();
            known.is_begun |= sha256.is_none();
            known.completed.extend(sha256);
        }
        KnownOutputs { places }
    }

    /// Whether the ledger has all that stands in `part`, which was to come to `place`: the
    /// run that wrote it was killed, before its end or just after it. A run without the
    /// ledger may have left one too, and that is all that is known of its leads.
    pub(super) fn has_part(&self, place: &Path, part: &Path) -> bool {
        self.places
            .get(place)
            .is_some_and(|known| known.is_begun || known.holds(part))
    }

    /// Whether the file that stands there is as a run has written it. One that cannot be
    /// read is taken for another.
    pub(super) fn is_as_written(&self, place: &Path) -> bool {
        self.places
            .get(place)
            .is_some_and(|known| known.holds(place))
    }
}

impl KnownPlace {
    fn holds(&self, path: &Path) -> bool {
        // Asked before opening, which would wait for ever at a pipe without a writer.
        let is_file = || fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        let found = || File::open(path).and_then(Fingerprint::of);
        !self.completed.is_empty()
            && is_file()
            && found().is_ok_and(|found| self.completed.contains(&found.sha256))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha256(bytes: &[u8]) -> [u8; 32] {
        Fingerprint::of(bytes).unwrap().sha256
    }

    #[test]
    fn a_file_is_as_written_if_any_run_has_written_those_bytes_in_that_place() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        let elsewhere = folder.path().join("s.csv");
        let known = KnownOutputs::new([
            (place.clone(), Some(sha256(b"first"))),
            (place.clone(), None),
            (place.clone(), Some(sha256(b"second"))),
        ]);
        for (bytes, is_as_written) in [("first", true), ("second", true), ("mine", false)] {
            fs::write(&place, bytes).unwrap();
            fs::write(&elsewhere, bytes).unwrap();
            assert_eq!(known.is_as_written(&place), is_as_written, "{bytes}");
            assert!(!known.is_as_written(&elsewhere), "{bytes}");
        }
    }

    #[test]
    fn where_nothing_was_completed_nothing_is_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        let begun = KnownOutputs::new([(place.clone(), None)]);
        assert!(begun.has_part(&place, &place));
        assert!(!KnownOutputs::default().has_part(&place, &place));
        let completed = KnownOutputs::new([(place.clone(), Some(sha256(b"")))]);
        assert!(!completed.is_as_written(&place), "there is none");
        fs::write(&place, "").unwrap();
        assert!(!begun.is_as_written(&place));
        assert!(completed.is_as_written(&place));
    }
}
