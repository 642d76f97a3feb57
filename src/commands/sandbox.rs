//! `leadload sandbox`: runs the sandbox as a server until it is stopped.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;

use super::service;
use crate::api::Token;
use crate::cli::sandbox::SandboxArgs;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::sandbox::{Fault, Outage, OutageStyle, RateLimit, Sandbox, SandboxConfig};
use crate::signals;

const DEFAULT_LISTEN: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 8088);
const DEFAULT_OUTAGE: Duration = Duration::from_secs(10);

pub fn run(args: &SandboxArgs) -> Result<ExitCode, Failure> {
    let mut config = configure(args).or_stopped(StoppedBy::Usage)?;
    let wanted = *config
        .listen
        .get_or_insert_with(|| SocketAddr::from(DEFAULT_LISTEN));
    let sandbox = Sandbox::start(config).map_err(|error| {
        anyhow!("cannot listen on `{wanted}`: {error}\n\nhint: name another address with `--listen`; port 0 takes a free one")
    });
    let sandbox = sandbox.or_stopped(StoppedBy::Usage)?;
    let serving = wait_for_signal(sandbox.addr());
    service::block_on(async { serving.await.or_stopped(StoppedBy::Usage) })?;
    Ok(ExitCode::Complete)
}

async fn wait_for_signal(addr: SocketAddr) -> io::Result<()> {
    // Before the announcement, so that a signal sent in reply to it is not missed.
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

/// The scenario with the flags over it.
fn configure(args: &SandboxArgs) -> anyhow::Result<SandboxConfig> {
    let mut config = match &args.scenario {
        Some(file) => read_scenario(file)?,
        None => SandboxConfig::default(),
    };
    if let Some(file) = &args.token_file {
        config.token = Some(Token::from_file(file)?.expose().to_owned());
        config.any_token = false;
    } else if config.token.is_none() {
        config.any_token = true;
    }
    set_faults(&mut config, args);
    if let Some(after_requests) = args.outage_after {
        config.outage = Some(Outage {
            after_requests,
            for_s: args.outage_for.unwrap_or(DEFAULT_OUTAGE).as_secs_f64(),
            style: OutageStyle::Close,
        });
    }
    if !args.rate_limit.is_empty() {
        config.rate_limits = args
            .rate_limit
            .iter()
            .copied()
            .map(RateLimit::from)
            .collect();
    }
    if let Some(latency) = args.latency {
        config.latency_ms = u64::try_from(latency.as_millis())?;
    }
    config.listen = args.listen.or(config.listen);
    config.token_revoked_after = args.token_revoked_after.or(config.token_revoked_after);
    set(&mut config.seed, args.seed);
    set(&mut config.duplicate_style, args.duplicate_style);
    set(&mut config.id_type, args.id_type);
    set(&mut config.list_shape, args.list_shape);
    // Before the announcement.
    config
        .validate()
        .map_err(|error| anyhow!("{error}\n\nhint: change it in the scenario, or by a flag"))?;
    Ok(config)
}

fn set_faults(config: &mut SandboxConfig, args: &SandboxArgs) {
    let half = |share: Option<f64>| share.map(|share| share / 2.0);
    let shares = [
        (Fault::Status429, args.share_429),
        (Fault::Status500Before, half(args.share_500)),
        (Fault::Status500After, half(args.share_500)),
        (Fault::Status502, args.share_502),
        (Fault::Status503, args.share_503),
        (Fault::DropBefore, args.drop_before),
        (Fault::DropAfter, args.drop_after),
        (Fault::Unreadable, args.unreadable),
        (Fault::HangBefore, half(args.hang)),
        (Fault::HangAfter, half(args.hang)),
    ];
    let given = shares
        .into_iter()
        .filter_map(|(fault, share)| Some((fault, share?)));
    config.faults.0.extend(given);
}

fn set<T>(setting: &mut T, typed: Option<T>) {
    if let Some(value) = typed {
        *setting = value;
    }
}

fn read_scenario(file: &Path) -> anyhow::Result<SandboxConfig> {
    let text = fs::read_to_string(file).map_err(|error| {
        anyhow!(
            "cannot read the scenario `{}`: {error}\n\nhint: check the name, and that you may read the file",
            file.display()
        )
    })?;
    toml::from_str(&text).map_err(|error| {
        // Not the error's own text: it shows the line, which may have a token.
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        anyhow!(
            "`{}`, line {line}: {}\n\nhint: `sandbox-scenario.toml` in the sample data has every key",
            file.display(),
            error.message()
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sandbox::{DuplicateStyle, ListShape};

    fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> std::path::PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn flags_come_on_top_of_the_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let scenario = "seed = 1\nlatency_ms = 5\nlist_shape = 'bare'\n[faults]\nstatus_429 = 0.1\nunreadable = 0.3";
        let args = SandboxArgs {
            scenario: Some(write(&folder, "scenario.toml", scenario)),
            seed: Some(2),
            share_429: Some(0.2),
            hang: Some(0.1),
            duplicate_style: Some(DuplicateStyle::Conflict),
            ..SandboxArgs::default()
        };
        let config = configure(&args).unwrap();
        assert_eq!((config.seed, config.latency_ms), (2, 5));
        assert_eq!(config.list_shape, ListShape::Bare);
        assert_eq!(config.duplicate_style, DuplicateStyle::Conflict);
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
            let args = SandboxArgs {
                scenario: Some(write(&folder, "scenario.toml", text)),
                ..SandboxArgs::default()
            };
            configure(&args).err().unwrap().to_string()
        };
        let text = error("seed = 1\nlatncy_ms = 1\n");
        assert!(text.contains("scenario.toml`, line 2: unknown field `latncy_ms`"));
        assert!(!error("token = \"s3cret\n").contains("s3cret"));
        let text = error("[faults]\nstatus_429 = 0.9\nunreadable = 0.9");
        assert_eq!(
            text,
            "the shares of faults add up to 1.800, at most 1 is possible\n\nhint: change it in the scenario, or by a flag"
        );
    }

    #[test]
    fn any_token_will_do_unless_one_is_given() {
        let folder = tempfile::tempdir().unwrap();
        assert!(configure(&SandboxArgs::default()).unwrap().any_token);
        let args = SandboxArgs {
            token_file: Some(write(&folder, "token", "\u{feff}Bearer 1|abc\r\n")),
            ..SandboxArgs::default()
        };
        let config = configure(&args).unwrap();
        assert_eq!((config.token(), config.any_token), ("1|abc", false));
        let args = SandboxArgs {
            token_file: Some(write(&folder, "empty", " \n")),
            ..SandboxArgs::default()
        };
        assert!(configure(&args).is_err());
    }
}
