//! The name of a run in its rejects.

use std::fmt;
use std::str::FromStr;

use super::RunId;

/// Without vowels they make no word, and no month: no spreadsheet program takes them for a date or a
/// number.
const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";

const LENGTH: usize = 5;

/// Random letters that tell a run from all others with its number: those of other ledgers, and of this
/// one before it was restored from a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunTag([u8; LENGTH]);

impl RunTag {
    pub fn random() -> RunTag {
        RunTag([(); LENGTH].map(|()| LETTERS[fastrand::usize(..LETTERS.len())]))
    }

    pub fn as_str(&self) -> &str {
        // All letters are ASCII.
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for RunTag {
    type Err = String;

    fn from_str(text: &str) -> Result<RunTag, String> {
        let letters: Option<[u8; LENGTH]> = text.as_bytes().try_into().ok();
        let letters = letters.filter(|letters| letters.iter().all(|byte| LETTERS.contains(byte)));
        letters
            .map(RunTag)
            .ok_or_else(|| format!("`{text}` is not the tag of a run"))
    }
}

/// One run of one ledger, as rejects name it: `7-bcdfg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunName {
    pub run: RunId,
    /// `None` for a run that was begun before runs had tags.
    pub tag: Option<RunTag>,
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tag {
            Some(tag) => write!(f, "{}-{}", self.run, tag.as_str()),
            None => self.run.fmt(f),
        }
    }
}

impl FromStr for RunName {
    type Err = String;

    fn from_str(text: &str) -> Result<RunName, String> {
        let (number, tag) = match text.split_once('-') {
            Some((number, tag)) => (number, Some(tag.parse()?)),
            None => (text, None),
        };
        // A plain `parse` takes a plus sign too.
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number);
        let run = number.ok_or_else(|| format!("`{text}` is not the name of a run"))?;
        Ok(RunName {
            run: RunId(run),
            tag,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written_and_nothing_else_is_one() {
        for text in ["7", "7-bcdfg", "18446744073709551615-zzzzz"] {
            assert_eq!(text.parse::<RunName>().unwrap().to_string(), text);
        }
        let none = [
            "",
            "-",
            "-bcdfg",
            "7-",
            "7-bcdf",
            "7-bcdfgh",
            "7-bcdfa",
            "7-BCDFG",
            "+7",
            "7 ",
            "7-7",
            "list-4f2a",
            "18446744073709551616",
        ];
        for text in none {
            assert!(text.parse::<RunName>().is_err(), "{text}");
        }
    }

    #[test]
    fn tags_differ_and_are_read_again() {
        let tags: std::collections::BTreeSet<RunTag> = (0..100).map(|_| RunTag::random()).collect();
        assert!(tags.len() > 95);
        for tag in tags {
            assert_eq!(tag.as_str().parse(), Ok(tag));
        }
    }
}
