//! Rejects that come back: what they take from the run that wrote them.

use std::cell::OnceCell;

use anyhow::anyhow;
use sha2::{Digest, Sha256};
use tracing::warn;

use crate::exit::{Failure, StoppedBy};
use crate::intake::InspectedInput;
use crate::lead::RunId;
use crate::ledger::{Ledger, LedgerError, LedgerPlace, StoredDefaults};
use crate::options::Options;
use crate::settings::{Layers, LedgerChoice};
use crate::text::printable;

/// The runs of a ledger, which is opened when the first of them is asked for.
pub(super) struct Ancestors {
    /// The name of the service that leads are to go to, where one is given.
    service: Option<String>,
    place: Option<LedgerPlace>,
    ledger: OnceCell<Option<Ledger>>,
}

impl Ancestors {
    pub(super) fn of(choice: &LedgerChoice, service: Option<String>) -> Ancestors {
        Ancestors {
            service,
            place: choice.place().cloned(),
            ledger: OnceCell::new(),
        }
    }

    fn find(&self, run: RunId) -> Result<Option<StoredDefaults>, LedgerError> {
        let Some(ledger) = self.ledger()? else {
            return Ok(None);
        };
        // Another service has other campaigns by the same ids.
        let is_meant = |service: &String| self.service.as_ref().is_none_or(|s| s == service);
        let found = ledger.defaults_of(run)?;
        Ok(found.filter(|found| is_meant(&found.service)))
    }

    fn ledger(&self) -> Result<Option<&Ledger>, LedgerError> {
        if self.ledger.get().is_none()
            && let Some(place) = &self.place
        {
            // It is the same file each time, so the first one stays.
            let _ = self.ledger.set(Ledger::read(place)?);
        }
        Ok(self.ledger.get().and_then(Option::as_ref))
    }

    /// The options with whatever was not typed taken from the run that rejects among the
    /// inputs name.
    pub(super) fn complete(
        &self,
        layers: Layers,
        inputs: &[InspectedInput],
    ) -> Result<Layers, Failure> {
        let mut found: Option<(RunId, String)> = None;
        for input in inputs {
            let Some(run) = input.run else {
                continue;
            };
            let Some(defaults) = self.defaults_for(run, input, &layers)? else {
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
        let (Some((run, defaults)), Some(ledger)) = (found, self.ledger()?) else {
            return Ok(layers);
        };
        let defaults: Options = serde_json::from_str(&defaults).map_err(|error| {
            // Without them its do-not-call lists would be forgotten too.
            ledger.damaged(format!("the settings of run {run}: {error}"))
        })?;
        if layers.typed().phones.suppress.is_none() {
            refuse_lists_that_are_gone(run, &defaults)?;
        }
        Ok(layers.with_run(run, defaults))
    }

    fn defaults_for(
        &self,
        run: RunId,
        input: &InspectedInput,
        layers: &Layers,
    ) -> Result<Option<String>, Failure> {
        let ancestor = self.find(run)?;
        // Numbers of runs are the same in every ledger: another one's is known by the
        // columns of its inputs.
        let columns = input.own_columns();
        let ancestor = ancestor.filter(|ancestor| has_columns(&ancestor.columns, &columns));
        if ancestor.is_none() {
            let said = match &layers.profile {
                None => "the command line".to_owned(),
                Some(profile) => format!("the command line and {}", profile.place()),
            };
            warn!(
                event = "warning",
                "`{}` holds rejects of run {run}, which the ledger does not know, or not any more, as a run of a list with these columns to this service: mapping, campaign, region, `--only` and do-not-call lists are taken from {said} alone",
                input.input.name()
            );
        }
        Ok(ancestor.map(|ancestor| ancestor.defaults))
    }
}

/// People who were not to be called by the run are not to be called by its rejects either.
fn refuse_lists_that_are_gone(run: RunId, defaults: &Options) -> Result<(), Failure> {
    let mut lists = defaults.phones.suppress.iter().flatten();
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

/// Whether one of the inputs that are known by these digests had these columns, or all but one
/// of them: somebody may have added one, such as the country that a number lacked.
fn has_columns(inputs: &[[u8; 32]], columns: &[&str]) -> bool {
    let is_known = |columns: &[&str]| inputs.contains(&columns_digest(columns));
    let is_known_without = |added: usize| {
        let (before, after) = (&columns[..added], &columns[added + 1..]);
        is_known(&[before, after].concat())
    };
    is_known(columns) || (0..columns.len()).any(is_known_without)
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
