//! Which campaign of a list the user means by a few letters.
//!
//! Rule: no guess. With the wrong campaign, people get the wrong call.

use thiserror::Error;

use super::Campaign;
use crate::text::{listed, shown_name};

/// An answer that means no campaign, or more than one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unclear {
    #[error("no campaign is meant by `{}`", shown_name(.0))]
    Nothing(String),
    /// Several have it in their names.
    #[error("`{}` may mean {}: type more of the name, or the number", shown_name(.0), listed(.1))]
    Several(String, Vec<String>),
    /// One has this number in the list, and another has it for its id.
    #[error("{0} is the number of one campaign and the id of another: type the name")]
    NumberAndId(String),
}

/// The one campaign that is meant: by its number in the list (from 1), by its id, by its
/// name or by part of that, in any case.
pub fn picked<'a>(answer: &str, list: &'a [Campaign]) -> Result<&'a Campaign, Unclear> {
    let answer = answer.trim();
    let number = answer.parse::<usize>().ok();
    let by_number = number.and_then(|number| list.get(number.checked_sub(1)?));
    let by_id = list.iter().find(|campaign| campaign.id == answer);
    match (by_number, by_id) {
        (Some(one), Some(other)) if one != other => {
            return Err(Unclear::NumberAndId(answer.to_owned()));
        }
        (Some(campaign), _) | (None, Some(campaign)) => return Ok(campaign),
        (None, None) => {}
    }
    let typed = answer.to_lowercase();
    let named = |is_meant: &dyn Fn(&str) -> bool| -> Vec<&'a Campaign> {
        let named = list.iter();
        named
            .filter(|campaign| is_meant(campaign.name.trim().to_lowercase().as_str()))
            .collect()
    };
    let mut meant = named(&|name| name == typed);
    if meant.is_empty() {
        meant = named(&|name| name.contains(&typed));
    }
    match meant[..] {
        [campaign] => Ok(campaign),
        [] => Err(Unclear::Nothing(answer.to_owned())),
        _ => {
            let names = meant.iter().map(|campaign| campaign.name.clone());
            Err(Unclear::Several(answer.to_owned(), names.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(campaigns: &[(&str, &str)]) -> Vec<Campaign> {
        let campaigns = campaigns.iter();
        campaigns
            .map(|(id, name)| Campaign {
                id: (*id).into(),
                name: (*name).into(),
                status: String::new(),
                created_at: String::new(),
                updated_at: String::new(),
            })
            .collect()
    }

    #[test]
    fn a_campaign_is_picked_by_number_id_name_or_part_of_the_name() {
        let list = list(&[("101", "Spring promo"), ("102", "Spring"), ("9b", "Fall")]);
        for (answer, id) in [
            ("1", "101"),
            (" 3 ", "9b"),
            ("102", "102"),
            ("9b", "9b"),
            ("PROMO", "101"),
            ("spring", "102"),
            ("fa", "9b"),
        ] {
            assert_eq!(picked(answer, &list).unwrap().id, id, "{answer}");
        }
    }

    #[test]
    fn what_may_mean_two_campaigns_or_none_picks_none() {
        let list = list(&[
            ("2", "Spring"),
            ("1", "Spring promo"),
            ("3", "News"),
            ("4", "News"),
        ]);
        for (answer, said) in [
            ("0", "no campaign is meant by `0`"),
            ("zzz", "no campaign is meant by `zzz`"),
            (
                "SPR",
                "`SPR` may mean `Spring`, `Spring promo`: type more of the name, or the number",
            ),
            (
                "news",
                "`news` may mean `News`, `News`: type more of the name, or the number",
            ),
            (
                "1",
                "1 is the number of one campaign and the id of another: type the name",
            ),
        ] {
            assert_eq!(picked(answer, &list).unwrap_err().to_string(), said);
        }
        assert_eq!(picked("3", &list).unwrap().id, "3");
    }
}
