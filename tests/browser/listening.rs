//! What a screen reader says while nothing is pressed.

use crate::page::Page;

impl Page<'_> {
    /// Begins to listen to live regions, until the page is left.
    #[track_caller]
    pub fn listen(&self) {
        self.script(include_str!("listening.js"));
    }

    /// Every change of the text of a live region since then.
    #[track_caller]
    pub fn heard(&self) -> Vec<String> {
        let heard = self.script("return window.heard");
        serde_json::from_value(heard).expect("nothing listens: the page was left")
    }
}
