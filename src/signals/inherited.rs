//! Signals that were ignored when the program started: `nohup` ignores SIGHUP, and a shell without
//! job control ignores SIGINT for what it starts in the background.
//!
//! No safe interface says which these are. Linux shows them in a file. Elsewhere a child, which
//! inherits them, sends itself the signal.

use std::fs;
use std::process::{Command, Stdio};

use tokio::signal::unix::SignalKind;

/// Whether this process ignores the signal. Asked before a handler is installed.
pub(super) fn ignores(kind: SignalKind) -> bool {
    let signal = kind.as_raw_value();
    shown(signal).unwrap_or_else(|| is_survived(signal))
}

/// What `/proc` shows: a bit for each signal, the lowest for the first.
fn shown(signal: i32) -> Option<bool> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u128::from_str_radix(ignored.trim(), 16).ok()?;
    Some((ignored >> (signal - 1)) & 1 == 1)
}

fn is_survived(signal: i32) -> bool {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("kill -{signal} $$")]);
    // The token is for no other program.
    shell.env_clear();
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_told_the_same_as_proc_shows() {
        for kind in [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ] {
            let signal = kind.as_raw_value();
            if let Some(shown) = shown(signal) {
                assert_eq!(is_survived(signal), shown, "{signal}");
            }
        }
    }
}
