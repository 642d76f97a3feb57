//! The ledger on a thread of its own, for calls beside a run.

use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;

use tokio::sync::oneshot;

use crate::ledger::{Ledger, LedgerError};
use crate::simulation;

/// The thread that owns the ledger meanwhile: committing waits for a disk or a server, and answers
/// must not wait for that.
#[derive(Debug)]
pub struct LedgerThread(Owner);

#[derive(Debug)]
enum Owner {
    Thread(mpsc::Sender<Work>),
    /// A test or a simulation, which has no other threads.
    Here(Box<RefCell<Ledger>>),
}

type Work = Box<dyn FnOnce(&mut Ledger) + Send>;

impl LedgerThread {
    pub fn new(mut ledger: Ledger) -> LedgerThread {
        if cfg!(test) || simulation::is_on() {
            return LedgerThread(Owner::Here(Box::new(RefCell::new(ledger))));
        }
        let (work, waiting) = mpsc::channel::<Work>();
        thread::spawn(move || {
            for work in waiting {
                work(&mut ledger);
            }
        });
        LedgerThread(Owner::Thread(work))
    }

    /// Has work done with the ledger, after all that was given to it before.
    pub async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let thread = match &self.0 {
            Owner::Thread(thread) => thread,
            Owner::Here(ledger) => return work(&mut ledger.borrow_mut()),
        };
        let (answer, answered) = oneshot::channel();
        // Without a receiver nobody waits for it; without the thread the answer is missing.
        let sent = thread.send(Box::new(move |ledger| {
            let _ = answer.send(work(ledger));
        }));
        match sent {
            Ok(()) => answered
                .await
                .unwrap_or_else(|_| Err(LedgerError::broke_off())),
            Err(_) => Err(LedgerError::broke_off()),
        }
    }
}
