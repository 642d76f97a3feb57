//! `leadload import --dry-run`: everything up to sending, and nothing beyond.

use tokio::sync::mpsc;

use crate::campaign::CampaignBook;
use crate::exit::Failure;
use crate::intake::{Batch, Intake};
use crate::lead::{RowOutcome, Status};
use crate::report::RunEvent;
use crate::results::Writer;
use crate::source::SourceError;

/// Checks every row, tells of each, and writes those files that were asked for.
pub fn check(
    intake: &Intake,
    book: CampaignBook,
    writer: &mut Writer,
    mut events: impl FnMut(RunEvent<'_>),
) -> Result<(), Failure> {
    let mut batches: mpsc::Receiver<Result<Batch, SourceError>> = intake.start(book);
    while let Some(batch) = batches.blocking_recv() {
        let mut batch = batch?;
        for (row, prepared) in batch.rows.rows().zip(&mut batch.prepared) {
            let ready = || RowOutcome::not_sent(Status::Ready, None, None);
            let outcome = &*prepared.outcome.get_or_insert_with(ready);
            events(RunEvent::Settled {
                row,
                campaign: prepared.campaign,
                outcome,
            });
        }
        writer.write(&batch)?;
    }
    Ok(())
}
