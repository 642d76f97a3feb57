//! Which campaign of a list the user means by a few letters.
//!
//! Rule: no guess. With the wrong campaign, people get the wrong call.

use super::Campaign;
use crate::text::{listed, shown_name};

/// The one campaign that is meant: by its number in the list (from 1), by its id, by its
/// name or by part of that, in any case.
pub fn picked<'a>(answer: &str, list: &'a [Campaign]) -> Result<&'a Campaign, String> {
    let answer = answer.trim();
    let number = answer.parse::<usize>().ok();
    let by_number = number.and_then(|number| list.get(number.checked_sub(1)?));
    let by_id = list.iter().find(|campaign| campaign.id == answer);
    match (by_number, by_id) {
        (Some(one), Some(other)) if one != other => {
            return Err(format!(
                "{answer} is the number of one campaign and the id of another: type the name"
            ));
        }
        (Some(campaign), _) | (None, Some(campaign)) => return Ok(campaign),
        (None, None) => {}
    }
    let typed = answer.to_lowercase();
    let name = |campaign: &Campaign| campaign.name.trim().to_lowercase();
    let mut meant: Vec<&Campaign> = list.iter().filter(|c| name(c) == typed).collect();
    if meant.is_empty() {
        meant = list.iter().filter(|c| name(c).contains(&typed)).collect();
    }
    match meant[..] {
        [campaign] => Ok(campaign),
        [] => Err(format!("no campaign is meant by `{}`", shown_name(answer))),
        _ => {
            let names: Vec<&String> = meant.iter().map(|campaign| &campaign.name).collect();
            Err(format!(
                "`{}` may mean {}: type more of the name, or the number",
                shown_name(answer),
                listed(&names)
            ))
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
