//! The ledger of an import, its run, and the right to send.

use std::cell::Cell;
use std::time::Duration;

use serde_json::{Value, json};
use tracing::warn;

use super::moved_names::{MovedName, earlier_ids, moved_names};
use super::rejects::columns_digest;
use super::remembered::memory_rules;
use super::{identity, inputs, service};
use crate::campaign::CampaignBook;
use crate::clock;
use crate::exit::{Failure, StoppedBy};
use crate::intake::{Intake, Memory, MemoryRules, OnUncertain, Once, PlannedInput};
use crate::lead::{ErrorCode, RunId};
use crate::ledger::{
    AskedPause, AtWork, Begun, ClaimScope, Ending, InputRecord, LatestRun, Ledger, LedgerError,
    LedgerPlace, ListRecord, NewRun, NotBegun, Predecessors, SenderLock, Sending, ServiceId,
};
use crate::mapping::{ColumnChoice, MarkKind};
use crate::message::Message;
use crate::options::{Declaration, Given, Options};
use crate::pipeline::{End, RateController};
use crate::rate::{KnownRate, RateChoice};
use crate::report::{Ended, Width, difference_lines, stop_text};
use crate::results::{KnownOutputs, OutputPaths};
use crate::settings::ImportSettings;
use crate::source::Fingerprint;
use crate::stop::{Stop, StopReason};

/// How often to look whether a run that is waited for has ended.
const ASK_AGAIN: Duration = Duration::from_millis(250);

/// The same for a lease that is about to run out.
const SOON: Duration = Duration::from_millis(10);

/// A shorter wait is not told.
const NOTICEABLE: Duration = Duration::from_secs(2);

/// The ledger of an import, whose process may send to the service.
pub struct Record {
    pub ledger: Ledger,
    service: ServiceId,
    /// Released when the import ends, however it ends.
    lock: SenderLock,
    /// Whether it was said that another run is waited for.
    has_waited: Cell<bool>,
}

/// A run that is ready to begin or continue: nothing about it is in the ledger yet.
pub struct PlannedRun {
    record: Record,
    new: NewRun,
    pub predecessors: Predecessors,
}

pub struct Run {
    pub begun: Begun,
    _lock: SenderLock,
}

/// What a run that has begun needs for sending.
pub struct RunLedger {
    pub ledger: Ledger,
    /// What earlier runs did with the rows, for the thread that prepares rows.
    pub memory: Memory,
    pub pace: RateController,
}

impl Record {
    /// Opens the ledger and takes the right to send to the service, which may
    /// mean waiting for another run. `None` if the settings name no ledger.
    pub async fn open(settings: &ImportSettings) -> Result<Option<Record>, Failure> {
        let Some(place) = &settings.ledger else {
            return Ok(None);
        };
        let (place, address) = (place.clone(), settings.service.clone());
        let opening = service::on_a_thread(move || -> Result<_, Failure> {
            warn_of_network(&place);
            let mut ledger = Ledger::open(&place)?;
            let service = ledger.service(&address)?;
            Ok((ledger, service))
        });
        let (ledger, service) = opening.await?;
        let has_waited = Cell::new(false);
        let lock = loop {
            match ledger.try_lock_sender(service)? {
                Some(lock) => break lock,
                None => wait_a_moment(&ledger.who_sends(service)?, settings, &has_waited).await?,
            }
        };
        let mut record = Record {
            ledger,
            service,
            lock,
            has_waited,
        };
        // With a ledger in a file no other process can be sending: open claims were left by a crash.
        let recovering = service::on_a_thread(move || -> Result<_, Failure> {
            record.ledger.recover(service)?;
            Ok(record)
        });
        recovering.await.map(Some)
    }

    /// The files that leadload has written at the paths of the outputs.
    pub fn known_outputs(&self, paths: &OutputPaths) -> Result<KnownOutputs, Failure> {
        let places: Vec<_> = paths.places().into_iter().map(|(place, _)| place).collect();
        Ok(KnownOutputs::new(self.ledger.outputs_at(&places)?))
    }

    /// Waits a moment for a run that writes the same files, if that is wanted. Otherwise fails,
    /// and says who is at it.
    pub async fn await_outputs(
        &self,
        settings: &ImportSettings,
        taken: Failure,
    ) -> Result<(), Failure> {
        match self.ledger.at_work(self.service)? {
            Some(at_work) => wait_a_moment(&at_work.to_string(), settings, &self.has_waited).await,
            None => Err(taken),
        }
    }

    /// Waits as long as the service has asked an earlier start to.
    pub async fn await_pause(&self, settings: &ImportSettings) -> Result<(), Failure> {
        if let Some(pause) = asked_pause(&self.ledger, self.service, settings)? {
            let left = pause.left(clock::now()).unwrap_or_default();
            let (status, seconds) = (pause.http_status, left.as_secs_f64().ceil());
            warn!(
                event = "waiting",
                "the service has asked to wait (HTTP {status}); going on in {seconds:.0} s"
            );
            clock::wait(left).await;
        }
        Ok(())
    }

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
        let (record, predecessors) = self.find_predecessors(&new, settings).await?;
        new.expected = predecessors.latest;
        if form.allow_duplicates && !is_again(settings) {
            record.refuse_what_was_sent(&new, predecessors.latest.going_on, paths)?;
        }
        Ok(PlannedRun {
            record,
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

    /// Which run would go on, when no other process is at it.
    async fn find_predecessors(
        mut self,
        new: &NewRun,
        settings: &ImportSettings,
    ) -> Result<(Record, Predecessors), Failure> {
        loop {
            let found = self.ledger.predecessors(new)?;
            if let Some(run) = found.latest.undone.filter(|_| !is_again(settings)) {
                return Err(undone(run));
            }
            let Some(run) = found.latest.going_on else {
                return Ok((self, found));
            };
            self = self.await_turn(run, settings).await?;
            // It may be complete by now.
            if self.ledger.predecessors(new)?.latest.going_on == Some(run) {
                return Ok((self, found));
            }
        }
    }

    /// Waits until no other process is at this run, or fails and says which one is.
    async fn await_turn(self, run: RunId, settings: &ImportSettings) -> Result<Record, Failure> {
        let has_waited = &self.has_waited;
        let busy = async |at_work: &AtWork| {
            wait_a_moment(&at_work.to_string(), settings, has_waited).await
        };
        let ledger = await_turn(self.ledger, run, busy).await?;
        Ok(Record { ledger, ..self })
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
        let message = Message::new(
            format!(
                "{what}; with duplicates allowed, they would be created and called a second time"
            ),
            format!(
                "leave out `--allow-duplicates`, or `allow_duplicates` of the profile, to send only what is new; `--again` sends everything again; {more}"
            ),
        );
        let on_page = message.on_page(
            "This list may have been sent before, and on this computer people are sent again who are in the campaign: they would be called a second time",
            "Look at “History”. Or ask the person who set up leadload on this computer.",
        );
        Err(Failure::new(StoppedBy::Usage, on_page))
    }
}

impl PlannedRun {
    /// What identifies the run, and its time-out.
    pub fn options(&self) -> &Value {
        &self.new.options
    }

    /// What differs from an unfinished run of the same inputs; empty if there is none.
    pub fn difference_lines(&self, width: Width) -> String {
        let Some(other) = &self.predecessors.other else {
            return String::new();
        };
        let there = other.options.as_ref();
        let differences = there.map(|there| identity::differences(there, self.options()));
        difference_lines(other, &differences.unwrap_or_default(), width)
    }

    /// What earlier runs did with the rows, as the run will know it when it begins.
    pub fn memory(&self, settings: &ImportSettings) -> Result<Memory, Failure> {
        let recall = self.record.ledger.recall()?;
        Ok(Memory::new(recall, self.rules(settings)))
    }

    fn rules(&self, settings: &ImportSettings) -> MemoryRules {
        let going_on = self.predecessors.latest.going_on;
        memory_rules(settings, self.record.service, going_on, going_on.is_some())
    }

    /// The campaign names that mean others than before, if people would be sent to both.
    pub(super) async fn moved_names(
        &self,
        settings: &ImportSettings,
        intake: &Intake,
        book: &CampaignBook,
    ) -> Result<Vec<MovedName>, Failure> {
        let rules = self.rules(settings);
        moved_names(&self.record.ledger, rules, settings, intake, book).await
    }

    /// The rate that earlier runs have learned the service accepts.
    pub fn known_rate(&self) -> Result<Option<KnownRate>, Failure> {
        Ok(self.record.ledger.known_rate(self.record.service)?)
    }

    /// Begins or continues the run. Everything else that may
    /// fail because of the ledger is done before that.
    pub async fn begin(mut self, settings: &ImportSettings) -> Result<(Run, RunLedger), Failure> {
        let service = self.record.service;
        let recall = self.record.ledger.recall()?;
        let pace = pace(&mut self.record.ledger, service, &settings.rate)?;
        self.new.sending.limits = pace.limits().to_vec();
        let begun = loop {
            match self.record.ledger.begin(&self.new, clock::now())? {
                Ok(begun) => break begun,
                // Whether the list may be sent once more was found out for another state.
                Err(NotBegun::Changed) if self.new.sending.claims == ClaimScope::Row => {
                    return Err(busy(
                        "another process has sent this list meanwhile".to_owned(),
                    ));
                }
                Err(NotBegun::Changed) => {}
                Err(NotBegun::Busy(by)) => {
                    self.record = self.record.await_turn(by.run, settings).await?;
                }
            }
            let (record, found) = self.record.find_predecessors(&self.new, settings).await?;
            self.record = record;
            self.new.expected = found.latest;
        };
        let Record { ledger, lock, .. } = self.record;
        let rules = memory_rules(settings, service, Some(begun.run), begun.continues);
        let of_run = RunLedger {
            memory: Memory::new(recall, rules),
            ledger,
            pace,
        };
        Ok((Run { begun, _lock: lock }, of_run))
    }
}

/// The pace for a service, given what earlier starts have learned about it and used up.
pub fn pace(
    ledger: &mut Ledger,
    service: ServiceId,
    rate: &RateChoice,
) -> Result<RateController, LedgerError> {
    let now = clock::now();
    let recent = ledger.recent_use(service, now)?;
    Ok(RateController::new(rate, ledger.known_rate(service)?).after(&recent, now))
}

/// The wait that the service has asked an earlier start for, if it is not over. One that is longer
/// than `--max-outage` is refused.
pub fn asked_pause(
    ledger: &Ledger,
    service: ServiceId,
    settings: &ImportSettings,
) -> Result<Option<AskedPause>, Failure> {
    let now = clock::now();
    let asked = ledger.recent_use(service, now)?.pause;
    let left = |pause: &AskedPause| pause.left(now);
    let asked = asked.filter(|pause| left(pause).is_some());
    let is_longer = |pause: &AskedPause| left(pause) > Some(settings.policy.max_outage);
    let Some(pause) = asked.filter(is_longer) else {
        return Ok(asked);
    };
    let stop = Stop::new(StopReason::AskedToWait {
        until: pause.until(),
        why: ErrorCode::Http(pause.http_status),
    });
    Err(Failure::new(stop.by(), stop_text(&stop)))
}

/// Warns if the ledger is on a network file system: without
/// reliable locks two runs could send the same leads.
fn warn_of_network(place: &LedgerPlace) {
    if let Some(kind) = place.network_file_system() {
        warn!(
            event = "warning",
            "the ledger `{place}` is on a network file system ({kind}), where locks and write-ahead logs are not reliable: two runs might send the same leads, or the ledger might be damaged; put it on a local disk"
        );
    }
}

/// Waits until no process has a lease of the run: that of one that was killed runs out. While one is
/// at it, `busy` waits a moment or fails.
pub async fn await_turn(
    mut ledger: Ledger,
    run: RunId,
    busy: impl AsyncFn(&AtWork) -> Result<(), Failure>,
) -> Result<Ledger, Failure> {
    let mut first = None;
    loop {
        let looking = service::on_a_thread(move || -> Result<_, Failure> {
            let lease = ledger.lease_of(run)?;
            Ok((ledger, lease))
        });
        let (looked_at, lease) = looking.await?;
        ledger = looked_at;
        let Some(lease) = lease else {
            return Ok(ledger);
        };
        if first.is_none() && lease.left >= NOTICEABLE {
            let (by, wait_s) = (&lease.at_work.by, lease.left.as_secs_f64());
            warn!(
                event = "waiting",
                wait_s,
                "an earlier start of this run has not ended ({by}); waiting {:.0} s at most to see if it still sends",
                wait_s.ceil()
            );
        }
        // One that ends at another time was renewed, so its process lives.
        if *first.get_or_insert(lease.until) == lease.until {
            tokio::time::sleep(lease.left.clamp(SOON, ASK_AGAIN)).await;
        } else {
            busy(&lease.at_work).await?;
        }
    }
}

/// Waits a moment for another process, if that is wanted. Otherwise fails, and says who is at it.
/// Nothing is taken meanwhile, so a wait that is cancelled leaves nothing behind.
async fn wait_a_moment(
    at_work: &str,
    settings: &ImportSettings,
    has_waited: &Cell<bool>,
) -> Result<(), Failure> {
    if settings.options.delivery.wait != Some(true) {
        return Err(busy(at_work.to_owned()));
    }
    if !has_waited.replace(true) {
        warn!(event = "waiting", "{at_work}; waiting until it has ended");
    }
    tokio::time::sleep(ASK_AGAIN).await;
    Ok(())
}

/// Whether what was sent, or undone, is to be sent once more.
pub(super) fn is_again(settings: &ImportSettings) -> bool {
    settings.options.delivery.again == Some(true)
}

/// People who were sent before, and whom a nightly job must not send once more; `--again` does.
#[derive(Debug, thiserror::Error)]
#[error("these people were sent before")]
pub struct SentBefore;

pub(super) fn sent_before(message: Message) -> Failure {
    let error = anyhow::Error::new(SentBefore).context(message);
    Failure::new(StoppedBy::Usage, error)
}

fn undone(run: RunId) -> Failure {
    let message = Message::new(
        format!("run {run} has sent these inputs, and was undone, so nothing was sent"),
        format!(
            "to send them once more, use `--again`; `leadload runs show {run}` shows what became of its leads"
        ),
    );
    let message = message.on_page(
        "This list was sent with the same settings, and its leads were removed again",
        "Look whether it is the right list. To send it once more, tick that below.",
    );
    sent_before(message)
}

fn busy(who: String) -> Failure {
    let hint = "wait until it has ended, or let leadload wait with `--wait`";
    let message = Message::new(who, hint).on_page(
        "Another leadload is sending a list",
        "Wait until it has ended, then try again.",
    );
    Failure::new(StoppedBy::Busy, message)
}

impl Run {
    /// Records that this start has ended before anything was sent. If that fails too, it looks as
    /// if it had been killed.
    pub fn end_unsent(&self, ledger: &mut Ledger, why: &Failure) {
        let ending = Ending {
            exit_code: why.stopped_by.exit_code() as u8,
            stopped_by: Some(why.stopped_by.as_str()),
            ..Ending::default()
        };
        ledger.lease().end(false);
        let _ = ledger.end(self.begun.run, self.begun.start, &ending, clock::now());
    }

    /// Records how this start of the run has ended.
    pub fn end(
        &self,
        ledger: &mut Ledger,
        ended: &Ended<'_>,
        end: &End,
    ) -> Result<(), LedgerError> {
        let is_complete = ended.stop.is_none();
        let rows = ended.tally.rows_by_file.iter();
        let ending = Ending {
            exit_code: ended.exit_code as u8,
            stopped_by: ended.stop.as_ref().map(|stop| stop.by().as_str()),
            requests: ended.requests,
            complete: is_complete,
            input_rows: rows.map(|rows| is_complete.then_some(*rows)).collect(),
            counts: ended.tally.counts,
            last_read: end.last_read.0,
            has_rejects: ended.written.has_all_rejects,
            tried_again: &end.tried_again,
        };
        ledger.end(self.begun.run, self.begun.start, &ending, clock::now())
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
