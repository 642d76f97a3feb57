//! The thread that owns the ledger while a run is sent.
//!
//! Whoever sends hands it a [`Group`] of entries at a time, and waits with the next
//! until this one is committed: what comes up meanwhile makes the next group, so that a
//! slow disk makes large groups and a fast one small ones. What is to become of rows
//! once their outcomes are safe (their lines in the results) goes through the same
//! thread, and is passed on only after the commit.
//!
//! A group that cannot be committed is kept and tried again with the next one: when the
//! disk has room again by the end of the run, nothing is lost. If it never is, what stands
//! behind it is passed on at the end all the same: nothing else may tell of these leads.
//! While nothing else is to be done, settled rows are filed.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc;

use super::{Group, Ledger, LedgerError};
use crate::lead::RunId;

/// A handle on the thread. `B` is what is passed on.
#[derive(Debug)]
pub struct LedgerWriter<B> {
    groups: SyncSender<CommitRequest<B>>,
    committed: mpsc::UnboundedReceiver<Committed>,
    thread: JoinHandle<Ledger>,
}

#[derive(Debug)]
struct CommitRequest<B> {
    group: Group,
    behind: Vec<B>,
}

/// What has become of a group.
#[derive(Debug)]
pub struct Committed {
    /// Whether the group, and all before it, is on disk.
    pub result: Result<(), LedgerError>,
    /// Whether what stood behind it could be passed on: somebody was there to take it.
    pub is_taken: bool,
}

impl<B: Send + 'static> LedgerWriter<B> {
    /// Starts the thread, which passes things on to `next`.
    pub fn start(ledger: Ledger, run: RunId, next: mpsc::Sender<B>) -> LedgerWriter<B> {
        // Where that fails, others are waited for less long.
        let _ = ledger.set_busy_timeout();
        let (groups, handed_over) = sync_channel(1);
        let (done, committed) = mpsc::unbounded_channel();
        let mut desk = Worker {
            ledger,
            run,
            next,
            unsaved: Group::default(),
            behind: Vec::new(),
        };
        let thread = thread::spawn(move || {
            desk.work(&handed_over, &done);
            desk.ledger
        });
        LedgerWriter {
            groups,
            committed,
            thread,
        }
    }

    /// Hands over a group, and what is to be passed on once it is committed. Not before
    /// the group before it has been answered.
    pub fn hand_over(&self, group: Group, behind: Vec<B>) {
        // A thread that has died is found out by the answer that does not come.
        let _ = self.groups.send(CommitRequest { group, behind });
    }

    /// Waits for the answer to the group that was handed over; nothing if the thread has
    /// died.
    pub async fn committed(&mut self) -> Option<Committed> {
        self.committed.recv().await
    }

    /// Ends the thread and gives the ledger back; nothing if it has died.
    pub fn close(self) -> Option<Ledger> {
        drop(self.groups);
        self.thread.join().ok()
    }
}

/// What the thread has before it.
struct Worker<B> {
    ledger: Ledger,
    run: RunId,
    next: mpsc::Sender<B>,
    /// Entries that could not be committed yet …
    unsaved: Group,
    /// … and what stands behind them.
    behind: Vec<B>,
}

impl<B> Worker<B> {
    fn work(
        &mut self,
        groups: &Receiver<CommitRequest<B>>,
        done: &mpsc::UnboundedSender<Committed>,
    ) {
        let mut is_filing = false;
        loop {
            let handover = if is_filing {
                groups.try_recv()
            } else {
                groups.recv().map_err(|_| TryRecvError::Disconnected)
            };
            match handover {
                Ok(handover) => {
                    let _ = done.send(self.take(handover));
                    is_filing = true;
                }
                // What cannot be filed now stays where it is, and is found there.
                Err(TryRecvError::Empty) => is_filing = self.ledger.file_some().unwrap_or(false),
                Err(TryRecvError::Disconnected) => {
                    self.pass_on();
                    return;
                }
            }
        }
    }

    fn take(&mut self, handover: CommitRequest<B>) -> Committed {
        self.unsaved.append(handover.group);
        self.behind.extend(handover.behind);
        let has_news = !self.unsaved.is_empty() || self.unsaved.learned.is_some();
        let result = if has_news {
            self.ledger.commit(self.run, &self.unsaved)
        } else {
            Ok(())
        };
        let mut is_taken = true;
        if result.is_ok() {
            self.unsaved.clear();
            is_taken = self.pass_on();
        }
        Committed { result, is_taken }
    }

    /// Whether somebody was there to take it all.
    fn pass_on(&mut self) -> bool {
        let mut things = self.behind.drain(..);
        things.all(|thing| self.next.blocking_send(thing).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::samples::{RUN, Sample};
    use crate::rate::{KnownRate, Rate};

    #[tokio::test]
    async fn what_was_learned_is_written_though_nothing_else_is_handed_over() {
        let Sample {
            ledger, service, ..
        } = &mut Sample::new();
        let learned = KnownRate {
            rate: Rate::per_minute(300),
            is_stated: true,
        };
        let ledger = Ledger::open(ledger.place()).unwrap();
        let (next, _behind) = mpsc::channel::<()>(1);
        let mut writer = LedgerWriter::start(ledger, RUN, next);
        let group = Group {
            learned: Some(learned),
            ..Group::default()
        };
        writer.hand_over(group, Vec::new());
        assert!(writer.committed().await.unwrap().result.is_ok());
        let ledger = writer.close().unwrap();
        assert_eq!(ledger.known_rate(*service).unwrap(), Some(learned));
    }
}
