//! What the names of files tell before anything else is needed: whether what is to be read
//! is there, and whether what is named to be written can stand where it is to.
//!
//! Rule: nothing is read and nothing is made. Whoever has mistyped a name hears of that, and
//! not first that a service or a token is missing.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::{inputs, service};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::ledger::LedgerPlace;
use crate::results::{OutputChoice, OutputChoices, OutputError, OutputPaths};
use crate::screen::SuppressionLists;
use crate::settings::{Layers, LedgerChoice, output_choices};

/// Looks at them, on a thread of its own: disks may be far away.
pub(super) async fn look_at(files: &[PathBuf], layers: &Layers) -> Result<(), Failure> {
    let options = layers.options();
    let ledger = LedgerChoice::new(&options).or_stopped(StoppedBy::Usage)?;
    let lists = options.phones.suppress.iter().flatten();
    let lists: Vec<PathBuf> = lists.map(|list| list.to_path_buf()).collect();
    // A test lead leaves no file behind.
    let is_test = options.delivery.test_to.is_some();
    let choices = (!is_test).then(|| output_choices(layers, &OutputChoice::None));
    let files = files.to_vec();
    service::on_a_thread(move || look(&files, &lists, choices, ledger.place()))
        .await
        .unwrap_or_else(inputs::broke_off)
}

fn look(
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

/// The outputs that are named. Others are named after the inputs.
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
