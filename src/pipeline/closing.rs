//! The end of a run: every row is passed on, and no lead that may exist is hidden.

use tokio::sync::mpsc;

use super::{Delivery, LeadSender, Pipeline};
use crate::intake::{Batch, Batches};
use crate::lead::RowId;
use crate::signals::{Interrupt, Interrupts};

impl<S: LeadSender> Pipeline<'_, S> {
    /// Passes everything on; after an early end that includes rows without an outcome. Rows
    /// that an earlier process reached are read from `rest`, so that the results are no
    /// shorter than the last ones; without it the run ends at once.
    pub(super) async fn finish(
        mut self,
        rest: Option<(Batches, Interrupts)>,
        results: Option<&mpsc::Sender<Batch>>,
    ) -> Delivery {
        let (mut batches, interrupts) = rest.unzip();
        let mut interrupts = interrupts.unwrap_or_else(Interrupts::none);
        self.settle_exhausted();
        self.give_up_all();
        self.conclude(batches.as_mut()).await;
        let tried_again = self.keep_tried_again();
        loop {
            self.give_up_doubtful();
            while let Some(batch) = self.window.take_front() {
                self.pass_on(batch, results, &mut interrupts).await;
            }
            let Some(batches) = &mut batches else {
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
        // Everything goes to disk: the commit under way, what was added meanwhile, and once more what
        // could not be written, since the disk may have room by now.
        self.submit_and_wait(&mut interrupts).await;
        self.commits.retry();
        self.await_commit(&mut interrupts).await;
        self.stop_state.stopped_at.sort_unstable();
        let has_all_rows = self.progress.is_read && !self.progress.has_lost_rows;
        Delivery {
            rows_total: has_all_rows.then_some(self.progress.last_read.0),
            last_read: self.progress.last_read,
            is_shorter: self.progress.is_shorter(),
            stop: self.stop_state.stop,
            requests: self.in_flight.requests,
            is_written_down: !self.commits.has_failed,
            stopped_at: self.stop_state.stopped_at,
            tried_again,
            writer: self.commits.writer,
        }
    }

    /// Decides whether the run ended early and reports why; takes a stop back if every row had
    /// its turn after all.
    async fn conclude(&mut self, batches: Option<&mut Batches>) {
        if self.stop_state.may_be_whole()
            && self.window.open() == 0
            && let Some(batches) = batches
        {
            if !self.progress.is_read {
                let rows = batches.next().await;
                self.receive(rows);
            }
            if self.progress.is_read {
                self.stop_state.take_back();
            }
        }
        let news = self.stop_state.report();
        self.report_stop(news);
        let takes_others = self.stops.takes_others(&self.stop_state.refused);
        self.stop_state.conclude(takes_others);
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
                self.stop_state
                    .stopped_at
                    .push((job.claim.file, job.claim.line));
            }
        }
    }

    /// Rejected rows are tried again by the next start if a stop for rows rejected alike has counted
    /// them, or if the start was stopped before it was known that the rows are the reason.
    fn keep_tried_again(&mut self) -> Vec<RowId> {
        if !self.stop_state.is_stopping() {
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
        interrupts: &mut Interrupts,
    ) {
        if self.commits.has_ledger() {
            if !self.commits.has_room() {
                self.submit_and_wait(interrupts).await;
            }
            self.commits.batches.push(batch);
        } else if let Some(results) = results
            && results.send(batch).await.is_err()
        {
            self.stop_without_results();
        }
    }

    async fn submit_and_wait(&mut self, interrupts: &mut Interrupts) {
        self.await_commit(interrupts).await;
        let known = self.pacer.rate.known();
        self.commits.submit(self.progress.counts, known, true);
        self.await_commit(interrupts).await;
    }

    /// Waits for the commit under way. After a signal a ledger that is out of
    /// reach is not waited for much longer, and after another one not at all.
    async fn await_commit(&mut self, interrupts: &mut Interrupts) {
        while self.commits.is_busy() {
            tokio::select! {
                biased;
                committed = self.commits.committed() => self.take_committed(committed),
                interrupt = interrupts.next() => {
                    self.commits.end_lease(self.stop_state.is_interrupted);
                    self.stop_state.is_interrupted |= interrupt == Interrupt::Signal;
                }
            }
        }
    }
}
