//! What the page says of a list beside what can be sent, and where its questions lead.

use crate::page_client::{Screen, Visitor};
use crate::page_runs::Page;
use crate::util::{Folder, contacts, service};

fn start(folder: &Folder, settings: &str) -> (Visitor, leadload::sandbox::Sandbox) {
    let service = service();
    folder.write(
        "config.toml",
        format!("[profiles.test]\nrate = 'none'\n{settings}"),
    );
    let args = ["web", "--no-open", "--config", "config.toml"];
    let args = [&args[..], &["--profile", "test"]].concat();
    let run = folder.leadload(&args).at(&service);
    (Visitor::of(run), service)
}

/// The columns of a list that has just been chosen.
fn columns(visitor: &Visitor, name: &str, bytes: impl AsRef<[u8]>) -> Screen {
    let campaigns = visitor.upload(name, bytes);
    visitor.send(&campaigns.form("campaign").set("campaign", "101"))
}

fn press(visitor: &Visitor, columns: &Screen, button: &str) -> Screen {
    let form = columns.form("columns").set("nothing", "yes");
    visitor.send(&form.press(button))
}

#[track_caller]
fn says(screen: &Screen, text: &str) {
    assert!(screen.text().contains(text), "{}", screen.text());
}

#[test]
fn test_leads_are_noted_with_the_place_where_they_are_left_out() {
    let folder = Folder::new();
    let (visitor, _service) = start(&folder, "");
    let list = "phone,is_test\n+447911123456,false\n+447911123457,true\n";
    let send = press(&visitor, &columns(&visitor, "leads.csv", list), "continue");
    says(&send, "(“is_test”)");
}

#[test]
fn a_limit_of_the_settings_is_said_before_the_list_is_sent() {
    let folder = Folder::new();
    let (visitor, _service) = start(&folder, "limit = 3");
    let send = press(
        &visitor,
        &columns(&visitor, "leads.csv", contacts(5)),
        "continue",
    );
    says(&send, "Send 3 leads");
    says(&send, "first 3 rows");
}

#[test]
fn a_list_outside_the_bounds_of_the_settings_is_not_sent() {
    let list = contacts(2) + "x,Bad\n";
    for (bound, said) in [
        ("max_invalid = '10%'", "1 of 3 rows"),
        ("max_new = 1", "2 leads"),
    ] {
        let folder = Folder::new();
        let settings = format!("min_rows = '50%'\n{bound}");
        let (visitor, service) = start(&folder, &settings);
        let screen = press(&visitor, &columns(&visitor, "leads.csv", &list), "continue");
        let send = visitor.get(&format!("{}/send", screen.list()));
        says(&send, "does not know");
        says(&visitor.send(&send.form("send")), said);
        assert_eq!(service.stats().lead_requests, 0);
    }
}

#[test]
fn the_preview_shows_the_number_with_the_cell_that_it_is_made_of() {
    let folder = Folder::new();
    let (visitor, _service) = start(&folder, "");
    let list = "phone,mobile,name\n,07911 123456,Ada\n+447911123457,,Bob\n";
    let form = columns(&visitor, "leads.csv", list).form("columns");
    // The second select of this name is `If empty, use`.
    let mut form = form.set("country", "GB").set("phone", "0");
    form.fields.push(("phone".to_owned(), "1".to_owned()));
    let shown = visitor.send(&form.set("send-2", "yes").press("preview"));
    says(
        &shown,
        "Phone number +447911123456 from 07911 123456 name Ada",
    );
}

#[test]
fn a_correction_that_cannot_be_sent_is_linked_from_every_page() {
    let folder = Folder::new();
    let (visitor, _service) = start(&folder, "");
    let list: String = (0..60).map(|row| format!("12{row},Ada\n")).collect();
    let list = format!("phone,name\n+447911123456,Ada\n{list}");
    let first = press(&visitor, &columns(&visitor, "leads.csv", list), "continue");
    // The country is asked for once.
    let first = press(&visitor, &first, "continue");
    assert!(first.heading().starts_with("60 rows"));
    let second = visitor.get(&format!("{}/problems?page=2", first.list()));
    let refused = visitor.send(&second.form("problems").set("row-60", "nothing"));
    assert!(
        refused.html.contains("href=\"#row-60\""),
        "{}",
        refused.html
    );
    let first = visitor.get(&format!("{}/problems", first.list()));
    assert!(
        first.html.contains("href=\"?page=2#row-60\""),
        "{}",
        first.html
    );
}

#[test]
fn the_country_is_asked_for_until_the_question_was_shown() {
    let numbers = (0..10).map(|n| format!("07911 12345{n},Ada\n"));
    let folder = Folder::with_leads(&format!("phone,name\n{}", numbers.collect::<String>()));
    let service = service();
    let page = Page::start(&folder, &service);
    let session = &page.session;
    let chosen = session.upload("list", &[], Some(&folder.path("leads.csv")));
    let (at, campaign) = session.arrive(&chosen.to.unwrap());
    let list = at.strip_suffix("/campaign").unwrap();
    let version = campaign.field("version");
    session.post(&at, &[("version", &version), ("campaign", "101")]);
    let columns = format!("{list}/columns");
    page.choose(list, &session.arrive(&columns).1.field("version"), "name");
    // The script of the page fetches the next step before it shows it.
    let next = || loop {
        let answer = session.get(&format!("{list}/problems?next"));
        if !answer.body.contains("data-waiting") {
            return answer.to;
        }
    };
    assert_eq!(
        [next(), next()],
        [Some(columns.clone()), Some(columns.clone())]
    );
    let asked = session.arrive(&columns).1;
    assert!(asked.says("10 numbers"), "{}", asked.body);
    assert_eq!(next(), Some(format!("{list}/problems")));
}
