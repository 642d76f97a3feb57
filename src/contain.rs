//! Calls a library that panics where it should return an error.
//!
//! The workbook decoder trusts the positions in a file, and the encoder panics when the disk is
//! full. Neither is a bug of this program, so it is reported like any other error, without the text
//! that a panic prints. Rule: only for such calls.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether panics of this thread are expected.
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and returns its result; `None` if it panicked. After a panic, nothing that `work`
/// changes may be used.
///
/// Needs panics that unwind: in a program built with `panic = "abort"` nothing is contained.
pub fn run<T>(work: impl FnOnce() -> T) -> Option<T> {
    quiet_contained_panics();
    let outer = IS_CONTAINED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IS_CONTAINED.set(outer);
    result.ok()
}

/// Runs once per process. From then on panics within [`run`] are not printed. All others go to the
/// previous hook, so none of them is hidden.
fn quiet_contained_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // In a thread that is ending, the flag is already gone.
            if !IS_CONTAINED.try_with(Cell::get).unwrap_or(false) {
                previous(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_the_work_is_no_result_and_the_next_panic_is_shown_again() {
        assert_eq!(run(|| 1), Some(1));
        assert_eq!(run(|| -> u8 { panic!("as a decoder might") }), None);
        assert!(!IS_CONTAINED.get());
    }
}
