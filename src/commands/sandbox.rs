//! `leadload sandbox`: runs the sandbox as a server until it is stopped.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use crate::api::Token;
use crate::cli::sandbox::SandboxArgs;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::import::service;
use crate::message::{Message, Text};
use crate::paths::with_reason;
use crate::sandbox::{Sandbox, SandboxConfig};
use crate::signals;
use crate::text::nearest;

const DEFAULT_LISTEN: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 8088);

pub fn run(args: &SandboxArgs) -> Result<ExitCode, Failure> {
    let mut config = configure(args).stopped_by(StoppedBy::Usage)?;
    let wanted = *config
        .listen
        .get_or_insert_with(|| SocketAddr::from(DEFAULT_LISTEN));
    let sandbox = Sandbox::start(config).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::AddrInUse => "another program, perhaps another sandbox, is using it",
            _ => &error.to_string(),
        };
        Failure::usage(Message::new(
            Text::terminal(format!("cannot listen on `{wanted}`: {why}")),
            terminal_text!("name another address with `--listen`; port 0 takes a free one"),
        ))
    })?;
    let serving = wait_for_signal(sandbox.addr());
    service::block_on(async { serving.await.stopped_by(StoppedBy::Usage) })?;
    Ok(ExitCode::Complete)
}

async fn wait_for_signal(addr: SocketAddr) -> io::Result<()> {
    // Before the address is announced, so that a signal sent in reply is not missed.
    let mut signals = signals::listen()?;
    // The one line that scripts wait for.
    let mut stdout = io::stdout().lock();
    writeln!(
        stdout,
        "sandbox listening on http://{addr} (press Ctrl-C to stop)"
    )?;
    stdout.flush()?;
    drop(stdout);
    signals.next().await;
    Ok(())
}

/// The scenario, with the flags overriding it.
fn configure(args: &SandboxArgs) -> anyhow::Result<SandboxConfig> {
    let mut config = SandboxConfig::default();
    args.override_in(&mut config)?;
    if let Some(file) = &config.scenario {
        config = read_scenario(file)?;
        args.override_in(&mut config)?;
    }
    config.faults.override_by(&config.fault_flags);
    if let (Some(length), Some(outage)) = (config.outage_for, &mut config.outage) {
        outage.for_s = length.as_secs_f64();
    }
    if let Some(file) = &config.token_file {
        config.token = Some(Token::from_file(file)?.expose().to_owned());
        config.any_token = false;
    } else if config.token.is_none() {
        config.any_token = true;
    }
    // Before the announcement.
    config.validate().map_err(|error| {
        Message::new(
            Text::terminal(error.to_string()),
            terminal_text!("change it in the scenario, or by a flag"),
        )
    })?;
    Ok(config)
}

fn read_scenario(file: &Path) -> Result<SandboxConfig, Message> {
    let text = fs::read_to_string(file).map_err(|error| {
        Message::new(
            Text::terminal(format!(
                "cannot read the scenario {}",
                with_reason(file, &error)
            )),
            terminal_text!("check the name, and that you may read the file"),
        )
    })?;
    toml_edit::de::from_str(&text).map_err(|error| {
        // Not the error's own text: it shows the line, which may contain a token.
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        let text = error.message();
        let what = text.split(", expected one of").next().unwrap_or(text);
        // What was typed, then what could be there.
        let names: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        let meant = names.get(1..).and_then(|known| nearest(names[0], known));
        let meant = meant.map(|meant| format!("did you mean `{meant}`?"));
        let hint = meant.unwrap_or("docs/sandbox.md has an example with every key".into());
        Message::new(
            Text::terminal(format!("`{}`, line {line}: {what}", file.display())),
            Text::terminal(hint),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;
    use crate::cli::{self, Command};
    use crate::sandbox::Fault;

    fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The configuration of `leadload sandbox` with these flags, the last of which takes `file`.
    fn configured(flags: &str, file: Option<PathBuf>) -> anyhow::Result<SandboxConfig> {
        let words = ["leadload", "sandbox"]
            .into_iter()
            .chain(flags.split_whitespace());
        let words = words.map(Into::into).chain(file.map(Into::into));
        match cli::parse(&words.collect::<Vec<_>>()).unwrap() {
            Command::Sandbox(args) => configure(&args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_override_the_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let scenario = "seed = 1\nlatency_ms = 5\n[faults]\nstatus_429 = 0.1\nunreadable = 0.3\n[[rate_limit]]\nrequests = 7\nper_s = 1";
        let config = configured(
            "--seed 2 --share-429 0.2 --hang 10% --token-revoked-after 3 --limit leaky:20/10s --limit 100/min --outage-after 9 --outage-for 2s --scenario",
            Some(write(&folder, "scenario.toml", scenario)),
        )
        .unwrap();
        assert_eq!((config.seed, config.latency_ms), (2, 5));
        assert_eq!(config.token_revoked_after, Some(3));
        let limits = config.rate_limits.iter();
        let limits: Vec<_> = limits.map(|limit| (limit.requests, limit.per_s)).collect();
        assert_eq!(limits, [(20, 10.0), (100, 60.0)]);
        let outage = config.outage.unwrap();
        assert_eq!((outage.after_requests, outage.for_s), (9, 2.0));
        let shares = [
            (Fault::Status429, 0.2),
            (Fault::Unreadable, 0.3),
            (Fault::HangBefore, 0.05),
            (Fault::HangAfter, 0.05),
        ];
        assert_eq!(config.faults.0, BTreeMap::from(shares));
    }

    #[test]
    fn a_mistake_in_a_scenario_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let error = |text: &str| {
            let file = write(&folder, "scenario.toml", text);
            let config = configured("--scenario", Some(file));
            config.err().unwrap().to_string()
        };
        let text = error("seed = 1\nlatncy_ms = 1\n");
        assert!(text.contains("scenario.toml`, line 2: "), "{text}");
        assert!(text.ends_with("`latency_ms`?"), "{text}");
        assert!(!error("token = \"s3cret\n").contains("s3cret"));
        let text = error("[faults]\nstatus_429 = 0.9\nunreadable = 0.9");
        assert!(text.contains("1.800"), "{text}");
    }

    #[test]
    fn any_token_is_accepted_unless_one_is_given() {
        let folder = tempfile::tempdir().unwrap();
        assert!(configured("", None).unwrap().any_token);
        let token = write(&folder, "token", "\u{feff}Bearer 1|abc\r\n");
        let config = configured("--token-file", Some(token)).unwrap();
        assert_eq!((config.token(), config.any_token), ("1|abc", false));
        let empty = write(&folder, "empty", " \n");
        assert!(configured("--token-file", Some(empty)).is_err());
    }
}
