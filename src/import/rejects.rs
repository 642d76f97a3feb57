//! Importing rejects again: adds the options of the run that wrote them.

use std::collections::BTreeSet;

use super::warnings::Warnings;
use crate::exit::{Failure, StoppedBy};
use crate::intake::InspectedInput;
use crate::lead::RunId;
use crate::ledger::{Ledger, LedgerPlace, StoredDefaults};
use crate::message::Message;
use crate::options::Options;
use crate::settings::Layers;
use crate::text::printable;
use sha2::{Digest, Sha256};

/// Finds the run that rejects among the inputs name, and adds its options with
/// lower precedence than what was typed. If a service is given, the run must
/// have used that service: another one has other campaigns with the same ids.
pub fn add_options(
    layers: &mut Layers,
    inputs: &[InspectedInput],
    ledger: Option<&LedgerPlace>,
    service: Option<&str>,
    warnings: &mut Warnings,
) -> Result<(), Failure> {
    let rejects = inputs
        .iter()
        .filter_map(|input| Some((input, input.runs.as_ref()?)));
    let rejects: Vec<(&InspectedInput, &BTreeSet<RunId>)> = rejects.collect();
    for (input, runs) in &rejects {
        if runs.is_empty() {
            warnings.add(unknown_run(input, "no row names its run"));
        }
    }
    let rejects = rejects
        .into_iter()
        .flat_map(|(input, runs)| runs.iter().map(move |run| (input, *run)));
    let rejects: Vec<(&InspectedInput, RunId)> = rejects.collect();
    let (Some(place), false) = (ledger, rejects.is_empty()) else {
        for (input, _) in rejects {
            warnings.add(unknown_run(input, "there is no ledger"));
        }
        return Ok(());
    };
    let ledger = Ledger::read(place)?;
    let mut found: Option<(RunId, String)> = None;
    for (input, run) in rejects {
        let known = ledger.as_ref().map(|ledger| ledger.defaults_of(run));
        let known = known.transpose()?.flatten();
        let defaults = defaults(input, run, known, service, layers)?;
        match (defaults, &found) {
            (Err(why), _) => warnings.add(unknown_run(input, &why)),
            (Ok(defaults), None) => found = Some((run, defaults)),
            (Ok(defaults), Some((other, options))) if !are_alike(options, &defaults) => {
                let message = Message::new(
                    format!(
                        "the inputs are rejects of runs {other} and {run}, which have different settings"
                    ),
                    "import the rejects of each run with a command of their own; the column `leadload_run` says which run a row is from",
                );
                let on_page = message.on_page(
                    "These rows to fix are of two lists, which had different settings",
                    "Send the rows of each list as a list of its own. The column leadload_run says which rows belong together.",
                );
                return Err(Failure::new(StoppedBy::Usage, on_page));
            }
            (Ok(_), Some(_)) => {}
        }
    }
    let (Some((run, options)), Some(ledger)) = (found, ledger) else {
        return Ok(());
    };
    let options: Options = serde_json::from_str(&options).map_err(|error| {
        // Continuing would ignore the run's do-not-call lists.
        ledger.damaged(format!("the settings of run {run}: {error}"))
    })?;
    if layers.typed().phones.suppress.is_none() {
        refuse_missing_lists(run, &options)?;
    }
    layers.add_run(run, options);
    Ok(())
}

/// The defaults that rejects take from their run, or why they take none.
fn defaults(
    input: &InspectedInput,
    run: RunId,
    known: Option<StoredDefaults>,
    service: Option<&str>,
    layers: &Layers,
) -> Result<Result<String, String>, Failure> {
    let Some(known) = known else {
        return Ok(Err(format!("this ledger has no run {run}")));
    };
    // Every ledger may have a run with this number: the right run had inputs with these columns.
    let why = if service.is_some_and(|service| service != known.service) {
        format!("run {run} of this ledger had another service")
    } else if !has_columns(&known.columns, &input.own_columns()) {
        format!("run {run} of this ledger had other columns")
    } else {
        return Ok(known.defaults.ok_or(format!("run {run} was pruned")));
    };
    refuse_to_lose_lists(input, run, &why, &known, layers)?;
    Ok(Err(why))
}

/// Refuses rejects that do not fit their run if it had do-not-call lists or `--only`, and the
/// command line has none: people who must not be called would be.
fn refuse_to_lose_lists(
    input: &InspectedInput,
    run: RunId,
    why: &str,
    known: &StoredDefaults,
    layers: &Layers,
) -> Result<(), Failure> {
    let options = known.defaults.as_deref();
    let options = options.and_then(|options| serde_json::from_str::<Options>(options).ok());
    let options = options.unwrap_or_default();
    let typed = layers.typed();
    let loses_lists = options.phones.suppress.is_some() && typed.phones.suppress.is_none();
    let loses_only = options.mapping.only.is_some() && typed.mapping.only.is_none();
    let lost = match (loses_lists, loses_only) {
        (true, _) => "--suppress",
        (false, true) => "--only",
        (false, false) => return Ok(()),
    };
    let had = match lost {
        "--only" => "was sent in part",
        _ => "had a do-not-call list",
    };
    let message = Message::new(
        format!(
            "leadload does not know which import wrote `{}` ({why}), and run {run} was given `{lost}`",
            printable(input.input.name())
        ),
        format!(
            "if you changed the header, change it back; otherwise give `{lost}` and the other flags again (`leadload runs show {run}` has them)"
        ),
    );
    let name = printable(input.input.name());
    Err(Failure::new(
        StoppedBy::Usage,
        message.on_page(
            format!("leadload does not know which list `{name}` belongs to, and one that it may belong to {had}"),
            "If you have changed the names of the columns, change them back. Otherwise choose the whole list again instead of its rows to fix.",
        ),
    ))
}

fn unknown_run(input: &InspectedInput, why: &str) -> Message {
    let name = input.input.name();
    let what = format!(
        "leadload does not know which import wrote `{name}` ({why}), so its do-not-call lists, campaign, columns, countries and `--only` are not known"
    );
    Message::new(
        what,
        "give the flags of that import again, above all `--suppress`",
    )
    .on_page(
        format!("leadload does not know which list `{name}` belongs to, so the settings of that list are not known"),
        "Choose them all again, above all the do-not-call list.",
    )
}

/// Refuses if a do-not-call list of the run is missing: it applies to the run's rejects too.
fn refuse_missing_lists(run: RunId, options: &Options) -> Result<(), Failure> {
    let mut lists = options.phones.suppress.iter().flatten();
    let Some(missing) = lists.find(|list| !list.exists()) else {
        return Ok(());
    };
    let missing = missing.display().to_string();
    let missing = printable(&missing);
    let message = Message::new(
        format!(
            "the do-not-call list `{missing}` no longer exists, but run {run} used it and its rejects need it too"
        ),
        "restore it, or name the lists that apply with `--suppress`",
    );
    Err(Failure::new(
        StoppedBy::Usage,
        message.on_page(
            format!("The do-not-call list `{missing}` of these rows is gone"),
            "Add it again under “Do-not-call list”: these people must not be called.",
        ),
    ))
}

/// Whether one of the inputs with these digests had these columns, or all but one of
/// them: the user may have added a column, such as the country that a number lacked.
pub fn has_columns(inputs: &[[u8; 32]], columns: &[&str]) -> bool {
    let is_known = |columns: &[&str]| inputs.contains(&columns_digest(columns));
    let is_known_without = |added: usize| {
        let (before, after) = (&columns[..added], &columns[added + 1..]);
        is_known(&[before, after].concat())
    };
    is_known(columns) || (0..columns.len()).any(is_known_without)
}

/// A digest of the column names in any order, since a spreadsheet program may have reordered them.
pub fn columns_digest(names: &[&str]) -> [u8; 32] {
    let mut names = names.to_vec();
    names.sort_unstable();
    let mut digest = Sha256::new();
    for name in names {
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
    }
    digest.finalize().into()
}

/// Whether these are the same settings, though another version of the program may have written one
/// of them, with its options in another order.
fn are_alike(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::to_value(serde_json::from_str::<Options>(text).ok()?).ok();
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_the_same_in_whatever_order_a_version_has_written_them() {
        let one = r#"{"campaign":"101","region":"GB"}"#;
        assert!(are_alike(one, r#"{ "region": "GB", "campaign": "101" }"#));
        assert!(!are_alike(one, r#"{"campaign":"101","region":"DE"}"#));
        assert!(!are_alike(one, r#"{"campaign":"101"}"#));
        // What cannot be read is known to be the same only if it is.
        assert!(!are_alike("{", "{ "));
    }
}
