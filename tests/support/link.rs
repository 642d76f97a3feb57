//! A connection between the program and its database that can break in every way.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::listen::listen;

/// What the link does with what is sent through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Passing,
    /// Nothing gets through in either direction, and nobody is told.
    Frozen,
    /// Connections are closed, and new ones too.
    Cut,
    /// What the program sends gets through. The answer does not: then the connection is cut, as
    /// if the last thing that worked was the commit.
    LosingAnswers,
    /// The first commit of a transaction with this text in it gets through. Its answer does not,
    /// and everything passes again.
    LosingCommitOf(&'static str),
}

pub struct Link {
    address: SocketAddr,
    state: watch::Sender<State>,
    delay_us: Arc<AtomicU64>,
}

impl Link {
    pub fn to(port: u16) -> Link {
        let (state, _) = watch::channel(State::Passing);
        let of_link = state.clone();
        let delay_us = Arc::new(AtomicU64::new(0));
        let delay = Arc::clone(&delay_us);
        let address = listen(move |inside| {
            let (state, delay) = (of_link.clone(), Arc::clone(&delay));
            async move {
                let outside = TcpStream::connect(("127.0.0.1", port)).await?;
                inside.set_nodelay(true)?;
                outside.set_nodelay(true)?;
                let (inside_read, inside_write) = inside.into_split();
                let (outside_read, outside_write) = outside.into_split();
                let to_server = pass(inside_read, outside_write, &state, &delay, false);
                let to_program = pass(outside_read, inside_write, &state, &delay, true);
                tokio::select! {
                    ended = to_server => ended,
                    ended = to_program => ended,
                }
            }
        });
        Link {
            address,
            state,
            delay_us,
        }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn set(&self, state: State) {
        self.state.send_replace(state);
    }

    pub fn state(&self) -> State {
        *self.state.borrow()
    }

    /// What is sent arrives this much later, in each direction.
    pub fn delay(&self, delay: Duration) {
        let micros = u64::try_from(delay.as_micros()).unwrap();
        self.delay_us.store(micros, Ordering::Relaxed);
    }
}

async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    state: &watch::Sender<State>,
    delay_us: &AtomicU64,
    is_answer: bool,
) -> std::io::Result<()> {
    // What is on its way, with the time at which it arrives.
    let (queue, mut queued) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let (mut watched, mut seen) = (state.subscribe(), state.subscribe());
    let read = async move {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = tokio::select! {
                read = from.read(&mut buffer) => read?,
                _ = watched.wait_for(|state| *state == State::Cut) => return Ok(()),
            };
            if read == 0 {
                // What was sent before arrives all the same.
                drop(queue);
                return std::future::pending().await;
            }
            let delay = Duration::from_micros(delay_us.load(Ordering::Relaxed));
            queue
                .send((Instant::now() + delay, buffer[..read].to_vec()))
                .unwrap();
        }
    };
    let write = async move {
        let mut is_of_transaction = false;
        while let Some((arrives, bytes)) = queued.recv().await {
            tokio::time::sleep_until(arrives).await;
            let now = *seen
                .wait_for(|state| *state != State::Frozen)
                .await
                .unwrap();
            match now {
                State::Cut => break,
                State::LosingAnswers if is_answer => break,
                State::LosingCommitOf(text) if !is_answer => {
                    is_of_transaction |= has(&bytes, text);
                    to.write_all(&bytes).await?;
                    if is_of_transaction && has(&bytes, "COMMIT\0") {
                        state.send_replace(State::Passing);
                        break;
                    }
                }
                _ => to.write_all(&bytes).await?,
            }
        }
        Ok(())
    };
    tokio::select! {
        ended = read => ended,
        ended = write => ended,
    }
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}
