//! Tests what the sandbox promises, over a real socket. The client is written by hand: it must
//! be able to send what a good client would not, and to see that not a single byte came back.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

mod exchanges;
mod faults;
mod lead_calls;

const AUTH: &str = "Authorization: Bearer sandbox-token\r\n";
const JSON_HEADS: &str = "Accept: application/json\r\nContent-Type: application/json\r\n";
const ADA: &str = "+447911123456";

/// An answer as it came over the wire.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

fn start(scenario: &str) -> Sandbox {
    Sandbox::start(toml_edit::de::from_str(scenario).unwrap()).unwrap()
}

/// Sends the bytes and returns everything that comes back until the connection is closed.
fn exchange(sandbox: &Sandbox, request: &str) -> Vec<u8> {
    let mut tcp = TcpStream::connect(sandbox.addr()).unwrap();
    tcp.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    tcp.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    tcp.read_to_end(&mut bytes).unwrap();
    bytes
}

fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    Answer {
        status: status.parse().unwrap(),
        headers: lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}

fn request(method_and_path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method_and_path} HTTP/1.1\r\nHost: sandbox.test\r\nConnection: close\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    )
}

fn lead_request(body: &str) -> String {
    request("POST /api/user/lead", &format!("{AUTH}{JSON_HEADS}"), body)
}

fn lead(phone: &str) -> String {
    json!({ "phone_number": phone, "campaign_id": 101, "allow_dupplicate": false }).to_string()
}

fn post(sandbox: &Sandbox, body: &str) -> Answer {
    parse(&exchange(sandbox, &lead_request(body)))
}

fn get(sandbox: &Sandbox, path: &str) -> Answer {
    let headers = format!("{AUTH}Accept: application/json\r\n");
    let request = request(&format!("GET {path}"), &headers, "");
    parse(&exchange(sandbox, &request))
}

/// Status and body of the answers to a first and a second request for the same lead.
fn twice(scenario: &str) -> [(u16, Value); 2] {
    let sandbox = start(scenario);
    [(); 2].map(|()| {
        let answer = post(&sandbox, &lead(ADA));
        (answer.status, answer.json())
    })
}

// The contract
