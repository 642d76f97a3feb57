//! Asking the ledger about rows, on a thread of its own, as many together as are there.
//!
//! A row by itself is asked about in some microseconds, most of them for reading the page
//! of the ledger on which it stands; of many together, in the order of the ledger, the
//! pages are found faster. So while one thread asks, another gathers. Nothing waits for more
//! to come: where rows leave faster than they are read they are asked about batch by batch.
//! And where they leave more slowly than they are asked about, as when they are sent, few
//! are enough.

use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use tokio::sync::mpsc::Sender;

use super::message::Message;
use super::{Batch, Memory, PlannedInput};

/// With so many rows, or bytes of them, enough have gathered. Four times as much is in
/// memory at most: gathered, asked about, waiting, and being sent.
const MAX_ROWS: usize = 16 * 1024;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// So many rows are enough while others that have been asked about wait to be taken.
const ROWS_AHEAD: usize = 2 * 1024;

/// Starts the two threads. They end when nobody takes the rows any more.
pub(super) fn start(
    inputs: Arc<[PlannedInput]>,
    memory: Memory,
    prepared: impl Iterator<Item = Message<Batch>> + Send + 'static,
    recalled: Sender<Message<Vec<Batch>>>,
) {
    // From hand to hand: what waited in between would not be gathered.
    let (ahead, gathered) = sync_channel(0);
    let waiting = recalled.clone();
    let is_enough = move |batches: &[Batch]| is_enough(batches, waiting.capacity() == 0);
    thread::spawn(move || gather(prepared, is_enough, &ahead));
    thread::spawn(move || recall(&inputs, memory, &gathered, &recalled));
}

fn is_enough(batches: &[Batch], others_wait: bool) -> bool {
    let rows: usize = batches.iter().map(|batch| batch.rows.len()).sum();
    let bytes: usize = batches.iter().map(Batch::size).sum();
    let most_rows = if others_wait { ROWS_AHEAD } else { MAX_ROWS };
    rows >= most_rows || bytes >= MAX_BYTES
}

/// Hands on what there is whenever it is asked for, and waits once that is enough.
fn gather<T>(
    prepared: impl Iterator<Item = Message<T>>,
    is_enough: impl Fn(&[T]) -> bool,
    ahead: &SyncSender<Message<Vec<T>>>,
) {
    let mut gathered = Vec::new();
    for message in prepared {
        match message {
            Message::Rows(batch) => gathered.push(batch),
            ending => {
                // Behind the rows before it. Where nobody is there to hear it, the run is
                // over anyway.
                let ending = ending.then(|_| Ok(Vec::new()));
                let _ = ahead.send(Message::Rows(gathered));
                let _ = ahead.send(ending);
                return;
            }
        }
        let is_enough = is_enough(&gathered);
        let rows = Message::Rows(mem::take(&mut gathered));
        let handed_on = if is_enough {
            ahead.send(rows).map_err(TrySendError::from)
        } else {
            ahead.try_send(rows)
        };
        match handed_on {
            Ok(()) => {}
            Err(TrySendError::Full(Message::Rows(kept))) => gathered = kept,
            Err(_) => return,
        }
    }
}

fn recall(
    inputs: &[PlannedInput],
    mut memory: Memory,
    gathered: &Receiver<Message<Vec<Batch>>>,
    recalled: &Sender<Message<Vec<Batch>>>,
) {
    while let Ok(message) = gathered.recv() {
        let message = message.then(|mut batches| {
            memory.fill_in(inputs, &mut batches)?;
            Ok(batches)
        });
        let is_over = !matches!(message, Message::Rows(_));
        // Where nobody is there to hear it, the run is over anyway.
        if recalled.blocking_send(message).is_err() || is_over {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::IntakeError;
    use crate::source::{RowBatch, SourceError};

    /// What comes of a hundred batches and an ending, each group taken after a pause.
    fn gathered(ending: Message<u32>, pause: fn(usize)) -> Vec<Message<Vec<u32>>> {
        let (ahead, taken) = sync_channel(0);
        let prepared = (0..100).map(Message::Rows).chain([ending]);
        let gathering = thread::spawn(move || gather(prepared, |rows| rows.len() >= 30, &ahead));
        let mut groups = Vec::new();
        while let Ok(group) = taken.recv() {
            groups.push(group);
            pause(groups.len());
        }
        gathering.join().unwrap();
        groups
    }

    fn rows(groups: Vec<Message<Vec<u32>>>) -> Vec<Vec<u32>> {
        let rows = |group| match group {
            Message::Rows(rows) => rows,
            ending => panic!("{ending:?}"),
        };
        groups.into_iter().map(rows).collect()
    }

    #[test]
    fn fewer_rows_are_enough_while_others_wait() {
        let batch = |rows: usize| Batch {
            rows: RowBatch::of_text(&vec![&["+447911000000"][..]; rows]),
            prepared: Vec::new(),
        };
        assert!(!is_enough(&[batch(ROWS_AHEAD - 1)], true));
        assert!(is_enough(&[batch(ROWS_AHEAD - 1), batch(1)], true));
        assert!(!is_enough(&[batch(MAX_ROWS - 1)], false));
        assert!(is_enough(&[batch(MAX_ROWS - 1), batch(1)], false));
    }

    #[test]
    fn what_gathers_comes_in_order_and_never_more_than_is_enough() {
        let pauses: [fn(usize); 2] = [
            |_| {},
            |_| thread::sleep(std::time::Duration::from_millis(5)),
        ];
        for pause in pauses {
            let mut groups = gathered(Message::End, pause);
            assert!(matches!(groups.pop(), Some(Message::End)));
            let groups = rows(groups);
            assert!(groups.iter().all(|group| group.len() <= 30));
            assert_eq!(groups.concat(), (0..100).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn an_error_comes_behind_the_rows_before_it_and_nothing_behind_it() {
        let error = IntakeError::from(SourceError::BrokeOff);
        let mut groups = gathered(Message::Failed(error), |_| {});
        assert!(matches!(groups.pop(), Some(Message::Failed(_))));
        assert_eq!(rows(groups).concat(), (0..100).collect::<Vec<u32>>());
    }

    #[test]
    fn where_nobody_takes_it_the_gathering_ends() {
        let (ahead, taken) = sync_channel(0);
        drop(taken);
        gather((0..).map(Message::Rows), |_: &[u32]| false, &ahead);
    }
}
