//! The summaries of commands that ended in various ways.

use super::*;
use crate::command_line::CommandLine;
use crate::exit::{ExitCode, StoppedBy};
use crate::lead::{ErrorCode, RunId, Status};
use crate::message::{Message, Text};
use crate::report::tally::OutcomeGroup;
use crate::report::{CampaignNames, InDoubt, ListNotes, NextCommands, Tally, Width, text};
use crate::results::{Written, WrittenRejects};
use crate::stop::Stop;

fn shown(outcome: &Outcome<'_>) -> String {
    text(&summary(outcome), Width::default())
}

/// A run that has ended early.
fn stopped(by: StoppedBy, tally: &Tally, continue_with: Option<CommandLine>) -> Outcome<'_> {
    Outcome {
        run: Some(RunId(7)),
        tally,
        inputs: vec!["leads.csv"],
        stop: Some(Stop::error(by, Message::without_hint(Text::default()))),
        exit_code: by.exit_code(),
        requests: 0,
        rows_total: None,
        elapsed_s: 1.5,
        stopped_at: Vec::new(),
        written: Written::default(),
        sandbox: false,
        in_doubt: InDoubt::default(),
        next: NextCommands {
            continue_with,
            ..NextCommands::default()
        },
        campaign_names: CampaignNames::default(),
        list_notes: ListNotes::default(),
    }
}

/// The last lines of the summary of a run that was stopped by a signal.
fn end_of_summary(continue_with: Option<CommandLine>) -> String {
    let tally = Tally::default();
    let text = shown(&stopped(StoppedBy::Signal, &tally, continue_with));
    let end = text.strip_prefix("Stopped by Ctrl-C or another signal after 0 rows in 1.5 s\n");
    end.unwrap().to_owned()
}

#[test]
fn every_stop_of_a_resumable_run_is_named_in_text_and_json() {
    let tally = Tally::default();
    let after = "after 0 rows in 1.5 s";
    for (by, word, said, code) in [
        (
            StoppedBy::Outage,
            "outage",
            format!("{after}: the service gives no usable answers"),
            ExitCode::Service,
        ),
        (
            StoppedBy::Rejections,
            "rejections",
            format!("{after}: the service rejects many rows for one reason"),
            ExitCode::Service,
        ),
        (
            StoppedBy::MaxDuration,
            "max_duration",
            format!("by `--max-duration` {after}"),
            ExitCode::Interrupted,
        ),
    ] {
        let line = CommandLine::of(&["leadload", "import"].map(Into::into));
        let outcome = stopped(by, &tally, Some(line));
        assert_eq!(
            shown(&outcome),
            format!(
                "Stopped {said}\n\nThe same command continues where this stopped:\n  leadload import\n"
            )
        );
        let json: serde_json::Value =
            serde_json::from_str(&crate::report::json_summary(&outcome)).unwrap();
        assert_eq!(json["stopped_by"], word);
        assert_eq!(json["exit_code"], code as u8);
    }
}

#[test]
fn a_resumable_run_ends_with_the_command_that_continues_it() {
    let command = ["leadload", "import", "my leads.csv"].map(Into::into);
    let line = CommandLine::of(&command);
    assert_eq!(
        end_of_summary(Some(line.clone())),
        format!(
            "\nThe same command continues where this stopped:\n  {}\n",
            line.shown().unwrap()
        )
    );
}

#[test]
fn without_a_command_to_show_the_advice_says_how_to_continue() {
    let line = CommandLine::of(&["leadload".into(), "import".into(), "a\u{1b}b".into()]);
    assert_eq!(
        end_of_summary(Some(line)),
        "\nThe same command continues where this stopped.\n"
    );
}

#[test]
fn without_a_ledger_the_advice_warns_that_the_whole_list_is_sent_again() {
    let mut tally = tally_of(&[(Status::Failed, 1)]);
    let key = (Status::Failed, Some(ErrorCode::Timeout));
    tally.groups.entry(key).or_default().rows = 1;
    let line = CommandLine::of(&["leadload", "import"].map(Into::into));
    let text = |in_doubt, sandbox| {
        shown(&Outcome {
            run: None,
            in_doubt,
            sandbox,
            ..stopped(StoppedBy::Outage, &tally, Some(line.clone()))
        })
    };
    let again = "\n\nThe same command sends the whole list again:\n  leadload import\n";
    let refused = text(InDoubt::Refused, false);
    assert!(
        refused.contains("; the same command tries again\n"),
        "{refused}"
    );
    let said = "\n\nWithout a ledger leadload does not know which rows were sent: only the service\ncan refuse leads that it has.";
    assert!(refused.ends_with(&format!("{said}{again}")), "{refused}");
    let doubled = text(InDoubt::Doubled, false);
    let said = "\n\nWithout a ledger leadload does not know which rows were sent. Duplicates are\nallowed, so the service makes their leads a second time.";
    assert!(doubled.ends_with(&format!("{said}{again}")), "{doubled}");
    let trial = text(InDoubt::Refused, true);
    assert!(!trial.contains("Without a ledger"), "{trial}");
    assert!(trial.ends_with(again), "{trial}");
}

fn complete<'a>(tally: &'a Tally, send_rejects_with: Option<CommandLine>) -> Outcome<'a> {
    Outcome {
        stop: None,
        exit_code: ExitCode::Problems,
        next: NextCommands {
            send_rejects_with,
            ..NextCommands::default()
        },
        ..stopped(StoppedBy::Signal, tally, None)
    }
}

fn tally_of(counts: &[(Status, u64)]) -> Tally {
    let mut tally = Tally::default();
    for (status, rows) in counts {
        (0..*rows).for_each(|_| tally.counts.add(*status));
    }
    tally
}

#[test]
fn rejects_that_need_no_fixing_are_sent_when_the_service_is_back() {
    let line = || {
        Some(CommandLine::of(
            &["leadload", "import", "r.csv"].map(Into::into),
        ))
    };
    for (status, said) in [
        (Status::Invalid, "When the rejects are fixed, send them:"),
        (Status::Rejected, "When the rejects are fixed, send them:"),
        (
            Status::Failed,
            "When the service is back, send the rejects:",
        ),
        (
            Status::Uncertain,
            "When the service is back, send the rejects:",
        ),
    ] {
        let mut tally = tally_of(&[(status, 1), (Status::Invalid, 2), (Status::Rejected, 3)]);
        // Known bad rows are in no rejects.
        tally.known_bad = 5;
        let text = shown(&complete(&tally, line()));
        let end = format!("\n\n{said}\n  leadload import r.csv\n");
        assert!(text.ends_with(&end), "{text}");
    }
}

#[test]
fn after_a_stop_the_total_of_rows_is_shown_if_known() {
    let tally = tally_of(&[(Status::Created, 109)]);
    let mut outcome = stopped(StoppedBy::Signal, &tally, None);
    for (rows_total, said) in [
        (
            Some(1300),
            "Stopped by Ctrl-C or another signal after 109 of 1,300 rows in 1.5 s\n",
        ),
        (
            None,
            "Stopped by Ctrl-C or another signal after 109 rows in 1.5 s\n",
        ),
    ] {
        outcome.rows_total = rows_total;
        let text = shown(&outcome);
        assert!(text.starts_with(said), "{text}");
    }
    outcome.stop = None;
    outcome.rows_total = Some(109);
    let text = shown(&outcome);
    assert!(text.starts_with("109 rows in 1.5 s\n"), "{text}");
}

#[test]
fn uncertain_rows_are_described_as_the_next_start_treats_them() {
    let mut tally = tally_of(&[(Status::Uncertain, 1)]);
    let key = (Status::Uncertain, Some(ErrorCode::AnswerLost));
    tally.groups.entry(key).or_default().rows = 1;
    for (in_doubt, said) in [
        (
            InDoubt::Refused,
            "these may be leads already: when they are sent again, the service refuses those that it has",
        ),
        (
            InDoubt::Doubled,
            "these may be leads already, and would be made again: look for them at the service before sending them",
        ),
        (
            InDoubt::Held,
            "these may be leads already, and are left alone. Look for them at the service; with --on-uncertain resend they are sent again",
        ),
    ] {
        let outcome = Outcome {
            in_doubt,
            ..stopped(StoppedBy::Signal, &tally, None)
        };
        let text = shown(&outcome);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(said), "{text}");
    }
}

#[test]
fn after_a_stop_the_only_advice_is_to_continue() {
    let tally = tally_of(&[(Status::Rejected, 1)]);
    let rejects = || Written {
        rejects: vec![WrittenRejects {
            path: "leads.rejects.csv".into(),
            rows: 1200,
        }],
        ..Written::default()
    };
    let line = CommandLine::of(&["leadload", "import"].map(Into::into));
    let outcome = Outcome {
        written: rejects(),
        ..stopped(StoppedBy::Signal, &tally, Some(line))
    };
    let text = shown(&outcome);
    let said = "\nRejects: leads.rejects.csv (1,200 rows)\n";
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("fix"), "{text}");
    let outcome = Outcome {
        written: rejects(),
        ..complete(&tally, None)
    };
    let said = "\nRejects: leads.rejects.csv (fix these rows and import this file)\n";
    assert!(shown(&outcome).contains(said));
}

#[test]
fn a_duration_is_shown_in_fitting_units() {
    for (time, said) in [
        (0.04, "0.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (119.6, "2 min 0 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 0 min"),
        (7325.0, "2 h 2 min"),
    ] {
        assert_eq!(seconds(time), said);
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let statuses = [400, 401, 403, 404, 409, 410, 413, 418, 422];
    let codes = statuses.map(ErrorCode::Http).into_iter();
    for code in codes.chain(ErrorCode::all()) {
        for status in [
            Status::Rejected,
            Status::Failed,
            Status::Uncertain,
            Status::Invalid,
        ] {
            let mut tally = tally_of(&Status::ALL.map(|status| (status, 10)));
            tally.known_bad = 10;
            let group = OutcomeGroup {
                rows: 12,
                example: Some(((0, 2), Text::said("words ".repeat(30)))),
                ..OutcomeGroup::default()
            };
            tally.groups.insert((status, Some(code)), group);
            for in_doubt in [InDoubt::Refused, InDoubt::Doubled, InDoubt::Held] {
                let outcome = Outcome {
                    in_doubt,
                    ..complete(&tally, None)
                };
                for columns in [30, 40, 80] {
                    let text = text(&summary(&outcome), Width::of_columns(columns));
                    let widest = text.lines().map(|line| line.chars().count()).max();
                    assert!(widest.unwrap() < columns, "{text}");
                }
            }
        }
    }
}
