//! A connection to the server, and the thread that moves its bytes.
//!
//! On this computer a connection need not be encrypted, but there too another program may have taken the
//! server's place: its port while it is down, or its socket in a folder that everybody may write to. So
//! a password never goes through such a connection in clear text. (SCRAM and MD5 prove that it is known
//! without showing it. MD5 is weak, and what servers up to version 13 ask for by themselves.)

use std::io;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, ready};
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_postgres::{Client, Config, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::place::{ServerHost, ServerPlace};
use super::tls;
use crate::ledger::store::Failed;

/// A client, and what keeps the thread of its connection alive.
pub(super) struct Connection {
    pub(super) client: Client,
    _ends_when_dropped: oneshot::Sender<()>,
}

/// A client, and the work that moves its bytes.
type Opened = (Client, LocalBoxFuture<'static, Result<(), Error>>);

impl Connection {
    /// Connects. The connection has a thread of its own, which ends when it is dropped even if the
    /// server does not answer.
    pub(super) fn open(place: &ServerPlace, limit: Duration) -> Result<Connection, Failed> {
        let tls = tls::connector(place).map_err(Failed::Ledger)?;
        let place = place.clone();
        let (give, take) = mpsc::channel();
        let (end, ended) = oneshot::channel::<()>();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                match tokio::time::timeout(limit, connect(&place, tls)).await {
                    Ok(Ok((client, moving))) => {
                        // Without a receiver nobody waits any more.
                        if give.send(Ok(client)).is_ok() {
                            // How it ends is known from the work that meets it.
                            tokio::select! {
                                _ = moving => {}
                                _ = ended => {}
                            }
                        }
                    }
                    Ok(Err(error)) => drop(give.send(Err(error))),
                    Err(_) => {}
                }
            });
        });
        match take.recv() {
            Ok(connected) => Ok(Connection {
                client: connected?,
                _ends_when_dropped: end,
            }),
            Err(_) => Err(Failed::silent()),
        }
    }
}

async fn connect(place: &ServerPlace, tls: Option<MakeRustlsConnect>) -> Result<Opened, Failed> {
    let config = place.config();
    if let Some(tls) = tls {
        let (client, moving) = config.connect(tls).await.map_err(Failed::Server)?;
        return Ok((client, moving.boxed_local()));
    }
    match &place.host {
        ServerHost::Name(name) => {
            let stream = TcpStream::connect((&**name, place.port)).await;
            let stream = stream.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
            in_the_clear(&config, stream).await
        }
        #[cfg(unix)]
        ServerHost::Socket(folder) => {
            let socket = folder.join(format!(".s.PGSQL.{}", place.port));
            in_the_clear(&config, tokio::net::UnixStream::connect(socket).await).await
        }
        // There are none that are supported.
        #[cfg(not(unix))]
        ServerHost::Socket(_) => Err(unreached(io::ErrorKind::Unsupported.into())),
    }
}

async fn in_the_clear<S>(config: &Config, stream: io::Result<S>) -> Result<Opened, Failed>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let stream = InTheClear {
        stream: stream.map_err(unreached)?,
        first: Vec::new(),
    };
    let connected = config.connect_raw(stream, NoTls).await;
    let (client, moving) = connected.map_err(Failed::Server)?;
    Ok((client, moving.boxed_local()))
}

fn unreached(error: io::Error) -> Failed {
    Failed::Away(format!("error connecting to server: {error}"))
}

/// Why a connection is broken off before the password is sent.
#[derive(Debug, thiserror::Error)]
#[error("it asks for the password in clear text, which leadload sends through TLS alone")]
pub(super) struct AsksInTheClear;

/// A connection that is not encrypted. It breaks off where the server asks for the password in clear
/// text, before that is answered.
struct InTheClear<S> {
    stream: S,
    /// The first bytes from the server: the type of its first message, its length, and what it asks for.
    first: Vec<u8>,
}

const FIRST: usize = 9;

impl<S: AsyncRead + Unpin> AsyncRead for InTheClear<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let missing = FIRST - self.first.len();
        let new = buffer.filled().iter().skip(before).take(missing);
        self.first.extend(new);
        if let [b'R', _, _, _, _, 0, 0, 0, 3] = self.first[..] {
            return Poll::Ready(Err(io::Error::other(AsksInTheClear)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for InTheClear<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
