//! The run that an import begins or continues.

use serde_json::{Value, json};

use super::moved_names::{MovedName, earlier_ids, moved_names};
use super::open_ledger::{OpenLedger, busy, is_again, pace, undone};
use super::rejects::columns_digest;
use super::remembered::memory_rules;
use super::{identity, inputs};
use crate::campaign::CampaignBook;
use crate::clock;
use crate::exit::Failure;
use crate::intake::{Intake, Memory, MemoryRules, OnUncertain, Once, PlannedInput};
use crate::lead::RunId;
use crate::ledger::{
    Begun, ClaimScope, InputRecord, LatestRun, Ledger, LedgerError, ListRecord, NewRun, NotBegun,
    Predecessors, SenderLock, Sending, StartEnd,
};
use crate::mapping::{ColumnChoice, MarkKind};
use crate::options::{Declaration, Given, Options};
use crate::pipeline::{Delivery, RateController};
use crate::rate::KnownRate;
use crate::report::{Block, Outcome, differences};
use crate::results::OutputPaths;
use crate::settings::ImportSettings;
use crate::source::Fingerprint;

/// A run that is ready to begin or continue: nothing about it is in the ledger yet.
pub struct PlannedRun {
    opened: OpenLedger,
    new: NewRun,
    pub predecessors: Predecessors,
}

/// A run that has begun.
pub struct Run {
    pub begun: Begun,
    /// `None` while the run is being sent, when its end is recorded, and if the thread that works with it has
    /// died.
    pub ledger: Option<Ledger>,
    _lock: SenderLock,
}

impl OpenLedger {
    /// Works out which run this would be.
    pub async fn plan(
        self,
        settings: &ImportSettings,
        intake: &Intake,
        book: &CampaignBook,
        paths: &OutputPaths,
    ) -> Result<PlannedRun, Failure> {
        let fingerprints = inputs::fingerprints(intake).await?;
        inputs::find_blank_rows(intake).await?;
        let service = settings.service.clone();
        let form = settings.policy.form;
        // Before the options, which stay in memory: while it is made it takes as much as they do.
        let defaults = defaults(&settings.given, intake, book);
        let options = identity::options(&service, settings, intake, book);
        let mut new = NewRun {
            service: self.service,
            identity: identity::identity(&options, &fingerprints),
            options,
            defaults,
            reopens: form.allow_duplicates && settings.policy.on_uncertain == OnUncertain::Resend,
            sending: Sending {
                claims: match (form.allow_duplicates, settings.reading.once) {
                    (true, _) => ClaimScope::Row,
                    (false, Once::Campaign) => ClaimScope::Campaign,
                    (false, Once::Service) => ClaimScope::Service,
                },
                timeout: settings.timeout,
                patience: settings.policy.max_outage,
                limits: Vec::new(),
            },
            expected: LatestRun::default(),
            inputs: input_records(intake, &fingerprints),
            lists: list_records(intake),
            outputs: paths.places(),
        };
        if !is_again(settings) {
            self.refuse_undone_before(&new, &fingerprints, book)?;
        }
        let (opened, predecessors) = self.find_predecessors(&new, settings).await?;
        new.expected = predecessors.latest;
        if form.allow_duplicates && !is_again(settings) {
            opened.refuse_what_was_sent(&new, predecessors.latest.going_on, paths)?;
        }
        Ok(PlannedRun {
            opened,
            new,
            predecessors,
        })
    }

    /// Refuses a run that was undone while the names of its campaigns had other ids, unless its
    /// inputs have been sent to the present ones since then.
    fn refuse_undone_before(
        &self,
        new: &NewRun,
        inputs: &[Fingerprint],
        book: &CampaignBook,
    ) -> Result<(), Failure> {
        let now = book.ids();
        if now.is_empty() {
            return Ok(());
        }
        let used = self.ledger.campaigns_named(self.service)?;
        for ids in earlier_ids(&used, &now) {
            let mut before = new.clone();
            before.options["campaign_ids"] = json!(ids);
            before.identity = identity::identity(&before.options, inputs);
            let Some(before) = self.ledger.predecessors(&before)?.latest.undone else {
                continue;
            };
            let contents: Vec<_> = inputs.iter().map(|input| (None, input.sha256)).collect();
            let senders = self.ledger.senders_of(self.service, &contents)?;
            let mut later = used
                .iter()
                .filter(|(run, ..)| *run > before && senders.contains(run));
            if !later.any(|(_, name, id)| now.get(name.as_str()) == Some(&id.0)) {
                return Err(undone(before));
            }
        }
        Ok(())
    }

    /// With duplicates allowed, only this prevents a list from being called twice. A run that
    /// continues may do so unless a later one has sent its list meanwhile.
    fn refuse_what_was_sent(
        &self,
        new: &NewRun,
        going_on: Option<RunId>,
        paths: &OutputPaths,
    ) -> Result<(), Failure> {
        let inputs = new.inputs.iter();
        let inputs: Vec<_> = inputs.map(|i| (i.path.clone(), i.sha256)).collect();
        let senders = self.ledger.senders_of(self.service, &inputs)?;
        let sender = senders.last().filter(|run| Some(**run) > going_on);
        let unfinished = paths.unfinished().filter(|_| going_on.is_none());
        let (what, more) = match (sender, unfinished) {
            (Some(run), _) => (
                format!("run {run} may have created leads from these inputs"),
                format!("`leadload runs show {run}` shows what was sent"),
            ),
            (None, Some(left)) => (
                format!(
                    "`{}` was left by a run that the ledger does not know and that may have sent these leads",
                    left.display()
                ),
                "when you no longer need that file, move it away".to_owned(),
            ),
            (None, None) => return Ok(()),
        };
        Err(Failure::usage(message!(
            "{{what}; with duplicates allowed, they would be created and|this list may have been sent before, and on this computer people are sent again who are in the campaign: they would be} called a second time",
            "{leave out `--allow-duplicates`, or `allow_duplicates` of the profile, to send only what is new; `--again` sends everything again; {more}|look at “History”, or {ask_setup}}",
            what,
            more
        )))
    }
}

impl PlannedRun {
    /// What identifies the run, and its time-out.
    pub fn options(&self) -> &Value {
        &self.new.options
    }

    /// What differs from an unfinished run of the same inputs; empty if there is none.
    pub fn differences(&self) -> Vec<Block> {
        let Some(other) = &self.predecessors.other else {
            return Vec::new();
        };
        let there = other.options.as_ref();
        let found = there.map(|there| identity::differences(there, self.options()));
        differences(other, &found.unwrap_or_default())
    }

    /// What earlier runs did with the rows, as the run will know it when it begins.
    pub fn memory(&self, settings: &ImportSettings) -> Result<Memory, Failure> {
        let recall = self.opened.ledger.recall()?;
        Ok(Memory::new(recall, self.rules(settings)))
    }

    fn rules(&self, settings: &ImportSettings) -> MemoryRules {
        let going_on = self.predecessors.latest.going_on;
        memory_rules(settings, self.opened.service, going_on, going_on.is_some())
    }

    /// The campaign names that mean others than before, if people would be sent to both.
    pub(super) async fn moved_names(
        &self,
        settings: &ImportSettings,
        intake: &Intake,
        book: &CampaignBook,
    ) -> Result<Vec<MovedName>, Failure> {
        let rules = self.rules(settings);
        moved_names(&self.opened.ledger, rules, settings, intake, book).await
    }

    /// The rate that earlier runs have learned the service accepts.
    pub fn known_rate(&self) -> Result<Option<KnownRate>, Failure> {
        Ok(self.opened.ledger.known_rate(self.opened.service)?)
    }

    /// Begins or continues the run. Everything else that may fail because of the ledger is done before that.
    /// Also returns what earlier runs did with the rows, and the pace.
    pub async fn begin(
        mut self,
        settings: &ImportSettings,
    ) -> Result<(Run, (Memory, RateController)), Failure> {
        let service = self.opened.service;
        let recall = self.opened.ledger.recall()?;
        let pace = pace(&self.opened.ledger, service, &settings.rate)?;
        self.new.sending.limits = pace.limits().to_vec();
        let begun = loop {
            match self.opened.ledger.begin(&self.new, clock::now())? {
                Ok(begun) => break begun,
                // Whether the list may be sent once more was found out for another state.
                Err(NotBegun::Changed) if self.new.sending.claims == ClaimScope::Row => {
                    return Err(busy(
                        "another process has sent this list meanwhile".to_owned(),
                    ));
                }
                Err(NotBegun::Changed) => {}
                Err(NotBegun::Busy(by)) => {
                    self.opened = self.opened.await_turn(by.run).await?;
                }
            }
            let (opened, found) = self.opened.find_predecessors(&self.new, settings).await?;
            self.opened = opened;
            self.new.expected = found.latest;
        };
        let OpenLedger { ledger, lock, .. } = self.opened;
        let rules = memory_rules(settings, service, Some(begun.run), begun.continues);
        let run = Run {
            begun,
            ledger: Some(ledger),
            _lock: lock,
        };
        Ok((run, (Memory::new(recall, rules), pace)))
    }
}

impl Run {
    /// Records that this start has ended before anything was sent. If that fails too, it looks as
    /// if it had been killed.
    pub fn end_unsent(&mut self, why: &Failure) {
        let end = StartEnd {
            exit_code: why.stopped_by.exit_code() as u8,
            stopped_by: Some(why.stopped_by.as_str()),
            ..StartEnd::default()
        };
        if let Some(ledger) = &self.ledger {
            ledger.lease().end(false);
        }
        let _ = self.record(&end);
    }

    /// Records how this start of the run has ended.
    pub fn end(&mut self, outcome: &Outcome<'_>, delivery: &Delivery) -> Result<(), LedgerError> {
        let is_complete = outcome.stop.is_none();
        let rows = outcome.tally.rows_by_file.iter();
        let end = StartEnd {
            exit_code: outcome.exit_code as u8,
            stopped_by: outcome.stop.as_ref().map(|stop| stop.by().as_str()),
            requests: outcome.requests,
            complete: is_complete,
            input_rows: rows.map(|rows| is_complete.then_some(*rows)).collect(),
            counts: outcome.tally.counts,
            last_read: delivery.last_read.0,
            has_rejects: outcome.written.has_all_rejects,
            tried_again: &delivery.tried_again,
        };
        self.record(&end)
    }

    fn record(&mut self, end: &StartEnd<'_>) -> Result<(), LedgerError> {
        let Begun { run, start, .. } = self.begun;
        match self.ledger.take() {
            Some(mut ledger) => ledger.end(run, start, end, clock::now()),
            None => Ok(()),
        }
    }
}

/// The defaults for the run's rejects, wherever they are imported: the
/// options that were given, and the phone columns that were detected. Among
/// numbers that are mostly bad, other phone columns might be detected.
fn defaults(given: &Options, intake: &Intake, book: &CampaignBook) -> String {
    let mut handed = given.clone();
    handed.retain(Declaration::is_passed_to_rejects);
    // The name may be another campaign's when the rejects come back.
    if let Some(name) = &handed.mapping.campaign
        && let Some(id) = book.ids().get(name.as_str())
    {
        handed.mapping.campaign = Some(Given::text_of(&id.to_string()));
    }
    if handed.mapping.phone_column.is_none() {
        let mut inputs = intake.inputs.iter().map(PlannedInput::phone_column_names);
        let first = inputs.next().unwrap_or_default();
        let are_alike = inputs.all(|other| other == first);
        handed.mapping.phone_column = are_alike.then(|| Given::list_of(&first));
    }
    // For rejects, a column whose header means country is believed whatever its cells are. If
    // such a column was not used here because of its cells, it must not be used for the rejects.
    let mut inputs = intake.inputs.iter();
    if handed.phones.region_column.is_none()
        && inputs
            .all(|i| i.mapping.countries.used.is_empty() && !i.mapping.countries.vague.is_empty())
    {
        handed.phones.region_column = Some(Given::new(ColumnChoice::None, "none"));
    }
    // A profile may be another one then. Rejects without the column that was found are refused: they no
    // longer say who must not be called.
    let mapping = &mut handed.mapping;
    for (kind, column) in [
        (MarkKind::DoNotCall, &mut mapping.do_not_call_column),
        (MarkKind::Consent, &mut mapping.consent_column),
    ] {
        if column
            .as_deref()
            .is_none_or(|choice| *choice == ColumnChoice::Auto)
        {
            *column = Some(match only_mark(intake, kind) {
                Some(name) => Given::new(ColumnChoice::Named(name.to_owned()), name),
                None => Given::new(ColumnChoice::Auto, "auto"),
            });
        }
    }
    for list in handed.phones.suppress.iter_mut().flatten() {
        if let Ok(absolute) = list.absolute() {
            *list = absolute;
        }
    }
    serde_json::to_string(&handed).unwrap_or_default()
}

/// The header of the column with these marks, if all inputs have one and the same.
fn only_mark(intake: &Intake, kind: MarkKind) -> Option<&str> {
    let mut names = intake.inputs.iter().map(|input| mark_of(input, kind));
    let name = names.next()??;
    let is_plain = !name.trim().is_empty() && name.parse::<u64>().is_err();
    (is_plain && names.all(|other| other == Some(name))).then_some(name)
}

fn mark_of(input: &PlannedInput, kind: MarkKind) -> Option<&str> {
    let marks = input.mapping.marks.iter();
    let mut marks = marks.filter(|mark| mark.kind == kind);
    let mark = marks.next().filter(|_| marks.next().is_none())?;
    input.header.names.get(mark.column).map(String::as_str)
}

fn input_records(intake: &Intake, fingerprints: &[Fingerprint]) -> Vec<InputRecord> {
    let inputs = intake.inputs.iter().zip(fingerprints);
    inputs
        .zip(inputs::places(intake))
        .map(|((planned, fingerprint), path)| InputRecord {
            name: Some(planned.input.name().to_owned()),
            path,
            sha256: fingerprint.sha256,
            bytes: fingerprint.bytes,
            columns: columns_digest(&planned.own_columns()),
            rows: None,
        })
        .collect()
}

fn list_records(intake: &Intake) -> Vec<ListRecord> {
    let lists = intake.suppression.lists.iter();
    lists
        .map(|list| ListRecord {
            name: Some(list.input.name().to_owned()),
            sha256: list.fingerprint.sha256,
            numbers: list.numbers.len() as u64,
        })
        .collect()
}
