//! One start of the program: the steps of an import as the command line takes them.

use std::cell::RefCell;
use std::ffi::OsString;
use std::future::poll_fn;
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use leadload::cli::{self, Command};
use leadload::command_line::CommandLine;
use leadload::event::RunEvent;
use leadload::exit::{ExitCode, Failure};
use leadload::follow_up::{self, Target, Undo, Wanted};
use leadload::import::{
    Import, Observer, OpenLedger, Prepared, Request, Warnings, WorkTime, inputs, send,
};
use leadload::lead::{Counts, RunId};
use leadload::ledger::{Begun, LedgerPlace};
use leadload::options::LogFormat;
use leadload::report::{Listeners, Log, Metrics, Outcome};
use leadload::results::OutputChoice;
use leadload::settings::{FollowUpSettings, Layers, Service};
use leadload::signals::Interrupts;
use leadload::simulation::{self, Computer};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::disk;
use crate::plan::{Options, Rate, Until};
use crate::service::campaign_name;
use crate::world::{Process, World};

/// What a start has told.
#[derive(Debug, Default)]
pub struct Told {
    pub run: Option<RunId>,
    pub ended: Option<Account>,
}

/// What a start says at its end.
#[derive(Debug)]
pub struct Account {
    pub counts: Counts,
    pub requests: u64,
    pub stopped_by: Option<&'static str>,
    pub has_results: bool,
}

/// The flags of the command that a plan is about.
pub fn flags(world: &World, options: &Options) -> Vec<String> {
    let mut flags: Vec<String> = [
        "-q",
        "--progress",
        "never",
        "--yes",
        "--base-url",
        "http://127.0.0.1:9",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut add = |flag: &str, value: String| flags.extend([flag.to_owned(), value]);
    add("--token-file", world.path("token").display().to_string());
    add("--ledger", world.path("ledger").display().to_string());
    add("--phone-column", "phone".to_owned());
    match options.campaign_column {
        true => add("--campaign-column", "list".to_owned()),
        false if options.names => add("--campaign", campaign_name(201)),
        false => add("--campaign", "201".to_owned()),
    }
    match options.rate {
        Rate::Auto => {}
        Rate::Unlimited => add("--rate", "none".to_owned()),
        Rate::Limit(n, seconds) => add("--rate", format!("{n}/{seconds}s")),
    }
    if let Some(most) = options.concurrency {
        add("--concurrency", most.to_string());
    }
    add("--max-attempts", options.max_attempts.to_string());
    add("--timeout", format!("{}s", options.timeout_s));
    add("--max-outage", format!("{}s", options.max_outage_s));
    add("--stop-after", options.stop_after.to_string());
    add(
        "--on-uncertain",
        if options.holds { "hold" } else { "resend" }.to_owned(),
    );
    if options.skips_known_bad {
        add("--known-bad", "skip".to_owned());
    }
    if options.once_for_all {
        add("--once", "service".to_owned());
    }
    if options.allow_duplicates {
        flags.push("--allow-duplicates".to_owned());
    }
    flags
}

/// What a start is to do.
pub enum Task {
    /// `leadload import` with these arguments.
    Import(Vec<String>),
    Undo(RunId),
    Reconcile(RunId),
}

/// Starts the program, and goes on until it ends or is killed.
pub async fn start(
    world: &Rc<World>,
    id: usize,
    task: Task,
    until: Until,
) -> (Option<ExitCode>, Told) {
    let process = Rc::new(Process::new(world, id, until));
    let computer: Rc<dyn Computer> = process.clone();
    let (signal, signals) = mpsc::channel(2);
    if let Until::Signal { after_ms } = until {
        let world = Rc::clone(world);
        tokio::task::spawn_local(async move {
            sleep(Duration::from_millis(after_ms.into())).await;
            if signal.send(()).await.is_ok() {
                world.say(format!("a signal to start {id}"));
            }
        });
    }
    fastrand::seed(world.plan.seed.wrapping_add(id as u64));
    let told = Rc::new(RefCell::new(Told::default()));
    let running = perform(world, task, Interrupts::new(signals), &told);
    let mut running = Some(Box::pin(running));
    let came = poll_fn(|context| {
        let Some(future) = &mut running else {
            return Poll::Pending;
        };
        let polled = simulation::on(&computer, || pin!(future).poll(context));
        if process.is_killed() {
            simulation::on(&computer, || running = None);
            return Poll::Ready(None);
        }
        polled.map(Some)
    })
    .await;
    disk::fill(false);
    // Its tasks end too, before the files are put back.
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
    if came.is_none() {
        world.restore();
    }
    (came, told.take())
}

async fn perform(
    world: &World,
    task: Task,
    interrupts: Interrupts,
    told: &Rc<RefCell<Told>>,
) -> ExitCode {
    let performed = match task {
        Task::Import(args) => import(&args, interrupts, told).await,
        Task::Undo(run) => undo(world, run, interrupts).await,
        Task::Reconcile(run) => reconcile(world, run, interrupts).await,
    };
    performed.unwrap_or_else(|failure| {
        let what = failure
            .message()
            .what
            .to_string()
            .chars()
            .take(100)
            .collect::<String>();
        world.say(format!("it says: {what}"));
        failure.stopped_by.exit_code()
    })
}

async fn target(world: &World, run: RunId) -> Result<Target, Failure> {
    let mut args: Vec<OsString> = ["leadload", "import", "list.csv"]
        .map(OsString::from)
        .to_vec();
    args.extend(
        flags(world, &world.plan.options)
            .into_iter()
            .map(OsString::from),
    );
    let typed = cli::parse(&args).unwrap().typed();
    let (layers, checked) = Layers::load(typed, Vec::new(), false, true);
    checked.unwrap();
    let settings = FollowUpSettings::new(&layers).unwrap();
    let wanted = Wanted {
        ledger: LedgerPlace::file(world.path("ledger")),
        run,
        address: settings.service.to_string(),
        settings,
        is_dry_run: false,
    };
    Target::open(wanted).await
}

async fn undo(world: &World, run: RunId, interrupts: Interrupts) -> Result<ExitCode, Failure> {
    let target = target(world, run).await?;
    let undo = Undo::prepare(target, |_, _| {}).await?;
    let undone = undo.perform(world.path("list.undo.csv"), interrupts, |_| {});
    Ok(undone.await?.exit_code())
}

async fn reconcile(world: &World, run: RunId, interrupts: Interrupts) -> Result<ExitCode, Failure> {
    let target = target(world, run).await?;
    let reconciled = follow_up::reconcile(&target, interrupts, |_, _| {}).await?;
    Ok(reconciled.exit_code())
}

async fn import(
    args: &[String],
    interrupts: Interrupts,
    told: &Rc<RefCell<Told>>,
) -> Result<ExitCode, Failure> {
    let args: Vec<OsString> = ["leadload", "import"]
        .into_iter()
        .chain(args.iter().map(String::as_str))
        .map(OsString::from)
        .collect();
    let command = cli::parse(&args).unwrap();
    let Command::Import(parsed) = &command else {
        unreachable!("it is an import");
    };
    let (layers, checked) = Layers::load(command.typed(), Vec::new(), false, true);
    checked.unwrap();
    let files: Vec<PathBuf> = parsed.inputs.clone();
    let mut request = Request {
        line: CommandLine::new(&args, layers.typed()),
        files,
        unnamed: OutputChoice::BesideInput,
        only_checks: false,
        warnings: Warnings::default(),
        has_settings_of_rejects: false,
        asks_for_settings: false,
        voice: leadload::message::Voice::Terminal,
        layers,
    };
    let time = WorkTime::start();
    let service = Service::new(&request.layers).unwrap();
    let surveyed = inputs::survey(&mut request).await?;
    let settings = request.settings()?;
    let opened = OpenLedger::open(&settings).await?;
    let intake = inputs::plan(&settings.reading, surveyed).await?;
    let intake = inputs::protect(intake, &settings, &mut request.warnings).await?;
    let import = Import {
        patience: Some(settings.policy.max_outage),
        request,
        settings,
        intake,
        metrics: Metrics::default(),
        is_watched: false,
    };
    let pick = async |_: &mut _| unreachable!("a campaign is given");
    let prepared = Prepared::new(import, &service, opened, pick).await?;
    let log = Log::start(tracing::Level::ERROR, LogFormat::Json);
    let mut watching = Watching(Rc::clone(told));
    send(prepared, None, &time, interrupts, &log, &mut watching).await
}

struct Watching(Rc<RefCell<Told>>);

impl Observer for Watching {
    fn begun(&mut self, begun: Option<&Begun>) {
        let begun = begun.unwrap();
        self.0.borrow_mut().run = Some(begun.run);
    }

    fn event(&mut self, _event: &RunEvent<'_>, _listeners: &Listeners) {}

    fn ended(&mut self, ended: &Outcome<'_>) -> Result<(), Failure> {
        self.0.borrow_mut().ended = Some(Account {
            counts: ended.tally.counts,
            requests: ended.requests,
            stopped_by: ended.stop.as_ref().map(|stop| stop.by().as_str()),
            has_results: ended.written.results.is_some(),
        });
        Ok(())
    }
}
