//! How many of the rows that are read have to be sent.
//!
//! Rule: pure. The others (settled before, invalid, on a list) take no time, and lists
//! have stretches of them: in a run that goes on the first part flies by. So the rows read
//! last are taken to be like those to come.

use std::collections::VecDeque;

/// How many rows are looked back on, at least.
const LOOK_BACK: u64 = 10_000;

/// Rows are forgotten in portions of so many, at least.
const PORTION: u64 = 500;

/// The rows read last.
#[derive(Debug, Default)]
pub(super) struct ShareToSend {
    portions: VecDeque<Portion>,
    /// The row up to which they have been counted.
    counted: u64,
}

#[derive(Debug, Default)]
struct Portion {
    rows: u64,
    to_send: u64,
}

impl ShareToSend {
    /// A row had its outcome as soon as it was read. Rows come in order: those between it
    /// and the one before it are to be sent.
    pub(super) fn known(&mut self, row: u64) {
        let Some(rows) = row.checked_sub(self.counted).filter(|rows| *rows > 0) else {
            return;
        };
        self.counted = row;
        self.add(rows, rows - 1);
    }

    /// So many rows have been read by now.
    pub(super) fn read(&mut self, rows: u64) {
        let more = rows.saturating_sub(self.counted);
        if more > 0 {
            self.counted = rows;
            self.add(more, more);
        }
    }

    fn add(&mut self, rows: u64, to_send: u64) {
        match self.portions.back_mut() {
            Some(last) if last.rows < PORTION => {
                last.rows += rows;
                last.to_send += to_send;
            }
            _ => self.portions.push_back(Portion { rows, to_send }),
        }
        let mut all = self.sums().rows;
        while let Some(first) = self.portions.front()
            && all - first.rows >= LOOK_BACK
        {
            all -= first.rows;
            self.portions.pop_front();
        }
    }

    fn sums(&self) -> Portion {
        let add = |sum: Portion, portion: &Portion| Portion {
            rows: sum.rows + portion.rows,
            to_send: sum.to_send + portion.to_send,
        };
        self.portions.iter().fold(Portion::default(), add)
    }

    /// The share, from 0 to 1; all, as long as nothing is known.
    pub(super) fn share(&self) -> f64 {
        let Portion { rows, to_send } = self.sums();
        match rows {
            0 => 1.0,
            rows => to_send as f64 / rows as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_nothing_is_said_of_are_to_be_sent() {
        let mut read = ShareToSend::default();
        assert_eq!(read.share(), 1.0);
        for row in [2, 4, 6] {
            read.known(row);
        }
        read.read(8);
        assert_eq!(read.share(), 5.0 / 8.0);
    }

    #[test]
    fn a_row_that_was_counted_is_not_counted_again() {
        let mut read = ShareToSend::default();
        read.read(10);
        read.known(7);
        read.known(10);
        read.read(3);
        assert_eq!(read.share(), 1.0);
    }

    #[test]
    fn rows_of_long_ago_say_nothing_of_those_to_come() {
        let mut read = ShareToSend::default();
        (1..=50_000).for_each(|row| read.known(row));
        assert_eq!(read.share(), 0.0);
        read.read(60_000);
        assert_eq!(read.share(), 1.0);
        (60_001..=65_000).for_each(|row| read.known(row));
        read.read(70_000);
        assert!((0.4..=0.6).contains(&read.share()), "{}", read.share());
    }
}
