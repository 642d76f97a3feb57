//! Begins the run and sends its rows.

use super::delivery::Delivery;
use super::ending::{Ending, campaign_names};
use super::prepared::{Import, Prepared};
use super::record::{PlannedRun, Run, RunLedger};
use crate::commands::ask::Terminal;
use crate::commands::inputs;
use crate::event::RunEvent;
use crate::exit::{ExitCode, Failure};
use crate::intake::Intake;
use crate::report::{
    Listeners, Log, PageNotes, Width, console, destination_lines, difference_lines, log_import,
    run_line,
};
use crate::settings::ImportSettings;

/// Begins the run and sends it; `rows` is their number, if that is known.
pub(super) async fn send(
    prepared: Prepared,
    rows: Option<u64>,
    terminal: Terminal,
    log: &Log,
) -> Result<ExitCode, Failure> {
    let Prepared {
        import,
        book,
        writer,
        report,
        reached,
        planned,
        directory,
        ..
    } = prepared;
    let Import {
        request,
        settings,
        intake,
        metrics,
        ..
    } = import;
    let show = inputs::show(&settings);
    let begun = match planned {
        Some(planned) => Some(begin(planned, &settings, rows.is_some())?),
        None => None,
    };
    let (run, ledger) = begun.unzip();
    log_start(&settings, &intake, run.as_ref());
    if let Some(run) = &run {
        metrics.name_run(run.begun.run);
    }
    let mut listeners = Listeners::of_import(intake.inputs.len(), show, log, metrics.clone());
    listeners.page = report.is_some().then(|| PageNotes::new(&intake.inputs));
    find_total(&mut listeners, rows, &intake);
    let campaign_names = campaign_names(&book, directory.listed());
    let delivery = Delivery {
        settings: &settings,
        client: reached.client,
        intake: &intake,
        book,
        writer,
        run: run.as_ref().zip(ledger),
    };
    let mut events = |event: RunEvent<'_>| listeners.note(&event);
    let delivered = delivery.send(&mut events, terminal.interrupts).await;
    listeners.finish();
    let ending = Ending {
        settings: &settings,
        intake: &intake,
        watch: terminal.watch,
        line: request.line,
        metrics,
        report,
        campaign_names,
        run: run.as_ref(),
    };
    ending.close(delivered?, &listeners)
}

/// Gives the number of rows to the listeners that show it; it is counted beside the sending
/// where it is not known.
fn find_total(listeners: &mut Listeners, rows: Option<u64>, intake: &Intake) {
    match (rows, listeners.wants_total()) {
        (Some(rows), _) => listeners.total.set(rows),
        (None, Some(total)) => inputs::count_rows(intake, total),
        (None, None) => {}
    }
}

/// Begins the run or continues it, and reports which; and its destination, unless the overview
/// has shown that.
fn begin(
    planned: PlannedRun,
    settings: &ImportSettings,
    is_shown: bool,
) -> Result<(Run, RunLedger), Failure> {
    let width = Width::of_stderr();
    let mut said = destination_lines(&planned.options, width);
    if let Some(other) = &planned.predecessors.other {
        said.push_str(&difference_lines(other, &planned.differences(), width));
    }
    let (run, ledger) = planned.begin(settings)?;
    match (settings.quiet, is_shown) {
        (true, _) => {}
        (false, false) => console::note(&(run_line(&run.begun) + &said)),
        (false, true) if run.begun.continues => {}
        (false, true) => console::note(&run_line(&run.begun)),
    }
    Ok((run, ledger))
}

fn log_start(settings: &ImportSettings, intake: &Intake, run: Option<&Run>) {
    let reading = &settings.reading;
    log_import(
        run.map(|run| (run.begun.run, run.begun.continues)),
        intake.inputs.len(),
        &settings.service,
        reading.campaign.as_ref().map(ToString::to_string),
        reading.mapping.campaign_column.as_deref(),
    );
}
