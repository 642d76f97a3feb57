//! The ledger on a thread of its own, for calls beside a run.

use std::sync::mpsc;
use std::thread;

use tokio::sync::oneshot;

use crate::ledger::{Ledger, LedgerError};

/// The thread that owns the ledger meanwhile: committing waits for a disk or a server, and answers
/// must not wait for that.
#[derive(Debug)]
pub struct LedgerThread {
    work: mpsc::Sender<Work>,
}

type Work = Box<dyn FnOnce(&mut Ledger) + Send>;

impl LedgerThread {
    pub fn new(mut ledger: Ledger) -> LedgerThread {
        let (work, waiting) = mpsc::channel::<Work>();
        thread::spawn(move || {
            for work in waiting {
                work(&mut ledger);
            }
        });
        LedgerThread { work }
    }

    /// Has work done with the ledger, after all that was given to it before.
    pub async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let (answer, answered) = oneshot::channel();
        // Without a receiver nobody waits for it; without the thread the answer is missing.
        let sent = self.work.send(Box::new(move |ledger| {
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
