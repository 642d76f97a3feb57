//! Reads what a browser sends, in bounded memory. A form without a file has to come within a time; one
//! with a file has to keep coming.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::StreamExt;
use futures::stream::{self, Stream};
use tokio::time::timeout;

use super::limits::Limits;

/// Why a body cannot be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    TooLarge,
    TooSlow,
    /// The connection, or the browser in the middle of a body.
    BrokenOff,
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BodyError::TooLarge => "the body is too large",
            BodyError::TooSlow => "the sender is too slow",
            BodyError::BrokenOff => "the sender broke off",
        })
    }
}

impl Error for BodyError {}

pub type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>;

/// The body in pieces. A sender of nothing for `idle` is cut off.
pub fn chunks(body: Body, idle: Duration) -> Chunks {
    let chunks = stream::unfold(Some(body.into_data_stream()), move |body| async move {
        let mut body = body?;
        match timeout(idle, body.next()).await {
            Ok(None) => None,
            Ok(Some(Ok(chunk))) => Some((Ok(chunk), Some(body))),
            Ok(Some(Err(_))) => Some((Err(BodyError::BrokenOff), None)),
            Err(_) => Some((Err(BodyError::TooSlow), None)),
        }
    });
    // Draining may ask once more at the end.
    Box::pin(chunks.fuse())
}

/// The whole body of a form without a file.
pub async fn whole(body: Body, limits: &Limits) -> Result<Vec<u8>, BodyError> {
    let collect = async {
        let mut chunks = chunks(body, limits.idle_time);
        let mut whole = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if whole.len() + chunk.len() > limits.form_bytes {
                return Err(BodyError::TooLarge);
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole)
    };
    let within = timeout(limits.form_time, collect).await;
    within.unwrap_or(Err(BodyError::TooSlow))
}

/// Reads and forgets the rest of a body, as far as it comes.
pub async fn drain(chunks: &mut Chunks) {
    while let Some(Ok(_)) = chunks.next().await {}
}
