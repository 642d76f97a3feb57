//! The files that runs have written, recorded so that they are recognized later.

use std::path::{Path, PathBuf};

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

use super::PostgresLedger;
use super::record::{Unreadable, get};
use super::session::{bytes, int8, text, typed};
use crate::lead::RunId;
use crate::ledger::coding::{os_text, place};
use crate::ledger::{LedgerError, OutputKind, OutputRecord, Sha256};

/// The columns of `outputs`, in the order of [`output`].
pub(super) const COLUMNS: &str = "run, path, kind, sha256, rows";

/// Adds a file of a run. Of another run than the one at work ($7) it adds no path if that was pruned,
/// and nothing at all if it was forgotten.
const ADD: &str = "
INSERT INTO leadload.outputs (run, path, kind, sha256, rows, place)
SELECT id, CASE WHEN id = $7 OR pruned_at IS NULL THEN $2 END, $3, $4, $5, $6
FROM leadload.runs WHERE id = $1";

const CLEAR: &str = "DELETE FROM leadload.outputs WHERE run = $1 AND sha256 IS NULL";

impl PostgresLedger {
    /// Records the content of files before they get their final names. A file of
    /// another run gets another name: it is known under both.
    pub fn record_outputs(
        &mut self,
        run: RunId,
        outputs: &[OutputRecord],
    ) -> Result<(), LedgerError> {
        self.session.transact(async |client| {
            // Every file that this start began is either complete now or does not exist. Undoing the run
            // leaves what a killed start has begun.
            if outputs.iter().all(|output| output.kind != OutputKind::Undo) {
                let id = run.0.cast_signed();
                client.execute_typed(CLEAR, &[int8(&id)]).await?;
            }
            for output in outputs {
                let Some(path) = &output.path else { continue };
                let content = (output.sha256, output.rows);
                add(client, [output.run, run], (path, output.kind), content).await?;
            }
            Ok(())
        })
    }

    /// The files that any run has written, or begun to write, at these paths.
    pub fn outputs_at(&self, paths: &[PathBuf]) -> Result<Vec<OutputRecord>, LedgerError> {
        let known =
            format!("SELECT {COLUMNS} FROM leadload.outputs WHERE place = $1 ORDER BY run, id");
        let mut found = Vec::new();
        for path in paths {
            let place = place(path);
            let rows = self.query(&known, &[bytes(&place.as_slice())])?;
            let at = self.read_all(&rows, output)?;
            // Set here since the stored path may have been pruned.
            found.extend(at.into_iter().map(|output| OutputRecord {
                path: Some(path.clone()),
                ..output
            }));
        }
        Ok(found)
    }
}

/// Records the files that a start will write. Those that an earlier start
/// has completed stay recorded: they exist until this start has completed its own.
pub(super) async fn begin(
    client: &Client,
    run: RunId,
    outputs: &[(PathBuf, OutputKind)],
) -> Result<(), Error> {
    let id = run.0.cast_signed();
    client.execute_typed(CLEAR, &[int8(&id)]).await?;
    for (path, kind) in outputs {
        add(client, [run; 2], (path, *kind), (None, None)).await?;
    }
    Ok(())
}

/// Adds a file of the first run; the second one is at work.
async fn add(
    client: &Client,
    runs: [RunId; 2],
    (path, kind): (&Path, OutputKind),
    (sha256, rows): (Option<Sha256>, Option<u64>),
) -> Result<(), Error> {
    let [run, at_work] = runs.map(|run| run.0.cast_signed());
    let (kind, place) = (kind.as_str(), place(path));
    let path = path.as_os_str().as_encoded_bytes();
    let place = place.as_slice();
    let sha256 = sha256.as_ref().map(<[u8; 32]>::as_slice);
    let rows = rows.map(u64::cast_signed);
    let values = [
        int8(&run),
        bytes(&path),
        text(&kind),
        bytes(&sha256),
        typed(&rows, Type::INT8),
        bytes(&place),
        int8(&at_work),
    ];
    client.execute_typed(ADD, &values).await?;
    Ok(())
}

pub(super) fn output(row: &Row) -> Result<OutputRecord, Unreadable> {
    let run: i64 = get(row, 0)?;
    let path: Option<&[u8]> = get(row, 1)?;
    let word: &str = get(row, 2)?;
    let kinds = OutputKind::ALL;
    let kind = kinds.into_iter().find(|kind| kind.as_str() == word);
    let rows: Option<i64> = get(row, 4)?;
    Ok(OutputRecord {
        run: RunId(run.cast_unsigned()),
        path: path.map(|path| os_text(path).into()),
        kind: kind.ok_or("a kind of file that is none")?,
        sha256: optional_digest(row, 3)?,
        rows: rows.map(i64::cast_unsigned),
        state: None,
    })
}

pub(super) fn digest(row: &Row, column: usize) -> Result<[u8; 32], Unreadable> {
    optional_digest(row, column)?.ok_or_else(|| "a digest is missing".to_owned())
}

fn optional_digest(row: &Row, column: usize) -> Result<Option<[u8; 32]>, Unreadable> {
    let stored: Option<&[u8]> = get(row, column)?;
    let digest = stored.map(TryInto::try_into).transpose();
    digest.map_err(|_| "a digest of another length".to_owned())
}
