//! What a run was given: its options, inputs and do-not-call lists, until it is pruned.

use tokio_postgres::{Client, Error};

use super::record::{storable, storable_json};
use super::session::{bytes, int4, int8, text};
use crate::lead::RunId;
use crate::ledger::NewRun;
use crate::ledger::coding::place;

const INSERT_INPUT: &str = "
INSERT INTO leadload.inputs (run, position, name, path, sha256, bytes, columns, place)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (run, position) DO UPDATE
SET name = excluded.name, path = excluded.path, place = excluded.place";

const INSERT_LIST: &str = "
INSERT INTO leadload.lists (run, start, position, name, sha256, numbers)
VALUES ($1, $2, $3, $4, $5, $6)";

/// Writes the data that pruning removes from a run. This is done at
/// every start, since the names of the inputs may have changed too.
pub(super) async fn describe(client: &Client, run: RunId, new: &NewRun) -> Result<(), Error> {
    let run = run.0.cast_signed();
    let update = "UPDATE leadload.runs SET options = $2::text::json, defaults = $3,
        pruned_at = NULL, completed_at = NULL WHERE id = $1";
    let before = "SELECT options::text FROM leadload.runs WHERE id = $1";
    let before = client.query_typed_one(before, &[int8(&run)]).await?;
    let before: Option<String> = before.try_get(0)?;
    // What cannot be read is replaced.
    let before = before.and_then(|text| serde_json::from_str(&text).ok());
    let options = storable_json(&new.options_after(before.as_ref()).to_string());
    let defaults = storable(&new.defaults);
    let values = [int8(&run), text(&options), text(&defaults)];
    client.execute_typed(update, &values).await?;
    for (position, input) in (0_i32..).zip(&new.inputs) {
        let name = input.name.as_deref().map(storable);
        let path = input.path.as_deref();
        let path_bytes = path.map(|path| path.as_os_str().as_encoded_bytes());
        let place = path.map(place);
        let place = place.as_ref().map(<[u8; 32]>::as_slice);
        let (sha256, columns) = (input.sha256.as_slice(), input.columns.as_slice());
        let size = input.bytes.cast_signed();
        let values = [
            int8(&run),
            int4(&position),
            text(&name),
            bytes(&path_bytes),
            bytes(&sha256),
            int8(&size),
            bytes(&columns),
            bytes(&place),
        ];
        client.execute_typed(INSERT_INPUT, &values).await?;
    }
    Ok(())
}

pub(super) async fn insert_lists(
    client: &Client,
    run: RunId,
    start: i32,
    new: &NewRun,
) -> Result<(), Error> {
    let run = run.0.cast_signed();
    for (position, list) in (0_i32..).zip(&new.lists) {
        let name = list.name.as_deref().map(storable);
        let sha256 = list.sha256.as_slice();
        let numbers = list.numbers.cast_signed();
        let values = [
            int8(&run),
            int4(&start),
            int4(&position),
            text(&name),
            bytes(&sha256),
            int8(&numbers),
        ];
        client.execute_typed(INSERT_LIST, &values).await?;
    }
    Ok(())
}
