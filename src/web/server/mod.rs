//! Serves the pages to the browser of one person on this computer, and to nobody else.
//!
//! | file | content |
//! |-|-|
//! | `connections`, `limits` | connections, and how much each may take |
//! | `guard`, `answers` | who is let in, and what the others are told |
//! | `codes`, `session`, `secret` | what a browser signs in with |
//! | `body`, `form`, `upload`, `file_name` | what a browser sends |
//! | `running` | how a later start finds the page of an earlier one |
//! | `redirect`, `browser` | how the browser gets to the page |
//!
//! Rule: knows nothing about lists. The pages below it are a router.

mod answers;
mod body;
mod browser;
mod codes;
mod connections;
mod file_name;
mod form;
mod guard;
mod limits;
mod redirect;
mod running;
mod secret;
mod session;
#[cfg(test)]
mod tests;
pub mod upload;

pub use browser::{OPEN, open as open_browser, open_alone};
pub use connections::{Running, Server};
pub use form::FormFields;
pub use limits::Limits;
pub use running::{PageFolder, Published, RunningPage};
pub use session::Session;
