//! A name for a list that has no run yet.

use std::fmt;
use std::str::FromStr;

/// The beginning of every label: no number of a run begins like this.
const BEGINNING: &str = "list-";

const MAX_CHARACTERS: usize = 64;

/// What stands in the rejects of a check in place of a run, so that the page that wrote them knows
/// them again: `list-4f2a`. It may come back from a file that anybody has edited, so it has only
/// lower-case letters, digits and hyphens, and can do no harm in the name of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListLabel(String);

impl ListLabel {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ListLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for ListLabel {
    type Err = String;

    fn from_str(text: &str) -> Result<ListLabel, String> {
        let name = text.strip_prefix(BEGINNING).unwrap_or_default();
        let is_plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        if name.is_empty() || text.len() > MAX_CHARACTERS || !name.bytes().all(is_plain) {
            return Err(format!("`{text}` is not the label of a list"));
        }
        Ok(ListLabel(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_as_it_is_written_and_nothing_else_is_one() {
        for text in ["list-4f2a", "list-a-b", "list--"] {
            assert_eq!(text.parse::<ListLabel>().unwrap().to_string(), text);
        }
        let long = format!("list-{}", "a".repeat(60));
        for text in [
            "", "7", "list-", "List-a", "list-a/b", "list-..", "list-é", "a", &long,
        ] {
            assert!(text.parse::<ListLabel>().is_err(), "{text}");
        }
    }
}
