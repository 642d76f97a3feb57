//! The service: its two calls, what is sent, and what its answers mean.
//!
//! Rule: the only place that knows the service. `wire` is what goes over the
//! line, `verdict` judges one `answer` by itself and is pure (with `body` for what it says,
//! `complaints`, `presence` and `balance` for what its sentences mean, `wait` and `quota` for
//! what it says of time and limits), `client` is the one place that opens connections, and
//! `lost` knows what its failures mean. `packed` unpacks what comes, `redirect` says where
//! else it is to be had, and `unread` logs what was not understood.

mod answer;
mod balance;
mod base_url;
mod body;
mod certificates;
mod client;
mod complaints;
mod limits;
mod list;
mod lost;
mod mask;
mod packed;
mod presence;
mod quota;
mod redirect;
mod token;
mod tokens;
mod unread;
pub mod verdict;
mod wait;
pub mod wire;

pub use answer::Answer;
#[cfg(test)]
pub(crate) use answer::Head;
pub use base_url::{BaseUrl, BaseUrlError};
pub use certificates::{Certificates, CertificatesError};
pub use client::{Client, ClientError};
pub use limits::Limits;
pub use list::ListError;
pub use quota::Quota;
pub use token::{Token, TokenError};
