//! Where the files of earlier runs are now, and which of them go with their runs.
//!
//! Rule: a file counts as a run's only if its bytes are those that the ledger has recorded, and it begins
//! like one that leadload writes: a ledger may name any file, with its digest.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::ours::digest_at;
use super::paths::is_called;
use crate::lead::RunId;
use crate::ledger::{OutputKind, OutputRecord, OutputState, RunRecord, Sha256};

/// The longest header of a list, in bytes, and what rejects add to it.
const LONGEST_HEADER: u64 = (1 << 20) + 1024;

/// What lies at a path: the digest of a file, `None` if it is no file, or why that is not known.
type AtPath = Result<Option<Sha256>, ErrorKind>;

/// Finds out what became of the files of these runs. Each file is read once. One that
/// was given another name is recorded under both; what is left is where it lies.
pub fn locate_outputs(runs: &mut [RunRecord]) {
    let mut at_paths = HashMap::new();
    for run in runs {
        let is_of_here = run.is_of_here();
        for output in &mut run.outputs {
            output.state = state(output, is_of_here, &mut at_paths);
        }
        let as_written = run.outputs.iter().filter(|output| output.is_as_written());
        let mut named: HashSet<Sha256> = as_written.filter_map(|output| output.sha256).collect();
        // The last one is where it was last seen.
        run.outputs.reverse();
        run.outputs.retain(|output| {
            let is_new = |sha256| named.insert(sha256);
            output.is_as_written() || output.sha256.is_none_or(is_new)
        });
        run.outputs.reverse();
    }
}

/// Whether a file is as it was written. The name of a computer may change, so it only says whether a file
/// is missed here.
fn state(
    output: &OutputRecord,
    is_of_here: bool,
    at_paths: &mut HashMap<PathBuf, AtPath>,
) -> Option<OutputState> {
    let (path, sha256) = (output.path.as_ref()?, output.sha256?);
    let look = || digest_at(path).map_err(|error| error.kind());
    match at_paths.entry(path.clone()).or_insert_with(look) {
        Ok(Some(found)) if *found == sha256 && begins_as_written(path, output) => {
            Some(OutputState::AsWritten)
        }
        _ if !is_of_here => Some(OutputState::Elsewhere),
        Ok(_) => Some(OutputState::Changed),
        Err(ErrorKind::NotFound | ErrorKind::NotADirectory) => Some(OutputState::Gone),
        Err(_) => None,
    }
}

/// Whether a file begins like this output, by its header. It may still have another name.
pub(super) fn begins_as_written(path: &Path, output: &OutputRecord) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST_HEADER).read_to_end(&mut start));
    let place = output.path.as_deref().unwrap_or(path);
    let columns: &[&str] = match output.kind {
        _ if start.starts_with(b"PK") => return is_called(place, &["xlsx"]),
        OutputKind::Results | OutputKind::Undo => &["phone_number", "lead_id", "settled_at"],
        OutputKind::Rejects => &["leadload_row", "leadload_status"],
    };
    let mut columns = columns.iter();
    read.is_ok() && columns.all(|name| memmem::find(&start, name.as_bytes()).is_some())
}

/// The results and rejects of runs that are pruned.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PrunedFiles {
    /// They are as leadload wrote them, so they go.
    pub removed: BTreeSet<PathBuf>,
    /// They stay, each with the reason.
    pub left: BTreeMap<PathBuf, &'static str>,
}

impl PrunedFiles {
    /// Looks at the files of all runs, of which some are pruned.
    pub fn find(mut runs: Vec<RunRecord>, pruned: &[RunId]) -> PrunedFiles {
        locate_outputs(&mut runs);
        let outputs = runs.into_iter().flat_map(|run| run.outputs);
        let (of_pruned, of_others): (Vec<_>, Vec<_>) =
            outputs.partition(|output| pruned.contains(&output.run));
        let paths = |outputs: &[OutputRecord]| -> HashSet<PathBuf> {
            let as_written = outputs.iter().filter(|output| output.is_as_written());
            let paths = as_written.filter_map(|output| output.path.clone());
            paths.collect()
        };
        let (goes, stays) = (paths(&of_pruned), paths(&of_others));
        let mut files = PrunedFiles::default();
        for output in of_pruned {
            let (Some(path), Some(_)) = (output.path, output.sha256) else {
                continue;
            };
            let why = match output.state {
                _ if output.kind == OutputKind::Undo => continue,
                Some(OutputState::Gone) => continue,
                Some(OutputState::AsWritten) if !stays.contains(&path) => {
                    files.removed.insert(path);
                    continue;
                }
                Some(OutputState::AsWritten) => "a run that stays has written the same",
                // Another run has taken its place.
                Some(OutputState::Changed) if goes.contains(&path) || stays.contains(&path) => {
                    continue;
                }
                Some(OutputState::Changed) => "it is no longer as leadload wrote it",
                Some(OutputState::Elsewhere) => "it was written on another computer",
                None => "it cannot be read",
            };
            files.left.insert(path, why);
        }
        files
    }

    /// Removes them.
    ///
    /// # Errors
    ///
    /// The first file that cannot be removed, and why; others may be left too.
    pub fn remove(&self) -> Result<(), (PathBuf, io::Error)> {
        for path in &self.removed {
            if let Err(error) = fs::remove_file(path)
                && error.kind() != ErrorKind::NotFound
            {
                return Err((path.clone(), error));
            }
        }
        Ok(())
    }
}
