//! What goes on while the program is stopped and started: the service, the folder with the files,
//! the time, and what has been seen of all this.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use leadload::simulation::{Answered, Computer, Fault};
use reqwest::Request;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::disk;
use crate::plan::{Plan, Row, SpellKind, Until};
use crate::service::{Arrival, Sense, Service, Target, receive};

pub struct World {
    pub plan: Plan,
    pub fault: Option<Fault>,
    folder: tempfile::TempDir,
    pub service: RefCell<Service>,
    origin: Instant,
    /// What is in the list, if it was changed during a start.
    pub rows_of_list: Cell<Option<Vec<Row>>>,
    /// What was seen, in few words.
    /// The files that are on disk for good, by their inodes, and their sizes.
    synced: RefCell<HashMap<u64, u64>>,
    pub story: RefCell<Vec<String>>,
    /// What should never be.
    pub violations: RefCell<Vec<String>>,
}

impl World {
    pub fn new(plan: Plan, fault: Option<Fault>) -> Rc<World> {
        // In memory, where there is such a folder.
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let folder = folder.unwrap();
        fs::create_dir(folder.path().join("files")).unwrap();
        Rc::new(World {
            service: RefCell::new(Service::new(
                &plan,
                began() - Duration::from_secs(30 * 24 * 3600),
            )),
            plan,
            fault,
            folder,
            rows_of_list: Cell::default(),
            origin: Instant::now(),
            synced: RefCell::default(),
            story: RefCell::default(),
            violations: RefCell::default(),
        })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.files().join(name)
    }

    fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    fn saved(&self) -> PathBuf {
        self.folder.path().join("saved")
    }

    pub fn since_begin(&self, at: Instant) -> f64 {
        (at - self.origin).as_secs_f64()
    }

    pub fn elapsed(&self) -> Duration {
        self.origin.elapsed()
    }

    pub fn time_of_day(&self) -> Timestamp {
        began() + self.elapsed()
    }

    pub fn say(&self, what: impl AsRef<str>) {
        let at = self.elapsed().as_secs_f64();
        let what = what
            .as_ref()
            .replace(&self.files().display().to_string(), "…");
        let line = format!("{at:>10.3} s  {what}");
        self.story.borrow_mut().push(line);
    }

    pub fn violated(&self, what: String) {
        self.say(format!("BROKEN: {what}"));
        self.violations.borrow_mut().push(what);
    }

    /// How the service fares now.
    pub fn spells(&self) -> impl Iterator<Item = SpellKind> {
        let now = self.elapsed().as_secs();
        let spells = self.plan.service.spells.iter();
        spells
            .filter(move |spell| {
                let from = u64::from(spell.from_s);
                (from..from + u64::from(spell.for_s)).contains(&now)
            })
            .map(|spell| spell.kind)
    }

    pub fn arrive(&self, by: usize, target: &Target) -> usize {
        let mut service = self.service.borrow_mut();
        service.arrivals.push(Arrival {
            at: Instant::now(),
            by,
            target: target.clone(),
            sense: Sense::Unclear,
            answered: None,
        });
        service.arrivals.len() - 1
    }

    pub fn judged(&self, index: usize, sense: Sense) {
        self.service.borrow_mut().arrivals[index].sense = sense;
    }

    pub fn answered(&self, index: usize) {
        let mut service = self.service.borrow_mut();
        let arrival = &mut service.arrivals[index];
        arrival.answered = Some(Instant::now());
        let (sense, (campaign, number)) = (arrival.sense, arrival.target.clone());
        drop(service);
        self.say(format!("{campaign} {number}: {sense:?}"));
    }

    /// Keeps the files as they are now: what is done to them from now on is undone by `restore`.
    fn save(&self, is_cut: bool, step: u32) {
        copy(&self.files(), &self.saved());
        if !is_cut {
            return;
        }
        let mut random = fastrand::Rng::with_seed(self.plan.seed ^ u64::from(step));
        self.cut_outputs(|most| random.u64(..most));
        for (path, bytes) in disk::left(|most| random.u64(..most)) {
            // SQLite's temporary files are elsewhere.
            let path = path
                .strip_prefix(self.files())
                .map(|path| self.saved().join(path));
            if let Ok(path) = path
                && path.exists()
            {
                fs::write(path, bytes).unwrap();
            }
        }
    }

    /// Puts the files back as they were kept.
    pub fn restore(&self) {
        disk::settle();
        fs::remove_dir_all(self.files()).unwrap();
        fs::rename(self.saved(), self.files()).unwrap();
        for file in files_in(&self.files()) {
            self.synced(&file);
        }
    }

    fn synced(&self, file: &Path) {
        let found = file.metadata().unwrap();
        self.synced.borrow_mut().insert(found.ino(), found.len());
    }

    /// Cuts off what was not synced of the outputs.
    fn cut_outputs(&self, mut chance: impl FnMut(u64) -> u64) {
        for file in files_in(&self.files()) {
            let name = file.file_name().unwrap();
            let found = file.metadata().unwrap();
            let is_synced = self.synced.borrow().get(&found.ino()) == Some(&found.len());
            let is_output = [".results.", ".rejects."]
                .iter()
                .any(|part| name.to_string_lossy().contains(part));
            if is_output && !is_synced {
                let saved = fs::File::options()
                    .write(true)
                    .open(self.saved().join(name));
                saved.unwrap().set_len(chance(found.len() + 1)).unwrap();
            }
        }
    }
}

fn began() -> Timestamp {
    Timestamp::from_second(1_795_000_000).unwrap()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// The computer, as one start of the program sees it.
pub struct Process {
    pub world: Rc<World>,
    pub id: usize,
    kill_at: Option<u32>,
    /// In which steps SQLite's disk is full.
    full: Option<Range<u32>>,
    /// Whether the power is cut then.
    is_cut: bool,
    steps: Cell<u32>,
    random: RefCell<fastrand::Rng>,
}

impl Process {
    pub fn new(world: &Rc<World>, id: usize, until: Until) -> Process {
        let kill_at = match until {
            Until::Killed(step) | Until::PowerCut(step) => Some(u32::from(step)),
            _ => None,
        };
        let full = match until {
            Until::DiskFull { from, steps } => {
                Some(u32::from(from)..u32::from(from) + u32::from(steps))
            }
            _ => None,
        };
        let seed = world.plan.seed.wrapping_add(id as u64);
        Process {
            world: Rc::clone(world),
            id,
            kill_at,
            full,
            is_cut: matches!(until, Until::PowerCut(_)),
            steps: Cell::new(0),
            random: RefCell::new(fastrand::Rng::with_seed(seed)),
        }
    }

    pub fn is_killed(&self) -> bool {
        self.kill_at.is_some_and(|at| self.steps.get() > at)
    }
}

impl Computer for Process {
    fn time_of_day(&self) -> Timestamp {
        self.world.time_of_day()
    }

    fn send(&self, request: &Request, answer: oneshot::Sender<Answered>) {
        self.step("before a request");
        if !self.is_killed() {
            receive(&self.world, self.id, request, answer);
            self.step("after a request");
        }
    }

    fn commit_time(&self) -> Duration {
        Duration::from_micros(self.random.borrow_mut().u64(100..20_000))
    }

    fn slices_filed(&self) -> usize {
        usize::from(self.world.plan.options.slices_filed)
    }

    fn batch_rows(&self) -> usize {
        self.world.plan.options.batch_rows.into()
    }

    fn step(&self, what: &'static str) {
        let step = self.steps.get();
        self.steps.set(step + 1);
        disk::fill(self.full.as_ref().is_some_and(|full| full.contains(&step)));
        if self.kill_at == Some(step) {
            let how = if self.is_cut { "power cut" } else { "killed" };
            self.world.say(format!("{how} at step {step}: {what}"));
            self.world.save(self.is_cut, step);
        }
    }

    fn synced(&self, file: &Path) {
        self.world.synced(file);
    }

    fn has(&self, fault: Fault) -> bool {
        self.world.fault == Some(fault)
    }
}
