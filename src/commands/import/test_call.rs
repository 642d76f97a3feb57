//! `--test-to` on the terminal: sends one lead to the user's own number, and says what became of it.

use super::survey;
use crate::commands::ask::Terminal;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::import::{Request, TestLead, TestSent, inputs};
use crate::lead::Status;
use crate::options::Format;
use crate::pipeline::TestSend;
use crate::report::{InDoubt, ListNotes, Outcome, TestReport, console, log_end, stop_text};
use crate::signals::Interrupts;

/// Sends the test lead, with the variables and to the campaign of the first ready row.
pub(super) async fn run(
    mut request: Request,
    terminal: &Terminal,
    mut interrupts: Interrupts,
) -> Result<ExitCode, Failure> {
    let preparing = async {
        let (service, surveyed, _) = survey(&mut request).await?;
        TestLead::prepare(&request, &service, surveyed).await
    };
    let preparing = terminal.or_interrupted(&mut interrupts, preparing);
    let mut test = preparing.await?;
    let sent = test.send(&mut interrupts).await;
    let answer = sent.attempt.outcome.as_ref();
    if answer.is_some_and(|outcome| outcome.status == Status::Created) {
        // The phone rings only while the campaign is running. The
        // lead is reported even if the campaign's state is not known.
        let listing = test.campaign_list.list_if_possible();
        let _ = terminal.or_interrupted(&mut interrupts, listing).await;
    }
    report(&test, sent, terminal.time.seconds())
}

fn report(test: &TestLead, sent: TestSent, elapsed_s: f64) -> Result<ExitCode, Failure> {
    let TestSent { attempt, tally } = sent;
    let TestSend {
        outcome: answer,
        stop,
        ..
    } = attempt;
    let outcome = Outcome {
        exit_code: tally.exit_code(stop.as_ref(), ExitCode::Problems),
        stop,
        requests: 1,
        in_doubt: InDoubt::default(),
        list_notes: ListNotes::default(),
        ..inputs::outcome(&test.settings, &test.intake, &tally, elapsed_s)
    };
    if let Some(stop) = &outcome.stop {
        console::error(&stop_text(stop));
    }
    log_end(&outcome);
    let report = TestReport {
        outcome: &outcome,
        claim: &test.claim,
        variables: &test.variables,
        campaigns: test.campaign_list.listed().unwrap_or_default(),
        answer: answer.as_ref(),
    };
    let shown = match test.settings.options.output.format() {
        Format::Text => console::show(&report.blocks()),
        Format::Json => console::print(&report.json()),
    };
    shown.stopped_by(StoppedBy::Disk)?;
    Ok(outcome.exit_code)
}
