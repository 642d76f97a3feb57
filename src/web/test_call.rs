//! A test call: one lead to the user's own number.

use std::sync::Arc;
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::job::{Job, JobRecord};
use super::site::Site;
use super::trouble::{Trouble, sentence};
use crate::exit::Failure;
use crate::import::{TestLead, inputs, service};
use crate::lead::Status;
use crate::options::Given;
use crate::report::stop_text;
use crate::signals::Interrupts;

/// Sends it, and says what became of it.
pub async fn send(site: &Arc<Site>, job: &Job, number: &str) -> Result<String, Trouble> {
    let mut record = job.record();
    record.options.delivery.test_to = Some(Given::text_of(number));
    let site = Arc::clone(site);
    let (sender, sent) = oneshot::channel();
    thread::spawn(move || {
        let _ = sender.send(service::block_on(attempt(&site, &record)));
    });
    let broke_off = |_| Trouble::new("The test call broke off.", "Try it again.");
    let sent = sent.await.map_err(broke_off)?;
    sent.map_err(|failure| Trouble::of(&failure))?
}

async fn attempt(site: &Site, record: &JobRecord) -> Result<Result<String, Trouble>, Failure> {
    let mut request = site.request(record)?;
    let service = site.service(&request.layers)?;
    let surveyed = inputs::survey(&mut request).await?;
    let mut test = TestLead::prepare(&request, &service, surveyed).await?;
    // Nobody can interrupt it: it is one request with a time limit.
    let (_stop, stopped) = mpsc::channel(1);
    let sent = test.send(&mut Interrupts::new(stopped)).await;
    if let Some(stop) = &sent.single.stop {
        return Ok(Err(Trouble::of_stop(stop.by(), &stop_text(stop))));
    }
    let outcome = sent.single.outcome.as_ref();
    Ok(
        match outcome.map(|outcome| (outcome.status, outcome.error.clone())) {
            Some((Status::Created, _)) => Ok(
                "The test lead is in the campaign. Your phone rings when the campaign calls."
                    .to_owned(),
            ),
            Some((_, Some(error))) => Err(Trouble::new(sentence(&error), "Nothing else was sent.")),
            _ => Err(Trouble::new(
                "The service did not take the test lead.",
                "Nothing else was sent.",
            )),
        },
    )
}
