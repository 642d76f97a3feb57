//! Work for a list, on a thread of its own.
//!
//! Promise: what comes of it is always passed on, also if the work panics or if no thread can be
//! started. Otherwise a page would show for ever that it is being done.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tokio::sync::Notify;

use super::job::{Job, JobState};
use super::trouble::Trouble;
use crate::exit::{Failure, StoppedBy};
use crate::import::service;

/// Begins the work, whose result goes to `done`.
pub fn begin<T, F>(
    work: impl FnOnce() -> F + Send + 'static,
    done: impl FnOnce(Result<T, Failure>) + Send + 'static,
) where
    T: 'static,
    F: Future<Output = Result<T, Failure>>,
{
    let guard = ResultGuard(Some(Box::new(done)));
    // If there is no thread, the guard is dropped here.
    let _ = thread::Builder::new().spawn(move || {
        let mut guard = guard;
        let result = service::block_on(work());
        guard.pass_on(result);
    });
}

/// Waits until `is_done`, looking again whenever something has changed.
pub async fn wait(changes: &Notify, is_done: impl Fn() -> bool) {
    loop {
        let changed = changes.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        if is_done() {
            return;
        }
        changed.await;
    }
}

/// How far work for a list has come, and what came of it.
#[derive(Debug, Default)]
pub enum WorkState<T> {
    #[default]
    NotBegun,
    /// How many rows have been gone through. No other work shares this counter, so that a result
    /// is known to be of this work and not of an earlier one.
    AtWork(Arc<AtomicU64>),
    Failed(Trouble),
    Done(Arc<T>),
}

impl<T> WorkState<T> {
    pub fn is_over(&self) -> bool {
        matches!(self, WorkState::Failed(_) | WorkState::Done(_))
    }

    pub fn is_at_work(&self) -> bool {
        matches!(self, WorkState::AtWork(_))
    }

    /// Whether this is the work that counts its rows here.
    pub fn is_of(&self, rows: &Arc<AtomicU64>) -> bool {
        matches!(self, WorkState::AtWork(own) if Arc::ptr_eq(own, rows))
    }

    /// How many rows have been gone through.
    pub fn rows(&self) -> u64 {
        match self {
            WorkState::AtWork(rows) => rows.load(Ordering::Relaxed),
            _ => 0,
        }
    }

    pub fn done(&self) -> Option<Arc<T>> {
        match self {
            WorkState::Done(found) => Some(Arc::clone(found)),
            _ => None,
        }
    }
}

/// Begins work for a list, unless that has been done; `of` is where its state is. What comes of it
/// is dropped if the list was changed meanwhile, so that this work no longer counts.
pub fn begin_for<T, F>(
    job: &Arc<Job>,
    of: fn(&mut JobState) -> &mut WorkState<T>,
    work: impl FnOnce(Arc<AtomicU64>) -> F + Send + 'static,
) where
    T: Send + Sync + 'static,
    F: Future<Output = Result<Option<T>, Failure>>,
{
    let rows = Arc::new(AtomicU64::new(0));
    let mut state = job.state();
    let begun = of(&mut state);
    if !matches!(begun, WorkState::NotBegun) {
        return;
    }
    *begun = WorkState::AtWork(Arc::clone(&rows));
    drop(state);
    let (job, for_done) = (Arc::clone(job), Arc::clone(&rows));
    begin(
        async move || work(rows).await,
        move |result| {
            let mut state = job.state();
            let begun = of(&mut state);
            if begun.is_of(&for_done) {
                *begun = match result {
                    Ok(Some(found)) => WorkState::Done(Arc::new(found)),
                    Ok(None) => WorkState::NotBegun,
                    Err(failure) => WorkState::Failed(Trouble::of(&failure)),
                };
            }
            drop(state);
            job.has_changed();
        },
    );
}

/// Passes the result on, or when it is dropped, that there is none.
struct ResultGuard<T>(Option<Done<T>>);

type Done<T> = Box<dyn FnOnce(Result<T, Failure>) + Send>;

impl<T> ResultGuard<T> {
    fn pass_on(&mut self, result: Result<T, Failure>) {
        if let Some(done) = self.0.take() {
            done(result);
        }
    }
}

impl<T> Drop for ResultGuard<T> {
    fn drop(&mut self) {
        let message = message!(
            "something went wrong in leadload itself",
            "try it again; if it happens again, start leadload again"
        );
        self.pass_on(Err(Failure::new(StoppedBy::Input, message)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_result_is_passed_on() {
        let (sender, result) = channel();
        begin(async || Ok(7), move |done| sender.send(done).unwrap());
        assert_eq!(result.recv().unwrap().unwrap(), 7);
        assert!(result.recv().is_err());
    }

    #[test]
    fn work_that_panics_fails() {
        let (sender, result) = channel();
        let work = async || panic!("on purpose");
        begin(work, move |done: Result<(), _>| sender.send(done).unwrap());
        let failure = result.recv().unwrap().unwrap_err();
        assert_eq!(
            failure.message().what,
            "something went wrong in leadload itself"
        );
        assert!(result.recv().is_err());
    }
}
