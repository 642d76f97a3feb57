//! What an import keeps of itself: its ledger, its run, and the right to send.

use anyhow::anyhow;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::identity;
use crate::campaign::CampaignBook;
use crate::cli::ImportArgs;
use crate::commands::rejects::columns_digest;
use crate::commands::{inputs, service};
use crate::exit::{Failure, OrStopped, Stop, StoppedBy};
use crate::intake::{Intake, Memory, MemoryRules, OnUncertain};
use crate::ledger::{
    Begun, Ending, InputRecord, Ledger, LedgerError, ListRecord, NewRun, Recall, SenderLock,
    ServiceId,
};
use crate::rate::KnownRate;
use crate::report::Tally;
use crate::results::{KnownOutputs, OutputPaths};
use crate::settings::{ImportSettings, LedgerChoice, RunDefaults};
use crate::signals::Interrupts;
use crate::source::Fingerprint;

/// The ledger of an import, held by its only sender.
pub(super) struct Record {
    pub(super) ledger: Ledger,
    service: ServiceId,
    /// Freed when the import ends, however it ends.
    lock: SenderLock,
}

/// A run that has begun.
pub(super) struct Run {
    pub(super) begun: Begun,
    /// What it is known by.
    pub(super) options: Map<String, Value>,
    service: ServiceId,
    _lock: SenderLock,
}

impl Record {
    /// Opens the ledger and takes the right to send to the service, which may have to be
    /// waited for; nothing where none is kept.
    pub(super) async fn open(
        settings: &ImportSettings,
        interrupts: &mut Interrupts,
    ) -> Result<Option<Record>, Failure> {
        let LedgerChoice::File(path) = &settings.ledger else {
            return Ok(None);
        };
        let (path, address, wait) = (path.clone(), settings.service.to_string(), settings.wait);
        let opening = service::on_a_thread(move || {
            let mut ledger = Ledger::open(&path).or_stopped(StoppedBy::Usage)?;
            let service = ledger.service(&address).or_stopped(StoppedBy::Usage)?;
            let lock = take_lock(&ledger, service, wait)?;
            // Nobody else can be sending: claims that are open were left by a crash.
            ledger.recover(service).or_stopped(StoppedBy::Usage)?;
            Ok(Record {
                ledger,
                service,
                lock,
            })
        });
        let opened = service::unless(interrupts, async {
            let broke_off = || Err(LedgerError::BrokeOff).or_stopped(StoppedBy::Usage);
            opening.await.unwrap_or_else(broke_off)
        });
        opened.await.map(Some)
    }

    /// What leadload has written in the places of the outputs.
    pub(super) fn known_outputs(&self, paths: &OutputPaths) -> Result<KnownOutputs, Failure> {
        let places: Vec<_> = paths.places().into_iter().map(|(place, _)| place).collect();
        let records = self.ledger.outputs_at(&places);
        Ok(KnownOutputs::new(records.or_stopped(StoppedBy::Usage)?))
    }

    /// Begins the run, or goes on with it.
    pub(super) async fn begin(
        mut self,
        args: &ImportArgs,
        settings: &ImportSettings,
        intake: &Intake,
        book: &CampaignBook,
        paths: &OutputPaths,
    ) -> Result<(Run, Ledger), Failure> {
        let fingerprints = inputs::fingerprints(intake).await?;
        let service = settings.service.to_string();
        let form = settings.policy.form;
        let options = identity::options(&service, &settings.reading, form, intake, book);
        let new = NewRun {
            service: self.service,
            identity: identity::identity(&options, &fingerprints),
            options: Value::Object(options.clone()),
            defaults: defaults(args, intake),
            reopens: form.allow_duplicates && settings.policy.on_uncertain == OnUncertain::Resend,
            inputs: input_records(intake, &fingerprints),
            lists: list_records(intake),
            outputs: paths.places(),
        };
        if form.allow_duplicates && !settings.again {
            self.refuse_what_was_sent(&new)?;
        }
        let begun = self.ledger.begin(&new, Timestamp::now());
        let run = Run {
            begun: begun.or_stopped(StoppedBy::Usage)?,
            options,
            service: self.service,
            _lock: self.lock,
        };
        Ok((run, self.ledger))
    }

    /// With duplicates allowed nothing but this keeps a list from being called twice.
    fn refuse_what_was_sent(&self, new: &NewRun) -> Result<(), Failure> {
        let going_on = self
            .ledger
            .going_on(self.service, &new.identity, new.reopens);
        if going_on.or_stopped(StoppedBy::Usage)?.is_some() {
            return Ok(());
        }
        let inputs = new.inputs.iter();
        let inputs: Vec<_> = inputs.map(|i| (i.path.clone(), i.sha256)).collect();
        let senders = self.ledger.senders_of(self.service, &inputs);
        match senders.or_stopped(StoppedBy::Usage)?.last() {
            None => Ok(()),
            Some(run) => Err(Failure::new(
                StoppedBy::Usage,
                anyhow!(
                    "run {run} has sent leads from these inputs, and with `--allow-duplicates` they would be made, and called, again\n\nhint: leave `--allow-duplicates` out to send only what is new; `--again` sends everything again; `leadload runs show {run}` tells what was sent"
                ),
            )),
        }
    }
}

/// The lock, or who has it.
fn take_lock(ledger: &Ledger, service: ServiceId, wait: bool) -> Result<SenderLock, Failure> {
    let taken = SenderLock::try_take(ledger.path(), service).or_stopped(StoppedBy::Usage)?;
    if let Some(lock) = taken {
        return Ok(lock);
    }
    let at_work = ledger.at_work(service).or_stopped(StoppedBy::Usage)?;
    let who = match at_work {
        Some(at_work) => at_work.to_string(),
        None => "another run is about to be sent".to_owned(),
    };
    if wait {
        tracing::warn!("{who}; waiting until it has ended");
        return SenderLock::take(ledger.path(), service).or_stopped(StoppedBy::Usage);
    }
    let error =
        anyhow!("{who}\n\nhint: wait until it has ended, or let leadload wait with `--wait`");
    Err(Failure::new(StoppedBy::Busy, error))
}

impl Run {
    /// What an unfinished run of the same inputs has otherwise: name, there, here.
    pub(super) fn differences(&self) -> Vec<(&str, &Value, &Value)> {
        let other = self.begun.other.as_ref().filter(|_| !self.begun.continues);
        let options = other.and_then(|other| other.options.as_ref());
        options.map_or_else(Vec::new, |there| {
            identity::differences(there, &self.options)
        })
    }

    /// What earlier runs have made of the rows, for the thread that prepares them.
    pub(super) fn memory(
        &self,
        settings: &ImportSettings,
        ledger: &Ledger,
    ) -> Result<Memory, Failure> {
        let recall = Recall::open(ledger.path()).or_stopped(StoppedBy::Usage)?;
        let broke_off = || Err(LedgerError::BrokeOff).or_stopped(StoppedBy::Usage);
        let recall = recall.map_or_else(broke_off, Ok)?;
        Ok(Memory::new(
            recall,
            MemoryRules {
                service: self.service,
                run: Some(self.begun.run),
                goes_on: self.begun.continues,
                once: settings.reading.once,
                on_uncertain: settings.policy.on_uncertain,
                known_bad: settings.reading.known_bad,
                allow_duplicates: settings.policy.form.allow_duplicates,
            },
        ))
    }

    /// What earlier runs have learned of the pace that the service takes.
    pub(super) fn known_rate(&self, ledger: &Ledger) -> Result<Option<KnownRate>, Failure> {
        ledger.known_rate(self.service).or_stopped(StoppedBy::Usage)
    }

    /// Writes down how the run has ended, as far as it has.
    pub(super) fn end(
        &self,
        ledger: &mut Ledger,
        tally: &Tally,
        requests: u64,
        stop: Option<&Stop>,
    ) -> Result<(), LedgerError> {
        let is_complete = stop.is_none();
        let rows = tally.rows_by_file.iter();
        let ending = Ending {
            exit_code: super::exit_code(stop, tally) as u8,
            stopped_by: stop.map(|stop| stop.by.as_str()),
            requests,
            complete: is_complete,
            input_rows: rows.map(|rows| is_complete.then_some(*rows)).collect(),
            counts: tally.counts,
        };
        ledger.end(self.begun.run, self.begun.start, &ending, Timestamp::now())?;
        // Now there is time. What cannot be filed is, by the next run.
        let _ = ledger.file_all();
        Ok(())
    }
}

/// The flags that rejects of the run take for their defaults.
fn defaults(args: &ImportArgs, intake: &Intake) -> String {
    let mut encodings = intake
        .inputs
        .iter()
        .map(|i| i.form.text().map(|t| t.encoding));
    let first = encodings.next().flatten();
    let common = first.filter(|first| encodings.all(|other| other == Some(*first)));
    serde_json::to_string(&RunDefaults::of(args, common)).unwrap_or_default()
}

fn input_records(intake: &Intake, fingerprints: &[Fingerprint]) -> Vec<InputRecord> {
    let inputs = intake.inputs.iter().zip(fingerprints);
    inputs
        .zip(inputs::places(intake))
        .map(|((planned, fingerprint), path)| InputRecord {
            name: planned.input.name().to_owned(),
            path,
            sha256: fingerprint.sha256,
            bytes: fingerprint.bytes,
            columns: columns_digest(&planned.own_columns()),
        })
        .collect()
}

fn list_records(intake: &Intake) -> Vec<ListRecord> {
    let lists = intake.suppression.records();
    lists
        .map(|list| ListRecord {
            name: list.name.to_owned(),
            sha256: list.fingerprint.sha256,
            numbers: list.numbers as u64,
        })
        .collect()
}
