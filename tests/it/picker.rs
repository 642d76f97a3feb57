//! The campaign is picked from a list if none is given.

use leadload::sandbox::Sandbox;

use crate::terminal::Terminal;
use crate::util::{Folder, Run, contacts, replaced, scenario, seen};

/// The end of the question, which is broken on a narrow screen.
const PROMPT: &str = "cancels):";

fn recorder() -> Sandbox {
    scenario("keep_bodies = true")
}

/// An import of `leads.csv` without a campaign.
fn import(folder: &Folder, service: &Sandbox, args: &[&str]) -> Run {
    folder.import(service, &[&["leads.csv"], args].concat())
}

#[test]
fn the_campaigns_are_listed_and_the_one_named_is_sent_to() {
    for (columns, lines) in [(80, 24), (40, 12)] {
        let (folder, service) = (Folder::with_leads(&contacts(2)), recorder());
        let mut terminal = Terminal::start(import(&folder, &service, &[]), columns, lines);
        let shown = terminal.wait_for(PROMPT);
        insta::assert_snapshot!(format!("picker_{columns}"), shown);
        terminal.type_in("102\r");
        terminal.wait_for("(102)? [y/N]");
        assert_eq!(seen(&service).len(), 0);
        terminal.type_in("y\r");
        assert_eq!(terminal.end().0, 0);
        let campaigns: Vec<u64> = seen(&service).iter().map(|s| s.campaign).collect();
        assert_eq!(campaigns, [102, 102]);
    }
}

#[test]
fn an_answer_that_may_mean_several_is_asked_again() {
    let (folder, service) = (Folder::with_leads(&contacts(2)), recorder());
    let mut terminal = Terminal::start(import(&folder, &service, &[]), 80, 40);
    for (answer, said) in [
        ("newsletter\r", "enter an id"),
        ("9\r", "`9`"),
        ("AUTUMN survey\r", "“Autumn survey” (102)"),
    ] {
        terminal.wait_until(PROMPT, |shown| shown.ends_with(PROMPT));
        terminal.type_in(answer);
        terminal.wait_for(said);
    }
    // What is typed before the question is not its answer.
    terminal.wait_for("[y/N]");
    terminal.type_in("n\r");
    assert_eq!(terminal.end().0, 2);
    assert_eq!(seen(&service).len(), 0);
}

#[test]
fn who_picks_no_campaign_is_shown_how_to_name_one() {
    let (folder, service) = (Folder::with_leads(&contacts(2)), recorder());
    for (answer, code, said) in [
        ("\r", 2, "\nerror: "),
        ("\u{4}", 2, "\nerror: "),
        ("\u{3}", 4, "\nCancelled"),
    ] {
        let mut terminal = Terminal::start(import(&folder, &service, &[]), 80, 40);
        terminal.wait_for(PROMPT);
        terminal.type_in(answer);
        let (ended, shown) = terminal.end();
        assert_eq!(ended, code, "{shown}");
        assert!(shown.contains(said), "{shown}");
        assert_eq!(folder.names(), ["leads.csv"]);
    }
    assert_eq!(seen(&service).len(), 0);
}

#[test]
fn the_command_that_goes_on_names_the_campaign_that_was_picked() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario("keep_bodies = true\ntoken_revoked_after = 1");
    let mut terminal = Terminal::start(import(&folder, &service, &[]), 300, 40);
    terminal.wait_for(PROMPT);
    terminal.type_in("101\r");
    terminal.wait_for("[y/N]");
    terminal.type_in("y\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 3, "{shown}");
    assert!(
        shown.ends_with(" import leads.csv --campaign 101 --rate none"),
        "{shown}"
    );
    let service = replaced(service, "");
    let output = folder.import_leads(&service, &[]).expect(0);
    output.tells("run 1 ");
}

#[test]
fn nothing_is_asked_without_a_terminal_or_with_yes() {
    let (folder, service) = (Folder::with_leads(&contacts(2)), recorder());
    let output = import(&folder, &service, &[]).expect(2);
    output.tells("`--campaign`");
    let sandbox = folder.leadload(&["import", "leads.csv", "--sandbox"]);
    for run in [import(&folder, &service, &["--yes"]), sandbox] {
        let (code, shown) = Terminal::start(run, 80, 40).end();
        assert_eq!(code, 2, "{shown}");
        assert!(shown.contains("`--campaign`"), "{shown}");
    }
    assert_eq!(seen(&service).len(), 0);
}

#[test]
fn where_there_are_no_campaigns_there_is_nothing_to_pick() {
    let (folder, service) = (Folder::with_leads(&contacts(2)), scenario("campaign = []"));
    let (code, shown) = Terminal::start(import(&folder, &service, &[]), 80, 40).end();
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("`--campaign`"), "{shown}");
}
