//! Which sheet of a workbook is read, and how many of its rows are hidden.

use super::InspectedInput;
use crate::mapping::{
    HiddenRows, Mapping, MappingError, MappingSpec, PhoneColumn, RejectsForm, SheetRows,
};
use crate::phone::looks_like_number;
use crate::source::{Content, Form, FormChoice, Header, Input, SourceError, Survey, WorkbookForms};

/// The data rows of a sheet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    pub rows: u64,
    pub hidden: u64,
    /// The line of the first hidden row.
    pub first_hidden: u64,
}

impl RowCounts {
    /// Counts the rows of a sheet, which is in memory; nothing of any other input.
    pub(super) fn of(
        input: &Input,
        form: &Form,
        header: &Header,
    ) -> Result<RowCounts, SourceError> {
        let mut counts = RowCounts::default();
        if let Content::Text(_) = form.content {
            return Ok(counts);
        }
        for batch in input.read_list(form, header)?.batches() {
            let batch = batch?;
            let is_blank = |cell: &[u8]| cell.trim_ascii().is_empty();
            for row in batch.rows().filter(|row| !row.cells().all(is_blank)) {
                counts.rows += 1;
                if row.is_hidden() {
                    if counts.hidden == 0 {
                        counts.first_hidden = row.line();
                    }
                    counts.hidden += 1;
                }
            }
        }
        Ok(counts)
    }
}

impl InspectedInput {
    /// Looks into an input, as [`InspectedInput::surveyed`] does, where nobody names the columns with
    /// the number.
    pub fn new(input: Input, choice: &FormChoice) -> Result<InspectedInput, SourceError> {
        InspectedInput::surveyed(input, choice, &[])
    }

    /// Looks into an input. Where nobody says which sheet of a workbook is meant, it is the visible
    /// one with phone numbers; if there are several, the first of them, and [`Self::question`] asks.
    /// `phone_columns` are the columns with the number, if somebody names them.
    pub fn surveyed(
        input: Input,
        choice: &FormChoice,
        phone_columns: &[String],
    ) -> Result<InspectedInput, SourceError> {
        // A rejects file has the form in which it was written, or in which a spreadsheet program
        // saved it; flags about the form of the original input do not apply to it.
        let usual = FormChoice::default();
        let survey = match input.survey(&usual) {
            Ok(Survey::Text(form)) if *choice == usual || is_rejects(&input, &form) => {
                Survey::Text(form)
            }
            Ok(workbook @ Survey::Workbook(_)) => workbook,
            _ => input.survey(choice)?,
        };
        match survey {
            Survey::Text(form) => InspectedInput::in_form(input, form),
            Survey::Workbook(forms) => of_workbook(&input, *forms, choice, phone_columns),
        }
    }

    /// What only the user can say about the workbook: which sheet is meant, or what becomes of its
    /// hidden rows. `None` if nothing is open.
    pub fn question(&self, hidden_rows: Option<HiddenRows>) -> Option<MappingError> {
        let input = self.input.name().to_owned();
        if self.sheets.len() > 1 {
            let sheets = self.sheets.clone();
            return Some(MappingError::SeveralSheets { sheets, input });
        }
        let is_open = self.counts.hidden > 0 && hidden_rows.is_none();
        is_open.then_some(MappingError::HiddenRows {
            rows: self.counts.rows,
            hidden: self.counts.hidden,
            first: self.counts.first_hidden,
            input,
        })
    }

    /// The sheet that is read, if the input is a workbook.
    pub fn sheet(&self) -> Option<&str> {
        match &self.form.content {
            Content::Sheet(sheet) => Some(&sheet.name),
            Content::Text(_) => None,
        }
    }

    /// Whether a phone column would be found; a template without any row does not count.
    fn has_phones(&self, phone_columns: &[String]) -> bool {
        let spec = MappingSpec {
            phone_columns: phone_columns.to_vec(),
            ..MappingSpec::default()
        };
        let is_number = |column: PhoneColumn| {
            let mut rows = self.sample.rows();
            rows.any(|row| looks_like_number(&column.cell(row)))
        };
        let has_rows = self.counts.rows > 0;
        match Mapping::plan(self.input.name(), &self.header, &self.sample, &spec) {
            // Every sheet has a column 2.
            Ok(mapping) if !phone_columns.is_empty() => {
                mapping.phone_columns.into_iter().any(is_number)
            }
            Ok(_) | Err(MappingError::SeveralPhoneColumns { .. }) => has_rows,
            Err(MappingError::NoPhoneColumn { .. } | MappingError::NoSuchColumn { .. }) => false,
            // The first row may be a contact already.
            Err(_) => true,
        }
    }

    /// The other sheets that have a phone column; empty if the input is not a workbook.
    pub(super) fn other_sheets_with_phones(&self, spec: &MappingSpec) -> Vec<String> {
        let Ok(Survey::Workbook(mut forms)) = self.input.survey(&FormChoice::default()) else {
            return Vec::new();
        };
        let mut others = forms.workbook.sheets();
        others.retain(|name| self.sheet() != Some(name));
        others.retain(|name| {
            // A sheet that cannot be read is not offered.
            let form = forms.form(Some(name), self.form.has_header, false);
            let other = form.and_then(|form| InspectedInput::in_form(self.input.clone(), form));
            other.is_ok_and(|other| other.has_phones(&spec.phone_columns))
        });
        others
    }

    fn sheet_rows(&self) -> SheetRows {
        SheetRows {
            name: self.sheet().unwrap_or_default().to_owned(),
            rows: self.counts.rows,
        }
    }
}

fn of_workbook(
    input: &Input,
    mut forms: WorkbookForms,
    choice: &FormChoice,
    phone_columns: &[String],
) -> Result<InspectedInput, SourceError> {
    let visible = forms.workbook.visible_sheets();
    let has_header = !choice.no_header;
    if *choice != FormChoice::default() {
        // The flags do not apply to rejects.
        let first = forms.form(None, true, false);
        if let Some(form) = first.ok().filter(|form| is_rejects(input, form)) {
            return InspectedInput::in_form(input.clone(), form);
        }
    }
    let chosen = choice.sheet.as_deref();
    if chosen.is_some() || visible.len() < 2 {
        let form = forms.form(chosen, has_header, true)?;
        return InspectedInput::in_form(input.clone(), form);
    }
    let mut found: Option<InspectedInput> = None;
    for (at, name) in visible.iter().enumerate() {
        let form = forms.form(Some(name), has_header, false);
        // A sheet that is empty or cannot be read has no phone numbers.
        let Ok(sheet) = form.and_then(|form| InspectedInput::in_form(input.clone(), form)) else {
            continue;
        };
        if at == 0 && sheet.rejects.is_some() {
            return Ok(sheet);
        }
        if sheet.has_phones(phone_columns) {
            let rows = sheet.sheet_rows();
            found.get_or_insert(sheet).sheets.push(rows);
        }
    }
    match found {
        Some(found) => Ok(found),
        None => InspectedInput::in_form(input.clone(), forms.form(None, has_header, true)?),
    }
}

/// Whether an input in this form is a rejects file.
fn is_rejects(input: &Input, form: &Form) -> bool {
    let header = input.read(form).and_then(|mut rows| rows.read_header(form));
    header.is_ok_and(|header| RejectsForm::of(&header.names).is_some())
}
