//! The sandbox in a process of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use super::leadload;

/// A service that answers at once, until it is dropped.
pub struct Service {
    process: Child,
    /// Where it listens.
    pub url: String,
}

impl Service {
    pub fn start() -> Service {
        Service::start_with(&[])
    }

    /// One with such settings.
    pub fn start_with(settings: &[&str]) -> Service {
        let mut process = leadload()
            .args(["sandbox", "--listen", "127.0.0.1:0"])
            .args(settings)
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

    /// Where leads are posted.
    pub fn lead_url(&self) -> String {
        format!("{}/api/user/lead", self.url)
    }

    /// How many requests it has understood: those of leads that it has made, or that it
    /// had already.
    pub fn understood(&self) -> u64 {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut connection = TcpStream::connect(address).unwrap();
        let request = "GET /_sandbox/stats HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n";
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let stats: serde_json::Value = serde_json::from_str(body).unwrap();
        let count = |field: &str| stats[field].as_u64().unwrap();
        count("created") + count("duplicates_refused")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
