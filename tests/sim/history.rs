//! Carries a plan out, from the first start to the end of a last one at a service that is well.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use leadload::do_not_call;
use leadload::exit::ExitCode;
use leadload::lead::{RunId, Status};
use leadload::ledger::{ExportedRow, Ledger, LedgerError, LedgerPlace, Selection};
use leadload::phone::PhoneNumber;
use leadload::simulation::{self, Computer, Fault};
use tokio::runtime::Builder;
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::{Instant, sleep};

use crate::plan::{Act, Fate, PEOPLE, Plan, Row, RowKind, Until};
use crate::service::{CAMPAIGNS, Target, campaign_name, number};
use crate::start::{Task, Told, flags, start};
use crate::world::{Process, World};
use crate::{disk, promises};

/// The service is left alone for so long before the last starts: whatever it asked for is over.
const REST: Duration = Duration::from_secs(2 * 3600);

/// "Whatever the service would take is sent within two starts after it is well."
///
/// Not counted are starts that send nothing, because whom they chose from all over the list to see
/// whether all are refused are refused for themselves; those that `--stop-after` ends, or a change of
/// the list; and those whose `--max-outage` is used up by rows that are put off.
const LAST_STARTS: usize = 2;
const MOST_STARTS: usize = 60;

/// What was answered so long before a kill is in the ledger.
const RECORDED: Duration = Duration::from_secs(2);

const LIST: &str = "list.csv";
const OTHER: &str = "other.csv";
const REJECTS: &str = "list.rejects.csv";

/// What there is to know about a start.
pub struct Start {
    pub id: usize,
    /// `None` if it sent no list.
    pub list: Option<&'static str>,
    pub rows: Vec<Row>,
    pub until: Until,
    pub ended: Instant,
    /// `None` if it was killed.
    pub code: Option<ExitCode>,
    pub told: Told,
    /// What the ledger held as settled before.
    pub settled: BTreeSet<Target>,
    pub suppressed: BTreeSet<String>,
    /// Who came on the do-not-call list meanwhile, and when.
    pub suppressed_later: Option<(String, Instant)>,
    /// Whether another one was at work at the same time.
    pub has_company: bool,
}

impl Start {
    /// Whether it could not write all that it knew.
    pub fn is_cut_short(&self) -> bool {
        matches!(self.code, None | Some(ExitCode::Machine))
    }

    /// Whether what it was told at this time has to be in the ledger.
    pub fn has_recorded(&self, at: Instant) -> bool {
        !self.is_cut_short() || self.code.is_none() && at + RECORDED < self.ended
    }

    /// Whether the number was on the do-not-call list at some time.
    pub fn may_suppress(&self, number: &str) -> bool {
        let later = self.suppressed_later.as_ref();
        self.suppressed.contains(number) || later.is_some_and(|(later, _)| later == number)
    }

    /// Whether it has sent what the service takes: if many rows are refused alike, it stops.
    pub fn has_had_all_rows(&self, plan: &Plan) -> bool {
        let may_stop = match self.stopped_by() {
            Some("rejections") => true,
            Some("token" | "campaign" | "redirect" | "unreadable") => {
                plan.service.has(Fate::RefusedLikeAll)
            }
            // Where no others are left, who is always put off may be a service that is busy.
            Some("outage") => plan.service.has(Fate::ComesBack),
            _ => false,
        };
        self.is_complete() || may_stop
    }

    pub fn stopped_by(&self) -> Option<&'static str> {
        self.told.ended.as_ref()?.stopped_by
    }

    pub fn is_complete(&self) -> bool {
        matches!(self.code, Some(ExitCode::Complete | ExitCode::Problems))
    }
}

/// How a plan came out.
pub struct Outcome {
    pub story: Vec<String>,
    pub violations: Vec<String>,
    pub simulated: Duration,
    pub starts: usize,
    pub kills: usize,
    pub power_cuts: usize,
    pub requests: usize,
}

pub fn carry_out(plan: &Plan, fault: Option<Fault>) -> Outcome {
    disk::install();
    disk::settle();
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    LocalSet::new().block_on(&runtime, async {
        let world = World::new(plan.clone(), fault);
        let mut history = History {
            rows: plan.rows.clone(),
            starts: Vec::new(),
            suppressed: BTreeSet::new(),
            in_ledger: Vec::new(),
            meanwhile: None,
            has_undone: false,
            world: Rc::clone(&world),
        };
        history.carry_out().await;
        promises::check_requests(&world, &history.starts);
        let requests = world.service.borrow().arrivals.len();
        let cut_short = history.starts.iter().filter(|start| start.code.is_none());
        let (power_cuts, kills): (Vec<_>, Vec<_>) =
            cut_short.partition(|start| matches!(start.until, Until::PowerCut(_)));
        Outcome {
            story: world.story.take(),
            violations: world.violations.take(),
            simulated: world.elapsed(),
            starts: history.starts.len(),
            kills: kills.len(),
            power_cuts: power_cuts.len(),
            requests,
        }
    })
}

/// What happens so long after the next start has begun.
#[derive(Debug, Clone, Copy)]
enum Meanwhile {
    Suppress(u8, Duration),
    ChangeList(Duration),
}

struct History {
    world: Rc<World>,
    rows: Vec<Row>,
    starts: Vec<Start>,
    suppressed: BTreeSet<String>,
    /// What the ledger holds of all rows that were sent or refused.
    in_ledger: Vec<ExportedRow>,
    meanwhile: Option<Meanwhile>,
    /// What was undone is sent again from then on.
    has_undone: bool,
}

impl History {
    async fn carry_out(&mut self) {
        let world = Rc::clone(&self.world);
        fs::write(world.path("token"), "secret-token-of-the-simulation").unwrap();
        self.write_list();
        for act in world.plan.acts.clone() {
            self.act(act).await;
        }
        world.say("the service is well");
        world.service.borrow_mut().is_well = true;
        sleep(REST).await;
        let (mut counted, mut starts) = (0, 0);
        while counted < LAST_STARTS && starts < MOST_STARTS {
            let before = world.service.borrow().leads.len();
            self.import(LIST, self.rows.clone(), Until::Itself).await;
            let is_stuck = before == world.service.borrow().leads.len();
            let last = self.starts.last().unwrap();
            let by = last.stopped_by();
            let has_no_luck = match by {
                Some("rejections" | "input") => true,
                Some("outage") if world.plan.service.has(Fate::ComesBack) => true,
                Some(_) if world.plan.service.has(Fate::RefusedLikeAll) => is_stuck,
                _ => false,
            };
            let missing = promises::missing(&world, last, &self.in_ledger);
            if has_no_luck && !missing.is_empty() {
                world.say(format!("not sent so far: {missing:?}"));
            } else {
                counted += 1;
            }
            starts += 1;
        }
        let last = self.starts.last().unwrap();
        if !last.has_had_all_rows(&world.plan) && !self.is_refused_again(last.code) {
            let code = last.code;
            world.violated(format!(
                "promise 4: with a service that is well the run is not complete ({code:?})"
            ));
        }
        promises::check_end(&world, &self.starts, &self.in_ledger);
    }

    /// With duplicates allowed, a list that was sent is not sent once more by the same command.
    fn is_refused_again(&self, code: Option<ExitCode>) -> bool {
        code == Some(ExitCode::Usage) && self.world.plan.options.allow_duplicates
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Start(until) => self.import(LIST, self.rows.clone(), until).await,
            Act::Other {
                first,
                people,
                until,
            } => {
                let rows = self.write_other(first, people);
                self.import(OTHER, rows, until).await;
            }
            Act::Both {
                first,
                people,
                waits,
            } => {
                let rows = self.write_other(first, people);
                self.both(rows, waits).await;
            }
            Act::Rejects(until) => {
                if let Some(rows) = self.rejected() {
                    self.import(REJECTS, rows, until).await;
                }
            }
            Act::Reconcile { before, until } => {
                self.follow_up(Task::Reconcile, before, until).await;
            }
            Act::Undo { before, until } => {
                self.has_undone = true;
                self.follow_up(Task::Undo, before, until).await;
            }
            Act::Suppress(person) => {
                suppress(&self.world, person);
                self.suppressed.insert(number(person));
            }
            Act::SuppressLater { person, after_ms } => {
                let after = Duration::from_millis(after_ms.into());
                self.meanwhile = Some(Meanwhile::Suppress(person, after));
            }
            Act::ChangeLater { after_ms } => {
                let after = Duration::from_millis(after_ms.into());
                self.meanwhile = Some(Meanwhile::ChangeList(after));
            }
            Act::Grow(by) => {
                for n in 0..by {
                    let person = (self.rows.len() as u8).wrapping_mul(7).wrapping_add(n);
                    self.rows.push(good(person % PEOPLE));
                }
                let rows = self.rows.len();
                self.world.say(format!("the list has {rows} rows now"));
                self.write_list();
            }
            Act::Pause { minutes } => sleep(Duration::from_secs(60 * u64::from(minutes))).await,
        }
    }

    fn args(&self, list: &str) -> Vec<String> {
        let mut args = vec![self.world.path(list).display().to_string()];
        args.extend(flags(&self.world, &self.world.plan.options));
        if self.has_undone && !self.world.plan.options.allow_duplicates {
            args.push("--again".to_owned());
        }
        args
    }

    async fn import(&mut self, list: &'static str, rows: Vec<Row>, until: Until) {
        let world = Rc::clone(&self.world);
        let id = self.starts.len();
        world.say(format!(
            "start {id} of {list}, {} rows, {until:?}",
            rows.len()
        ));
        let suppressed_later = Rc::new(Cell::new(None));
        let meanwhile = self.meanwhile.take();
        let changing = meanwhile.map(|what| self.change_meanwhile(what, &suppressed_later));
        let (code, told) = start(&world, id, Task::Import(self.args(list)), until).await;
        if let Some(changing) = changing {
            changing.abort();
        }
        let suppressed_later = suppressed_later.take();
        self.ended(id, Some(list), rows, until, code, told, false);
        if let Some((person, at)) = suppressed_later {
            let last = self.starts.last_mut().unwrap();
            last.suppressed_later = Some((number(person), at));
            self.suppressed.insert(number(person));
        }
        self.rows = world
            .rows_of_list
            .take()
            .unwrap_or(std::mem::take(&mut self.rows));
        self.check();
    }

    fn change_meanwhile(
        &self,
        what: Meanwhile,
        suppressed: &Rc<Cell<Option<(u8, Instant)>>>,
    ) -> JoinHandle<()> {
        let (world, suppressed) = (Rc::clone(&self.world), Rc::clone(suppressed));
        let rows = self.rows.clone();
        tokio::task::spawn_local(async move {
            match what {
                Meanwhile::Suppress(person, after) => {
                    sleep(after).await;
                    suppress(&world, person);
                    suppressed.set(Some((person, Instant::now())));
                }
                Meanwhile::ChangeList(after) => {
                    sleep(after).await;
                    let rows = [good(PEOPLE - 1)].into_iter().chain(rows).collect();
                    write(&world, LIST, &rows);
                    world.say("the list was changed");
                    world.rows_of_list.set(Some(rows));
                }
            }
        })
    }

    /// Sends both lists at once.
    async fn both(&mut self, rows: Vec<Row>, waits: bool) {
        let world = Rc::clone(&self.world);
        let (first, second) = (self.starts.len(), self.starts.len() + 1);
        world.say(format!("starts {first} and {second} of both lists"));
        let mut other = self.args(OTHER);
        if waits {
            other.push("--wait".to_owned());
        }
        let list = start(&world, first, Task::Import(self.args(LIST)), Until::Itself);
        let other = start(&world, second, Task::Import(other), Until::Itself);
        let ((code, told), (other_code, other_told)) = futures::join!(list, other);
        let list_rows = self.rows.clone();
        self.ended(
            first,
            Some(LIST),
            list_rows,
            Until::Itself,
            code,
            told,
            true,
        );
        self.ended(
            second,
            Some(OTHER),
            rows,
            Until::Itself,
            other_code,
            other_told,
            true,
        );
        self.check();
    }

    /// Looks a run up, or undoes it: so many before the last one.
    async fn follow_up(&mut self, task: fn(RunId) -> Task, before: u8, until: Until) {
        let runs: BTreeSet<RunId> = self
            .starts
            .iter()
            .filter_map(|start| start.told.run)
            .collect();
        let Some(run) = runs.iter().rev().cycle().nth(before.into()).copied() else {
            return;
        };
        let (world, id) = (Rc::clone(&self.world), self.starts.len());
        let task = task(run);
        let what = match task {
            Task::Undo(_) => "undoes",
            _ => "looks up",
        };
        world.say(format!("start {id} {what} run {run}, {until:?}"));
        let (code, told) = start(&world, id, task, until).await;
        let told = Told {
            run: Some(run),
            ..told
        };
        self.ended(id, None, Vec::new(), until, code, told, false);
        self.check();
    }

    #[allow(clippy::too_many_arguments)]
    fn ended(
        &mut self,
        id: usize,
        list: Option<&'static str>,
        rows: Vec<Row>,
        until: Until,
        code: Option<ExitCode>,
        told: Told,
        has_company: bool,
    ) {
        self.world
            .say(format!("start {id} ended with {code:?}, {:?}", told.ended));
        self.starts.push(Start {
            id,
            list,
            rows,
            until,
            ended: Instant::now(),
            code,
            told,
            settled: self.settled(),
            suppressed: self.suppressed.clone(),
            suppressed_later: None,
            has_company,
        });
    }

    fn check(&mut self) {
        self.in_ledger = self.ledger_rows();
        promises::check_start(&self.world, &self.starts, &self.in_ledger);
        promises::check_ledger(&self.world, &self.starts, &self.in_ledger);
    }

    fn ledger_rows(&self) -> Vec<ExportedRow> {
        let place = LedgerPlace::file(self.world.path("ledger")).for_reading();
        let Some(ledger) = Ledger::read(&place).unwrap() else {
            return Vec::new();
        };
        let runs = ledger.runs().unwrap();
        let selection = Selection {
            runs: runs.iter().map(|run| run.run).collect(),
            campaign: None,
            statuses: Vec::new(),
        };
        let mut rows = Vec::new();
        let each = |row| {
            rows.push(row);
            Ok::<_, LedgerError>(())
        };
        ledger.export(&selection, each).unwrap();
        rows
    }

    fn settled(&self) -> BTreeSet<Target> {
        let service = self.world.service.borrow();
        let is_removed = |target: &Target| {
            service
                .removed
                .iter()
                .any(|(lead, _)| lead.target == *target)
        };
        let rows = self.in_ledger.iter();
        let is_settled = |status| matches!(status, Status::Created | Status::Duplicate);
        // What `undone` says of a row settles nobody, as `promises` checks.
        let settled =
            rows.filter(|row| is_settled(row.outcome.status) && !promises::is_undone(row));
        settled
            .filter_map(|row| Some((row.campaign?.0, row.phone.clone())))
            .filter(|target| !is_removed(target))
            .collect()
    }

    fn write_list(&self) {
        write(&self.world, LIST, &self.rows);
    }

    fn write_other(&self, first: u8, people: u8) -> Vec<Row> {
        let rows: Vec<Row> = (0..people).map(|n| good((first + n) % PEOPLE)).collect();
        write(&self.world, OTHER, &rows);
        rows
    }

    /// The rows of the rejects that lie there.
    fn rejected(&self) -> Option<Vec<Row>> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_path(self.world.path(REJECTS))
            .ok()?;
        let campaign = |cell: &str| {
            let mut campaigns = CAMPAIGNS.iter();
            let at = campaigns.position(|id| id.to_string() == cell || campaign_name(*id) == cell);
            at.unwrap() as u8
        };
        let rows = reader.records().map(|record| {
            let record = record.unwrap();
            let person: u8 = record[2].strip_prefix("person ").unwrap().parse().unwrap();
            Row {
                person,
                campaign: campaign(&record[1]),
                kind: match () {
                    () if !record[0].starts_with('+') => RowKind::Bad,
                    () if record[record.len() - 1] == *"x" => RowKind::Misshapen,
                    () => RowKind::Good,
                },
            }
        });
        Some(rows.collect())
    }
}

fn good(person: u8) -> Row {
    Row {
        person,
        campaign: 0,
        kind: RowKind::Good,
    }
}

fn suppress(world: &Rc<World>, person: u8) {
    let another: Rc<dyn Computer> = Rc::new(Process::new(world, usize::MAX, Until::Itself));
    let named = PhoneNumber::from_e164(&number(person)).unwrap();
    let place = LedgerPlace::file(world.path("ledger"));
    world.say(format!("{} is not to be called", number(person)));
    simulation::on(&another, || do_not_call::add(&place, &[named], None)).unwrap();
}

fn write(world: &World, list: &str, rows: &Vec<Row>) {
    let mut text = "phone,list,name\n".to_owned();
    for row in rows {
        let number = match row.kind {
            RowKind::Bad => "see notes".to_owned(),
            _ => number(row.person),
        };
        let id = CAMPAIGNS[usize::from(row.campaign)];
        let campaign = match world.plan.options.names {
            true => campaign_name(id),
            false => id.to_string(),
        };
        let surplus = match row.kind {
            RowKind::Misshapen => ",x",
            _ => "",
        };
        text += &format!("{number},{campaign},person {}{surplus}\n", row.person);
    }
    let path: &Path = &world.path(list);
    fs::write(path, text).unwrap();
}
