//! `leadload check`: does everything that an import does before sending.

use serde_json::json;
use tracing::warn;

use super::ask::{self, Terminal};
use super::outcome::report;
use super::{questions, save_mapping};
use crate::campaign::CampaignBook;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::import::{
    Guards, MovedName, Request, campaign_list, dry_run, inputs, moved_names, remember,
};
use crate::intake::{Batch, Intake};
use crate::options::Format;
use crate::report::{
    self, Checked, DoubtError, Estimate, Examples, ListMapping, Log, Lookup, Outcome, Page,
    RunMode, check_json, console, log_check,
};
use crate::results::{Completion, KnownOutputs, OutputChoice, OutputError, OutputPaths, Writer};
use crate::settings::{ImportSettings, Service};
use crate::stop::Stop;
use crate::text::counted;

pub fn run(mut request: Request, log: &Log) -> Result<ExitCode, Failure> {
    request.unnamed = OutputChoice::None;
    request.only_checks = true;
    ask::interruptible("sent", async |terminal| {
        let surveyed = inputs::survey(&mut request).await?;
        let (settings, intake) = questions::plan(&mut request, surveyed, terminal).await?;
        let checked = check(&request, &settings, &intake, terminal, log).await;
        checked.map_err(|failure| failure.of_mapping(json!(ListMapping::of(&intake))))
    })
}

fn report_page(
    outcome: &Outcome<'_>,
    intake: &Intake,
    notes: &Examples,
    settings: &ImportSettings,
    estimate: Option<&Estimate>,
) -> String {
    let page = Page {
        outcome,
        intake,
        notes,
        campaign: settings.reading.campaign.as_ref(),
        mode: RunMode::Checked { estimate },
    };
    page.html()
}

fn begun_writer(paths: &OutputPaths, intake: &Intake) -> Result<Writer, OutputError> {
    let mut writer = Writer::create(paths, &intake.inputs, true, KnownOutputs::default())?;
    writer.begin(None)?;
    Ok(writer)
}

async fn check(
    request: &Request,
    settings: &ImportSettings,
    intake: &Intake,
    terminal: &Terminal,
    log: &Log,
) -> Result<ExitCode, Failure> {
    let to_save = save_mapping::prepare(request, intake, settings)?;
    let remembered = remember(settings).await?;
    let service = Service::new(&request.layers).ok();
    let looked_up = campaign_list::look_up(service, settings, intake).await?;
    let paths = inputs::output_paths(settings, intake)?;
    let mut writer = begun_writer(&paths, intake).map_err(OutputError::before_sending)?;
    let report = inputs::report_file(&paths)?;
    log_check(intake.inputs.len());
    let ids = looked_up.ids.unwrap_or(remembered.campaign_ids);
    let book = CampaignBook::new(settings.reading.campaign.clone(), ids);
    let moved = match &remembered.ledger {
        Some((ledger, rules)) => moved_names(ledger, *rules, settings, intake, &book).await?,
        None => Vec::new(),
    };
    let mut warnings = request.warnings.clone();
    let guards = Guards::new(settings, intake, &book, &mut warnings).await?;
    let page = report.is_some().then(|| Examples::new(&intake.inputs));
    let take = |batch: &Batch| writer.write(batch).map_err(OutputError::while_writing);
    let memory = remembered.memory;
    let found = dry_run::run(settings, intake, book, memory, page, log, take).await?;
    guards.refuse_invalid(&found.tally)?;
    let written = writer.finish(Completion::WHOLE);
    // A check always reads all rows, but what it finds may stop an import.
    let stop = DoubtError::of(intake).map(|error| Stop::error(StoppedBy::Usage, error.message));
    let mut outcome = Outcome {
        written: written.map_err(OutputError::while_writing)?,
        rows_total: Some(found.tally.counts.total()),
        exit_code: found.tally.exit_code(stop.as_ref(), settings.problems_exit),
        stop,
        campaign_names: looked_up.names,
        ..inputs::outcome(settings, intake, &found.tally, terminal.time.seconds())
    };
    warn_of_what_import_would_refuse(&guards, found.ready(), &looked_up.lookup, &moved);
    let saved = to_save.as_ref();
    saved.map_or(Ok(()), |saved| saved.write().stopped_by(StoppedBy::Usage))?;
    let estimate = found.estimate(&settings.rate, remembered.known_rate);
    if let (Some(report), Some(notes)) = (report, &found.page) {
        let page = report_page(&outcome, intake, notes, settings, estimate.as_ref());
        let written = inputs::write_report(report, &page, &mut outcome.written);
        written.map_err(OutputError::while_writing)?;
    }
    let checked = Checked {
        outcome: &outcome,
        intake,
        findings: &found.findings,
        lookup: &looked_up.lookup,
        estimate: estimate.as_ref(),
        saved,
        next: saved.and_then(|saved| save_mapping::next(saved, request)),
    };
    print(&checked, settings.options.output.format())?;
    Ok(outcome.exit_code)
}

fn print(checked: &Checked<'_>, format: Format) -> Result<(), Failure> {
    report(checked.outcome, format, || match format {
        Format::Text => console::show(&report::check(checked)),
        Format::Json => check_json(checked, console::Stdout),
    })
}

fn warn_of_what_import_would_refuse(
    guards: &Guards,
    ready: u64,
    lookup: &Lookup,
    moved: &[MovedName],
) {
    if let Some(unclear) = lookup.unclear() {
        let count = unclear.names().count() as u64;
        warn!(
            event = "warning",
            "an import would send nothing until {} {} clear (unknown or ambiguous)",
            counted(count, "campaign name"),
            if count == 1 { "is" } else { "are" }
        );
    }
    if let Some(what) = MovedName::all_in_words(moved) {
        warn!(
            event = "warning",
            "an import would send nothing without `--again`: {what}"
        );
    }
    if let Some(too_many) = guards.too_many_new(ready) {
        warn!(event = "warning", "{too_many}");
    }
}
