//! Looks rows up in the ledger on its own thread, as many at once as are available.
//!
//! Looking up a single row takes some microseconds, mostly to read its page of the ledger. For many
//! rows at once, in the order of the ledger, the pages are found faster. So while one thread looks
//! rows up, another one gathers the next rows. Neither waits for more rows: if rows are taken
//! faster than they are read, they are looked up batch by batch. If rows are taken more slowly than
//! they are looked up, as when they are sent, few rows at once are enough.

use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use tokio::sync::mpsc::Sender;

use super::batches::Message;
use super::{Batch, Memory, PlannedInput};
use crate::simulation;

/// This many rows, or bytes of rows, are enough. At most four times as much is in memory: gathered,
/// being looked up (with what the ledger knows of them), waiting, and being sent.
const MAX_ROWS: usize = 16 * 1024;
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// This many rows are enough while rows that were looked up wait to be taken.
const ROWS_AHEAD: usize = 2 * 1024;

pub(super) fn start(
    inputs: Arc<[PlannedInput]>,
    memory: Memory,
    prepared: impl Iterator<Item = Message<Batch>> + Send + 'static,
    found: Sender<Message<Vec<Batch>>>,
) {
    // No buffer: rows that wait in a buffer would not be gathered.
    let (ahead, gathered) = sync_channel(simulation::room(0));
    let waiting = found.clone();
    let is_enough = move |batches: &[Batch]| is_enough(batches, waiting.capacity() == 0);
    simulation::thread(move || gather(prepared, is_enough, &ahead));
    simulation::thread(move || look_up(&inputs, memory, &gathered, &found));
}

fn is_enough(batches: &[Batch], others_wait: bool) -> bool {
    let rows: usize = batches.iter().map(|batch| batch.rows.len()).sum();
    let bytes: usize = batches.iter().map(Batch::size).sum();
    let max_rows = if others_wait { ROWS_AHEAD } else { MAX_ROWS };
    rows >= max_rows || bytes >= MAX_BYTES
}

/// Sends the gathered rows whenever the receiver is ready. Once there are enough, waits for it.
fn gather<T>(
    prepared: impl Iterator<Item = Message<T>>,
    is_enough: impl Fn(&[T]) -> bool,
    ahead: &SyncSender<Message<Vec<T>>>,
) {
    let mut gathered = Vec::new();
    for message in prepared {
        match message {
            Ok(Some(batch)) => gathered.push(batch),
            // After the rows before it. Without a receiver the run is over anyway.
            ended => {
                let _ = ahead.send(Ok(Some(gathered)));
                let _ = ahead.send(ended.map(|_| None));
                return;
            }
        }
        let is_enough = is_enough(&gathered);
        let rows = Ok(Some(mem::take(&mut gathered)));
        let sent = if is_enough {
            ahead.send(rows).map_err(TrySendError::from)
        } else {
            ahead.try_send(rows)
        };
        match sent {
            Ok(()) => {}
            Err(TrySendError::Full(Ok(Some(kept)))) => gathered = kept,
            Err(_) => return,
        }
    }
}

fn look_up(
    inputs: &[PlannedInput],
    memory: Memory,
    gathered: &Receiver<Message<Vec<Batch>>>,
    found: &Sender<Message<Vec<Batch>>>,
) {
    while let Ok(message) = gathered.recv() {
        let message = message.and_then(|batches| {
            let Some(mut batches) = batches else {
                return Ok(None);
            };
            memory.fill_in(inputs, &mut batches)?;
            Ok(Some(batches))
        });
        let is_over = !matches!(message, Ok(Some(_)));
        // Without a receiver the run is over anyway.
        if !simulation::send(found, message) || is_over {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::exit::Failure;
    use crate::source::{RowBatch, SourceError};

    /// The groups from a hundred batches and an ending, with a pause after each group is taken.
    fn gathered(ending: Message<u32>, pause: fn(usize)) -> Vec<Message<Vec<u32>>> {
        let (ahead, taken) = sync_channel(0);
        let prepared = (0..100).map(|row| Ok(Some(row))).chain([ending]);
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
            Ok(Some(rows)) => rows,
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
            let mut groups = gathered(Ok(None), pause);
            assert!(matches!(groups.pop(), Some(Ok(None))));
            let groups = rows(groups);
            assert!(groups.iter().all(|group| group.len() <= 30));
            assert_eq!(groups.concat(), (0..100).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn an_error_comes_behind_the_rows_before_it_and_nothing_behind_it() {
        let error = Failure::from(SourceError::broke_off());
        let mut groups = gathered(Err(error), |_| {});
        assert!(matches!(groups.pop(), Some(Err(_))));
        assert_eq!(rows(groups).concat(), (0..100).collect::<Vec<u32>>());
    }

    #[test]
    fn without_a_receiver_gathering_ends() {
        let (ahead, taken) = sync_channel(0);
        drop(taken);
        gather((0..).map(|row| Ok(Some(row))), |_: &[u32]| false, &ahead);
    }
}
