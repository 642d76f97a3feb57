//! The server over raw sockets, with pages of its own and times that are short.

mod entry;
mod limits;
mod running;
mod uploads;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::routing::{get, post};
use axum::{Extension, Router};

use super::connections::{Running, Server};
use super::form::FormFields;
use super::session::Session;
use super::{Limits, upload};

/// Longer than anything takes on a busy computer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server with these pages: `/` shows the form token, `/echo` the fields of a form, `/list` what
/// has become of an upload, `/panic` none.
struct TestServer {
    port: u16,
    base: String,
    link: String,
    second_link: String,
    _running: Running,
    folder: tempfile::TempDir,
}

impl TestServer {
    fn new() -> TestServer {
        TestServer::with(Limits::default())
    }

    fn with(limits: Limits) -> TestServer {
        let server = Server::bind(None, limits).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let uploads = Arc::new(folder.path().to_owned());
        let router = Router::new()
            .route("/", get(token))
            .route("/echo", post(echo))
            .route("/list", post(list))
            .route("/panic", get(panics))
            .with_state(uploads);
        TestServer {
            port: server.port(),
            base: server.base().to_owned(),
            link: server.link().unwrap(),
            second_link: server.link().unwrap(),
            _running: server.start(router).unwrap(),
            folder,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The beginning of a request, up to and with its `Host`.
    fn head(&self, method: &str, page: &str) -> String {
        let (base, port) = (&self.base, self.port);
        format!("{method} {base}{page} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n")
    }

    /// The answer to these bytes.
    fn raw(&self, request: impl AsRef<[u8]>) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_ref()).unwrap();
        Answer::read(&mut stream)
    }

    fn get(&self, page: &str, headers: &str) -> Answer {
        self.raw(format!("{}{headers}\r\n", self.head("GET", page)))
    }

    fn code(&self) -> &str {
        self.link.split_once("code=").unwrap().1
    }

    /// Signs in with the printed link.
    fn sign_in(&self) -> Browser<'_> {
        let answer = self.get(&format!("open?code={}", self.code()), "");
        assert_eq!(answer.status, 200);
        self.browser(&answer)
    }

    /// Signs another browser in.
    fn sign_in_another(&self) -> Browser<'_> {
        let (_, code) = self.second_link.split_once("code=").unwrap();
        self.browser(&self.get(&format!("open?code={code}"), ""))
    }

    fn browser(&self, signed_in: &Answer) -> Browser<'_> {
        let cookie = signed_in.header("set-cookie").unwrap();
        let mut browser = Browser {
            server: self,
            cookie: cookie.split(';').next().unwrap().to_owned(),
            token: String::new(),
        };
        browser.token = browser.get("").body;
        browser
    }

    /// The files of uploads.
    fn files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }

    #[track_caller]
    fn wait_until_no_file_is_left(&self) {
        let began = Instant::now();
        while !self.files().is_empty() {
            assert!(began.elapsed() < PATIENCE, "{:?}", self.files());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

struct Browser<'a> {
    server: &'a TestServer,
    cookie: String,
    token: String,
}

impl Browser<'_> {
    fn get(&self, page: &str) -> Answer {
        let cookie = format!("Cookie: {}\r\n", self.cookie);
        self.server.get(page, &cookie)
    }

    /// The head of a change that our own page makes, up to its content type.
    fn change(&self, page: &str) -> String {
        let head = self.server.head("POST", page);
        let (cookie, port) = (&self.cookie, self.server.port);
        format!("{head}Cookie: {cookie}\r\nOrigin: http://127.0.0.1:{port}\r\n")
    }

    fn post(&self, page: &str, body: &str) -> Answer {
        self.server.raw(form(&self.change(page), body))
    }
}

/// A request with this head and a form without a file.
fn form(head: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[derive(Debug)]
struct Answer {
    /// 0 if the connection was closed without an answer.
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// Reads to the end of the connection, also one that is reset.
    fn read(stream: &mut TcpStream) -> Answer {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Answer {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        let mut pairs = lines.filter_map(|line| line.split_once(": "));
        pairs.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
    }
}

async fn token(Extension(session): Extension<Session>) -> String {
    session.form_token.as_str().to_owned()
}

async fn echo(Extension(fields): Extension<FormFields>) -> String {
    format!("{:?}", fields.0)
}

async fn panics() {
    panic!("as a page with a mistake might");
}

async fn list(State(folder): State<Arc<PathBuf>>, request: Request) -> String {
    let folder: &Path = &folder;
    match upload::receive(request, folder).await {
        Ok(list) => {
            let fields = list.fields.0;
            let Some((name, file)) = list.file else {
                return format!("no file {fields:?}");
            };
            let content = std::fs::read(&file).unwrap();
            #[cfg(unix)]
            let private = file.metadata().unwrap();
            std::fs::remove_file(&file).unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = private.permissions().mode();
                assert_eq!(mode & 0o777, 0o600);
            }
            let begin = String::from_utf8_lossy(&content[..content.len().min(20)]).into_owned();
            format!("{name} {} {begin:?} {fields:?}", content.len())
        }
        Err(error) => format!("{error:?}"),
    }
}
