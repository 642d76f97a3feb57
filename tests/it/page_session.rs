//! What a browser sends to the page and gets for it: it signs in with the link, keeps the cookie
//! and the form token.

// The benchmarks use it too. Each of them uses a part.
#![allow(dead_code)]

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long work may take that a page waits for.
const PATIENCE: Duration = Duration::from_secs(300);

/// How forms without a file are encoded.
pub const URLENCODED: &str = "application/x-www-form-urlencoded";

const BOUNDARY: &str = "a-boundary-that-is-in-no-list";

#[derive(Clone)]
pub struct Session {
    port: u16,
    /// `/PREFIX/`.
    base: String,
    cookie: String,
    form_token: String,
}

pub struct Answer {
    pub status: u16,
    /// Where a redirect leads, without what comes before every page.
    pub to: Option<String>,
    pub body: String,
    pub took: Duration,
}

impl Session {
    /// Follows the link that the program prints.
    pub fn sign_in(link: &str) -> Session {
        let rest = link.trim_end().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, path) = rest.split_once('/').unwrap();
        let (prefix, open) = path.split_once('/').unwrap();
        let mut session = Session {
            port: port.parse().unwrap(),
            base: format!("/{prefix}/"),
            cookie: String::new(),
            form_token: String::new(),
        };
        let (head, _) = session.exchange(&session.head("GET", open, "", 0), io::empty());
        let cookie = between(&head, "set-cookie: ", ";").expect("a cookie");
        session.cookie = cookie.to_owned();
        session.form_token = session.get("quit").field("form_token");
        session
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn get(&self, page: &str) -> Answer {
        self.answer(&self.head("GET", page, "", 0), io::empty())
    }

    /// Sends a form without a file.
    pub fn post(&self, page: &str, fields: &[(&str, &str)]) -> Answer {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("form_token", &self.form_token);
        let body = form.extend_pairs(fields).finish();
        self.send(page, URLENCODED, body.as_bytes())
    }

    /// Sends a form that was filled in and encoded.
    pub fn send(&self, page: &str, kind: &str, body: &[u8]) -> Answer {
        self.answer(&self.head("POST", page, kind, body.len() as u64), body)
    }

    /// Sends a form that may have a file, which is read as it is sent.
    pub fn upload(&self, page: &str, fields: &[(&str, &str)], file: Option<&Path>) -> Answer {
        let token = [("form_token", self.form_token.as_str())];
        let part = |(name, value): &(&str, &str)| {
            format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            )
        };
        let mut before: String = token.iter().chain(fields).map(part).collect();
        let name = file.map(|path| path.file_name().unwrap().to_str().unwrap());
        before += &format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"list\"; filename=\"{}\"\r\nContent-Type: application/octet-stream\r\n\r\n",
            name.unwrap_or_default()
        );
        let after = format!("\r\n--{BOUNDARY}--\r\n");
        let bytes = file.map_or(0, |path| path.metadata().unwrap().len());
        let content: Box<dyn Read> = match file {
            Some(path) => Box::new(File::open(path).unwrap()),
            None => Box::new(io::empty()),
        };
        let length = before.len() as u64 + bytes + after.len() as u64;
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let body = before.as_bytes().chain(content).chain(after.as_bytes());
        self.answer(&self.head("POST", page, &kind, length), body)
    }

    /// The screen to which a page leads once its work is done, and where that is.
    pub fn arrive(&self, page: &str) -> (String, Answer) {
        let began = Instant::now();
        let mut page = page.to_owned();
        loop {
            let answer = self.get(&page);
            match &answer.to {
                Some(to) => page.clone_from(to),
                None if answer.body.contains("data-waiting") => sleep(Duration::from_millis(20)),
                None => return (page, answer),
            }
            assert!(began.elapsed() < PATIENCE, "{page}: {}", answer.body);
        }
    }

    fn head(&self, method: &str, page: &str, kind: &str, length: u64) -> String {
        let (base, port, cookie) = (&self.base, self.port, &self.cookie);
        let mut head = format!(
            "{method} {base}{page} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
        );
        if !cookie.is_empty() {
            head += &format!("Cookie: {cookie}\r\n");
        }
        if method == "POST" {
            head += &format!(
                "Origin: http://127.0.0.1:{port}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
            );
        }
        head + "\r\n"
    }

    /// A request that is sent and whose answer nobody reads.
    pub fn send_and_leave(&self, page: &str) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        let head = self.head("GET", page, "", 0);
        stream.write_all(head.as_bytes()).unwrap();
    }

    fn exchange(&self, head: &str, mut body: impl Read) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        // Large lists are sent in large pieces.
        let mut sent = BufWriter::with_capacity(1 << 20, &stream);
        sent.write_all(head.as_bytes()).unwrap();
        io::copy(&mut body, &mut sent).unwrap();
        sent.flush().unwrap();
        drop(sent);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let mut body = answer.split_off(end.expect("an answer") + 4);
        let head = String::from_utf8(answer).unwrap();
        if head.contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        (head, body)
    }

    fn answer(&self, head: &str, body: impl Read) -> Answer {
        let began = Instant::now();
        let (head, body) = self.exchange(head, body);
        let took = began.elapsed();
        let to = between(&head, "location: ", "\r\n");
        let to = to.map(|to| to.strip_prefix(&self.base).unwrap().to_owned());
        Answer {
            status: head[9..12].parse().unwrap(),
            to,
            body: String::from_utf8_lossy(&body).into_owned(),
            took,
        }
    }
}

impl Answer {
    /// The value of a hidden field.
    #[track_caller]
    pub fn field(&self, name: &str) -> String {
        let before = format!("name=\"{name}\" value=\"");
        let value = between(&self.body, &before, "\"");
        value
            .unwrap_or_else(|| panic!("no {name} in {}", self.body))
            .to_owned()
    }

    /// Where the first link leads that ends in this, without what comes before every page.
    pub fn link(&self, end: &str) -> Option<String> {
        let mut links = self.body.split("href=\"").skip(1);
        let links = links.find_map(|rest| rest.split('"').next().filter(|to| to.ends_with(end)));
        // `/PREFIX/history/1/files/results.csv`
        links.map(|to| to[1..].split_once('/').unwrap().1.to_owned())
    }

    pub fn says(&self, text: &str) -> bool {
        self.body.contains(text)
    }
}

/// A body without the lengths of its pieces.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let line = body.iter().position(|byte| *byte == b'\n').unwrap();
        let length = str::from_utf8(&body[..line]).unwrap().trim();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return whole;
        }
        let piece = &body[line + 1..];
        whole.extend_from_slice(&piece[..length]);
        body = &piece[length + 2..];
    }
}

/// What stands between two texts.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}
