//! The service: its two calls, what is sent, and what its answers mean.
//!
//! Rule: the only place that knows the service. `wire` is what goes over the
//! line, `verdict` judges one answer by itself and is pure, `client` is the one
//! place that opens connections.

mod base_url;
mod client;
mod list;
mod mask;
mod token;
pub mod verdict;
pub mod wire;

pub use base_url::{BaseUrl, BaseUrlError};
pub use client::{Answer, Client, ClientError};
pub use list::ListError;
pub use token::{Token, TokenError};
