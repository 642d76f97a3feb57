//! Connects to the service or the sandbox, and runs async and blocking work.

use std::future::Future;
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use crate::api::{BaseUrl, Certificates, Client, Token};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::message::Message;
use crate::sandbox::{Sandbox, SandboxConfig};
use crate::settings::{Connection, Service, proxy_to};
use crate::simulation;

/// A client, and the sandbox, which runs until this value is dropped.
pub struct ConnectedService {
    pub client: Client,
    _sandbox: Option<Sandbox>,
}

/// A client for the service; the sandbox is started if that is the service.
pub async fn reach(service: &Service, timeout: Duration) -> Result<ConnectedService, Failure> {
    let (connection, sandbox) = match service {
        Service::At(connection) => (connection.clone(), None),
        Service::Sandbox => {
            let config = SandboxConfig {
                // Nothing reads the variables, and storing them would take memory.
                keep_variables: Some(false),
                ..SandboxConfig::default()
            };
            // The call blocks until the sandbox listens.
            let start = move || Sandbox::start(config).stopped_by(StoppedBy::Usage);
            let sandbox = on_a_thread(start).await?;
            let base_url =
                BaseUrl::parse(&sandbox.base_url(), false).stopped_by(StoppedBy::Usage)?;
            let token = Token::from_text(sandbox.token(), "the sandbox's token")
                .stopped_by(StoppedBy::Usage)?;
            let connection = Connection {
                base_url,
                token,
                certificates: Certificates::default(),
            };
            (connection, Some(sandbox))
        }
    };
    let Connection {
        base_url,
        token,
        certificates,
    } = connection;
    let proxy = proxy_to(&base_url).stopped_by(StoppedBy::Usage)?;
    let client = Client::new(&base_url, token, certificates, proxy, timeout);
    Ok(ConnectedService {
        client: client.stopped_by(StoppedBy::Usage)?,
        _sandbox: sandbox,
    })
}

/// Runs the work on one thread, which all requests share: a second thread costs more than it gains.
pub fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .stopped_by(StoppedBy::Usage)?;
    LocalSet::new().block_on(&runtime, work)
}

/// Runs work that is not bound to this thread on a thread with a runtime of its own, so that
/// the caller can do other work while it waits. The work begins at once.
pub fn apart<T, F>(
    work: impl FnOnce() -> F + Send + 'static,
) -> impl Future<Output = Result<T, Failure>>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Failure>> + 'static,
{
    let (sender, done) = oneshot::channel();
    if simulation::is_on() {
        simulation::spawn(async move { drop(sender.send(work().await)) });
    } else {
        thread::spawn(move || sender.send(block_on(work())));
    }
    async { done.await.unwrap_or_else(|_| Err(died())) }
}

/// Runs blocking work on a thread of its own and returns its result. If
/// the future is dropped, the work continues and its result is ignored.
pub async fn on_a_thread<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Failure>
where
    T: Send + 'static,
    E: Into<Failure> + Send + 'static,
{
    let (sender, done) = oneshot::channel();
    simulation::thread(move || drop(sender.send(work())));
    done.await.map_err(|_| died())?.map_err(Into::into)
}

fn died() -> Failure {
    let message = Message::without_hint(text!("a thread of leadload died"));
    Failure::new(StoppedBy::Input, message)
}
