//! Names of campaigns that mean another campaign than before, as after one was deleted and made
//! again. The ledger knows people by the campaign's id, so everybody would be called once more.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::inputs;
use super::open_ledger::{is_again, sent_before};
use super::prepared::Concern;
use crate::campaign::CampaignBook;
use crate::exit::Failure;
use crate::intake::{Intake, Memory, MemoryRules, Purpose};
use crate::lead::{CampaignId, RunId};
use crate::ledger::{Ledger, Scope};
use crate::message::Text;
use crate::settings::ImportSettings;
use crate::text::shown_name;

/// A campaign name with what it means now, and what it meant before.
pub struct MovedName {
    name: String,
    now: CampaignId,
    before: CampaignId,
    /// How many rows would be sent to the one although their people are in the other.
    rows: u64,
}

/// The names that have moved away from people of this list; none where `--again` says that these
/// are to be called again. Rows are read only if a name meant another campaign in the last run that
/// used it, or in the last one of this list: another list may have used the name since then.
pub async fn moved_names(
    ledger: &Ledger,
    rules: MemoryRules,
    settings: &ImportSettings,
    intake: &Intake,
    book: &CampaignBook,
) -> Result<Vec<MovedName>, Failure> {
    let ids = book.ids();
    if is_again(settings) || ids.is_empty() {
        return Ok(Vec::new());
    }
    let used = ledger.campaigns_named(rules.service)?;
    let has_moved = |(_, name, before): &(RunId, String, CampaignId)| {
        ids.get(name.as_str()).is_some_and(|now| *now != before.0)
    };
    if !used.iter().any(has_moved) {
        return Ok(Vec::new());
    }
    let fingerprints = inputs::fingerprints(intake).await?;
    let contents = fingerprints.iter().map(|list| list.sha256);
    let lists: Vec<_> = inputs::places(intake).zip(contents).collect();
    let of_list = ledger.senders_of(rules.service, &lists)?;
    let by_list = used.iter().filter(|(run, ..)| of_list.contains(run));
    let meant = [meanings(used.iter()), meanings(by_list)];
    let mut moved = Vec::new();
    for (name, now) in ids {
        let before = meant.iter().filter_map(|meant| meant.get(name));
        let before: BTreeSet<&CampaignId> = before.filter(|before| before.0 != now).collect();
        moved.extend(before.into_iter().map(|before| MovedName {
            name: name.to_owned(),
            now: CampaignId(now),
            before: *before,
            rows: 0,
        }));
    }
    if !moved.is_empty() {
        count(&mut moved, ledger, rules, intake, book).await?;
    }
    moved.retain(|name| name.rows > 0);
    Ok(moved)
}

/// What each name meant when it was used last.
fn meanings<'u>(
    used: impl Iterator<Item = &'u (RunId, String, CampaignId)>,
) -> HashMap<&'u str, CampaignId> {
    used.map(|(_, name, id)| (name.as_str(), *id)).collect()
}

/// What these names meant in earlier runs, where that differs from now.
pub(super) fn earlier_ids<'u>(
    used: &'u [(RunId, String, CampaignId)],
    now: &BTreeMap<&str, i64>,
) -> BTreeSet<BTreeMap<&'u str, i64>> {
    let mut of_runs: HashMap<RunId, BTreeMap<&str, i64>> = HashMap::new();
    for (run, name, id) in used
        .iter()
        .filter(|(_, name, _)| now.contains_key(name.as_str()))
    {
        of_runs.entry(*run).or_default().insert(name, id.0);
    }
    let others = of_runs.into_values();
    others
        .filter(|ids| ids.len() == now.len() && ids != now)
        .collect()
}

/// Counts the rows that would be sent and are settled in the campaign of before.
async fn count(
    moved: &mut [MovedName],
    ledger: &Ledger,
    rules: MemoryRules,
    intake: &Intake,
    book: &CampaignBook,
) -> Result<(), Failure> {
    let memory = Memory::new(ledger.recall_all(rules.service)?, rules);
    let recall = ledger.recall_all(rules.service)?;
    let mut batches = intake.start(book.clone(), Purpose::Checking, Some(memory));
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        let ready = batch.prepared.iter().filter(|row| row.outcome.is_none());
        let ready = ready.filter_map(|row| row.phone.zip(row.campaign));
        let ready: Vec<_> = ready.collect();
        let numbers = ready.iter().map(|(number, _)| *number).collect();
        let look = recall.look(rules.service, None, numbers)?;
        for (number, campaign) in ready {
            for name in moved.iter_mut().filter(|name| name.now == campaign) {
                let known = look.find(number, Scope::Campaign(name.before));
                name.rows += u64::from(known.settled.is_some());
            }
        }
    }
    Ok(())
}

/// What the user has to agree to, if names have moved.
pub(super) fn concern(moved: &[MovedName]) -> Option<Concern> {
    let what = MovedName::all_in_words(moved)?;
    let message = message!(
        "{what}; these people would be called a second time",
        "{`leadload campaigns` lists the campaigns|look whether that is the campaign you mean}; to call these people again, {use `--again` or name the campaign by its id|tick that below}",
        what
    );
    Some(Concern {
        failure: sent_before(message),
        question: "Call these people again?",
    })
}

impl MovedName {
    /// What has moved where, and how many leads of the list the campaigns of before have.
    pub fn all_in_words(moved: &[MovedName]) -> Option<Text> {
        let each = moved.iter().map(|moved| {
            text!(
                "the campaign `{name}` is {now} now and was {before} before, which has {leads:lead} of this list",
                name = shown_name(&moved.name),
                now = moved.now.to_string(),
                before = moved.before.to_string(),
                leads = moved.rows
            )
        });
        each.reduce(|all, next| text!("{all}; {next}", all, next))
    }
}
