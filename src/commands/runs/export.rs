//! `leadload runs export`: a results file of what runs sent or refused.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, StdoutLock};
use std::path::Path;

use anyhow::anyhow;

use super::known::KnownRuns;
use crate::campaign::CampaignChoice;
use crate::cli::runs::ExportArgs;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::{CampaignId, Counts, RunId};
use crate::ledger::{ExportedRow, Ledger, LedgerError, LedgerPlace, RunRecord, Selection};
use crate::options::Format;
use crate::report::{console, export_json, export_text};
use crate::results::{
    ExportError, ExportFile, ExportStream, OutputError, OutputPaths, ResultsLine, Written,
};
use crate::text::shown_name;

/// What breaks an export off.
#[derive(Debug)]
enum Broken {
    /// Rows cannot be read.
    Ledger(LedgerError),
    /// Lines cannot be written.
    Output(OutputError),
    /// Nobody takes them any more.
    Stdout(io::Error),
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

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Stdout(error)
    }
}

/// Where the lines go.
enum Sink {
    File(Box<ExportFile>),
    Stdout(Box<ExportStream<StdoutLock<'static>>>),
}

impl Sink {
    fn write(&mut self, line: &ResultsLine<'_>) -> Result<(), Broken> {
        match self {
            Sink::File(file) => Ok(file.write(line)?),
            Sink::Stdout(stream) => Ok(stream.write(line)?),
        }
    }

    fn finish(self) -> Result<Written, Broken> {
        match self {
            Sink::File(file) => Ok(file.finish()?),
            Sink::Stdout(stream) => {
                stream.finish()?;
                Ok(Written::default())
            }
        }
    }
}

/// Runs the command; returns what is to be said on standard output. Where the export itself
/// goes there it is said on standard error, unless it is to be quiet.
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
            .map_err(|error| broken_off(Broken::Stdout(error)))?
    } else {
        refuse_place(&known, &args.results)?;
        let file = ExportFile::create(&args.results, with_file, with_run);
        Sink::File(Box::new(file.map_err(OutputError::before_exporting)?))
    };
    let exported = match &known.ledger {
        Some(ledger) => export(ledger, &selection, &names(&runs), sink),
        None => sink.finish().map(|written| (Counts::default(), written)),
    };
    let (counts, written) = match exported {
        // A reader that has seen enough is a normal end.
        Err(Broken::Stdout(error)) if error.kind() == ErrorKind::BrokenPipe => {
            return Ok(String::new());
        }
        exported => exported.map_err(broken_off)?,
    };
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
    OutputPaths::refuse_export(results, &known.place, &untouched)
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
) -> Result<(Counts, Written), Broken> {
    let mut counts = Counts::default();
    ledger.export(selection, |row: ExportedRow| -> Result<(), Broken> {
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

fn broken_off(broken: Broken) -> Failure {
    match broken {
        Broken::Ledger(error) => Failure::new(StoppedBy::Ledger, error),
        Broken::Output(error) => Failure::new(StoppedBy::Disk, ExportError(error)),
        Broken::Stdout(error) => Failure::new(
            StoppedBy::Disk,
            anyhow!("cannot write to standard output: {error}"),
        ),
    }
}
