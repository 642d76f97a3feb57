//! Where the files of earlier runs are now.
//!
//! Rule: a file counts as a run's only if its bytes are those that the ledger has recorded.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::PathBuf;

use super::ours::digest_at;
use crate::ledger::{OutputRecord, OutputState, RunRecord, Sha256, this_user_here};

/// What lies at a path: the digest of a file, `None` if it is no file, or why that is not known.
type AtPath = Result<Option<Sha256>, ErrorKind>;

/// Finds out what became of the files of these runs. Each file is read once. One that
/// was given another name is recorded under both; what is left is where it lies.
pub fn locate_outputs(runs: &mut [RunRecord]) {
    let (here, _) = this_user_here();
    let mut at_paths = HashMap::new();
    for run in runs {
        let is_of_here = run.starts.last().is_none_or(|start| start.host == here);
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

/// Bytes and path together are proof enough; the name of a computer may change. It only says
/// whether a file is missed here.
fn state(
    output: &OutputRecord,
    is_of_here: bool,
    at_paths: &mut HashMap<PathBuf, AtPath>,
) -> Option<OutputState> {
    let (path, sha256) = (output.path.as_ref()?, output.sha256?);
    let look = || digest_at(path).map_err(|error| error.kind());
    match at_paths.entry(path.clone()).or_insert_with(look) {
        Ok(Some(found)) if *found == sha256 => Some(OutputState::AsWritten),
        _ if !is_of_here => Some(OutputState::Elsewhere),
        Ok(_) => Some(OutputState::Changed),
        Err(ErrorKind::NotFound | ErrorKind::NotADirectory) => Some(OutputState::Gone),
        Err(_) => None,
    }
}
