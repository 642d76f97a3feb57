//! A test call: one lead to the user's own number.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::job::{Job, JobRecord};
use super::site::Site;
use super::trouble::Trouble;
use super::words::row_error;
use super::work;
use crate::exit::Failure;
use crate::import::{TestLead, inputs};
use crate::lead::Status;
use crate::options::Given;
use crate::report::stop_text;
use crate::signals::Interrupts;

#[derive(Debug, Default)]
pub enum TestState {
    #[default]
    NotBegun,
    Calling,
    /// What became of it.
    Told(Result<String, Trouble>),
}

impl TestState {
    pub fn is_at_work(&self) -> bool {
        matches!(self, TestState::Calling)
    }
}

/// Begins to send it, unless one is on its way. `tests` is how many had begun when the form was
/// made: a form that is sent twice sends one lead.
pub fn begin(site: &Arc<Site>, job: &Arc<Job>, number: &str, tests: usize) {
    let mut state = job.state();
    let is_again =
        state.tests.len() != tests && state.tests.last().is_some_and(|last| last == number);
    if state.test.is_at_work() || is_again {
        return;
    }
    state.tests.push(number.to_owned());
    state.test = TestState::Calling;
    let mut record = state.record.clone();
    drop(state);
    record.options.delivery.test_to = Some(Given::text_of(number));
    let (site, job) = (Arc::clone(site), Arc::clone(job));
    work::begin(
        async move || attempt(&site, &record).await,
        move |sent| {
            let told = sent.map_err(|failure| Trouble::of(&failure));
            job.state().test = TestState::Told(told.flatten());
            job.has_changed();
        },
    );
}

async fn attempt(site: &Site, record: &JobRecord) -> Result<Result<String, Trouble>, Failure> {
    let mut request = site.request(record)?;
    let service = site.service(&request.layers)?;
    let surveyed = inputs::survey(&mut request).await?;
    let mut test = TestLead::prepare(&request, &service, surveyed).await?;
    // Nobody can interrupt it: it is one request with a time limit.
    let (_stop, stopped) = mpsc::channel(1);
    let sent = test.send(&mut Interrupts::new(stopped)).await;
    if let Some(stop) = &sent.attempt.stop {
        return Ok(Err(Trouble::of_message(stop.by(), &stop_text(stop))));
    }
    let outcome = sent.attempt.outcome.as_ref();
    Ok(
        match outcome.map(|outcome| (outcome.status, &outcome.error)) {
            Some((Status::Created, _)) => Ok(
                "The test lead is in the campaign. Your phone rings when the campaign calls."
                    .to_owned(),
            ),
            Some((_, Some(error))) => Err(Trouble::new(
                row_error(Some(error)),
                "Nothing else was sent.",
            )),
            _ => Err(Trouble::new(
                "The service did not take the test lead.",
                "Nothing else was sent.",
            )),
        },
    )
}
