//! The names of campaigns, in the form used in messages.

use std::collections::BTreeMap;

use crate::campaign::Campaign;
use crate::lead::CampaignId;
use crate::text::{printable, shortened};

const NAME_LENGTH: usize = 40;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CampaignNames(pub BTreeMap<CampaignId, String>);

impl CampaignNames {
    pub fn listed(campaigns: &[Campaign]) -> CampaignNames {
        let mut names = CampaignNames::default();
        names.extend(campaigns);
        names
    }

    pub fn extend(&mut self, campaigns: &[Campaign]) {
        let named = campaigns
            .iter()
            .filter(|campaign| !campaign.name.is_empty());
        self.0.extend(
            named.filter_map(|campaign| {
                Some((campaign.lead_campaign().ok()?, campaign.name.clone()))
            }),
        );
    }

    /// Name and id in the form used in messages: `“Spring” (101)`; only the id if there is no name.
    pub fn shown(&self, id: CampaignId) -> String {
        match self.0.get(&id) {
            Some(name) => format!("“{}” ({id})", shortened(&printable(name), NAME_LENGTH)),
            None => id.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_is_shown_by_name_and_id_without_control_characters() {
        let names = [
            (CampaignId(1), "Spring".to_owned()),
            (CampaignId(2), "Sp\u{1b}[2J ".to_owned() + &"x".repeat(50)),
        ];
        let names = CampaignNames(names.into());
        assert_eq!(names.shown(CampaignId(1)), "“Spring” (1)");
        let long = format!("“Sp\u{FFFD}[2J {}…” (2)", "x".repeat(32));
        assert_eq!(names.shown(CampaignId(2)), long);
        assert_eq!(names.shown(CampaignId(3)), "3");
    }
}
