//! A real terminal of a given size, in which the program runs and keys are typed.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::util::Run;

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// A terminal in which a command runs.
pub struct Terminal {
    screen: Arc<Mutex<Screen>>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    reader: JoinHandle<()>,
}

/// What the terminal shows, and everything that was ever written to it.
struct Screen {
    emulator: avt::Terminal,
    written: Vec<u8>,
    /// How many bytes of it the emulator has: a character may arrive in two parts.
    fed: usize,
}

impl Screen {
    fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
        let new = &self.written[self.fed..];
        let whole = match std::str::from_utf8(new) {
            Ok(text) => text,
            Err(cut) => {
                assert_eq!(cut.error_len(), None, "not UTF-8: {new:?}");
                std::str::from_utf8(&new[..cut.valid_up_to()]).unwrap()
            }
        };
        self.emulator.feed(whole);
        self.fed += whole.len();
    }

    /// What is shown. A line that was too long for the screen is one line.
    fn text(&self) -> String {
        let mut text = String::new();
        for line in self.emulator.screen().visible_lines() {
            if line.is_wrapped() {
                text.push_str(&line.text());
            } else {
                text.push_str(line.text().trim_end());
                text.push('\n');
            }
        }
        text.trim_end().to_owned()
    }
}

impl Terminal {
    /// Starts the command in a terminal with this many columns and lines.
    pub fn start(run: Run, columns: u16, lines: u16) -> Terminal {
        let size = size(columns, lines);
        let pair = native_pty_system().openpty(size).unwrap();
        let child = pair.slave.spawn_command(run.in_terminal()).unwrap();
        let mut output = pair.master.try_clone_reader().unwrap();
        let screen = Arc::new(Mutex::new(Screen {
            emulator: avt::Terminal::new(columns.into(), lines.into()).unwrap(),
            written: Vec::new(),
            fed: 0,
        }));
        let shown = Arc::clone(&screen);
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading ends when the last program in the terminal ends; on Linux with an error.
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().write(&bytes[..read]);
            }
        });
        Terminal {
            screen,
            keyboard: pair.master.take_writer().unwrap(),
            master: pair.master,
            child,
            reader,
        }
    }

    /// The screen, without blanks at the ends of lines and without blank lines at the end.
    pub fn shown(&self) -> String {
        self.screen.lock().unwrap().text()
    }

    /// Everything that was written to the terminal, including control sequences.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap().written).into_owned()
    }

    /// Waits until the screen shows a text. Returns the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |shown| shown.contains(text))
    }

    /// Waits until `is_so` accepts the screen. Returns the screen.
    #[track_caller]
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let shown = self.shown();
            if is_so(&shown) {
                return shown;
            }
            assert!(began.elapsed() < PATIENCE, "no {what} on:\n{shown}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the screen ends with this question, then types. Keys
    /// that are typed earlier do not count as an answer.
    #[track_caller]
    pub fn answer(&mut self, question: &str, keys: &str) {
        self.wait_until(question, |shown| shown.ends_with(question));
        self.type_in(keys);
    }

    /// Types these keys as they are: a line ends with `\r`.
    pub fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Changes the size of the window.
    pub fn resize(&self, columns: u16, lines: u16) {
        let mut screen = self.screen.lock().unwrap();
        screen.emulator.resize(columns.into(), lines.into());
        self.master.resize(size(columns, lines)).unwrap();
    }

    /// Waits until the command ends. Returns the exit code and the last screen.
    #[track_caller]
    pub fn end(self) -> (u32, String) {
        self.end_within(PATIENCE)
    }

    /// Like [`Terminal::end`], with another time limit.
    #[track_caller]
    pub fn end_within(mut self, patience: Duration) -> (u32, String) {
        let began = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.exit_code();
            }
            if began.elapsed() > patience {
                self.child.kill().unwrap();
                panic!("it has not ended, and shows:\n{}", self.shown());
            }
            thread::sleep(Duration::from_millis(10));
        };
        drop(self.keyboard);
        // Another program that was started in the terminal may keep it open.
        while !self.reader.is_finished() {
            assert!(began.elapsed() < patience, "something else has not ended");
            thread::sleep(Duration::from_millis(10));
        }
        self.reader.join().unwrap();
        let shown = self.screen.lock().unwrap().text();
        (code, shown)
    }
}

fn size(columns: u16, lines: u16) -> PtySize {
    PtySize {
        rows: lines,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

impl Run {
    /// The same command in the type that the terminal needs.
    fn in_terminal(self) -> CommandBuilder {
        let command = self.into_command();
        let mut built = CommandBuilder::new(command.get_program());
        built.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => built.env(name, value),
                None => built.env_remove(name),
            }
        }
        if command.get_envs().all(|(name, _)| name != "TERM") {
            built.env("TERM", "xterm-256color");
        }
        if let Some(folder) = command.get_current_dir() {
            built.cwd(folder);
        }
        built
    }
}

#[test]
fn a_terminal_shows_what_a_command_says() {
    let folder = crate::util::Folder::with_leads(&crate::util::contacts(3));
    let check = folder.leadload(&["check", "leads.csv"]);
    let (code, shown) = Terminal::start(check, 80, 40).end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("3 rows"), "{shown}");
}
