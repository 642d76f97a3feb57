//! Runs that are steered in the page, over HTTP with the real program: what must hold whatever is
//! pressed, and whenever the program is killed.
//!
//! `LEADLOAD_CRASH_ROUNDS` asks for more kills than the test suite has time for.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use leadload::sandbox::Sandbox;

use crate::page_session::{Answer, Session};
use crate::util::{
    Folder, contacts, kill, number, replaced, scenario, service, signal, wait_for_requests,
    wait_until,
};

const PATIENCE: Duration = Duration::from_secs(60);

/// A running page with a browser.
pub struct Page {
    process: Option<Child>,
    pub session: Session,
}

impl Page {
    /// Sends to this service as fast as it allows.
    pub fn start(folder: &Folder, service: &Sandbox) -> Page {
        Page::with(folder, service, &[])
    }

    pub fn with(folder: &Folder, service: &Sandbox, args: &[&str]) -> Page {
        if !folder.path("config.toml").exists() {
            folder.write("config.toml", "[profiles.test]\nrate = 'none'\n");
        }
        let fixed = [
            "web",
            "--no-open",
            "--config",
            "config.toml",
            "--profile",
            "test",
        ];
        let run = folder.leadload(&[&fixed[..], args].concat()).at(service);
        let mut process = run.start();
        let mut link = String::new();
        let stdout = process.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut link).unwrap();
        Page {
            session: Session::sign_in(&link),
            process: Some(process),
        }
    }

    /// Takes `leads.csv` to the screen *Send*; the address of the list.
    pub fn prepare(&self, folder: &Folder) -> String {
        let session = &self.session;
        let answer = session.upload("list", &[], Some(&folder.path("leads.csv")));
        let (at, campaign) = session.arrive(&answer.to.expect(&answer.body));
        let (list, step) = at.rsplit_once('/').unwrap();
        if step == "send" {
            // Its settings are known.
            return list.to_owned();
        }
        let version = campaign.field("version");
        let fields = [("version", version.as_str()), ("campaign", "101")];
        let answer = session.post(&format!("{list}/campaign"), &fields);
        let (_, columns) = session.arrive(&answer.to.expect(&answer.body));
        let answer = self.choose(list, &columns.field("version"), "name");
        session.arrive(&answer.to.expect(&answer.body));
        list.to_owned()
    }

    /// Chooses what the agent calls the second column.
    pub fn choose(&self, list: &str, version: &str, name: &str) -> Answer {
        let fields = [
            ("version", version),
            ("action", "continue"),
            ("phone", "0"),
            ("send-1", "yes"),
            ("name-1", name),
        ];
        let page = format!("{list}/columns");
        self.session.upload(&page, &fields, None)
    }

    pub fn version(&self, list: &str) -> String {
        let began = Instant::now();
        loop {
            let (at, send) = self.session.arrive(&format!("{list}/send"));
            // A run that has just ended is still put in order.
            if at.ends_with("/send") || began.elapsed() > PATIENCE {
                return send.field("version");
            }
        }
    }

    /// Presses `Send`.
    pub fn send(&self, list: &str, more: &[(&str, &str)]) -> Answer {
        let version = self.version(list);
        let fields = [&[("version", version.as_str())][..], more].concat();
        self.session.post(&format!("{list}/send"), &fields)
    }

    pub fn stop(&self, list: &str) {
        self.session.post(&format!("{list}/stop"), &[]);
    }

    /// The run page of a run that has ended.
    #[track_caller]
    pub fn end(&self, list: &str) -> Answer {
        let live = format!("{list}/live");
        let began = Instant::now();
        while !self.session.get(&live).says("data-stage=\"over\"") {
            assert!(
                began.elapsed() < PATIENCE,
                "{}",
                self.session.get(&live).body
            );
            sleep(Duration::from_millis(5));
        }
        self.session.arrive(&format!("{list}/run")).1
    }

    /// The rows of the results file that the run page of a list links to.
    pub fn results(&self, list: &str) -> Vec<BTreeMap<String, String>> {
        let run = self.session.arrive(&format!("{list}/run")).1;
        let file = run.link("/files/results.csv");
        let answer = self.session.get(&file.expect(&run.body));
        assert_eq!(answer.status, 200, "{}", answer.body);
        let mut reader = csv::Reader::from_reader(answer.body.as_bytes());
        reader.deserialize().map(Result::unwrap).collect()
    }

    /// Waits until the program has ended by itself.
    pub fn wait_for_end(&mut self) {
        self.process.take().unwrap().wait().unwrap();
    }

    pub fn kill(mut self) {
        kill(self.process.take().unwrap());
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            kill(process);
        }
    }
}

/// Checks that the service has each of the first `count` people once, and has not been asked
/// for anybody twice.
#[track_caller]
pub fn has_each_once(service: &Sandbox, count: usize) {
    let leads = service.leads();
    let made: HashSet<&str> = leads
        .iter()
        .map(|lead| lead.phone_number.as_str())
        .collect();
    assert_eq!(leads.len(), count);
    assert!((0..count).all(|row| made.contains(number(row).as_str())));
}

pub const SLOW: &str = "latency_ms = 20";

#[test]
fn of_all_who_press_send_at_once_one_sends_the_list() {
    let folder = Folder::with_leads(&contacts(200));
    let service = service();
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    let version = page.version(&list);
    let address = format!("{list}/send");
    let press = || page.session.post(&address, &[("version", &version)]).status;
    let pressed: Vec<u16> = scope(|threads| {
        let presses: Vec<_> = (0..8).map(|_| threads.spawn(press)).collect();
        presses
            .into_iter()
            .map(|press| press.join().unwrap())
            .collect()
    });
    let begun = pressed.iter().filter(|status| **status == 303).count();
    assert_eq!(begun, 1, "{pressed:?}");
    assert!(pressed.iter().all(|status| [303, 409].contains(status)));
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 200);
    assert_eq!(service.stats().lead_requests, 200);
    // A tab that still shows the screen from before sends nothing.
    assert_eq!(press(), 409);
    assert_eq!(service.stats().lead_requests, 200);
}

#[test]
fn a_list_that_is_being_sent_keeps_its_settings() {
    let folder = Folder::with_leads(&contacts(300));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    let version = page.version(&list);
    page.send(&list, &[]);
    wait_for_requests(&service, 1);
    assert_eq!(page.choose(&list, &version, "other").status, 409);
    let address = format!("{list}/list");
    let newer = [("version", version.as_str())];
    let newer = page
        .session
        .upload(&address, &newer, Some(&folder.path("leads.csv")));
    assert_eq!(newer.status, 409);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 300);
    let results = page.results(&list);
    assert!(results.iter().all(|row| row["status"] == "created"));
}

#[test]
fn stop_waits_for_the_answers_however_often_it_is_pressed() {
    let folder = Folder::with_leads(&contacts(400));
    let service = scenario("latency_ms = 300");
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    wait_for_requests(&service, 3);
    for _ in 0..10 {
        page.stop(&list);
        sleep(Duration::from_millis(5));
    }
    let ended = page.end(&list);
    assert!(
        ended.says("Stopped") && ended.says("Resume"),
        "{}",
        ended.body
    );
    let (leads, requests) = (service.leads().len(), service.stats().lead_requests);
    assert!(
        leads < 400 && leads as u64 == requests,
        "{leads} of {requests}"
    );
    // No answer was given up, so no row is in doubt.
    let results = page.results(&list);
    let created = results.iter().filter(|row| row["status"] == "created");
    assert_eq!(created.count(), leads);
    page.session.post(&format!("{list}/resume"), &[]);
    // The former end is not that of this start.
    wait_for_requests(&service, requests + 1);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 400);
    assert_eq!(
        service.stats().lead_requests,
        400,
        "nobody was asked for twice"
    );
}

/// Connections that another user of this computer opens: silent ones, some with half a head, and
/// some that are kept open after requests with a cookie that is none.
fn of_a_neighbour(port: u16) -> Vec<TcpStream> {
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let whole = format!("GET /x/ HTTP/1.1\r\n{host}Cookie: leadload_{port}=x\r\n\r\n");
    let beginnings = ["", "GET ", &whole[..whole.len() - 2], &whole];
    let connections = (0..60).flat_map(|_| beginnings).map(|beginning| {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        // It may be closed already for those that came after it.
        let _ = stream.write_all(beginning.as_bytes());
        stream
    });
    connections.collect()
}

#[test]
fn hundreds_of_connections_of_a_neighbour_keep_nobody_from_pressing_stop() {
    let folder = Folder::with_leads(&contacts(400));
    let service = scenario("latency_ms = 300");
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    wait_for_requests(&service, 1);
    let mut connections = of_a_neighbour(page.session.port());
    let is_stopped = AtomicBool::new(false);
    scope(|threads| {
        // Byte by byte none of them is ever idle.
        threads.spawn(|| {
            let began = Instant::now();
            while !is_stopped.load(Ordering::Relaxed) && began.elapsed() < PATIENCE {
                for stream in &mut connections {
                    let _ = stream.write_all(b"x");
                }
            }
        });
        let began = Instant::now();
        assert_eq!(page.session.get(&format!("{list}/run")).status, 200);
        page.stop(&list);
        let took = began.elapsed();
        is_stopped.store(true, Ordering::Relaxed);
        assert!(took < Duration::from_secs(3), "{took:?}");
    });
    assert!(page.end(&list).says("Stopped"));
}

#[test]
fn rows_that_met_a_stop_are_named_by_their_lines_and_sent_when_it_goes_on() {
    let folder = Folder::with_leads(&contacts(30));
    let service = scenario("[[rule]]\nreply = { status = 404, body = '{}' }");
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    let ended = page.end(&list);
    assert!(
        ended.says("line 2, line ") && ended.says("line 31"),
        "{}",
        ended.body
    );
    let service = replaced(service, "");
    page.session.post(&format!("{list}/resume"), &[]);
    wait_for_requests(&service, 30);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 30);
}

#[test]
fn a_form_without_its_token_stops_nothing() {
    let folder = Folder::with_leads(&contacts(200));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    let kind = "multipart/form-data; boundary=x";
    for address in [
        &format!("{list}/stop"),
        &format!("{list}/resume"),
        "history/1/resume",
        "quit",
    ] {
        let answer = page.session.send(address, kind, b"--x--\r\n");
        assert_eq!(answer.status, 404, "{address}: {}", answer.body);
    }
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 200);
}

#[test]
fn after_a_restart_it_is_said_before_sending_that_calls_may_start_at_once() {
    let folder = Folder::with_leads(&contacts(5));
    let service = service();
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.kill();
    let page = Page::start(&folder, &service);
    let send = page.session.arrive(&format!("{list}/send")).1;
    for text in ["Spring promo, in progress", "may start at once"] {
        assert!(send.body.contains(text), "{}", send.body);
    }
}

#[test]
fn a_test_call_that_is_pressed_twice_is_made_once() {
    let folder = Folder::with_leads(&contacts(5));
    let service = service();
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    let (at, send) = page.session.arrive(&format!("{list}/send"));
    let (version, tests) = (send.field("version"), send.field("tests"));
    let fields = [
        ("version", version.as_str()),
        ("tests", tests.as_str()),
        ("number", "+447911000000"),
    ];
    for _ in 0..2 {
        page.session.post(&format!("{list}/test"), &fields);
        let told = page.session.arrive(&at).1;
        assert!(told.says("The test lead"), "{}", told.body);
    }
    assert_eq!(service.stats().lead_requests, 1);
    // Another number in the same form is another call.
    let other = [&fields[..2], &[("number", "+447911000001")]].concat();
    page.session.post(&format!("{list}/test"), &other);
    page.session.arrive(&at);
    assert_eq!(service.stats().lead_requests, 2);
}

#[test]
fn what_was_stopped_before_it_began_can_be_sent() {
    let folder = Folder::with_leads(&contacts(50));
    let service = scenario("latency_ms = 50\nmax_concurrent = 1");
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    for _ in 0..5 {
        let version = page.version(&list);
        let (send, stop) = (format!("{list}/send"), format!("{list}/stop"));
        scope(|threads| {
            threads.spawn(|| page.session.post(&send, &[("version", &version)]));
            threads.spawn(|| page.session.post(&stop, &[]));
        });
        wait_until("over", || {
            page.stop(&list);
            let live = page.session.get(&format!("{list}/live"));
            ["gone", "over"]
                .iter()
                .any(|stage| live.says(&format!("data-stage=\"{stage}\"")))
        });
    }
    page.send(&list, &[]);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 50);
}

#[test]
fn the_first_ten_are_sent_and_those_that_were_on_their_way() {
    let folder = Folder::with_leads(&contacts(500));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[("only-first", "yes")]);
    let ended = page.end(&list);
    assert!(
        ended.says("Stopped") && ended.says("Resume"),
        "{}",
        ended.body
    );
    let sent = service.leads().len();
    assert!((10..60).contains(&sent), "{sent}");
    page.session.post(&format!("{list}/resume"), &[]);
    wait_for_requests(&service, sent as u64 + 1);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 500);
}

#[test]
fn one_list_is_sent_at_a_time_and_the_same_list_is_sent_once() {
    let folder = Folder::with_leads(&contacts(300));
    let service = scenario("latency_ms = 50");
    let page = Page::start(&folder, &service);
    let first = page.prepare(&folder);
    let lists: Vec<String> = (0..3).map(|_| page.prepare(&folder)).collect();
    page.send(&first, &[]);
    wait_for_requests(&service, 1);
    for list in &lists {
        page.send(list, &[]);
    }
    let waits = page.session.get(&format!("{}/run", lists[1]));
    assert!(waits.says("its turn"), "{}", waits.body);
    // One that is cancelled while it waits begins nothing.
    page.stop(&lists[1]);
    assert!(page.end(&first).says("Sent"));
    for list in [&lists[0], &lists[2]] {
        assert!(page.end(list).says("Sent"));
        let results = page.results(list);
        let settled = |row: &BTreeMap<String, String>| row["status"] == "already_imported";
        assert!(results.len() == 300 && results.iter().all(settled));
    }
    assert_eq!(service.stats().lead_requests, 300);
    let cancelled = page.session.arrive(&format!("{}/run", lists[1])).0;
    assert!(cancelled.ends_with("/send"), "{cancelled}");
}

#[test]
fn a_list_waits_for_a_command_line_and_cancelled_it_holds_nothing() {
    let folder = Folder::with_leads(&contacts(300));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    let other = folder.import_leads(&service, &[]).start();
    wait_for_requests(&service, 1);
    for _ in 0..2 {
        page.send(&list, &[]);
        wait_until("cancelled", || {
            page.stop(&list);
            page.session.get(&format!("{list}/live")).says("\"gone\"")
        });
    }
    assert!(crate::util::Output::of(other).code == 0);
    // Nobody has the right to send any more.
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(service.stats().lead_requests, 300);
}

/// How many lock files of a ledger the program has open. Only root may look: it is not to be dumped.
#[cfg(target_os = "linux")]
fn open_locks(program: &Child) -> usize {
    let files = std::fs::read_dir(format!("/proc/{}/fd", program.id()));
    let places = files
        .into_iter()
        .flatten()
        .filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let is_lock = |place: &std::path::PathBuf| place.to_string_lossy().contains(".sender-");
    places.filter(is_lock).count()
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_goes_on_waiting_for_a_list_that_was_cancelled() {
    let folder = Folder::with_leads(&contacts(300));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let program = page.process.as_ref().unwrap();
    let list = page.prepare(&folder);
    let before = open_locks(program);
    let other = folder
        .import_leads(&service, &["--concurrency", "1"])
        .start();
    wait_for_requests(&service, 1);
    page.send(&list, &[]);
    wait_until("waiting for its turn", || {
        page.session
            .get(&format!("{list}/run"))
            .says("another leadload")
    });
    page.stop(&list);
    wait_until("over", || open_locks(program) == before);
    kill(other);
}

#[test]
fn connections_that_are_closed_stop_nothing() {
    let folder = Folder::with_leads(&contacts(300));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    for _ in 0..50 {
        page.session.send_and_leave(&format!("{list}/run"));
        page.session.send_and_leave(&format!("{list}/live"));
    }
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 300);
}

#[test]
fn what_was_answered_is_on_disk() {
    let folder = Folder::with_leads(&contacts(20));
    let service = service();
    let mut page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    for name in ["first", "second", "third"] {
        let columns = page.session.arrive(&format!("{list}/columns")).1;
        let answer = page.choose(&list, &columns.field("version"), name);
        assert_eq!(answer.status, 303);
        page.kill();
        page = Page::start(&folder, &service);
        // It is offered again, with what was chosen.
        assert!(page.session.get("list").says("leads.csv"));
        let columns = page.session.arrive(&format!("{list}/columns")).1;
        assert!(
            columns.says(&format!("value=\"{name}\"")),
            "{}",
            columns.body
        );
    }
    page.send(&list, &[]);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 20);
}

#[cfg(unix)]
#[test]
fn the_end_of_the_program_waits_for_the_answers_and_for_nothing_else() {
    let folder = Folder::with_leads(&contacts(300));
    let service = scenario("latency_ms = 300");
    let mut page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    wait_for_requests(&service, 2);
    let waiting = page.prepare(&folder);
    page.send(&waiting, &[]);
    let process = page.process.take().unwrap();
    signal(&process, "-TERM");
    assert_eq!(crate::util::Output::of(process).code, 0);
    let requests = service.stats().lead_requests;
    assert_eq!(service.leads().len() as u64, requests, "all were answered");
    let page = Page::start(&folder, &service);
    page.session.post(&format!("{list}/resume"), &[]);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 300);
    assert_eq!(
        service.stats().lead_requests,
        300,
        "nobody was asked for twice"
    );
}

fn rounds() -> usize {
    let rounds = std::env::var("LEADLOAD_CRASH_ROUNDS");
    rounds
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(4)
}

#[test]
fn killed_again_and_again_and_resumed_it_loses_no_row_and_makes_no_lead_twice() {
    let count = 150 * rounds();
    let folder = Folder::with_leads(&contacts(count));
    let service = scenario(
        "seed = 3\nlatency_ms = 8\nlatency_jitter_ms = 8\nretry_after_s = 0\n[faults]\n\
         drop_after = 0.03\ndrop_before = 0.02\nstatus_500_after = 0.01",
    );
    let mut chance = fastrand::Rng::with_seed(17);
    let mut page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    for _ in 0..rounds() {
        let before = service.stats().lead_requests;
        wait_for_requests(&service, before + 1);
        sleep(Duration::from_millis(chance.u64(1..150)));
        page.kill();
        page = Page::start(&folder, &service);
        page.session.post(&format!("{list}/resume"), &[]);
    }
    let ended = page.end(&list);
    assert!(ended.says("Sent"), "{}", ended.body);
    has_each_once(&service, count);
    let results = page.results(&list);
    let rows: Vec<usize> = results
        .iter()
        .map(|row| row["row"].parse().unwrap())
        .collect();
    assert_eq!(rows, (1..=count).collect::<Vec<_>>(), "every row, in order");
    for row in &results {
        let is_lost = row["status"] == "duplicate" && row["error_code"] == "answer_lost";
        assert!(row["status"] == "created" || is_lost, "{row:?}");
    }
}
