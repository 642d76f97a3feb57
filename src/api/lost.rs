//! Why there is no complete answer, and whether the service may have taken the request.

use std::error::Error;
use std::io;
use std::io::ErrorKind::{
    AddrNotAvailable, BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset,
    HostUnreachable, NetworkDown, NetworkUnreachable, UnexpectedEof,
};
use std::iter;

use rustls::CertificateError;
use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Lost {
    /// Nothing was written. The text names no host: it goes into logs and results, and the address
    /// of a proxy may contain the proxy's password.
    #[error("no connection to the service: {why}")]
    NotSent {
        why: &'static str,
        /// Whether every further attempt fails for the same reason until the operator fixes it.
        is_lasting: bool,
    },
    /// Sent, wholly or partly, and no answer within the time limit.
    #[error("no answer within the time limit")]
    TimedOut,
    /// Sent, wholly or partly, but the answer is not HTTP, or its head has no end.
    #[error("the answer is not HTTP: {0}")]
    NotHttp(&'static str),
    /// The answer arrived in full, but its body cannot be decompressed.
    #[error("{0}")]
    Packed(&'static str),
    /// Sent, wholly or partly, and the connection broke before the answer was complete.
    #[error("the connection broke before the answer was complete")]
    Broken,
}

impl Lost {
    pub(super) fn of(error: &reqwest::Error) -> Lost {
        let hyper = causes(error).find_map(|cause| cause.downcast_ref::<hyper::Error>());
        let not_sent = |why| Lost::NotSent {
            why,
            is_lasting: false,
        };
        // The HTTP library gave up before it wrote anything, for example because a kept connection
        // turned out to be closed.
        if hyper.is_some_and(hyper::Error::is_canceled) {
            not_sent("it was closed before anything was sent")
        } else if error.is_connect() {
            match causes(error).find_map(of_a_proxy) {
                Some(why) => not_sent(why),
                None if error.is_dns() => not_sent("its name has no address"),
                None if error.is_timeout() => not_sent("there was none within the time limit"),
                None => causes(error)
                    .find_map(of_a_cause)
                    .unwrap_or(not_sent("the reason is not known")),
            }
        } else if error.is_timeout() {
            Lost::TimedOut
        } else if let Some(error) = hyper.filter(|error| error.is_parse()) {
            Lost::NotHttp(of_a_head(error))
        } else {
            Lost::Broken
        }
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    iter::successors(error.source(), |cause| next_cause(*cause))
}

/// If an I/O error wraps another error, its `source()` skips the wrapped one and returns that one's
/// source. So the wrapped error is taken here.
fn next_cause<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match cause.downcast_ref().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => cause.source(),
    }
}

/// Why a head cannot be read. The library tells most kinds apart only by its text, and shows nothing
/// of the head.
fn of_a_head(error: &hyper::Error) -> &'static str {
    match error.to_string().as_str() {
        "message head is too large" => "its head is too long",
        "invalid HTTP header parsed" => "its head has a character that no head may have",
        "invalid content-length parsed" => "its head states no length that makes sense",
        _ => "it does not begin as HTTP does",
    }
}

/// What was wrong with a proxy's tunnel. The library's error type is private, so
/// this reads its text.
fn of_a_proxy(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    let text = cause.to_string();
    Some(match text.strip_prefix("tunnel error: ")? {
        "proxy authorization required" => "the proxy wants a user name and password",
        "failed to create underlying connection" => "the proxy cannot be reached",
        _ => "the proxy refuses it",
    })
}

/// Why no connection was made. Only certificate errors are lasting: the others
/// may go away by themselves.
fn of_a_cause(cause: &(dyn Error + 'static)) -> Option<Lost> {
    let (why, is_lasting) = match cause.downcast_ref() {
        Some(rustls::Error::InvalidCertificate(error)) => (of_a_certificate(error), true),
        Some(_) => ("TLS cannot be agreed on", false),
        None => match cause.downcast_ref::<io::Error>()?.kind() {
            ConnectionRefused => ("it was refused", false),
            HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable => {
                ("it cannot be reached over the network", false)
            }
            ConnectionReset | ConnectionAborted | BrokenPipe | UnexpectedEof => {
                ("it was closed while it was being made", false)
            }
            _ => return None,
        },
    };
    Some(Lost::NotSent { why, is_lasting })
}

const UNTRUSTED: &str = "its certificate is not trusted (if it is of your own authority, name that one's certificate with `--ca-file`)";

/// A reason in the words of the page. Reasons are texts of this module, alone or in a sentence.
pub fn on_page(why: &str) -> String {
    why.replace(UNTRUSTED, "its certificate is not trusted")
}

fn of_a_certificate(error: &CertificateError) -> &'static str {
    use CertificateError as Bad;
    match error {
        Bad::UnknownIssuer | Bad::BadSignature => UNTRUSTED,
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
            "its certificate is for another host name"
        }
        Bad::Expired
        | Bad::ExpiredContext { .. }
        | Bad::NotValidYet
        | Bad::NotValidYetContext { .. } => {
            "its certificate is out of date, or the clock here is wrong"
        }
        _ => "its certificate is not accepted",
    }
}
