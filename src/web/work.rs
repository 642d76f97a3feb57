//! Work for a list, on a thread of its own.
//!
//! Promise: what comes of it is always passed on, also if the work panics or if no thread can be
//! started. Otherwise a page would show for ever that it is being done.

use std::future::Future;
use std::thread;

use crate::exit::{Failure, StoppedBy};
use crate::import::service;
use crate::message::Message;

/// Begins the work, whose result goes to `done`.
pub fn begin<T, F>(
    work: impl FnOnce() -> F + Send + 'static,
    done: impl FnOnce(Result<T, Failure>) + Send + 'static,
) where
    T: 'static,
    F: Future<Output = Result<T, Failure>>,
{
    let ending = Ending(Some(Box::new(done)));
    // If there is no thread, the ending is dropped here.
    let _ = thread::Builder::new().spawn(move || {
        let mut ending = ending;
        let result = service::block_on(work());
        ending.pass_on(result);
    });
}

/// Passes the result on, or when it is dropped, that there is none.
struct Ending<T>(Option<Done<T>>);

type Done<T> = Box<dyn FnOnce(Result<T, Failure>) + Send>;

impl<T> Ending<T> {
    fn pass_on(&mut self, result: Result<T, Failure>) {
        if let Some(done) = self.0.take() {
            done(result);
        }
    }
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        let message = Message::new(
            "something went wrong in leadload itself",
            "try it again; if it happens again, start leadload again",
        );
        self.pass_on(Err(Failure::new(StoppedBy::Input, message)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_result_is_passed_on() {
        let (sender, result) = channel();
        begin(async || Ok(7), move |done| sender.send(done).unwrap());
        assert_eq!(result.recv().unwrap().unwrap(), 7);
        assert!(result.recv().is_err());
    }

    #[test]
    fn work_that_panics_fails() {
        let (sender, result) = channel();
        let work = async || panic!("on purpose");
        begin(work, move |done: Result<(), _>| sender.send(done).unwrap());
        let failure = result.recv().unwrap().unwrap_err();
        assert_eq!(
            failure.message().what,
            "something went wrong in leadload itself"
        );
        assert!(result.recv().is_err());
    }
}
