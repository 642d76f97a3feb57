//! Relays between a client and the service: TLS, and proxies.
//!
//! Each listens on its own port until the test ends, and passes bytes on to the service.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use leadload::sandbox::Sandbox;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::listen::listen;

/// The address of a service that always gives the same answer.
pub fn always(status: u16, body: &'static str) -> String {
    always_with("", status, body)
}

/// Like [`always`], with more headers, each with its line end.
pub fn always_with(headers: &str, status: u16, body: &'static str) -> String {
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} So\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    );
    let address = listen(move |connection| {
        let answer = answer.clone();
        async move {
            let mut connection = BufReader::new(connection);
            let mut line = String::new();
            // Reads up to the blank line: the requests have no body.
            while connection.read_line(&mut line).await? > 2 {
                line.clear();
            }
            connection.write_all(answer.as_bytes()).await
        }
    });
    format!("http://{address}")
}

/// The address on which a sandbox listens.
pub fn address_of(service: &Sandbox) -> SocketAddr {
    let base_url = service.base_url();
    base_url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// What becomes of a request that the service would have answered.
#[derive(Clone, Copy)]
pub enum Instead {
    /// It does not reach the service.
    Lose,
    /// The service does it, but its answer is lost.
    LoseTheAnswer,
    /// The service does it, but a gateway says this and `Retry-After`.
    AskForLater(u16),
    Refuse(u16),
}

/// The address of the service, but requests that begin with these words are refused.
pub fn refusing(service: &Sandbox, words: &'static str, status: u16) -> String {
    changing(service, &[(words, &[Instead::Refuse(status)])])
}

/// The address of the service, but with requests that begin with these words this happens instead, one
/// after the other; the last is what happens from then on.
pub fn changing(service: &Sandbox, script: &[(&'static str, &[Instead])]) -> String {
    let place = address_of(service);
    let of_words = |(words, steps): &(&'static str, &[Instead])| (*words, steps.to_vec());
    let script = Arc::new(Mutex::new(script.iter().map(of_words).collect()));
    let address = listen(move |connection| relayed(place, connection, Arc::clone(&script)));
    format!("http://{address}")
}

type Script = Vec<(&'static str, Vec<Instead>)>;

async fn relayed(
    place: SocketAddr,
    connection: TcpStream,
    script: Arc<Mutex<Script>>,
) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    let (mut head, mut length) = (String::new(), 0);
    // One request for each connection, so that each is looked at.
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).await?;
        let lower = line.to_ascii_lowercase();
        if let Some(bytes) = lower.strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await?;
    let instead = next_step(&mut script.lock().unwrap(), &head);
    let answer = |status, more| {
        format!(
            "HTTP/1.1 {status} No\r\ncontent-length: 16\r\nconnection: close\r\n{more}\r\n{{\"message\":\"no\"}}"
        )
    };
    match instead {
        Some(Instead::Lose) => return Ok(()),
        Some(Instead::Refuse(status)) => {
            return connection.write_all(answer(status, "").as_bytes()).await;
        }
        Some(Instead::LoseTheAnswer | Instead::AskForLater(_)) | None => {}
    }
    let mut to = TcpStream::connect(place).await?;
    to.write_all(format!("{head}connection: close\r\n\r\n").as_bytes())
        .await?;
    to.write_all(&body).await?;
    if instead.is_none() {
        return copy_bidirectional(&mut to, &mut connection).await.map(drop);
    }
    to.read_to_end(&mut Vec::new()).await?;
    if let Some(Instead::AskForLater(status)) = instead {
        let answer = answer(status, "retry-after: 1\r\n");
        connection.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

/// What happens to a request with this head.
fn next_step(script: &mut Script, head: &str) -> Option<Instead> {
    let steps = script.iter_mut().find(|(words, _)| head.starts_with(words));
    let (_, steps) = steps?;
    match steps.len() {
        1 => steps.first().copied(),
        _ => Some(steps.remove(0)),
    }
}

/// A self-signed certificate authority for one test.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Authority(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// The content of a file for `--ca-file`.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for `host` and its key, as PEM.
    pub fn certificate_for(&self, host: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([host.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// A TLS server in front of the service, with a certificate of this authority for `host`.
    pub fn tls_before(&self, service: &Sandbox, host: &str) -> SocketAddr {
        self.tls_with(service, &[host], WebPkiClientVerifier::no_client_auth())
    }

    /// The same with a certificate that names no host.
    pub fn nameless_tls_before(&self, service: &Sandbox) -> SocketAddr {
        self.tls_with(service, &[], WebPkiClientVerifier::no_client_auth())
    }

    /// The same for clients that show a certificate of this authority.
    pub fn tls_for_known_clients(&self, service: &Sandbox, host: &str) -> SocketAddr {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
        self.tls_with(service, &[host], clients.build().unwrap())
    }

    fn tls_with(
        &self,
        service: &Sandbox,
        hosts: &[&str],
        clients: Arc<dyn ClientCertVerifier>,
    ) -> SocketAddr {
        let key = KeyPair::generate().unwrap();
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let params = CertificateParams::new(hosts).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        tls_server(service, certificate.der().clone(), &key, clients)
    }

    /// A TLS server that shows the authority's own certificate.
    pub fn tls_as_itself(&self, service: &Sandbox) -> SocketAddr {
        let clients = WebPkiClientVerifier::no_client_auth();
        tls_server(service, self.0.der().clone(), self.0.key(), clients)
    }
}

fn tls_server(
    service: &Sandbox,
    certificate: CertificateDer<'static>,
    key: &KeyPair,
    clients: Arc<dyn ClientCertVerifier>,
) -> SocketAddr {
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(clients)
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let service = address_of(service);
    listen(move |connection| {
        let acceptor = acceptor.clone();
        async move {
            let mut inside = acceptor.accept(connection).await?;
            let mut outside = TcpStream::connect(service).await?;
            copy_bidirectional(&mut inside, &mut outside).await?;
            Ok(())
        }
    })
}

/// A TLS server that refuses every connection with this alert (RFC 8446, 6).
pub fn refusing_tls(alert: u8) -> SocketAddr {
    listen(move |mut connection| async move {
        let mut hello = [0; 5];
        connection.read_exact(&mut hello).await?;
        let length = u16::from_be_bytes([hello[3], hello[4]]);
        let mut rest = vec![0; usize::from(length)];
        connection.read_exact(&mut rest).await?;
        connection.write_all(&[21, 3, 3, 0, 2, 2, alert]).await
    })
}

/// A proxy that forwards everything to one address, whatever host is requested.
pub struct Proxy {
    pub address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    heads: Mutex<Vec<String>>,
}

impl Proxy {
    /// A proxy that forwards requests with a full URL, and tunnels after `CONNECT`.
    pub fn to(target: SocketAddr) -> Proxy {
        Proxy::answering("200 Connection established", target)
    }

    /// A proxy that answers `CONNECT` with this status.
    pub fn answering(status: &'static str, target: SocketAddr) -> Proxy {
        let seen = Arc::new(Seen::default());
        let seeing = Arc::clone(&seen);
        let address = listen(move |connection| {
            seeing.connections.fetch_add(1, Ordering::SeqCst);
            pass_on(connection, Arc::clone(&seeing), status, target)
        });
        Proxy { address, seen }
    }

    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// The head of the first request on each connection.
    pub fn heads(&self) -> Vec<String> {
        self.seen.heads.lock().unwrap().clone()
    }
}

async fn pass_on(
    connection: TcpStream,
    seen: Arc<Seen>,
    status: &str,
    target: SocketAddr,
) -> io::Result<()> {
    let mut inside = BufReader::new(connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if inside.read_line(&mut head).await? == 0 {
            return Ok(());
        }
    }
    seen.heads.lock().unwrap().push(head.clone());
    let mut outside = TcpStream::connect(target).await?;
    if head.starts_with("CONNECT ") {
        let answer = format!("HTTP/1.1 {status}\r\n\r\n");
        inside.write_all(answer.as_bytes()).await?;
        if !status.starts_with("200") {
            return Ok(());
        }
    } else {
        // The service accepts only the path, and one request for each connection is enough.
        let (_, rest) = head.split_once("://").unwrap();
        let path = &rest[rest.find('/').unwrap()..];
        let method = head.split(' ').next().unwrap();
        let head = format!("{method} {path}").replacen("\r\n", "\r\nConnection: close\r\n", 1);
        outside.write_all(head.as_bytes()).await?;
    }
    copy_bidirectional(&mut inside, &mut outside).await?;
    Ok(())
}

/// A SOCKS5 proxy without a password (RFC 1928) that connects to one address.
pub fn socks_proxy(target: SocketAddr) -> SocketAddr {
    listen(move |mut connection| async move {
        // Version 5 and one authentication method: none.
        let mut greeting = [0; 3];
        connection.read_exact(&mut greeting).await?;
        connection.write_all(&[5, 0]).await?;
        // Version, command, a zero, and the address type: a name with its length.
        let mut request = [0; 5];
        connection.read_exact(&mut request).await?;
        let mut name_and_port = vec![0; usize::from(request[4]) + 2];
        connection.read_exact(&mut name_and_port).await?;
        connection
            .write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
            .await?;
        let mut outside = TcpStream::connect(target).await?;
        copy_bidirectional(&mut connection, &mut outside).await?;
        Ok(())
    })
}
