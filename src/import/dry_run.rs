//! Prepares every row without sending it, for `leadload check`
//! and for an import that first shows what it would send.

use super::inputs;
use crate::campaign::CampaignBook;
use crate::event::RunEvent;
use crate::exit::Failure;
use crate::intake::{Batch, Intake, Memory, Purpose};
use crate::lead::{RowOutcome, Status};
use crate::mapping::Mapping;
use crate::rate::{AUTO_MOST, AUTO_START, KnownRate, RateChoice};
use crate::report::{Estimate, Examples, Findings, Listeners, Log, Metrics, Tally, Work};
use crate::settings::ImportSettings;
use crate::source::Row;

pub struct DryRun {
    pub tally: Tally,
    pub findings: Findings,
    pub page: Option<Examples>,
}

/// Prepares all rows, and passes each batch to `take`.
pub async fn run(
    settings: &ImportSettings,
    intake: &Intake,
    book: CampaignBook,
    memory: Option<Memory>,
    page: Option<Examples>,
    log: &Log,
    mut take: impl FnMut(&Batch) -> Result<(), Failure>,
) -> Result<DryRun, Failure> {
    let (inputs, show) = (&intake.inputs, inputs::show(settings));
    let (work, metrics) = (Work::Checking, Metrics::default());
    let mut listeners = Listeners::new(inputs.len(), show, work, log, metrics);
    listeners.page = page;
    if let Some(total) = listeners.wants_total() {
        inputs::count_rows(intake, total);
    }
    let mut findings = Findings::default();
    let mut batches = intake.start(book.clone(), Purpose::Checking, memory);
    while let Some(batch) = batches.next().await {
        let mut batch = batch?;
        for (row, prepared) in batch.rows.rows().zip(&mut batch.prepared) {
            let mapping = &inputs[row.file()].mapping;
            let ready = || RowOutcome::not_sent(Status::Ready, None, None);
            findings.count(mapping, row, prepared, settings.policy.form);
            let outcome = &*prepared.outcome.get_or_insert_with(ready);
            listeners.take(&RunEvent::Settled {
                row,
                phone: prepared.phone,
                campaign: prepared.campaign,
                outcome,
                sent: false,
            });
            if prepared.campaign.is_none()
                && let Some(name) = name(&book, mapping, row)
            {
                let status = outcome.status;
                listeners.tally.count_campaign_name(name, status);
            }
        }
        take(&batch)?;
    }
    listeners.finish();
    Ok(DryRun {
        tally: listeners.tally,
        findings,
        page: listeners.page,
    })
}

/// The name of the row's campaign, if its id is not known. If
/// the cells of the row may have shifted, they are ignored.
fn name(book: &CampaignBook, mapping: &Mapping, row: Row<'_>) -> Option<String> {
    match mapping.campaign_column {
        Some(_) if mapping.shape.misshapen(row).is_some() => None,
        Some(column) => book.name_without_id(Some(row.text(column).unwrap_or_default())),
        None => book.name_without_id(None),
    }
}

impl DryRun {
    pub fn ready(&self) -> u64 {
        self.tally.counts.of(Status::Ready)
    }

    /// How long it takes to send the ready rows; `None` if no limit applies.
    pub fn estimate(&self, rate: &RateChoice, known: Option<KnownRate>) -> Option<Estimate> {
        match (rate, known) {
            (RateChoice::Limits(rates), _) => Estimate::within(rates, self.ready()),
            (RateChoice::Unlimited, _) => None,
            (RateChoice::Auto, Some(known)) => Some(Estimate::as_last_time(known, self.ready())),
            (RateChoice::Auto, None) => {
                Some(Estimate::between(AUTO_START, AUTO_MOST, self.ready()))
            }
        }
    }
}
