//! What `leadload --version` prints.

/// The version, and what the program is built of, as far as `build.rs` knows it:
/// `leadload 0.1.0 (6306b5e2c1, x86_64-unknown-linux-gnu)`.
pub fn version() -> String {
    let target = env!("LEADLOAD_TARGET");
    let built_of = match option_env!("LEADLOAD_COMMIT") {
        Some(commit) if !commit.is_empty() => format!("{commit}, {target}"),
        _ => target.to_owned(),
    };
    format!("leadload {} ({built_of})", env!("CARGO_PKG_VERSION"))
}
