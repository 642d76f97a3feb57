//! The browser and the driver of this machine.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

const HOW: &str = "Install Chromium (or Chrome) and its driver, on Debian by \
    `apt-get install chromium-headless-shell chromium-driver`. CHROMEDRIVER names a driver that is elsewhere.";

/// What they are called on the systems that have them. The first has no window and starts in a
/// third of the time.
const BROWSERS: [&str; 6] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// Where the installers of macOS and Windows put them, outside the search path.
const PLACES: [&str; 4] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
];

pub struct Installed {
    pub browser: PathBuf,
    pub driver: PathBuf,
}

impl Installed {
    /// Both, or what is missing.
    fn find() -> Result<Installed, &'static str> {
        let named = env::var_os("CHROMEDRIVER").map(PathBuf::from);
        let driver = named.or_else(|| in_search_path("chromedriver"));
        let places = || PLACES.map(PathBuf::from).into_iter();
        let browser = BROWSERS.iter().find_map(|name| in_search_path(name));
        let browser = browser.or_else(|| places().find(|path| path.is_file()));
        Ok(Installed {
            browser: browser.ok_or("Chromium is not installed.")?,
            driver: driver.ok_or("chromedriver is not installed.")?,
        })
    }

    /// None on a machine without them. Where `CI` is set they must be there.
    pub fn here() -> Option<Installed> {
        match Installed::find() {
            Ok(installed) => Some(installed),
            Err(missing) if env::var_os("CI").is_some() => panic!("{missing} {HOW}"),
            Err(_) => None,
        }
    }
}

fn in_search_path(name: &str) -> Option<PathBuf> {
    let name = Path::new(name).with_extension(env::consts::EXE_EXTENSION);
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
}

/// The only test that says it: the others are silent without a browser.
#[test]
fn tests_in_a_browser_that_are_left_out_are_mentioned() {
    if Installed::here().is_none()
        && let Err(missing) = Installed::find()
    {
        // In one piece, since tests run side by side; and not by eprintln!, which is
        // hidden where a test passes.
        let line = format!("Left out: tests in a browser. {missing} {HOW}\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
}
