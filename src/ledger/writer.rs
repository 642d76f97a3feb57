//! The thread that owns the ledger while a run is sent.
//!
//! It gets one [`Group`] of entries at a time, and the next only after it has answered this
//! one. Entries that come up meanwhile make up the next group, so a slow disk makes large
//! groups and a fast one small groups. Batches whose outcomes are in a group go through the
//! same thread, which passes them on (to the writer of results) only after the commit.
//!
//! A group that cannot be committed is kept and tried again together with the next
//! one: if the disk has space again before the run ends, nothing is lost. If not, the
//! group's batches are passed on at the end all the same, since nothing else may know
//! about these leads. While there is no other work, the thread files settled rows.

use std::cell::RefCell;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::mpsc;

use super::{Group, Lease, Ledger, LedgerError, Reply};
use crate::lead::RunId;
use crate::simulation;

/// A handle to the thread. `B` is the type of a batch.
#[derive(Debug)]
pub struct LedgerWriter<B> {
    /// The right to start requests, which the thread renews.
    pub lease: Lease,
    owner: Owner<B>,
    answers: mpsc::UnboundedReceiver<Committed>,
}

/// Who has the ledger.
#[derive(Debug)]
enum Owner<B> {
    Thread {
        requests: SyncSender<CommitRequest<B>>,
        thread: JoinHandle<Ledger>,
    },
    /// A simulation, which has no other threads. What is committed is answered later.
    Here {
        worker: Box<RefCell<Worker<B>>>,
        answer: mpsc::UnboundedSender<Committed>,
    },
}

/// A group, and the batches to pass on when it is committed.
type CommitRequest<B> = (Group, Vec<B>);

#[derive(Debug)]
pub struct Committed {
    /// What came back when this group and all groups before it were on disk; `None` if nothing had
    /// to be written.
    pub result: Result<Option<Reply>, LedgerError>,
    /// Whether the batches could be passed on: `false` if the receiver is gone.
    pub is_taken: bool,
}

impl<B: Send + 'static> LedgerWriter<B> {
    pub fn start(ledger: Ledger, run: RunId, next: mpsc::Sender<B>) -> LedgerWriter<B> {
        let (answer, answers) = mpsc::unbounded_channel();
        let lease = ledger.lease();
        let mut worker = Worker {
            ledger,
            run,
            next,
            group: Group::default(),
            batches: Vec::new(),
        };
        let owner = if simulation::is_on() {
            let worker = Box::new(RefCell::new(worker));
            Owner::Here { worker, answer }
        } else {
            let (requests, to_commit) = sync_channel(1);
            let thread = thread::spawn(move || {
                worker.work(&to_commit, &answer);
                worker.ledger
            });
            Owner::Thread { requests, thread }
        };
        LedgerWriter {
            lease,
            owner,
            answers,
        }
    }

    /// Sends a group, and the batches to pass on when it is
    /// committed. Wait for the answer to the group before it first.
    pub fn commit(&self, group: Group, batches: Vec<B>) {
        match &self.owner {
            // If the thread has died, the missing answer will show it.
            Owner::Thread { requests, .. } => drop(requests.send((group, batches))),
            Owner::Here { worker, answer } => {
                let committed = worker.borrow_mut().commit_here((group, batches));
                simulation::after_commit(answer.clone(), committed);
            }
        }
    }

    /// Waits for the answer to the group that was sent; `None` if the thread has died.
    pub async fn committed(&mut self) -> Option<Committed> {
        self.answers.recv().await
    }

    /// Ends the thread and returns the ledger; `None` if the thread has died.
    pub fn close(self) -> Option<Ledger> {
        match self.owner {
            Owner::Thread { requests, thread } => {
                drop(requests);
                thread.join().ok()
            }
            Owner::Here { worker, .. } => {
                let mut worker = worker.into_inner();
                worker.pass_on();
                Some(worker.ledger)
            }
        }
    }
}

#[derive(Debug)]
struct Worker<B> {
    ledger: Ledger,
    run: RunId,
    next: mpsc::Sender<B>,
    /// Entries that are not committed yet …
    group: Group,
    /// … and the batches that wait for them.
    batches: Vec<B>,
}

impl<B> Worker<B> {
    fn work(
        &mut self,
        requests: &Receiver<CommitRequest<B>>,
        answer: &mpsc::UnboundedSender<Committed>,
    ) {
        let mut is_filing = false;
        loop {
            // Between two slices of filing nothing is waited for.
            let wait = match (is_filing, self.ledger.renew_every()) {
                (true, _) => Duration::ZERO,
                (false, Some(renewal)) => renewal,
                (false, None) => Duration::MAX,
            };
            match requests.recv_timeout(wait) {
                Ok(request) => {
                    let _ = answer.send(self.commit(request));
                    is_filing = true;
                }
                // Rows that cannot be filed now stay in the journal and are found there later.
                Err(RecvTimeoutError::Timeout) if is_filing => {
                    is_filing = self.ledger.file_some().unwrap_or(false);
                }
                // If that fails, nothing starts, and the next group says why.
                Err(RecvTimeoutError::Timeout) => drop(self.ledger.renew()),
                Err(RecvTimeoutError::Disconnected) => {
                    self.pass_on();
                    return;
                }
            }
        }
    }

    fn commit(&mut self, (group, batches): CommitRequest<B>) -> Committed {
        self.group.append(group);
        self.batches.extend(batches);
        let has_news = !self.group.is_empty() || self.group.learned.is_some();
        let result = if has_news {
            self.ledger.commit(self.run, &self.group).map(Some)
        } else {
            Ok(None)
        };
        let mut is_taken = true;
        if result.is_ok() {
            self.group = Group::default();
            is_taken = self.pass_on();
        }
        Committed { result, is_taken }
    }

    /// Commits after the filing that there was time for before.
    fn commit_here(&mut self, request: CommitRequest<B>) -> Committed {
        let slices = simulation::current().map_or(0, |computer| computer.slices_filed());
        for _ in 0..slices {
            if !self.ledger.file_some().unwrap_or(false) {
                break;
            }
        }
        self.commit(request)
    }

    /// Passes the batches on. Returns whether the receiver took them all.
    fn pass_on(&mut self) -> bool {
        let mut batches = self.batches.drain(..);
        batches.all(|batch| simulation::send(&self.next, batch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::LedgerPlace;
    use crate::ledger::sqlite::samples::{RUN, Sample};
    use crate::rate::{KnownRate, Rate};

    #[tokio::test]
    async fn what_was_learned_is_written_though_there_is_nothing_else() {
        let Sample {
            ledger, service, ..
        } = &mut Sample::new();
        let learned = KnownRate {
            rate: Rate::per_minute(300),
            is_stated: true,
        };
        let place = LedgerPlace::File(ledger.file().place().clone());
        let ledger = Ledger::open(&place).unwrap();
        let (next, _behind) = mpsc::channel::<()>(1);
        let mut writer = LedgerWriter::start(ledger, RUN, next);
        let group = Group {
            learned: Some(learned),
            ..Group::default()
        };
        writer.commit(group, Vec::new());
        assert!(writer.committed().await.unwrap().result.is_ok());
        let ledger = writer.close().unwrap();
        assert_eq!(ledger.known_rate(*service).unwrap(), Some(learned));
    }
}
