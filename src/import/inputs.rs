//! What checking and sending have in common: opens the inputs and plans how to read them.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use tracing::warn;

use super::guards::{earlier_runs, refuse_too_few_rows};
use super::warnings::{Warnings, sentence};
use super::{rejects, service};
use crate::command_line::CommandLine;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::intake::{InspectedInput, Intake, PlannedInput};
use crate::ledger::{Ledger, LedgerPlace, ListPosition};
use crate::message::Text;
use crate::message::{Message, Voice};
use crate::options::{LogFormat, Options, Progress, texts};
use crate::report::{
    CampaignNames, DoubtError, InDoubt, ListMapping, ListNotes, NextCommands, Outcome, RowTotal,
    Show, Tally,
};
use crate::results::{
    OutputChoice, OutputError, OutputPaths, ReportFile, Written, is_results_column,
};
use crate::screen::{MarkedColumn, SuppressionList, SuppressionLists};
use crate::settings::{ImportSettings, Layers, ReadingSettings, form_choice, ledger_place};
use crate::source::{Fingerprint, Input, SourceError};
use crate::text::{counted, printable, shown_name};

/// The request of a command that reads lists.
pub struct Request {
    pub files: Vec<PathBuf>,
    /// Where the outputs go that the user did not name.
    pub unnamed: OutputChoice,
    pub layers: Layers,
    /// Whether nothing is sent, and the ledger stays as it is.
    pub only_checks: bool,
    /// The command line, with answers to questions as if they had been typed.
    pub line: CommandLine,
    pub warnings: Warnings,
    /// Whether the settings of rejects have been taken before, and may have been changed since.
    pub has_settings_of_rejects: bool,
    /// Whether somebody is asked for each setting, as on the page.
    pub asks_for_settings: bool,
    /// In whose words rejects say why a row was not sent.
    pub voice: Voice,
}

impl Request {
    pub fn add_answer(&mut self, answer: Options) {
        self.layers.add_answer(answer);
        self.line = self.line.with_typed(&self.files, self.layers.typed());
    }

    pub fn settings(&self) -> Result<ImportSettings, Failure> {
        let settings = ImportSettings::new(&self.layers, &self.unnamed);
        let mut settings = settings.stopped_by(StoppedBy::Usage)?;
        settings.ledger = self.ledger()?;
        Ok(settings)
    }

    /// The ledger that the settings name, for what the command does with it.
    pub fn ledger(&self) -> Result<Option<LedgerPlace>, Failure> {
        let place = ledger_place(&self.layers.options()).stopped_by(StoppedBy::Usage)?;
        Ok(match self.only_checks {
            true => place.map(LedgerPlace::for_checking),
            false => place,
        })
    }
}

/// Opens all files and detects their form. If some are
/// rejects, the options of the run that wrote them are added.
pub async fn survey(request: &mut Request) -> Result<Vec<InspectedInput>, Failure> {
    let surveyed = survey_forms(request).await?;
    known(request, surveyed).await
}

/// Adds the options of the run that wrote them, if some of the files are rejects.
pub async fn known(
    request: &mut Request,
    mut surveyed: Vec<InspectedInput>,
) -> Result<Vec<InspectedInput>, Failure> {
    if !request.has_settings_of_rejects {
        surveyed = rejects::add_options(request, surveyed).await?;
    }
    warn_of_replaced_lists(&request.layers, &mut request.warnings);
    Ok(surveyed)
}

/// Detects the form of all files. It uses a thread of its own: standard
/// input may be slow, a file may be long, and the user may want to stop.
pub async fn survey_forms(request: &Request) -> Result<Vec<InspectedInput>, Failure> {
    let options = request.layers.options();
    let form = form_choice(&options.reading);
    let phone_columns = texts(&options.mapping.phone_column);
    let files = request.files.clone();
    service::on_a_thread(move || -> Result<_, Failure> {
        let inputs = open_each(&files)?.into_iter();
        let surveyed = inputs.map(|input| InspectedInput::surveyed(input, &form, &phone_columns));
        Ok(surveyed.collect::<Result<_, SourceError>>()?)
    })
    .await
}

/// Plans how to read the inputs; the do-not-call lists are not read yet.
pub async fn plan(
    settings: &ReadingSettings,
    surveyed: Vec<InspectedInput>,
) -> Result<Intake, Failure> {
    let settings = settings.clone();
    service::on_a_thread(move || {
        let planned = surveyed.into_iter();
        let planned = planned.map(|input| PlannedInput::new(input, &settings.mapping));
        let planned: Result<Vec<_>, _> = planned.collect();
        let planned = planned?;
        refuse_kept_names(&planned)?;
        let mut intake = Intake {
            inputs: planned.into(),
            limit: settings.limit,
            phones: settings.phones,
            region: settings.region,
            doubts: settings.doubts,
            doubted: settings.doubted,
            doubt: None,
            marked: Arc::default(),
            suppression: Arc::default(),
            allow_duplicates: settings.allow_duplicates,
            once: settings.once,
            earlier: Arc::default(),
        };
        if let Some(least) = &settings.min_rows {
            refuse_too_few_rows(&intake, least)?;
        }
        intake.look_ahead()?;
        Ok::<_, Failure>(intake)
    })
    .await
}

/// Reads the do-not-call lists, those that are given and the one that the ledger keeps, and what the
/// ledger knows of earlier runs of the inputs.
pub async fn protect(
    mut intake: Intake,
    settings: &ImportSettings,
    warnings: &mut Warnings,
) -> Result<Intake, Failure> {
    // Not earlier: after a question the inputs may be planned again.
    intake.inputs.iter().for_each(warn_of_new_columns);
    intake.marked.columns.iter().for_each(warn_of_marks);
    let (paths, ledger) = (settings.reading.suppress.clone(), settings.ledger.clone());
    let reading = service::on_a_thread(move || {
        let region = intake.region.as_ref().map(|given| given.region);
        let lists = SuppressionLists::read(&paths, &intake.phones, region, intake.doubts);
        let mut lists = lists.stopped_by(StoppedBy::Usage)?;
        for warning in lists.lists.iter().filter_map(SuppressionList::too_old) {
            warn!(event = "warning", "{}", sentence(&warning));
        }
        let ledger = ledger.as_ref().map(Ledger::read).transpose()?.flatten();
        if let Some(ledger) = ledger {
            let all = ledger.suppressed_after(ListPosition::default())?;
            lists.kept.add(&all);
            intake.earlier = earlier_runs(&ledger, &intake)?.into();
        }
        lists.marked = Arc::clone(&intake.marked);
        intake.suppression = Arc::new(lists);
        Ok::<_, Failure>(intake)
    });
    let intake = reading.await?;
    if let Some(changed) = ListMapping::warning(&intake) {
        warnings.add_always(changed);
    }
    Ok(intake)
}

pub fn refuse_doubtful(intake: &Intake) -> Result<(), Failure> {
    let doubt = DoubtError::of(intake);
    doubt.map_or(Ok(()), |error| Err(error.into()))
}

/// Refuses copied columns that have the name of a results column.
fn refuse_kept_names(inputs: &[PlannedInput]) -> Result<(), Failure> {
    for planned in inputs {
        let mut kept = planned.mapping.kept.iter();
        if let Some((name, column)) = kept.find(|(name, _)| is_results_column(name)) {
            let column = shown_name(&planned.header.names[*column]);
            return Err(Failure::usage(message!(
                "the results already have a column `{name}`",
                "{give the copied column another name: `--keep NAME={column}`|{ask_setup}}",
                name = shown_name(name),
                column
            )));
        }
    }
    Ok(())
}

pub async fn fingerprints(intake: &Intake) -> Result<Vec<Fingerprint>, Failure> {
    let inputs = Arc::clone(&intake.inputs);
    service::on_a_thread(move || {
        let inputs = inputs.iter().map(|planned| planned.input.fingerprint());
        inputs.collect::<Result<_, SourceError>>()
    })
    .await
}

/// A run is known by its blank rows too: they are not counted.
pub async fn find_blank_rows(intake: &Intake) -> Result<(), Failure> {
    let unread = intake.clone();
    service::on_a_thread(move || unread.find_blank_rows()).await?;
    for planned in intake.inputs.iter() {
        if let Some(rows) = planned.rows_of_full_sheet() {
            warn!(
                event = "warning",
                "`{}` has exactly {}, as many as an Excel sheet holds: the rest may have been cut off",
                planned.input.name(),
                counted(rows, "line")
            );
        }
    }
    Ok(())
}

/// The absolute paths of the inputs; `None` for standard input.
pub fn places(intake: &Intake) -> impl Iterator<Item = Option<PathBuf>> {
    let inputs = intake.inputs.iter();
    inputs.map(|planned| {
        planned
            .input
            .path()
            .and_then(|path| path.canonicalize().ok())
    })
}

/// Opens the files, which must exist, and refuses one that
/// is given twice. Standard input is read to its end.
fn open_each(paths: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    let mut inputs: Vec<Input> = Vec::with_capacity(paths.len());
    for path in paths {
        let input = Input::open(path).map_err(|mut error| {
            if paths.len() > 1 && !path.exists() {
                // Only a command line names several files.
                let hint = error.message.at_terminal().1.unwrap_or_default();
                let hint = terminal_text!("a name with spaces needs quotes; {hint}", hint);
                error.message = Message::new(error.message.what, hint);
            }
            error
        })?;
        if inputs.iter().any(|other| other.is_same(&input)) {
            return Err(Failure::usage(Message::new(
                Text::terminal(format!("`{}` is given twice", input.name())),
                terminal_text!("name each input once"),
            )));
        }
        inputs.push(input);
    }
    Ok(inputs)
}

pub fn output_paths(settings: &ImportSettings, intake: &Intake) -> Result<OutputPaths, Failure> {
    let lists = intake.suppression.inputs();
    let paths = OutputPaths::plan(&intake.inputs, lists, &settings.reading.outputs)
        .map_err(OutputError::before_sending)?;
    if let Some(ledger) = &settings.ledger {
        let refused = paths.refuse_ledger(ledger);
        refused.map_err(OutputError::before_sending)?;
    }
    Ok(paths)
}

/// The report, if one is wanted. Creating it checks that it can be written before anything is sent.
pub fn report_file(paths: &OutputPaths) -> Result<Option<ReportFile>, Failure> {
    let report = paths.report.as_deref().map(ReportFile::create);
    report.transpose().map_err(OutputError::before_sending)
}

pub fn write_report(
    report: ReportFile,
    page: &str,
    written: &mut Written,
) -> Result<(), OutputError> {
    let (path, kept) = report.write(page)?;
    written.report = Some(path);
    written.kept.extend(kept);
    Ok(())
}

pub fn show(settings: &ImportSettings) -> Show {
    // Standard error then has only log lines, for programs to read.
    if settings.options.log.format() == LogFormat::Json {
        return Show::Log;
    }
    let is_watched = !settings.options.log.is_quiet() && std::io::stderr().is_terminal();
    match settings.reading.progress {
        Progress::Always => Show::Bar,
        Progress::Auto if is_watched && !::console::is_dumb() => Show::Bar,
        Progress::Auto if is_watched => Show::Lines,
        Progress::Auto | Progress::Never => Show::Log,
    }
}

pub fn count_rows(intake: &Intake, total: &RowTotal) {
    let (intake, total) = (intake.clone(), total.clone());
    thread::spawn(move || {
        // An input that cannot be read is reported when its rows are read.
        if let Ok(rows) = intake.count_rows() {
            let _ = total.set(rows);
        }
    });
}

fn warn_of_new_columns(planned: &PlannedInput) {
    if let Some(new) = planned.new_columns_listed() {
        warn!(
            event = "warning",
            "`{}` has new columns since its mapping was saved, which are not sent: {new}",
            planned.input.name()
        );
    }
}

/// Warns of people who may be called although the list may say that they must not be.
fn warn_of_marks(marked: &MarkedColumn) {
    let (says, empty) = (marked.column.says(), marked.empty_consents());
    if let Some((rows, line)) = marked.unread {
        warn!(
            event = "warning",
            "{says}, but {} marked there (the first in line {line}) with a number that cannot be read: other rows with that number are sent",
            counted(rows, "row") + if rows == 1 { " is" } else { " are" }
        );
    }
    if empty > 0 {
        warn!(
            event = "warning",
            "{says}, and is empty in {}, which are sent like the others; `--only` with this column and its word for yes leaves them out",
            counted(empty, "row")
        );
    }
}

/// Warns if a list on the command line replaces a list that may protect people from calls.
fn warn_of_replaced_lists(layers: &Layers, warnings: &mut Warnings) {
    let replaced = |key| {
        let replaced = layers.replaced(key).into_iter();
        replaced.map(|(value, place)| {
            let value = printable(&value.to_string_lossy()).into_owned();
            (value, place.to_string())
        })
    };
    for (value, place) in replaced("only") {
        warnings.add(message!("{`--only` replaces `{value}` of {place}, which does not apply|which rows are sent was set on this computer too, by `{value}`; that does not apply}", "{|what is chosen under {--only} counts}", value, place));
    }
    for (value, place) in replaced("suppress") {
        warnings.add(message!("{`--suppress` replaces `{value}` of {place}, which does not apply|the do-not-call list `{value}` is set on this computer; it does not apply, since this list has others}", "{|add it too, if these people must not be called}", value, place));
    }
}

/// How a command that has read these inputs ended, if nothing stopped it.
pub fn outcome<'a>(
    settings: &ImportSettings,
    intake: &'a Intake,
    tally: &'a Tally,
    elapsed_s: f64,
) -> Outcome<'a> {
    Outcome {
        run: None,
        tally,
        inputs: intake.names(),
        stop: None,
        exit_code: tally.exit_code(None, settings.problems_exit),
        requests: 0,
        rows_total: None,
        elapsed_s,
        stopped_at: Vec::new(),
        written: Written::default(),
        sandbox: settings.reading.outputs.sandbox,
        in_doubt: InDoubt::of(settings.policy.on_uncertain, settings.policy.form),
        next: NextCommands::default(),
        campaign_names: CampaignNames::default(),
        list_notes: ListNotes::of(intake),
    }
}
