//! The rate, as the service sees it.

use std::time::Duration;

use crate::util::{Folder, contacts, service};

#[test]
fn no_rolling_second_holds_more_than_the_rate_and_little_of_it_is_lost() {
    let folder = Folder::with_leads(&contacts(300));
    let service = service();
    folder
        .leadload(&["import", "leads.csv", "--campaign", "101", "--rate", "50/s"])
        .at(&service)
        .expect(0);
    let stats = service.stats();
    assert!(stats.max_in_window(Duration::from_secs(1)) <= 50);
    let arrivals = &stats.arrivals_us;
    let seconds = (arrivals[299] - arrivals[0]) as f64 / 1e6;
    // 300 starts at 50/s are 299 spaces of 20 ms.
    assert!(seconds <= 299.0 * 0.02 * 1.05, "{seconds}");
}

#[test]
fn several_rates_hold_at_once() {
    let folder = Folder::with_leads(&contacts(80));
    let service = service();
    folder
        .leadload(&[
            "import",
            "leads.csv",
            "--campaign",
            "101",
            "--rate",
            "100/s",
            "--rate",
            "60/2s",
        ])
        .at(&service)
        .expect(0);
    let stats = service.stats();
    assert!(stats.max_in_window(Duration::from_secs(2)) <= 60);
    assert!(stats.max_in_window(Duration::from_secs(1)) <= 100);
}
