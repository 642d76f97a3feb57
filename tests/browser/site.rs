//! A small site on this computer, to try the helpers on.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// As strict as the pages of the program.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub struct Site(SocketAddr);

impl Site {
    /// Serves until the tests are over.
    pub fn start() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                thread::spawn(move || answer(&stream));
            }
        });
        Site(address)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.0)
    }
}

fn answer(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let Some(first) = lines.next() else {
        return Ok(());
    };
    lines.find(|line| line.is_empty());
    let path = first.split(['?', ' ']).nth(1).unwrap_or_default();
    let (status, kind, body) = match path {
        "/" => ("200 OK", "text/html", include_str!("site/index.html")),
        "/faulty" => ("200 OK", "text/html", include_str!("site/faulty.html")),
        "/page.css" => ("200 OK", "text/css", include_str!("site/page.css")),
        "/page.js" => ("200 OK", "text/javascript", include_str!("site/page.js")),
        "/results.csv" => (
            "200 OK",
            "application/octet-stream",
            "row,status\n1,created\n",
        ),
        "/favicon.ico" => ("204 No Content", "text/plain", ""),
        _ => ("404 Not Found", "text/plain", "There is no such page."),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\n\
        Content-Security-Policy: {POLICY}\r\nConnection: close\r\n\r\n{body}"
    )
}
