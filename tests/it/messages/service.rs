//! What stops a run: the service, or the time limit. Also unusual answers.

use super::{Page, import};
use crate::util::{Folder, REFUSALS_OF_ALL, contacts, contacts_of, replaced, scenario};

#[test]
fn of_refusals_that_hold_for_every_row() {
    let certain = [
        (r#"{ status = 401, body = '{"error":"Unauthorized"}' }"#, ""),
        (r#"{ status = 402, body = '{"error":"No credit"}' }"#, ""),
    ];
    let mut page = Page::default();
    for (reply, _) in certain.into_iter().chain(REFUSALS_OF_ALL) {
        let folder = Folder::with_leads(&contacts(5));
        let service = scenario(&format!("[[rule]]\nreply = {reply}"));
        page.add_of_begun(&folder, import(&folder, &service, &[]));
    }
    page.is("refusals");
}

#[test]
fn of_other_stops() {
    let mut page = Page::default();
    for (faults, args) in [
        ("[faults]\nunreadable = 1.0", "--max-attempts 1"),
        ("[faults]\ndrop_after = 1.0", "--max-outage 400ms"),
        ("[faults]\nstatus_503_html = 1.0", "--max-outage 400ms"),
        ("[faults]\nstatus_429 = 1.0\n", "--max-duration 2s"),
        (
            "[[rule]]\nreply = { status = 422, body = '{\"message\":\"too short\"}' }",
            "--stop-after 3",
        ),
    ] {
        let folder = Folder::with_leads(&contacts(30));
        let service = scenario(faults);
        let args: Vec<&str> = args.split(' ').collect();
        page.add_of_begun(&folder, import(&folder, &service, &args));
    }
    page.is("stops");
}

#[test]
fn of_one_campaign_among_several() {
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 6));
    let service = scenario(
        "[[rule]]\ncampaign_id = 102\n\
         reply = { status = 422, body = '{\"errors\":{\"campaign_id\":[\"is closed\"]}}' }",
    );
    let args = ["leads.csv", "--campaign-column", "list", "--quiet"];
    let mut page = Page::default();
    page.add_of_begun(&folder, folder.import(&service, &args));
    page.is("one-campaign");
}

/// What was begun before, with other settings.
#[test]
fn of_runs_that_are_not_finished() {
    let folder = Folder::with_leads(&contacts(3));
    let revoked = scenario("token_revoked_after = 1");
    let one_by_one = ["--concurrency", "1"];
    folder.import_leads(&revoked, &one_by_one).expect(3);
    let service = replaced(revoked, "");
    let mut page = Page::default();
    for args in [&["--set", "source=fair", "--limit", "1"][..], &one_by_one] {
        page.add_of_begun(&folder, folder.import_leads(&service, args));
    }
    page.is("unfinished-runs");
}
