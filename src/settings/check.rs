//! Checks of options that do not depend on the inputs.

use anyhow::{Result, anyhow, bail};

use crate::campaign::CampaignChoice;
use crate::options::{DeliveryOptions, Options};
use crate::rate::RateChoice;

/// Checks the options. An error comes with the option's key.
pub(super) fn check_alone(options: &Options) -> Result<(), (&'static str, anyhow::Error)> {
    let Options { delivery, log, .. } = options;
    rate(delivery).map_err(|error| ("rate", error))?;
    campaign(options).map_err(|error| ("campaign", error))?;
    if delivery.again == Some(true) && delivery.allow_duplicates != Some(true) {
        let error = anyhow!(
            "`--again` needs `--allow-duplicates`\n\nhint: without both, the same command sends only what is new"
        );
        return Err(("again", error));
    }
    if log.quiet == Some(true) && log.verbose > Some(0) {
        let error = anyhow!("`--quiet` contradicts `--verbose`\n\nhint: remove one of the two");
        return Err(("quiet", error));
    }
    Ok(())
}

pub(super) fn campaign(options: &Options) -> Result<Option<CampaignChoice>> {
    let text = options.mapping.campaign.as_deref();
    CampaignChoice::given(text.map_or("", String::as_str))
}

/// Combines the values of all `--rate` flags.
pub(super) fn rate(delivery: &DeliveryOptions) -> Result<RateChoice> {
    let mut given = delivery.rate.iter().flatten();
    let first = given.next();
    let mut choice = first.map_or(RateChoice::Auto, |first| (**first).clone());
    for other in given {
        let word = match (&mut choice, &**other) {
            (RateChoice::Limits(limits), RateChoice::Limits(more)) => {
                limits.extend(more);
                continue;
            }
            (RateChoice::Auto, _) | (RateChoice::Limits(_), RateChoice::Auto) => "auto",
            _ => "none",
        };
        bail!(
            "`--rate {word}` cannot be combined with another `--rate`\n\nhint: remove one of the two"
        );
    }
    Ok(choice)
}
