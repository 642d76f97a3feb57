//! Tests of the page as a whole, at fixed times.

use std::fs;
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::*;
use crate::command_line::CommandLine;
use crate::event::RunEvent;
use crate::exit::{ExitCode, StoppedBy};
use crate::intake::{InspectedInput, Once, PlannedInput};
use crate::lead::{ErrorCode, RowOutcome, RunId, Status};
use crate::mapping::MappingSpec;
use crate::message::Text;
use crate::phone::{PhoneNumber, PhoneRules};
use crate::report::Tally;
use crate::report::{ListNotes, NextCommands};
use crate::results::{Written, WrittenRejects};
use crate::screen::SuppressionLists;
use crate::source::{FormChoice, Input, RowBatch};
use crate::stop::Stop;

/// The planned inputs for a list with this header.
fn intake(folder: &tempfile::TempDir, header: &str) -> Intake {
    let path = folder.path().join("leads.csv");
    fs::write(&path, format!("{header}\n+447911000001,Ada\n")).unwrap();
    let input = Input::open(&path).unwrap();
    let surveyed = InspectedInput::new(input, &FormChoice::default()).unwrap();
    let planned = PlannedInput::new(surveyed, &MappingSpec::default()).unwrap();
    Intake {
        inputs: Arc::new([planned]),
        limit: None,
        phones: PhoneRules::default(),
        region: None,
        doubts: false,
        doubted: None,
        doubt: None,
        marked: Arc::default(),
        suppression: Arc::new(SuppressionLists::default()),
        allow_duplicates: false,
        once: Once::Campaign,
        earlier: Arc::default(),
    }
}

/// Outcomes of rows that were sent, and of one that could not be.
fn outcomes(error: &str) -> [RowOutcome; 3] {
    let sent = |status, code| RowOutcome {
        attempts: 1,
        ..RowOutcome::not_sent(status, code, Some(Text::said(error)))
    };
    [
        sent(Status::Created, None),
        sent(Status::Rejected, Some(ErrorCode::Http(422))),
        RowOutcome::invalid(ErrorCode::PhoneDamaged, Text::said(error)),
    ]
}

/// The page of a run that was stopped early, when three rows had an outcome.
fn page_of_a_stopped_run(header: &str, cell: &str, error: &str) -> String {
    page_of_a_stopped_run_of(|_| {}, header, cell, error)
}

/// The page of a stopped run whose outcome is also changed.
fn page_of_a_stopped_run_of(
    change: impl Fn(&mut Outcome<'_>),
    header: &str,
    cell: &str,
    error: &str,
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let intake = intake(&folder, header);
    let mut notes = Examples::new(&intake.inputs);
    let mut tally = Tally::new(1);
    let rows = RowBatch::of_text(&[&["+447911000001", "a"], &[cell, "b"], &[cell, "c"]]);
    for (row, outcome) in rows.rows().zip(&outcomes(error)) {
        let event = RunEvent::Settled {
            row,
            phone: PhoneNumber::from_e164("+447911000001").ok(),
            campaign: None,
            outcome,
            sent: outcome.attempts > 0,
        };
        notes.count(&event);
        tally.count(&event);
    }
    let command = ["leadload", "import", "leads.csv"].map(Into::into);
    let mut outcome = Outcome {
        campaign_names: Default::default(),
        list_notes: ListNotes::default(),
        run: Some(RunId(7)),
        tally: &tally,
        inputs: vec!["leads.csv"],
        stop: Some(Stop::error(
            StoppedBy::MaxDuration,
            message!("the time is up: {error}", "more time", error),
        )),
        exit_code: ExitCode::Interrupted,
        requests: 2,
        rows_total: None,
        elapsed_s: 65.0,
        stopped_at: Vec::new(),
        written: Written {
            rejects: vec![WrittenRejects {
                path: "leads.rejects.csv".into(),
                rows: 1,
            }],
            ..Written::default()
        },
        sandbox: false,
        in_doubt: Default::default(),
        next: NextCommands {
            continue_with: Some(CommandLine::of(&command)),
            ..NextCommands::default()
        },
    };
    change(&mut outcome);
    let page = Page {
        outcome: &outcome,
        intake: &intake,
        notes: &notes,
        campaign: Some(&CampaignChoice::Name(error.to_owned())),
        mode: RunMode::Sent {
            service: "https://app.example.com".to_owned(),
            goes_on: false,
        },
    };
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    page.html_at("2026-11-22T01:31:05Z".parse().unwrap(), &zone)
}

#[test]
fn a_page_starts_with_its_generator_and_forbids_all_external_content() {
    let page = page_of_a_stopped_run("phone,name", "x", "why");
    let head = &page[..512];
    assert!(
        head.contains(r#"<meta name="generator" content="leadload "#),
        "{head}"
    );
    assert!(
        head.contains(
            r#"<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"#
        ),
        "{head}"
    );
    assert!(
        head.contains(r#"<html lang="en">"#) && head.contains("viewport"),
        "{head}"
    );
}

#[test]
fn a_stopped_run_is_described_in_words_and_local_time() {
    let page = page_of_a_stopped_run("phone,name", "x", "why");
    for said in [
        "The import stopped early. Until then: ",
        "of 3 rows, 1 became a lead and 2 need attention.",
        "<strong>What to do: </strong>more time",
        "<dt>Began</dt><dd><bdi>22 November 2026, 02:30:00 (UTC+01:00)</bdi></dd>",
        "1 min 5 s",
        "<dd><bdi>app.example.com</bdi></dd>",
        "The same command continues where this stopped:</p><pre><code>leadload import leads.csv</code></pre>",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
}

#[test]
fn a_stop_shows_the_total_of_rows_if_known() {
    let page = page_of_a_stopped_run_of(
        |outcome| outcome.rows_total = Some(300),
        "phone,name",
        "x",
        "why",
    );
    for said in [
        "Until then: 3 of 300 rows were finished; 1 became a lead and 2 need attention.",
        "<bdi>leads.csv, 3 of 300 rows finished</bdi>",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
}

#[test]
fn a_stop_without_a_ledger_explains_what_the_same_command_does() {
    let page = page_of_a_stopped_run_of(|outcome| outcome.run = None, "phone,name", "x", "why");
    for said in [
        "<p>Without a ledger leadload does not know which rows were sent: only the service can refuse leads that it has.</p>",
        "<p>The same command sends the whole list again:</p><pre><code>leadload import leads.csv</code></pre>",
        "Rows to fix can wait",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains("goes on"), "{page}");
}

#[test]
fn after_a_stop_rejects_are_named_and_not_what_comes_next() {
    let page = page_of_a_stopped_run("phone,name", "x", "why");
    for said in [
        "<dt>Rejects: <bdi>leads.rejects.csv</bdi></dt><dd>1 row</dd>",
        "Rows to fix can wait: when the whole list is done, the rejects file has all of them.",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains("Fix the rows in"), "{page}");
}

#[test]
fn nothing_that_is_shown_can_become_markup_or_a_control_sequence() {
    let hostile = "\"'><script>x</script><img src=x onerror=y>&\0\u{1b}\u{202e}\u{2066}";
    let page = page_of_a_stopped_run(
        &format!("phone,\"{}\"", hostile.replace('"', "")),
        hostile,
        hostile,
    );
    let shown = "&quot;'&gt;&lt;script&gt;x&lt;/script&gt;&lt;img src=x onerror=y&gt;&amp;\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}";
    assert_eq!(
        page.matches(shown).count(),
        6,
        "cells, errors, stop and campaign: {page}"
    );
    for forbidden in ["<script", "<img", "\0", "\u{1b}", "\u{202e}", "\u{2066}"] {
        assert!(!page.contains(forbidden), "{forbidden:?}");
    }
}
