//! `leadload runs export`: a results file of the rows that runs sent or found invalid.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, StdoutLock};
use std::path::Path;

use anyhow::anyhow;
use thiserror::Error;

use super::known::KnownRuns;
use crate::campaign::CampaignChoice;
use crate::cli::runs::ExportArgs;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::{CampaignId, Counts, RunId};
use crate::ledger::{ExportedRow, Ledger, LedgerPlace, RunRecord, Selection};
use crate::options::Format;
use crate::report::{console, export_json, export_text};
use crate::results::{
    ExportError, ExportFile, ExportStream, OutputError, OutputPaths, ResultsLine, Written,
};
use crate::text::shown_name;

/// Standard output cannot be written to.
#[derive(Debug, Error)]
#[error("cannot write to standard output: {0}")]
struct NotPrinted(io::Error);

/// Where the lines go.
enum Sink {
    File(Box<ExportFile>),
    Stdout(Box<ExportStream<StdoutLock<'static>>>),
}

impl Sink {
    fn write(&mut self, line: &ResultsLine<'_>) -> Result<(), Failure> {
        match self {
            Sink::File(file) => file.write(line).map_err(not_written),
            Sink::Stdout(stream) => stream.write(line).map_err(not_printed),
        }
    }

    fn finish(self) -> Result<Written, Failure> {
        match self {
            Sink::File(file) => file.finish().map_err(not_written),
            Sink::Stdout(stream) => {
                let finished = stream.finish().map_err(not_printed);
                finished.map(|()| Written::default())
            }
        }
    }
}

fn not_written(error: OutputError) -> Failure {
    Failure::new(StoppedBy::Disk, ExportError(error))
}

fn not_printed(error: io::Error) -> Failure {
    Failure::new(StoppedBy::Disk, NotPrinted(error))
}

/// Whether the program that reads standard output has seen enough, which is a normal end.
fn is_reader_gone(failure: &Failure) -> bool {
    let not_printed = failure.error.downcast_ref::<NotPrinted>();
    not_printed.is_some_and(|NotPrinted(error)| error.kind() == ErrorKind::BrokenPipe)
}

/// Runs the command; returns the text for standard output. Where the export itself goes there,
/// the text goes to standard error, or nowhere with `--quiet`.
pub(super) fn run(
    ledger: &LedgerPlace,
    args: &ExportArgs,
    format: Format,
    is_quiet: bool,
) -> Result<String, Failure> {
    let is_to_stdout = args.results.as_os_str() == "-";
    if is_to_stdout && format == Format::Json {
        let error = anyhow!(
            "standard output cannot be both the export (`--results -`) and one JSON object (`--format json`)\n\nhint: name a file with `--results`, or leave `--format json` out"
        );
        return Err(Failure::new(StoppedBy::Usage, error));
    }
    let known = KnownRuns::read(ledger)?;
    let runs = chosen(&known, args)?;
    let selection = Selection {
        runs: runs.iter().map(|run| run.run).collect(),
        campaign: campaign(&runs, args)?,
        statuses: args.status.clone(),
    };
    let with_file = runs.iter().any(|run| run.inputs.len() > 1);
    let with_run = runs.len() > 1;
    let sink = if is_to_stdout {
        ExportStream::begin(io::stdout().lock(), with_file, with_run)
            .map(|stream| Sink::Stdout(Box::new(stream)))
            .map_err(not_printed)?
    } else {
        refuse_place(&known, &args.results)?;
        let file = ExportFile::create(&args.results, with_file, with_run);
        Sink::File(Box::new(file.map_err(OutputError::before_exporting)?))
    };
    let exported = match &known.ledger {
        Some(ledger) => export(ledger, &selection, &names(&runs), sink),
        None => sink.finish().map(|written| (Counts::default(), written)),
    };
    if exported.as_ref().is_err_and(is_reader_gone) {
        return Ok(String::new());
    }
    let (counts, written) = exported?;
    let text = match format {
        Format::Text => export_text(&counts, &written),
        Format::Json => export_json(&counts, &written),
    };
    if !is_to_stdout {
        return Ok(text);
    }
    if !is_quiet {
        console::note(&text);
    }
    Ok(String::new())
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

/// The chosen campaign: an id, or a name that one of the runs was started with.
fn campaign(runs: &[&RunRecord], args: &ExportArgs) -> Result<Option<CampaignId>, Failure> {
    let given = args.campaign.as_deref().unwrap_or_default();
    let name = match CampaignChoice::parse(given).or_stopped(StoppedBy::Usage)? {
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
    OutputPaths::of_names(Some(results.to_owned()), None, None)
        .refuse_named(&untouched, &[], Some(&known.place))
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
    mut sink: Sink,
) -> Result<(Counts, Written), Failure> {
    let mut counts = Counts::default();
    ledger.export(selection, |row: ExportedRow| -> Result<(), Failure> {
        counts.add(row.outcome.status);
        let inputs = names.get(&row.run);
        let name = inputs.and_then(|inputs| inputs.get(row.file));
        sink.write(&ResultsLine {
            file: name.copied().unwrap_or_default(),
            row: row.row,
            line: row.line,
            phone: &row.phone,
            campaign: row.campaign,
            outcome: &row.outcome,
            run: Some(row.run),
            kept: &[],
        })
    })?;
    Ok((counts, sink.finish()?))
}
