//! Several campaigns in one list: what happens to one campaign does not affect the others.

use std::collections::BTreeSet;

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Output, REFUSALS_OF_ALL, contacts_of, number, replaced, scenario, seen};

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
fn when_the_campaign_is_there_the_same_command_sends_just_its_rows() {
    for refusal in [
        "",
        "[[rule]]\ncampaign_id = 777\n\
         reply = { status = 422, body = '{\"errors\":{\"campaign_id\":[\"It is invalid.\"]}}' }",
    ] {
        let folder = Folder::with_leads(&contacts_of(&[101, 777, 102], 30));
        let service = scenario(refusal);
        let summary = import(&folder, &service, &[], 3).json();
        assert_eq!(summary["stopped_by"], "campaign");
        assert_eq!(service.stats().lead_requests, 26);

        let service = replaced(
            service,
            "keep_bodies = true\n[[campaign]]\nid = 777\nname = 'New'",
        );
        let summary = import(&folder, &service, &[], 0).json();
        assert_eq!(summary["complete"], true);
        assert_eq!(summary["requests"], 10);
        assert_eq!(summary["counts"]["created"], 30);
        assert!(seen(&service).iter().all(|request| request.campaign == 777));
        assert_eq!(service.leads().len(), 10);
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["created"; 30]
        );
    }
}

#[test]
fn a_campaign_that_is_refused_midway_ends_and_the_others_go_on() {
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 40));
    // The rules start at the sixth row of the campaign: rows 10, 12, 14 and so on, from 0.
    let rules = |row: usize| {
        format!(
            "[[rule]]\nphone_number = '{}'\nreply = {{ status = 404, body = '{{}}' }}\n",
            number(row)
        )
    };
    let rules: String = (0..40)
        .filter(|r| r % 2 == 1 && *r > 10)
        .map(rules)
        .collect();
    let service = scenario(&rules);
    let summary = import(&folder, &service, &["--concurrency", "1"], 3).json();
    assert_eq!(summary["stopped_by"], "campaign");
    assert_eq!(service.stats().lead_requests, 20 + 5 + 6);
    assert_eq!([lines(&folder, "101"), lines(&folder, "102")], [20, 5]);
    assert_eq!(summary["counts"]["created"], 25);
    assert_eq!(summary["rows"], 25, "the six that were refused wait too");

    let service = replaced(service, "keep_bodies = true");
    import(&folder, &service, &[], 0);
    let sent: BTreeSet<String> = seen(&service).into_iter().map(|r| r.phone).collect();
    let wanted: BTreeSet<String> = (11..40).step_by(2).map(number).collect();
    assert_eq!(sent, wanted);
    assert_eq!(service.stats().lead_requests, 15);
}

#[test]
fn one_or_two_refusals_among_a_campaigns_successes_are_those_rows_own() {
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 40));
    let rules: String = [11, 13, 21]
        .map(|row| {
            format!(
                "[[rule]]\nphone_number = '{}'\nreply = {{ status = 404, body = '{{}}' }}\n",
                number(row)
            )
        })
        .concat();
    let service = scenario(&rules);
    let summary = import(&folder, &service, &["--concurrency", "1"], 1).json();
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["counts"]["rejected"], 3);
    assert_eq!(summary["counts"]["created"], 37);
    assert_eq!(
        folder.column("leads.rejects.csv", "leadload_row"),
        ["12", "14", "22"]
    );
}

#[test]
fn two_campaigns_that_are_refused_cost_a_handful_of_requests_each_and_are_both_named() {
    let folder = Folder::with_leads(&contacts_of(&[777, 101, 888], 30));
    let service = scenario("");
    let output = import(&folder, &service, &[], 3);
    let summary = output.json();
    assert_eq!(service.stats().lead_requests, 10 + 6 + 6);
    assert_eq!(summary["counts"]["created"], 10);
    for id in ["777", "888"] {
        let error = summary["error"].as_str().unwrap();
        assert!(error.contains(&format!("campaign {id}")), "{error}");
        assert_eq!(lines(&folder, id), 0);
    }
    assert_eq!(lines(&folder, "101"), 10);
}

#[test]
fn nothing_but_refused_campaigns_cost_a_handful_of_requests() {
    let campaigns: Vec<u32> = (500..540).collect();
    let folder = Folder::with_leads(&contacts_of(&campaigns, 120));
    let service = scenario("");
    let summary = import(&folder, &service, &[], 3).json();
    assert_eq!(summary["stopped_by"], "campaign");
    assert_eq!(summary["rows"], 0);
    let requests = service.stats().lead_requests;
    assert!((3..=10).contains(&requests), "{requests}");
}

#[test]
fn the_summary_names_the_campaign_and_what_to_do() {
    let folder = Folder::with_leads(&contacts_of(&[101, 777], 20));
    let service = scenario("");
    let output = folder
        .import(&service, &["leads.csv", "--campaign-column", "list"])
        .expect(3);
    let stderr = output.stderr;
    assert!(
        stderr.contains("campaign 777: the service refuses the campaign"),
        "{stderr}"
    );
    assert!(
        stderr.contains("the leads of the other campaigns were sent"),
        "{stderr}"
    );
    assert!(stderr.contains("leadload campaigns"), "{stderr}");
    assert!(stderr.contains("run the same command again"), "{stderr}");
    assert!(!stderr.contains("4479110"), "{stderr}");
    let stdout = output.stdout;
    assert!(
        stdout.starts_with("Stopped after 10 of 20 rows in ")
            && stdout.contains(": the service refuses the campaign\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("The same command continues where this stopped:"),
        "{stdout}"
    );
}

#[test]
fn a_dead_token_is_every_campaigns_affair() {
    for (status, by) in [(401, "token"), (402, "balance")] {
        let folder = Folder::with_leads(&contacts_of(&[101, 102, 103], 30));
        let service = scenario(&format!(
            "[[rule]]\ncampaign_id = 102\nreply = {{ status = {status}, body = '{{}}' }}"
        ));
        let summary = import(&folder, &service, &["--concurrency", "1"], 3).json();
        assert_eq!(summary["stopped_by"], by);
        assert_eq!(service.stats().lead_requests, 2);
        assert_eq!(summary["rows"], 1);
    }
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

#[test]
fn a_campaign_that_ends_with_that_many_rejections_leaves_nothing_undone() {
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 8));
    let service = scenario(MISSING_CITY);
    let args = ["--concurrency", "1", "--stop-after", "4"];
    let summary = import(&folder, &service, &args, 1).json();
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["rows_total"], 8);
    assert_eq!(summary["counts"]["rejected"], 4);
}

/// Rows with the same number wait for each other. The first of them ends the campaign.
#[test]
fn with_duplicates_allowed_rows_of_one_number_end_with_their_campaign() {
    let same = "+447911900001,101\n".repeat(30);
    let others: String = (1..301)
        .map(|row| format!("{},102\n", number(row)))
        .collect();
    let list = format!("phone,list\n{},101\n{same}{others}", number(0));
    let folder = Folder::with_leads(&list);
    let service = scenario(
        "[faults]\nstatus_429 = 0.05\n[[rule]]\nphone_number = '+447911900001'\n\
         reply = { status = 404, body = '{\"message\":\"Campaign not found\"}' }",
    );
    let flags = [
        "leads.csv",
        "--campaign-column",
        "list",
        "--allow-duplicates",
    ];
    let output = folder
        .import(&service, &[&flags[..], &["--concurrency", "8"]].concat())
        .expect(3);
    output.tells("campaign 101: the service refuses the campaign");
    assert_eq!(service.leads().len(), 301);
}
