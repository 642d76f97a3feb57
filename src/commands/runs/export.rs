//! `leadload runs export`: writes the results of the rows that runs sent or found invalid.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::KnownRuns;
use crate::campaign::CampaignChoice;
use crate::cli::runs::ExportArgs;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::{CampaignId, Counts, RunId};
use crate::ledger::{ExportedRow, InputRecord, LedgerPlace, RunRecord, Selection};
use crate::message::{Message, Text};
use crate::options::Format;
use crate::report::{self, console, export_json};
use crate::results::{
    MoreColumns, OutputError, OutputPaths, ResultsFile, ResultsLine, ResultsText, Written,
};
use crate::settings::Layers;
use crate::text::shown_name;

pub(super) fn run(
    ledger: &LedgerPlace,
    args: &ExportArgs,
    layers: &Layers,
) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let runs = chosen(&known, args)?;
    let selection = Selection {
        runs: runs.iter().map(|run| run.run).collect(),
        campaign: campaign(&runs, args.campaign.as_deref())?,
        statuses: args.status.clone(),
    };
    let more = MoreColumns {
        file: runs.iter().any(|run| run.inputs.len() > 1),
        run: runs.len() > 1,
    };
    let (counts, written) = if args.is_printed() {
        let text = ResultsText::begin(console::Stdout, more);
        let mut text = text.stopped_by(StoppedBy::Disk)?;
        let write = |line: &ResultsLine<'_>| text.write(line).stopped_by(StoppedBy::Disk);
        let counts = export(&known, &selection, &runs, write)?;
        text.finish().stopped_by(StoppedBy::Disk)?;
        (counts, Written::default())
    } else {
        refuse_place(&known, &args.results, layers)?;
        let file = ResultsFile::of_export(&args.results, more);
        let mut file = file.map_err(|error| error.of_export().before_sending())?;
        let write = |line: &ResultsLine<'_>| file.write(line).map_err(not_written);
        let counts = export(&known, &selection, &runs, write)?;
        (counts, file.finish().map_err(not_written)?)
    };
    Ok(match layers.options().output.format() {
        Format::Text => console::text_on_stdout(&report::export(&counts, &written)),
        Format::Json => export_json(&counts, &written),
    })
}

fn not_written(error: OutputError) -> Failure {
    error.of_export().while_writing()
}

/// The runs that were named, or all runs; each once, in order.
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

/// The chosen campaign: an id, or a name that one of the runs was started with.
pub(super) fn campaign(
    runs: &[&RunRecord],
    given: Option<&str>,
) -> Result<Option<CampaignId>, Failure> {
    let given = given.unwrap_or_default();
    let name = match CampaignChoice::given(given).stopped_by(StoppedBy::Usage)? {
        None => return Ok(None),
        Some(CampaignChoice::Id(id)) => return Ok(Some(id)),
        Some(CampaignChoice::Name(name)) => name,
    };
    let ids: BTreeSet<CampaignId> = runs
        .iter()
        .filter_map(|run| run.campaign_called(&name))
        .collect();
    let mut ids = ids.into_iter();
    let shown = shown_name(&name);
    match (ids.next(), ids.next()) {
        (Some(id), None) => Ok(Some(id)),
        (Some(one), Some(other)) => Err(Failure::usage(Message::new(
            Text::terminal(format!(
                "`{shown}` has been the name of several campaigns, such as {one} and {other}"
            )),
            terminal_text!("give the id instead of the name"),
        ))),
        (None, _) => Err(Failure::usage(Message::new(
            Text::terminal(format!(
                "none of these runs was started with a campaign called `{shown}`"
            )),
            terminal_text!("give its id; `leadload campaigns` lists them"),
        ))),
    }
}

/// Refuses to replace the ledger, an imported file, or a file of the settings.
pub(super) fn refuse_place(
    known: &KnownRuns,
    results: &Path,
    layers: &Layers,
) -> Result<(), Failure> {
    if matches!(results.to_str(), Some("-" | "none")) {
        return Err(Failure::usage(terminal_message!(
            "this needs a file",
            "name it with `--results FILE`"
        )));
    }
    let inputs = known.runs.iter().flat_map(|run| &run.inputs);
    let inputs = inputs.filter_map(|input| input.path.as_deref());
    let untouched: Vec<&Path> = inputs.collect();
    OutputPaths::refuse_export(results, &untouched, &known.place, &layers.reserved)
        .map_err(|error| error.of_export().before_sending())
}

fn export(
    known: &KnownRuns,
    selection: &Selection,
    runs: &[&RunRecord],
    mut write: impl FnMut(&ResultsLine<'_>) -> Result<(), Failure>,
) -> Result<Counts, Failure> {
    let Some(ledger) = &known.ledger else {
        return Ok(Counts::default());
    };
    let inputs: BTreeMap<RunId, &[InputRecord]> =
        runs.iter().map(|run| (run.run, &*run.inputs)).collect();
    let mut counts = Counts::default();
    ledger.export(selection, |row: ExportedRow| {
        counts.add(row.outcome.status);
        let input = inputs.get(&row.run).and_then(|of| of.get(row.file));
        write(&ResultsLine {
            // The inputs of pruned runs have no name.
            file: input.and_then(|of| of.name.as_deref()).unwrap_or_default(),
            row: row.row,
            line: row.line,
            phone: &row.phone,
            campaign: row.campaign,
            outcome: &row.outcome,
            run: Some(row.run),
            kept: &[],
        })
    })?;
    Ok(counts)
}
