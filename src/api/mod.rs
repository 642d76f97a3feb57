//! The service: its two calls, what is sent, and what its answers mean; and two more calls that it
//! may have, about leads that exist (`lead_calls`).
//!
//! Rule: only this module knows the service. `wire` defines what is sent and received; only
//! `client` opens connections. `verdict` judges a single answer and is pure. It uses `head` (the
//! status, and what the headers say about waits, see `wait`, and rate limits, see `quota`), `body`
//! (everything else that an answer says: `complaints` about fields, and `sentence` for the meaning
//! of a sentence) and `transport_error` (why there is no answer). `list_page` reads the pages of both lists.

mod answer;
mod base_url;
mod body;
mod certificates;
mod client;
mod complaints;
mod head;
mod lead_calls;
mod lead_page;
mod list;
mod list_page;
mod mask;
mod packed;
mod proxy;
mod quota;
mod sentence;
mod token;
mod tokens;
mod transport_error;
mod unread;
pub mod verdict;
mod wait;
pub mod wire;

pub use answer::Answer;
pub use base_url::BaseUrl;
pub use certificates::Certificates;
pub use client::{Client, REUSE_IDLE_FOR};
pub use head::Head;
pub use lead_calls::{CallError, CallResult, LeadQuery};
pub use lead_page::{CreatedAt, LeadPage, ListedLead};
pub use list::ListError;
pub use proxy::Proxy;
pub use quota::Quota;
pub use token::Token;
