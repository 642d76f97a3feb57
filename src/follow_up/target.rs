//! The run that something is done about, and the service that has its leads.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::Client;
use crate::campaign::Campaign;
use crate::exit::{Failure, StoppedBy};
use crate::import::{Turn, campaign_list, pace, service};
use crate::lead::{CampaignId, RunId};
use crate::ledger::{Ledger, LedgerPlace, RunRecord, SenderLock, ServiceId};
use crate::open_files;
use crate::pipeline::PacedClient;
use crate::settings::{FollowUpSettings, Service};

/// Which run, and how the service is reached.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub ledger: LedgerPlace,
    pub run: RunId,
    /// What the ledger calls the service.
    pub address: String,
    pub settings: FollowUpSettings,
    /// Whether nothing is done, so that the ledger is not changed either.
    pub is_dry_run: bool,
}

/// A run while it is not sent, and its own service. With a ledger in a file, nothing else is sent to
/// the service meanwhile.
pub struct Target {
    pub run: RunRecord,
    pub client: PacedClient,
    /// The campaigns that the token's account has.
    pub campaigns: Vec<Campaign>,
    /// Whether the run was sent with this token, so that its leads are certainly in this account.
    pub is_own_token: bool,
    /// What the token is known by.
    pub token: Arc<str>,
    pub is_dry_run: bool,
    /// Rows of a process that was cut off whose requests may still be on their way.
    pub on_their_way: u64,
    _lock: Option<SenderLock>,
    /// It runs until this is dropped, if it is the service.
    _reached: service::ConnectedService,
}

impl Target {
    /// Finds the run, and makes sure that the service is its own. Asks the service for its campaigns.
    ///
    /// # Errors
    ///
    /// [`StoppedBy::Usage`] if there is no such run, or it was sent to another service;
    /// [`StoppedBy::Busy`] if it is being sent; [`StoppedBy::Disk`] if too few files may be open;
    /// what the service or the ledger has against it.
    pub async fn open(wanted: Wanted) -> Result<Target, Failure> {
        let Wanted {
            ledger: place,
            run,
            address,
            settings,
            is_dry_run,
        } = wanted;
        let FollowUpSettings {
            service: named,
            rate,
            timeout,
        } = settings;
        let most = open_files::requests_that_fit(1, matches!(named, Service::Sandbox))?;
        let opening = service::on_a_thread(move || open(&place, run, &address, is_dry_run));
        let (record, ledger, service, lock) = opening.await?;
        let mut ledger = Turn::at_once(busy).wait_for_run(ledger, run).await?;
        let expiring = service::on_a_thread(move || -> Result<_, Failure> {
            let on_their_way = match is_dry_run {
                true => 0,
                false => ledger.expire_claims(run)?,
            };
            let rate = pace(&ledger, service, &rate)?;
            // Until its lease was given up, its process may have gone on.
            let now = ledger.runs()?.into_iter().find(|known| known.run == run);
            Ok((ledger, now.unwrap_or(record), on_their_way, rate))
        });
        let (ledger, record, on_their_way, rate) = expiring.await?;
        let reached = service::reach(&named, timeout).await?;
        let client: Client = reached.client.clone();
        let campaigns = campaign_list::listed(&client).await?;
        let token = client.token_fingerprint();
        Ok(Target {
            is_own_token: record.was_sent_with(&token),
            token,
            client: PacedClient::new(client, ledger, (!is_dry_run).then_some(service), rate, most),
            run: record,
            campaigns,
            is_dry_run,
            on_their_way,
            _lock: lock,
            _reached: reached,
        })
    }

    /// Makes sure that the account has all these campaigns.
    pub fn refuse_other_account(&self, used: &BTreeSet<CampaignId>) -> Result<(), Failure> {
        let has = |id: &CampaignId| {
            let mut listed = self.campaigns.iter();
            listed.any(|campaign| campaign.lead_campaign() == Ok(*id))
        };
        match used.iter().find(|id| !has(id)) {
            None => Ok(()),
            Some(id) => Err(self.other_account(&format!(
                "the account of this token has no campaign {id}, to which run {} has sent",
                self.run.run
            ))),
        }
    }

    /// The failure if the token is probably that of another account.
    pub fn other_account(&self, what: &str) -> Failure {
        Failure::usage(message!(
            "{{what}|these leads seem to be those of another account}, so nothing was removed or changed",
            "{use the token that the run was sent with: `--token-file`, or the run's profile; if it no longer works, use the service's own screens: `leadload runs export RUN --results FILE` writes the lead ids|check the access token under {--token-file}: it must be that of the account that the list was sent with}",
            what
        ))
    }

    /// The name of a campaign, as the service has it now.
    pub fn campaign_name(&self, id: CampaignId) -> Option<&str> {
        let mut listed = self.campaigns.iter();
        let found = listed.find(|campaign| campaign.lead_campaign() == Ok(id));
        found.map(|campaign| campaign.name.as_str())
    }
}

type Opened = (RunRecord, Ledger, ServiceId, Option<SenderLock>);

/// Opens the ledger and takes the right to send, without waiting for it. What a killed start has left
/// is cleaned up, as a start of the run would. A dry run changes nothing, so it needs no such right.
fn open(
    place: &LedgerPlace,
    run: RunId,
    address: &str,
    is_dry_run: bool,
) -> Result<Opened, Failure> {
    let none = || {
        Failure::usage(message!(
            "{there is no run {run} in the ledger `{place}`|leadload does not know this list any more}",
            "{`leadload runs` lists them|look at “History”}",
            run = run.0,
            place = place.to_string()
        ))
    };
    let mut ledger = match is_dry_run {
        true => Ledger::read(place)?.ok_or_else(none)?,
        false => Ledger::open(place)?,
    };
    let found = ledger.runs()?.into_iter().find(|found| found.run == run);
    let record = found.ok_or_else(none)?;
    if record.service != address {
        return Err(Failure::usage(message!(
            "{run {run}|this list} was sent to {service}, {and not to {address}, so nothing was removed or changed|which is another service}",
            "{name the run's own service with `--base-url`, or its profile with `--profile`|open the page with that service, and {again}}",
            run = run.0,
            service = record.service,
            address
        )));
    }
    let service = ledger.service(address)?;
    let lock = match is_dry_run {
        true => None,
        false => ledger.try_lock_sender(service)?,
    };
    // On a server a process that was killed is at work until its lease runs out, which is awaited.
    let is_busy = match (is_dry_run, place) {
        (true, LedgerPlace::File(_)) => record.is_at_work,
        (true, LedgerPlace::Server(_)) => false,
        (false, _) => lock.is_none(),
    };
    if is_busy {
        return Err(busy(ledger.who_sends(service)?));
    }
    if !is_dry_run {
        ledger.recover(service)?;
    }
    Ok((record, ledger, service, lock))
}

pub(super) fn busy(who: String) -> Failure {
    let message = message!(
        "{{who}|a list is being sent to this service}",
        "stop it{ (Ctrl-C)|,} or wait until it has ended, then {again}",
        who
    );
    Failure::new(StoppedBy::Busy, message)
}
