//! The program as people start it, with its page.

use std::io::{BufRead, BufReader};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use leadload::sandbox::Sandbox;

use crate::page::Page;
use crate::util::{Folder, Run};

/// How long the program may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running `leadload web`. It is killed when this is dropped.
pub struct Web {
    process: Child,
    link: String,
}

impl Web {
    /// A practice: the service is inside the program.
    pub fn practice(folder: &Folder) -> Web {
        Web::of(folder.leadload(&["web", "--no-open", "--sandbox"]))
    }

    /// Sends to a service of the test at a pace that is set.
    pub fn start(folder: &Folder, service: &Sandbox) -> Web {
        folder.write("config.toml", "[profiles.test]\nrate = '200/s'\n");
        let args = [
            "web",
            "--no-open",
            "--config",
            "config.toml",
            "--profile",
            "test",
        ];
        Web::of(folder.leadload(&args).at(service))
    }

    /// Knows no service yet.
    pub fn without_service(folder: &Folder) -> Web {
        Web::of(folder.leadload(&["web", "--no-open"]))
    }

    fn of(run: Run) -> Web {
        let mut process = run.start();
        let mut link = String::new();
        let stdout = process.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut link).unwrap();
        Web {
            process,
            link: link.trim_end().to_owned(),
        }
    }

    /// Opens the link, which works once.
    #[track_caller]
    pub fn open(&self, page: &Page<'_>) {
        page.goto(&self.link);
        page.wait_until("the first screen", |page| !page.url().contains("open?"));
    }

    /// Ends the program as a power failure does.
    pub fn kill(self) {}

    /// Waits until the program has ended by itself.
    #[track_caller]
    pub fn ended(mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "the program does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
