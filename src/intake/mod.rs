//! From inputs to rows that are ready to be sent, on threads of its own.
//!
//! Here `source`, `mapping`, `phone`, `campaign` and `screen` are put together:
//! the code path that sending and checking share. One thread reads, some read the
//! numbers, one decides what is to become of each row in input order, one asks
//! the ledger; what they hand on goes through bounded channels, so that a file of any size
//! takes little memory, and reading waits whenever sending does.

mod batches;
mod memory;
mod message;
mod numbers;
mod preparer;
mod readings;
mod recalling;
mod rules;
mod surveyed;

pub use batches::{Batch, Batches, Earlier, PreparedRow};
pub use memory::Memory;
pub use message::IntakeError;
pub use rules::{KnownBad, MemoryRules, OnUncertain, Once};
pub use surveyed::SurveyedInput;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::campaign::{CampaignBook, CampaignChoice, NamesInRows};
use crate::lead::RowId;
use crate::mapping::{Mapping, MappingError, MappingSpec};
use crate::phone::{PhoneReader, Region, RoundNumbers};
use crate::screen::{Doubt, Evidence, SuppressionLists};
use crate::source::{FooterLine, Form, Header, Input, RowBatch, SourceError};
use crate::text::{listed, shortened};
use message::Message;
use numbers::{NumberReader, Reading};
use preparer::Preparer;
use readings::{ReadBatch, Readings};

/// More names than this in a campaign column are no campaigns.
const MAX_NAMES: usize = 1000;

/// How many batches may wait between the reading and the next stage.
const BATCHES_AHEAD: usize = 4;

/// How many rows are looked at before the mapping is made.
const SAMPLE_ROWS: usize = 1000;

/// How many values are kept of each column to be looked at, and how much of each, in
/// characters.
const VALUES: usize = 3;
const LONGEST_VALUE: usize = 200;

/// An input whose form is known and whose header has been fitted to the flags.
#[derive(Debug)]
pub struct PlannedInput {
    /// Where its rows come from.
    pub input: Input,
    /// How it is read.
    pub form: Form,
    /// What its columns are called.
    pub header: Header,
    /// For each column, the first few values that are not empty, each once.
    pub samples: Vec<Vec<String>>,
    /// What is read and sent of each row.
    pub mapping: Mapping,
    /// What its rows say together, once all of them have been read.
    evidence: OnceLock<Evidence>,
    /// What stands below its rows, once all of them have been read.
    footer: OnceLock<Vec<FooterLine>>,
}

/// The country of numbers in national form, where a row names none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenRegion {
    /// The country.
    pub region: Region,
    /// Who says so, in words: `--region`, or a profile.
    pub from: String,
}

impl GivenRegion {
    /// Whether it was typed with this command.
    pub fn is_typed(&self) -> bool {
        self.from.starts_with('-')
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

/// What a run reads and how.
#[derive(Debug, Clone)]
pub struct Intake {
    /// The inputs in the order in which they were named.
    pub inputs: Arc<[PlannedInput]>,
    /// Only so many data rows are read (rejects files aside).
    pub limit: Option<u64>,
    /// What makes a phone number.
    pub phones: PhoneReader,
    /// The country of numbers in national form, where a row names none.
    pub region: Option<GivenRegion>,
    /// Whether numbers that it completes may be doubtful.
    pub doubts: bool,
    /// The region of the run that wrote rejects among the inputs, where that is known.
    pub doubted: Option<Region>,
    /// What is doubtful of these; none before all of them have been looked at.
    pub doubt: Option<Arc<Doubt>>,
    /// Who is not to be called.
    pub suppression: Arc<SuppressionLists>,
    /// Whether numbers that repeat are sent all the same.
    pub allow_duplicates: bool,
    /// How often a number is sent otherwise.
    pub once: Once,
}

/// What rows are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Each number comes with its kind, and many rows at a time.
    Checking,
    /// Few rows at a time: a batch is written down when all its rows have an outcome.
    Sending,
}

impl Purpose {
    fn batch_rows(self) -> usize {
        match self {
            Purpose::Checking => 2048,
            Purpose::Sending => 256,
        }
    }
}

impl PlannedInput {
    /// The names of its own columns: of a rejects file those of its input.
    pub fn own_columns(&self) -> Vec<&str> {
        surveyed::own_columns(&self.header, self.mapping.rejects_form.as_ref())
    }

    /// What means a column (from 0) to a flag.
    pub fn flag_text(&self, column: usize) -> String {
        self.mapping.flag_text(&self.header, column)
    }

    /// Its phone columns, each as a flag would name it.
    pub fn phone_column_names(&self) -> Vec<String> {
        let columns = self.mapping.phone_columns.iter();
        columns.map(|column| self.flag_text(*column)).collect()
    }

    /// The columns that a kept mapping does not send because it does not know them, each as a
    /// flag would name it.
    pub fn new_columns(&self) -> Vec<String> {
        let new = self.mapping.since_saved.new_columns.iter();
        new.map(|column| self.flag_text(*column)).collect()
    }

    /// The same as a sentence lists them; nothing where there are none.
    pub fn new_columns_listed(&self) -> Option<String> {
        let new = self.mapping.since_saved.new_columns.iter().copied();
        let has_header = |column: &usize| !self.header.names[*column].trim().is_empty();
        let (named, nameless): (Vec<usize>, Vec<usize>) = new.partition(has_header);
        let names: Vec<&String> = named.iter().map(|at| &self.header.names[*at]).collect();
        let numbers: Vec<String> = nameless.iter().map(|at| (at + 1).to_string()).collect();
        let nameless = match numbers.len() {
            0 => None,
            1 => Some(format!("column {} (without a header)", numbers[0])),
            _ => Some(format!("columns {} (without headers)", numbers.join(", "))),
        };
        let named = (!names.is_empty()).then(|| listed(&names));
        let parts: Vec<String> = named.into_iter().chain(nameless).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Fits the flags to the header of an input.
    pub fn new(surveyed: SurveyedInput, spec: &MappingSpec) -> Result<PlannedInput, MappingError> {
        let mapping = surveyed.mapping(spec)?;
        let SurveyedInput {
            input,
            form,
            header,
            sample,
            ..
        } = surveyed;
        let columns = 0..header.names.len();
        Ok(PlannedInput {
            samples: columns.map(|column| values(&sample, column)).collect(),
            input,
            form,
            header,
            mapping,
            evidence: OnceLock::new(),
            footer: OnceLock::new(),
        })
    }

    /// What its rows say together; none until all of them have been read.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.evidence.get()
    }

    /// What stands below its rows and is none of them; nothing until all have been read.
    pub fn footer(&self) -> &[FooterLine] {
        self.footer.get().map_or(&[], Vec::as_slice)
    }
}

/// The first few values of a column that are not empty, each once.
fn values(sample: &RowBatch, column: usize) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for row in sample.rows() {
        let value = row.text(column).unwrap_or_default().trim();
        let value = shortened(value, LONGEST_VALUE);
        if !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
        if values.len() == VALUES {
            break;
        }
    }
    values
}

impl Intake {
    /// The names of the inputs, in order.
    pub fn names(&self) -> Vec<&str> {
        let inputs = self.inputs.iter();
        inputs.map(|planned| planned.input.name()).collect()
    }

    /// Reads all inputs to their end for the names (not ids) that stand in their
    /// campaign columns, and where, so that unknown ones can be listed before anything is
    /// sent.
    ///
    /// There are few campaigns: the reading ends when more than a thousand names have
    /// been found, which the caller will not find on any list.
    pub fn campaign_names(&self) -> Result<NamesInRows, IntakeError> {
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
                // have slipped into this column.
                if !matches!(reading, Reading::Number(..)) {
                    continue;
                }
                let cell = row.text(column).unwrap_or_default();
                if let Ok(Some(CampaignChoice::Name(name))) = CampaignChoice::parse(cell) {
                    names.note(name, row.file(), row.line());
                }
            }
            if names.len() > MAX_NAMES {
                break;
            }
        }
        Ok(names)
    }

    /// The numbers in the first rows of an input, and whether they look as if digits had
    /// been lost.
    pub fn sampled_numbers(&self, planned: &PlannedInput) -> Result<RoundNumbers, SourceError> {
        let mut reader = planned.input.read(&planned.form)?;
        reader.read_header(&planned.form)?;
        let mut numbers = self.sample_reader();
        let mut found = RoundNumbers::default();
        for row in reader.read_sample(SAMPLE_ROWS)?.rows() {
            if let Some(number) = numbers.read(planned, row).number() {
                found.note(number);
            }
        }
        Ok(found)
    }

    /// Reads numbers of samples, which all seem to be of the first input.
    fn sample_reader(&self) -> NumberReader {
        let undoubted = Intake {
            doubt: None,
            ..self.clone()
        };
        NumberReader::new(&undoubted, false)
    }

    /// Reads all inputs to their end to see whether the numbers that the region completes
    /// are of that country, unless there is no region, or nobody wants to know.
    ///
    /// # Errors
    ///
    /// Where an input cannot be read.
    pub fn look_for_doubt(&mut self) -> Result<(), IntakeError> {
        let Some(given) = self.region.as_ref().filter(|_| self.doubts) else {
            return Ok(());
        };
        for batch in Readings::start(self, Purpose::Sending) {
            batch?;
        }
        let inputs = self.inputs.iter();
        let lists: Vec<&Evidence> = inputs.filter_map(PlannedInput::evidence).collect();
        self.doubt = Some(Arc::new(Doubt::of(given.region, &lists)));
        Ok(())
    }

    /// What the first rows of all inputs say together.
    pub fn sampled_evidence(&self) -> Result<Evidence, SourceError> {
        let mut numbers = self.sample_reader();
        for planned in self.inputs.iter() {
            let mut reader = planned.input.read(&planned.form)?;
            reader.read_header(&planned.form)?;
            for row in reader.read_sample(SAMPLE_ROWS)?.rows() {
                numbers.read(planned, row);
            }
        }
        Ok(numbers.take_evidence())
    }

    /// Counts rows of new lists, rejects aside, until there are `enough`.
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

    /// Reads all inputs to their end and counts their rows.
    pub fn count_rows(&self) -> Result<u64, SourceError> {
        let mut count = 0;
        self.read(Purpose::Checking, |_, rows| {
            count += rows.len() as u64;
            true
        })?;
        Ok(count)
    }

    /// Starts the threads; `memory` is asked about every row. Dropping the batches ends
    /// them.
    pub fn start(&self, book: CampaignBook, purpose: Purpose, memory: Option<Memory>) -> Batches {
        let readings = Readings::start(self, purpose);
        let prepared = self.prepare(readings, Preparer::new(book, self));
        if let Some(memory) = memory {
            let (sender, batches) = Batches::channel(1);
            recalling::start(Arc::clone(&self.inputs), memory, prepared, sender);
            return batches;
        }
        let (sender, batches) = Batches::channel(BATCHES_AHEAD);
        thread::spawn(move || {
            for message in prepared {
                let message = message.then(|batch| Ok(vec![batch]));
                // Where nobody is there to hear it, the run is over anyway.
                if sender.blocking_send(message).is_err() {
                    return;
                }
            }
        });
        batches
    }

    /// Batches with what their rows say of themselves, and at last why there are no more.
    fn prepare(
        &self,
        readings: Readings,
        mut preparer: Preparer,
    ) -> impl Iterator<Item = Message<Batch>> + use<> {
        let inputs = Arc::clone(&self.inputs);
        let batches = readings.map(move |batch| match batch {
            Ok(batch) => {
                let mapping = &inputs[batch.rows.file()].mapping;
                Message::Rows(preparer.prepare(mapping, batch))
            }
            Err(error) => Message::Failed(error),
        });
        batches.chain([Message::End])
    }

    /// Hands every batch of every input to `take`, until it returns false.
    fn read(
        &self,
        purpose: Purpose,
        mut take: impl FnMut(&PlannedInput, RowBatch) -> bool,
    ) -> Result<(), SourceError> {
        let mut next = RowId(1);
        let mut left = self.limit.unwrap_or(u64::MAX);
        for (file, planned) in self.inputs.iter().enumerate() {
            // A rejects file has been through a limit already.
            let is_limited = planned.mapping.rejects_form.is_none();
            let mut reader = planned.input.read(&planned.form)?;
            if reader.read_header(&planned.form)? != planned.header {
                return Err(SourceError::Changed {
                    name: planned.input.name().to_owned(),
                });
            }
            loop {
                let mut rows = reader.read_batch(file, next, purpose.batch_rows())?;
                if rows.is_empty() {
                    // It is the same each time, so the first one stays.
                    let _ = planned.footer.set(reader.footer().to_vec());
                }
                if is_limited {
                    rows.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                    left -= rows.len() as u64;
                }
                // Before any of them is handed on: what was read from a file that has
                // changed may be another list, or a row that was cut off in the middle.
                planned.input.check_unchanged()?;
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
