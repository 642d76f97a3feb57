//! Checks of options that do not depend on the inputs.

use std::ffi::OsString;

use crate::campaign::CampaignChoice;
use crate::message::{Message, Text};
use crate::options::{Declaration, DeliveryOptions, Form, Options};
use crate::rate::RateChoice;
use crate::text::is_quoted;

/// Checks them; the error comes with the option's key.
pub(super) fn check_alone(options: &Options) -> Result<(), (&'static str, Message)> {
    if let Some((declared, message)) = quoted(options) {
        return Err((declared.key, message));
    }
    let Options { delivery, log, .. } = options;
    rate(delivery).map_err(|error| ("rate", error))?;
    campaign(options).map_err(|error| ("campaign", error))?;
    if log.quiet == Some(true) && log.verbose > Some(0) {
        let what = "`--quiet` cannot be used with `--verbose`";
        return Err((
            "quiet",
            Message::new(
                Text::terminal(what),
                terminal_text!("leave one of them out"),
            ),
        ));
    }
    Ok(())
}

/// A path or an address in quotation marks, which would be part of it; not quoted, since there may
/// be a password in it.
pub(super) fn quoted(options: &Options) -> Option<(&'static Declaration, Message)> {
    let has_marks = |text: &OsString| is_quoted(&text.to_string_lossy());
    let mut fields = options.fields().into_iter();
    let (declared, _) = fields.find(|(declared, field)| {
        let is_place = field.form() == Form::File || declared.key == "base_url";
        is_place && field.texts().iter().any(has_marks)
    })?;
    let message = terminal_message!(
        "the value is in quotation marks",
        "leave them out: they would be part of it"
    );
    Some((declared, message))
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
            Text::terminal(format!(
                "`--rate {word}` cannot be combined with another `--rate`"
            )),
            terminal_text!("leave one of them out"),
        ));
    }
    Ok(choice)
}
