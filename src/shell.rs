//! Words as shells take them.

use crate::text::printable;

/// One word of a command as this system's shells take it; in double quotes where they differ.
pub fn quoted(word: &str) -> String {
    quote(word).unwrap_or_else(|| format!("\"{}\"", printable(word)))
}

/// The same; none where they differ.
pub fn quote(word: &str) -> Option<String> {
    if cfg!(windows) {
        for_windows(word)
    } else {
        for_posix(word)
    }
}

/// As any POSIX shell takes it.
pub(crate) fn for_posix(arg: &str) -> Option<String> {
    shlex::try_quote(arg).ok().map(|quoted| quoted.into_owned())
}

/// As both PowerShell and the command prompt take it; none where they differ. Between
/// double quotes the one expands `$` and has `` ` `` for an escape, the other expands `%`
/// and `!`. A quote is quoted in different ways, a `\` before the last one would escape
/// it, and older PowerShells leave empty arguments out.
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
