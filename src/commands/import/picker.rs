//! The campaign, where none is given and somebody is there to pick one.

use anyhow::anyhow;

use crate::ask;
use crate::campaign::picked;
use crate::commands::directory::Directory;
use crate::commands::stopwatch::Stopwatch;
use crate::commands::{question, service};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::CampaignId;
use crate::report::{console, numbered_campaigns};
use crate::signals::Interrupts;

const QUESTION: &str = "Number, id or part of the name:";

/// Lists the campaigns and asks until one is picked, or none.
pub(super) async fn pick(
    directory: &mut Directory,
    watch: &Stopwatch,
    interrupts: &mut Interrupts,
) -> Result<CampaignId, Failure> {
    let campaigns = service::or_interrupted(interrupts, directory.list()).await?;
    if campaigns.is_empty() {
        return Err(no_campaign());
    }
    console::note("No campaign is given. There are these:\n");
    console::note(&numbered_campaigns(campaigns));
    loop {
        let watch = watch.clone();
        let ask = move || watch.pause(|| ask::line(QUESTION));
        let answer = question::answered(interrupts, ask).await?;
        let Some(answer) = answer.filter(|answer| !answer.is_empty()) else {
            return Err(no_campaign());
        };
        match picked(&answer, campaigns) {
            Ok(campaign) => return campaign.lead_campaign().or_stopped(StoppedBy::Usage),
            Err(unclear) => console::note(&format!("{unclear}\n")),
        }
    }
}

/// Why nothing can be sent without a campaign.
pub(super) fn no_campaign() -> Failure {
    let error = anyhow!(
        "no campaign is given\n\nhint: name it with `--campaign`, by id or by name, or with `--campaign-column`; `leadload campaigns` lists them"
    );
    Failure::new(StoppedBy::Usage, error)
}
