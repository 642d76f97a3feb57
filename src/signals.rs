//! Requests to stop that come from outside: Ctrl-C, a service manager,
//! a closed terminal, and the end of the time that a run was given. Signals that were ignored when
//! the program started stay ignored.

#[cfg(unix)]
mod inherited;

use std::io;

use futures::future::{self, FutureExt};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::clock::Slept;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// A signal, or the equivalent on Windows.
    Signal,
    TimeUp,
}

#[derive(Debug)]
pub struct Interrupts {
    signals: mpsc::Receiver<()>,
    deadline: Option<Instant>,
    slept: Slept,
}

impl Interrupts {
    /// Takes a channel on which each message stands for a signal.
    pub fn new(signals: mpsc::Receiver<()>) -> Interrupts {
        Interrupts {
            signals,
            deadline: None,
            slept: Slept::default(),
        }
    }

    /// Nobody interrupts.
    pub fn none() -> Interrupts {
        Interrupts::new(mpsc::channel(1).1)
    }

    /// From now on the time that the computer sleeps brings it nearer.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
        self.slept = Slept::default();
    }

    /// Waits for the next interrupt. None is lost if the future is dropped.
    pub async fn next(&mut self) -> Interrupt {
        let time_up = self.slept.reach(&mut self.deadline);
        let signal = async {
            match self.signals.recv().await {
                Some(()) => {}
                // The sender is gone, so no signal can come any more.
                None => future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = signal => Interrupt::Signal,
            () = time_up => {
                self.deadline = None;
                Interrupt::TimeUp
            }
        }
    }

    pub fn take(&mut self) -> Option<Interrupt> {
        self.next().now_or_never()
    }
}

#[cfg(unix)]
pub fn listen() -> io::Result<Interrupts> {
    use std::future::poll_fn;
    use std::task::Poll;

    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    let heard = kinds.into_iter().filter(|kind| !inherited::ignores(*kind));
    let mut signals = heard.map(signal).collect::<io::Result<Vec<_>>>()?;
    // A file that would grow beyond its limit (`ulimit -f`) raises a
    // signal that kills the process, unless a handler is installed. With
    // one, the write fails instead, which is reported like a full disk.
    drop(signal(SignalKind::from_raw(libc::SIGXFSZ))?);
    Ok(forward(async move || {
        let next = poll_fn(|context| {
            let mut polled = signals.iter_mut().map(|signal| signal.poll_recv(context));
            polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
        });
        next.await
    }))
}

#[cfg(windows)]
pub fn listen() -> io::Result<Interrupts> {
    use tokio::signal::windows;
    let mut ctrl_c = windows::ctrl_c()?;
    let mut ctrl_break = windows::ctrl_break()?;
    let mut close = windows::ctrl_close()?;
    let mut shutdown = windows::ctrl_shutdown()?;
    Ok(forward(async move || {
        tokio::select! {
            got = ctrl_c.recv() => got,
            got = ctrl_break.recv() => got,
            got = close.recv() => got,
            got = shutdown.recv() => got,
        }
    }))
}

/// Sends a message for each signal until the runtime ends.
fn forward(mut next: impl AsyncFnMut() -> Option<()> + 'static) -> Interrupts {
    let (sender, receiver) = mpsc::channel(2);
    // Runs on the current thread, so the signals' futures need not be `Send`.
    tokio::task::spawn_local(async move {
        while next().await.is_some() {
            if sender.send(()).await.is_err() {
                return;
            }
        }
    });
    Interrupts::new(receiver)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock;

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_run_goes_on_while_the_computer_sleeps() {
        let (_no_signals, signals) = mpsc::channel(1);
        let mut interrupts = Interrupts::new(signals);
        let began = Instant::now();
        clock::testing::sleep(HOUR);
        interrupts.set_deadline(Some(began + 6 * HOUR));
        tokio::spawn(async {
            tokio::time::sleep(2 * HOUR).await;
            clock::testing::sleep(8 * HOUR);
        });
        assert_eq!(interrupts.next().await, Interrupt::TimeUp);
        let took = began.elapsed();
        let soon = 2 * HOUR + clock::LOOK_AGAIN + Duration::from_millis(10);
        assert!((2 * HOUR..=soon).contains(&took), "{took:?}");
    }
}
