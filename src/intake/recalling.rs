//! Asking the ledger about rows, on a thread of its own, as many together as are there.
//!
//! A row by itself is asked about in some microseconds, most of them for reading the page
//! of the ledger on which it stands; of many together, in the order of the ledger, the
//! pages are found faster. Nothing waits for more to come: where rows leave faster than
//! they are read they are asked about batch by batch.

use std::iter;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use tokio::sync::mpsc::Sender;

use super::message::Message;
use super::{Batch, Memory, PlannedInput};

/// Starts two threads: one that takes what is prepared, and one that asks about it and
/// sends it on. Both end when nobody takes it any more.
pub(super) fn start(
    inputs: Arc<[PlannedInput]>,
    memory: Memory,
    at_once: usize,
    prepared: impl Iterator<Item = Message<Batch>> + Send + 'static,
    recalled: Sender<Message<Batch>>,
) {
    let (ahead, waiting) = sync_channel(at_once);
    thread::spawn(move || {
        for message in prepared {
            if ahead.send(message).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || recall(&inputs, memory, at_once, &waiting, &recalled));
}

fn recall(
    inputs: &[PlannedInput],
    mut memory: Memory,
    at_once: usize,
    prepared: &Receiver<Message<Batch>>,
    recalled: &Sender<Message<Batch>>,
) {
    while let Ok(first) = prepared.recv() {
        let ready = iter::once(first).chain(prepared.try_iter());
        let mut messages: Vec<Message<Batch>> = ready.take(at_once).collect();
        let batches = messages.iter_mut().filter_map(Message::rows_mut);
        if let Err(error) = memory.fill_in(inputs, &mut batches.collect::<Vec<_>>()) {
            messages = vec![Message::Failed(error.into())];
        }
        for message in messages {
            // Where nobody is there to hear it, the run is over anyway.
            if recalled.blocking_send(message).is_err() {
                return;
            }
        }
    }
}
