//! What the service would get: for the first row, and for the one with most empty cells.

use crate::api::wire::LeadForm;
use crate::intake::{Batch, PlannedInput, PreparedRow};
use crate::lead::Status;
use crate::mapping::Mapping;
use crate::source::Row;

/// The ready rows of one list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preview {
    pub first: Option<PreviewRow>,
    /// The row with most empty cells, and the first of several; `None` if no cell is empty.
    pub emptiest: Option<PreviewRow>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewRow {
    /// The line on which the row begins, from 1.
    pub line: u64,
    /// The cell that the number is from.
    pub cell: String,
    /// The exact body of the request, with `null` for a campaign that is not known yet.
    pub body: String,
    /// How many of the variables' cells are empty.
    pub empty: usize,
}

impl Preview {
    /// Takes rows of `list` that were checked.
    pub fn add_batch(&mut self, list: &PlannedInput, batch: &Batch, form: LeadForm) {
        let mapping = &list.mapping;
        for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
            let outcome = prepared.outcome.as_ref();
            if outcome.is_none_or(|outcome| outcome.status == Status::Ready) {
                self.add(mapping, row, prepared, form);
            }
        }
    }

    fn add(&mut self, mapping: &Mapping, row: Row<'_>, prepared: &PreparedRow, form: LeadForm) {
        let Some(phone) = prepared.phone else {
            return;
        };
        let cells = mapping.variables.iter();
        let cells = cells.map(|(_, column)| row.text(*column).unwrap_or_default());
        let empty = cells.filter(|cell| cell.trim().is_empty()).count();
        let most = self.emptiest.as_ref().map_or(0, |row| row.empty);
        if self.first.is_some() && empty <= most {
            return;
        }
        let shown = PreviewRow {
            line: row.line(),
            cell: phone_cell(mapping, row),
            body: form.preview(phone, prepared.campaign, mapping.variables(row)),
            empty,
        };
        if empty > most {
            self.emptiest = Some(shown.clone());
        }
        self.first.get_or_insert(shown);
    }
}

/// The first phone cell of a row that has something in it.
fn phone_cell(mapping: &Mapping, row: Row<'_>) -> String {
    let columns = mapping.phone_columns.iter();
    let cells = columns.map(|column| column.cell(row).trim().to_owned());
    let mut filled = cells.filter(|cell| !cell.is_empty());
    filled.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::{CampaignId, ErrorCode, RowOutcome};
    use crate::phone::PhoneNumber;
    use crate::report::testing::{batch_of, planned};

    fn ready(campaign: Option<i64>, outcome: Option<RowOutcome>) -> PreparedRow {
        PreparedRow {
            phone: Some(PhoneNumber::from_e164("+447911123456").unwrap()),
            campaign: campaign.map(CampaignId),
            outcome,
            ..PreparedRow::default()
        }
    }

    #[test]
    fn the_first_ready_row_and_the_emptiest_one_are_shown_as_they_would_be_sent() {
        let list = planned(
            "phone,name,city,note\n1,No,,\n2,Ada,Leeds,\n3,Bob,, \n4,,,x\n5,Cy,York,x\n6,,,\n",
        );
        let invalid = RowOutcome::invalid(ErrorCode::PhoneMissing, text!("none"));
        let is_ready = RowOutcome::not_sent(Status::Ready, None, None);
        let outcomes = [
            ready(Some(7), Some(invalid)),
            ready(Some(7), Some(is_ready)),
            ready(Some(7), None),
            ready(Some(7), None),
            ready(Some(7), None),
            ready(None, None),
        ];
        let mut preview = Preview::default();
        preview.add_batch(&list, &batch_of(&list, &outcomes), LeadForm::default());
        let first = PreviewRow {
            line: 3,
            cell: "2".to_owned(),
            body: r#"{"phone_number":"+447911123456","campaign_id":7,"variables":[{"name":"Ada","city":"Leeds"}],"allow_dupplicate":false}"#.to_owned(),
            empty: 1,
        };
        assert_eq!(preview.first, Some(first));
        let emptiest = PreviewRow {
            line: 7,
            cell: "6".to_owned(),
            body: r#"{"phone_number":"+447911123456","campaign_id":null,"allow_dupplicate":false}"#
                .to_owned(),
            empty: 3,
        };
        assert_eq!(preview.emptiest, Some(emptiest));
    }

    #[test]
    fn of_rows_without_an_empty_cell_none_is_the_emptiest() {
        let list = planned("phone,name\n1,Ada\n2,Bob\n");
        let rows = [ready(None, None), ready(None, None)];
        let mut preview = Preview::default();
        preview.add_batch(&list, &batch_of(&list, &rows), LeadForm::default());
        assert_eq!(preview.first.unwrap().line, 2);
        assert_eq!(preview.emptiest, None);
    }
}
