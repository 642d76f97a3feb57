//! Every error that a user can meet, provoked from outside: its text, word for word, and the
//! exit code. A snapshot for each topic, to be read as a page.
//!
//! What `leadload config init` says while it asks is beside its own tests. What is not
//! provoked here, since nobody outside of the program can:
//!
//! - a thread that has died (`broke off`), an HTTP client that cannot be made of certificates
//!   that are there, a listing of more than 64 MiB, 1000 pages or five minutes;
//! - a disk that is full or fails midway, a ledger that is deleted midway: `ledger` and
//!   `outputs` do that, where a system has the means;
//! - what may not be read or written: permissions do not apply to tests that run as the
//!   superuser; the advice for each reason has a test beside it;
//! - answers that never come, and hosts without an address: `connections`, `outages`;
//! - a second sender: `ledger`, and a second writer: `outputs`, since their texts name a
//!   process.

mod campaigns;
mod command_line;
mod connection;
mod inputs;
mod ledger;
mod mapping;
mod outputs;
mod runs;
mod sandbox;
mod service;
mod settings;
mod spreadsheets;
mod suppression;
mod token;
mod warnings;

use leadload::sandbox::Sandbox;

use crate::transcript::transcript;
use crate::util::{Folder, Output, Run};

/// A number that a list can hold.
const ONE: &str = "phone\n+447911000001\n";

/// What commands have said.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Adds what a command says that is refused. Standard output stays empty then.
    fn add(&mut self, folder: &Folder, run: Run) {
        let typed = run.typed();
        let output = run.output();
        assert_eq!(output.stdout, "", "{typed}\n{}", output.stderr);
        self.push(folder, &typed, output);
    }

    /// The same for a command that had begun: its summary is not at issue.
    fn add_of_begun(&mut self, folder: &Folder, run: Run) {
        let typed = run.typed();
        let output = run.output();
        assert_ne!(output.stdout, "", "{typed}\n{}", output.stderr);
        let stdout = String::new();
        self.push(folder, &typed, Output { stdout, ..output });
    }

    /// The same for a command that is refused for what is in a file.
    fn add_of_file(&mut self, folder: &Folder, text: &str, run: Run) {
        let output = run.output();
        assert_eq!(output.stdout, "", "{text}\n{}", output.stderr);
        self.push(folder, &format!("cat config.toml\n{text}"), output);
    }

    fn push(&mut self, folder: &Folder, typed: &str, output: Output) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(&transcript(folder, typed, &output));
    }

    /// Compares all of it with what was said before.
    #[track_caller]
    fn is(self, topic: &str) {
        insta::with_settings!({
            omit_expression => true,
            snapshot_path => "../snapshots",
            prepend_module_to_snapshot => false,
        }, {
            insta::assert_snapshot!(format!("messages-{topic}"), self.0);
        });
    }
}

/// An import of `leads.csv` into a campaign, which says nothing but errors.
fn import(folder: &Folder, service: &Sandbox, args: &[&str]) -> Run {
    folder.import_leads(service, &[args, &["--quiet"]].concat())
}

/// A check, which needs no service.
fn check(folder: &Folder, args: &[&str]) -> Run {
    folder.leadload(&[&["check"], args, &["--quiet"]].concat())
}
