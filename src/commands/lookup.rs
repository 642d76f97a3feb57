//! Looks up campaign names for a check, if a service is given.
//!
//! Rule: no error here ends a check, which needs neither a service nor a token.

use std::collections::HashMap;

use tracing::warn;

use super::directory::{self, MAX_WAIT};
use super::service;
use crate::api::Limits;
use crate::campaign::{CampaignChoice, NamesInRows};
use crate::exit::Failure;
use crate::intake::Intake;
use crate::lead::CampaignId;
use crate::report::{CampaignNames, Lookup};
use crate::settings::{ImportSettings, Layers, Service};

/// The result.
pub(super) struct LookedUp {
    /// The ids of the names, if they were looked up.
    pub(super) ids: Option<HashMap<String, CampaignId>>,
    /// The names of the campaigns by id.
    pub(super) names: CampaignNames,
    /// What to report.
    pub(super) lookup: Lookup,
}

impl LookedUp {
    /// Nothing was looked up.
    fn without_names(lookup: Lookup) -> LookedUp {
        LookedUp {
            ids: None,
            names: CampaignNames::default(),
            lookup,
        }
    }
}

/// Looks up all names in rows and flags.
pub(super) async fn look_up(
    layers: &Layers,
    settings: &ImportSettings,
    intake: &Intake,
) -> Result<LookedUp, Failure> {
    let mut inputs = intake.inputs.iter();
    let has_column = inputs.any(|input| input.mapping.campaign_column.is_some());
    let default = settings.reading.campaign.as_ref();
    if !has_column && !matches!(default, Some(CampaignChoice::Name(_))) {
        return Ok(LookedUp::without_names(Lookup::NotNeeded));
    }
    let Ok(service) = Service::new(layers) else {
        let why = if settings.service.is_empty() {
            "no service is given"
        } else {
            "no access token is given"
        };
        return Ok(LookedUp::without_names(Lookup::NotDone(why.to_owned())));
    };
    let mut names = directory::names_in(intake).await?;
    names.note_default(default);
    if names.is_empty() {
        return Ok(LookedUp::without_names(Lookup::NotNeeded));
    }
    Ok(ask(&service, names, intake).await.unwrap_or_else(|why| {
        warn!(event = "warning", "cannot look up campaign names: {why}");
        LookedUp::without_names(Lookup::NotDone(why))
    }))
}

/// What the names mean, or why that is not known.
async fn ask(service: &Service, names: NamesInRows, intake: &Intake) -> Result<LookedUp, String> {
    let reached = service::reach(service, Limits::within(MAX_WAIT)).await;
    let reached = reached.map_err(|_| "the HTTP client cannot be set up".to_owned())?;
    let listed = reached.client.campaigns_within(MAX_WAIT).await;
    let listed = listed.map_err(|error| error.reason().to_owned())?;
    let (ids, unclear) = names.resolved(&listed, &intake.names());
    Ok(LookedUp {
        ids: Some(ids),
        names: CampaignNames::listed(&listed),
        lookup: Lookup::Done(unclear),
    })
}
