//! Several campaigns in one list: what happens to one campaign does not affect the others.

use std::collections::BTreeSet;

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Output, REFUSALS_OF_ALL, contacts_of, number, scenario, seen};

/// Sends `leads.csv`, each row to the campaign of its column `list`.
fn import(folder: &Folder, service: &Sandbox, args: &[&str], code: i32) -> Output {
    let common = ["leads.csv", "--campaign-column", "list", "--format", "json"];
    folder
        .import(service, &[&common, args].concat())
        .expect(code)
}

/// How many rows of the results have this campaign.
fn lines(folder: &Folder, campaign: &str) -> usize {
    let campaigns = folder.column("leads.results.csv", "campaign_id");
    campaigns.iter().filter(|id| *id == campaign).count()
}

#[test]
fn a_campaign_that_is_refused_costs_a_handful_of_requests_and_its_rows_wait() {
    for (reply, by) in REFUSALS_OF_ALL {
        // The refused campaign may come first or later.
        for campaigns in [[103, 101, 102], [101, 102, 103]] {
            let folder = Folder::with_leads(&contacts_of(&campaigns, 30));
            let service = scenario(&format!(
                "keep_bodies = true\n[[rule]]\ncampaign_id = 103\nreply = {reply}"
            ));
            let summary = import(&folder, &service, &[], 3).json();
            assert_eq!(summary["stopped_by"], by, "{reply}");
            assert_eq!(summary["complete"], false, "{reply}");
            assert_eq!(summary["rows_total"], 30, "{reply}");
            assert_eq!(summary["rows"], 20, "{reply}");
            assert_eq!(summary["counts"]["created"], 20, "{reply}");
            assert_eq!(summary["requests"], 26, "{reply}");
            assert_eq!(service.stats().lead_requests, 26, "{reply}");
            // Its first row, and five from elsewhere, each sent once.
            let first = campaigns.iter().position(|id| *id == 103).unwrap();
            let of_it = seen(&service).into_iter().filter(|r| r.campaign == 103);
            let numbers: Vec<String> = of_it.map(|r| r.phone).collect();
            assert_eq!(numbers[0], number(first), "{reply}");
            let numbers: BTreeSet<String> = numbers.into_iter().collect();
            assert_eq!(numbers.len(), 6, "{reply}");
            assert_eq!(summary["stopped_at"].as_array().unwrap().len(), 6);
            let lines = ["101", "102", "103"].map(|id| lines(&folder, id));
            assert_eq!(lines, [10, 10, 0], "{reply}");
            // The rows are not at fault, so there are no rejects to fix.
            assert_eq!(folder.names(), ["leads.csv", "leads.results.csv"]);
        }
    }
}

#[test]
fn the_summary_names_the_campaign_and_what_to_do() {
    let folder = Folder::with_leads(&contacts_of(&[101, 777], 20));
    let service = scenario("");
    let output = folder
        .import(&service, &["leads.csv", "--campaign-column", "list"])
        .expect(3);
    let stderr = &output.stderr;
    assert!(stderr.contains("campaign 777"), "{stderr}");
    assert!(stderr.contains("leadload campaigns"), "{stderr}");
    assert!(!stderr.contains("4479110"), "{stderr}");
    output.shows("10 of 20 rows");
    output.shows("import --rate none leads.csv --campaign-column list");
}

const MISSING_CITY: &str = r#"
    [[rule]]
    campaign_id = 102
    reply = { status = 422, body = '{"message":"The city is missing."}' }"#;

#[test]
fn equal_rejections_of_one_campaign_stop_that_campaign() {
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 40));
    let service = scenario(MISSING_CITY);
    let args = ["--concurrency", "1", "--stop-after", "4"];
    let summary = import(&folder, &service, &args, 3).json();
    assert_eq!(summary["stopped_by"], "rejections");
    assert_eq!(summary["counts"]["created"], 20);
    assert_eq!(summary["counts"]["rejected"], 4);
    assert_eq!(service.stats().lead_requests, 24);
    assert_eq!(
        folder.column("leads.rejects.csv", "leadload_row"),
        ["2", "4", "6", "8"]
    );
}
