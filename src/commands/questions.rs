//! What an import and a check ask the user, in cases that would otherwise end the command.
//!
//! Rule: every answer is an option that could have been typed, so commands that are shown
//! afterwards include it. An empty answer leads to the same error as without a terminal.

use super::ask::{self, Terminal, list, note};
use crate::campaign::Campaign;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::campaign_list::{CampaignList, no_campaign};
use crate::import::{Request, inputs};
use crate::intake::{InspectedInput, Intake, PlannedInput};
use crate::lead::CampaignId;
use crate::mapping::{ColumnChoice, MappingError, NamedMark, PhoneCandidate, Unclear};
use crate::options::{Given, Options};
use crate::phone::{PhoneRule, Region};
use crate::report::{DoubtError, campaigns_to_choose, console, fitting};
use crate::screen::{Doubt, are_many};
use crate::settings::ImportSettings;
use crate::text::{counted, nearest, printable, quoted_value, shown_name};

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
            let intake = inputs::protect(planned?, &settings, &mut request.warnings).await?;
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
                let input = printable(input);
                note(&format!(
                    "The sheet of `{input}` that is shown first has no phone column. These have one:"
                ));
                let sheets = sheets.iter().map(|name| (name.as_str(), None));
                sheet(&sheets.collect::<Vec<_>>(), terminal).await
            }
            Some(MappingError::SeveralSheets { sheets, input }) => {
                let input = printable(input);
                note(&format!("Several sheets of `{input}` have phone numbers:"));
                let sheets = sheets
                    .iter()
                    .map(|sheet| (sheet.name.as_str(), Some(sheet.rows)));
                sheet(&sheets.collect::<Vec<_>>(), terminal).await
            }
            Some(error @ MappingError::HiddenRows { .. }) => hidden_rows(error, terminal).await,
            Some(error @ MappingError::UnknownMarks { .. }) => {
                note(&format!("{}.", error.message().what));
                let unclear = left_out_or_called("Enter cancels", terminal).await?;
                Ok(unclear.map(|unclear| {
                    let mut answer = Options::default();
                    answer.mapping.unclear_marks = Some(unclear);
                    answer
                }))
            }
            _ => Ok(None),
        },
        Ok(intake) => match &intake.doubt {
            Some(doubt) if doubt.refuses => doubtful_region(intake, doubt, terminal).await,
            None if is_missing_region => match missing_region(intake, terminal).await? {
                Some(answer) => Ok(Some(answer)),
                None => empty_consents(intake, terminal).await,
            },
            _ => empty_consents(intake, terminal).await,
        },
    }
}

/// Asks about people whose cell in a consent column is empty.
async fn empty_consents(intake: &Intake, terminal: &Terminal) -> Result<Option<Options>, Failure> {
    let columns = intake.marked.columns.iter();
    let empty: Vec<_> = columns
        .filter(|column| column.empty_consents() > 0)
        .collect();
    for marked in &empty {
        let NamedMark { input, header, .. } = &marked.column;
        let (input, header) = (printable(input), shown_name(header));
        let rows = counted(marked.empty_consents(), "row");
        note(&format!(
            "The column `{header}` of `{input}` is empty in {rows}."
        ));
    }
    if empty.is_empty() {
        return Ok(None);
    }
    let unclear = left_out_or_called("Enter calls them", terminal).await?;
    Ok(unclear.map(|unclear| {
        let mut answer = Options::default();
        answer.mapping.empty_consent = Some(unclear);
        answer
    }))
}

/// `enter` says what becomes of an empty answer.
async fn left_out_or_called(
    enter: &str,
    terminal: &Terminal,
) -> Result<Option<Given<Unclear>>, Failure> {
    let question =
        format!("Leave these people out, or call them? Type `leave-out` or `call` ({enter}):");
    loop {
        let Some(text) = line(&question, terminal).await? else {
            return Ok(None);
        };
        if let Ok(answer) = text.to_lowercase().parse() {
            return Ok(Some(answer));
        }
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
    let question = "Which columns, in order? For example `1 2`: column 2 is used where column 1 is empty (Enter cancels):";
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

/// Asks for one of these sheets, listed with the number of their rows where it is known.
async fn sheet(
    sheets: &[(&str, Option<u64>)],
    terminal: &Terminal,
) -> Result<Option<Options>, Failure> {
    for (at, (name, rows)) in sheets.iter().enumerate() {
        let rows = rows.map(|rows| format!(": {}", counted(rows, "row")));
        list(
            at,
            &format!("{}{}", printable(name), rows.unwrap_or_default()),
        );
    }
    let names: Vec<&str> = sheets.iter().map(|(name, _)| *name).collect();
    let picked = terminal.one_of(&names).await?;
    Ok(picked.map(|sheet| {
        let mut answer = Options::default();
        answer.reading.sheet = Some(Given::text_of(&sheet));
        answer
    }))
}

async fn hidden_rows(
    hidden: &MappingError,
    terminal: &Terminal,
) -> Result<Option<Options>, Failure> {
    note(&format!("{}.", hidden.message().what));
    loop {
        let question = "Skip these rows, or send them too? Type `skip` or `send` (Enter cancels):";
        let Some(text) = line(question, terminal).await? else {
            return Ok(None);
        };
        if let Ok(hidden_rows) = text.to_lowercase().parse() {
            let mut answer = Options::default();
            answer.reading.hidden_rows = Some(hidden_rows);
            return Ok(Some(answer));
        }
    }
}

/// Asks for the country if the given region does not seem to fit.
async fn doubtful_region(
    intake: &Intake,
    doubt: &Doubt,
    terminal: &Terminal,
) -> Result<Option<Options>, Failure> {
    if let Some(error) = DoubtError::of(intake) {
        note(&format!("{}.", error.message.what));
    }
    if let Some(fitting) = fitting(doubt) {
        note(&fitting);
    }
    let question = format!(
        "Which country are these numbers from? Type its code or name, or the name of a column with countries ({} keeps them as they are; Enter cancels):",
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
    let question = format!(
        "{} in the first rows have no + and country code. Which country are they from? Type its code (such as DE) or name, or the name of a column with countries (Enter leaves them out):",
        counted(without, "number")
    );
    country_or_column(intake, &question, terminal).await
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
            let column = ColumnChoice::Named(text.clone());
            answer.phones.region_column = Some(Given::new(column, text));
            return Ok(Some(answer));
        }
        let headers = intake
            .inputs
            .iter()
            .flat_map(|planned| &planned.header.names);
        let near = nearest(&text, &headers.collect::<Vec<_>>()).map(shown_name);
        let near = near.or_else(|| Region::nearest(&text));
        note(&format!(
            "There is no country and no column called {}. {}",
            quoted_value(&text),
            match near {
                Some(near) => format!("Did you mean `{near}`?"),
                None => "A country is, for example, DE or Germany.".to_owned(),
            }
        ));
    }
}

/// Lists the campaigns and asks until one is named, as `--campaign` would name it. No guess: with
/// the wrong one, people get the wrong call.
pub(super) async fn campaign(
    campaign_list: &mut CampaignList,
    terminal: &Terminal,
) -> Result<CampaignId, Failure> {
    let campaigns = campaign_list.list(None).await?;
    if campaigns.is_empty() {
        return Err(no_campaign());
    }
    console::note("No campaign is given. There are these:\n");
    console::tell(&[campaigns_to_choose(campaigns)]);
    loop {
        let answer = line("Id or name (Enter cancels):", terminal).await?;
        let answer = answer.ok_or_else(no_campaign)?;
        match meant(&answer, campaigns)[..] {
            [campaign] => {
                let id = campaign.lead_campaign().map_err(|error| error.message);
                return id.stopped_by(StoppedBy::Usage);
            }
            [] => note(&format!("There is no campaign {}.", quoted_value(&answer))),
            _ => note("Several campaigns have that name: enter an id."),
        }
    }
}

/// The campaigns with this id, or else with this name in any case.
fn meant<'a>(answer: &str, campaigns: &'a [Campaign]) -> Vec<&'a Campaign> {
    if let Some(campaign) = campaigns.iter().find(|campaign| campaign.id == answer) {
        return vec![campaign];
    }
    let name = answer.to_lowercase();
    let is_named = |campaign: &&Campaign| campaign.name.trim().to_lowercase() == name;
    campaigns.iter().filter(is_named).collect()
}

/// Asks for a line; `None` if it is empty.
async fn line(question: &str, terminal: &Terminal) -> Result<Option<String>, Failure> {
    let answer = terminal.line(question).await?;
    Ok(answer.filter(|answer| !answer.is_empty()))
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
    fn a_campaign_is_meant_by_its_id_or_else_by_its_name() {
        let list = list(&[
            ("2", "Spring"),
            ("1", "Spring promo"),
            ("3", "News"),
            ("4", "News"),
            ("5", "2"),
        ]);
        for (answer, ids) in [
            ("3", &["3"][..]),
            ("2", &["2"]),
            ("SPRING", &["2"]),
            ("news", &["3", "4"]),
            ("promo", &[]),
            ("0", &[]),
        ] {
            let meant = meant(answer, &list);
            let meant: Vec<&str> = meant.iter().map(|c| c.id.as_str()).collect();
            assert_eq!(meant, ids, "{answer}");
        }
    }
}
