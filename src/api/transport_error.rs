//! Why there is no complete answer, and whether the service may have taken the request.

use std::error::Error;
use std::io;
use std::io::ErrorKind::{
    AddrNotAvailable, BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset,
    HostUnreachable, NetworkDown, NetworkUnreachable, UnexpectedEof,
};
use std::iter;

use rustls::{AlertDescription, CertificateError};
use thiserror::Error;

use crate::message::Template;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TransportError {
    /// Nothing was written. The text names no host: it goes into logs and results, and the address
    /// of a proxy may contain the proxy's password.
    #[error("no connection to the service: {why}")]
    NotSent {
        why: &'static str,
        /// What cures it, if every further attempt fails for the same reason until then.
        cure: Option<Template>,
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

impl TransportError {
    /// `was_accepted`: the service has accepted a request of this client.
    pub(super) fn of(error: &reqwest::Error, was_accepted: bool) -> TransportError {
        let hyper = causes(error).find_map(|cause| cause.downcast_ref::<hyper::Error>());
        let not_sent = |why| TransportError::NotSent { why, cure: None };
        let alert = causes(error).find_map(of_a_refusing_alert);
        // An error in a body comes after the head of an answer.
        if let Some((why, cure)) = alert.filter(|_| !error.is_decode()) {
            // In TLS 1.3 the request may be on its way by then. Nobody reads it.
            let cure = Some(cure);
            TransportError::NotSent { why, cure }
        } else if causes(error).any(is_for_want_of_files) {
            not_sent(NO_FILES)
        } else if hyper.is_some_and(hyper::Error::is_canceled) {
            // The HTTP library gave up before it wrote anything, for example because a kept
            // connection turned out to be closed.
            not_sent("it was closed before anything was sent")
        } else if error.is_connect() {
            match causes(error).find_map(|cause| of_a_proxy(cause, was_accepted)) {
                Some(lost) => lost,
                None if error.is_dns() => not_sent("its name has no address"),
                None if error.is_timeout() => not_sent("there was none within the time limit"),
                None => causes(error)
                    .find_map(of_a_cause)
                    .unwrap_or(not_sent("the reason is not known")),
            }
        } else if error.is_timeout() {
            TransportError::TimedOut
        } else if let Some(error) = hyper.filter(|error| error.is_parse()) {
            TransportError::NotHttp(of_a_head(error))
        } else {
            TransportError::Broken
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

/// What was wrong with a proxy. The library's error types are private, so this reads their texts.
fn of_a_proxy(cause: &(dyn Error + 'static), was_accepted: bool) -> Option<TransportError> {
    let text = cause.to_string();
    let mut kinds = ["tunnel error: ", "SOCKS error: "].into_iter();
    let (why, cure) = match kinds.find_map(|kind| text.strip_prefix(kind))? {
        "proxy authorization required"
        | "credentials not accepted"
        | "server does not support user/pass authentication" => {
            ("the proxy wants a user name and password", Some(GIVE_LOGIN))
        }
        // The library does not tell why. Where requests went through before, it is the service
        // behind the proxy that is down.
        "unsuccessful" | "connection not allowed" => (
            "the proxy refuses it",
            (!was_accepted).then_some(LET_THROUGH),
        ),
        _ => ("the proxy cannot be reached", None),
    };
    Some(TransportError::NotSent { why, cure })
}

/// Whether no socket could be opened because the program has too many files open.
fn is_for_want_of_files(cause: &(dyn Error + 'static)) -> bool {
    #[cfg(unix)]
    const CODES: [i32; 2] = [libc::EMFILE, libc::ENFILE];
    // WSAEMFILE
    #[cfg(not(unix))]
    const CODES: [i32; 1] = [10_024];
    let code = cause.downcast_ref().and_then(io::Error::raw_os_error);
    code.is_some_and(|code| CODES.contains(&code))
}

/// Why the other side refuses the TLS connection, if no waiting helps against that.
fn of_a_refusing_alert(cause: &(dyn Error + 'static)) -> Option<Lasting> {
    use AlertDescription as Alert;
    let Some(rustls::Error::AlertReceived(alert)) = cause.downcast_ref() else {
        return None;
    };
    match alert {
        // No certificate was shown, so these are about that.
        Alert::CertificateRequired
        | Alert::NoCertificate
        | Alert::BadCertificate
        | Alert::AccessDenied => Some(WANTS_CERTIFICATE),
        Alert::HandshakeFailure | Alert::ProtocolVersion | Alert::InsufficientSecurity => {
            Some(NO_COMMON_TLS)
        }
        _ => None,
    }
}

/// Why no connection was made. Lasting is what both sides have to agree on; the rest may go away
/// by itself.
fn of_a_cause(cause: &(dyn Error + 'static)) -> Option<TransportError> {
    let (why, cure) = match cause.downcast_ref() {
        Some(rustls::Error::InvalidCertificate(error)) => lasting(of_a_certificate(error)),
        Some(rustls::Error::PeerIncompatible(_) | rustls::Error::InvalidMessage(_)) => {
            lasting(NO_COMMON_TLS)
        }
        Some(_) => ("TLS cannot be agreed on for now", None),
        None => match cause.downcast_ref::<io::Error>()?.kind() {
            ConnectionRefused => ("it was refused", None),
            HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable => {
                ("it cannot be reached over the network", None)
            }
            ConnectionReset | ConnectionAborted | BrokenPipe | UnexpectedEof => {
                ("it was closed while it was being made", None)
            }
            _ => return None,
        },
    };
    Some(TransportError::NotSent { why, cure })
}

fn lasting((why, cure): Lasting) -> (&'static str, Option<Template>) {
    (why, Some(cure))
}

fn of_a_certificate(error: &CertificateError) -> Lasting {
    use CertificateError as Bad;
    match error {
        Bad::UnknownIssuer | Bad::BadSignature => UNTRUSTED,
        Bad::NotValidForNameContext { presented, .. } if presented.is_empty() => NAMELESS,
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
            ("its certificate is for another host name", CHECK_ADDRESS)
        }
        Bad::Expired
        | Bad::ExpiredContext { .. }
        | Bad::NotValidYet
        | Bad::NotValidYetContext { .. } => (
            "its certificate is out of date, or the clock here is wrong",
            template!(
                "{check the clock, or have the certificate renewed|check the clock of this computer}"
            ),
        ),
        // An error of the library below, which it passes on as it is.
        Bad::Other(other) if other.to_string() == "CaUsedAsEndEntity" => OF_AN_AUTHORITY,
        _ => ("its certificate is not accepted", CHECK_ADDRESS),
    }
}

/// A reason that no waiting helps against, and what cures it.
type Lasting = (&'static str, Template);

const CHECK_ADDRESS: Template =
    template!("check {the address of the service|its address under {--base-url}}");
const UNTRUSTED: Lasting = (
    "its certificate is not trusted",
    template!(
        "{if it is of your own authority, name that one's certificate with `--ca-file`|{ask_setup}}"
    ),
);
const OF_AN_AUTHORITY: Lasting = (
    "its certificate is that of an authority, which no service may show as its own",
    template!(
        "{have one made that is not marked `CA:TRUE`, and name that one, or the authority's that signs it, with `--ca-file`|{ask_setup}}"
    ),
);
const NAMELESS: Lasting = (
    "its certificate names no host",
    template!("{have one made with the name of the host as a `subjectAltName`|{ask_setup}}"),
);
const WANTS_CERTIFICATE: Lasting = (
    "it wants a client certificate, and leadload has none",
    template!("{use an address of the service that wants none|{ask_setup}}"),
);
const NO_COMMON_TLS: Lasting = (
    "TLS cannot be agreed on",
    template!(
        "{check the address: it must offer TLS 1.2 or 1.3 with a cipher of today, and want no client certificate|check its address under {--base-url}}"
    ),
);
pub(super) const GIVE_LOGIN: Template =
    template!("{put them into its address, `http://NAME:PASSWORD@HOST:PORT`|{ask_setup}}");
const LET_THROUGH: Template = template!(
    "ask {the people who run the proxy|the person who set up leadload on this computer} to let it through"
);
const NO_FILES: &str = "there are too many open files (allow more of them to one program)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_that_cannot_be_agreed_on_lasts_and_a_server_in_trouble_does_not() {
        use rustls::Error as Tls;
        let is_lasting = |error: &Tls| {
            let alert = of_a_refusing_alert(error).is_some();
            let other = of_a_cause(error);
            alert || matches!(other, Some(TransportError::NotSent { cure: Some(_), .. }))
        };
        let incompatible = rustls::PeerIncompatible::ServerDoesNotSupportTls12Or13;
        assert!(is_lasting(&Tls::PeerIncompatible(incompatible)));
        let no_tls = rustls::InvalidMessage::InvalidContentType;
        assert!(is_lasting(&Tls::InvalidMessage(no_tls)));
        for (alert, lasts) in [
            (AlertDescription::ProtocolVersion, true),
            (AlertDescription::HandshakeFailure, true),
            (AlertDescription::CertificateRequired, true),
            (AlertDescription::InternalError, false),
        ] {
            assert_eq!(is_lasting(&Tls::AlertReceived(alert)), lasts, "{alert:?}");
        }
    }
}
