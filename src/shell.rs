//! Quoting for shells.

use crate::text::printable;

/// A word quoted for the shells of this system. If these need different quoting, in double quotes.
pub fn quoted(word: &str) -> String {
    quote(word).unwrap_or_else(|| format!("\"{}\"", printable(word)))
}

/// A word quoted for the shells of this system; `None` if these need different quoting.
pub fn quote(word: &str) -> Option<String> {
    if cfg!(windows) {
        for_windows(word)
    } else {
        for_posix(word)
    }
}

/// A word quoted for any POSIX shell; `None` if that is impossible.
pub(crate) fn for_posix(arg: &str) -> Option<String> {
    shlex::try_quote(arg).ok().map(|quoted| quoted.into_owned())
}

/// A word quoted for both PowerShell and the command prompt; `None` if they need different
/// quoting. Between double quotes, PowerShell expands `$` and escapes with ``
/// ` ``; the command prompt expands `%` and `!`. They escape a quote in different ways, a `\`
/// before the last quote would escape it, and older PowerShells drop empty arguments.
pub(crate) fn for_windows(arg: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=/\\.:+".contains(c);
    // PowerShell cuts `-a.b` and `-a:b` in two.
    let is_cut = arg.starts_with('-') && arg.contains(['.', ':']);
    if arg.is_empty() {
        return None;
    }
    if arg.chars().all(is_plain) && !is_cut {
        return Some(arg.to_owned());
    }
    // PowerShell treats the curved quotes as quotes.
    let has_special = arg.contains(['"', '$', '`', '%', '!', '“', '”', '„']);
    (!has_special && !arg.ends_with('\\')).then(|| format!("\"{arg}\""))
}
