//! Rejects that come back: what they take from the run that wrote them.

use std::cell::OnceCell;
use std::path::PathBuf;

use anyhow::anyhow;
use sha2::{Digest, Sha256};
use tracing::warn;

use crate::cli::ImportArgs;
use crate::exit::{Failure, StoppedBy};
use crate::intake::SurveyedInput;
use crate::lead::RunId;
use crate::ledger::{Ledger, LedgerError};
use crate::settings::{LedgerChoice, RunDefaults};
use crate::text::printable;

/// The runs of a ledger, which is opened when the first of them is asked for.
pub(super) struct Ancestors {
    /// The name of the service that leads are to go to, where one is given.
    service: Option<String>,
    /// The profile in force, in words, where there is one.
    profile: Option<String>,
    path: Option<PathBuf>,
    ledger: OnceCell<Option<Ledger>>,
}

/// What is known of a run, for its rejects.
struct Ancestor {
    defaults: RunDefaults,
    columns: Vec<[u8; 32]>,
}

impl Ancestors {
    pub(super) fn of(
        choice: &LedgerChoice,
        service: Option<String>,
        profile: Option<String>,
    ) -> Ancestors {
        Ancestors {
            service,
            profile,
            path: choice.path().map(ToOwned::to_owned),
            ledger: OnceCell::new(),
        }
    }

    fn find(&self, run: RunId) -> Result<Option<Ancestor>, LedgerError> {
        let Some(ledger) = self.ledger()? else {
            return Ok(None);
        };
        let found = ledger.defaults_of(run)?;
        // Another service has other campaigns by the same ids.
        let is_meant = |service: &String| self.service.as_ref().is_none_or(|s| s == service);
        let Some(found) = found.filter(|found| is_meant(&found.service)) else {
            return Ok(None);
        };
        let defaults = serde_json::from_str(&found.defaults);
        Ok(Some(Ancestor {
            // Without them its do-not-call lists would be forgotten too.
            defaults: defaults.map_err(|error| LedgerError::Damaged {
                path: ledger.path().to_owned(),
                detail: format!("the settings of run {run}: {error}"),
            })?,
            columns: found.columns,
        }))
    }

    fn ledger(&self) -> Result<Option<&Ledger>, LedgerError> {
        if self.ledger.get().is_none()
            && let Some(path) = &self.path
        {
            // Whoever was first, it is the same file.
            let _ = self.ledger.set(Ledger::read(path)?);
        }
        Ok(self.ledger.get().and_then(Option::as_ref))
    }

    /// The command line with whatever was not typed taken from the run that rejects among
    /// the inputs name.
    pub(super) fn fill_in(
        &self,
        args: &ImportArgs,
        typed: &ImportArgs,
        inputs: &[SurveyedInput],
    ) -> Result<ImportArgs, Failure> {
        let mut found: Option<(RunId, RunDefaults)> = None;
        for input in inputs {
            let Some(run) = input.run else {
                continue;
            };
            let Some(defaults) = self.defaults_for(run, input)? else {
                continue;
            };
            match &found {
                Some((other, known)) if *known != defaults => {
                    return Err(several_runs(*other, run));
                }
                Some(_) => {}
                None => found = Some((run, defaults)),
            }
        }
        let mut args = args.clone();
        if let Some((run, defaults)) = found {
            if typed.phones.suppress.is_empty() {
                refuse_lists_that_are_gone(run, &defaults)?;
            }
            defaults.fill_in(&mut args, typed);
        }
        Ok(args)
    }

    fn defaults_for(
        &self,
        run: RunId,
        input: &SurveyedInput,
    ) -> Result<Option<RunDefaults>, Failure> {
        let ancestor = self.find(run)?;
        // Numbers of runs are the same in every ledger: another one's is known by the
        // columns of its inputs.
        let columns = columns_digest(&input.own_columns());
        let ancestor = ancestor.filter(|ancestor| ancestor.columns.contains(&columns));
        if ancestor.is_none() {
            let said = match &self.profile {
                None => "the command line".to_owned(),
                Some(profile) => format!("the command line and {profile}"),
            };
            warn!(
                event = "warning",
                "`{}` holds rejects of run {run}, which the ledger does not know, or not any more, as a run of a list with these columns to this service: mapping, campaign and region are taken from {said} alone",
                input.input.name()
            );
        }
        Ok(ancestor.map(|ancestor| ancestor.defaults))
    }
}

/// People who were not to be called by the run are not to be called by its rejects either.
fn refuse_lists_that_are_gone(run: RunId, defaults: &RunDefaults) -> Result<(), Failure> {
    let mut lists = defaults.suppress();
    let Some(gone) = lists.find(|list| !list.exists()) else {
        return Ok(());
    };
    let error = anyhow!(
        "the do-not-call list `{}` is gone, which run {run} was given and its rejects need too\n\nhint: put it back, or name the lists that apply with `--suppress`",
        printable(&gone.display().to_string())
    );
    Err(Failure::new(StoppedBy::Usage, error))
}

fn several_runs(one: RunId, other: RunId) -> Failure {
    let error = anyhow!(
        "the inputs are rejects of run {one} and of run {other}, which were imported in different ways\n\nhint: import them one by one"
    );
    Failure::new(StoppedBy::Usage, error)
}

/// What tells lists with other columns apart, in whatever order a spreadsheet has put
/// them.
pub(super) fn columns_digest(names: &[&str]) -> [u8; 32] {
    let mut names = names.to_vec();
    names.sort_unstable();
    let mut digest = Sha256::new();
    for name in names {
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
    }
    digest.finalize().into()
}
