//! What a problem is called, what it means, and what to do about it in a spreadsheet.

use crate::lead::{ErrorCode, Status};
use crate::report::advice::{Again, InDoubt, Outlook};

/// Advice for one kind of problem. What stands between backquotes is typed as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mending {
    /// The problem in a few words.
    pub(super) title: &'static str,
    /// What it means.
    pub(super) meaning: &'static str,
    /// What to do, step by step.
    pub(super) steps: &'static [&'static str],
}

const AS_TEXT: &str = "Make the phone column text before anything else, or the spreadsheet drops `+` and leading zeros: select the column, then Format Cells, Number, Text in Excel; Format, Cells, Text in LibreOffice.";

const EXPORT_AGAIN: &str = "Export the list again, and open it so that the phone column stays text: in Excel by Data, From Text/CSV, with the data type Text for that column; in LibreOffice by choosing the column type Text in the window that comes when the file is opened.";

const BY_REJECTS: &str =
    "Nothing has to be changed in the list: import the rejects file as it is, some time later.";

const BY_SAME_COMMAND: &str =
    "Nothing has to be changed in the list: the same command tries these rows again.";

const CHECK_ADDRESS: &str = "Have the address of the service checked (`--base-url`).";

impl Mending {
    /// For rows that ended so.
    pub(super) fn of(status: Status, code: ErrorCode, outlook: Outlook) -> Mending {
        match (status, code) {
            (Status::Uncertain, _) => uncertain(outlook),
            (Status::Rejected, ErrorCode::Http(_)) => REFUSED,
            (_, ErrorCode::Http(_)) => trouble(outlook.again),
            (_, ErrorCode::AnswerLost | ErrorCode::Timeout | ErrorCode::Connection) => {
                unreached(outlook.again)
            }
            (_, ErrorCode::UnreadableAnswer) => unreadable(outlook.again),
            (_, code) => cell(code),
        }
    }
}

/// For rows that the service did not take.
const REFUSED: Mending = Mending {
    title: "Refused by the service",
    meaning: "The service got the row and did not take it. Its words stand beside each example and, for every row, in the column `error` of the results.",
    steps: &[
        "Read what the service says, and mend those cells in the rejects file.",
        "If it is right that the service does not take these people, delete the rows.",
    ],
};

/// For rows that may be leads: what the program does with them, and what is left to people.
fn uncertain(outlook: Outlook) -> Mending {
    Mending {
        title: "May or may not have become leads",
        meaning: "The service was asked to make these leads, and its answer was lost. Some of them may be there already.",
        steps: match (outlook.again, outlook.in_doubt) {
            (Again::SameCommand, InDoubt::Refused) => &[
                "Nothing has to be done first: the same command sends these rows again, and the service refuses those that it has. They come back as `duplicate`.",
            ],
            (Again::Rejects, InDoubt::Refused) => &[
                "Nothing has to be done first: when the rejects file is imported, the service refuses those that it has. They come back as `duplicate`.",
            ],
            (Again::SameCommand, InDoubt::Doubled) => &[
                "Look for the numbers at the service before the same command is run again: it makes them again, also those that are there (`--allow-duplicates`).",
            ],
            (Again::Rejects, InDoubt::Doubled) => &[
                "Look for the numbers at the service before the rejects file is imported: they would be made again, also those that are there (`--allow-duplicates`).",
            ],
            (_, InDoubt::Held) => &[
                "Look for the numbers at the service.",
                "They are left alone, until the command is run with `--on-uncertain resend`: then they are sent again.",
            ],
        },
    }
}

fn unreached(again: Again) -> Mending {
    Mending {
        title: "The service could not be reached",
        meaning: "No answer came, although the row was sent several times. It can be sent again without harm.",
        steps: match again {
            Again::SameCommand => &[BY_SAME_COMMAND],
            Again::Rejects => &[BY_REJECTS],
        },
    }
}

fn unreadable(again: Again) -> Mending {
    Mending {
        title: "The service answered what nobody can read",
        meaning: "Something answered, but not as the service does. It may be another machine on the way, or the address may be wrong.",
        steps: match again {
            Again::SameCommand => &[CHECK_ADDRESS, BY_SAME_COMMAND],
            Again::Rejects => &[CHECK_ADDRESS, BY_REJECTS],
        },
    }
}

fn trouble(again: Again) -> Mending {
    Mending {
        title: "The service had trouble of its own",
        meaning: "The service answered that it cannot take the row just now, several times. The row itself may be in order.",
        steps: match again {
            Again::SameCommand => &[BY_SAME_COMMAND],
            Again::Rejects => &[BY_REJECTS],
        },
    }
}

/// For rows that were not sent because of what stands in them.
fn cell(code: ErrorCode) -> Mending {
    match code {
        ErrorCode::PhoneMissing => Mending {
            title: "No phone number",
            meaning: "The phone cell is empty, or holds a word or a dash that stands for nothing.",
            steps: &[
                "Show these rows alone: turn on the filter (Data, Filter in Excel; Data, AutoFilter in LibreOffice) and choose the empty cells of the phone column.",
                "Fill in the numbers, or delete the rows of people who have none.",
                "If the number is in another column, name both columns, `--phone-column Mobile` and `--phone-column Phone`: the first usable number is taken.",
            ],
        },
        ErrorCode::PhoneNotE164 => Mending {
            title: "Not readable as an international number",
            meaning: "The cell has letters, a remark or an extension in it, or a number without its country.",
            steps: &[
                AS_TEXT,
                "Write `+` and the calling code of the country before the number, without the leading zero: in Britain 07700 900201 becomes +447700900201.",
                "If all numbers without a country are of the same one, leave them as they are and name it: `--region GB` for Britain, `--region DE` for Germany.",
                "Move names, remarks and extensions to a column of their own, so that the cell holds the number alone.",
            ],
        },
        ErrorCode::PhoneImpossible => Mending {
            title: "Too many or too few digits",
            meaning: "No number of that country has so many digits, or no country has a calling code like that.",
            steps: &[
                "Compare with where the list comes from: mostly a digit is missing or stands there twice.",
                "Look for a calling code that stands there twice, or a wrong one.",
                "If many numbers have lost digits, a spreadsheet has cut them off. Export the list again, with the phone column as text.",
            ],
        },
        ErrorCode::PhoneInvalid => Mending {
            title: "Not in use",
            meaning: "The number has the right length, but its country has not given out such numbers.",
            steps: &[
                "Compare with where the list comes from: mostly a digit is wrong, or two are swapped.",
                "If you know that the number rings, import it with `--phone-rule possible`.",
                "Otherwise delete the row.",
            ],
        },
        ErrorCode::PhoneAmbiguous => Mending {
            title: "More than one number in the cell",
            meaning: "Only one of them can be called, and which one is for you to say.",
            steps: &[
                AS_TEXT,
                "Keep one number in each cell, and delete the other or move it to another column.",
                "To part many cells at once: insert an empty column to the right, select the phone column, then Data, Text to Columns (in Excel and in LibreOffice), and choose the character between the numbers.",
            ],
        },
        ErrorCode::PhoneDamaged => Mending {
            title: "Damaged by a spreadsheet",
            meaning: "A spreadsheet took the number for an amount and wrote something like 4.4770E+11. The digits are gone from this file, and no cell format brings them back.",
            steps: &[
                "Go back to the program that the list comes from.",
                EXPORT_AGAIN,
                "Do not double-click a CSV file to open it in Excel: that is how numbers get damaged.",
            ],
        },
        ErrorCode::PhoneDoubtful => Mending {
            title: "Perhaps a number of another country",
            meaning: "The number has no calling code. Completed with the country that is set for the whole list, it would be somebody's number; but it is not written as numbers there are, no such numbers are in use there, or the rest of the list is of another country.",
            steps: &[
                AS_TEXT,
                "Write `+` and the calling code of the country before the number, as it is dialled from abroad: (203) 555-0132 of Hartford becomes +12035550132.",
                "If the list has a column with countries, fill it in for these rows: it goes before the country of the whole list.",
                "If you know that they are right as they are, import them with `--phone-rule possible`.",
            ],
        },
        ErrorCode::CountryNotAllowed => Mending {
            title: "A number of another country",
            meaning: "The import was limited to some countries (`--countries`), and this number is of none of them.",
            steps: &[
                "If these people are to be called, add their country: `--countries GB,IE`.",
                "Otherwise delete the rows.",
            ],
        },
        ErrorCode::FieldCount => Mending {
            title: "Cells missing, or too many",
            meaning: "The row has more or fewer cells than the header, so it is not clear which cell belongs under which header. Mostly a cell without quotes around it has a comma or a line break in it.",
            steps: &[
                "Put each cell of the row under its header. In a rejects file, cells that were too many stand in the column `leadload_surplus`.",
                "In a rejects file, then clear the row's cell `leadload_error_code`: that says that the row is mended.",
            ],
        },
        ErrorCode::UnclosedQuote => Mending {
            title: "A quotation mark that is never closed",
            meaning: "A cell begins with a quotation mark and does not end with one, so its end cannot be told.",
            steps: &[
                "Find the line in a text editor (Notepad, TextEdit) and delete the quotation mark, or put the missing one.",
                "Or save the list again as CSV from the spreadsheet, which sets the marks itself.",
            ],
        },
        ErrorCode::RowTooLong => Mending {
            title: "Far too long for a contact",
            meaning: "The row holds more text than any contact has: a document, a picture, or many rows run together.",
            steps: &["Find the line in the list, and delete what does not belong there."],
        },
        ErrorCode::CampaignInvalid => Mending {
            title: "No campaign for the row",
            meaning: "The row does not say for which campaign it is, or names one in a way that cannot be read.",
            steps: &[
                "Fill in the id or the name of the campaign, as the service has it. Fill Down (Ctrl+D) copies it to the cells below.",
                "Or give one campaign for all rows without their own: `--campaign 101`.",
            ],
        },
        ErrorCode::Encoding => Mending {
            title: "Letters that cannot be read",
            meaning: "The row has characters that are none in the encoding of the file: often accented letters from another program.",
            steps: &[
                "Save the list again where it comes from: in Excel as CSV UTF-8, in LibreOffice with the character set Unicode (UTF-8).",
                "Or name the encoding that the file has: `--encoding windows-1252`.",
            ],
        },
        // These have advice of their own: see above.
        ErrorCode::AnswerLost
        | ErrorCode::Timeout
        | ErrorCode::Connection
        | ErrorCode::UnreadableAnswer
        | ErrorCode::Http(_) => unreached(Again::Rejects),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_has_advice_of_its_own_that_says_what_to_do() {
        let mut titles = Vec::new();
        let codes = ErrorCode::all().chain([ErrorCode::Http(422)]);
        let again = [Again::SameCommand, Again::Rejects];
        let in_doubt = [InDoubt::Refused, InDoubt::Doubled, InDoubt::Held];
        let outlooks = again.map(|again| in_doubt.map(|in_doubt| Outlook { again, in_doubt }));
        let outlooks = outlooks.as_flattened();
        for code in codes {
            for status in Status::ALL.into_iter().filter(|status| status.is_problem()) {
                for outlook in outlooks {
                    let mending = Mending::of(status, code, *outlook);
                    assert!(!mending.steps.is_empty() && !mending.meaning.is_empty());
                    let texts = [mending.title, mending.meaning];
                    for text in texts.iter().chain(mending.steps) {
                        assert_eq!(text.matches('`').count() % 2, 0, "{text}");
                    }
                }
            }
            titles.push(Mending::of(Status::Invalid, code, outlooks[0]).title);
        }
        titles.sort_unstable();
        titles.dedup();
        // What kept the service from answering is one problem to whoever has the list.
        assert_eq!(titles.len(), 16);
    }
}
