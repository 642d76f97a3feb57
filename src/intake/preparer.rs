//! What can be decided about a row from the row itself and the rows before it.

use std::sync::Arc;

use super::numbers::Reading;
use super::readings::ReadBatch;
use super::{Batch, Intake, Once, PreparedRow};
use crate::campaign::{CampaignBook, CampaignKey, RowCampaign};
use crate::lead::{RowOutcome, Status};
use crate::mapping::Mapping;
use crate::screen::{FirstRows, Listing, SuppressionLists};
use crate::simulation::{Fault, is_planted};
use crate::source::Row;
use crate::text::file_name;

/// The outcome of a row whose number is on a do-not-call list, or marked by its own list.
pub fn suppressed(listing: Listing<'_>) -> RowOutcome {
    // Results go to others too, to whom a path of this computer says nothing.
    let listing = match listing {
        Listing::List { name, line } => {
            let name = file_name(name);
            Listing::List { name, line }
        }
        Listing::Marked {
            kind,
            column,
            line,
            input,
        } => Listing::Marked {
            kind,
            column,
            line,
            input: input.map(file_name),
        },
        kept @ Listing::Kept(_) => kept,
    };
    RowOutcome::not_sent(Status::Suppressed, None, Some(listing.text()))
}

pub(super) struct Preparer {
    book: CampaignBook,
    /// The campaign of rows in inputs that have no campaign column.
    default_campaign: Result<RowCampaign, RowOutcome>,
    suppression: Arc<SuppressionLists>,
    first_rows: FirstRows,
    allow_duplicates: bool,
    once: Once,
}

impl Preparer {
    pub(super) fn new(mut book: CampaignBook, intake: &Intake) -> Preparer {
        Preparer {
            default_campaign: book.of(None),
            book,
            suppression: Arc::clone(&intake.suppression),
            first_rows: FirstRows::default(),
            allow_duplicates: intake.allow_duplicates,
            once: intake.once,
        }
    }

    pub(super) fn prepare(&mut self, mapping: &Mapping, batch: ReadBatch) -> Batch {
        let ReadBatch { rows, readings, .. } = batch;
        if let (None, Ok(campaign)) = (mapping.campaign_column, &self.default_campaign) {
            let numbers = readings.iter().filter_map(Reading::number);
            self.first_rows.warm(self.scope(campaign.key), numbers);
        }
        let prepared = rows
            .rows()
            .zip(readings)
            .map(|(row, reading)| self.prepare_row(mapping, row, reading))
            .collect();
        Batch { rows, prepared }
    }

    fn prepare_row(&mut self, mapping: &Mapping, row: Row<'_>, reading: Reading) -> PreparedRow {
        let mut prepared = PreparedRow::default();
        prepared.outcome = self.decide(mapping, row, reading, &mut prepared).err();
        prepared
    }

    /// The scope in which a number must not repeat: the campaign, or the whole service.
    fn scope(&self, campaign: CampaignKey) -> CampaignKey {
        match self.once {
            Once::Campaign => campaign,
            Once::Service => CampaignKey(0),
        }
    }

    /// Fills in what the row holds. Returns the outcome as an error if the row is not sent.
    fn decide(
        &mut self,
        mapping: &Mapping,
        row: Row<'_>,
        reading: Reading,
        prepared: &mut PreparedRow,
    ) -> Result<(), RowOutcome> {
        let misshapen = matches!(reading, Reading::Misshapen(_));
        // If the cells of a row may have shifted, none of them is believed.
        let campaign = match mapping.campaign_column {
            Some(_) if misshapen => None,
            Some(column) => Some(self.book.of(Some(row.text(column).unwrap_or_default()))),
            None => Some(self.default_campaign.clone()),
        };
        // Filled in even if the row's number is wrong.
        prepared.campaign = campaign
            .as_ref()
            .and_then(|campaign| campaign.as_ref().ok()?.id);
        let (phone, kind) = match reading {
            Reading::Misshapen(outcome) | Reading::NoNumber(outcome) => return Err(*outcome),
            Reading::Excluded(number) => {
                prepared.phone = number;
                let why = mapping.hides(row).then(|| text!("hidden in the sheet"));
                return Err(RowOutcome::not_sent(Status::Excluded, None, why));
            }
            Reading::Number(phone, kind) => (phone, kind),
        };
        prepared.phone = Some(phone);
        prepared.kind = Some(kind);
        let campaign = match campaign {
            Some(campaign) => campaign?,
            None => return Ok(()),
        };
        if let Some(listing) = self.suppression.find(phone) {
            return Err(suppressed(listing));
        }
        if self.allow_duplicates || is_planted(Fault::SendRepeated) {
            return Ok(());
        }
        let scope = self.scope(campaign.key);
        let Some(first) = self.first_rows.record(scope, phone, row.id()) else {
            return Ok(());
        };
        let first = first.to_string();
        let text = match self.once {
            Once::Campaign => text!("same number and campaign as row {first}", first),
            Once::Service => text!("same number as row {first}", first),
        };
        Err(RowOutcome::not_sent(Status::Repeated, None, Some(text)))
    }
}
