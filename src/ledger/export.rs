//! Exports the rows that runs sent or found invalid, in the order of the input.
//!
//! The ledger stores them by number, so they have to be sorted. A file does that with little memory, in temporary
//! files that no other program can open.

use super::coding::{line, status_code};
use super::record::{OUTCOME, columns, each_of, outcome};
use super::row::Row;
use super::store::Failed;
use super::{Ledger, LedgerError};
use crate::lead::{CampaignId, RowId, RowOutcome, RunId, Status};
use crate::phone::PhoneNumber;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub runs: Vec<RunId>,
    /// Rows of this campaign; `None` for all campaigns.
    pub campaign: Option<CampaignId>,
    /// Rows with one of these statuses; empty for all.
    pub statuses: Vec<Status>,
}

impl Selection {
    /// The row as it is exported, if it is one of these.
    pub(super) fn take(&self, mut row: ExportedRow) -> Option<ExportedRow> {
        let outcome = &mut row.outcome;
        // It is stored as failed since it is tried again; its results say what the service said.
        if outcome.is_tried_again() {
            outcome.status = Status::Rejected;
        }
        let is_meant = self.statuses.is_empty() || self.statuses.contains(&outcome.status);
        let is_of = self.campaign.is_none() || row.campaign == self.campaign;
        (is_meant && is_of).then_some(row)
    }
}

/// A row that a run sent or found invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedRow {
    pub run: RunId,
    pub row: RowId,
    /// Its input, counted from 0.
    pub file: usize,
    /// Its line in the input, counted from 1.
    pub line: u64,
    /// The number that it was sent with, or the phone cell of an invalid row as it was read.
    pub phone: String,
    pub campaign: Option<CampaignId>,
    pub outcome: RowOutcome,
}

/// Selects [`columns`] from both sent and invalid rows, followed by
/// the phone cell, which an invalid row has instead of a number.
fn select() -> String {
    let outcome = each_of(OUTCOME, |(column, _)| match column.name {
        "status" => status_code(Status::Invalid).to_string(),
        "attempts" => "0".to_owned(),
        reason @ ("error_code" | "error") => reason.to_owned(),
        _ => "NULL".to_owned(),
    });
    format!(
        "SELECT {}, NULL AS cell FROM leadload.sent_seen AS s WHERE run = $1
        UNION ALL
        SELECT NULL, campaign, run, row, file, line - row, {outcome}, coalesce(cell, '')
        FROM leadload.invalid_rows WHERE run = $1
        ORDER BY row, cell NULLS FIRST",
        columns("")
    )
}

impl Ledger {
    /// Passes every row of the selection to `each`, ordered by run
    /// and row, as they are at this moment. Stops when `each` fails.
    pub fn export<E: From<LedgerError>>(
        &self,
        selection: &Selection,
        mut each: impl FnMut(ExportedRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut runs = selection.runs.clone();
        runs.sort_unstable();
        let mut result = Ok(());
        self.streaming(|sql| {
            for run in runs {
                let mut last = None;
                sql.each(&select(), &[run.into()], &mut |row| {
                    let row = read(row)?;
                    // A row that was invalid, and that a later version could send, is in both tables.
                    if last.replace(row.row) != Some(row.row)
                        && let Some(exported) = selection.take(row)
                        && result.is_ok()
                    {
                        result = each(exported);
                    }
                    Ok(result.is_ok())
                })?;
            }
            Ok(())
        })?;
        result
    }
}

fn read(row: &Row<'_>) -> Result<ExportedRow, Failed> {
    let number: Option<PhoneNumber> = row.get("number")?;
    let at: i64 = row.get("row")?;
    Ok(ExportedRow {
        run: row.get("run")?,
        row: RowId(at.cast_unsigned()),
        file: row.get("file")?,
        line: line(at, row.get("line_offset")?),
        phone: match number {
            Some(number) => number.to_string(),
            None => row.get("cell")?,
        },
        campaign: row.get("campaign")?,
        outcome: outcome(row)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lead::ErrorCode;
    use crate::lead::RowOutcome;
    use crate::ledger::sqlite::journal;
    use crate::ledger::sqlite::testing::{TestLedger, at};
    use crate::ledger::{Claim, Group, SenderId, Settlement};
    use crate::message::Text;

    /// A ledger with `count` runs.
    fn with_runs(count: u8) -> TestLedger {
        let mut test = TestLedger::new();
        for content in 1..=count {
            let run = test.run_of(content);
            test.begin(&run, at(1));
        }
        test
    }

    fn claim(test: &TestLedger, run: u64, row: u64, campaign: i64) {
        append(test, run, |group| {
            group.claims.push(claim_of(row, campaign))
        });
    }

    fn settle(test: &TestLedger, run: u64, row: u64, campaign: i64, status: Status) {
        let settlement = Settlement {
            claim: claim_of(row, campaign),
            outcome: RowOutcome {
                lead_id: Some((1000 + row).to_string()),
                attempts: 1,
                ..RowOutcome::not_sent(status, None, None)
            },
            cells: None,
            attempted: None,
        };
        append(test, run, |group| group.settlements.push(settlement));
    }

    fn claim_of(row: u64, campaign: i64) -> Claim {
        Claim {
            row: RowId(row),
            file: 0,
            line: row + 1,
            number: PhoneNumber::from_key(number(row)).unwrap(),
            campaign: CampaignId(campaign),
            resends: false,
            sender: SenderId::default(),
        }
    }

    fn append(test: &TestLedger, run: u64, add: impl FnOnce(&mut Group)) {
        let mut group = Group::default();
        add(&mut group);
        let append = "INSERT INTO journal (run, entries) VALUES (?1, ?2)";
        let values = (run.cast_signed(), journal::line(&group).unwrap());
        test.ledger.file().db.execute(append, values).unwrap();
    }

    fn file(test: &TestLedger, run: u64, row: u64, campaign: i64, status: Status) {
        test.sql(&format!(
            "INSERT INTO sent (service, number, campaign, run, row, file, line_offset,
                status, http_status, attempts, lead_id, settled_at, error_code, error)
                VALUES (1, {}, {campaign}, {run}, {row}, 0, 1, {}, 201, 1,
                {}, 5, NULL, NULL)",
            number(row),
            status_code(status),
            1000 + row
        ));
    }

    fn invalid(test: &TestLedger, run: u64, row: u64) {
        test.sql(&format!(
            "INSERT INTO invalid_rows VALUES ({run}, {row}, 0, {}, NULL, 'n/a',
                'phone_not_e164', 'no number')",
            row + 1
        ));
    }

    /// Numbers fall while rows rise, so that nothing is in order by chance.
    fn number(row: u64) -> u64 {
        447_911_000_000 - row
    }

    fn all(runs: &[u64]) -> Selection {
        Selection {
            runs: runs.iter().copied().map(RunId).collect(),
            campaign: None,
            statuses: Vec::new(),
        }
    }

    fn exported(test: &TestLedger, selection: &Selection) -> Vec<(u64, u64, Status)> {
        let mut rows = Vec::new();
        let walked: Result<(), LedgerError> = test.ledger.export(selection, |row| {
            rows.push((row.run.0, row.row.0, row.outcome.status));
            Ok(())
        });
        walked.unwrap();
        rows
    }

    #[test]
    fn rows_come_by_run_and_by_row_wherever_they_are_kept() {
        let test = with_runs(3);
        file(&test, 1, 3, 101, Status::Created);
        file(&test, 1, 1, 101, Status::Rejected);
        invalid(&test, 1, 2);
        file(&test, 2, 1, 101, Status::Duplicate);
        claim(&test, 2, 4, 101);
        claim(&test, 2, 3, 101);
        settle(&test, 2, 3, 101, Status::Failed);
        file(&test, 3, 1, 101, Status::Created);
        assert_eq!(
            exported(&test, &all(&[2, 1])),
            [
                (1, 1, Status::Rejected),
                (1, 2, Status::Invalid),
                (1, 3, Status::Created),
                (2, 1, Status::Duplicate),
                (2, 3, Status::Failed),
                (2, 4, Status::Uncertain),
            ]
        );
    }

    #[test]
    fn a_row_that_is_being_filed_comes_once() {
        let test = with_runs(1);
        claim(&test, 1, 1, 101);
        settle(&test, 1, 1, 101, Status::Created);
        file(&test, 1, 1, 101, Status::Created);
        assert_eq!(exported(&test, &all(&[1])), [(1, 1, Status::Created)]);
    }

    #[test]
    fn a_row_that_was_sent_again_comes_as_its_latest_answer_says() {
        let test = with_runs(1);
        file(&test, 1, 1, 101, Status::Uncertain);
        claim(&test, 1, 1, 101);
        assert_eq!(exported(&test, &all(&[1])), [(1, 1, Status::Uncertain)]);
        settle(&test, 1, 1, 101, Status::Created);
        assert_eq!(exported(&test, &all(&[1])), [(1, 1, Status::Created)]);
        file(&test, 1, 2, 101, Status::Failed);
        claim(&test, 1, 2, 101);
        let rows = [(1, 1, Status::Created), (1, 2, Status::Uncertain)];
        assert_eq!(exported(&test, &all(&[1])), rows);
        let uncertain = Selection {
            statuses: vec![Status::Uncertain],
            ..all(&[1])
        };
        assert_eq!(exported(&test, &uncertain), rows[1..]);
    }

    #[test]
    fn rows_are_chosen_by_campaign_and_by_status() {
        let test = with_runs(1);
        file(&test, 1, 1, 101, Status::Created);
        file(&test, 1, 2, 102, Status::Created);
        file(&test, 1, 3, 102, Status::Failed);
        invalid(&test, 1, 4);
        // An earlier start could not read it, and its campaign was another one.
        invalid(&test, 1, 1);
        test.sql("UPDATE invalid_rows SET campaign = 102 WHERE row = 1");
        let of_102 = Selection {
            campaign: Some(CampaignId(102)),
            ..all(&[1])
        };
        assert_eq!(
            exported(&test, &of_102),
            [(1, 2, Status::Created), (1, 3, Status::Failed)]
        );
        let problems = Selection {
            statuses: vec![Status::Failed, Status::Invalid],
            ..all(&[1])
        };
        assert_eq!(
            exported(&test, &problems),
            [(1, 3, Status::Failed), (1, 4, Status::Invalid)]
        );
    }

    #[test]
    fn a_row_has_all_that_is_known_of_it() {
        let test = with_runs(1);
        invalid(&test, 1, 1);
        claim(&test, 1, 2, 101);
        file(&test, 1, 3, 101, Status::Created);
        let mut rows = Vec::new();
        let walked: Result<(), LedgerError> = test.ledger.export(&all(&[1]), |row| {
            rows.push(row);
            Ok(())
        });
        walked.unwrap();
        let row = |row, phone: &str, campaign, outcome| ExportedRow {
            run: RunId(1),
            row: RowId(row),
            file: 0,
            line: row + 1,
            phone: phone.into(),
            campaign,
            outcome,
        };
        let campaign = Some(CampaignId(101));
        let uncertain = RowOutcome {
            attempts: 1,
            ..RowOutcome::not_sent(
                Status::Uncertain,
                Some(ErrorCode::AnswerLost),
                Some(Text::said("no answer yet, or the run ended before it came")),
            )
        };
        let created = RowOutcome {
            lead_id: Some("1003".into()),
            http_status: Some(201),
            attempts: 1,
            settled_at: Some(at(5)),
            ..RowOutcome::not_sent(Status::Created, None, None)
        };
        let not_sent = RowOutcome::invalid(ErrorCode::PhoneNotE164, Text::said("no number"));
        assert_eq!(
            rows,
            [
                row(1, "n/a", None, not_sent),
                row(2, "+447910999998", campaign, uncertain),
                row(3, "+447910999997", campaign, created),
            ]
        );
    }

    #[test]
    fn an_export_ends_at_the_first_error() {
        let test = with_runs(1);
        for row in 1..=3 {
            file(&test, 1, row, 101, Status::Created);
        }
        let mut seen = 0;
        let walked = test.ledger.export(&all(&[1]), |_| {
            seen += 1;
            Err(LedgerError::broke_off())
        });
        assert!(walked.is_err());
        assert_eq!(seen, 1);
    }

    /// Puts a row in the place that `home` names, and returns the status it is exported with.
    fn place(test: &TestLedger, row: u64, home: u8) -> Option<Status> {
        match home {
            0 => return None,
            1 => file(test, 1, row, 101, Status::Rejected),
            2 => invalid(test, 1, row),
            _ => claim(test, 1, row, 101),
        }
        if home >= 4 {
            settle(test, 1, row, 101, Status::Created);
        }
        if home >= 5 {
            file(test, 1, row, 101, Status::Created);
        }
        Some(match home {
            1 => Status::Rejected,
            2 => Status::Invalid,
            3 => Status::Uncertain,
            _ => Status::Created,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_row_comes_once_and_in_order(homes in prop::collection::vec(0..6_u8, 0..60)) {
            let test = with_runs(1);
            test.sql("BEGIN");
            let rows: Vec<_> = (1..)
                .zip(homes)
                .filter_map(|(row, home)| Some((1, row, place(&test, row, home)?)))
                .collect();
            test.sql("COMMIT");
            prop_assert_eq!(exported(&test, &all(&[1])), rows);
        }
    }
}
