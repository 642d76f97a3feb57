//! Starts Chromium and the driver that steers it, and ends both.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use thirtyfour::prelude::*;
use thirtyfour::{LoggingPrefsLogLevel, TimeoutConfiguration, WindowHandle};
use tokio::runtime::Runtime;

use crate::installed::Installed;
use crate::page::Page;

/// How long the driver, Chromium and each command may take. After 60 seconds the driver
/// says itself why Chromium does not start.
const PATIENCE: Duration = Duration::from_secs(90);

const FLAGS: [&str; 12] = [
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    // The shared memory of a container is too small for it.
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    // Chromium ends when the pipe closes: even if the driver or a test is killed.
    "--remote-debugging-pipe",
    // Nothing but this computer is reached, whatever a page asks for.
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/// A browser with an empty profile.
pub struct Browser {
    driver: Option<WebDriver>,
    runtime: Runtime,
    /// The tab that commands go to.
    current: RefCell<WindowHandle>,
    /// Ended before its folder is removed.
    _process: Process,
    folder: tempfile::TempDir,
}

impl Browser {
    /// None on a machine without a browser, where the test passes.
    pub fn start() -> Option<Browser> {
        Installed::here().map(|installed| Browser::of(&installed))
    }

    fn of(installed: &Installed) -> Browser {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let (process, port) = Process::start(&installed.driver, folder.path(), &log);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let connected = runtime.block_on(connect(&installed.browser, folder.path(), port));
        let driver =
            connected.unwrap_or_else(|error| panic!("{}\n{}", reason(&error), end_of(&log)));
        let current = RefCell::new(runtime.block_on(driver.window()).unwrap());
        Browser {
            driver: Some(driver),
            runtime,
            current,
            _process: process,
            folder,
        }
    }

    /// The tab that is open from the beginning.
    pub fn page(&self) -> Page<'_> {
        Page::new(self, self.current.borrow().clone())
    }

    pub fn new_tab(&self) -> Page<'_> {
        let tab = self.wait(async |driver| driver.new_tab().await);
        Page::new(self, tab.unwrap())
    }

    /// An empty folder, for a download.
    pub fn new_folder(&self) -> PathBuf {
        tempfile::tempdir_in(&self.folder).unwrap().keep()
    }

    /// Runs a command in a tab.
    pub fn within<T>(
        &self,
        tab: &WindowHandle,
        command: impl AsyncFnOnce(&WebDriver) -> WebDriverResult<T>,
    ) -> WebDriverResult<T> {
        self.wait(async |driver| {
            let is_current = *self.current.borrow() == *tab;
            if !is_current {
                driver.switch_to_window(tab.clone()).await?;
                self.current.replace(tab.clone());
            }
            command(driver).await
        })
    }

    fn wait<T>(
        &self,
        command: impl AsyncFnOnce(&WebDriver) -> WebDriverResult<T>,
    ) -> WebDriverResult<T> {
        let driver = self.driver.as_ref().unwrap();
        self.runtime.block_on(command(driver))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take() {
            // What does not end by itself ends when its driver is killed.
            let _ = self.runtime.block_on(driver.quit());
        }
    }
}

async fn connect(browser: &Path, folder: &Path, port: u16) -> WebDriverResult<WebDriver> {
    let mut options = DesiredCapabilities::chrome();
    options.set_binary(&browser.display().to_string())?;
    for flag in FLAGS {
        options.add_arg(flag)?;
    }
    if is_root(folder) {
        options.add_arg("--no-sandbox")?;
    }
    options.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    // The client asks for a provider of TLS, though the driver speaks none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE);
    let driver = WebDriver::builder(format!("http://127.0.0.1:{port}"), options)
        .client(client.build()?)
        .await?;
    let limit = Some(PATIENCE / 3);
    let limits = TimeoutConfiguration::new(limit, limit, Some(Duration::ZERO));
    driver.update_timeouts(limits).await?;
    Ok(driver)
}

/// Chromium's sandbox does not work for root.
#[cfg(unix)]
fn is_root(own: &Path) -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata(own).unwrap()) == 0
}

#[cfg(not(unix))]
fn is_root(_own: &Path) -> bool {
    false
}

/// The driver, killed when dropped.
struct Process(Child);

impl Process {
    /// Starts it on a free port. The driver looks for one and may find that another program has
    /// taken it meanwhile.
    fn start(driver: &Path, home: &Path, log: &Path) -> (Process, u16) {
        let mut attempts = (0..5).filter_map(|_| Process::attempt(driver, home, log));
        attempts
            .next()
            .unwrap_or_else(|| panic!("{} does not start: {}", driver.display(), end_of(log)))
    }

    fn attempt(driver: &Path, home: &Path, log: &Path) -> Option<(Process, u16)> {
        let child = Command::new(driver)
            .args(["--port=0", "--log-level=WARNING", "--enable-chrome-logs"])
            .env("HOME", home)
            // Where the driver puts the profile, on Linux and Windows.
            .env("TMPDIR", home)
            .env("TMP", home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(log).unwrap())
            .spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", driver.display()));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let process = Process(child);
        let (sender, receiver) = mpsc::channel();
        // It reads to the end: the driver waits where nobody reads what it says.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, port)) = line.split_once("started successfully on port ") {
                    let _ = sender.send(port.trim_end_matches('.').parse().unwrap());
                }
            }
        });
        let port = receiver.recv_timeout(PATIENCE).ok()?;
        Some((process, port))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the driver says, without the addresses in its program that follow.
pub fn reason(error: &WebDriverError) -> String {
    let text = error.to_string();
    let reason = text.split("Stacktrace:").next().unwrap_or_default();
    reason.trim().to_owned()
}

/// The last lines of a log.
fn end_of(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
