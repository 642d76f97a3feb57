//! The rate, as the service sees it.

use std::time::Duration;

use leadload::sandbox::Stats;

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
    assert_at_most(50, Duration::from_secs(1), &stats);
    let arrivals = &stats.arrivals_us;
    let seconds = (arrivals[299] - arrivals[0]) as f64 / 1e6;
    // 300 starts at 50/s have 299 gaps of 20 ms. How little time is lost is
    // tested exactly with a stopped clock.
    assert!(seconds >= 5.9, "{seconds}");
    assert!(seconds <= 299.0 * 0.02 * 1.25, "{seconds}");
}

/// Starts are exact to the microsecond, which is tested with a stopped clock.
/// On a busy machine one request may arrive late and the next one on time.
fn assert_at_most(most: usize, window: Duration, stats: &Stats) {
    let found = stats.max_in_window(window);
    assert!(found <= most + 1, "{found} in {window:?}");
    let shorter = window.mul_f64(0.97);
    assert!(stats.max_in_window(shorter) <= most, "in {shorter:?}");
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
    assert_at_most(60, Duration::from_secs(2), &stats);
    assert_at_most(100, Duration::from_secs(1), &stats);
}
