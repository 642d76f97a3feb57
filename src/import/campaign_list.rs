//! The campaigns of the service, and the ids of campaign names.

use std::collections::HashMap;
use std::time::Duration;

use tracing::warn;

use super::service;
use crate::api::{Client, ListError};
use crate::campaign::{Campaign, CampaignBook, CampaignChoice, NamesInRows};
use crate::exit::{Failure, StoppedBy};
use crate::intake::Intake;
use crate::lead::CampaignId;
use crate::report::{CampaignNames, Lookup};
use crate::settings::{ImportSettings, Service, TIMEOUT};

/// The longest wait for a list that is not essential.
const MAX_WAIT: Duration = Duration::from_secs(15);

pub struct CampaignList {
    client: Client,
    listed: Option<Vec<Campaign>>,
}

impl CampaignList {
    pub fn new(client: Client) -> CampaignList {
        CampaignList {
            client,
            listed: None,
        }
    }

    pub fn listed(&self) -> Option<&[Campaign]> {
        self.listed.as_deref()
    }

    /// The whole list, in which a campaign may be known by its name; `patience` is as in
    /// [`Client::campaigns`].
    pub async fn list(&mut self, patience: Option<Duration>) -> Result<&[Campaign], Failure> {
        let listed = self.client.campaigns(patience).await;
        let listed = listed.map_err(list_failure)?;
        Ok(self.listed.insert(listed).as_slice())
    }

    /// Requests the campaigns if they are not listed yet. Only their names are
    /// missing then: a command can do without those, but not without a valid token.
    pub async fn list_if_possible(&mut self) -> Result<(), Failure> {
        if self.listed.is_some() {
            return Ok(());
        }
        let listed = self.client.campaigns_within(MAX_WAIT, None).await;
        match listed.or_else(ListError::tolerated) {
            Ok(listed) => self.listed = Some(listed),
            Err(error @ ListError::Refused { cause, .. }) if cause.is_certain() => {
                return Err(list_failure(error));
            }
            Err(error) => warn!(
                event = "warning",
                "the service does not list its campaigns at the moment ({}), so sending may fail too",
                error.reason()
            ),
        }
        Ok(())
    }

    /// Resolves the campaign names of the rows, and of the default for
    /// rows without one. The list is requested only if there are names.
    pub async fn book(
        &mut self,
        names_in_column: &NamesInRows,
        default: Option<&CampaignChoice>,
        intake: &Intake,
        patience: Option<Duration>,
    ) -> Result<CampaignBook, Failure> {
        let mut names = names_in_column.clone();
        names.add_default(default);
        if names.is_empty() {
            return Ok(CampaignBook::new(default.cloned(), HashMap::new()));
        }
        let (ids, unclear) = names.resolved(self.list(patience).await?, &intake.names());
        match unclear {
            Some(unclear) => Err(Failure::new(StoppedBy::Usage, unclear.message())),
            None => Ok(CampaignBook::new(default.cloned(), ids)),
        }
    }
}

/// The campaign names in the input. They are read on a thread of
/// their own: the input may be long, and the user may want to stop.
pub async fn names_in(intake: &Intake) -> Result<NamesInRows, Failure> {
    let intake = intake.clone();
    service::on_a_thread(move || intake.campaign_names()).await
}

/// The campaigns that the service lists for the token.
pub async fn listed_by(service: &Service) -> Result<Vec<Campaign>, Failure> {
    listed(&service::reach(service, TIMEOUT).await?.client).await
}

pub async fn listed(client: &Client) -> Result<Vec<Campaign>, Failure> {
    let listed = client.campaigns(None).await;
    listed.or_else(ListError::tolerated).map_err(list_failure)
}

/// What a check knows about campaign names.
pub struct LookedUp {
    /// The ids of the names, if they were looked up.
    pub ids: Option<HashMap<String, CampaignId>>,
    /// The names of the campaigns by id.
    pub names: CampaignNames,
    pub lookup: Lookup,
}

/// Looks up all names in rows and flags, if a service is given. An error of the
/// service does not end a check, which needs neither a service nor a token.
pub async fn look_up(
    service: Option<Service>,
    settings: &ImportSettings,
    intake: &Intake,
) -> Result<LookedUp, Failure> {
    let without_names = |lookup| LookedUp {
        ids: None,
        names: CampaignNames::default(),
        lookup,
    };
    let mut names = names_in(intake).await?;
    names.add_default(settings.reading.campaign.as_ref());
    if names.is_empty() {
        return Ok(without_names(Lookup::NotNeeded));
    }
    let Some(service) = service else {
        let why = match settings.service.is_empty() {
            true => text!("no service is given"),
            false => text!("no access token is given"),
        };
        return Ok(without_names(Lookup::NotDone(why)));
    };
    let reached = service::reach(&service, MAX_WAIT).await?;
    let listed = reached.client.campaigns_within(MAX_WAIT, None).await;
    Ok(match listed {
        Ok(listed) => {
            let (ids, unclear) = names.resolved(&listed, &intake.names());
            LookedUp {
                ids: Some(ids),
                names: CampaignNames::listed(&listed),
                lookup: Lookup::Done(unclear),
            }
        }
        Err(error) => {
            let why = text!("{why}", why = error.reason().to_owned());
            warn!(event = "warning", "cannot look up campaign names: {why}");
            without_names(Lookup::NotDone(why))
        }
    })
}

pub fn no_campaign() -> Failure {
    Failure::usage(message!(
        "no campaign is {given|chosen}",
        "{name it with `--campaign`, by id or by name, or with `--campaign-column`; `leadload campaigns` lists them|choose one under {--campaign}}"
    ))
}

fn list_failure(error: ListError) -> Failure {
    let stopped_by = match &error {
        ListError::Refused { cause, .. } => StoppedBy::from(*cause),
        ListError::NoAnswer { .. } | ListError::NotNow(_) => StoppedBy::Outage,
        ListError::Unreadable(_) | ListError::Incomplete(..) => StoppedBy::Unreadable,
    };
    Failure::new(stopped_by, error.message())
}
