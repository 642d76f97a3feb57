//! From inputs to rows that are ready to be sent, on a thread of its own.
//!
//! Here `source`, `mapping`, `phone`, `campaign` and `screen` are put together:
//! the code path that sending and a dry run share. Batches go on through a
//! bounded channel, so that a file of any size takes little memory, and reading
//! waits whenever sending does.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use tokio::sync::mpsc;

use crate::campaign::{CampaignBook, CampaignChoice};
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, Status};
use crate::mapping::{Mapping, MappingError, MappingSpec};
use crate::phone::{PhoneNumber, PhoneProblem};
use crate::screen::FirstRows;
use crate::source::{Header, Input, Row, RowBatch, SourceError};

/// More names than this in a campaign column are no campaigns.
const MOST_NAMES: usize = 1000;

/// How many batches may wait between this thread and the next stage.
const BATCHES_AHEAD: usize = 4;

/// An input whose header has been read and fitted to the flags.
#[derive(Debug)]
pub struct PlannedInput {
    /// Where its rows come from.
    pub input: Input,
    /// Its first row.
    pub header: Header,
    /// What is read and sent of the others.
    pub mapping: Mapping,
}

/// Batches as they come from the thread, in input order.
#[derive(Debug)]
pub struct Batches {
    receiver: mpsc::Receiver<Message>,
    has_ended: bool,
}

/// What the thread says. That it is at the end is said, so that a thread that has
/// died is not taken for one that has read everything.
#[derive(Debug)]
enum Message {
    Batch(Batch),
    Failed(SourceError),
    End,
}

impl Batches {
    /// The next batch, or why there is none; nothing at the end.
    pub async fn next(&mut self) -> Option<Result<Batch, SourceError>> {
        if self.has_ended {
            return None;
        }
        let message = self.receiver.recv().await;
        self.take(message)
    }

    /// Batches that are all there already, for tests that stop the clock.
    #[cfg(test)]
    pub(crate) fn ready(batches: Vec<Batch>) -> Batches {
        let (sender, receiver) = mpsc::channel(batches.len() + 1);
        let messages = batches.into_iter().map(Message::Batch);
        for message in messages.chain([Message::End]) {
            sender.try_send(message).unwrap();
        }
        Batches {
            receiver,
            has_ended: false,
        }
    }

    fn take(&mut self, message: Option<Message>) -> Option<Result<Batch, SourceError>> {
        self.has_ended = !matches!(message, Some(Message::Batch(_)));
        match message {
            Some(Message::Batch(batch)) => Some(Ok(batch)),
            Some(Message::Failed(error)) => Some(Err(error)),
            Some(Message::End) => None,
            None => Some(Err(SourceError::BrokeOff)),
        }
    }
}

/// Rows in input order and what is known of each before anything is sent.
#[derive(Debug)]
pub struct Batch {
    /// The rows as read.
    pub rows: RowBatch,
    /// The same rows as prepared.
    pub prepared: Vec<PreparedRow>,
}

/// One row on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRow {
    /// The number to be sent, where the cell held one.
    pub phone: Option<PhoneNumber>,
    /// The campaign, where its id is known.
    pub campaign: Option<CampaignId>,
    /// What became of it; none as long as it is still to be sent.
    pub outcome: Option<RowOutcome>,
}

/// What a run reads and how.
#[derive(Debug, Clone)]
pub struct Intake {
    /// The inputs in the order in which they were named.
    pub inputs: Arc<[PlannedInput]>,
    /// Only so many data rows are read (rejects files aside).
    pub limit: Option<u64>,
    /// Whether numbers that repeat are sent all the same.
    pub allow_duplicates: bool,
}

/// What is wrong with an input before its first row is read.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Its header does not fit the flags.
    #[error(transparent)]
    Mapping(#[from] MappingError),
}

impl PlannedInput {
    /// Reads the header and fits the flags to it.
    pub fn new(input: Input, spec: &MappingSpec) -> Result<PlannedInput, PlanError> {
        let header = input.read()?.read_header()?;
        let mapping = Mapping::plan(input.name(), &header, spec)?;
        Ok(PlannedInput {
            input,
            header,
            mapping,
        })
    }
}

impl Intake {
    /// Reads all inputs to their end for the names (not ids) that stand in their
    /// campaign columns, so that unknown ones can be listed before anything is sent.
    ///
    /// There are few campaigns: the reading ends when more than a thousand names have
    /// been found, which the caller will not find on any list.
    pub fn campaign_names(&self) -> Result<BTreeSet<String>, SourceError> {
        let mut names = BTreeSet::new();
        if self
            .inputs
            .iter()
            .all(|planned| planned.mapping.campaign_column.is_none())
        {
            return Ok(names);
        }
        self.read(|planned, rows| {
            let Some(column) = planned.mapping.campaign_column else {
                return true;
            };
            for row in rows.rows() {
                // A row that cannot be sent needs no campaign, and its cells may
                // have slipped into this column.
                if planned.mapping.misshapen(row).is_some()
                    || phone_number(&planned.mapping, row).is_err()
                {
                    continue;
                }
                let cell = row.text(column).unwrap_or_default();
                if let Ok(Some(CampaignChoice::Name(name))) = CampaignChoice::parse(cell) {
                    names.insert(name);
                }
            }
            names.len() <= MOST_NAMES
        })?;
        Ok(names)
    }

    /// Reads all inputs to their end and counts their rows.
    pub fn count_rows(&self) -> Result<u64, SourceError> {
        let mut count = 0;
        self.read(|_, rows| {
            count += rows.len() as u64;
            true
        })?;
        Ok(count)
    }

    /// Starts the thread. Dropping the batches ends it.
    pub fn start(&self, book: CampaignBook) -> Batches {
        let (batches, receiver) = mpsc::channel(BATCHES_AHEAD);
        let intake = self.clone();
        thread::spawn(move || {
            let mut preparer = Preparer {
                book,
                first_rows: FirstRows::default(),
                allow_duplicates: intake.allow_duplicates,
            };
            let ended = intake.read(|planned, rows| {
                let prepared = rows
                    .rows()
                    .map(|row| preparer.prepare(&planned.mapping, row))
                    .collect();
                let batch = Message::Batch(Batch { rows, prepared });
                batches.blocking_send(batch).is_ok()
            });
            // Where nobody is there to hear it, the run is over anyway.
            let _ = batches.blocking_send(match ended {
                Ok(()) => Message::End,
                Err(error) => Message::Failed(error),
            });
        });
        Batches {
            receiver,
            has_ended: false,
        }
    }

    /// Hands every batch of every input to `take`, until it returns false.
    fn read(
        &self,
        mut take: impl FnMut(&PlannedInput, RowBatch) -> bool,
    ) -> Result<(), SourceError> {
        let mut next = RowId(1);
        for (file, planned) in self.inputs.iter().enumerate() {
            // A rejects file has been through a limit already.
            let limit = match planned.mapping.rejects_form {
                Some(_) => None,
                None => self.limit,
            };
            let mut reader = planned.input.read()?;
            if reader.read_header()? != planned.header {
                return Err(SourceError::Changed {
                    name: planned.input.name().to_owned(),
                });
            }
            loop {
                let mut rows = reader.read_batch(file, next)?;
                if let Some(limit) = limit {
                    let left = limit.saturating_sub(next.0 - 1);
                    rows.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                }
                // Before the last rows are handed on: one that was cut off in the
                // middle is nobody's row.
                if reader.is_at_end() {
                    planned.input.check_unchanged()?;
                }
                if rows.is_empty() {
                    break;
                }
                next = RowId(next.0 + rows.len() as u64);
                if !take(planned, rows) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Makes up its mind about one row after the other.
struct Preparer {
    book: CampaignBook,
    first_rows: FirstRows,
    allow_duplicates: bool,
}

impl Preparer {
    fn prepare(&mut self, mapping: &Mapping, row: Row<'_>) -> PreparedRow {
        let mut prepared = PreparedRow {
            phone: None,
            campaign: None,
            outcome: None,
        };
        prepared.outcome = self.decide(mapping, row, &mut prepared).err();
        prepared
    }

    /// Fills in what the row says, and returns why it is not to be sent.
    fn decide(
        &mut self,
        mapping: &Mapping,
        row: Row<'_>,
        prepared: &mut PreparedRow,
    ) -> Result<(), RowOutcome> {
        let misshapen = mapping.misshapen(row);
        // Of a row whose cells may have shifted, no cell is believed.
        if misshapen.is_some() && mapping.campaign_column.is_some() {
            return misshapen.map_or(Ok(()), Err);
        }
        let cell = mapping
            .campaign_column
            .map(|column| row.text(column).unwrap_or_default());
        let campaign = self.book.of(cell);
        // Said also of rows whose number is wrong.
        prepared.campaign = campaign.as_ref().ok().and_then(|campaign| campaign.id);
        if let Some(outcome) = misshapen {
            return Err(outcome);
        }
        let phone = phone_number(mapping, row)?;
        prepared.phone = Some(phone);
        let campaign = campaign?;
        if self.allow_duplicates {
            return Ok(());
        }
        match self.first_rows.note(campaign.key, phone, row.id()) {
            None => Ok(()),
            Some(first) => Err(RowOutcome::not_sent(
                Status::Repeated,
                None,
                Some(format!("same number and campaign as row {first}")),
            )),
        }
    }
}

/// The number in the first phone column that has a usable one; else what is
/// wrong with the first that is not empty.
fn phone_number(mapping: &Mapping, row: Row<'_>) -> Result<PhoneNumber, RowOutcome> {
    let mut problem = PhoneProblem::Missing;
    for column in &mapping.phone_columns {
        match PhoneNumber::from_e164(row.text(*column).unwrap_or_default()) {
            Ok(number) => return Ok(number),
            Err(found) if problem == PhoneProblem::Missing => problem = found,
            Err(_) => {}
        }
    }
    Err(match problem {
        PhoneProblem::Missing => {
            RowOutcome::invalid(ErrorCode::PhoneMissing, "the row has no phone number")
        }
        PhoneProblem::NotE164 => RowOutcome::invalid(
            ErrorCode::PhoneNotE164,
            "not a number in E.164 form: + and country code, then digits only, 7 to 15 in all",
        ),
    })
}
