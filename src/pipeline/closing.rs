//! The end of a run: everything is handed on, and nothing that may be a call is hidden.

use tokio::sync::mpsc;

use super::attempt::Job;
use super::{End, LeadSender, Pipeline, claim};
use crate::exit::StoppedBy;
use crate::intake::{Batch, Batches};
use crate::lead::Status;
use crate::signals::{Interrupt, Interrupts};
use crate::stop::{Stop, StopReason};

/// Where more rows come from, and what makes an end of waiting for them.
pub(super) type Rest = (Batches, Interrupts);

impl<S: LeadSender> Pipeline<'_, S> {
    /// Hands everything on: after an early end, rows without an outcome too. Rows that an
    /// earlier process has come to are read from the `rest`, so that the results are no
    /// shorter than the last ones; without it the end is to come at once.
    pub(super) async fn finish(
        mut self,
        mut rest: Option<Rest>,
        writer: Option<&mpsc::Sender<Batch>>,
    ) -> End {
        if self.stop.is_none() {
            self.reject_aside(|_| true);
        }
        self.settle_exhausted();
        self.give_up_all();
        self.conclude(rest.as_mut()).await;
        loop {
            self.give_up_doubtful();
            while let Some(batch) = self.window.take_front() {
                self.pass_on(batch, writer).await;
            }
            let is_done = self.last_read >= self.read_to || self.exhausted;
            let Some((batches, interrupts)) = &mut rest else {
                break;
            };
            // What cannot be written down would only fill the memory.
            if is_done || self.commits.have_failed() || interrupts.take() == Some(Interrupt::Signal)
            {
                break;
            }
            let rows = batches.next().await;
            self.receive(rows);
        }
        self.close_books().await;
        End {
            rows_total: self.rows_total(),
            last_read: self.last_read,
            is_shorter: self.last_read < self.read_to,
            stop: self.stop,
            requests: self.requests,
            is_written_down: !self.commits.have_failed(),
            writer: self.commits.into_keeper(),
        }
    }

    /// Says why the run ends early, where that is not known yet, or takes it back where it
    /// has not.
    async fn conclude(&mut self, rest: Option<&mut Rest>) {
        if self.may_be_whole()
            && let Some((batches, _)) = rest
        {
            if !self.exhausted {
                let rows = batches.next().await;
                self.receive(rows);
            }
            if self.exhausted {
                self.stop = None;
                self.refused.clear();
            }
        }
        self.tell_stop();
        if !self.refused.is_empty() {
            let others_were_sent = self.stop.is_none() && self.counts.of(Status::Created) > 0;
            let refused = Stop::new(StopReason::Campaigns {
                refused: std::mem::take(&mut self.refused),
                others_were_sent,
            });
            self.stop = Some(Stop::both(self.stop.take(), refused));
        }
    }

    /// Rows that were rejected alike are no reason to stop when they were the last ones, of
    /// the run or of their campaign: then all that was read has had its turn.
    fn may_be_whole(&self) -> bool {
        let of_campaigns = self.refused.iter().map(|(_, stop)| stop);
        let mut stops = self.stop.iter().chain(of_campaigns);
        let are_rejections = stops.all(|stop| stop.by() == StoppedBy::Rejections);
        are_rejections && !self.has_given_up && self.window.open() == 0
    }

    /// Nothing is awaited any more.
    fn give_up_all(&mut self) {
        for flight in std::mem::take(&mut self.in_flight).into_values() {
            self.settle(&flight.job, flight.job.abandoned());
        }
        let aside = std::mem::take(&mut self.aside).into_iter();
        let mut jobs: Vec<Job> = aside.map(|(job, _)| job).collect();
        jobs.extend(self.next_job.take());
        jobs.append(&mut self.queue.drain());
        jobs.append(&mut self.gates.drain());
        jobs.append(&mut self.commits.take_unstarted());
        for job in jobs {
            self.give_up(job);
        }
    }

    /// Rows that this process has not come to, but may have been taken earlier.
    fn give_up_doubtful(&mut self) {
        for slot in self.window.doubtful() {
            let outcome = self.window.get(slot).and_then(|(row, prepared)| {
                let claim = claim(row, prepared)?;
                Job::new(slot, claim, prepared.earlier.as_deref()).uncertain()
            });
            if let Some(outcome) = outcome {
                self.give(slot, outcome);
            }
        }
    }

    /// Hands a batch to whoever writes it.
    async fn pass_on(&mut self, batch: Batch, writer: Option<&mpsc::Sender<Batch>>) {
        if self.commits.are_kept() {
            if !self.commits.have_room() {
                self.write_down_and_wait().await;
            }
            self.commits.enqueue_after_commit(batch);
        } else if let Some(writer) = writer
            && writer.send(batch).await.is_err()
        {
            self.stop(Stop::new(StopReason::ResultsEnded));
        }
    }

    /// Brings everything to disk: what is under way, what has come up meanwhile, and once
    /// more what could not be written; there may be room by now.
    async fn close_books(&mut self) {
        self.write_down_and_wait().await;
        self.commits.retry();
        self.await_books().await;
    }

    async fn write_down_and_wait(&mut self) {
        self.await_books().await;
        self.commits.hand_over(self.counts, self.rate.known(), true);
        self.await_books().await;
    }

    async fn await_books(&mut self) {
        if self.commits.are_busy() {
            let committed = self.commits.committed().await;
            self.take_committed(committed);
        }
    }
}
