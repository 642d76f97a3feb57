//! How fast leads go out, beside the least that the same work can cost, in the same
//! run, since machines are noisy.
//!
//! `cargo bench --bench import`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::StreamExt;
use leadload::api::wire::LeadForm;
use leadload::api::{BaseUrl, Client, Token};
use leadload::lead::CampaignId;
use leadload::phone::PhoneNumber;

const LEADS: usize = 50_000;
const IN_FLIGHT: usize = 64;
const ROUNDS: usize = 3;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    println!("best of {ROUNDS} rounds each");
    sending(folder.path());
}

/// A full import against the sandbox in another process, beside a bare generator
/// that sends the same bodies over the same client and writes nothing down.
fn sending(folder: &Path) {
    let leads = folder.join("leads.csv");
    fs::write(&leads, contacts(LEADS)).unwrap();
    let (mut import, mut bare) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        // A new service each time, so that no lead is a duplicate.
        let service = Service::start();
        import = import.min(timed(|| service.import(&leads)));
        let service = Service::start();
        bare = bare.min(timed(|| generate(&service.url)));
    }
    let pace = |took: Duration| LEADS as f64 / took.as_secs_f64();
    println!(
        "import of {LEADS} rows, {IN_FLIGHT} in flight: {:.0} leads/s",
        pace(import)
    );
    println!(
        "the same bodies from a bare generator: {:.0} leads/s",
        pace(bare)
    );
    println!("ratio: {:.2}", pace(import) / pace(bare));
}

fn contacts(count: usize) -> String {
    let mut text = String::from("phone,first_name,city\n");
    for i in 0..count {
        writeln!(text, "+4479{i:08},Name {i},Leeds").unwrap();
    }
    text
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn leadload() -> Command {
    Command::new(env!("CARGO_BIN_EXE_leadload"))
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

/// The sandbox in a process of its own.
struct Service {
    process: Child,
    url: String,
}

impl Service {
    fn start() -> Service {
        let mut process = leadload()
            .args(["sandbox", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        Service {
            url: url.unwrap().to_owned(),
            process,
        }
    }

    fn import(&self, leads: &Path) {
        run(leadload()
            .args(["import", "--campaign", "101", "--rate", "none", "--quiet"])
            .args(["--concurrency", &IN_FLIGHT.to_string()])
            .arg(leads)
            .env("LEADLOAD_BASE_URL", &self.url)
            .env("LEADLOAD_TOKEN", "bench"));
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends the bodies of the import and looks at nothing but that an answer comes.
fn generate(url: &str) {
    let base_url = BaseUrl::parse(url, false).unwrap();
    let token = Token::from_text("bench", "bench").unwrap();
    let client = Client::new(&base_url, token, Duration::from_secs(60)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        futures::stream::iter(0..LEADS)
            .map(|i| {
                let phone = PhoneNumber::from_e164(&format!("+4479{i:08}")).unwrap();
                let name = format!("Name {i}");
                let variables = [("first_name", name.as_str()), ("city", "Leeds")];
                let body = LeadForm::default().body(phone, CampaignId(101), variables.into_iter());
                client.post_lead(body)
            })
            .buffer_unordered(IN_FLIGHT)
            .count()
            .await
    });
}
