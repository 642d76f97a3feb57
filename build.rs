//! Tells the program what it is built of, for `leadload --version`.
//!
//! Only release builds have the commit: tests would be rebuilt after each commit.

use std::env;
use std::fs;
use std::process::Command;

/// What the program is built of.
const SOURCES: [&str; 4] = ["src", "build.rs", "Cargo.toml", "Cargo.lock"];

fn main() {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    println!("cargo::rerun-if-env-changed=LEADLOAD_COMMIT");
    let target = env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=LEADLOAD_TARGET={target}");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if let Some(commit) = is_release.then(commit).flatten() {
        println!("cargo::rustc-env=LEADLOAD_COMMIT={commit}");
    }
}

/// Named by who builds without a repository, or noted by `cargo package`, or that of the repository.
fn commit() -> Option<String> {
    let named = env::var("LEADLOAD_COMMIT").ok();
    let named = named.filter(|commit| !commit.is_empty());
    named.or_else(packaged).or_else(checked_out)
}

fn packaged() -> Option<String> {
    let notes = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, hash) = notes.split_once(r#""sha1": ""#)?;
    hash.get(..10).map(str::to_owned)
}

fn checked_out() -> Option<String> {
    // A repository around this folder may be another project's.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let changes = git(&[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    Some(match changes.as_str() {
        "" => commit,
        _ => format!("{commit} with changes"),
    })
}

/// What git prints, if it is there and succeeds.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
