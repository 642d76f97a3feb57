//! How much a sender may take.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{Answer, TestServer, form};
use crate::web::Limits;

const SHORT: Duration = Duration::from_millis(300);

/// Of all times only this one is short.
fn with(change: impl FnOnce(&mut Limits)) -> TestServer {
    let mut limits = Limits::default();
    change(&mut limits);
    TestServer::with(limits)
}

#[test]
fn a_head_that_does_not_end_is_cut_off_in_time_and_in_size() {
    let server = with(|limits| limits.head_time = SHORT);
    let mut stream = server.connect();
    stream.write_all(server.head("GET", "").as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut stream).status, 0);

    let server = TestServer::new();
    let browser = server.sign_in();
    let mut stream = server.connect();
    let long = format!("{}X: {}", server.head("GET", ""), "x".repeat(1 << 20));
    // It may be refused before it is sent.
    let _ = stream.write_all(long.as_bytes());
    let answer = Answer::read(&mut stream);
    assert!([0, 431].contains(&answer.status), "{answer:?}");
    assert_eq!(browser.get("").status, 200);
}

#[test]
fn a_connection_on_which_nothing_is_asked_ends() {
    let server = with(|limits| limits.head_time = SHORT);
    let mut silent = server.connect();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0);
    let mut kept = server.connect();
    let head = server.head("GET", "").replace("Connection: close\r\n", "");
    kept.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    let answer = Answer::read(&mut kept);
    assert_eq!((answer.status, answer.header("connection")), (403, None));
}

/// A connection that stays open after a request with these headers, which is answered so.
fn kept_open(server: &TestServer, headers: &str, status: &str) -> TcpStream {
    let mut stream = server.connect();
    let head = server.head("GET", "").replace("Connection: close\r\n", "");
    let request = format!("{head}{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut beginning = [0; 12];
    stream.read_exact(&mut beginning).unwrap();
    assert_eq!(beginning, *format!("HTTP/1.1 {status}").as_bytes());
    stream
}

fn is_closed(mut stream: TcpStream) -> bool {
    let mut rest = Vec::new();
    stream.set_read_timeout(Some(SHORT)).unwrap();
    let read = stream.read_to_end(&mut rest);
    read.map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |_| true)
}

#[test]
fn the_oldest_connection_that_has_not_signed_in_is_closed_for_the_next() {
    let server = with(|limits| limits.connections = 3);
    let browser = server.sign_in();
    let cookie = format!("Cookie: {}\r\n", browser.cookie);
    let signed_in = kept_open(&server, &cookie, "200");
    let silent = server.connect();
    let stranger = kept_open(&server, "Cookie: leadload_1=x\r\n", "403");
    let mut next = kept_open(&server, "", "403");
    assert!(is_closed(silent));
    assert!(!is_closed(stranger));
    assert!(!is_closed(signed_in));
    next.write_all(b"G").unwrap();
    assert_eq!(browser.get("").status, 200);
}

#[test]
fn connections_that_have_signed_in_keep_their_places_and_further_ones_wait() {
    let server = with(|limits| limits.connections = 2);
    let browser = server.sign_in();
    let cookie = format!("Cookie: {}\r\n", browser.cookie);
    let open = [(); 2].map(|()| kept_open(&server, &cookie, "200"));
    let mut waiting = server.connect();
    let request = format!("{}\r\n", server.head("GET", ""));
    waiting.write_all(request.as_bytes()).unwrap();
    waiting.set_read_timeout(Some(SHORT)).unwrap();
    assert!(waiting.read(&mut [0]).is_err());
    drop(open);
    waiting.set_read_timeout(Some(super::PATIENCE)).unwrap();
    assert_eq!(Answer::read(&mut waiting).status, 403);
}

#[test]
fn a_form_that_is_too_large_is_refused() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let token = &browser.token;
    let fits = format!("form_token={token}&a={}", "x".repeat(1_000_000));
    assert_eq!(browser.post("echo", &fits).status, 200);
    let larger = format!("form_token={token}&a={}", "x".repeat(1 << 20));
    let mut stream = server.connect();
    let _ = stream.write_all(form(&browser.change("echo"), &larger).as_bytes());
    let answer = Answer::read(&mut stream);
    assert!([0, 413].contains(&answer.status), "{}", answer.status);
    let many = format!("form_token={token}{}", "&a".repeat(200_000));
    assert_eq!(browser.post("echo", &many).status, 413);
}

#[test]
fn a_sender_of_nothing_and_a_slow_one_are_cut_off() {
    for limit in [
        |limits: &mut Limits| limits.idle_time = SHORT,
        |limits: &mut Limits| limits.form_time = SHORT,
    ] {
        let server = with(limit);
        let browser = server.sign_in();
        let head = browser.change("echo");
        let kind = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n";
        let mut stream = server.connect();
        let began = format!("{head}{kind}\r\nform_token=");
        stream.write_all(began.as_bytes()).unwrap();
        assert_eq!(Answer::read(&mut stream).status, 408);
        // The server is free for others meanwhile.
        assert_eq!(browser.get("").status, 200);
    }
}

#[test]
fn dripping_does_not_make_a_form_last() {
    let server = with(|limits| {
        limits.idle_time = SHORT;
        limits.form_time = SHORT * 3;
    });
    let browser = server.sign_in();
    let head = browser.change("echo");
    let kind = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n";
    let mut stream = server.connect();
    stream
        .write_all(format!("{head}{kind}\r\n").as_bytes())
        .unwrap();
    let mut reader = stream.try_clone().unwrap();
    let answer = std::thread::spawn(move || Answer::read(&mut reader));
    let began = Instant::now();
    while !answer.is_finished() && stream.write_all(b"x").is_ok() {
        assert!(began.elapsed() < super::PATIENCE);
        std::thread::sleep(SHORT / 10);
    }
    assert_eq!(answer.join().unwrap().status, 408);
    assert!(began.elapsed() >= SHORT * 2);
}
