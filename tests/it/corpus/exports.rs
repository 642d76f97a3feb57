//! Lists as widely used programs export them, each with the correct reading of every cell.
//!
//! Next to each list, `NAME.expected` has the expected result with a profile that has
//! `region = "GB"`: the exit code of the first try, with no flags; the flags that the
//! program then asks for, if any; and with these flags each row as it is sent, or why it is
//! not sent. The formats have been seen in public; the people and their numbers are made up.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::util::{Folder, scenario};

macro_rules! exports {
    ($($name:ident: $file:literal;)*) => {
        /// Every list that has a test.
        const FILES: &[&str] = &[$($file),*];
        $(#[test] fn $name() { check($file); })*
    };
}

exports! {
    activecampaign_contacts: "activecampaign-contacts.csv";
    apollo_contacts: "apollo-contacts.csv";
    badge_scans: "badge-scans.csv";
    brevo_contacts: "brevo-contacts.csv";
    calendly_events: "calendly-events.csv";
    consent_opt_in: "consent-opt-in.csv";
    constant_contact: "constant-contact.csv";
    cvent_leadcapture: "cvent-leadcapture.xlsx";
    data_frame_floats: "data-frame-floats.csv";
    dynamics365_contacts: "dynamics365-contacts.xlsx";
    eventbrite_attendees: "eventbrite-attendees.csv";
    excel_chinese: "excel-chinese.csv";
    excel_czech: "excel-czech.csv";
    excel_french: "excel-french.csv";
    excel_german: "excel-german.csv";
    excel_japanese: "excel-japanese.csv";
    excel_lost_zeros: "excel-lost-zeros.xlsx";
    excel_polish: "excel-polish.csv";
    excel_spanish: "excel-spanish.txt";
    facebook_lead_ads: "facebook-lead-ads.csv";
    google_contacts: "google-contacts.csv";
    google_forms_responses: "google-forms-responses.csv";
    hubspot_contacts: "hubspot-contacts.csv";
    indiamart_enquiries: "indiamart-enquiries.csv";
    intercom_users: "intercom-users.csv";
    jotform_submissions: "jotform-submissions.csv";
    klaviyo_profiles: "klaviyo-profiles.csv";
    linkedin_lead_gen: "linkedin-lead-gen.csv";
    mailchimp_audience: "mailchimp-audience.csv";
    outlook_contacts: "outlook-contacts.csv";
    pipedrive_persons: "pipedrive-persons.csv";
    salesforce_data_export: "salesforce-data-export.csv";
    salesforce_report: "salesforce-report.csv";
    shopify_customers: "shopify-customers.csv";
    split_country_code: "split-country-code.csv";
    squarespace_profiles: "squarespace-profiles.csv";
    stripe_customers: "stripe-customers.csv";
    surveymonkey_responses: "surveymonkey-responses.csv";
    typeform_responses: "typeform-responses.csv";
    us_crm_with_country: "us-crm-with-country.csv";
    us_crm_without_country: "us-crm-without-country.csv";
    wix_contacts: "wix-contacts.csv";
    woocommerce_orders: "woocommerce-orders.csv";
    zoho_crm_contacts: "zoho-crm-contacts.csv";
    zoom_attendees: "zoom-attendees.csv";
    zoom_registration: "zoom-registration.csv";
}

/// The expected result for a list.
#[derive(Default)]
struct Expected {
    /// The exit code of the first try.
    first: i32,
    /// The flags that the program asks for after the first try.
    flags: Vec<String>,
    exit: i32,
    rows: Vec<String>,
    footer: u64,
}

fn folder_of_lists() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus/exports")
}

fn expected(file: &str) -> Expected {
    let path = folder_of_lists().join(file).with_extension("expected");
    let text = fs::read_to_string(path).unwrap();
    let mut expected = Expected::default();
    for line in text.lines() {
        match line.split_once(": ") {
            Some(("first", code)) => expected.first = code[..1].parse().unwrap(),
            Some(("with", flags)) => expected.flags = shlex::split(flags).unwrap(),
            Some(("exit", code)) => expected.exit = code.parse().unwrap(),
            Some(("footer", lines)) => expected.footer = lines.parse().unwrap(),
            Some(("system" | "source" | "quirks", _)) => {}
            _ if line == "rows:" => {}
            _ => expected.rows.push(line.to_owned()),
        }
    }
    expected
}

#[track_caller]
fn check(file: &str) {
    let expected = expected(file);
    let folder = Folder::new();
    fs::copy(folder_of_lists().join(file), folder.path(file)).unwrap();
    folder.write("config.toml", "[profiles.crm]\nregion = 'GB'\n");
    let profile = ["--config", "config.toml", "--profile", "crm"];
    let checked = |flags: &[&str]| {
        let args = [&["check", file, "--format", "json"][..], &profile, flags].concat();
        folder.leadload(&args)
    };
    let first = checked(&[]).expect(expected.first).json();
    if expected.first == 2 {
        names_flags(&first, &expected.flags);
    }
    let flags: Vec<&str> = expected.flags.iter().map(String::as_str).collect();
    checked(&flags).expect(expected.exit);
    let service = scenario("keep_bodies = true");
    let args = [
        &[file, "--campaign", "101", "--format", "json"][..],
        &["--results", "out.csv"],
        &profile,
        &flags,
    ];
    let summary = folder
        .import(&service, &args.concat())
        .expect(expected.exit);
    assert_eq!(summary.json()["footer_rows"], expected.footer);
    let mut sent = BTreeMap::new();
    for request in service.requests() {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        sent.insert(body["phone_number"].as_str().unwrap().to_owned(), body);
    }
    let rows: Vec<String> = results(&folder)
        .iter()
        .map(|row| shown(row, &sent))
        .collect();
    for (found, expected) in rows.iter().zip(&expected.rows) {
        assert_eq!(found, expected);
    }
    assert_eq!(rows.len(), expected.rows.len());
}

/// A message that asks for something must name the flags for it.
#[track_caller]
fn names_flags(first: &Value, flags: &[String]) {
    let error = first["error"].as_str().unwrap();
    let quoted = flags.iter().map(|flag| shlex::try_quote(flag).unwrap());
    let quoted: Vec<String> = quoted.map(|flag| flag.into_owned()).collect();
    assert!(error.contains(&quoted.join(" ")), "{error}");
}

/// The rows of the results, with any delimiter.
fn results(folder: &Folder) -> Vec<BTreeMap<String, String>> {
    let text = folder.read("out.csv");
    let text = text.trim_start_matches('\u{FEFF}');
    let delimiter = text.as_bytes()["row".len()];
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(delimiter).from_reader(text.as_bytes());
    reader.into_deserialize().map(Result::unwrap).collect()
}

/// A row in the form of the expected file: its line, its number or cell,
/// its status, and what was sent.
fn shown(row: &BTreeMap<String, String>, sent: &BTreeMap<String, Value>) -> String {
    // An apostrophe comes before text that a spreadsheet would run as a formula.
    let cell = match row["phone_number"].strip_prefix('\'') {
        Some(rest) if rest.starts_with(['+', '=', '-', '@']) => rest,
        _ => &row["phone_number"],
    };
    let mut parts = vec![row["line"].clone(), cell.to_owned(), row["status"].clone()];
    if !row["error_code"].is_empty() {
        let status = parts.pop().unwrap();
        parts.push(format!("{status} {}", row["error_code"]));
    }
    if row["status"] == "created" {
        let variables = sent[cell]["variables"][0].as_object();
        parts.extend(variables.into_iter().flatten().map(|(name, value)| {
            format!("{name}={}", value.as_str().unwrap().replace('\n', "\\n"))
        }));
    }
    parts.join(" | ")
}

#[test]
fn every_list_has_a_test_and_there_are_more_than_thirty() {
    let files = fs::read_dir(folder_of_lists()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".expected")).collect();
    names.sort();
    assert_eq!(names, FILES);
    assert!(names.len() > 30);
}
