//! Reads numbers on several threads and keeps the input order.
//!
//! One thread splits the inputs into batches of rows and sends them in turn to the threads that
//! read the numbers: batch `n` goes to thread `n` modulo the number of threads. The batches are
//! received from the threads in the same turn, so keeping the order needs neither sequence numbers
//! nor waiting lists. All channels are bounded: reading waits whenever the next stage waits, and a
//! file of any size takes little memory.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::batches::{Message, received};
use super::numbers::{NumberReader, Reading, cut_off};
use super::{Intake, PlannedInput, PreparedRow, Purpose};
use crate::exit::Failure;
use crate::screen::Evidence;
use crate::simulation;
use crate::source::{RowBatch, RowBudget};

/// How many bytes rows take, from when they were read until they are in the results, of the 64 MiB
/// that a run may use apart from its numbers. Fewer batches than the stages may hold, where rows
/// are long.
const MAX_BYTES: usize = 14 << 20;
/// What each column of an input takes of that: its name, what is sent of it, examples.
const COLUMN_BYTES: usize = 512;
const LEAST_BYTES: usize = 2 << 20;

/// How many batches may wait in front of each thread, and after it.
const BATCHES_AHEAD: usize = 2;

/// More threads do not help: the next stage handles the rows one by one.
const MAX_THREADS: usize = 4;

pub(super) struct Readings {
    threads: Vec<Receiver<Message<ReadBatch>>>,
    turn: usize,
    has_ended: bool,
    inputs: Arc<[PlannedInput]>,
    evidence: Vec<Evidence>,
    pub(super) budget: Arc<RowBudget>,
}

pub(super) struct ReadBatch {
    pub(super) rows: RowBatch,
    pub(super) readings: Vec<Reading>,
    evidence: Evidence,
    /// Whether the input ends, without a line end, in the number of the last row.
    ends_in_number: bool,
}

impl Readings {
    /// Starts the threads. Dropping the readings ends them.
    pub(super) fn start(intake: &Intake, purpose: Purpose) -> Readings {
        let numbers = NumberReader::new(intake.clone());
        let count = thread::available_parallelism().map_or(1, usize::from);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..count.min(MAX_THREADS))
            .map(|_| sync_channel(simulation::room(BATCHES_AHEAD)))
            .unzip();
        let columns = intake.inputs.iter().map(|input| input.header.names.len());
        let left = MAX_BYTES.saturating_sub(COLUMN_BYTES * columns.sum::<usize>());
        let budget = RowBudget::new(left.max(LEAST_BYTES));
        let (reading, of) = (intake.clone(), Arc::clone(&budget));
        simulation::thread(move || send_in_turn(&reading, purpose, &of, &senders));
        let threads = receivers
            .into_iter()
            .map(|rows| {
                let (done, read) = sync_channel(simulation::room(BATCHES_AHEAD));
                let numbers = numbers.clone();
                simulation::thread(move || read_numbers(numbers, &rows, &done));
                read
            })
            .collect();
        Readings {
            threads,
            turn: 0,
            has_ended: false,
            inputs: Arc::clone(&intake.inputs),
            evidence: vec![Evidence::default(); intake.inputs.len()],
            budget,
        }
    }
}

impl Iterator for Readings {
    type Item = Result<ReadBatch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let mut batch = received(self.threads[self.turn].recv().ok());
        self.turn = (self.turn + 1) % self.threads.len();
        self.has_ended = !matches!(batch, Some(Ok(_)));
        match &mut batch {
            Some(Ok(batch)) => {
                self.budget.arrived();
                let evidence = std::mem::take(&mut batch.evidence);
                let file = batch.rows.file();
                self.evidence[file].add(evidence);
                batch.hold_cut_number(&self.evidence[file]);
            }
            Some(Err(_)) => {}
            None => {
                let inputs = self.inputs.iter().zip(self.evidence.drain(..));
                inputs.for_each(|(planned, evidence)| planned.set_evidence(evidence));
            }
        }
        batch
    }
}

impl ReadBatch {
    /// Holds the last number of a list back if the list seems to end in the middle of it.
    /// `evidence` is that of the whole list.
    fn hold_cut_number(&mut self, evidence: &Evidence) {
        if !self.ends_in_number {
            return;
        }
        let Some(row) = self.rows.rows().last() else {
            return;
        };
        let cell = row.text(row.len() - 1).unwrap_or_default();
        if let Some(last) = self.readings.last_mut()
            && let Reading::Number(number, _) = last
            && evidence.lengths.show_cut(*number, cell)
        {
            *last = Reading::NoNumber(Box::new(cut_off(cell)));
        }
    }
}

fn send_in_turn(
    intake: &Intake,
    purpose: Purpose,
    budget: &Arc<RowBudget>,
    threads: &[SyncSender<Message<RowBatch>>],
) {
    let mut turns = threads.iter().cycle();
    // Without a receiver the run is over anyway.
    let mut send = |message| turns.next().is_some_and(|turn| turn.send(message).is_ok());
    let ended = intake.read(purpose, |_, rows| {
        send(Ok(Some(rows.within(budget, size_of::<PreparedRow>()))))
    });
    send(ended.map(|()| None).map_err(Failure::from));
}

fn read_numbers(
    mut numbers: NumberReader,
    batches: &Receiver<Message<RowBatch>>,
    done: &SyncSender<Message<ReadBatch>>,
) {
    while let Ok(message) = batches.recv() {
        let read = message.map(|rows| rows.map(|rows| read_batch(&mut numbers, rows)));
        if done.send(read).is_err() {
            return;
        }
    }
}

fn read_batch(numbers: &mut NumberReader, rows: RowBatch) -> ReadBatch {
    let inputs = Arc::clone(&numbers.intake.inputs);
    let planned = &inputs[rows.file()];
    let readings = rows.rows().map(|row| numbers.read(planned, row)).collect();
    ReadBatch {
        ends_in_number: numbers.ends_in_number(),
        rows,
        readings,
        evidence: numbers.take_evidence(),
    }
}
