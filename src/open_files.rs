//! How many files and connections the program may have open at once.
//!
//! Each request in flight is a connection, and what a run needs at its end is opened when all rows
//! are sent. So the connections that fit beside it are counted before anything is sent.

use std::sync::OnceLock;

use crate::exit::{Failure, StoppedBy};
use crate::message::Message;

/// What a run has open at most besides lists and connections, with a little to spare: ledger and
/// locks (9), outputs and what is made of them at the end (10), event loops and signals (10), a
/// list that is read twice (2), the terminal or the page and its browser (8).
const OWN: usize = 44;

/// Rejects, and the unpacked list or that from standard input.
const PER_LIST: usize = 2;

/// While a connection is being made, another one may become free and be used.
const PER_REQUEST: usize = 2;

/// More is of no use: `--concurrency` is 1,000 at most.
#[cfg(unix)]
const MOST: u64 = 4096;

/// How many were open when the program began: its parent may have left it some.
static AT_BEGIN: OnceLock<usize> = OnceLock::new();

/// Counts what is open, and raises the limit as far as that is permitted and of use. To be called
/// when the program begins.
#[cfg(unix)]
pub fn begin() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let open = std::fs::read_dir("/dev/fd").map_or(3, Iterator::count);
    let _ = AT_BEGIN.set(open);
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(MOST, |most| most.min(MOST));
    if limit.current.is_some_and(|current| current < wanted) {
        let current = Some(wanted);
        // If that fails, fewer requests are in flight.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    }
}

/// Other systems have no such limit that matters here.
#[cfg(not(unix))]
pub fn begin() {
    let _ = AT_BEGIN.set(0);
}

/// How many requests may be in flight at once beside this many lists. The sandbox has the other
/// ends of their connections in this process.
///
/// # Errors
///
/// If not even one may, [`StoppedBy::Disk`].
pub fn requests_that_fit(lists: usize, is_sandbox: bool) -> Result<usize, Failure> {
    let Some(limit) = limit() else {
        return Ok(usize::MAX);
    };
    let at_begin = AT_BEGIN.get().copied().unwrap_or_default();
    let own = at_begin + OWN + lists.saturating_mul(PER_LIST);
    let each = PER_REQUEST * if is_sandbox { 2 } else { 1 };
    match limit.saturating_sub(own) / each {
        0 => Err(too_few(limit, own + each)),
        requests => Ok(requests),
    }
}

#[cfg(unix)]
fn limit() -> Option<usize> {
    use rustix::process::{Resource, getrlimit};
    usize::try_from(getrlimit(Resource::Nofile).current?).ok()
}

#[cfg(not(unix))]
fn limit() -> Option<usize> {
    None
}

fn too_few(limit: usize, needed: usize) -> Failure {
    let (limit, needed) = (limit.to_string(), needed.to_string());
    let message = Message::new(
        text!(
            "{only {limit} files may be open at once here, and sending needs {needed}|this computer lets leadload open too few files at once for sending}",
            limit,
            needed = &needed
        ),
        text!(
            "{allow more (`ulimit -n {needed}`), then {again}|{ask_setup}}",
            needed
        ),
    );
    Failure::new(StoppedBy::Disk, message)
}
