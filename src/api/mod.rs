//! The service: its two calls, what is sent, and what its answers mean.
//!
//! Rule: the only place that knows the service. `wire` is what is sent and received, `client`
//! the one place that opens connections. `verdict` judges one answer by itself and is pure:
//! `head` is its status and what it says about time (`wait`) and limits (`quota`), `body` what
//! it says else (`complaints` about fields, `sentence` for what a sentence means), and `lost`
//! why there is none.

mod answer;
mod base_url;
mod body;
mod certificates;
mod client;
mod complaints;
mod head;
mod list;
mod lost;
mod mask;
mod packed;
mod quota;
mod sentence;
mod token;
mod tokens;
mod unread;
pub mod verdict;
mod wait;
pub mod wire;

pub use answer::Answer;
pub use base_url::BaseUrl;
pub use certificates::Certificates;
pub use client::{Client, REUSE_IDLE_FOR};
pub use head::Head;
pub use list::ListError;
pub use quota::Quota;
pub use token::Token;
