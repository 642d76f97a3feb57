//! What holds where nobody says anything.

use crate::intake::OnUncertain;
use crate::options::{Options, RateArg, Said};
use crate::rate::Rate;

/// The rate for the sandbox: a trial is short, and slow enough to watch.
const SANDBOX_RATE: Rate = Rate::per_second(50);

/// The defaults, where these options are said.
pub(super) fn of(said: &Options) -> Options {
    let mut defaults = Options::defaults();
    if said.connection.sandbox == Some(true) {
        let rate = Said::told_as(RateArg::Limit(SANDBOX_RATE), SANDBOX_RATE.to_string());
        defaults.delivery.rate = Some(vec![rate]);
    }
    if said.delivery.allow_duplicates == Some(true) {
        // Where the service makes duplicates, nothing refuses a second call.
        defaults.delivery.on_uncertain = Some(Said::told_as(OnUncertain::Hold, "hold"));
    }
    // What a run is known by says these, whoever says nothing of them.
    defaults.phones.assume_plus = Some(false);
    defaults.phones.countries = Some(Vec::new());
    defaults.delivery.allow_duplicates = Some(false);
    defaults
}
