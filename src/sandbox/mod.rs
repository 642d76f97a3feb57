//! An imitation of the lead service inside the program, with faults on demand.
//!
//! Rule: it follows the interface document exactly and refuses requests that a client should
//! not send. It decides what goes wrong from the request alone (seed, campaign, number,
//! attempt), never from the order of arrival. So a trial that failed can be repeated.
//!
//! It holds phone numbers and hardly checks its callers, so it listens on loopback only.
//!
//! | file | content |
//! |-|-|
//! | `config`, `rule`, `faults` | what a scenario file can say |
//! | `server` | HTTP, and how a connection ends without an answer |
//! | `wire` | strict parsing of a request |
//! | `state`, `store`, `rate_limit`, `stats` | what the sandbox remembers, behind one mutex |
//! | `lead_calls`, `lead_list` | the calls about leads that exist, which the document does not have |
//! | `replies`, `packing` | its answers |

mod config;
mod faults;
mod lead_calls;
mod lead_list;
#[cfg(test)]
pub(crate) mod memory;
mod packing;
mod rate_limit;
mod replies;
mod rule;
mod server;
mod state;
mod stats;
mod store;
#[cfg(test)]
mod tests;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::http::HeaderMap;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

pub use config::{Campaign, Outage, SandboxConfig};
pub use faults::{Fault, Faults};
pub use lead_list::{LeadCalls, LeadIds, LeadTimes, ListForm};
pub use packing::Packing;
pub use rate_limit::{OtherUser, RateLimit, Shape};
pub use replies::RateLimitHint;
pub use rule::{Rule, ScriptedReply, Then};
pub use stats::Stats;
pub use store::StoredLead;

use state::Shared;

/// A request for a lead as it arrived. Kept if [`SandboxConfig::keep_bodies`] is on.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: bytes::Bytes,
    /// Microseconds from the start of the sandbox to the arrival of the head.
    pub arrival_us: u64,
}

/// A running sandbox on its own thread. Dropping it ends the thread.
pub struct Sandbox {
    shared: Arc<Shared>,
    addr: SocketAddr,
    /// Dropping the sender ends the thread.
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Sandbox {
    /// Starts a sandbox on `config.listen` (by default a free port of 127.0.0.1).
    /// Returns once it accepts connections. The error is `InvalidInput` if the
    /// configuration contradicts itself or the address is not a loopback address.
    pub fn start(config: SandboxConfig) -> io::Result<Self> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        config.validate().map_err(invalid)?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let free_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(config.listen.unwrap_or(free_port));
        let listener = runtime.block_on(listener)?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared::new(config));
        let (stop, stopped) = oneshot::channel();
        let server = server::run(listener, Arc::clone(&shared), stopped);
        let thread = std::thread::Builder::new()
            .name("sandbox".to_owned())
            // Once bound, the server does not fail. A broken connection affects only itself.
            .spawn(move || drop(runtime.block_on(server)))?;
        Ok(Self {
            shared,
            addr,
            running: Some((stop, thread)),
        })
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `http://127.0.0.1:PORT`, without a trailing slash.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub fn token(&self) -> &str {
        self.shared.config.token()
    }

    /// The leads of all accounts.
    pub fn leads(&self) -> Vec<StoredLead> {
        self.shared.state().leads()
    }

    pub fn stats(&self) -> Stats {
        self.shared.state().stats.clone()
    }

    /// The requests for leads so far, if [`SandboxConfig::keep_bodies`] is on.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.state().requests.clone()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            // If the thread has panicked there is nothing left to stop.
            let _ = thread.join();
        }
    }
}
