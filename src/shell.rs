//! Quoting for shells.

use crate::text::printable;

/// A word quoted for this system's shells; in double quotes where they differ.
pub fn quoted(word: &str) -> String {
    quote(word).unwrap_or_else(|| format!("\"{}\"", printable(word)))
}

/// The same; `None` where they differ.
pub fn quote(word: &str) -> Option<String> {
    if cfg!(windows) {
        for_windows(word)
    } else {
        for_posix(word)
    }
}

/// A word quoted for any POSIX shell.
pub(crate) fn for_posix(arg: &str) -> Option<String> {
    shlex::try_quote(arg).ok().map(|quoted| quoted.into_owned())
}

/// A word quoted for both PowerShell and the command prompt; `None` where they differ. Between
/// double quotes, the former expands `$` and escapes with `` ` ``, the latter expands `%` and `!`.
/// They quote a quote in different ways, a `\` before the last quote would escape it, and older
/// PowerShells drop empty arguments.
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
    // The curved quotes are quotes to PowerShell.
    let has_special = arg.contains(['"', '$', '`', '%', '!', '“', '”', '„']);
    (!has_special && !arg.ends_with('\\')).then(|| format!("\"{arg}\""))
}
