//! What earlier runs did, read from the ledger without changing it.

use std::collections::HashMap;

use super::service;
use crate::exit::Failure;
use crate::intake::{Memory, MemoryRules};
use crate::lead::{CampaignId, RunId};
use crate::ledger::{Ledger, LedgerError, ServiceId};
use crate::rate::KnownRate;
use crate::settings::ImportSettings;

/// What the ledger knows; empty if there is no ledger or it does not know the service.
#[derive(Default)]
pub struct Remembered {
    pub memory: Option<Memory>,
    /// What campaign names meant in the last run that used them.
    pub campaign_ids: HashMap<String, CampaignId>,
    pub known_rate: Option<KnownRate>,
    /// The ledger itself, open for reading, and the rules for looking rows up in it.
    pub ledger: Option<(Ledger, MemoryRules)>,
}

/// Reads the ledger without changing it.
pub async fn remember(settings: &ImportSettings) -> Result<Remembered, Failure> {
    let settings = settings.clone();
    let reading = service::on_a_thread(move || -> Result<_, LedgerError> {
        let name = &settings.service;
        let place = settings.ledger.as_ref().filter(|_| !name.is_empty());
        let Some(ledger) = place.map(Ledger::read).transpose()?.flatten() else {
            return Ok(Remembered::default());
        };
        let Some(service) = ledger.known_service(name)? else {
            return Ok(Remembered::default());
        };
        let rules = memory_rules(&settings, service, None, false);
        let named = ledger.campaigns_named(service)?.into_iter();
        Ok(Remembered {
            // A run may be in progress or have been killed, so its unfiled rows are needed too.
            memory: Some(Memory::new(ledger.recall_all(service)?, rules)),
            campaign_ids: named.map(|(_, name, id)| (name, id)).collect(),
            known_rate: ledger.known_rate(service)?,
            ledger: Some((ledger, rules)),
        })
    });
    reading.await
}

/// The rules for looking rows up in earlier runs. A run that
/// continues tells its own rows from those of other runs.
pub fn memory_rules(
    settings: &ImportSettings,
    service: ServiceId,
    run: Option<RunId>,
    goes_on: bool,
) -> MemoryRules {
    MemoryRules {
        service,
        run,
        goes_on,
        once: settings.reading.once,
        on_uncertain: settings.policy.on_uncertain,
        known_bad: settings.reading.known_bad,
        allow_duplicates: settings.policy.form.allow_duplicates,
    }
}
