//! The screens of the program, and the way through them.

use std::path::{Path, PathBuf};

use crate::page::Page;

pub const LIST: Screen = Screen {
    title: "List",
    heading: "Choose your contact list",
};

pub const CAMPAIGN: Screen = Screen {
    title: "Campaign",
    heading: "Which campaign should call these people?",
};

pub const COLUMNS: Screen = Screen {
    title: "Columns",
    heading: "What should the agent know?",
};

pub const SEND: Screen = Screen {
    title: "Send",
    heading: "Check, then send",
};

pub const SERVICE: Screen = Screen {
    title: "Service",
    heading: "Connect to your calling service",
};

/// What a screen says about itself.
pub struct Screen {
    pub title: &'static str,
    pub heading: &'static str,
}

/// A list of the corpus: as people have it.
pub fn export(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/corpus/exports")
        .join(name)
}

impl Page<'_> {
    /// Waits for a screen, which explains itself, and whose heading has the focus where scripts run.
    #[track_caller]
    pub fn expect(&self, title: &str, heading: &str) {
        self.wait_until(heading, |page| page.heading() == heading);
        self.is_at(title);
    }

    #[track_caller]
    fn is_at(&self, title: &str) {
        assert_eq!(self.title(), title);
        assert_ne!(self.within("#help").text(), "");
        assert_eq!(self.focused(), self.heading());
    }

    /// Waits for the screen of so many rows that cannot be sent.
    #[track_caller]
    pub fn expect_problems(&self, list: &str, rows: usize) {
        self.wait_for_problems(rows);
        self.is_at(&format!("Problems, {list}"));
    }

    #[track_caller]
    pub fn wait_for_problems(&self, rows: usize) {
        self.wait_for_heading_of(&format!("{rows} row"));
    }

    /// Waits for the summary of what is wrong, which has the focus.
    #[track_caller]
    pub fn expect_errors(&self) {
        self.wait_until("errors", |page| {
            page.script("return document.activeElement.closest('#errors') !== null") == true
        });
    }

    #[track_caller]
    pub fn expect_screen(&self, screen: &Screen, list: &str) {
        let title = format!("{}, {list}", screen.title);
        self.expect(&title, screen.heading);
    }

    #[track_caller]
    pub fn wait_for_heading(&self, heading: &str) {
        self.wait_until(heading, |page| page.heading() == heading);
    }

    #[track_caller]
    pub fn wait_for_heading_of(&self, begin: &str) {
        self.wait_until(begin, |page| page.heading().starts_with(begin));
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
        if self.title().starts_with("Problems") {
            self.click("Continue");
        }
        self.wait_for_heading(SEND.heading);
    }

    /// Chooses a list and begins to send it.
    #[track_caller]
    pub fn send(&self, list: &Path, campaign: &str, leads: usize) {
        self.choose(list, campaign);
        self.go_on_to_send();
        self.click(&format!("Send {leads} leads"));
    }
}
