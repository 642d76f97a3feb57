//! A real terminal of a given size, with the program in it and keys that are typed.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::util::Run;

/// The longest that anything is waited for.
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
    parser: vt100::Parser,
    written: Vec<u8>,
}

impl Terminal {
    /// Starts the command in a terminal of so many columns and lines.
    pub fn start(run: Run, columns: u16, lines: u16) -> Terminal {
        let size = size(columns, lines);
        let pair = native_pty_system().openpty(size).unwrap();
        let child = pair.slave.spawn_command(run.in_terminal()).unwrap();
        let mut output = pair.master.try_clone_reader().unwrap();
        let screen = Arc::new(Mutex::new(Screen {
            parser: vt100::Parser::new(cells(lines), cells(columns), 1000),
            written: Vec::new(),
        }));
        let shown = Arc::clone(&screen);
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The terminal ends with the last program in it, on Linux with an error.
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                let mut screen = shown.lock().unwrap();
                screen.parser.process(&bytes[..read]);
                screen.written.extend_from_slice(&bytes[..read]);
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

    /// What is to be seen now, without blanks at the ends of lines and below.
    pub fn shown(&self) -> String {
        let shown = self.screen.lock().unwrap().parser.screen().contents();
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Everything that was written to the terminal, control sequences included.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap().written).into_owned()
    }

    /// Waits until the screen shows a text; returns the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |shown| shown.contains(text))
    }

    /// Waits until the screen is as it is to be; returns it.
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

    /// Waits until the last that is shown is this question, and types. What is typed earlier
    /// is no answer to it.
    #[track_caller]
    pub fn answer(&mut self, question: &str, keys: &str) {
        self.wait_until(question, |shown| shown.ends_with(question));
        self.type_in(keys);
    }

    /// Types, as it is: a line ends with `\r`.
    pub fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Makes the window another size.
    pub fn resize(&self, columns: u16, lines: u16) {
        let mut screen = self.screen.lock().unwrap();
        let resized = screen.parser.screen_mut();
        resized.set_size(cells(lines), cells(columns));
        self.master.resize(size(columns, lines)).unwrap();
    }

    /// Waits for the end; returns the exit code and the last screen.
    #[track_caller]
    pub fn end(self) -> (u32, String) {
        self.end_within(PATIENCE)
    }

    /// The same, for as long as this.
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
        // Another program that was started in it may keep the terminal open.
        while !self.reader.is_finished() {
            assert!(began.elapsed() < patience, "something else has not ended");
            thread::sleep(Duration::from_millis(10));
        }
        self.reader.join().unwrap();
        let screen = self.screen.lock().unwrap();
        let shown = screen.parser.screen().contents();
        (code, shown.trim_end().to_owned())
    }
}

/// A number of columns or lines, as the parser takes it.
fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
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
    /// The same command for a terminal, which takes it in a form of its own.
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
    assert!(
        shown.contains("3 rows checked, nothing was sent"),
        "{shown}"
    );
}
