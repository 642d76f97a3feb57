//! `leadload runs export`: a results file of what runs sent or refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::anyhow;

use super::known::KnownRuns;
use crate::campaign::CampaignChoice;
use crate::cli::Format;
use crate::cli::runs::ExportArgs;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::{CampaignId, Counts, RunId};
use crate::ledger::{ExportedRow, Ledger, LedgerError, RunRecord, Selection};
use crate::report::{export_json, export_text};
use crate::results::{ExportError, ExportFile, OutputError, OutputPaths, ResultsLine, Written};
use crate::text::shown_name;

/// What breaks an export off.
#[derive(Debug)]
enum Broken {
    /// Rows cannot be read.
    Ledger(LedgerError),
    /// Lines cannot be written.
    Output(OutputError),
}

impl From<LedgerError> for Broken {
    fn from(error: LedgerError) -> Broken {
        Broken::Ledger(error)
    }
}

impl From<OutputError> for Broken {
    fn from(error: OutputError) -> Broken {
        Broken::Output(error)
    }
}

/// Runs the command; returns what is to be said.
pub(super) fn run(ledger: &Path, args: &ExportArgs, format: Format) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let runs = chosen(&known, args)?;
    let selection = Selection {
        runs: runs.iter().map(|run| run.run).collect(),
        campaign: campaign(&runs, args)?,
        statuses: args.status.clone(),
    };
    refuse_place(&known, &args.results)?;
    let with_file = runs.iter().any(|run| run.inputs.len() > 1);
    let file = ExportFile::create(&args.results, with_file, runs.len() > 1)
        .map_err(OutputError::before_exporting)?;
    let (counts, written) = match &known.ledger {
        Some(ledger) => export(ledger, &selection, &names(&runs), file),
        None => file
            .finish()
            .map(|written| (Counts::default(), written))
            .map_err(Broken::Output),
    }
    .map_err(broken_off)?;
    Ok(match format {
        Format::Text => export_text(&counts, &written),
        Format::Json => export_json(&counts, &written),
    })
}

/// The runs that were named, or all; each once, in order.
fn chosen<'k>(known: &'k KnownRuns, args: &ExportArgs) -> Result<Vec<&'k RunRecord>, Failure> {
    if args.runs.is_empty() {
        return Ok(known.runs.iter().collect());
    }
    let named = args.runs.iter().map(|name| known.named(*name));
    let mut runs: Vec<&RunRecord> = named.collect::<Result<_, Failure>>()?;
    runs.sort_by_key(|run| run.run);
    runs.dedup_by_key(|run| run.run);
    Ok(runs)
}

/// The campaign that is meant: an id, or a name that one of the runs was started with.
fn campaign(runs: &[&RunRecord], args: &ExportArgs) -> Result<Option<CampaignId>, Failure> {
    let said = args.campaign.as_deref().unwrap_or_default();
    let name = match CampaignChoice::parse(said).or_stopped(StoppedBy::Usage)? {
        None => return Ok(None),
        Some(CampaignChoice::Id(id)) => return Ok(Some(id)),
        Some(CampaignChoice::Name(name)) => name,
    };
    let ids: BTreeSet<CampaignId> = runs
        .iter()
        .filter_map(|run| run.campaign_called(&name))
        .collect();
    let mut ids = ids.into_iter();
    let error = match (ids.next(), ids.next()) {
        (Some(id), None) => return Ok(Some(id)),
        (Some(one), Some(other)) => anyhow!(
            "`{}` has been the name of several campaigns, such as {one} and {other}\n\nhint: give the id instead of the name",
            shown_name(&name)
        ),
        (None, _) => anyhow!(
            "none of these runs was started with a campaign called `{}`\n\nhint: give its id; `leadload campaigns` lists them",
            shown_name(&name)
        ),
    };
    Err(Failure::new(StoppedBy::Usage, error))
}

/// An export replaces neither the ledger nor what was imported.
fn refuse_place(known: &KnownRuns, results: &Path) -> Result<(), Failure> {
    if results.as_os_str() == "none" {
        let error = anyhow!("an export needs a file\n\nhint: name it with `--results`");
        return Err(Failure::new(StoppedBy::Usage, error));
    }
    let inputs = known.runs.iter().flat_map(|run| &run.inputs);
    let inputs = inputs.filter_map(|input| input.path.as_deref());
    let untouched: Vec<&Path> = inputs.collect();
    OutputPaths::refuse_export(results, &known.path, &untouched)
        .map_err(OutputError::before_exporting)
}

/// The names of the inputs of each run; none where they were pruned.
fn names<'r>(runs: &[&'r RunRecord]) -> BTreeMap<RunId, Vec<&'r str>> {
    let names = runs.iter().map(|run| {
        let inputs = run.inputs.iter();
        let names = inputs.map(|input| input.name.as_deref().unwrap_or_default());
        (run.run, names.collect())
    });
    names.collect()
}

fn export(
    ledger: &Ledger,
    selection: &Selection,
    names: &BTreeMap<RunId, Vec<&str>>,
    mut file: ExportFile,
) -> Result<(Counts, Written), Broken> {
    let mut counts = Counts::default();
    ledger.export(selection, |row: ExportedRow| -> Result<(), Broken> {
        counts.add(row.outcome.status);
        let inputs = names.get(&row.run);
        let name = inputs.and_then(|inputs| inputs.get(row.file));
        file.write(&ResultsLine {
            file: name.copied().unwrap_or_default(),
            row: row.row,
            line: row.line,
            phone: &row.phone,
            campaign: row.campaign,
            outcome: &row.outcome,
            run: Some(row.run),
        })?;
        Ok(())
    })?;
    Ok((counts, file.finish()?))
}

fn broken_off(broken: Broken) -> Failure {
    match broken {
        Broken::Ledger(error) => Failure::new(StoppedBy::Ledger, error),
        Broken::Output(error) => Failure::new(StoppedBy::Disk, ExportError(error)),
    }
}
