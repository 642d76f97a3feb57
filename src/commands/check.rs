//! `leadload check`: does everything that an import does before sending.

use std::collections::HashMap;

use tracing::warn;

use super::ask::{self, Terminal};
use super::inputs::Request;
use super::{campaign_list, dry_run, inputs, questions, save_mapping, service};
use crate::campaign::CampaignBook;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::intake::{Batch, Intake, Memory, MemoryRules};
use crate::lead::{CampaignId, RunId};
use crate::ledger::{Ledger, LedgerError, ServiceId};
use crate::options::Format;
use crate::rate::KnownRate;
use crate::report::{
    Checked, DoubtError, Ended, Estimate, Log, Lookup, Page, PageNotes, RunMode, check_json,
    check_text, log_check,
};
use crate::results::{KnownOutputs, OutputChoice, OutputError, RunEnd, Writer};
use crate::settings::ImportSettings;
use crate::stop::Stop;
use crate::text::counted;

pub fn run(mut request: Request, log: &Log) -> Result<ExitCode, Failure> {
    request.unnamed = OutputChoice::None;
    ask::interruptible("sent", async |terminal| {
        let surveyed = inputs::survey(&mut request).await?;
        let (settings, intake) = questions::plan(&mut request, surveyed, terminal).await?;
        check(&request, &settings, &intake, terminal, log).await
    })
}

fn report_page(
    ended: &Ended<'_>,
    intake: &Intake,
    notes: &PageNotes,
    settings: &ImportSettings,
    estimate: Option<&Estimate>,
) -> String {
    let page = Page {
        ended,
        intake,
        notes,
        campaign: settings.reading.campaign.as_ref(),
        mode: RunMode::Checked { estimate },
    };
    page.html()
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
    let looked_up = campaign_list::look_up(&request.layers, settings, intake).await?;
    let paths = inputs::output_paths(settings, intake)?;
    let mut writer = Writer::create(&paths, &intake.inputs, true, KnownOutputs::default())
        .map_err(OutputError::before_sending)?;
    writer.begin(None).map_err(OutputError::before_sending)?;
    let report = inputs::report_file(&paths)?;
    log_check(intake.inputs.len());
    let ids = looked_up.ids.unwrap_or(remembered.campaign_ids);
    let book = CampaignBook::new(settings.reading.campaign.clone(), ids);
    let page = report.is_some().then(|| PageNotes::new(&intake.inputs));
    let take = |batch: &Batch| writer.write(batch).map_err(OutputError::while_writing);
    let memory = remembered.memory;
    let found = dry_run::run(settings, intake, book, memory, page, log, take).await?;
    let mut ended = inputs::ended(settings, intake, &found.tally, terminal.worked_s());
    let written = writer.finish(RunEnd::WHOLE);
    ended.written = written.map_err(OutputError::while_writing)?;
    ended.rows_total = Some(found.tally.counts.total());
    // A check always reads all rows, but what it finds may stop an import.
    ended.stop = DoubtError::of(intake).map(|error| Stop::error(StoppedBy::Usage, error.message));
    ended.exit_code = found.tally.exit_code(ended.stop.as_ref());
    ended.campaign_names = looked_up.names;
    warn_of_what_import_would_refuse(settings, found.ready(), &looked_up.lookup);
    let saved = to_save.as_ref();
    if let Some(saved) = saved {
        saved.write().or_stopped(StoppedBy::Usage)?;
    }
    let estimate = found.estimate(&settings.rate, remembered.known_rate);
    let estimate = estimate.as_ref();
    if let (Some(report), Some(notes)) = (report, &found.page) {
        let page = report_page(&ended, intake, notes, settings, estimate);
        let written = inputs::write_report(report, &page, &mut ended.written);
        written.map_err(OutputError::while_writing)?;
    }
    let checked = Checked {
        ended: &ended,
        intake,
        findings: &found.findings,
        lookup: &looked_up.lookup,
        estimate,
        saved,
        next: saved.and_then(|saved| save_mapping::next(saved, request)),
    };
    print(&checked, settings.options.output.format())?;
    Ok(ended.exit_code)
}

fn print(checked: &Checked<'_>, format: Format) -> Result<(), Failure> {
    let text = match format {
        Format::Text => check_text(checked),
        Format::Json => check_json(checked),
    };
    inputs::report(checked.ended, format, &text)
}

/// What the ledger knows; empty if there is no ledger or it does not know the service.
#[derive(Default)]
pub(super) struct Remembered {
    pub(super) memory: Option<Memory>,
    campaign_ids: HashMap<String, CampaignId>,
    known_rate: Option<KnownRate>,
}

/// Reads the ledger without changing it.
pub(super) async fn remember(settings: &ImportSettings) -> Result<Remembered, Failure> {
    let settings = settings.clone();
    let reading = service::on_a_thread(move || -> Result<_, LedgerError> {
        let name = &settings.service;
        let place = settings.ledger.as_ref().filter(|_| !name.is_empty());
        let Some(ledger) = place.map(Ledger::read).transpose()?.flatten() else {
            return Ok(Remembered::default());
        };
        let Some(service) = ledger.known_service(name)? else {
            return Ok(Remembered::default());
        };
        let rules = memory_rules(&settings, service, None, false);
        Ok(Remembered {
            // A run may be in progress or have been killed, so its unfiled rows are needed too.
            memory: Some(Memory::new(ledger.recall_all(service)?, rules)),
            campaign_ids: ledger.campaign_ids(service)?,
            known_rate: ledger.known_rate(service)?,
        })
    });
    reading.await
}

/// The rules for looking rows up in earlier runs. A run that
/// continues tells its own rows from those of other runs.
pub(super) fn memory_rules(
    settings: &ImportSettings,
    service: ServiceId,
    run: Option<RunId>,
    goes_on: bool,
) -> MemoryRules {
    MemoryRules {
        service,
        run,
        goes_on,
        once: settings.reading.once,
        on_uncertain: settings.policy.on_uncertain,
        known_bad: settings.reading.known_bad,
        allow_duplicates: settings.policy.form.allow_duplicates,
    }
}

fn warn_of_what_import_would_refuse(settings: &ImportSettings, ready: u64, lookup: &Lookup) {
    if let Some(unclear) = lookup.unclear() {
        let count = unclear.names().count() as u64;
        warn!(
            event = "warning",
            "an import would send nothing until {} {} clear (unknown or ambiguous)",
            counted(count, "campaign name"),
            if count == 1 { "is" } else { "are" }
        );
    }
    if let Some(most) = &settings.options.delivery.max_new
        && ready > **most
    {
        let most = **most;
        warn!(
            event = "warning",
            "an import would send nothing: {} are new, and `--max-new {most}` allows fewer",
            counted(ready, "lead")
        );
    }
}
