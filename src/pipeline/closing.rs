//! The end of a run: every row is passed on, and no lead that may exist is hidden.

use tokio::sync::mpsc;

use super::{Delivery, LeadSender, Pipeline};
use crate::intake::{Batch, Batches};
use crate::lead::RowId;
use crate::signals::{Interrupt, Interrupts};

/// The source of further rows, and the signals that end the wait for them.
pub(super) type Rest = (Batches, Interrupts);

impl<S: LeadSender> Pipeline<'_, S> {
    /// Passes everything on; after an early end that includes rows without an outcome. Rows
    /// that an earlier process reached are read from `rest`, so that the results are no
    /// shorter than the last ones; without it the run ends at once.
    pub(super) async fn finish(
        mut self,
        mut rest: Option<Rest>,
        results: Option<&mpsc::Sender<Batch>>,
    ) -> Delivery {
        self.settle_exhausted();
        self.give_up_all();
        self.conclude(rest.as_mut()).await;
        let tried_again = self.keep_tried_again();
        loop {
            self.give_up_doubtful();
            while let Some(batch) = self.window.take_front() {
                self.pass_on(batch, results, rest.as_mut()).await;
            }
            let Some((batches, interrupts)) = &mut rest else {
                break;
            };
            // Rows that cannot be written would only fill the memory.
            if !self.progress.is_shorter()
                || self.progress.is_read
                || self.commits.has_failed
                || interrupts.take() == Some(Interrupt::Signal)
            {
                break;
            }
            let rows = batches.next().await;
            self.receive(rows);
        }
        self.commit_all(rest.as_mut()).await;
        self.ending.stopped_at.sort_unstable();
        let has_all_rows = self.progress.is_read && !self.progress.has_lost_rows;
        Delivery {
            rows_total: has_all_rows.then_some(self.progress.last_read.0),
            last_read: self.progress.last_read,
            is_shorter: self.progress.is_shorter(),
            stop: self.ending.stop,
            requests: self.in_flight.requests,
            is_written_down: !self.commits.has_failed,
            stopped_at: self.ending.stopped_at,
            tried_again,
            writer: self.commits.writer,
        }
    }

    /// Decides whether the run ended early and reports why; takes a stop back if every row had
    /// its turn after all.
    async fn conclude(&mut self, rest: Option<&mut Rest>) {
        if self.ending.may_be_whole()
            && self.window.open() == 0
            && let Some((batches, _)) = rest
        {
            if !self.progress.is_read {
                let rows = batches.next().await;
                self.receive(rows);
            }
            if self.progress.is_read {
                self.ending.take_back();
            }
        }
        let news = self.ending.report();
        self.report_stop(news);
        let takes_others = self.stops.takes_others(&self.ending.refused);
        self.ending.conclude(takes_others);
    }

    fn give_up_all(&mut self) {
        for (_, flight) in std::mem::take(&mut self.in_flight.flights) {
            self.settle(&flight.job, flight.job.abandoned());
        }
        let scheduled = self.schedule.take(None).into_iter();
        for job in scheduled.chain(self.commits.claims.take_unstarted()) {
            self.give_up(job);
        }
        self.give_up_suspects(None);
        let deferred = std::mem::take(&mut self.schedule.deferred).into_keys();
        let released = std::mem::take(&mut self.schedule.gates.first);
        for slot in deferred.chain(released) {
            if let Some(job) = self.new_job(slot).filter(|job| job.was_refused) {
                self.ending
                    .stopped_at
                    .push((job.claim.file, job.claim.line));
            }
        }
    }

    /// Rejected rows are tried again by the next start if a stop for rows rejected alike has counted
    /// them, or if the start was stopped before it was known that the rows are the reason.
    fn keep_tried_again(&mut self) -> Vec<RowId> {
        if !self.ending.is_stopping() {
            // They were the last ones, so nothing was stopped.
            self.keep_rejected(None);
            return Vec::new();
        }
        self.progress.reasons.open.keys().copied().collect()
    }

    /// Rows that this process did not reach, and of which an earlier attempt may have been
    /// taken.
    fn give_up_doubtful(&mut self) {
        for slot in self.window.doubtful() {
            if let Some(outcome) = self.new_job(slot).and_then(|mut job| job.uncertain()) {
                self.give(slot, outcome);
            }
        }
    }

    async fn pass_on(
        &mut self,
        batch: Batch,
        results: Option<&mpsc::Sender<Batch>>,
        rest: Option<&mut Rest>,
    ) {
        if self.commits.has_ledger() {
            if !self.commits.has_room() {
                self.submit_and_wait(rest).await;
            }
            self.commits.batches.push(batch);
        } else if let Some(results) = results
            && results.send(batch).await.is_err()
        {
            self.stop_without_results();
        }
    }

    /// Writes everything to disk: the commit under way, what was added meanwhile, and once
    /// more what could not be written, since the disk may have room by now.
    async fn commit_all(&mut self, mut rest: Option<&mut Rest>) {
        self.submit_and_wait(rest.as_deref_mut()).await;
        self.commits.retry();
        self.await_commit(rest).await;
    }

    async fn submit_and_wait(&mut self, mut rest: Option<&mut Rest>) {
        self.await_commit(rest.as_deref_mut()).await;
        let known = self.service.rate.known();
        self.commits.submit(self.progress.counts, known, true);
        self.await_commit(rest).await;
    }

    /// Waits for the commit under way. After a signal a ledger that is out of
    /// reach is not waited for much longer, and after another one not at all.
    async fn await_commit(&mut self, rest: Option<&mut Rest>) {
        let mut interrupts = rest.map(|(_, interrupts)| interrupts);
        while self.commits.is_busy {
            let interrupted = async {
                match &mut interrupts {
                    Some(interrupts) => interrupts.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                committed = self.commits.committed() => self.take_committed(committed),
                interrupt = interrupted => {
                    self.commits.end_lease(self.ending.is_interrupted);
                    self.ending.is_interrupted |= interrupt == Interrupt::Signal;
                }
            }
        }
    }
}
