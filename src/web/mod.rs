//! `leadload web`: the same work in a page of the browser, for one person on this computer.
//!
//! | file | content |
//! |-|-|
//! | `server`, `limits`, `stalled` | connections, and how much each may take |
//! | `guard`, `answers` | who is let in, and what the others are told |
//! | `codes`, `session`, `secret` | what a browser signs in with |
//! | `body`, `form`, `upload`, `file_name` | what a browser sends |
//! | `running` | how a later start finds the page of an earlier one |
//! | `redirect`, `browser` | how the browser gets to the page |

mod answers;
mod body;
mod browser;
mod codes;
mod file_name;
mod form;
mod guard;
mod limits;
mod pages;
mod redirect;
mod running;
mod secret;
mod server;
mod session;
mod stalled;
#[cfg(test)]
mod tests;
pub mod upload;

pub use browser::open as open_browser;
pub use form::{FORM_TOKEN, FormFields};
pub use limits::Limits;
pub use pages::Pages;
pub use running::{Found, PageFolder, Published};
pub use secret::Secret;
pub use server::{Running, Server};
pub use session::Session;
