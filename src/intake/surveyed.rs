//! An input whose form is known, before the flags are fitted to its header.

use crate::lead::RunId;
use crate::mapping::{Mapping, MappingError, MappingSpec, RejectsForm, rows_above_header};
use crate::source::{Content, Form, FormChoice, Header, Input, RowBatch, SourceError};

use super::SAMPLE_ROWS;

/// An input, its form, its header and its first rows.
#[derive(Debug, Clone)]
pub struct SurveyedInput {
    /// Where its rows come from.
    pub input: Input,
    /// How it is read.
    pub form: Form,
    /// What its columns are called.
    pub header: Header,
    /// Its first rows.
    pub sample: RowBatch,
    /// The run whose rejects it holds, if it is a rejects file that says so.
    pub run: Option<RunId>,
}

impl SurveyedInput {
    /// Finds out in what form the input is.
    pub fn new(input: Input, choice: &FormChoice) -> Result<SurveyedInput, SourceError> {
        let mut form = form(&input, choice)?;
        let (mut header, mut sample) = beginning(&input, &form)?;
        if form.has_header {
            form.above = rows_above_header(&header, &sample);
        }
        if form.above > 0 {
            (header, sample) = beginning(&input, &form)?;
        }
        let rejects = RejectsForm::of(&header.names);
        Ok(SurveyedInput {
            run: rejects.and_then(|rejects| named_run(&sample, &rejects)),
            input,
            form,
            header,
            sample,
        })
    }

    /// Fits the flags to its header.
    ///
    /// # Errors
    ///
    /// Where they do not fit; which other sheets of a workbook would do is said too.
    pub fn mapping(&self, spec: &MappingSpec) -> Result<Mapping, MappingError> {
        let planned = Mapping::plan(self.input.name(), &self.header, &self.sample, spec);
        planned.map_err(|mut error| {
            if let MappingError::NoPhoneColumn { sheets, .. } = &mut error {
                *sheets = self.sheets_with_phones(spec);
            }
            error
        })
    }

    /// The other sheets of the workbook, if it is one, that have a phone column.
    fn sheets_with_phones(&self, spec: &MappingSpec) -> Vec<String> {
        let Content::Sheet(sheet) = &self.form.content else {
            return Vec::new();
        };
        let has_phones = |name: &&String| {
            let choice = FormChoice {
                sheet: Some((*name).clone()),
                ..FormChoice::default()
            };
            // One that cannot be read is not offered.
            let surveyed = SurveyedInput::new(self.input.clone(), &choice);
            surveyed.is_ok_and(|other| {
                let planned = Mapping::plan(other.input.name(), &other.header, &other.sample, spec);
                matches!(
                    planned,
                    Ok(_) | Err(MappingError::SeveralPhoneColumns { .. })
                )
            })
        };
        let others = sheet.names().iter().filter(|name| *name != sheet.name());
        others.filter(has_phones).cloned().collect()
    }

    /// The names of the input's own columns: of a rejects file those of its input.
    pub fn own_columns(&self) -> Vec<&str> {
        own_columns(&self.header, RejectsForm::of(&self.header.names).as_ref())
    }
}

/// The names of an input's own columns.
pub(super) fn own_columns<'a>(header: &'a Header, rejects: Option<&RejectsForm>) -> Vec<&'a str> {
    let names = header.names.iter().map(String::as_str);
    match rejects {
        Some(rejects) => rejects
            .input_columns
            .iter()
            .map(|column| header.names[*column].as_str())
            .collect(),
        None => names.collect(),
    }
}

/// A rejects file is in the form in which it was written, or in which a spreadsheet has
/// saved it, whatever the flags say of the input that it is of.
fn form(input: &Input, choice: &FormChoice) -> Result<Form, SourceError> {
    let usual = FormChoice::default();
    if *choice != usual
        && let Ok(form) = input.survey(&usual)
        && let Ok(header) = input
            .read(&form)
            .and_then(|mut rows| rows.read_header(&form))
        && RejectsForm::of(&header.names).is_some()
    {
        return Ok(form);
    }
    input.survey(choice)
}

/// The header and the first rows of an input in this form.
fn beginning(input: &Input, form: &Form) -> Result<(Header, RowBatch), SourceError> {
    let mut reader = input.read(form)?;
    let header = reader.read_header(form)?;
    Ok((header, reader.read_sample(SAMPLE_ROWS)?))
}

/// The run that the rows of a rejects file name, if they all name the same.
fn named_run(sample: &RowBatch, rejects: &RejectsForm) -> Option<RunId> {
    let mut runs = sample.rows().map(|row| row.text(rejects.run));
    let first = runs.next()??;
    let is_one = runs.all(|run| run == Some(first));
    is_one.then(|| first.trim().parse().ok().map(RunId))?
}
