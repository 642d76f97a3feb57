//! An input whose form is known: before and after the flags are applied to its header.

use std::sync::{Arc, OnceLock};

use super::{NamedRuns, RowCounts, SAMPLE_ROWS};
use crate::mapping::{
    Mapping, MappingError, MappingSpec, RejectsForm, SheetRows, rows_above_header,
};
use crate::screen::Evidence;
use crate::source::{FooterLine, Form, Header, Input, ListReader, RowBatch, SourceError};
use crate::text::{listed, shortened};

/// How many values of each column are kept for display, and how many characters of each.
const VALUES: usize = 3;
const LONGEST_VALUE: usize = 200;

/// How many rows a sheet has in Excel, up to version 2003 and since.
const FULL_SHEETS: [u64; 2] = [65_536, 1_048_576];

#[derive(Debug, Clone)]
pub struct InspectedInput {
    pub input: Input,
    pub form: Form,
    pub header: Header,
    pub sample: RowBatch,
    /// Where its rows are from, if it is a rejects file.
    pub rejects: Option<Arc<NamedRuns>>,
    /// The visible sheets with phone numbers, if nobody has said which one is meant. The first of
    /// them is this one.
    pub sheets: Vec<SheetRows>,
    pub counts: RowCounts,
}

impl InspectedInput {
    /// The first few distinct values of a column that are not empty.
    pub fn examples(&self, column: usize) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for row in self.sample.rows() {
            let value = row.text(column).unwrap_or_default().trim();
            let value = shortened(value, LONGEST_VALUE);
            if !value.is_empty() && !values.contains(&value) {
                values.push(value);
            }
            if values.len() == VALUES {
                break;
            }
        }
        // There may be many columns with a value each.
        values.shrink_to_fit();
        values
    }

    pub(super) fn in_form(input: Input, mut form: Form) -> Result<InspectedInput, SourceError> {
        let (mut header, mut sample) = beginning(&input, &form)?;
        if form.has_header {
            form.above = rows_above_header(&header, &sample);
        }
        if form.above > 0 {
            (header, sample) = beginning(&input, &form)?;
        }
        Ok(InspectedInput {
            rejects: NamedRuns::of(&input, &form, &header)?,
            sheets: Vec::new(),
            counts: RowCounts::of(&input, &form, &header)?,
            input,
            form,
            header,
            sample,
        })
    }

    /// Applies the flags to the header.
    ///
    /// # Errors
    ///
    /// If the flags do not fit the header, or if the user has to say something about the sheet. If
    /// no phone column is found, the error names the other sheets of the workbook that have one.
    fn mapping(&self, spec: &MappingSpec) -> Result<Mapping, MappingError> {
        if let Some(several @ MappingError::SeveralSheets { .. }) = self.question(None) {
            return Err(several);
        }
        let planned = Mapping::plan(self.input.name(), &self.header, &self.sample, spec);
        let mut mapping = planned.map_err(|mut error| {
            if let MappingError::NoPhoneColumn { sheets, .. } = &mut error {
                *sheets = self.other_sheets_with_phones(spec);
            }
            error
        })?;
        if let Some(hidden) = self.question(spec.hidden_rows) {
            return Err(hidden);
        }
        // An input that cannot be read is reported when its rows are read.
        if mapping.compares_dates()
            && let Ok(list) = self.input.read_list(&self.form, &self.header)
        {
            let rows = list.batches().map_while(Result::ok);
            mapping.order_dates(self.input.name(), &self.header, rows)?;
        }
        Ok(mapping)
    }

    /// The names of the input's own columns. For a rejects file these are the columns of the input
    /// that the rejects come from.
    pub fn own_columns(&self) -> Vec<&str> {
        own_columns(&self.header, RejectsForm::of(&self.header.names).as_ref())
    }
}

#[derive(Debug)]
pub struct PlannedInput {
    pub input: Input,
    pub form: Form,
    pub header: Header,
    /// For each column, the first few distinct values that are not empty.
    pub samples: Vec<Vec<String>>,
    pub mapping: Mapping,
    /// Whether the sheet is read because no other visible one has phone numbers.
    pub has_only_phones: bool,
    pub counts: RowCounts,
    evidence: OnceLock<Evidence>,
    /// The lines below the last row, once all rows have been read.
    footer: OnceLock<Vec<FooterLine>>,
    blank_rows: OnceLock<u64>,
    /// How many rows were read, if that was to the end.
    rows: OnceLock<u64>,
}

impl PlannedInput {
    pub fn new(input: InspectedInput, spec: &MappingSpec) -> Result<PlannedInput, MappingError> {
        let mapping = input.mapping(spec)?;
        let columns = 0..input.header.names.len();
        Ok(PlannedInput {
            samples: columns.map(|column| input.examples(column)).collect(),
            input: input.input,
            form: input.form,
            header: input.header,
            mapping,
            has_only_phones: !input.sheets.is_empty(),
            counts: input.counts,
            evidence: OnceLock::new(),
            footer: OnceLock::new(),
            blank_rows: OnceLock::new(),
            rows: OnceLock::new(),
        })
    }

    /// Reads the rows from the top.
    pub fn read(&self) -> Result<ListReader<'_>, SourceError> {
        self.input.read_list(&self.form, &self.header)
    }

    pub fn own_columns(&self) -> Vec<&str> {
        own_columns(&self.header, self.mapping.rejects_form.as_ref())
    }

    /// How a flag names each of these columns (counted from 0).
    pub fn flag_texts(&self, columns: impl IntoIterator<Item = usize>) -> Vec<String> {
        self.mapping.flag_texts(&self.header, columns)
    }

    pub fn phone_column_names(&self) -> Vec<String> {
        self.mapping.phone_texts(&self.header)
    }

    /// The columns that a saved mapping does not send because they are new, each
    /// as a flag would name it.
    pub fn new_columns(&self) -> Vec<String> {
        self.flag_texts(self.mapping.changed.new.iter().copied())
    }

    /// The new columns as a list in a sentence of the terminal; `None` if there are none.
    pub fn new_columns_listed(&self) -> Option<String> {
        let new = self.mapping.changed.new.iter().copied();
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

    pub fn evidence(&self) -> Option<&Evidence> {
        self.evidence.get()
    }

    /// Every reading of the whole input finds the same evidence, so the first one stays.
    pub(super) fn set_evidence(&self, evidence: Evidence) {
        let _ = self.evidence.set(evidence);
    }

    /// The lines below the last row; empty until all rows have been read.
    pub fn footer(&self) -> &[FooterLine] {
        self.footer.get().map_or(&[], Vec::as_slice)
    }

    pub(super) fn set_footer(&self, footer: &[FooterLine]) {
        let _ = self.footer.set(footer.to_vec());
    }

    /// How many rows have nothing but white space in their cells, so that they are no data rows;
    /// `None` until all rows (with `--limit`, those up to the limit) have been read.
    pub fn blank_rows(&self) -> Option<u64> {
        self.blank_rows.get().copied()
    }

    /// The number of rows, header included, that this list and a full Excel sheet have: a program
    /// that exports to Excel, or Excel itself, leaves out the rest without a word. `None` for
    /// other numbers of rows, and until all rows have been read.
    pub fn rows_of_full_sheet(&self) -> Option<u64> {
        let rows = self.rows.get()? + self.blank_rows()?;
        let with_header = rows + self.form.above as u64 + u64::from(self.form.has_header);
        let is_full = |limit: &u64| *limit == rows || *limit == with_header;
        FULL_SHEETS.into_iter().find(is_full)
    }

    pub(super) fn set_end(&self, rows: u64, blank_rows: u64, is_whole: bool) {
        let _ = self.blank_rows.set(blank_rows);
        if is_whole {
            let _ = self.rows.set(rows);
        }
    }
}

fn own_columns<'a>(header: &'a Header, rejects: Option<&RejectsForm>) -> Vec<&'a str> {
    let name = |column: usize| header.names[column].as_str();
    match rejects {
        Some(rejects) => rejects.input_columns.iter().copied().map(name).collect(),
        None => (0..header.names.len()).map(name).collect(),
    }
}

fn beginning(input: &Input, form: &Form) -> Result<(Header, RowBatch), SourceError> {
    let mut reader = input.read(form)?;
    let header = reader.read_header(form)?;
    Ok((header, reader.read_sample(SAMPLE_ROWS)?))
}
