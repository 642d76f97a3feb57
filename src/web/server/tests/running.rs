//! How a later start finds a page, and what it does not fall for.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;

use super::{Answer, PATIENCE, TestServer};
use crate::web::server::running::PageFolder;
use crate::web::server::{Limits, RunningPage, redirect};
use crate::web::server::{Running, Server};

fn folder(home: &tempfile::TempDir) -> PageFolder {
    PageFolder::open(home.path().join("web/page")).unwrap()
}

fn found(home: &tempfile::TempDir) -> Option<RunningPage> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(folder(home).running(false))
}

fn start(server: Server) -> Running {
    server.start(Router::new()).unwrap()
}

fn bind() -> Server {
    Server::bind(None, Limits::default()).unwrap()
}

#[test]
fn a_page_is_found_with_a_link_of_its_own_until_it_ends() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(found(&home), None);
    assert_eq!(folder(&home).last_port(), None);
    let server = bind();
    let (port, base) = (server.port(), server.base().to_owned());
    let printed = server.link().unwrap();
    let published = folder(&home).publish(&server, None).unwrap();
    let running = start(server);
    let links: Vec<String> = (0..2).map(|_| found(&home).unwrap().link).collect();
    let begin = format!("http://127.0.0.1:{port}{base}open?code=");
    for link in &links {
        assert!(link.starts_with(&begin), "{link}");
        assert_ne!(*link, printed);
    }
    assert_ne!(links[0], links[1]);
    drop(running);
    drop(published);
    assert_eq!(found(&home), None);
    assert_eq!(folder(&home).last_port(), Some(port));
}

#[test]
fn a_later_page_begins_when_the_earlier_one_has_ended() {
    let home = tempfile::tempdir().unwrap();
    let (server, later) = (bind(), bind());
    let published = folder(&home).publish(&server, None).unwrap();
    let refused = folder(&home).publish(&later, None).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ResourceBusy);
    let running = start(server);
    assert!(found(&home).is_some());
    drop(running);
    drop(published);
    let _published = folder(&home).publish(&later, None).unwrap();
    let _running = start(later);
    assert!(found(&home).is_some());
}

#[test]
fn a_file_of_a_process_that_was_killed_is_not_fallen_for() {
    let home = tempfile::tempdir().unwrap();
    let server = bind();
    let _published = folder(&home).publish(&server, None).unwrap();
    // Nothing is on its port any more.
    drop(server);
    assert_eq!(found(&home), None);
    // Another page is: it has a key of its own.
    let other = bind();
    let text = std::fs::read_to_string(home.path().join("web/page/running.json")).unwrap();
    let mut contact: serde_json::Value = serde_json::from_str(&text).unwrap();
    contact["port"] = other.port().into();
    contact["base"] = other.base().into();
    std::fs::write(
        home.path().join("web/page/running.json"),
        contact.to_string(),
    )
    .unwrap();
    let _running = start(other);
    assert_eq!(found(&home), None);
    for damaged in ["", "{", "{\"port\":1}"] {
        std::fs::write(home.path().join("web/page/running.json"), damaged).unwrap();
        assert_eq!(found(&home), None);
    }
}

/// Another program on the port of a page that was killed; it answers and keeps what it is asked.
fn impostor(listener: TcpListener, answer: &'static str) -> Arc<Mutex<String>> {
    let heard = Arc::new(Mutex::new(String::new()));
    let hears = Arc::clone(&heard);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap();
            *hears.lock().unwrap() += &String::from_utf8_lossy(&bytes[..read]);
            let length = answer.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{answer}");
            stream.write_all(head.as_bytes()).unwrap();
        }
    });
    heard
}

#[test]
fn another_program_on_the_port_learns_no_secret_and_is_not_followed() {
    for answer in [
        "",
        "hello",
        r#"{"text":"{\"link\":\"http://evil.example/\",\"redirect\":null}","proof":""}"#,
    ] {
        let home = tempfile::tempdir().unwrap();
        let server = bind();
        let port = server.port();
        let _published = folder(&home).publish(&server, None).unwrap();
        drop(server);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let heard = impostor(listener, answer);
        assert_eq!(found(&home), None);
        let text = std::fs::read_to_string(home.path().join("web/page/running.json")).unwrap();
        let contact: serde_json::Value = serde_json::from_str(&text).unwrap();
        let heard = heard.lock().unwrap();
        assert!(heard.contains("nonce"), "{heard}");
        assert!(!heard.contains(contact["key"].as_str().unwrap()));
    }
}

#[test]
fn who_does_not_know_the_key_gets_no_link() {
    let server = TestServer::new();
    let ask = |body: &str| -> Answer {
        let head = server.head("POST", "again");
        server.raw(format!(
            "{head}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    for body in [
        "",
        "{}",
        r#"{"nonce":"1","opens":false,"proof":""}"#,
        &format!(
            r#"{{"nonce":"1","opens":false,"proof":"{}"}}"#,
            "0".repeat(64)
        ),
        &"x".repeat(20_000),
    ] {
        let answer = ask(body);
        assert_eq!(answer.status, 404, "{answer:?}");
        assert!(!answer.body.contains("code="));
    }
}

#[test]
fn a_file_that_no_browser_has_followed_is_removed_and_so_is_its_code() {
    let home = tempfile::tempdir().unwrap();
    let limits = Limits {
        redirect_time: Duration::from_millis(300),
        ..Limits::default()
    };
    let server = Server::bind(None, limits).unwrap();
    let port = server.port();
    let visible = Some(home.path().to_owned());
    let _published = folder(&home).publish(&server, visible).unwrap();
    let first = server.redirect().unwrap();
    let second = server.redirect().unwrap();
    assert!(!first.exists());
    let text = std::fs::read_to_string(&second).unwrap();
    let note = home.path().join("web/page/redirect");
    let noted = std::fs::read_to_string(&note).unwrap();
    assert_eq!(Some(Path::new(&noted)), second.parent());
    let _running = start(server);
    let began = Instant::now();
    while second.parent().unwrap().exists() {
        assert!(began.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!note.exists());
    let (_, link) = text.split_once("0;url=http://127.0.0.1:").unwrap();
    let (_, path) = link.split('"').next().unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let request =
        format!("GET /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut stream).status, 403);
}

#[test]
fn only_the_noted_file_of_a_crash_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let note = home.path().join("note");
    for (name, is_ours) in [("leadload-1", true), ("Documents", false)] {
        let folder = home.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("open.html"), "x").unwrap();
        std::fs::write(&note, folder.to_str().unwrap()).unwrap();
        redirect::remove_noted(&note);
        assert_eq!(folder.exists(), !is_ours);
        assert!(!note.exists());
    }
    let folder = home.path().join("leadload-2");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("of-the-user"), "x").unwrap();
    std::fs::write(&note, folder.to_str().unwrap()).unwrap();
    redirect::remove_noted(&note);
    assert!(folder.join("of-the-user").exists());
}
