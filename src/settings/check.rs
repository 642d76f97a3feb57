//! Checks of options that do not depend on the inputs.

use crate::campaign::CampaignChoice;
use crate::message::Message;
use crate::options::{DeliveryOptions, Options};
use crate::rate::RateChoice;

/// Checks them; the error comes with the option's key.
pub(super) fn check_alone(options: &Options) -> Result<(), (&'static str, Message)> {
    let Options { delivery, log, .. } = options;
    rate(delivery).map_err(|error| ("rate", error))?;
    campaign(options).map_err(|error| ("campaign", error))?;
    if log.quiet == Some(true) && log.verbose > Some(0) {
        let what = "`--quiet` cannot be used with `--verbose`";
        return Err(("quiet", Message::new(what, "leave one of them out")));
    }
    Ok(())
}

pub(super) fn campaign(options: &Options) -> Result<Option<CampaignChoice>, Message> {
    let text = options.mapping.campaign.as_deref();
    CampaignChoice::given(text.map_or("", String::as_str))
}

/// The rate of any number of `--rate` flags.
pub(super) fn rate(delivery: &DeliveryOptions) -> Result<RateChoice, Message> {
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
        return Err(Message::new(
            format!("`--rate {word}` cannot be combined with another `--rate`"),
            "leave one of them out",
        ));
    }
    Ok(choice)
}
