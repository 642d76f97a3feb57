//! How much memory the rows of one reading take, wherever they are.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Rows pass through many hands, and each of them may hold several batches. A limit for each hand
/// adds up, and one in batches grows with the rows. So a batch has a share of one budget, from when
/// it was read until it is dropped, and the reader waits until there is room for its next batch.
#[derive(Debug)]
pub struct RowBudget {
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    /// Batches that were read and have not arrived.
    on_their_way: usize,
    is_awaited: bool,
}

impl RowBudget {
    pub fn new(most: usize) -> Arc<RowBudget> {
        Arc::new(RowBudget {
            most,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Waits for room for a batch with so many bytes.
    ///
    /// A batch that somebody waits for goes ahead without room if none is on its way. Otherwise
    /// the reader, and somebody who lets go of rows only once there are others, would wait for each
    /// other. So does a batch that is larger than the whole budget, alone.
    pub fn take(self: &Arc<Self>, bytes: usize) -> RowShare {
        let must_wait = |state: &mut State| {
            let has_room = state.taken == 0 || state.taken + bytes <= self.most;
            let is_needed = state.is_awaited && state.on_their_way == 0;
            !has_room && !is_needed
        };
        let state = self.changed.wait_while(self.state(), must_wait);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.taken += bytes;
        state.on_their_way += 1;
        let of = Arc::clone(self);
        RowShare { of, bytes }
    }

    /// A batch has arrived where the threads that read come together.
    pub fn arrived(&self) {
        self.change(|state| state.on_their_way -= 1);
    }

    /// Rows are waited for until what is returned is dropped.
    pub fn awaited(&self) -> Awaited<'_> {
        self.change(|state| state.is_awaited = true);
        Awaited(self)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that holds it only compares and counts.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one batch takes.
#[derive(Debug)]
pub struct RowShare {
    of: Arc<RowBudget>,
    bytes: usize,
}

impl Drop for RowShare {
    fn drop(&mut self) {
        self.of.change(|state| state.taken -= self.bytes);
    }
}

#[derive(Debug)]
pub struct Awaited<'b>(&'b RowBudget);

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.is_awaited = false);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Takes shares of these sizes on another thread, and sends each when it has it.
    fn taking(budget: &Arc<RowBudget>, sizes: &[usize]) -> Receiver<RowShare> {
        let (sender, taken) = channel();
        let (budget, sizes) = (Arc::clone(budget), sizes.to_vec());
        thread::spawn(move || {
            let mut shares = sizes.into_iter().map(|size| budget.take(size));
            shares.all(|share| sender.send(share).is_ok())
        });
        taken
    }

    fn next(taken: &Receiver<RowShare>) -> RowShare {
        taken.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    #[track_caller]
    fn waits(taken: &Receiver<RowShare>) {
        let waited = taken.recv_timeout(Duration::from_millis(50));
        assert_eq!(waited.unwrap_err(), RecvTimeoutError::Timeout);
    }

    #[test]
    fn a_batch_waits_until_there_is_room() {
        let budget = RowBudget::new(100);
        let taken = taking(&budget, &[60, 40, 30]);
        let (first, second) = (next(&taken), next(&taken));
        waits(&taken);
        drop(second);
        let third = next(&taken);
        assert_eq!(budget.state().taken, 90);
        drop((first, third));
        assert_eq!(budget.state().taken, 0);
    }

    #[test]
    fn a_batch_larger_than_all_goes_alone() {
        let budget = RowBudget::new(100);
        let taken = taking(&budget, &[10, 500, 10]);
        let small = next(&taken);
        waits(&taken);
        drop(small);
        let large = next(&taken);
        waits(&taken);
        drop(large);
        next(&taken);
    }

    #[test]
    fn where_more_rows_are_waited_for_before_any_are_let_go_one_batch_after_the_other_comes() {
        let budget = RowBudget::new(100);
        let taken = taking(&budget, &[90, 90, 90]);
        let first = next(&taken);
        waits(&taken);
        let awaited = budget.awaited();
        waits(&taken);
        budget.arrived();
        let second = next(&taken);
        waits(&taken);
        drop(awaited);
        budget.arrived();
        waits(&taken);
        drop((first, second));
        next(&taken);
    }
}
