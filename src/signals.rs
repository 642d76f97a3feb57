//! Requests to stop that come from outside: Ctrl-C, a service manager, a closed
//! terminal.

use std::io;

use tokio::sync::mpsc;

/// Listens from the call on. Each signal is one message; the listening ends with
/// the runtime.
#[cfg(unix)]
pub fn listen() -> io::Result<mpsc::Receiver<()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    // A file that would grow beyond its limit (`ulimit -f`) raises a signal that kills,
    // until somebody listens: then the writing fails, which is told like a full disk.
    drop(signal(SignalKind::from_raw(libc::SIGXFSZ))?);
    Ok(forward(async move || {
        tokio::select! {
            got = interrupt.recv() => got,
            got = terminate.recv() => got,
            got = hangup.recv() => got,
        }
    }))
}

/// Listens from the call on. Each signal is one message; the listening ends with
/// the runtime.
#[cfg(windows)]
pub fn listen() -> io::Result<mpsc::Receiver<()>> {
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

fn forward(mut next: impl AsyncFnMut() -> Option<()> + 'static) -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel(2);
    // On the thread's own runtime, so that the signals' futures need not move.
    tokio::task::spawn_local(async move {
        while next().await.is_some() {
            if sender.send(()).await.is_err() {
                return;
            }
        }
    });
    receiver
}
