//! Why there is no complete answer, and whether the request can have been taken.

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
    #[error("{0}")]
    NotSent(NotSent),
    /// Sent, wholly or partly, and no answer within the time limit.
    #[error("no answer within the time limit")]
    TimedOut,
    /// Sent, wholly or partly, and what came back is no HTTP, or has a head without end.
    #[error("the answer is not HTTP")]
    NotHttp,
    #[error("the answer is compressed in a way that is not known here (`Content-Encoding`)")]
    UnknownPacking,
    #[error("the answer is compressed, and damaged")]
    Damaged,
    /// Sent, wholly or partly, and the connection broke before the answer was complete.
    #[error("the connection broke before the answer was complete")]
    Broken,
}

/// Why nothing was written. The texts name no host: they go into logs and results, and the
/// address of a proxy may have its password in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotSent {
    /// The name is not known to the DNS, or the DNS cannot be asked.
    #[error("no connection to the service: its name has no address")]
    NoAddress,
    #[error("no connection to the service: it was refused")]
    Refused,
    #[error("no connection to the service: it cannot be reached over the network")]
    Unreachable,
    /// No connection in time, TLS and a proxy's part included.
    #[error("no connection to the service within the time limit")]
    NoTime,
    /// It was closed while it was being made.
    #[error("no connection to the service: it was closed while it was being made")]
    BrokeOff,
    #[error(
        "no connection to the service: its certificate is not trusted (`--ca-file` names further authorities)"
    )]
    Untrusted,
    #[error("no connection to the service: its certificate is for another host name")]
    OtherName,
    #[error(
        "no connection to the service: its certificate is out of date, or the clock here is wrong"
    )]
    OutOfDate,
    #[error("no connection to the service: its certificate is not accepted")]
    BadCertificate,
    #[error("no connection to the service: TLS cannot be agreed on")]
    NoTls,
    #[error("no connection to the service: the proxy cannot be reached")]
    NoProxy,
    #[error("no connection to the service: the proxy wants a user name and password")]
    ProxyLogin,
    #[error("no connection to the service: the proxy refuses it")]
    ProxyRefuses,
    /// A kept connection turned out to be closed.
    #[error("the connection was closed before anything was sent")]
    Closed,
    #[error("no connection to the service")]
    Unknown,
}

impl Lost {
    /// Whether the next attempt would come to the same.
    pub(super) fn is_lasting(self) -> bool {
        match self {
            Lost::NotSent(reason) => reason.is_lasting(),
            Lost::UnknownPacking | Lost::Damaged => true,
            Lost::TimedOut | Lost::NotHttp | Lost::Broken => false,
        }
    }

    /// Whether the answer is there, and only its body cannot be read.
    pub(super) fn has_arrived(self) -> bool {
        matches!(self, Lost::UnknownPacking | Lost::Damaged)
    }

    pub(super) fn of(error: &reqwest::Error) -> Lost {
        let hyper = causes(error).find_map(|cause| cause.downcast_ref::<hyper::Error>());
        // Given up before any of it was written, as when a kept connection turns out to
        // be closed.
        if hyper.is_some_and(hyper::Error::is_canceled) {
            Lost::NotSent(NotSent::Closed)
        } else if error.is_connect() {
            Lost::NotSent(NotSent::of(error))
        } else if error.is_timeout() {
            Lost::TimedOut
        } else if hyper.is_some_and(hyper::Error::is_parse) {
            Lost::NotHttp
        } else {
            Lost::Broken
        }
    }
}

impl NotSent {
    /// Whether the next attempt would come to the same, until the operator has fixed it.
    fn is_lasting(self) -> bool {
        matches!(
            self,
            NotSent::Untrusted | NotSent::OtherName | NotSent::OutOfDate | NotSent::BadCertificate
        )
    }

    /// Why no connection was made. Only the wording depends on it.
    fn of(error: &reqwest::Error) -> NotSent {
        if let Some(reason) = causes(error).find_map(of_a_proxy) {
            reason
        } else if error.is_dns() {
            NotSent::NoAddress
        } else if error.is_timeout() {
            NotSent::NoTime
        } else {
            causes(error)
                .find_map(of_a_cause)
                .unwrap_or(NotSent::Unknown)
        }
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    iter::successors(error.source(), |cause| next_cause(*cause))
}

/// The source of an I/O error that wraps another is that other's source: the other itself is
/// taken.
fn next_cause<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match cause.downcast_ref().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => cause.source(),
    }
}

/// What was wrong with a proxy's tunnel. The library's type for it is private, so its words
/// are read.
fn of_a_proxy(cause: &(dyn Error + 'static)) -> Option<NotSent> {
    let text = cause.to_string();
    Some(match text.strip_prefix("tunnel error: ")? {
        "proxy authorization required" => NotSent::ProxyLogin,
        "failed to create underlying connection" => NotSent::NoProxy,
        _ => NotSent::ProxyRefuses,
    })
}

fn of_a_cause(cause: &(dyn Error + 'static)) -> Option<NotSent> {
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return Some(match tls {
            rustls::Error::InvalidCertificate(error) => of_a_certificate(error),
            _ => NotSent::NoTls,
        });
    }
    Some(match cause.downcast_ref::<io::Error>()?.kind() {
        ConnectionRefused => NotSent::Refused,
        HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable => {
            NotSent::Unreachable
        }
        ConnectionReset | ConnectionAborted | BrokenPipe | UnexpectedEof => NotSent::BrokeOff,
        _ => return None,
    })
}

fn of_a_certificate(error: &CertificateError) -> NotSent {
    use CertificateError as Bad;
    match error {
        Bad::UnknownIssuer | Bad::BadSignature => NotSent::Untrusted,
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => NotSent::OtherName,
        Bad::Expired | Bad::ExpiredContext { .. } => NotSent::OutOfDate,
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => NotSent::OutOfDate,
        _ => NotSent::BadCertificate,
    }
}
