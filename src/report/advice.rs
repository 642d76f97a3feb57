//! The one table of what statuses and problems mean, and what to do about them.
//!
//! The summary, the page for people and `docs/problems.md` take their words from here.
//! Nothing here names a person. Text between backquotes is typed exactly so.

use super::outcome::{InDoubt, Outcome};
use super::tally::OutcomeGroup;
use crate::lead::{ErrorCode, Status};
use crate::message::{Template, Text, in_lines};

pub const TRIAL: &str = "This was a trial on the sandbox: nothing left this computer.";

#[derive(Debug, PartialEq, Eq)]
pub struct Advice {
    pub title: &'static str,
    pub meaning: Template,
    /// For a terminal.
    pub short: &'static str,
    /// Sentences.
    pub(super) steps: Vec<Template>,
}

impl Advice {
    fn and(mut self, step: Template) -> Advice {
        self.steps.push(step);
        self
    }
}

/// Advice whose texts are checked when they are compiled.
macro_rules! advice {
    ($title:expr, $meaning:expr, $short:expr, [$($step:expr),* $(,)?] $(,)?) => {
        Advice {
            title: $title,
            meaning: template!($meaning),
            short: $short,
            steps: vec![$(template!($step)),*],
        }
    };
}

/// What happens next with rows that have not become leads.
#[derive(Debug, Clone, Copy)]
pub struct Outlook {
    /// Whether the command was stopped and is to be run again; otherwise the rejects are imported.
    pub by_same_command: bool,
    pub in_doubt: InDoubt,
}

impl Outlook {
    pub fn after(outcome: &Outcome<'_>) -> Outlook {
        Outlook {
            by_same_command: outcome.next.continue_with.is_some(),
            in_doubt: outcome.in_doubt,
        }
    }
}

/// What to do in a sentence, at a terminal. What the service said is only in the results, since it may
/// name a person.
pub(super) fn short_advice(
    advice: &Advice,
    status: Status,
    group: &OutcomeGroup,
    outlook: Outlook,
    inputs: &[&str],
) -> Text {
    let short = advice.short;
    match (&group.example, status) {
        // The text of a row says more.
        (Some((place, text)), Status::Invalid) if short == SEE_RESULTS => match group.is_mixed {
            true => terminal_text!(
                "for example, {place}: {text}",
                place = in_lines(1, &[*place], inputs),
                text = text.clone()
            ),
            false => text.clone(),
        },
        (_, Status::Failed) if outlook.by_same_command => {
            terminal_text!("{short}; the same command tries again", short)
        }
        (_, Status::Failed) => terminal_text!("{short}; import the rejects later", short),
        (_, Status::Uncertain) if (1..group.rows).contains(&group.suppressed) => terminal_text!(
            "{short}; those on a do-not-call list are not sent again",
            short
        ),
        _ => Text::terminal(short),
    }
}

impl Advice {
    pub fn of(status: Status, code: ErrorCode, group: &OutcomeGroup, outlook: Outlook) -> Advice {
        match (status, code) {
            (Status::Uncertain, _) => uncertain(group, outlook.in_doubt),
            (Status::Rejected, ErrorCode::Http(http_status)) => refused(http_status),
            _ => by_code(code, outlook.by_same_command),
        }
    }
}

const SEE_RESULTS: &str = "see the column `error` in the results file";

const AS_TEXT: &str = "Make the phone column text before anything else, or the spreadsheet drops `+` and leading zeros: select the column, then Format Cells, Number, Text in Excel, or Format, Cells, Text in LibreOffice.";

/// For rows that may be leads: what the program does with them, and what people can do.
fn uncertain(group: &OutcomeGroup, in_doubt: InDoubt) -> Advice {
    let advice = match in_doubt {
        _ if group.suppressed > 0 && group.suppressed == group.rows => of_uncertain(
            "these may be leads already, and are on a do-not-call list now, so they are not sent again: look for them at the service",
        ),
        InDoubt::Refused => of_uncertain(
            "these may be leads already: when they are sent again, the service refuses those that it has",
        )
        .and(template!(
            "Nothing has to be done first: when these rows are sent again, the service refuses those that it has. They come back as {`duplicate`|already in the campaign}."
        )),
        InDoubt::Doubled => of_uncertain(
            "these may be leads already, and would be made again: look for them at the service before sending them",
        )
        .and(template!(
            "Look for the numbers at the service before these rows are sent again: they would be made again, also those that are there{ (`--allow-duplicates`)|}."
        )),
        InDoubt::Held => of_uncertain(
            "these may be leads already, and are left alone. Look for them at the service; with --on-uncertain resend they are sent again",
        )
        .and(template!("Look for the numbers at the service."))
        .and(template!(
            "They are left alone until {the command is run with `--on-uncertain resend`: then they are sent|you choose to send them} again."
        )),
    };
    match group.suppressed {
        0 => advice,
        _ => advice.and(template!(
            "Rows with a number that is on a do-not-call list now are not sent again. Look for these numbers at the service, and delete the leads that are there: these people must not be called."
        )),
    }
}

fn of_uncertain(short: &'static str) -> Advice {
    advice!(
        "May or may not have become leads",
        "The service did not confirm whether it created these leads. Some of them may be there already.",
        short,
        []
    )
}

fn refused(http_status: u16) -> Advice {
    let short = match http_status {
        400 | 422 => {
            "the service does not accept these values: see the column `error` in the results file, then fix the rows"
        }
        401 | 403 => {
            "the service does not allow these rows: see the column `error` in the results file, and ask the people who run it"
        }
        404 | 410 => {
            "the service does not know what these rows name: look whether their campaign is still there"
        }
        409 => {
            "the service says that these rows conflict with what it has: see the column `error` in the results file"
        }
        413 => "these rows are too long for the service: leave columns out with --skip-column",
        _ => "for what the service said, see the column `error` in the results file",
    };
    advice!(
        "Refused by the service",
        "The service got the row and did not accept it. What it said is {beside each example, and for every row |}in the column `error` of the results.",
        short,
        [
            "Read what the service says, and fix those cells in the {rejects file|rows to fix}.",
            "If it is right that the service does not take these people, delete the rows.",
        ]
    )
}

/// For outcomes whose code alone says what they are about: mostly a cell.
fn by_code(code: ErrorCode, by_same_command: bool) -> Advice {
    let again = match by_same_command {
        true => template!(
            "Nothing has to be changed in the list: {the same command tries these rows|resume the run, and these rows are tried} again."
        ),
        false => template!(
            "Nothing has to be changed in the list: {import the rejects file as it is|choose the rows to fix as a list}, some time later."
        ),
    };
    match code {
        ErrorCode::PhoneMissing => advice!(
            "No phone number",
            "The phone cell is empty, or has nothing in it but signs, such as a dash.",
            "fill in the phone number, or leave the row out",
            [
                "Show these rows alone: turn on the filter (Data, Filter in Excel, or Data, AutoFilter in LibreOffice) and choose the empty cells of the phone column.",
                "Fill in the numbers, or delete the rows of people who have none.",
                "If the number is in another column, {name both columns, `--phone-column Mobile` and `--phone-column Phone`: the first usable number is taken|choose that column as the one to use if the phone number is empty}.",
            ]
        ),
        ErrorCode::PhoneNotE164 => advice!(
            "Not readable as an international number",
            "The cell has letters, a remark or an extension in it, hidden digits, a date or an amount, a word for no number such as `n/a`, or a number without its country.",
            SEE_RESULTS,
            [
                AS_TEXT,
                "Write `+` and the country code before the number, without the leading zero: in Britain 07700 900201 becomes +447700900201.",
                "If all numbers without a country are of the same one, leave them as they are and {name it: `--region GB` for Britain, `--region DE` for Germany|choose that country}.",
                "Move names, remarks and extensions to a column of their own, so that the cell has the number alone.",
                "Where a word says that there is no number, fill in the number, or delete the row.",
            ]
        ),
        ErrorCode::PhoneImpossible => advice!(
            "Too many or too few digits",
            "No number of that country has that many digits, or it begins with a country code that no country has.",
            SEE_RESULTS,
            [
                "Compare with where the list comes from: usually a digit is missing or is there twice.",
                "Look for a country code that is there twice, or a wrong one.",
                "If many numbers have lost digits, a spreadsheet has cut them off. Export the list again, with the phone column as text.",
            ]
        ),
        ErrorCode::PhoneInvalid => advice!(
            "Not in use",
            "The number has the right length, but its country has not given out such numbers.",
            SEE_RESULTS,
            [
                "Compare with where the list comes from: usually a digit is wrong, or two are swapped.",
                "If you know that the number rings, {import it with `--phone-rule possible`|allow all possible numbers}.",
                "Otherwise delete the row.",
            ]
        ),
        ErrorCode::PhoneAmbiguous => advice!(
            "More than one number in the cell",
            "The cell can be read as several numbers: two of them, one with a second ending, or one whose country code may be there twice. You have to say which one to call.",
            SEE_RESULTS,
            [
                AS_TEXT,
                "Keep one number in each cell, and delete the other or move it to another column.",
                "To split many cells at once: insert an empty column to the right, select the phone column, then Data, Text to Columns (in Excel and in LibreOffice), and choose the character between the numbers.",
            ]
        ),
        ErrorCode::PhoneDamaged => advice!(
            "Damaged by a spreadsheet",
            "A spreadsheet took the number for an amount or a calculation and wrote something like 4.4770E+11 or -491570252. The digits are gone from this file, and no cell format brings them back.",
            SEE_RESULTS,
            [
                "Go back to the program that the list comes from.",
                "Export the list again, and open it so that the phone column stays text: in Excel by Data, From Text/CSV, with the data type Text for that column, or in LibreOffice by choosing the column type Text in the window that comes when the file is opened.",
                "Do not double-click a CSV file to open it in Excel: that is how numbers get damaged.",
            ]
        ),
        ErrorCode::PhoneDoubtful => advice!(
            "Perhaps a number of another country",
            "The number has no country code, and it does not look like a number of the country that is set for the list: numbers there are written in another way, no such numbers are in use there, or the rest of the list is from another country.",
            SEE_RESULTS,
            [
                AS_TEXT,
                "Write `+` and the country code before the number, as it is dialled from abroad: (203) 555-0132 in New Haven becomes +12035550132.",
                "If the list has a column with countries, fill it in for these rows: it counts more than the country of the whole list.",
                "If you know that they are {correct, import them with `--phone-rule possible`|right as they are, say so and go on}.",
            ]
        ),
        ErrorCode::CutOff => advice!(
            "Perhaps cut off",
            "The list ends in the middle of a line, in this number, and all other numbers of its country are longer. The export or the download may have broken off, and the shorter number may be another person's.",
            SEE_RESULTS,
            [
                "Export or download the list again: rows below this one may be missing too.",
                "If only this number is cut off, complete it.",
                "If the number is complete, {open the rejects file|download the rows to fix}, and empty its cell in the column `leadload_error_code`.",
            ]
        ),
        ErrorCode::CountryNotAllowed => advice!(
            "A number of another country",
            "The import is limited to some countries, and this number is of none of them.",
            SEE_RESULTS,
            [
                "If these people should be called, add their country{: `--countries GB,IE`|}.",
                "Otherwise delete the rows.",
            ]
        ),
        ErrorCode::PhoneKind => advice!(
            "Premium, pager or satellite numbers",
            "The number is of a kind that is not called unless you say so: calls to such numbers are expensive, and nobody of the list answers. Or the import is limited to some kinds of numbers.",
            SEE_RESULTS,
            [
                "If these numbers should be called, add their kind{: `--phone-kinds +premium`|}.",
                "Otherwise delete the rows.",
            ]
        ),
        ErrorCode::FieldCount => advice!(
            "Cells missing, or too many",
            "The row has more or fewer cells than the header, so it is not clear which cell belongs to which column. Usually there is a comma or a line break in a cell that has no quotes around it.",
            "fix the row in the rejects file, then empty its cell in the column `leadload_error_code`",
            [
                "Put each cell of the row under its header. In {a rejects file|the rows to fix}, cells that were too many are in the column `leadload_surplus`.",
                "Then empty the row's cell in the column `leadload_error_code` there: that says that the row is fixed.",
            ]
        ),
        ErrorCode::UnclosedQuote => advice!(
            "A quotation mark that is never closed",
            "A cell begins with a quotation mark and does not end with one, so its end cannot be found.",
            "fix the row in the rejects file, then empty its cell in the column `leadload_error_code`",
            [
                "Find the line in a text editor (Notepad, TextEdit) and delete the quotation mark, or add the missing one.",
                "Or save the list again as CSV from the spreadsheet, which sets the marks itself.",
            ]
        ),
        ErrorCode::RowTooLong => advice!(
            "Far too long for a contact",
            "The row has more text than any contact has: a document, a picture, or many rows run together.",
            "look for what does not belong into a list of contacts",
            ["Find the line in the list, and delete what does not belong there."]
        ),
        ErrorCode::CampaignInvalid => advice!(
            "No campaign for the row",
            "The row does not say for which campaign it is, or names one in a way that cannot be read.",
            "fill in a campaign's id or name, or give --campaign",
            [
                "Fill in the id or the name of the campaign, as the service has it. Fill Down (Ctrl+D) copies it to the cells below.",
                "Or {give one campaign for all rows without their own: `--campaign 101`|choose one campaign for all rows without their own}.",
            ]
        ),
        ErrorCode::Encoding => advice!(
            "Letters that cannot be read",
            "Some letters of the row cannot be read, because they are not in the encoding of the file. Usually these are letters such as ä and é from another program.",
            "name the file's encoding with --encoding, or save it as \"CSV UTF-8\" where it comes from",
            [
                "Save the list again where it comes from: in Excel as CSV UTF-8, in LibreOffice with the character set Unicode (UTF-8).",
                "Or {name the encoding that the file has: `--encoding windows-1252`, or `--encoding cp850` for \"CSV (MS-DOS)\"|choose the encoding that the file has}.",
            ]
        ),
        // No row that has a problem was undone.
        ErrorCode::AnswerLost | ErrorCode::Connection | ErrorCode::Timeout | ErrorCode::Undone => {
            let short = match code {
                ErrorCode::Timeout => "the service did not answer in time",
                _ => "the connection could not be made or broke",
            };
            advice!(
                "No answer from the service",
                "No answer came, although the row was sent several times. It can be sent again without harm.",
                short,
                []
            )
            .and(again)
        }
        ErrorCode::UnreadableAnswer => advice!(
            "The answer of the service could not be read",
            "Something answered, but not as the service does. It may be another machine on the way, or the address may be wrong.",
            TROUBLE,
            ["{Check the address of the service (`--base-url`)|Ask for the right address of the service}."]
        )
        .and(again),
        ErrorCode::Http(_) => advice!(
            "The service had trouble of its own",
            "The service answered that it cannot take the row just now, several times. The row itself may be in order.",
            TROUBLE,
            []
        )
        .and(again),
    }
}

const TROUBLE: &str = "the service was busy or had an error of its own";

/// What a status is called: on the page it says by itself what is meant.
pub fn status_name(status: Status) -> Template {
    match status {
        Status::Created => template!("{created|added to the campaign}"),
        Status::Duplicate => template!("{duplicate|already in the campaign}"),
        Status::Repeated => template!("{repeated|twice in this list}"),
        Status::AlreadyImported => template!("{already_imported|already sent}"),
        Status::Excluded => template!("{excluded|not among the rows to send}"),
        Status::Suppressed => template!("{suppressed|on a do-not-call list}"),
        Status::Invalid => template!("{invalid|can't be sent}"),
        Status::Rejected => template!("{rejected|refused by the service}"),
        Status::Failed => template!("{failed|not sent}"),
        Status::Uncertain => template!("{uncertain|not sure it arrived}"),
        Status::Ready => template!("{ready|ready to send}"),
    }
}

pub(super) fn meaning(status: Status) -> Template {
    match status {
        Status::Created => template!("{the service created the lead|}"),
        Status::Duplicate => template!("{the campaign had the number already|}"),
        Status::Repeated => template!("{the number is in an earlier row; not sent|}"),
        Status::AlreadyImported => template!("{an earlier run has imported it; not sent|}"),
        Status::Excluded => template!("{left out by --only or --hidden-rows; not sent|}"),
        Status::Suppressed => template!("{must not be called; not sent by this run|}"),
        Status::Invalid => template!("{cannot be sent as it is|}"),
        Status::Rejected => template!("{the service refused the row|}"),
        Status::Failed => template!("{not delivered, and safe to send again|}"),
        Status::Uncertain => template!("{the service may have it|}"),
        Status::Ready => template!("{would be sent|}"),
    }
}

/// Why a row makes no lead although nothing is wrong with it: a title and a sentence. `after_lost`:
/// the answer to an earlier attempt was lost, so a duplicate is most likely our own lead.
pub(super) fn left_out(status: Status, after_lost: bool) -> (&'static str, Template) {
    match status {
        Status::Duplicate if after_lost => (
            "In the campaign, most likely by this import",
            template!(
                "The answer to the first attempt was lost on the way. The answer to the second says that the campaign has the number, so the first has most likely made the lead."
            ),
        ),
        Status::Duplicate => (
            "In the campaign already",
            template!(
                "These people were brought to the campaign before, perhaps by another way than leadload. The service refuses a second lead, so no one is called twice."
            ),
        ),
        Status::Repeated => (
            "More than once in the list",
            template!(
                "Each number is sent once to a campaign. The first row that has it counts, and its other rows are not sent. Rows are counted from 1, without the header."
            ),
        ),
        Status::AlreadyImported => (
            "Imported before",
            template!(
                "An earlier {run|list} has brought these people to the campaign, so they are not sent again."
            ),
        ),
        Status::Excluded => (
            "Not among the rows to send",
            template!(
                "The person who started the import said which rows to send{ (`--only`, `--hidden-rows`)|}, and these are not among them."
            ),
        ),
        Status::Suppressed => (
            "On a do-not-call list",
            template!(
                "These people must not be called. A person who is on the list by mistake has to be taken off it before the next import."
            ),
        ),
        _ => (status.as_str(), template!("")),
    }
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
