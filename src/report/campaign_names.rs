//! What campaigns are called.

use std::collections::BTreeMap;

use crate::campaign::Campaign;
use crate::lead::CampaignId;
use crate::text::{printable, shortened};

/// How much is shown of a name, in characters.
const LONGEST: usize = 40;

/// Names of campaigns, where any are known.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CampaignNames(BTreeMap<CampaignId, String>);

impl CampaignNames {
    /// As the service lists them.
    pub fn listed(campaigns: &[Campaign]) -> CampaignNames {
        let mut names = CampaignNames::default();
        names.extend(campaigns);
        names
    }

    /// Takes the names that the service lists.
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

    /// Name and id, as people are told: `“Spring” (101)`; the id alone where there is no
    /// name.
    pub fn shown(&self, id: CampaignId) -> String {
        match self.0.get(&id) {
            Some(name) => format!("“{}” ({id})", shortened(&printable(name), LONGEST)),
            None => id.to_string(),
        }
    }
}

impl FromIterator<(CampaignId, String)> for CampaignNames {
    fn from_iter<T: IntoIterator<Item = (CampaignId, String)>>(names: T) -> CampaignNames {
        CampaignNames(names.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_is_shown_by_name_and_id_and_its_name_moves_no_cursor() {
        let names: CampaignNames = [
            (CampaignId(1), "Spring".to_owned()),
            (CampaignId(2), "Sp\u{1b}[2J ".to_owned() + &"x".repeat(50)),
        ]
        .into_iter()
        .collect();
        assert_eq!(names.shown(CampaignId(1)), "“Spring” (1)");
        let long = format!("“Sp\u{FFFD}[2J {}…” (2)", "x".repeat(32));
        assert_eq!(names.shown(CampaignId(2)), long);
        assert_eq!(names.shown(CampaignId(3)), "3");
    }
}
