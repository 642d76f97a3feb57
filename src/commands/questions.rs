//! What an import and a check ask the user, in cases that would otherwise end the command.
//!
//! Rule: every answer is an option that could have been typed, so commands that are shown
//! afterwards include it. An empty answer leads to the same error as without a terminal.

use super::ask::{self, Terminal, list, note};
use super::directory::Directory;
use super::inputs::{self, Request};
use crate::campaign::Campaign;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::intake::{InspectedInput, Intake, PlannedInput};
use crate::lead::CampaignId;
use crate::mapping::{MappingError, PhoneCandidate, RegionColumns};
use crate::options::{Given, Options};
use crate::phone::{PhoneRule, Region};
use crate::report::{DoubtError, Width, console, numbered_campaigns, offered, paragraph};
use crate::screen::{Doubt, Fitting, are_many};
use crate::settings::ImportSettings;
use crate::text::{counted, listed, printable, shown_name};

/// How many columns of the terminal are left for an answer, next to its question.
const WIDTH_OF_ANSWER: usize = 20;

/// Whether the user may be asked about lists: not in a trial, which calls no one,
/// not with `--yes` or `--test-to`, and not if a list comes from standard input.
fn can_ask(request: &Request) -> bool {
    let options = request.layers.options();
    let reads_input = request.files.iter().any(|path| path.as_os_str() == "-");
    let is_trial = options.connection.sandbox == Some(true);
    let is_silent = options.delivery.yes == Some(true) || options.delivery.test_to.is_some();
    !is_trial && !is_silent && !reads_input && ask::can_ask(options.log.format())
}

/// Plans the inputs and reads the do-not-call lists. If an answer can
/// help, asks the user, and plans the inputs again with the answer.
pub(super) async fn plan(
    request: &mut Request,
    mut surveyed: Vec<InspectedInput>,
    terminal: &Terminal,
) -> Result<(ImportSettings, Intake), Failure> {
    loop {
        let settings = request.settings()?;
        let planned = inputs::plan(&settings.reading, surveyed).await;
        let is_missing_region = request.layers.given().phones.region.is_none();
        let answer = if can_ask(request) {
            ask_about(&planned, is_missing_region, terminal).await?
        } else {
            None
        };
        let Some(answer) = answer else {
            let intake = inputs::protect(planned?, &settings.reading).await?;
            return Ok((settings, intake));
        };
        request.add_answer(answer);
        surveyed = inputs::survey_forms(request).await?;
    }
}

async fn ask_about(
    planned: &Result<Intake, Failure>,
    is_missing_region: bool,
    terminal: &Terminal,
) -> Result<Option<Options>, Failure> {
    match planned {
        Err(failure) => match failure.error.downcast_ref() {
            Some(MappingError::SeveralPhoneColumns { candidates, .. }) => {
                phone_columns(candidates, terminal).await
            }
            Some(MappingError::NoPhoneColumn { sheets, input, .. }) if !sheets.is_empty() => {
                sheet(input, sheets, terminal).await
            }
            _ => Ok(None),
        },
        Ok(intake) => match &intake.doubt {
            Some(doubt) if doubt.refuses => doubtful_region(intake, doubt, terminal).await,
            None if is_missing_region => missing_region(intake, terminal).await,
            _ => Ok(None),
        },
    }
}

async fn phone_columns(
    candidates: &[PhoneCandidate],
    terminal: &Terminal,
) -> Result<Option<Options>, Failure> {
    note("Several columns have phone numbers. Those with most of them come first:");
    for (at, candidate) in candidates.iter().enumerate() {
        let numbers = counted(candidate.numbers as u64, "number");
        list(at, &format!("{}: {numbers}", printable(&candidate.name)));
    }
    let question = "Which should be called, in order, such as 1 2? The first with a number counts (Enter to stop):";
    loop {
        let Some(answer) = line(question, terminal).await? else {
            return Ok(None);
        };
        let words = answer.split([' ', ',']).filter(|word| !word.is_empty());
        let picked = words.map(|word| candidates.get(word.parse::<usize>().ok()?.checked_sub(1)?));
        let Some(picked) = picked.collect::<Option<Vec<_>>>() else {
            note(&format!("Enter numbers from 1 to {}.", candidates.len()));
            continue;
        };
        let mut names: Vec<String> = Vec::new();
        for candidate in picked {
            if !names.contains(&candidate.name) {
                names.push(candidate.name.clone());
            }
        }
        let mut answer = Options::default();
        answer.mapping.phone_column = Some(Given::list_of(&names));
        return Ok(Some(answer));
    }
}

async fn sheet(
    input: &str,
    sheets: &[String],
    terminal: &Terminal,
) -> Result<Option<Options>, Failure> {
    note(&format!(
        "The first sheet of `{}` has no phone column. These have one:",
        printable(input)
    ));
    let picked = terminal.one_of(sheets).await?;
    Ok(picked.map(|sheet| {
        let mut answer = Options::default();
        answer.reading.sheet = Some(Given::text_of(&sheet));
        answer
    }))
}

/// Asks for the country if the given region does not seem to fit.
async fn doubtful_region(
    intake: &Intake,
    doubt: &Doubt,
    terminal: &Terminal,
) -> Result<Option<Options>, Failure> {
    if let Some(error) = DoubtError::of(intake) {
        note(&error.what);
    }
    if !doubt.fitting.is_empty() {
        note(&format!(
            "Of {} that were tried, this many fit:",
            doubt.tried
        ));
    }
    for Fitting {
        country, numbers, ..
    } in offered(doubt)
    {
        console::note(&format!("  {} ({country}): {numbers}\n", country.name()));
    }
    match doubt.fitting.len() - offered(doubt).count() {
        0 => {}
        more => console::note(&format!("  and {more} more\n")),
    }
    let question = format!(
        "Country of all numbers without a calling code, or a column with countries ({} if they are right; Enter to stop):",
        doubt.region
    );
    let mut answer = country_or_column(intake, &question, terminal).await?;
    if let Some(answer) = &mut answer
        && let Some(region) = answer.phones.region.as_deref()
        && *region == Some(doubt.region)
    {
        answer.phones.phone_rule = Some(Given::new(PhoneRule::Possible, "possible"));
    }
    Ok(answer)
}

/// Asks for the country if many of the first rows lack one: more than a slip explains.
async fn missing_region(intake: &Intake, terminal: &Terminal) -> Result<Option<Options>, Failure> {
    // An input that cannot be read is reported when its rows are read.
    let Ok((_, sampled)) = intake.sampled(intake.inputs.iter()) else {
        return Ok(None);
    };
    let without = sampled.without_country;
    if !are_many(without, sampled.numbers + without) {
        return Ok(None);
    }
    note(&format!(
        "{} in the first rows without a calling code, and no country is given for them.",
        counted(without, "number")
    ));
    let question =
        "Their country, such as GB, or a column with countries (Enter to leave them out):";
    country_or_column(intake, question, terminal).await
}

async fn country_or_column(
    intake: &Intake,
    question: &str,
    terminal: &Terminal,
) -> Result<Option<Options>, Failure> {
    loop {
        let Some(text) = line(question, terminal).await? else {
            return Ok(None);
        };
        // In lower case it answers a yes/no question and does not mean Norway.
        if matches!(&*text, "n" | "no") {
            return Ok(None);
        }
        let mut answer = Options::default();
        let has_column = |planned: &PlannedInput| {
            let mut names = planned.header.names.iter();
            names.any(|name| name.trim().eq_ignore_ascii_case(&text))
        };
        if let Some(region) = Region::parse(&text) {
            answer.phones.region = Some(Given::new(Some(region), region.to_string()));
            return Ok(Some(answer));
        }
        if intake.inputs.iter().all(has_column) {
            let column = RegionColumns::Named(text.clone());
            answer.phones.region_column = Some(Given::new(column, text));
            return Ok(Some(answer));
        }
        note("There is no country and no column with that name.");
    }
}

/// Lists the campaigns and asks until one is picked.
pub(super) async fn campaign(
    directory: &mut Directory,
    terminal: &Terminal,
) -> Result<CampaignId, Failure> {
    let campaigns = directory.list().await?;
    if campaigns.is_empty() {
        return Err(no_campaign());
    }
    console::note("No campaign is given. There are these:\n");
    console::note(&numbered_campaigns(campaigns));
    loop {
        let answer = terminal.line("Number, id or part of the name:").await?;
        let answer = answer.filter(|answer| !answer.is_empty());
        match picked(&answer.ok_or_else(no_campaign)?, campaigns) {
            Ok(campaign) => return campaign.lead_campaign().or_stopped(StoppedBy::Usage),
            Err(unclear) => console::note(&format!("{unclear}\n")),
        }
    }
}

pub(super) fn no_campaign() -> Failure {
    Failure::usage(
        "no campaign is given\n\nhint: name it with `--campaign`, by id or by name, or with `--campaign-column`; `leadload campaigns` lists them",
    )
}

/// Asks for a line; `None` if it is empty.
async fn line(question: &str, terminal: &Terminal) -> Result<Option<String>, Failure> {
    let question = paragraph(question, Width::of_stderr().less(WIDTH_OF_ANSWER));
    let answer = terminal.line(&question).await?;
    Ok(answer.filter(|answer| !answer.is_empty()))
}

/// The one campaign that the answer means: by its number in the list (from
/// 1), its id, its name or part of its name, in upper or lower case. It
/// does not guess: with the wrong campaign, people get the wrong call.
fn picked<'a>(answer: &str, list: &'a [Campaign]) -> Result<&'a Campaign, String> {
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
