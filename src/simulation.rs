//! What a simulation decides in place of the computer: the time of day, what the service answers,
//! and where a process is killed (`tests/sim`).
//!
//! Everything runs on one thread then, on a clock that Tokio has stopped: what another thread does
//! in the program is done at once, or as a task of the same thread. None of this is in builds
//! without debug assertions, so it is in no package.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::{Request, Response};
use tokio::sync::{mpsc, oneshot};

pub type Answered = Result<Response, NoAnswer>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// There was no connection, so nothing was sent.
    NotSent,
    /// The connection broke.
    Broken,
}

/// The computer on which a process runs, and the network.
pub trait Computer {
    fn time_of_day(&self) -> Timestamp;

    /// Sends a request. Its answer comes later, also if the process is gone by then.
    fn send(&self, request: &Request, answer: oneshot::Sender<Answered>);

    /// How long the disk takes for a commit.
    fn commit_time(&self) -> Duration;

    /// How much of what was settled is filed before a commit.
    fn slices_filed(&self) -> usize;

    /// How many rows are read at a time.
    fn batch_rows(&self) -> usize;

    /// Something is about to change on disk, or has: the process may be killed here.
    fn step(&self, what: &'static str);

    /// What was written to this file is on disk.
    fn synced(&self, file: &Path);

    /// Whether the program has this fault, which a simulation is to find.
    fn has(&self, fault: Fault) -> bool;
}

/// Faults that are planted to see whether simulations find them: each breaks one promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A request starts before its claim is on disk.
    SendBeforeClaim,
    /// A claim is not written.
    ForgetClaim,
    /// A claim that is not used stays.
    KeepClaim,
    /// What a process that was killed had claimed is forgotten.
    ForgetOpenClaims,
    /// A row counts as created before its answer is read.
    SettleBeforeAnswer,
    RefusalAsCreated,
    DuplicateAsRefused,
    /// One request more than the rate allows.
    PastThePace,
    /// A wait that the service asked for is not in the ledger.
    ForgetWait,
    /// Results are finished though the ledger lacks some of their rows.
    ResultsBeforeLedger,
    /// The ledger's file is not synced.
    NoSync,
    /// Outputs get their names before they are on disk.
    RenameBeforeSync,
    /// Outputs get their names before the ledger knows them.
    RenameBeforeRecord,
    SameNumberAtOnce,
    ResendWhatIsHeld,
    /// The do-not-call list is looked at when a row is read, and not before it is sent.
    OldSuppression,
    /// What was claimed is sent after a signal.
    SendAfterSignal,
    /// A number that stands twice is sent twice.
    SendRepeated,
    /// That a lead is about to be removed is not in the ledger.
    ForgetRemoval,
    /// Other rows that have a lead still count as settled after it was removed.
    KeepDuplicates,
    /// They count as settled until the answer to the removal is in the ledger.
    FreeLate,
}

/// Whether a simulation runs on this thread.
pub fn is_on() -> bool {
    current().is_some()
}

pub fn is_planted(fault: Fault) -> bool {
    current().is_some_and(|computer| computer.has(fault))
}

/// Sends a request on the simulated network, if there is one.
pub fn answer_to(request: &Request) -> Option<oneshot::Receiver<Answered>> {
    let computer = current()?;
    let (answer, answered) = oneshot::channel();
    computer.send(request, answer);
    Some(answered)
}

/// Passes on what came of a commit, when the disk is done with it.
pub fn after_commit<T: 'static>(answer: mpsc::UnboundedSender<T>, committed: T) {
    let time = current().map_or(Duration::ZERO, |computer| computer.commit_time());
    spawn(async move {
        tokio::time::sleep(time).await;
        let _ = answer.send(committed);
    });
}

/// Starts a task of this process.
pub fn spawn(work: impl Future<Output = ()> + 'static) {
    #[cfg(debug_assertions)]
    if let Some(computer) = current() {
        let mut work = Box::pin(work);
        let polled =
            std::future::poll_fn(move |context| on(&computer, || work.as_mut().poll(context)));
        tokio::task::spawn_local(polled);
    }
    #[cfg(not(debug_assertions))]
    drop(work);
}

/// How many rows are read at a time.
pub fn batch_rows() -> Option<usize> {
    current().map(|computer| computer.batch_rows())
}

/// Starts a thread. In a simulation its work is done when this returns.
pub fn thread(work: impl FnOnce() + Send + 'static) {
    if is_on() {
        work();
    } else {
        std::thread::spawn(work);
    }
}

/// Starts work on a thread of its own, which needs no runtime. Its result is missing if it panics.
pub fn beside<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> oneshot::Receiver<T> {
    let (sender, done) = oneshot::channel();
    if is_on() {
        spawn(async move { drop(sender.send(work.await)) });
    } else {
        std::thread::spawn(move || sender.send(futures::executor::block_on(work)));
    }
    done
}

/// How many messages a channel between threads holds: in a simulation all, since nobody takes them
/// meanwhile.
pub fn room(usual: usize) -> usize {
    if is_on() { 512 } else { usual }
}

/// Sends a message from a thread; `false` if the receiver is gone.
pub fn send<T>(sender: &mpsc::Sender<T>, message: T) -> bool {
    if is_on() {
        sender.try_send(message).is_ok()
    } else {
        sender.blocking_send(message).is_ok()
    }
}

pub fn step(what: &'static str) {
    if let Some(computer) = current() {
        computer.step(what);
    }
}

pub fn synced(file: &Path) {
    if let Some(computer) = current() {
        computer.synced(file);
    }
}

#[cfg(debug_assertions)]
mod switch {
    use std::cell::RefCell;

    use super::{Computer, Rc};

    thread_local! {
        static COMPUTER: RefCell<Option<Rc<dyn Computer>>> = const { RefCell::new(None) };
    }

    /// The computer of this thread, if it is simulated.
    pub fn current() -> Option<Rc<dyn Computer>> {
        COMPUTER.with_borrow(Clone::clone)
    }

    /// Does some work on a simulated computer.
    pub fn on<T>(computer: &Rc<dyn Computer>, work: impl FnOnce() -> T) -> T {
        let _before = Before(COMPUTER.replace(Some(Rc::clone(computer))));
        work()
    }

    struct Before(Option<Rc<dyn Computer>>);

    impl Drop for Before {
        fn drop(&mut self) {
            COMPUTER.set(self.0.take());
        }
    }
}

#[cfg(debug_assertions)]
pub use switch::{current, on};

#[cfg(not(debug_assertions))]
pub const fn current() -> Option<Rc<dyn Computer>> {
    None
}
