//! What holds where nobody says anything.

use crate::intake::OnUncertain;
use crate::options::{Options, RateArg, Said};
use crate::rate::Rate;

/// What the sandbox is sent, so that a trial is short and yet to be watched.
const SANDBOX_RATE: Rate = Rate::per_second(50);

/// The defaults, where these options are said.
pub(super) fn of(said: &Options) -> Options {
    let mut defaults = Options::defaults();
    let rate = match said.connection.sandbox {
        Some(true) => Said::told_as(RateArg::Limit(SANDBOX_RATE), SANDBOX_RATE.to_string()),
        _ => Said::told_as(RateArg::Auto, "auto"),
    };
    defaults.delivery.rate = Some(vec![rate]);
    // Where the service makes duplicates, nothing refuses a second call.
    let on_uncertain = match said.delivery.allow_duplicates {
        Some(true) => Said::told_as(OnUncertain::Hold, "hold"),
        _ => Said::told_as(OnUncertain::Resend, "resend"),
    };
    defaults.delivery.on_uncertain = Some(on_uncertain);
    defaults.phones.assume_plus = Some(false);
    defaults.phones.countries = Some(Vec::new());
    defaults.delivery.allow_duplicates = Some(false);
    defaults
}
