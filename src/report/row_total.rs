//! How many rows there are: counted beside the work, and known some time after it began.

use std::sync::{Arc, OnceLock};

/// The number of rows of all inputs, once somebody has counted them. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct RowTotal(Arc<OnceLock<u64>>);

impl RowTotal {
    /// Says how many there are. The first word counts.
    pub fn set(&self, rows: u64) {
        // Inputs do not change while they are read, or the run ends.
        let _ = self.0.set(rows);
    }

    /// How many there are, where that is known.
    pub fn get(&self) -> Option<u64> {
        self.0.get().copied()
    }
}
