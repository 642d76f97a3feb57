//! What the ledger knows about a run and the processes that worked on it.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::UndoRecord;
use super::run::{InputRecord, ListRecord, OutputRecord, TIMEOUT, of};
use crate::lead::{CampaignId, Counts, RunId, RunTag};

#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    pub run: RunId,
    /// See [`RunName`](crate::lead::RunName).
    pub tag: Option<RunTag>,
    pub service: String,
    /// The options that identify the run, in words; `None` if they were pruned.
    pub options: Option<Value>,
    pub began_at: Timestamp,
    /// When every row had its outcome.
    pub completed_at: Option<Timestamp>,
    /// When its cells, texts and file names were removed.
    pub pruned_at: Option<Timestamp>,
    /// What the token is known by with which all its leads were made: empty without leads, `-` if there
    /// were several. `None` if an older version has begun it.
    pub token: Option<String>,
    /// How far the service's clock was ahead of the one by which the run began, in seconds, if that is known.
    pub ahead_s: Option<i64>,
    pub is_at_work: bool,
    /// Its rows as the last start counted them; undoing changes nothing of them.
    pub counts: Counts,
    /// What is known of undoing it; `None` if that was never begun.
    pub undo: Option<UndoRecord>,
    pub starts: Vec<StartRecord>,
    pub inputs: Vec<InputRecord>,
    pub outputs: Vec<OutputRecord>,
}

/// A process that has worked on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRecord {
    /// Its place in the order in which all starts were recorded, which no clock decides.
    pub seq: u64,
    pub began_at: Timestamp,
    /// When it ended; `None` if it was killed or is still sending.
    pub ended_at: Option<Timestamp>,
    pub process: u32,
    pub host: String,
    /// The name of its user; `None` if an older version has recorded it.
    pub user: Option<String>,
    pub version: String,
    pub exit_code: Option<u8>,
    pub stopped_by: Option<String>,
    pub requests: Option<u64>,
    pub lists: Vec<ListRecord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState<'a> {
    Complete,
    /// It was undone, and does not continue.
    Undone,
    AtWork,
    /// The last start ended before the run was complete, for this reason.
    Stopped(&'a str),
    /// The last start has recorded no end.
    Killed,
}

/// The token of a run whose leads were made with several.
pub const SEVERAL_TOKENS: &str = "-";

impl StartRecord {
    /// Which process it was, whose and where.
    pub fn whose_process(&self) -> String {
        let of = of(self.user.as_deref());
        format!("process {}{of} on {}", self.process, self.host)
    }

    /// Who has started it, and on which computer.
    pub fn person(&self) -> String {
        let user = self.user.as_deref().unwrap_or("somebody");
        format!("{user} on {}", self.host)
    }

    /// Whether this user has started it on this computer, as [`this_user_here`] names them.
    ///
    /// [`this_user_here`]: super::this_user_here
    pub fn is_by(&self, (host, user): &(String, String)) -> bool {
        self.host == *host && self.user.as_ref() == Some(user)
    }
}

impl RunRecord {
    /// Everybody who has started it, each once, in order.
    pub fn people(&self) -> String {
        let mut people: Vec<String> = Vec::new();
        for person in self.starts.iter().map(StartRecord::person) {
            if !people.contains(&person) {
                people.push(person);
            }
        }
        people.join(", ")
    }

    /// Whether it was sent last from this computer: on any other one its paths may be those of other
    /// files.
    pub fn is_of_here(&self) -> bool {
        let (here, _) = super::this_user_here();
        self.starts.last().is_some_and(|start| start.host == here)
    }

    pub fn state(&self) -> RunState<'_> {
        let last = self.starts.last();
        match last.filter(|start| start.ended_at.is_some()) {
            _ if self.is_at_work => RunState::AtWork,
            _ if self.undo.is_some() => RunState::Undone,
            _ if self.completed_at.is_some() => RunState::Complete,
            Some(start) => RunState::Stopped(start.stopped_by.as_deref().unwrap_or("unknown")),
            None => RunState::Killed,
        }
    }

    /// Its place among the runs in the order in which they were started or continued last.
    pub fn last_start(&self) -> u64 {
        let starts = self.starts.iter().map(|start| start.seq);
        starts.max().unwrap_or_default()
    }

    /// Its number and its day, for a sentence.
    pub fn in_sentence(&self) -> String {
        format!("run {} of {}", self.run, self.began_at.strftime("%Y-%m-%d"))
    }

    /// The longest time-out of its requests; `None` if it was pruned, or an older version has sent it.
    pub fn timeout(&self) -> Option<SignedDuration> {
        let seconds = self.options.as_ref()?.get(TIMEOUT)?.as_f64()?;
        SignedDuration::try_from_secs_f64(seconds).ok()
    }

    /// Whether all its leads were made with this token, so that they are in its account.
    pub fn was_sent_with(&self, token: &str) -> bool {
        self.token.as_deref() == Some(token)
    }

    /// The names of its campaigns, as far as it was started with names.
    pub fn campaigns_named(&self) -> Vec<(CampaignId, String)> {
        let ids = self
            .options
            .as_ref()
            .and_then(|options| options.get("campaign_ids"));
        let ids = ids.and_then(Value::as_object).into_iter().flatten();
        ids.filter_map(|(name, id)| Some((CampaignId(id.as_i64()?), name.clone())))
            .collect()
    }

    /// The campaign that the user chose by this name, if the run knows its id.
    pub fn campaign_called(&self, name: &str) -> Option<CampaignId> {
        let ids = self.options.as_ref()?.get("campaign_ids")?;
        ids.get(name)?.as_i64().map(CampaignId)
    }
}
