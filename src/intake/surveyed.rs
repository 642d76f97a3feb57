//! An input whose form is known, before the flags are fitted to its header.

use crate::lead::RunId;
use crate::mapping::RejectsForm;
use crate::source::{Form, FormChoice, Header, Input, RowBatch, SourceError};

use super::SAMPLE_ROWS;

/// An input, its form, its header and its first rows.
#[derive(Debug)]
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
        let (form, header) = form_and_header(&input, choice)?;
        let mut reader = input.read(&form)?;
        reader.read_header(form.has_header)?;
        let sample = reader.read_sample(SAMPLE_ROWS)?;
        let rejects = RejectsForm::of(&header.names);
        Ok(SurveyedInput {
            run: rejects.and_then(|rejects| named_run(&sample, &rejects)),
            input,
            form,
            header,
            sample,
        })
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
fn form_and_header(input: &Input, choice: &FormChoice) -> Result<(Form, Header), SourceError> {
    let detected = read(input, &FormChoice::default());
    match detected {
        _ if *choice == FormChoice::default() => detected,
        Ok((_, ref header)) if RejectsForm::of(&header.names).is_some() => detected,
        _ => read(input, choice),
    }
}

fn read(input: &Input, choice: &FormChoice) -> Result<(Form, Header), SourceError> {
    let form = input.survey(choice)?;
    let header = input.read(&form)?.read_header(form.has_header)?;
    Ok((form, header))
}

/// The run that the rows of a rejects file name, if they all name the same.
fn named_run(sample: &RowBatch, rejects: &RejectsForm) -> Option<RunId> {
    let mut runs = sample.rows().map(|row| row.text(rejects.run));
    let first = runs.next()??;
    let is_one = runs.all(|run| run == Some(first));
    is_one.then(|| first.trim().parse().ok().map(RunId))?
}
