//! The campaigns of the service, requested at most once.

use std::collections::HashMap;
use std::time::Duration;

use tracing::warn;

use super::service;
use crate::api::{Client, ListError};
use crate::campaign::{Campaign, CampaignBook, CampaignChoice, NamesInRows};
use crate::exit::{Failure, StoppedBy};
use crate::intake::Intake;
use crate::source::SourceError;

/// The longest wait for a list that is not essential.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(15);

/// The campaigns as the service lists them.
pub(super) struct Directory {
    client: Client,
    listed: Option<Vec<Campaign>>,
}

impl Directory {
    /// A directory that has not been requested yet.
    pub(super) fn new(client: Client) -> Directory {
        Directory {
            client,
            listed: None,
        }
    }

    /// The campaigns, if they have been requested.
    pub(super) fn listed(&self) -> Option<&[Campaign]> {
        self.listed.as_deref()
    }

    /// The campaigns.
    pub(super) async fn list(&mut self) -> Result<&[Campaign], Failure> {
        if self.listed.is_none() {
            let listed = self.client.campaigns().await.map_err(list_failure)?;
            self.listed = Some(listed);
        }
        Ok(self.listed().unwrap_or_default())
    }

    /// Requests the campaigns if only their names are missing: a command can do without those,
    /// but not without a valid token.
    pub(super) async fn list_if_possible(&mut self) -> Result<(), Failure> {
        if self.listed.is_some() {
            return Ok(());
        }
        match self.client.campaigns_within(MAX_WAIT).await {
            Ok(listed) => self.listed = Some(listed),
            Err(error @ ListError::Refused { cause, .. }) if cause.is_certain() => {
                return Err(list_failure(error));
            }
            Err(error) => warn!(
                event = "warning",
                "cannot list names and states of campaigns: {}",
                error.reason()
            ),
        }
        Ok(())
    }

    /// The campaigns of the rows by name, and of rows without one. The list is requested only if
    /// there are names.
    pub(super) async fn book(
        &mut self,
        names_in_column: &NamesInRows,
        default: Option<&CampaignChoice>,
        intake: &Intake,
    ) -> Result<CampaignBook, Failure> {
        let mut names = names_in_column.clone();
        names.note_default(default);
        if names.is_empty() {
            return Ok(CampaignBook::new(default.cloned(), HashMap::new()));
        }
        let (ids, unclear) = names.resolved(self.list().await?, &intake.names());
        match unclear {
            Some(unclear) => Err(Failure::new(StoppedBy::Usage, unclear)),
            None => Ok(CampaignBook::new(default.cloned(), ids)),
        }
    }
}

/// The campaign names in the input, read on a thread of its own: the input may be long, and
/// the user may want to stop.
pub(super) async fn names_in(intake: &Intake) -> Result<NamesInRows, Failure> {
    let intake = intake.clone();
    service::on_a_thread(move || intake.campaign_names())
        .await
        .unwrap_or_else(|| Err(SourceError::BrokeOff.into()))
}

/// The failure if the campaigns cannot be listed.
pub(super) fn list_failure(error: ListError) -> Failure {
    let stopped_by = match &error {
        ListError::Refused { cause, .. } => StoppedBy::from(*cause),
        ListError::NoAnswer(_) => StoppedBy::Outage,
        ListError::Unreadable(_) => StoppedBy::Unreadable,
    };
    Failure::new(stopped_by, error)
}
