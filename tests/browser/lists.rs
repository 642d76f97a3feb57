//! Five lists as people have them, from choosing the file to the downloaded results.

use std::collections::BTreeMap;
use std::path::Path;

use leadload::sandbox::{Sandbox, StoredLead};

use crate::browser::Browser;
use crate::page::Page;
use crate::screens::{CAMPAIGN, COLUMNS, LIST, SEND, export};
use crate::util::{Folder, service};
use crate::web::Web;

const SPRING: &str = "Spring promo (in progress)";

/// What became of the rows: a line of the results each.
fn results(file: &Path) -> Vec<BTreeMap<String, String>> {
    // The results have the separator of their list.
    let text = std::fs::read_to_string(file).unwrap();
    let separator = text.trim_start_matches("row").bytes().next().unwrap();
    let reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .from_reader(text.as_bytes());
    reader.into_deserialize().map(Result::unwrap).collect()
}

/// How many rows have each status.
fn statuses(file: &Path) -> BTreeMap<String, usize> {
    let mut statuses = BTreeMap::new();
    for mut row in results(file) {
        *statuses.entry(row.remove("status").unwrap()).or_default() += 1;
    }
    statuses
}

#[track_caller]
fn expect_statuses(file: &Path, expected: &[(&str, usize)]) {
    let expected: BTreeMap<String, usize> = expected
        .iter()
        .map(|(status, rows)| ((*status).to_owned(), *rows))
        .collect();
    assert_eq!(statuses(file), expected);
}

/// The cells of a workbook's first sheet.
fn cells(file: &Path) -> Vec<Vec<String>> {
    use calamine::Reader;
    let mut workbook = calamine::open_workbook_auto(file).unwrap();
    let sheet = workbook.worksheet_range_at(0).unwrap().unwrap();
    let texts = |row: &[calamine::Data]| row.iter().map(ToString::to_string).collect();
    sheet.rows().map(texts).collect()
}

fn lead(service: &Sandbox, phone: &str) -> StoredLead {
    let leads = service.leads();
    let found = leads.iter().find(|lead| lead.phone_number == phone);
    found.unwrap_or_else(|| panic!("{leads:?}")).clone()
}

fn variables(lead: &StoredLead) -> Vec<(&str, &str)> {
    let all = lead.variables.iter();
    all.map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

fn file_name(file: &Path) -> &str {
    file.file_name().unwrap().to_str().unwrap()
}

/// From the first screen to *Columns*, with every word on the way.
#[track_caller]
fn choose(page: &Page<'_>, list: &str) {
    page.expect(LIST.title, LIST.heading);
    page.upload("Contact list", &export(list));
    page.expect_screen(&CAMPAIGN, list);
    page.fill("Campaign", SPRING);
    page.click("Continue");
    page.wait_for_heading(COLUMNS.heading);
}

#[track_caller]
fn send(page: &Page<'_>, list: &str, leads: usize) {
    page.wait_for_heading(SEND.heading);
    assert_eq!(page.title(), format!("Send, {list}"));
    let help = page.within("#help").text();
    assert!(help.contains("finish about "), "{help}");
    page.click(&match leads {
        1 => "Send 1 lead".to_owned(),
        _ => format!("Send {leads} leads"),
    });
    page.wait_for_heading("Sent");
    assert_eq!(page.title(), format!("Run, {list}"));
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_workbook_whose_numbers_have_lost_their_zeros_needs_a_country() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::new(), service());
    let web = Web::start(&folder, &service);
    web.open(&page);
    let list = "excel-lost-zeros.xlsx";
    choose(&page, list);
    page.expect_screen(&COLUMNS, list);
    assert_eq!(page.value("Phone number"), "Mobile");
    assert!(!page.row("First name").is_ticked("Send"));
    page.row("First name").tick("Send");
    page.row("Town").tick("Send");
    page.click("Continue");
    page.expect_errors();
    page.fill("Country", "United Kingdom");
    page.click("Preview");
    page.wait_for("line 2");
    assert!(page.within("#preview").text().contains("+447911123381"));
    page.click("Continue");
    page.expect_problems(list, 2);
    page.click("Continue");
    page.wait_for("United Kingdom");
    send(&page, list, 7);
    assert_eq!(
        variables(&lead(&service, "+447911123381")),
        [("first_name", "Ada"), ("town", "London")]
    );
    let results = page.download("Download results (CSV)");
    expect_statuses(&results, &[("created", 7), ("invalid", 2), ("repeated", 1)]);
    let results = page.download("Download results");
    assert_eq!(file_name(&results), "excel-lost-zeros.results.xlsx");
    let cells = cells(&results);
    assert_eq!(
        cells[0][..4],
        ["First name", "Last name", "Company", "Mobile"]
    );
    assert_eq!(cells.len(), 11);
}

#[test]
fn a_semicolon_list_with_national_numbers_says_how_it_was_read() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::new(), service());
    let web = Web::start(&folder, &service);
    web.open(&page);
    let list = "excel-german.csv";
    choose(&page, list);
    page.expect_screen(&COLUMNS, list);
    // The letters are a guess, so the first rows are shown.
    assert!(page.text().contains("found out: windows-1252"));
    assert_eq!(
        page.value("Between two cells stands a"),
        "found out: semicolon"
    );
    assert!(page.text().contains("Dörte"));
    assert_eq!(page.value("Phone number"), "Telefon");
    assert!(page.text().contains("“Land”"));
    page.row("Vorname").tick("Send");
    page.click("Continue");
    page.wait_for_problems(2);
    page.click("Continue");
    // One person has not agreed to be called.
    send(&page, list, 7);
    let first = lead(&service, "+493023125311");
    assert_eq!(variables(&first), [("vorname", "Dörte")]);
    let results = page.download("Download results (CSV)");
    expect_statuses(
        &results,
        &[
            ("created", 7),
            ("invalid", 2),
            ("repeated", 1),
            ("suppressed", 1),
        ],
    );
}

#[test]
fn a_list_with_several_phone_columns_asks_which_is_called() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::new(), service());
    let web = Web::start(&folder, &service);
    web.open(&page);
    let list = "google-contacts.csv";
    choose(&page, list);
    page.expect_errors();
    page.fill(
        "Phone number",
        "Phone 1 - Value (5 numbers in the first rows)",
    );
    page.fill("If empty, use", "Phone 2 - Value");
    page.row("First Name").tick("Send");
    page.row("Notes").tick("Send");
    page.wait_for("may be private");
    page.fill(
        "Paste the agent's opening line",
        "Hi {{first_name}} of {{town}}!",
    );
    page.click("Preview");
    page.wait_for("Hi Ada of [town: not sent]!");
    page.click("Continue");
    page.wait_until("the problems", |page| page.title().starts_with("Problems"));
    page.wait_for("than one number");
    page.click("Continue");
    page.wait_for_heading(SEND.heading);
    let ready: usize = page
        .script("return /Send (\\d+) lead/.exec(document.body.innerText)[1]")
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    send(&page, list, ready);
    let ben = lead(&service, "+442079460502");
    assert_eq!(
        variables(&ben),
        [
            ("first_name", "Ben"),
            ("notes", "Met in May,\ncall again \"soon\"")
        ]
    );
    let results = page.download("Download results (CSV)");
    assert_eq!(statuses(&results)["created"], ready);
}

#[test]
fn a_list_with_countries_is_sent_in_part_and_without_those_who_do_not_want_calls() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::new(), service());
    let web = Web::start(&folder, &service);
    web.open(&page);
    let list = "us-crm-with-country.csv";
    choose(&page, list);
    page.expect_screen(&COLUMNS, list);
    page.fill("Country", "Country");
    page.fill("Only send rows where", "State");
    page.click("Show values");
    page.tick("CT (3 rows)");
    page.tick("NY (1 row)");
    folder.write("no.csv", "phone\n+12125550134\n");
    page.upload("Do-not-call list", &folder.path("no.csv"));
    page.click("Add this list");
    page.wait_for("no.csv");
    page.click("Select all");
    page.wait_until("ticked columns", |page| page.row("City").is_ticked("Send"));
    page.click("Select none");
    page.wait_until("no ticked column", |page| {
        !page.row("City").is_ticked("Send")
    });
    page.click("Continue");
    page.wait_for("Nothing is ticked");
    page.row("City").tick("Send");
    page.click("Continue");
    page.wait_for_heading(SEND.heading);
    page.wait_for("1 is on");
    page.wait_for("no.csv");
    send(&page, list, 2);
    let results = page.download("Download results (CSV)");
    let of = statuses(&results);
    assert_eq!((of["created"], of["suppressed"], of["repeated"]), (2, 1, 1));
    assert_eq!(
        variables(&lead(&service, "+12035550132")),
        [("city", "New Haven")]
    );
    page.click("Print summary");
    page.wait_for_heading("Summary of us-crm-with-country.csv");
    assert!(!page.text().contains("555"));
}

#[test]
fn rows_to_fix_that_are_given_back_take_the_settings_of_their_list() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let (page, folder, service) = (browser.page(), Folder::new(), service());
    let web = Web::start(&folder, &service);
    web.open(&page);
    let list = "badge-scans.csv";
    choose(&page, list);
    page.fill("Country", "United Kingdom");
    page.row("First Name").tick("Send");
    page.click("Continue");
    page.wait_for_problems(2);
    let file = page.download("Download rows to fix");
    assert_eq!(file_name(&file), "badge-scans.rows-to-fix.xlsx");
    page.click("New list");
    page.upload("Contact list", &file);
    let given_back = "badge-scans.rows-to-fix.xlsx";
    page.expect_problems(given_back, 2);
    page.click("Columns");
    page.wait_for_heading(COLUMNS.heading);
    assert_eq!(page.value("Country"), "United Kingdom");
    assert!(page.row("First Name").is_ticked("Send"));
    page.click("Problems");
    page.fill("Phone number in line 3", "0161 496 0257");
    page.click("Keep corrections");
    page.wait_for_problems(1);
    page.click("Continue");
    send(&page, given_back, 1);
    assert_eq!(lead(&service, "+441614960257").campaign_id, 101);
}
