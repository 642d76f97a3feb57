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
//! | `reading`, `checking`, `sending`, `test_call` | the work for a list, on threads of their own |
//! | `live` | what a run is doing right now |
//! | `steps` | a screen for each step |
//! | `history`, `files`, `quit` | earlier runs, downloads, the end |
//! | `layout`, `visit` | what all screens have in common |
//! | `words`, `trouble` | texts without flags |
//! | `server`, `limits`, `stalled` | connections, and how much each may take |
//! | `guard`, `answers` | who is let in, and what the others are told |
//! | `codes`, `session`, `secret` | what a browser signs in with |
//! | `body`, `form`, `upload`, `file_name` | what a browser sends |
//! | `running` | how a later start finds the page of an earlier one |
//! | `redirect`, `browser` | how the browser gets to the page |

mod answers;
mod body;
mod browser;
mod campaigns;
mod checking;
mod codes;
mod column_form;
mod corrections;
mod earlier;
mod file_name;
mod files;
mod form;
mod form_columns;
mod guard;
mod history;
mod job;
mod jobs;
mod layout;
mod limits;
mod live;
mod pages;
mod previews;
mod quit;
mod reading;
mod reading_form;
mod redirect;
mod running;
mod secret;
mod sending;
mod server;
mod session;
mod site;
mod stalled;
mod steps;
mod summary;
mod test_call;
#[cfg(test)]
mod tests;
mod times;
mod trouble;
mod upload;
mod visit;
mod words;

pub use browser::open as open_browser;
pub use limits::Limits;
pub use pages::Pages;
pub use running::{Found, PageFolder, Published};
pub use server::{Running, Server};
