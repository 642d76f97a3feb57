//! A ledger that is new although the list was sent before: it was lost, or another one was used.

use std::path::Path;

use super::open_ledger::OpenLedger;
use super::prepared::Concern;
use crate::exit::{Failure, StoppedBy};
use crate::intake::InspectedInput;
use crate::results::{OutputPaths, has_results_header};
use crate::settings::ImportSettings;
use crate::source::{FormChoice, Input, SourceError};

/// What the user has to agree to, if results of a run that this ledger does not know lie where
/// those of this run would go.
pub fn concern(
    settings: &ImportSettings,
    opened: Option<&OpenLedger>,
    paths: &OutputPaths,
) -> Result<Option<Concern>, Failure> {
    let is_agreed = settings.options.delivery.new_ledger == Some(true);
    let (Some(opened), Some(results)) = (opened, &paths.results) else {
        return Ok(None);
    };
    if is_agreed
        || settings.reading.outputs.sandbox
        || opened.ledger.last_run()? > 0
        // What cannot be read is not known as results.
        || !has_leads(results).unwrap_or_default()
    {
        return Ok(None);
    }
    let message = message!(
        "{`{results}` has leads of an earlier run, and the ledger knows of no run at all|this list was sent before, and leadload has lost what it knew of it}; these people would be called a second time",
        "{name the ledger of that run with `--ledger` or LEADLOAD_LEDGER, or restore its backup; if the list is to be sent with a new ledger, use `--new-ledger`|{ask_setup}}",
        results = results.display().to_string()
    );
    Ok(Some(Concern {
        failure: Failure::new(StoppedBy::Ledger, message),
        question: "Send the list with a new ledger?",
    }))
}

/// Whether the file is a results file of an import that has made leads.
fn has_leads(path: &Path) -> Result<bool, SourceError> {
    let file = InspectedInput::new(Input::open(path)?, &FormChoice::default())?;
    let names = &file.header.names;
    if !has_results_header(names) {
        return Ok(false);
    }
    let is_status = |name: &String| name.trim().eq_ignore_ascii_case("status");
    let status = names.iter().position(is_status).unwrap_or_default();
    let mut has_sent = false;
    for batch in file.input.read_list(&file.form, &file.header)?.batches() {
        let batch = batch?;
        for row in batch.rows() {
            match row.text(status) {
                Some("created") => return Ok(true),
                // After a night without new people nobody is `created`.
                Some("already_imported") => has_sent = true,
                // The results of a check.
                Some("ready") => return Ok(false),
                _ => {}
            }
        }
    }
    Ok(has_sent)
}
