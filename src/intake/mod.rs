//! Turns inputs into rows that are ready to be sent, on its own threads.
//!
//! This module combines `source`, `mapping`, `phone`, `campaign` and `screen`: sending and checking
//! share this code path. One thread reads rows, several read the rows' numbers (`readings`,
//! `numbers`), one decides about each row in input order (`preparer`), and one looks rows up in the
//! ledger (`lookup`, `memory`). The channels between them are bounded: a file of any size takes
//! little memory, and reading waits whenever sending waits.
//!
//! The stages and this file import each other, because each stage is built from an [`Intake`].

mod batches;
mod input;
mod lookup;
mod memory;
mod named_runs;
mod numbers;
mod preparer;
mod readings;
mod rules;
mod sheets;
mod survey;
#[cfg(test)]
mod tests;

pub use batches::{Batch, Batches, Earlier, PreparedRow};
pub use input::{InspectedInput, PlannedInput};
pub use memory::{Memory, not_sent_again};
pub use named_runs::{NamedRow, NamedRuns};
pub use preparer::suppressed;
pub use rules::{ByOthers, KnownBad, MemoryRules, OnUncertain, Once};
pub use sheets::RowCounts;
pub use survey::{ColumnSurvey, ColumnValue, SurveyedColumn};

use std::fmt;
use std::sync::Arc;

use crate::campaign::{CampaignBook, CampaignChoice, NamesInRows};
use crate::exit::Failure;
use crate::lead::{RowId, RowOutcome};
use crate::ledger::RunRecord;
use crate::phone::{PhoneNumber, PhoneRules, Region, RoundNumbers};
use crate::screen::{Doubt, Evidence, MarkedNumbers, SuppressionLists};
use crate::simulation;
use crate::source::{RowBatch, SourceError};
use numbers::{NumberReader, Reading};
use preparer::Preparer;
use readings::{ReadBatch, Readings};

const MAX_NAMES: usize = 1000;

const BATCHES_AHEAD: usize = 4;

const SAMPLE_ROWS: usize = 1000;

/// The country of numbers in national form, for rows that name no country.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenRegion {
    pub region: Region,
    /// The setting that it comes from, as text: `--region`, or a profile.
    pub from: String,
}

impl GivenRegion {
    pub fn is_typed(&self) -> bool {
        self.from.starts_with('-')
    }
}

impl GivenRegion {
    /// The country's name, and who has set it.
    pub fn in_sentence(&self) -> String {
        let by = if self.is_typed() { "" } else { "set by " };
        format!("{} ({by}{})", self.region.in_sentence(), self.from)
    }
}

impl fmt::Display for GivenRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_typed() {
            write!(f, "{} ({})", self.region, self.from)
        } else {
            write!(f, "{}, set by {} (--region)", self.region, self.from)
        }
    }
}

#[derive(Debug, Clone)]
pub struct Intake {
    pub inputs: Arc<[PlannedInput]>,
    /// How many data rows are read at most, not counting rejects files.
    pub limit: Option<u64>,
    pub phones: PhoneRules,
    pub region: Option<GivenRegion>,
    pub doubts: bool,
    /// The region of the run that wrote the rejects files among the inputs, if it is known.
    pub doubted: Option<Region>,
    /// Which numbers are doubtful; `None` until all inputs have been read.
    pub doubt: Option<Arc<Doubt>>,
    /// Whom the inputs mark as not to be called; empty until all inputs have been read.
    pub marked: Arc<MarkedNumbers>,
    pub suppression: Arc<SuppressionLists>,
    pub allow_duplicates: bool,
    pub once: Once,
    /// The complete runs of the lists at the paths of the inputs, the last one first.
    pub earlier: Arc<[RunRecord]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Large batches.
    Checking,
    /// Small batches: a batch is recorded when all its rows have an outcome.
    Sending,
}

impl Purpose {
    fn batch_rows(self) -> usize {
        match self {
            Purpose::Checking => 2048,
            Purpose::Sending => simulation::batch_rows().unwrap_or(256),
        }
    }
}

impl Intake {
    pub fn names(&self) -> Vec<&str> {
        let inputs = self.inputs.iter();
        inputs.map(|planned| planned.input.name()).collect()
    }

    pub fn has_only_rejects(&self) -> bool {
        let mut inputs = self.inputs.iter();
        inputs.all(|planned| planned.mapping.rejects_form.is_some())
    }

    /// Reads all inputs to the end and returns the names (not ids) in their campaign columns, with
    /// the rows that have them. So unknown names can be listed before anything is sent.
    ///
    /// An account has few campaigns: reading stops after more than a thousand
    /// names, which no list of campaigns has.
    pub fn campaign_names(&self) -> Result<NamesInRows, Failure> {
        let mut names = NamesInRows::default();
        let mut mappings = self.inputs.iter().map(|planned| &planned.mapping);
        if mappings.all(|mapping| mapping.campaign_column.is_none()) {
            return Ok(names);
        }
        for batch in Readings::start(self, Purpose::Sending) {
            let ReadBatch { rows, readings, .. } = batch?;
            let Some(column) = self.inputs[rows.file()].mapping.campaign_column else {
                continue;
            };
            for (row, reading) in rows.rows().zip(readings) {
                // A row that cannot be sent needs no campaign, and its cells may
                // have shifted into this column.
                if !matches!(reading, Reading::Number(..)) {
                    continue;
                }
                let cell = row.text(column).unwrap_or_default();
                if let Ok(Some(CampaignChoice::Name(name))) = CampaignChoice::parse(cell) {
                    names.add(name, row.file(), row.line());
                }
            }
            if names.len() > MAX_NAMES {
                break;
            }
        }
        Ok(names)
    }

    /// Reads the numbers in the first rows of some inputs: whether they look as if digits were
    /// lost, and the evidence about their countries. All rows count as rows of the first input.
    pub fn sampled<'i>(
        &self,
        inputs: impl IntoIterator<Item = &'i PlannedInput>,
    ) -> Result<(RoundNumbers, Evidence), SourceError> {
        let undoubted = Intake {
            doubt: None,
            ..self.clone()
        };
        let mut numbers = NumberReader::new(undoubted);
        let mut round = RoundNumbers::default();
        for planned in inputs {
            let mut reader = planned.input.read(&planned.form)?;
            reader.read_header(&planned.form)?;
            for row in reader.read_sample(SAMPLE_ROWS)?.rows() {
                let number = numbers.read(planned, row).number();
                number.into_iter().for_each(|number| round.record(number));
            }
        }
        Ok((round, numbers.take_evidence()))
    }

    /// Reads all inputs to the end where the first row depends on the last: if the doubt rule
    /// applies to a region, to judge whether the numbers that it completes are of that country, and
    /// if columns say who must not be called, to find all their numbers.
    pub fn look_ahead(&mut self) -> Result<(), Failure> {
        let given = self.region.as_ref().filter(|_| self.doubts);
        let inputs = self.inputs.iter();
        let marks = inputs.map(|list| (list.input.name(), &list.header, &list.mapping));
        let mut marked = MarkedNumbers::new(marks);
        if given.is_none() && marked.columns.is_empty() {
            return Ok(());
        }
        let mut numbers = NumberReader::new(self.clone());
        for batch in Readings::start(self, Purpose::Sending) {
            let ReadBatch { rows, readings, .. } = batch?;
            let planned = &self.inputs[rows.file()];
            for (row, reading) in rows.rows().zip(&readings) {
                let is_whole = !matches!(reading, Reading::Misshapen(_));
                marked.count(&planned.mapping, row, is_whole, || {
                    numbers.all(planned, row)
                });
            }
        }
        if let Some(limit) = self.limit.filter(|_| !marked.columns.is_empty()) {
            self.mark_beyond(limit, &mut marked, &mut numbers)?;
        }
        if let Some(given) = given {
            let inputs = self.inputs.iter();
            let lists: Vec<&Evidence> = inputs.filter_map(PlannedInput::evidence).collect();
            self.doubt = Some(Arc::new(Doubt::of(given.region, &lists)));
        }
        marked.refuse_unclear()?;
        self.marked = Arc::new(marked);
        Ok(())
    }

    /// Somebody in the first rows may be marked in a later one, which is not sent anyway.
    fn mark_beyond(
        &self,
        limit: u64,
        marked: &mut MarkedNumbers,
        numbers: &mut NumberReader,
    ) -> Result<(), SourceError> {
        let all = Intake {
            limit: None,
            ..self.clone()
        };
        let mut seen = 0;
        all.read(Purpose::Checking, |planned, rows| {
            let is_limited = planned.mapping.rejects_form.is_none();
            for row in rows.rows().filter(|_| is_limited) {
                seen += 1;
                if seen > limit {
                    marked.count(&planned.mapping, row, false, || numbers.all(planned, row));
                }
            }
            true
        })
    }

    /// The number of one row of the input `file` (from 0), as it would be read if these were its
    /// cells, or why it has none. Which rows are left out on purpose does not matter.
    ///
    /// Where numbers are in doubt, this is about the list as it was read: look for doubt before.
    pub fn number_of<C: AsRef<[u8]>>(
        &self,
        file: usize,
        cells: &[C],
    ) -> Result<PhoneNumber, RowOutcome> {
        let rows = RowBatch::of_cells(file, RowId(1), cells);
        let row = rows.row(0);
        let planned = &self.inputs[file];
        let misshapen = planned.mapping.shape.misshapen(row);
        misshapen.map_or(Ok(()), Err)?;
        NumberReader::new(self.clone())
            .number(planned, row)
            .map(|read| read.number)
    }

    /// Counts the rows of new lists, not of rejects files. May stop once there are `enough`.
    pub fn count_new_rows(&self, enough: u64) -> Result<u64, SourceError> {
        let all = Intake {
            limit: None,
            ..self.clone()
        };
        let mut count = 0;
        all.read(Purpose::Checking, |planned, rows| {
            if planned.mapping.rejects_form.is_none() {
                count += rows.len() as u64;
            }
            count < enough
        })?;
        Ok(count)
    }

    pub fn count_rows(&self) -> Result<u64, SourceError> {
        let mut count = 0;
        self.read(Purpose::Checking, |_, rows| {
            count += rows.len() as u64;
            true
        })?;
        Ok(count)
    }

    /// Finds out how many rows of each input are blank, unless all rows have been read before.
    pub fn find_blank_rows(&self) -> Result<(), SourceError> {
        let mut inputs = self.inputs.iter();
        if inputs.all(|planned| planned.blank_rows().is_some()) {
            return Ok(());
        }
        self.read(Purpose::Checking, |_, _| true)
    }

    /// Starts the threads. If there is a `memory`, each row is looked up in it. Dropping the
    /// batches ends the threads.
    pub fn start(&self, book: CampaignBook, purpose: Purpose, memory: Option<Memory>) -> Batches {
        let readings = Readings::start(self, purpose);
        let budget = Arc::clone(&readings.budget);
        let mut preparer = Preparer::new(book, self);
        let inputs = Arc::clone(&self.inputs);
        let batches = readings.map(move |batch| {
            let batch = batch?;
            let mapping = &inputs[batch.rows.file()].mapping;
            Ok(Some(preparer.prepare(mapping, batch)))
        });
        let prepared = batches.chain([Ok(None)]);
        if let Some(memory) = memory {
            let (sender, batches) = Batches::channel(simulation::room(1), budget);
            lookup::start(Arc::clone(&self.inputs), memory, prepared, sender);
            return batches;
        }
        let (sender, batches) = Batches::channel(simulation::room(BATCHES_AHEAD), budget);
        simulation::thread(move || {
            for message in prepared {
                let message = message.map(|batch| batch.map(|batch| vec![batch]));
                // Without a receiver the run is over anyway.
                if !simulation::send(&sender, message) {
                    return;
                }
            }
        });
        batches
    }

    /// Passes each batch of each input to `take`, until `take` returns false.
    fn read(
        &self,
        purpose: Purpose,
        mut take: impl FnMut(&PlannedInput, RowBatch) -> bool,
    ) -> Result<(), SourceError> {
        let mut next = RowId(1);
        let mut left = self.limit.unwrap_or(u64::MAX);
        for (file, planned) in self.inputs.iter().enumerate() {
            // The run that wrote a rejects file has already applied the limit.
            let is_limited = planned.mapping.rejects_form.is_none();
            let mut reader = planned.read()?;
            let mut here = 0;
            loop {
                let left_here = if is_limited { left } else { u64::MAX };
                let most = purpose
                    .batch_rows()
                    .min(usize::try_from(left_here).unwrap_or(usize::MAX));
                let rows = reader.read_batch(file, next, most)?;
                if rows.is_empty() {
                    planned.set_footer(reader.footer());
                    planned.set_end(here, reader.blank_rows(), left_here > 0);
                    break;
                }
                let read = rows.len() as u64;
                here += read;
                next = RowId(next.0 + read);
                if is_limited {
                    left -= read;
                }
                if !take(planned, rows) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
