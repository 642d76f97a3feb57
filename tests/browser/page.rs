//! What people do with a page, and what they see there.
//!
//! Everything is named as people name it: buttons and links by their text,
//! controls by their label. Whatever is not there yet is waited for.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::session::scriptret::ScriptRet;
use thirtyfour::{TypingData, WindowHandle};

use crate::browser::{Browser, reason};

/// The window, in CSS pixels.
pub const WIDTH: u32 = 1200;
pub const HEIGHT: u32 = 800;

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_secs(20);

/// A tab, or a part of what is in it.
pub struct Page<'b> {
    browser: &'b Browser,
    tab: WindowHandle,
    /// As `scopeOf` in `names.js` takes it.
    scope: Value,
}

/// Where it is and what is in it.
impl<'b> Page<'b> {
    pub fn new(browser: &'b Browser, tab: WindowHandle) -> Page<'b> {
        let page = Page {
            browser,
            tab,
            scope: json!({}),
        };
        page.window(WIDTH, HEIGHT, 1.0);
        page
    }

    /// The first element of a CSS selector, to act and to read in it alone.
    pub fn within(&self, css: &str) -> Page<'b> {
        self.scoped(json!({ "css": css }))
    }

    /// The row of a table that has this header (or the item of a list with this text).
    pub fn row(&self, header: &str) -> Page<'b> {
        self.scoped(json!({ "row": header }))
    }

    fn scoped(&self, scope: Value) -> Page<'b> {
        Page {
            browser: self.browser,
            tab: self.tab.clone(),
            scope,
        }
    }

    #[track_caller]
    pub fn goto(&self, url: &str) {
        self.must(async |driver| driver.goto(url).await);
    }

    #[track_caller]
    pub fn reload(&self) {
        self.must(async |driver| driver.refresh().await);
    }

    /// Closes the tab.
    #[track_caller]
    pub fn close(&self) {
        self.must(async |driver| driver.close_window().await);
    }

    #[track_caller]
    pub fn url(&self) -> String {
        self.must(async |driver| driver.current_url().await).into()
    }

    #[track_caller]
    pub fn title(&self) -> String {
        self.must(async |driver| driver.title().await)
    }

    /// The one main heading.
    #[track_caller]
    pub fn heading(&self) -> String {
        self.until(|| {
            let headings = self.try_script(
                "return [...document.querySelectorAll('h1')].map((h1) => tidy(h1.innerText))",
            )?;
            match serde_json::from_value::<Vec<String>>(headings.clone()) {
                Ok(mut one) if one.len() == 1 => Ok(one.remove(0)),
                _ => Err(format!("a page has one main heading, this one {headings}")),
            }
        })
    }

    /// The text that is seen.
    #[track_caller]
    pub fn text(&self) -> String {
        self.until(|| self.try_text())
    }

    fn try_text(&self) -> Result<String, String> {
        let text = self.try_script("return scopeOf(scope).innerText")?;
        text.as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("there is no {}", self.scope))
    }

    /// The name of what has the focus, or nothing.
    #[track_caller]
    pub fn focused(&self) -> String {
        let name = "const active = document.activeElement;
            return active && active !== document.body ? nameOf(active) : ''";
        self.script(name).as_str().unwrap().to_owned()
    }

    /// What the browser complains of since it was last asked: errors of scripts, what the
    /// policy of the page forbids, what cannot be loaded.
    #[track_caller]
    pub fn complaints(&self) -> Vec<String> {
        let log = self.must(async |driver| driver.browser_log().await);
        log.into_iter()
            .filter(|entry| ["WARNING", "SEVERE"].contains(&entry.level.as_str()))
            .map(|entry| entry.message)
            .collect()
    }
}

/// What people do.
impl Page<'_> {
    /// Clicks a button or a link.
    #[track_caller]
    pub fn click(&self, name: &str) {
        self.on("BUTTONS", name, async |button| button.click().await);
    }

    /// Writes into a text field instead of what is there, or chooses from a select.
    #[track_caller]
    pub fn fill(&self, label: &str, text: &str) {
        self.on("CONTROLS", label, async |control| {
            if control.tag_name().await? == "select" {
                let option = format!(".//option[normalize-space()={}]", quoted(text));
                return control.find(By::XPath(option)).await?.click().await;
            }
            control.clear().await?;
            control.send_keys(text).await
        });
    }

    /// Ticks a checkbox or a radio button.
    #[track_caller]
    pub fn tick(&self, label: &str) {
        self.on("CONTROLS", label, async |control| {
            match control.is_selected().await? {
                true => Ok(()),
                false => control.click().await,
            }
        });
    }

    #[track_caller]
    pub fn is_ticked(&self, label: &str) -> bool {
        self.on("CONTROLS", label, async |control| {
            control.is_selected().await
        })
    }

    /// What is written in a text field or chosen in a select.
    #[track_caller]
    pub fn value(&self, label: &str) -> String {
        let read = format!(
            "const control = named(scope, CONTROLS, {});
            if (typeof control === 'string') return {{ missing: control }};
            return tidy(control.selectedOptions?.[0]?.text ?? control.value)",
            json!(label)
        );
        self.until(|| match self.try_script(&read)? {
            Value::String(value) => Ok(value),
            missing => Err(missing["missing"].to_string()),
        })
    }

    /// Chooses a file in a file input.
    #[track_caller]
    pub fn upload(&self, label: &str, file: &Path) {
        // Before its script runs, a page sends a list only at a click.
        self.wait_until("a page that is loaded", |page| {
            page.script("return document.readyState") == "complete"
        });
        let file = file.canonicalize().unwrap().display().to_string();
        self.on("CONTROLS", label, async |input| {
            input.send_keys(file.as_str()).await
        });
    }

    /// Clicks a link or a button and waits for the file that comes.
    #[track_caller]
    pub fn download(&self, name: &str) -> PathBuf {
        let folder = self.browser.new_folder();
        let place = json!({ "behavior": "allow", "downloadPath": folder });
        self.devtools("Browser.setDownloadBehavior", place);
        self.click(name);
        self.until(|| {
            let entries = fs::read_dir(&folder).unwrap();
            let files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
            let is_whole = |file: &Path| {
                let name = file.file_name().unwrap().to_string_lossy();
                !name.starts_with('.') && !name.ends_with(".crdownload")
            };
            match &files[..] {
                [file] if is_whole(file) => Ok(file.clone()),
                _ => Err(format!("no download has finished: {files:?}")),
            }
        })
    }

    /// Presses a key, or types a text, wherever the focus is.
    #[track_caller]
    pub fn press(&self, keys: impl Into<TypingData>) {
        let keys = keys.into();
        self.must(async |driver| driver.action_chain().send_keys(keys).perform().await);
    }

    /// Presses a key while another one is down, such as Shift and Tab.
    #[track_caller]
    pub fn press_with(&self, held: Key, key: Key) {
        self.must(async |driver| {
            let keys = driver.action_chain().key_down(held.clone());
            keys.send_keys(key).key_up(held).perform().await
        });
    }

    /// Waits until this text is seen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.until(|| match self.try_text()? {
            seen if seen.contains(text) => Ok(()),
            seen => Err(format!("“{text}” is not in:\n{seen}")),
        });
    }

    /// Waits until something holds.
    #[track_caller]
    pub fn wait_until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        self.until(|| holds(self).then_some(()).ok_or(what.to_owned()));
    }
}

/// What their computer is like.
impl Page<'_> {
    /// Makes the window this wide.
    #[track_caller]
    pub fn set_width(&self, pixels: u32) {
        self.window(pixels, HEIGHT, 1.0);
    }

    /// Makes everything larger in the same window, as Ctrl and + do.
    #[track_caller]
    pub fn zoom(&self, percent: u32) {
        let (width, height) = (WIDTH * 100 / percent, HEIGHT * 100 / percent);
        self.window(width, height, f64::from(percent) / 100.0);
    }

    #[track_caller]
    fn window(&self, width: u32, height: u32, scale: f64) {
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": false }),
        );
    }

    /// Whether the page has to be scrolled sideways.
    #[track_caller]
    pub fn is_too_wide(&self) -> bool {
        let root = "document.documentElement";
        self.script(&format!("return {root}.scrollWidth > {root}.clientWidth")) == true
    }

    /// Prefers dark pages, or light ones.
    #[track_caller]
    pub fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }

    /// Switches the scripts of pages on or off, from the next page on. Those of the tests work.
    #[track_caller]
    pub fn javascript(&self, on: bool) {
        self.devtools(
            "Emulation.setScriptExecutionDisabled",
            json!({ "value": !on }),
        );
    }
}

/// What tests need below all that.
impl Page<'_> {
    /// Runs JavaScript with the functions of `names.js`, and gives what it returns.
    #[track_caller]
    pub fn script(&self, script: &str) -> Value {
        match self.try_script(script) {
            Ok(value) => value,
            Err(error) => self.fail(&error),
        }
    }

    fn try_script(&self, script: &str) -> Result<Value, String> {
        let returned = self.run(async |driver| execute(driver, &self.scope, script).await)?;
        Ok(returned.json().clone())
    }

    /// A command of the DevTools protocol.
    #[track_caller]
    fn devtools(&self, command: &str, parameters: Value) {
        self.must(async |driver| driver.cdp().send_raw(command, parameters).await);
    }

    /// Writes what is seen as PNG.
    #[track_caller]
    pub fn screenshot(&self, path: &Path) {
        let png = self.must(async |driver| driver.screenshot_as_png().await);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, png).unwrap();
    }

    /// Does something with an element as soon as it is there and lets it be done.
    #[track_caller]
    fn on<T>(
        &self,
        kind: &str,
        name: &str,
        act: impl AsyncFn(&WebElement) -> WebDriverResult<T>,
    ) -> T {
        let find = format!("return named(scope, {kind}, {})", json!(name));
        self.until(|| {
            let found = self.run(async |driver| execute(driver, &self.scope, &find).await)?;
            if let Some(missing) = found.json().as_str() {
                return Err(missing.to_owned());
            }
            self.run(async |_| act(&found.element()?).await)
        })
    }

    /// Tries again until it succeeds, or fails with what was wrong last.
    #[track_caller]
    fn until<T>(&self, attempt: impl Fn() -> Result<T, String>) -> T {
        let began = Instant::now();
        loop {
            match attempt() {
                Ok(done) => return done,
                Err(error) if began.elapsed() > PATIENCE => self.fail(&error),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    #[track_caller]
    fn must<T>(&self, command: impl AsyncFnOnce(&WebDriver) -> WebDriverResult<T>) -> T {
        match self.run(command) {
            Ok(done) => done,
            Err(error) => self.fail(&error),
        }
    }

    fn run<T>(
        &self,
        command: impl AsyncFnOnce(&WebDriver) -> WebDriverResult<T>,
    ) -> Result<T, String> {
        let done = self.browser.within(&self.tab, command);
        done.map_err(|error| reason(&error))
    }

    /// Fails, and leaves a picture of what is seen.
    #[track_caller]
    fn fail(&self, error: &str) -> ! {
        let test = std::thread::current().name().unwrap_or("main").to_owned();
        let picture = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(test.replace("::", "-"))
            .with_extension("png");
        let url = self.run(async |driver| driver.current_url().await);
        let url = url.map_or_else(|error| error, String::from);
        if let Ok(png) = self.run(async |driver| driver.screenshot_as_png().await) {
            let _ = fs::write(&picture, png);
        }
        panic!("{error}\nat {url}, see {}", picture.display());
    }
}

async fn execute(driver: &WebDriver, scope: &Value, script: &str) -> WebDriverResult<ScriptRet> {
    let names = include_str!("names.js");
    let script = format!("const [scope] = arguments;\n{names}\n{script}");
    driver.execute(script, vec![scope.clone()]).await
}

/// A text as XPath takes it, which has no escapes.
fn quoted(text: &str) -> String {
    let quote = if text.contains('"') { '\'' } else { '"' };
    format!("{quote}{text}{quote}")
}
