//! The screens of the program, and the way through them.

use std::path::{Path, PathBuf};

use crate::page::Page;

pub const LIST: Screen = Screen {
    title: "List",
    heading: "Choose your contact list",
    help: "Excel or CSV. Save it first; it can stay open. Nothing is sent yet and your file isn't changed.",
};

pub const CAMPAIGN: Screen = Screen {
    title: "Campaign",
    heading: "Which campaign should call these people?",
    help: "A campaign in progress may start calling as soon as you send.",
};

pub const COLUMNS: Screen = Screen {
    title: "Columns",
    heading: "What should the agent know?",
    help: "The phone number is always sent. Tick only what the agent needs.",
};

/// What a screen says about itself.
pub struct Screen {
    title: &'static str,
    pub heading: &'static str,
    pub help: &'static str,
}

/// A list of the corpus: as people have it.
pub fn export(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/corpus/exports")
        .join(name)
}

impl Page<'_> {
    /// Waits for a screen, whose heading has the focus where scripts run.
    #[track_caller]
    pub fn expect(&self, title: &str, heading: &str, help: &str) {
        self.wait_until(heading, |page| page.heading() == heading);
        assert_eq!(self.title(), title);
        assert_eq!(self.within("#help").text(), help);
        assert_eq!(self.focused(), heading);
    }

    #[track_caller]
    pub fn expect_screen(&self, screen: &Screen, list: &str) {
        let title = format!("{}, {list}", screen.title);
        self.expect(&title, screen.heading, screen.help);
    }

    #[track_caller]
    pub fn wait_for_heading(&self, heading: &str) {
        self.wait_until(heading, |page| page.heading() == heading);
    }

    /// From the first screen to *Columns*.
    #[track_caller]
    pub fn choose(&self, list: &Path, campaign: &str) {
        self.upload("Contact list", list);
        self.wait_for_heading(CAMPAIGN.heading);
        self.fill("Campaign", campaign);
        self.click("Continue");
        self.wait_for_heading(COLUMNS.heading);
    }

    /// From *Columns* to *Send* with all that is not private, whatever rows have problems.
    #[track_caller]
    pub fn go_on_to_send(&self) {
        self.click("Select all");
        self.wait_until("ticked columns", |page| {
            page.script("return document.querySelector('td :checked') !== null") == true
        });
        self.click("Continue");
        self.wait_until("the next step", |page| page.heading() != COLUMNS.heading);
        if self.heading().ends_with("can't be sent yet") {
            self.click("Continue");
        }
        self.wait_for_heading("Check, then send");
    }

    /// Chooses a list and begins to send it.
    #[track_caller]
    pub fn send(&self, list: &Path, campaign: &str, leads: usize) {
        self.choose(list, campaign);
        self.go_on_to_send();
        self.click(&format!("Send {leads} leads"));
    }
}
