//! The page with large lists: how long a list takes from the browser to the button that sends it,
//! how much memory that takes of 64 MiB and 16 bytes for each number, and how long each screen
//! takes while leads are sent. Of memory only Linux tells.
//!
//! `cargo bench --bench page`

// A benchmark prints, and fails by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::panic
)]

mod common;
#[path = "../tests/it/page_session.rs"]
mod page_session;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::service::Service;
use common::{leadload, number};
use page_session::Session;
use rust_xlsxwriter::Workbook;

/// About 300 MB.
const CSV_ROWS: usize = 3_400_000;

const SHEET_ROWS: usize = 200_000;

/// Rows that are sent while all screens are asked for.
const SENT_ROWS: usize = 400_000;

const HEADER: [&str; 8] = [
    "phone",
    "first_name",
    "last_name",
    "city",
    "street",
    "company",
    "source",
    "consent",
];

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.csv");
    write_csv(&large, CSV_ROWS);
    let sheet = folder.path().join("sheet.xlsx");
    write_sheet(&sheet, SHEET_ROWS);
    let service = Service::start();
    for (list, rows) in [(&large, CSV_ROWS), (&sheet, SHEET_ROWS)] {
        let page = Page::start(&["--base-url", &service.url]);
        prepare(&page, list, rows);
        println!("  {} MiB afterwards", page.memory("VmRSS:"));
    }
    both_lists(&service, &large, &sheet);
    while_sending(folder.path());
    wide_lists(folder.path());
    idle(&service);
}

/// `leadload web` with a home folder of its own, and a browser.
struct Page {
    process: Child,
    session: Session,
    _home: tempfile::TempDir,
}

impl Page {
    /// Without a limit of its own for the pace.
    fn start(args: &[&str]) -> Page {
        let home = tempfile::tempdir().unwrap();
        let token = home.path().join("token");
        fs::write(&token, "bench").unwrap();
        let config = home.path().join("config.toml");
        fs::write(&config, "[profiles.bench]\nrate = 'none'\n").unwrap();
        let mut command = leadload();
        command
            .args(["web", "--no-open", "--profile", "bench", "--config"])
            .arg(&config)
            .args(args)
            .env("HOME", home.path())
            .env("XDG_STATE_HOME", home.path().join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if !args.contains(&"--sandbox") {
            command.arg("--token-file").arg(&token);
        }
        let mut process = command.spawn().unwrap();
        let mut link = String::new();
        BufReader::new(process.stdout.as_mut().unwrap())
            .read_line(&mut link)
            .unwrap();
        Page {
            session: Session::sign_in(&link),
            process,
            _home: home,
        }
    }

    /// What Linux says about the memory of the process, in MiB: at this moment, or at most.
    fn memory(&self, what: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(what));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or_default() >> 10
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Takes a list to the screen with the button that sends it; the address of the list.
fn prepare(page: &Page, list: &Path, rows: usize) -> String {
    let session = &page.session;
    let bytes = list.metadata().unwrap().len();
    let began = Instant::now();
    let answer = session.upload("list", &[], Some(list));
    let uploaded = began.elapsed();
    let to = answer.to.expect(&answer.body);
    let list = to.strip_suffix("/begin").unwrap().to_owned();
    session.arrive(&to);
    let read = began.elapsed() - uploaded;
    let campaign = session.arrive(&format!("{list}/campaign")).1;
    let version = campaign.field("version");
    let fields = [("version", version.as_str()), ("campaign", "101")];
    session.post(&format!("{list}/campaign"), &fields);
    let columns = session.arrive(&format!("{list}/columns")).1;
    let version = columns.field("version");
    let began = Instant::now();
    let answer = session.upload(&format!("{list}/columns"), &choices(&version), None);
    session.arrive(&answer.to.expect(&answer.body));
    let (at, send) = session.arrive(&format!("{list}/send"));
    assert!(
        at.ends_with("/send") && send.says("Send "),
        "{at}: {}",
        send.body
    );
    let may_take = 64 + ((rows * 16) >> 20);
    println!(
        "  a list of {rows} rows ({} MB): uploaded in {:.1} s, read in {:.1} s, checked in {:.1} s; at most {} MiB (of a list of text {may_take})",
        bytes / 1_000_000,
        uploaded.as_secs_f64(),
        read.as_secs_f64(),
        began.elapsed().as_secs_f64(),
        page.memory("VmHWM:"),
    );
    list
}

fn choices(version: &str) -> Vec<(&str, &str)> {
    vec![
        ("version", version),
        ("action", "continue"),
        ("phone", "0"),
        ("country", ""),
        ("send-1", "yes"),
        ("name-1", "first_name"),
        ("send-3", "yes"),
        ("name-3", "city"),
    ]
}

/// Two lists in one program.
fn both_lists(service: &Service, large: &Path, sheet: &Path) {
    println!("one after the other in one program:");
    let page = Page::start(&["--base-url", &service.url]);
    prepare(&page, sheet, SHEET_ROWS);
    prepare(&page, large, CSV_ROWS);
    prepare(&page, sheet, SHEET_ROWS);
    println!("  {} MiB afterwards", page.memory("VmRSS:"));
}

/// All screens, again and again, while another list is sent to the service inside leadload.
fn while_sending(folder: &Path) {
    let list = folder.join("sent.csv");
    write_csv(&list, SENT_ROWS);
    let page = Page::start(&["--sandbox"]);
    let sent = prepare(&page, &list, SENT_ROWS);
    let other = prepare(&page, &list, SENT_ROWS);
    let session = &page.session;
    let version = session.arrive(&format!("{sent}/send")).1.field("version");
    let answer = session.post(&format!("{sent}/send"), &[("version", &version)]);
    assert_eq!(answer.to, Some(format!("{sent}/run")), "{}", answer.body);
    let mut screens: Vec<(String, Vec<Duration>)> = Vec::new();
    for screen in [
        "service",
        "list",
        "history",
        "history/1/summary",
        "quit",
        "style.css",
    ] {
        screens.push((screen.to_owned(), Vec::new()));
    }
    for screen in ["run", "live", "send", "problems"] {
        screens.push((format!("{sent}/{screen}"), Vec::new()));
    }
    for screen in ["list", "campaign", "columns", "problems", "send"] {
        screens.push((format!("{other}/{screen}"), Vec::new()));
    }
    let began = Instant::now();
    let mut rounds = 0;
    let is_sending = || {
        !session
            .get(&format!("{sent}/live"))
            .says("data-stage=\"over\"")
    };
    while is_sending() {
        for (screen, times) in &mut screens {
            times.push(session.get(screen).took);
        }
        rounds += 1;
    }
    println!(
        "every screen {rounds} times while {SENT_ROWS} leads were sent in {:.0} s (median, maximum):",
        began.elapsed().as_secs_f64()
    );
    for (screen, times) in &mut screens {
        tell(screen, times);
    }
}

fn tell(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let millis = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!(
        "  {what}: {:.1} ms, {:.1} ms",
        millis(times.get(times.len() / 2)),
        millis(times.last())
    );
}

/// Lists with as many columns as workbooks may have, and with very long cells.
fn wide_lists(folder: &Path) {
    println!("wide lists, each screen: its size, and how long it takes");
    for (name, columns, cell) in [
        ("2,000 columns", 2_000, 8),
        ("16,000 columns", 16_000, 8),
        ("cells of 400,000 characters", 8, 400_000),
    ] {
        let list = folder.join("wide.csv");
        write_wide(&list, columns, cell);
        let page = Page::start(&["--sandbox"]);
        let session = &page.session;
        let to = session.upload("list", &[], Some(&list)).to.unwrap();
        let list = to.strip_suffix("/begin").unwrap();
        session.arrive(&to);
        let version = session
            .arrive(&format!("{list}/campaign"))
            .1
            .field("version");
        let fields = [("version", version.as_str()), ("campaign", "101")];
        session.post(&format!("{list}/campaign"), &fields);
        let version = session
            .arrive(&format!("{list}/columns"))
            .1
            .field("version");
        let mut all = choices(&version);
        all[1].1 = "all";
        let began = Instant::now();
        session.upload(&format!("{list}/columns"), &all, None);
        let mut told = vec![format!(
            "all chosen in {:.0} ms",
            began.elapsed().as_secs_f64() * 1e3
        )];
        let answer = session.arrive(&format!("{list}/columns")).1;
        let version = answer.field("version");
        let mut chosen = choices(&version);
        chosen[1].1 = "preview";
        session.upload(&format!("{list}/columns"), &chosen, None);
        sleep(Duration::from_millis(500));
        for screen in ["campaign", "columns", "problems"] {
            session.arrive(&format!("{list}/{screen}"));
            let answer = session.get(&format!("{list}/{screen}"));
            told.push(format!(
                "{screen} {} kB in {:.0} ms",
                answer.body.len() / 1000,
                answer.took.as_secs_f64() * 1e3
            ));
        }
        println!(
            "  {name}: {}; at most {} MiB",
            told.join(", "),
            page.memory("VmHWM:")
        );
    }
}

/// What the program does while nobody does anything.
fn idle(service: &Service) {
    const WHILE: Duration = Duration::from_secs(10);
    let page = Page::start(&["--base-url", &service.url]);
    page.session.arrive("list");
    // Threads that have made the pages end after ten seconds without work.
    sleep(Duration::from_secs(12));
    let before = work_of(&page.process);
    sleep(WHILE);
    let after = work_of(&page.process);
    println!(
        "idle for {} s: {} wake-ups, {} hundredths of a second of processor time",
        WHILE.as_secs(),
        after.0.saturating_sub(before.0),
        after.1 - before.1
    );
}

/// How often the threads of a process have waited, and its processor time.
fn work_of(process: &Child) -> (u64, u64) {
    let folder = PathBuf::from(format!("/proc/{}", process.id()));
    let number = |text: &str| text.trim().parse::<u64>().unwrap_or(0);
    let threads = fs::read_dir(folder.join("task"))
        .into_iter()
        .flatten()
        .flatten();
    let waits = threads.map(|thread| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let lines = status.lines();
        let waits = lines.filter_map(|line| line.split_once("voluntary_ctxt_switches:"));
        waits.map(|(_, count)| number(count)).sum::<u64>()
    });
    let waits = waits.sum();
    let stat = fs::read_to_string(folder.join("stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let time = fields.split(' ').skip(11).take(2).map(number).sum();
    (waits, time)
}

fn cells(i: usize) -> [String; 8] {
    [
        number(i),
        format!("First{}", i % 977),
        format!("Lastname{}", i % 7_919),
        format!("City {}", i % 313),
        format!("{} Long Street", i % 499),
        format!("Company number {i} Limited"),
        "autumn fair".to_owned(),
        if i.is_multiple_of(3) { "no" } else { "yes" }.to_owned(),
    ]
}

fn write_csv(path: &Path, rows: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    writeln!(file, "{}", HEADER.join(",")).unwrap();
    for i in 0..rows {
        writeln!(file, "{}", cells(i).join(",")).unwrap();
    }
    file.flush().unwrap();
}

fn write_sheet(path: &Path, rows: usize) {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet_with_constant_memory().unwrap();
    for (row, cells) in std::iter::once(HEADER.map(str::to_owned))
        .chain((0..rows).map(cells))
        .enumerate()
    {
        for (column, cell) in cells.iter().enumerate() {
            sheet.write_string(row as u32, column as u16, cell).unwrap();
        }
    }
    book.save(path).unwrap();
}

/// A hundred rows.
fn write_wide(path: &Path, columns: usize, cell: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let header: String = (1..columns).map(|at| format!(",answer {at}")).collect();
    writeln!(file, "phone{header}").unwrap();
    for i in 0..100 {
        let cells: String = (1..columns)
            .map(|_| format!(",{}", "x".repeat(cell)))
            .collect();
        writeln!(file, "{}{cells}", number(i)).unwrap();
    }
    file.flush().unwrap();
}
