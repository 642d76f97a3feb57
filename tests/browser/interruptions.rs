//! Runs that stop, wait, or lose their program.

use crate::browser::Browser;
use crate::screens::SEND;
use crate::util::{Folder, contacts, contacts_of, number, scenario, seen, wait_for_requests};
use crate::web::Web;

const SPRING: &str = "Spring promo (in progress)";
const SLOW: &str = "latency_ms = 30\nmax_concurrent = 1\nkeep_bodies = true";

/// Every number was sent once.
#[track_caller]
fn expect_each_once(service: &leadload::sandbox::Sandbox, rows: usize) {
    let mut phones: Vec<String> = service
        .leads()
        .into_iter()
        .map(|lead| lead.phone_number)
        .collect();
    phones.sort();
    assert_eq!(phones, (0..rows).map(number).collect::<Vec<_>>());
}

#[test]
fn a_run_whose_program_was_killed_is_resumed_from_the_history() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(100)));
    let service = scenario(SLOW);
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.send(&folder.path("leads.csv"), SPRING, 100);
    wait_for_requests(&service, 30);
    web.kill();
    page.wait_for("has stopped running");

    let web = Web::start(&folder, &service);
    web.open(&page);
    page.click("History");
    page.wait_for_heading("History");
    page.wait_for("broken off");
    page.click("leads.csv");
    page.wait_for_heading("Stopped");
    page.click("Resume");
    page.wait_for_heading("Sent");
    expect_each_once(&service, 100);
    let results = page.download("Download results (CSV)");
    assert_eq!(
        csv::Reader::from_path(results).unwrap().records().count(),
        100
    );
}

#[test]
fn a_run_that_was_stopped_is_resumed() {
    let Some(browser) = Browser::start() else {
        return;
    };
    // So many that the run is not over when Stop is pressed, on a slow machine too.
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(300)));
    let service = scenario(SLOW);
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.send(&folder.path("leads.csv"), SPRING, 300);
    wait_for_requests(&service, 10);
    // Stop stands on every screen.
    page.click("New list");
    page.wait_for("leads.csv is being sent");
    page.click("Stop");
    page.wait_for_heading("Stopped");
    page.wait_for("Wrong list?");
    assert!(service.stats().created < 300);
    page.click("Resume");
    page.wait_for_heading("Sent");
    expect_each_once(&service, 300);
    assert_eq!(seen(&service).len(), 300);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_run_stops_after_the_first_10_if_that_is_ticked() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(60)));
    let service = scenario(SLOW);
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.choose(&folder.path("leads.csv"), SPRING);
    page.go_on_to_send();
    page.tick("Stop after the first 10");
    page.click("Send 60 leads");
    page.wait_for_heading("Stopped");
    let created = service.stats().created;
    assert!((10..60).contains(&created), "{created}");
    page.click("Resume");
    page.wait_for_heading("Sent");
    expect_each_once(&service, 60);
}

#[test]
fn a_second_list_waits_for_its_turn_and_can_be_cancelled() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(900)));
    folder.write(
        "second.csv",
        contacts_of(&[7], 5).replace("phone,list", "phone,shoe"),
    );
    let service = scenario("latency_ms = 50\nmax_concurrent = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.send(&folder.path("leads.csv"), SPRING, 900);
    page.wait_for_heading("Sending to Spring promo");
    page.click("New list");
    page.choose(&folder.path("second.csv"), "Autumn survey (stopped)");
    page.go_on_to_send();
    page.wait_for("leads.csv is being sent");
    page.wait_for("starts after it");
    page.click("Send 5 leads");
    page.wait_for_heading_of("second.csv");
    page.expect_accessible();
    page.within("main").click("Cancel");
    page.wait_for_heading(SEND.heading);
    page.click("Stop");
    page.wait_for_heading("Stopped");
    assert!(service.leads().iter().all(|lead| lead.campaign_id == 101));
}

#[test]
fn stop_and_quit_asks_while_something_is_sent() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder) = (browser.page(), Folder::with_leads(&contacts(200)));
    let service = scenario("latency_ms = 30\nmax_concurrent = 1");
    let web = Web::start(&folder, &service);
    web.open(&page);
    page.send(&folder.path("leads.csv"), SPRING, 200);
    page.wait_for_heading("Sending to Spring promo");
    page.click("Stop and quit");
    page.wait_for_heading("Stop leadload?");
    page.wait_for("leads.csv");
    page.within("main").click("Stop and quit");
    page.wait_for_heading("leadload has ended");
    assert!(web.ended().success());
    assert!(service.stats().created < 200);
}
