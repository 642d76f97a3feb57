//! Which campaign a row is for: ids, names, and the service's list of campaigns.
//!
//! Rule: pure. Other code fetches the list; here a name becomes the id of the only campaign with
//! that name, or a message that lists the existing campaigns.

mod unclear;

pub use unclear::{NamedRows, NamesInRows, UnclearNames};

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crate::lead::{CampaignId, ErrorCode, RowOutcome};
use crate::message::{Message, Text};
use crate::text::{printable, shown_name};

/// A campaign in the service's list. Only the id and the name are relied on: no document states the
/// format of times or the set of statuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Campaign {
    /// The id as text, whether the service sent a string or a number.
    pub id: String,
    pub name: String,
    /// The status, free text; empty if the service sent none.
    pub status: String,
    pub created_at: String,
    pub updated_at: String,
}

/// The statuses of a campaign that calls people, letters only.
#[rustfmt::skip]
const ACTIVE: [&str; 12] = [
    "active", "activated", "calling", "enabled", "inprogress", "launched", "live", "ongoing",
    "open", "running", "started", "working",
];

/// The statuses of a campaign that calls no one, letters only.
#[rustfmt::skip]
const IDLE: [&str; 10] = [
    "archived", "closed", "completed", "disabled", "draft", "ended", "finished", "inactive",
    "paused", "stopped",
];

impl Campaign {
    pub fn lead_campaign(&self) -> Result<CampaignId, CampaignError> {
        let id = self.id.parse().map(CampaignId);
        id.map_err(|_| CampaignError {
            problem: "not_an_integer",
            names: vec![self.name.clone()],
            ids: vec![self.id.clone()],
            message: Box::new(message!("the campaign `{name}` has the id `{id}`, and leads need an id that is a whole number", "this {looks like another product's API; check the address of the service|may be another product; check its address under {--base-url}}", name = shown_name(&self.name), id = printable(&self.id))),
        })
    }

    /// Whether the status, which is free text, means that the campaign calls people.
    pub fn is_active(&self) -> bool {
        self.has_status(&ACTIVE)
    }

    /// Whether the status means that it calls no one. Both may be false: a status can be any word.
    pub fn is_idle(&self) -> bool {
        self.has_status(&IDLE)
    }

    fn has_status(&self, words: &[&str]) -> bool {
        let letters = self.status.chars().filter(|c| c.is_alphanumeric());
        let word: String = letters.flat_map(char::to_lowercase).collect();
        words.contains(&word.as_str())
    }
}

/// A campaign as a user names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CampaignChoice {
    /// All digits: an id.
    Id(CampaignId),
    /// Anything else: a name that must match exactly one campaign.
    Name(String),
}

/// The text that the user gave.
impl fmt::Display for CampaignChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CampaignChoice::Id(id) => id.fmt(f),
            CampaignChoice::Name(name) => f.write_str(name),
        }
    }
}

impl CampaignChoice {
    pub fn given(text: &str) -> Result<Option<CampaignChoice>, Message> {
        CampaignChoice::parse(text).map_err(|error| {
            Message::new(
                error,
                text!(
                    "{`leadload campaigns` lists the campaigns with their ids|choose the campaign again}"
                ),
            )
        })
    }

    /// Reads a flag's value or a cell; `None` if it is blank.
    pub fn parse(text: &str) -> Result<Option<CampaignChoice>, Text> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if !text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Some(CampaignChoice::Name(text.to_owned())));
        }
        let id = text.parse().map(CampaignId);
        let id = id.map_err(|_| text!("`{text}` is too long for a campaign id", text))?;
        Ok(Some(CampaignChoice::Id(id)))
    }
}

/// Names that do not each mean one campaign, all for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignError {
    /// The reason in one word, for JSON.
    pub problem: &'static str,
    pub names: Vec<String>,
    /// The ids that the service lists under the name.
    pub ids: Vec<String>,
    pub message: Box<Message>,
}

/// Stands for a campaign whether or not its id is known. Equal keys mean equal campaigns, and
/// different keys different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CampaignKey(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCampaign {
    /// Known even if the id is not.
    pub key: CampaignKey,
    /// `None` in a dry run that knows only a name, or no campaign at all.
    pub id: Option<CampaignId>,
}

#[derive(Debug, Clone, Default)]
pub struct CampaignBook {
    default: Option<CampaignChoice>,
    ids: HashMap<String, CampaignId>,
    keys: HashMap<Option<CampaignChoice>, CampaignKey>,
}

impl CampaignBook {
    /// A book in which rows without a campaign of their own use `default`, and
    /// names have the ids in `ids`.
    pub fn new(default: Option<CampaignChoice>, ids: HashMap<String, CampaignId>) -> Self {
        CampaignBook {
            default,
            ids,
            keys: HashMap::new(),
        }
    }

    pub fn ids(&self) -> BTreeMap<&str, i64> {
        let ids = self.ids.iter();
        ids.map(|(name, id)| (name.as_str(), id.0)).collect()
    }

    /// The campaign name of a row, if it has one whose id is not known. `cell` is as in
    /// [`CampaignBook::of`].
    pub fn name_without_id(&self, cell: Option<&str>) -> Option<String> {
        let choice = CampaignChoice::parse(cell.unwrap_or_default()).ok()?;
        match choice.as_ref().or(self.default.as_ref())? {
            CampaignChoice::Name(name) if !self.ids.contains_key(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// The campaign of a row. `cell` is its campaign cell, if its input has a campaign column.
    pub fn of(&mut self, cell: Option<&str>) -> Result<RowCampaign, RowOutcome> {
        let choice = CampaignChoice::parse(cell.unwrap_or_default())
            .map_err(|error| RowOutcome::invalid(ErrorCode::CampaignInvalid, error))?
            .or_else(|| self.default.clone());
        // A name and an id of the same campaign must have the same key.
        let choice = match choice {
            Some(CampaignChoice::Name(name)) => Some(match self.ids.get(&name) {
                Some(id) => CampaignChoice::Id(*id),
                None => CampaignChoice::Name(name),
            }),
            other => other,
        };
        if choice.is_none() && cell.is_some() {
            return Err(RowOutcome::invalid(
                ErrorCode::CampaignInvalid,
                text!("the campaign cell is empty{ and no --campaign is given|}"),
            ));
        }
        let id = match &choice {
            Some(CampaignChoice::Id(id)) => Some(*id),
            _ => None,
        };
        let next = CampaignKey(u32::try_from(self.keys.len()).unwrap_or(u32::MAX));
        let key = *self.keys.entry(choice).or_insert(next);
        Ok(RowCampaign { key, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn campaign(id: &str, name: &str) -> Campaign {
        Campaign {
            id: id.into(),
            name: name.into(),
            status: String::new(),
            created_at: String::new(),
            updated_at: String::new(),
        }
    }

    #[test]
    fn statuses_of_a_calling_campaign_are_recognized_in_any_spelling() {
        let with = |status: &str| Campaign {
            status: status.to_owned(),
            ..campaign("1", "Spring")
        };
        for status in [
            "in-progress",
            "In Progress",
            "IN_PROGRESS",
            "Active",
            "running",
            "started",
        ] {
            assert!(with(status).is_active(), "{status}");
        }
        for status in [
            "",
            "stopped",
            "inactive",
            "not started",
            "draft",
            "3",
            "進行中",
        ] {
            assert!(!with(status).is_active(), "{status}");
        }
    }

    #[test]
    fn a_name_and_its_id_are_the_same_campaign() {
        let ids = HashMap::from([("Spring".to_owned(), CampaignId(7))]);
        let mut book = CampaignBook::new(None, ids);
        let by_name = book.of(Some("Spring")).unwrap();
        assert_eq!(by_name.id, Some(CampaignId(7)));
        assert_eq!(book.of(Some(" 7 ")).unwrap(), by_name);
    }

    #[test]
    fn an_empty_cell_takes_the_default_or_is_invalid() {
        let default = CampaignChoice::Id(CampaignId(5));
        let mut book = CampaignBook::new(Some(default), HashMap::new());
        assert_eq!(book.of(Some(" ")).unwrap().id, Some(CampaignId(5)));
        let mut book = CampaignBook::new(None, HashMap::new());
        assert_eq!(
            book.of(Some("")).unwrap_err().error_code,
            Some(ErrorCode::CampaignInvalid)
        );
        assert_eq!(
            book.of(Some("99999999999999999999"))
                .unwrap_err()
                .error_code,
            Some(ErrorCode::CampaignInvalid)
        );
    }
}
