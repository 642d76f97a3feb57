//! The page: the whole job in a browser, for people without a terminal.
//!
//! Rules: the page makes the same calls as the command line, and nothing about importing is decided
//! here. A run belongs to the process and not to a tab. No text names a flag or a command.
//!
//! ```text
//! browser → server → guard → pages (steps, history, files) → job → threads: reading, checking,
//!                                                                  sending → live → pages
//! ```
//!
//! | module | job |
//! |-|-|
//! | `site` | what all pages share: settings, service, jobs |
//! | `job`, `jobs` | a list on its way, and the folder of all lists |
//! | `reading`, `checking`, `sending`, `test_call`, `work` | the work for a list, on threads of their own |
//! | `live` | what a run is doing right now |
//! | `follow_ups` | what is done about runs that have ended, on threads of its own |
//! | `steps` | a screen for each step |
//! | `history`, `undo`, `files`, `quit` | earlier runs, taking them back, downloads, the end |
//! | `do_not_call` | the do-not-call list that stays |
//! | `layout`, `visit` | what all screens have in common |
//! | `words`, `trouble`, `notes` | texts without flags |
//! | `server` | connections and sign-in: who is let in, and how much each may take |

mod campaigns;
mod checking;
mod column_form;
mod corrections;
mod do_not_call;
mod earlier;
mod files;
mod follow_ups;
mod form_columns;
mod history;
mod job;
mod jobs;
mod kept_files;
mod layout;
mod live;
mod notes;
mod pages;
mod previews;
mod quit;
mod reading;
mod reading_form;
mod sending;
mod server;
mod site;
mod steps;
mod summary;
mod test_call;
mod trouble;
mod undo;
mod visit;
mod words;
mod work;

pub use kept_files::remove_pruned;
pub use pages::Pages;
pub use server::{
    Limits, OPEN, PageFolder, Published, Running, RunningPage, Server, open_alone, open_browser,
};

/// The folder of all lists, in the folder of a page.
const LISTS: &str = "lists";
