//! What statuses and problems mean, and what to do about them, in a few words.
//!
//! Rule: names nobody. The page for people says the same at length, step by step.

use std::borrow::Cow;

use super::tally::{Ended, Group};
use crate::api::wire::LeadForm;
use crate::intake::OnUncertain;
use crate::lead::{ErrorCode, Status};

/// What is said of a run on the embedded service.
pub const TRIAL: &str = "This was a trial on the sandbox: nothing left this computer.";

/// What the program does about a row that may have been taken, when it comes to it again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InDoubt {
    /// Sends it again: the service refuses what it has.
    #[default]
    Refused,
    /// Sends it again, and the service may make a second lead.
    Doubled,
    /// Leaves it alone until it is told otherwise.
    Held,
}

impl InDoubt {
    /// As it was said on the command line.
    pub fn of(on_uncertain: OnUncertain, form: LeadForm) -> InDoubt {
        match on_uncertain {
            OnUncertain::Hold => InDoubt::Held,
            OnUncertain::Resend if form.allow_duplicates => InDoubt::Doubled,
            OnUncertain::Resend => InDoubt::Refused,
        }
    }
}

/// What sends rows again that have not become leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// The command that was stopped.
    SameCommand,
    /// A command of its own, once the list has been gone through.
    Rejects,
}

/// How it goes on with rows that have not become leads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outlook {
    pub(super) again: Again,
    pub(super) in_doubt: InDoubt,
}

impl Outlook {
    /// After a command that has ended so.
    pub(super) fn after(ended: &Ended<'_>) -> Outlook {
        Outlook {
            again: match ended.continue_with {
                Some(_) => Again::SameCommand,
                None => Again::Rejects,
            },
            in_doubt: ended.in_doubt,
        }
    }
}

/// What to do about it. What the service said stands in the results, since it may
/// name a person.
pub(super) fn advice<'a>(
    status: Status,
    code: ErrorCode,
    group: &'a Group,
    outlook: Outlook,
) -> Cow<'a, str> {
    match status {
        Status::Uncertain => uncertain(outlook).into(),
        Status::Failed => {
            let then = match outlook.again {
                Again::SameCommand => "the same command tries again",
                Again::Rejects => "import the rejects later",
            };
            format!("{}; {then}", failed(code)).into()
        }
        _ => mending(code, group).into(),
    }
}

/// What to do about rows that may be leads.
fn uncertain(outlook: Outlook) -> &'static str {
    match (outlook.again, outlook.in_doubt) {
        (Again::SameCommand, InDoubt::Refused) => {
            "these may be leads already: the same command sends them again, and the service refuses those that it has"
        }
        (Again::Rejects, InDoubt::Refused) => {
            "these may be leads already: when they are sent again, the service refuses those that it has"
        }
        (Again::SameCommand, InDoubt::Doubled) => {
            "these may be leads already, and the same command makes them again: look for them at the service first"
        }
        (Again::Rejects, InDoubt::Doubled) => {
            "these may be leads already, and would be made again: look for them at the service before sending them"
        }
        (Again::SameCommand, InDoubt::Held) => {
            "these may be leads already: the same command leaves them alone. Look for them at the service; with --on-uncertain resend they are sent again"
        }
        (Again::Rejects, InDoubt::Held) => {
            "these may be leads already, and are left alone. Look for them at the service; with --on-uncertain resend they are sent again"
        }
    }
}

/// Why a row is out of attempts.
fn failed(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Timeout => "the service did not answer in time",
        ErrorCode::Connection => "the connection could not be made or broke",
        _ => "the service was busy or had an error of its own",
    }
}

/// What to do about a row that is not taken as it stands.
fn mending(code: ErrorCode, group: &Group) -> &str {
    match code {
        ErrorCode::PhoneMissing => "fill in the phone number, or leave the row out",
        // The text of the first row says more.
        ErrorCode::PhoneNotE164
        | ErrorCode::PhoneImpossible
        | ErrorCode::PhoneInvalid
        | ErrorCode::PhoneAmbiguous
        | ErrorCode::PhoneDamaged
        | ErrorCode::PhoneDoubtful
        | ErrorCode::CountryNotAllowed => group.example.as_deref().unwrap_or(SEE_RESULTS),
        ErrorCode::FieldCount => {
            "look for a missing or surplus comma or quote in the row; in the rejects, clear \
             its leadload_error_code when it is mended"
        }
        ErrorCode::RowTooLong => "look for what does not belong into a list of contacts",
        ErrorCode::UnclosedQuote => {
            "close the quote in the row, or take it out; in the rejects, clear its \
             leadload_error_code when it is mended"
        }
        ErrorCode::CampaignInvalid => "fill in a campaign's id or name, or give --campaign",
        ErrorCode::Encoding => {
            "name the file's encoding with --encoding, or save it as \"CSV UTF-8\" where it comes from"
        }
        ErrorCode::UnreadableAnswer => "the answer could not be read; check the base URL",
        ErrorCode::Http(http_status) => refused(http_status),
        ErrorCode::Timeout | ErrorCode::Connection | ErrorCode::AnswerLost => SEE_ERROR,
    }
}

const SEE_RESULTS: &str = "the column error in the results says what is wrong with each";

const SEE_ERROR: &str = "what the service said stands in the results, in the column error";

/// What to do about rows that the service has refused with this status.
fn refused(http_status: u16) -> &'static str {
    match http_status {
        400 | 422 => {
            "the service does not take these values: the column error in the results says why; mend the rows"
        }
        401 | 403 => {
            "the service does not allow these rows: the column error in the results says why; ask whoever runs it"
        }
        404 | 410 => {
            "the service does not know what these rows name: look whether their campaign is still there"
        }
        409 => {
            "the service says that these rows conflict with what it has: the column error in the results says with what"
        }
        413 => "these rows are too long for the service: leave columns out with --skip-column",
        _ => SEE_ERROR,
    }
}

/// What a status means, in a few words.
pub(super) fn meaning(status: Status) -> &'static str {
    match status {
        Status::Created => "the service made the lead",
        Status::Duplicate => "the campaign had the number already",
        Status::Repeated => "the number stands earlier in the input; not sent",
        Status::AlreadyImported => "an earlier run settled it; not sent",
        Status::Excluded => "left out by --only; not sent",
        Status::Suppressed => "on a do-not-call list; not sent",
        Status::Invalid => "cannot be sent as it stands; not sent",
        Status::Rejected => "the service refused the row",
        Status::Failed => "not delivered, and safe to send again",
        Status::Uncertain => "may or may not have been taken",
        Status::Ready => "would be sent",
    }
}
