//! Every error that a user can get, provoked from outside: its exact text and the
//! exit code. There is one snapshot for each topic, which can be read like a page.
//! What the page in the browser says about a list that it refuses is here too.
//! Other tests ask for codes and data, so that a text is written down once.
//!
//! The messages of `leadload config init` while it asks are tested with its
//! other tests. These errors cannot be provoked here, from outside the program:
//!
//! - a thread that has died (`broke off`), an HTTP client that cannot be built from existing
//!   certificates, a campaign list of more than 64 MiB, 1000 pages or five minutes;
//! - a disk that is full or fails midway, a ledger that is deleted midway:
//!   tested in `ledger` and `outputs`, if the system has the means;
//! - files that may not be read or written: permissions do not apply to tests
//!   that run as the superuser; the advice for each reason has a unit test;
//! - answers that never come, and hosts without an address: tested in `connections`, `outages`;
//! - a second sender (tested in `ledger`) and a second writer (tested in
//!   `outputs`), because their texts name a process.

mod campaigns;
mod command_line;
mod connection;
mod inputs;
mod ledger;
mod mapping;
mod marks;
mod outputs;
mod page;
mod runs;
mod sandbox;
mod service;
mod settings;
mod spreadsheets;
mod suppression;
mod test_lead;
mod token;
mod undo;
mod warnings;

use leadload::sandbox::Sandbox;

use crate::transcript::transcript;
use crate::util::{Folder, Output, Run};

/// A list of one number.
const ONE: &str = "phone\n+447911000001\n";

/// The messages of several commands.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Adds the message of a command that is refused: it prints nothing on standard output, and leaves
    /// nothing behind but the lock of a ledger.
    fn add(&mut self, folder: &Folder, run: Run) {
        let typed = run.typed();
        let names = || {
            let names = folder.names().into_iter();
            names.filter(|name| !name.contains(".sender-"))
        };
        let before: Vec<String> = names().collect();
        let output = run.output();
        assert_eq!(output.stdout, "", "{typed}\n{}", output.stderr);
        assert!(names().eq(before), "{typed}: {:?}", folder.names());
        self.push(folder, &typed, output);
    }

    /// Adds the message of a command that had begun. Its summary is not checked.
    fn add_of_begun(&mut self, folder: &Folder, run: Run) {
        let typed = run.typed();
        let output = run.output();
        assert_ne!(output.stdout, "", "{typed}\n{}", output.stderr);
        let stdout = String::new();
        self.push(folder, &typed, Output { stdout, ..output });
    }

    /// Adds the message of a command that is refused because of the content of a file.
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

    /// Compares all messages with the snapshot.
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

/// An import of `leads.csv` into a campaign that only prints errors.
fn import(folder: &Folder, service: &Sandbox, args: &[&str]) -> Run {
    folder.import_leads(service, &[args, &["--quiet"]].concat())
}

/// A check, which needs no service.
fn check(folder: &Folder, args: &[&str]) -> Run {
    folder.leadload(&[&["check"], args, &["--quiet"]].concat())
}
