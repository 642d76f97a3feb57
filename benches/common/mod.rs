//! What the benchmarks that send leads have in common.

// Each of them uses a part.
#![allow(dead_code)]

pub mod cost;
pub mod ledger;
pub mod service;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use leadload::api::wire::LeadForm;
use leadload::api::{BaseUrl, Certificates, Client, Token};
use leadload::lead::CampaignId;
use leadload::phone::PhoneNumber;

/// Numbers in no order.
pub fn contacts(count: usize) -> String {
    let mut text = String::from("phone,first_name,city\n");
    for i in 0..count {
        writeln!(text, "{},Name {i},Leeds", number(i)).unwrap();
    }
    text
}

/// A number that no other `i` has: the factor has no divisor in common with 10^8.
pub fn number(i: usize) -> String {
    format!("+4479{:08}", i * 48_271 % 100_000_000)
}

/// The same as a number that can be called.
pub fn phone(i: u64) -> PhoneNumber {
    PhoneNumber::from_e164(&number(i as usize)).unwrap()
}

pub fn leadload() -> Command {
    Command::new(env!("CARGO_BIN_EXE_leadload"))
}

/// An import of a file of contacts.
pub fn import(url: &str, leads: &Path, ledger: &Path) -> Command {
    let mut command = leadload();
    command
        .args(["import", "--campaign", "101", "--quiet"])
        .arg("--ledger")
        .arg(ledger)
        .arg(leads)
        .env("LEADLOAD_BASE_URL", url)
        .env("LEADLOAD_TOKEN", "bench")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// The bodies of an import of [`contacts`], a line each.
pub fn bodies(count: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|i| [body(i), "\n".into()].concat())
        .collect()
}

fn body(i: usize) -> Bytes {
    let name = format!("Name {i}");
    let variables = [("first_name", name.as_str()), ("city", "Leeds")];
    LeadForm::default().body(phone(i as u64), CampaignId(101), variables.into_iter())
}

/// Sends the bodies of an import of [`contacts`] and looks at nothing but that an answer
/// comes.
pub fn generate(url: &str, leads: usize, in_flight: usize) {
    let base_url = BaseUrl::parse(url, false).unwrap();
    let token = Token::from_text("bench", "bench").unwrap();
    let client = Client::new(
        &base_url,
        token,
        Certificates::default(),
        None,
        Duration::from_secs(60),
    )
    .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        futures::stream::iter(0..leads)
            .map(|i| client.post_lead(body(i)))
            .buffer_unordered(in_flight)
            .count()
            .await
    });
}
