//! `leadload import --dry-run`: everything up to sending, and nothing beyond.

use crate::campaign::CampaignBook;
use crate::event::RunEvent;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::intake::Intake;
use crate::lead::{RowOutcome, Status};
use crate::results::Writer;

/// Checks every row, tells of each, and writes those files that were asked for.
pub async fn check(
    intake: &Intake,
    book: CampaignBook,
    writer: &mut Writer,
    mut events: impl FnMut(RunEvent<'_>),
) -> Result<(), Failure> {
    let mut batches = intake.start(book);
    while let Some(batch) = batches.next().await {
        let mut batch = batch.or_stopped(StoppedBy::Usage)?;
        for (row, prepared) in batch.rows.rows().zip(&mut batch.prepared) {
            let ready = || RowOutcome::not_sent(Status::Ready, None, None);
            let outcome = &*prepared.outcome.get_or_insert_with(ready);
            events(RunEvent::Settled {
                row,
                campaign: prepared.campaign,
                outcome,
            });
        }
        writer.write(&batch).or_stopped(StoppedBy::Disk)?;
    }
    Ok(())
}
