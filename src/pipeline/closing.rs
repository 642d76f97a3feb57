//! The end of a run: everything is handed on, and nothing that may be a call is hidden.

use futures::future::FutureExt;
use tokio::sync::mpsc;

use super::attempt::Job;
use super::{End, LeadSender, Pipeline, claim, unwritten};
use crate::intake::{Batch, Batches};

/// Where more rows come from, and what makes an end of waiting for them.
pub(super) type Rest = (Batches, mpsc::Receiver<()>);

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
            self.reject_what_is_aside();
        }
        self.give_up_all();
        loop {
            self.give_up_doubtful();
            while let Some(batch) = self.window.take_front() {
                self.pass_on(batch, writer).await;
            }
            let is_done = self.last_read >= self.reached || self.exhausted;
            let Some((batches, interrupts)) = &mut rest else {
                break;
            };
            // What cannot be written down would only fill the memory.
            if is_done || self.books.have_failed() || interrupts.recv().now_or_never().is_some() {
                break;
            }
            let rows = batches.next().await;
            self.receive(rows);
        }
        self.close_books().await;
        End {
            stop: self.stop,
            requests: self.requests,
            is_written_down: !self.books.have_failed(),
            keeper: self.books.into_keeper(),
        }
    }

    /// A row that is not tried again in this run: it has no outcome, unless some
    /// attempt may have been taken. Saying nothing of that would hide a call.
    pub(super) fn give_up(&mut self, mut job: Job) {
        match job.uncertain() {
            Some(outcome) => self.settle(&job, outcome),
            None => self.books.release(job.claim.row),
        }
    }

    /// Nothing is awaited any more.
    fn give_up_all(&mut self) {
        for job in std::mem::take(&mut self.in_flight).into_values() {
            self.settle(&job, job.abandoned());
        }
        let aside = std::mem::take(&mut self.aside).into_iter();
        let mut jobs: Vec<Job> = aside.map(|(job, _)| job).collect();
        jobs.append(&mut self.queue.drain());
        jobs.append(&mut self.books.take_unstarted());
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
        if self.books.are_kept() {
            if !self.books.have_room() {
                self.write_down_and_wait().await;
            }
            self.books.put_behind(batch);
        } else if let Some(writer) = writer
            && writer.send(batch).await.is_err()
        {
            self.stop(unwritten());
        }
    }

    /// Brings everything to disk: what is under way, what has come up meanwhile, and once
    /// more what could not be written; there may be room by now.
    async fn close_books(&mut self) {
        self.write_down_and_wait().await;
        self.books.retry();
        self.await_books().await;
    }

    async fn write_down_and_wait(&mut self) {
        self.await_books().await;
        self.books.hand_over(self.counts, true);
        self.await_books().await;
    }

    async fn await_books(&mut self) {
        if self.books.are_busy() {
            let committed = self.books.committed().await;
            self.take_committed(committed);
        }
    }
}
