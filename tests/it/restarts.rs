//! What holds from one process to the next: the service counts them all.

use std::process::Child;
use std::thread;
use std::time::Duration;

use leadload::sandbox::Sandbox;

use crate::util::{Folder, contacts, scenario, service};

fn import(folder: &Folder, service: &Sandbox, rate: &str) -> Child {
    folder
        .leadload(&["import", "leads.csv", "--campaign", "101", "--rate", rate])
        .at(service)
        .start()
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn wait_for_requests(service: &Sandbox, requests: u64) {
    while service.stats().lead_requests < requests {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_rate_holds_over_the_requests_of_processes_that_were_killed() {
    let folder = Folder::with_leads(&contacts(40));
    let service = service();
    for requests in [3, 6, 9, 12] {
        let child = import(&folder, &service, "6/2s");
        wait_for_requests(&service, requests);
        kill(child);
    }
    let most = service.stats().max_in_window(Duration::from_millis(1_950));
    assert!(most <= 6, "{most} in two seconds");
}

#[test]
fn a_wait_that_the_service_has_asked_for_outlives_the_process() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario(
        "[[rule]]\nattempts = [1]\nphone_number = '+447911000000'\n\
         reply = { status = 429, headers = { retry-after = '3' } }",
    );
    let child = import(&folder, &service, "none");
    wait_for_requests(&service, 1);
    // Written down within some hundredths of a second.
    thread::sleep(Duration::from_millis(500));
    kill(child);
    let output = folder
        .leadload(&[
            "import",
            "leads.csv",
            "--campaign",
            "101",
            "--rate",
            "none",
            "-v",
        ])
        .at(&service)
        .expect(0);
    output.tells("the service refuses for now");
    let at = service.stats().arrivals_us;
    assert_eq!(at.len(), 4);
    assert!(at[1] - at[0] >= 2_900_000, "{at:?}");
}
