//! What can be checked by the names of files alone: whether inputs exist, and whether outputs
//! can be written where they are named.
//!
//! Rule: nothing is read and nothing is created. A user who mistyped a name gets that error
//! before one about the service or the token.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::request::Request;
use super::{inputs, service};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::ledger::LedgerPlace;
use crate::results::{OutputChoice, OutputChoices, OutputError, OutputPaths};
use crate::screen::SuppressionLists;
use crate::settings::{ledger_place, output_choices};

/// Checks them, on a thread of its own: disks may be slow.
pub(super) async fn check(request: &Request) -> Result<(), Failure> {
    let options = request.layers.options();
    let ledger = ledger_place(&options).or_stopped(StoppedBy::Usage)?;
    let lists = options.phones.suppress.iter().flatten();
    let lists: Vec<PathBuf> = lists.map(|list| list.to_path_buf()).collect();
    // A test lead writes no file.
    let is_test = options.delivery.test_to.is_some();
    let choices = (!is_test).then(|| output_choices(&request.layers, &OutputChoice::None));
    let files = request.files.clone();
    service::on_a_thread(move || check_names(&files, &lists, choices, ledger.as_ref()))
        .await
        .unwrap_or_else(inputs::broke_off)
}

fn check_names(
    files: &[PathBuf],
    lists: &[PathBuf],
    choices: Option<OutputChoices>,
    ledger: Option<&LedgerPlace>,
) -> Result<(), Failure> {
    let is_named = |path: &&PathBuf| path.as_os_str() != "-";
    let named: Vec<PathBuf> = files.iter().filter(is_named).cloned().collect();
    inputs::open_each(&named)?;
    SuppressionLists::check_exist(lists).or_stopped(StoppedBy::Usage)?;
    let Some(choices) = choices else {
        return Ok(());
    };
    let read: Vec<&Path> = named.iter().chain(lists).map(PathBuf::as_path).collect();
    let reserved = choices.reserved.clone();
    outputs(files.len(), choices)?
        .refuse_named(&read, &reserved, ledger)
        .map_err(OutputError::before_sending)
}

/// The outputs that are named; the others get names from the inputs.
fn outputs(inputs: usize, choices: OutputChoices) -> Result<OutputPaths, Failure> {
    let file = |choice| match choice {
        OutputChoice::Path(path) => Some(path),
        OutputChoice::None | OutputChoice::BesideInput => None,
    };
    let rejects = file(choices.rejects);
    if rejects.is_some() && inputs > 1 {
        let error = anyhow!(
            "`--rejects` names one file, but there are several inputs, and each has rejects of its own\n\nhint: leave `--rejects` out, or import the files one by one"
        );
        return Err(Failure::new(StoppedBy::Usage, error));
    }
    Ok(OutputPaths::of_names(
        file(choices.results),
        rejects,
        choices.report,
    ))
}
