//! An input whose form is known, before the flags are fitted to its header.

use crate::lead::{ErrorCode, RowId, RunId};
use crate::mapping::RejectsForm;
use crate::source::{Basis, Encoding, Form, FormChoice, Header, Input, Row, RowBatch, SourceError};

use super::SAMPLE_ROWS;

/// Tells in what encoding a run has read its input, if that is known.
pub type EncodingOf<'a> = &'a dyn Fn(RunId) -> Option<Encoding>;

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
    pub fn new(
        input: Input,
        choice: &FormChoice,
        encoding_of: EncodingOf<'_>,
    ) -> Result<SurveyedInput, SourceError> {
        let (form, header) = form_and_header(&input, choice, encoding_of)?;
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
/// saved it, whatever the flags say of the input that it is of. Only where its encoding
/// is a guess, there are better ones: that in which the run has read its input, that which
/// was named, or else UTF-8, if all that is no UTF-8 in it stands in rows that were
/// rejected for just that.
fn form_and_header(
    input: &Input,
    choice: &FormChoice,
    encoding_of: EncodingOf<'_>,
) -> Result<(Form, Header), SourceError> {
    match read(input, &FormChoice::default()) {
        Ok((form, header)) => match RejectsForm::of(&header.names) {
            Some(rejects) => {
                let is_guess = matches!(form.text().and_then(|t| t.basis), Some(Basis::Guess(_)));
                let better = match is_guess {
                    true => better_encoding(input, choice, &form, &rejects, encoding_of)?,
                    false => None,
                };
                better.map_or(Ok((form, header)), |encoding| {
                    read(input, &in_encoding(encoding))
                })
            }
            None if *choice == FormChoice::default() => Ok((form, header)),
            None => read(input, choice),
        },
        Err(error) if *choice == FormChoice::default() => Err(error),
        Err(_) => read(input, choice),
    }
}

fn read(input: &Input, choice: &FormChoice) -> Result<(Form, Header), SourceError> {
    let form = input.survey(choice)?;
    let header = input.read(&form)?.read_header(form.has_header)?;
    Ok((form, header))
}

fn in_encoding(encoding: Encoding) -> FormChoice {
    FormChoice {
        encoding: Some(encoding),
        ..FormChoice::default()
    }
}

/// A better encoding for a rejects file than the one that was guessed.
fn better_encoding(
    input: &Input,
    choice: &FormChoice,
    guessed: &Form,
    rejects: &RejectsForm,
    encoding_of: EncodingOf<'_>,
) -> Result<Option<Encoding>, SourceError> {
    let mut reader = input.read(guessed)?;
    reader.read_header(guessed.has_header)?;
    let run = named_run(&reader.read_sample(SAMPLE_ROWS)?, rejects);
    if let Some(encoding) = run.and_then(encoding_of) {
        return Ok(Some(encoding));
    }
    if choice.encoding.is_some() {
        return Ok(choice.encoding);
    }
    let utf_8 = input.survey(&in_encoding(Encoding::UTF_8))?;
    Ok(is_known_damage(input, &utf_8).then_some(Encoding::UTF_8))
}

/// The run that the rows of a rejects file name, if they all name the same.
fn named_run(sample: &RowBatch, rejects: &RejectsForm) -> Option<RunId> {
    let mut runs = sample.rows().map(|row| row.text(rejects.run));
    let first = runs.next()??;
    let is_one = runs.all(|run| run == Some(first));
    is_one.then(|| first.trim().parse().ok().map(RunId))?
}

/// Whether every row of a rejects file that cannot be read in this form was rejected
/// because it could not be.
fn is_known_damage(input: &Input, form: &Form) -> bool {
    let is_known = || -> Result<bool, SourceError> {
        let mut reader = input.read(form)?;
        let header = reader.read_header(form.has_header)?;
        let Some(rejects) = RejectsForm::of(&header.names) else {
            return Ok(false);
        };
        let encoding = ErrorCode::Encoding.to_string();
        loop {
            let rows = reader.read_batch(0, RowId(1), SAMPLE_ROWS)?;
            if rows.is_empty() {
                return Ok(true);
            }
            let is_known = |row: Row<'_>| {
                row.undecodable_column().is_none()
                    || row.text(rejects.error_code) == Some(encoding.as_str())
            };
            if !rows.rows().all(is_known) {
                return Ok(false);
            }
        }
    };
    is_known().unwrap_or(false)
}
