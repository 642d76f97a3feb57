//! How a row can end.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A ledger knows them by their order: a new one comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Created,
    Duplicate,
    /// The same number and campaign occurred earlier in this import; not sent.
    Repeated,
    AlreadyImported,
    Excluded,
    Suppressed,
    Invalid,
    Rejected,
    /// Out of attempts, and none of them can have been taken.
    Failed,
    /// An attempt may have been taken, and no later answer settled it.
    Uncertain,
    /// Would be sent (only in a dry run).
    Ready,
}

impl Status {
    pub const ALL: [Status; 11] = [
        Status::Created,
        Status::Duplicate,
        Status::Repeated,
        Status::AlreadyImported,
        Status::Excluded,
        Status::Suppressed,
        Status::Invalid,
        Status::Rejected,
        Status::Failed,
        Status::Uncertain,
        Status::Ready,
    ];

    /// The word in files, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Created => "created",
            Status::Duplicate => "duplicate",
            Status::Repeated => "repeated",
            Status::AlreadyImported => "already_imported",
            Status::Excluded => "excluded",
            Status::Suppressed => "suppressed",
            Status::Invalid => "invalid",
            Status::Rejected => "rejected",
            Status::Failed => "failed",
            Status::Uncertain => "uncertain",
            Status::Ready => "ready",
        }
    }

    /// Whether a row with this status needs the user's attention: exit code 1.
    pub fn is_problem(self) -> bool {
        matches!(
            self,
            Status::Invalid | Status::Rejected | Status::Failed | Status::Uncertain
        )
    }
}

impl FromStr for Status {
    type Err = String;

    fn from_str(text: &str) -> Result<Status, String> {
        let found = Status::ALL.into_iter().find(|s| s.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is not a status"))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_listed_once_and_named_in_snake_case() {
        let names: Vec<&str> = Status::ALL.iter().map(|s| s.as_str()).collect();
        assert_eq!(
            names,
            [
                "created",
                "duplicate",
                "repeated",
                "already_imported",
                "excluded",
                "suppressed",
                "invalid",
                "rejected",
                "failed",
                "uncertain",
                "ready"
            ]
        );
    }

    #[test]
    fn a_status_is_read_as_it_is_written() {
        for status in Status::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        assert!("done".parse::<Status>().is_err());
    }
}
