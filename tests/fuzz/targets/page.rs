//! Forms of the page.

use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;
use leadload::options::{Given, LogFormat, Options};
use leadload::report::Log;
use leadload::web::{Limits, Pages, Running, Server};
use serde_json::{Value, json};
use tracing::Level;

use super::split_line;
use crate::page_session::{Session, URLENCODED};

const LIST: &str =
    "Phone,Name,City,Country,Consent\n07400 123456,Ann,Leeds,GB,yes\n+4930901820,Bo,Berlin,DE,no\n";

/// A page that is served, with a list, for all inputs.
struct Open {
    session: Session,
    job: PathBuf,
    _running: Running,
    _folder: tempfile::TempDir,
}

thread_local! {
    static OPEN: OnceCell<Open> = const { OnceCell::new() };
}

impl Open {
    fn new() -> Open {
        let folder = tempfile::tempdir().unwrap();
        let job = folder.path().join("lists/1");
        fs::create_dir_all(&job).unwrap();
        let list = job.join("list.csv");
        fs::write(&list, LIST).unwrap();
        let record = json!({
            "name": "list.csv",
            "list": list,
            "version": 1,
            "made_at": Timestamp::now().to_string(),
        });
        fs::write(job.join("job.json"), record.to_string()).unwrap();
        let log = Log::start(Level::ERROR, LogFormat::Text);
        let mut typed = Options::default();
        let ledger = folder.path().join("ledger");
        typed.ledger.ledger = Some(Given::new(ledger.clone(), &ledger));
        typed.connection.base_url = "http://127.0.0.1:9".parse().ok();
        let pages = Pages::new(typed, folder.path(), log).unwrap();
        let server = Server::bind(None, Limits::default()).unwrap();
        let link = server.link().unwrap();
        let running = server.start(pages.router).unwrap();
        Open {
            session: Session::sign_in(&link),
            job,
            _running: running,
            _folder: folder,
        }
    }

    /// The version of the list, which a form has to name.
    fn version(&self) -> String {
        let record = fs::read(self.job.join("job.json")).unwrap();
        let record: Value = serde_json::from_slice(&record).unwrap();
        record["version"].to_string()
    }

    fn fill_in(&self, input: &[u8]) -> bool {
        let (form, content) = split_line(input);
        // As it is read by default, whatever the input before chose.
        self.session
            .post("lists/1/reading", &[("version", &self.version())]);
        let version = self.version();
        let version = ("version", version.as_str());
        let fields = url::form_urlencoded::parse(content).into_owned();
        let fields: Vec<(String, String)> = fields.collect();
        let fields = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let fields: Vec<(&str, &str)> = [version].into_iter().chain(fields).collect();
        let answered = match form {
            b"columns" => self.session.upload("lists/1/columns", &fields, None),
            b"parts" => self.session.send(
                "lists/1/columns",
                "multipart/form-data; boundary=B",
                content,
            ),
            b"text" => self.session.send("lists/1/reading", URLENCODED, content),
            b"problems" => self.session.post("lists/1/problems", &fields),
            b"do-not-call" => self.session.post("do-not-call", &fields),
            _ => self.session.post("lists/1/reading", &fields),
        };
        assert!(
            answered.status < 500,
            "{}: {}",
            answered.status,
            answered.body
        );
        let shown = self.session.get("lists/1/columns");
        assert!(shown.status < 500, "{}: {}", shown.status, shown.body);
        answered.to.is_some()
    }
}

/// The name of the form, a line end, and its fields as a browser encodes them.
pub fn form(input: &[u8]) -> bool {
    OPEN.with(|open| open.get_or_init(Open::new).fill_in(input))
}
