//! *Undo* and *Look them up* in the page, over HTTP with the real program.

use leadload::sandbox::Sandbox;

#[cfg(unix)]
use crate::cluster::Cluster;
use crate::page_runs::Page;
use crate::page_session::Answer;
use crate::undo::sent_from_elsewhere;
use crate::util::{Folder, contacts, scenario, service, wait_for_requests, wait_until};

/// The page after a list of so many people was sent to `service`.
fn sent(folder: &Folder, service: &Sandbox) -> (Page, String) {
    let page = Page::start(folder, service);
    let list = page.prepare(folder);
    page.send(&list, &[]);
    page.end(&list);
    (page, list)
}

/// The screen that follows a press of a button, and those after it.
fn pressed(page: &Page, address: &str, fields: &[(&str, &str)]) -> Answer {
    let answer = page.session.post(address, fields);
    page.session.arrive(&answer.to.expect(&answer.body)).1
}

/// The address of the run that the screen is about: `history/1`.
fn run_of(page: &Page, list: &str) -> String {
    let run = page.session.arrive(&format!("{list}/run")).1;
    let undo = run.link("/undo").expect(&run.body);
    undo.strip_suffix("/undo").unwrap().to_owned()
}

#[test]
fn undo_asks_and_removes_the_leads_of_the_run_alone() {
    let folder = Folder::with_leads(&contacts(12));
    let service = service();
    folder.write("other.csv", "phone\n+447911999999\n");
    folder
        .import(&service, &["other.csv", "--campaign", "102"])
        .expect(0);
    let (page, list) = sent(&folder, &service);
    assert_eq!(service.leads().len(), 13);
    let run = run_of(&page, &list);

    let question = page.session.get(&format!("{run}/undo"));
    assert!(question.says("Remove 12 leads"), "{}", question.body);
    assert!(question.says("Spring promo"), "{}", question.body);
    assert!(question.says("Keep them"));
    assert_eq!(service.stats().lead_requests, 13);

    let after = pressed(&page, &format!("{run}/undo"), &[("leads", "12")]);
    assert!(after.says("Removed again"), "{}", after.body);
    assert!(!after.says(">Undo<"));
    let left: Vec<_> = service
        .leads()
        .into_iter()
        .map(|lead| lead.phone_number)
        .collect();
    assert_eq!(left, ["+447911999999"]);

    let file = page
        .session
        .get(&after.link("/files/removed.csv").expect(&after.body));
    let lines: Vec<&str> = file.body.lines().collect();
    assert_eq!(lines.len(), 13);
    assert!(
        lines[1].contains(",101,") && lines[1].contains(",undone,"),
        "{}",
        lines[1]
    );
    // The list of the other run says the same as before.
    let history = page.session.get("history");
    assert!(history.says("removed again") && history.says("complete"));
}

#[test]
fn leads_that_are_older_than_the_list_are_counted_in_the_question_and_stay() {
    let folder = Folder::with_leads(&contacts(12));
    let service = scenario(&format!(
        "old_leads = 1\n[[rule]]\nphone_number = '{}'\nattempts = [2]\n\
         reply = {{ body = '{{\"data\":{{\"id\":\"1\"}}}}' }}\n",
        crate::util::number(0)
    ));
    let before = Folder::with_leads(&contacts(1));
    before.import_leads(&service, &[]).expect(0);
    let (page, list) = sent(&folder, &service);
    let run = run_of(&page, &list);
    // Nobody knows it before the service was asked.
    let refused = pressed(&page, &format!("{run}/undo"), &[("leads", "12")]);
    assert!(refused.says("1 lead of this list"), "{}", refused.body);
    assert_eq!(service.leads().len(), 12);
    let question = page.session.get(&format!("{run}/undo"));
    assert!(question.says("Remove 11 leads"), "{}", question.body);
    assert!(question.says("1 lead of this list"));
    let fields = ["leads", "older"].map(|name| (name, question.field(name)));
    let fields = fields.each_ref().map(|(name, value)| (*name, &**value));
    let after = pressed(&page, &format!("{run}/undo"), &fields);
    assert!(after.says("Removed in part"), "{}", after.body);
    let left = service.leads().into_iter().map(|lead| lead.id);
    assert_eq!(left.collect::<Vec<String>>(), ["1"]);
}

#[test]
fn leads_of_a_run_from_the_command_line_are_removed_though_nothing_can_be_written_beside_its_list()
{
    let service = service();
    let folder = sent_from_elsewhere(&service);
    let page = Page::start(&folder, &service);
    let after = pressed(&page, "history/1/undo", &[("leads", "2")]);
    assert!(after.says("Removed again"), "{}", after.body);
    let file = after.link("/files/removed.csv").expect(&after.body);
    assert_eq!(page.session.get(&file).body.lines().count(), 3);
    assert!(!folder.path("leads.undo.csv").exists());
    assert_eq!(service.leads().len(), 0);
}

#[test]
fn nothing_is_removed_if_the_number_of_leads_is_not_the_one_that_was_shown() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    let (page, list) = sent(&folder, &service);
    let run = run_of(&page, &list);
    let after = pressed(&page, &format!("{run}/undo"), &[("leads", "2")]);
    assert!(after.says("nothing was removed"), "{}", after.body);
    assert_eq!(service.leads().len(), 3);
    // Without the number, it is asked.
    let asked = pressed(&page, &format!("{run}/undo"), &[]);
    assert!(asked.says("Remove 3 leads"), "{}", asked.body);
}

#[test]
fn a_service_without_the_call_is_said_to_have_none_and_nothing_changes() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario("lead_calls = 'none'");
    let (page, list) = sent(&folder, &service);
    let run = run_of(&page, &list);
    let after = pressed(&page, &format!("{run}/undo"), &[("leads", "3")]);
    assert!(after.says("not offer"), "{}", after.body);
    assert!(after.says("Sent"));
    assert_eq!(service.leads().len(), 3);
}

#[test]
fn what_the_service_keeps_is_tried_again() {
    let folder = Folder::with_leads(&contacts(4));
    let service = scenario("in_call = 1");
    let (page, list) = sent(&folder, &service);
    let run = run_of(&page, &list);
    let after = pressed(&page, &format!("{run}/undo"), &[("leads", "4")]);
    assert!(after.says("Removed in part"), "{}", after.body);
    assert!(after.says("under way"));
    let asked = page.session.get(&format!("{run}/undo"));
    assert!(asked.says("Remove 4 leads"), "{}", asked.body);
}

#[test]
fn a_list_that_is_stopped_and_undone_does_not_go_on_and_is_sent_again_after_a_tick() {
    let folder = Folder::with_leads(&contacts(60));
    let service = scenario("latency_ms = 100");
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    wait_for_requests(&service, 10);
    page.stop(&list);
    let stopped = page.end(&list);
    assert!(stopped.says("Undo"), "{}", stopped.body);
    let run = run_of(&page, &list);
    let question = page.session.get(&format!("{run}/undo"));
    assert!(question.says("The rest of this list"));
    let leads = service.leads().len().to_string();
    let after = pressed(&page, &format!("{run}/undo"), &[("leads", &leads)]);
    assert!(after.says("Removed again"), "{}", after.body);
    assert!(!after.says("Resume"));
    assert_eq!(service.leads().len(), 0);

    // The same list with the same settings is not sent by accident.
    let before = service.stats().lead_requests;
    page.send(&list, &[]);
    let now = || page.session.arrive(&format!("{list}/run")).1;
    wait_until("it is refused", || now().says("removed again"));
    assert!(now().says("once more"));
    assert_eq!(service.stats().lead_requests, before);
    page.send(&list, &[("again", "yes")]);
    assert!(page.end(&list).says("Sent"));
    assert_eq!(service.leads().len(), 60);
}

#[test]
fn while_a_list_is_sent_nothing_is_removed() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario("latency_ms = 50");
    let (page, list) = sent(&folder, &service);
    let run = run_of(&page, &list);
    folder.write("leads.csv", contacts(400));
    let other = page.prepare(&folder);
    page.send(&other, &[]);
    wait_for_requests(&service, 10);
    let after = pressed(&page, &format!("{run}/undo"), &[("leads", "3")]);
    assert!(after.says("Another list"), "{}", after.body);
    page.stop(&other);
    page.end(&other);
    let has_lost = (0..3).any(|row| {
        let number = crate::util::number(row);
        service
            .leads()
            .iter()
            .all(|lead| lead.phone_number != number)
    });
    assert!(!has_lost);
    let after = pressed(&page, &format!("{run}/undo"), &[("leads", "3")]);
    assert!(after.says("Removed again"), "{}", after.body);
}

#[test]
fn a_page_that_is_killed_or_quit_while_it_removes_leads_goes_on_after_its_next_start() {
    for quits in [false, true] {
        let folder = Folder::with_leads(&contacts(40));
        let service = scenario("latency_ms = 30\nmax_concurrent = 1");
        let (mut page, list) = sent(&folder, &service);
        let run = run_of(&page, &list);
        page.session
            .post(&format!("{run}/undo"), &[("leads", "40")]);
        wait_until("removing", || service.leads().len() < 40);
        if quits {
            let asked = page.session.get("quit");
            assert!(asked.says("leads.csv"), "{}", asked.body);
            page.session.post("quit", &[]);
            page.wait_for_end();
        } else {
            page.kill();
        }
        let left = service.leads().len();
        assert!(left > 0, "{quits}");
        page = Page::start(&folder, &service);
        let shown = page.session.arrive(&run).1;
        assert!(shown.says("Removed in part"), "{}", shown.body);
        let asked = page.session.get(&format!("{run}/undo"));
        let leads = asked.field("leads");
        let after = pressed(&page, &format!("{run}/undo"), &[("leads", &leads)]);
        assert!(after.says("Removed again"), "{}", after.body);
        assert_eq!(service.leads().len(), 0);
    }
}

/// A list with many rows: when all are sent, its files take a while.
#[test]
fn undo_waits_until_the_files_of_the_run_are_in_order() {
    let folder = Folder::with_leads(&contacts(12));
    let repeated = "+447911000000,again\n".repeat(40_000);
    let list = folder.read("leads.csv") + &repeated;
    folder.write("leads.csv", list);
    let service = service();
    let (page, list) = sent(&folder, &service);
    let leads = service.leads().len().to_string();
    let run = run_of(&page, &list);
    let after = pressed(&page, &format!("{run}/undo"), &[("leads", &leads)]);
    assert!(after.says("Removed again"), "{}", after.body);
    assert!(service.leads().is_empty());
}

#[test]
fn after_a_kill_the_page_knows_what_may_have_arrived_and_removes_it() {
    for looks_up in [false, true] {
        let folder = Folder::with_leads(&contacts(15));
        let service = scenario(&crate::undo::holding_answers());
        folder.write(
            "config.toml",
            "[profiles.test]\nrate = 'none'\nconcurrency = 8\n",
        );
        let page = Page::start(&folder, &service);
        let list = page.prepare(&folder);
        page.send(&list, &[]);
        wait_until("all are taken", || service.leads().len() == 15);
        page.kill();
        let page = Page::start(&folder, &service);
        let history = page.session.get("history");
        let run = history.link("/undo").expect(&history.body);
        let run = run.strip_suffix("/undo").unwrap().to_owned();
        let shown = page.session.arrive(&run).1;
        assert!(shown.says("Look them up"), "{}", shown.body);
        let question = page.session.get(&format!("{run}/undo"));
        assert!(question.says("it isn"), "{}", question.body);
        assert!(!question.says("nothing to remove"), "{}", question.body);
        assert_eq!(question.field("leads"), "15");
        if looks_up {
            let after = pressed(&page, &format!("{run}/look-up"), &[]);
            assert!(after.says("arrived"), "{}", after.body);
            let question = page.session.get(&format!("{run}/undo"));
            assert!(question.says("Remove 15 leads"), "{}", question.body);
        }
        let after = pressed(&page, &format!("{run}/undo"), &[("leads", "15")]);
        assert!(after.says("Removed again"), "{}", after.body);
        assert!(service.leads().is_empty());
    }
}

#[test]
fn rows_that_may_have_arrived_are_looked_up() {
    let folder = Folder::with_leads(&contacts(6));
    let lost = |row, store| {
        let number = crate::util::number(row);
        format!(
            "[[rule]]\nphone_number = '{number}'\nreply = {{ then = 'drop', store = {store} }}\n"
        )
    };
    let service = scenario(&[lost(2, true), lost(4, false)].concat());
    let settings = "[profiles.test]\nrate = 'none'\non_uncertain = 'hold'\n";
    folder.write("config.toml", settings);
    let (page, list) = sent(&folder, &service);
    let run = run_of(&page, &list);
    let before = page.session.get(&run);
    let before = match &before.to {
        Some(to) => page.session.arrive(to).1,
        None => before,
    };
    assert!(before.says("Look them up"), "{}", before.body);
    let after = pressed(&page, &format!("{run}/look-up"), &[]);
    for told in [
        "2 rows looked up",
        "<dt>arrived</dt><dd>1</dd>",
        "Look again",
    ] {
        assert!(after.body.contains(told), "{}", after.body);
    }
    // What was found is the run's, and goes with it.
    let asked = page.session.get(&format!("{run}/undo"));
    assert!(asked.says("Remove 5 leads"), "{}", asked.body);
}

#[cfg(unix)]
#[test]
fn on_a_shared_ledger_the_page_says_whose_each_run_is() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    let url = database.url();
    let import = folder.import_leads(&service, &[]);
    import.env("LEADLOAD_LEDGER", &url).expect(0);
    database.sql("UPDATE leadload.starts SET started_by = 'grace', host = 'lab'");
    let page = Page::with(&folder, &service, &["--ledger", &url]);
    let history = page.session.get("history");
    assert!(history.says("grace on lab"), "{}", history.body);
    assert!(!history.says("this computer"), "{}", history.body);
    for screen in ["history/1", "history/1/undo"] {
        let screen = page.session.get(screen);
        assert!(screen.says("grace on lab"), "{}", screen.body);
    }
}
