//! Questions at the terminal: an answer counts like a flag.

use leadload::sandbox::Sandbox;

use crate::sheets::xlsx;
use crate::terminal::Terminal;
use crate::util::{Folder, scenario, seen};

fn recorder() -> Sandbox {
    scenario("keep_bodies = true")
}

/// An import at a terminal.
fn start(folder: &Folder, service: &Sandbox, args: &[&str]) -> Terminal {
    let args = [&["--campaign", "101"], args].concat();
    Terminal::start(folder.import(service, &args), 100, 60)
}

fn phones(service: &Sandbox) -> Vec<String> {
    seen(service).into_iter().map(|lead| lead.phone).collect()
}

const TWO: &str = "name,Phone,Mobile\n\
    Ada,+442079460001,+447911000001\n\
    Bob,,+447911000002\n";

#[test]
fn of_several_phone_columns_the_order_is_asked() {
    let (folder, service) = (Folder::with_leads(TWO), recorder());
    let mut terminal = start(&folder, &service, &["leads.csv"]);
    terminal.wait_for("  1  Mobile: 2 numbers\n  2  Phone: 1 number\n");
    terminal.answer("(Enter cancels):", "3\r");
    terminal.wait_for("from 1 to 2");
    terminal.answer("(Enter cancels):", "2 1 2\r");
    terminal.wait_for("phone      `Phone`, `Mobile` (--phone-column)");
    terminal.answer("[y/N]", "y\r");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(phones(&service), ["+442079460001", "+447911000002"]);
}

#[test]
fn a_warning_before_a_question_is_shown_once() {
    let (folder, service) = (Folder::with_leads(TWO), recorder());
    folder.write("config.toml", "only = ['name=Cy']\n");
    let args = ["leads.csv", "--config", "config.toml", "--only", "name=Ada"];
    let mut terminal = start(&folder, &service, &args);
    terminal.answer("(Enter cancels):", "1\r");
    terminal.answer("[y/N]", "y\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown.matches("`--only` replaces").count(), 1, "{shown}");
}

#[test]
fn an_empty_answer_gives_the_error_and_nothing_is_sent() {
    let (folder, service) = (Folder::with_leads(TWO), recorder());
    let mut terminal = start(&folder, &service, &["leads.csv"]);
    terminal.answer("(Enter cancels):", "\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 2, "{shown}");
    let shown = shown.replace('\n', " ");
    assert!(
        shown.contains("--phone-column Mobile --phone-column Phone"),
        "{shown}"
    );
    assert_eq!(seen(&service).len(), 0);
}

#[test]
fn a_region_that_the_list_speaks_against_is_asked_about() {
    let list = "name,phone\n\
        Ada,(203) 555-0101\nBob,(203) 555-0102\nCy,(203) 555-0103\n";
    for (answer, named, first) in [
        ("US", "the United States", "+12035550101"),
        ("GB", "the United Kingdom", "+442035550101"),
    ] {
        let (folder, service) = (Folder::with_leads(list), recorder());
        let mut terminal = start(&folder, &service, &["leads.csv", "--region", "GB"]);
        terminal.wait_for("3 of 3 numbers");
        terminal.answer("Enter cancels):", "Atlantis\r");
        terminal.wait_for("`Atlantis`");
        terminal.answer("Enter cancels):", &format!("{answer}\r"));
        terminal.wait_until(named, |shown| {
            let shown = shown.replace('\n', " ");
            shown.contains(&format!("taken as numbers of {named}"))
        });
        terminal.answer("[y/N]", "y\r");
        assert_eq!(terminal.end().0, 0);
        assert_eq!(phones(&service)[0], first);
    }
}

#[test]
fn no_in_small_letters_is_an_answer_and_not_norway() {
    let list = "name,phone\n\
        Ada,(203) 555-0101\nBob,(203) 555-0102\nCy,(203) 555-0103\n";
    let (folder, service) = (Folder::with_leads(list), recorder());
    let mut terminal = start(&folder, &service, &["leads.csv", "--region", "GB"]);
    terminal.answer("Enter cancels):", "no\r");
    assert_eq!(terminal.end().0, 2);
    assert_eq!(seen(&service).len(), 0);
}

#[test]
fn the_country_of_many_numbers_that_have_none_is_asked() {
    let list = "name,phone,Home\n\
        Ada,07911 000001,GB\nBob,07911 000002,GB\nCy,07911 000003,GB\nDi,+447911000004,GB\n";
    for (answer, sent) in [("GB\r", 4), ("home\r", 4), ("\r", 1)] {
        let (folder, service) = (Folder::with_leads(list), recorder());
        let mut terminal = start(&folder, &service, &["leads.csv"]);
        terminal.wait_for("3 numbers");
        terminal.answer("them out):", answer);
        terminal.answer("[y/N]", "y\r");
        assert_eq!(terminal.end().0, u32::from(sent == 1));
        assert_eq!(seen(&service).len(), sent);
    }
}

#[test]
fn of_a_workbook_the_hidden_sheet_with_the_numbers_is_asked() {
    let (folder, service) = (Folder::new(), recorder());
    let book = xlsx(|book| {
        let sheet = book.add_worksheet().set_name("Summary")?;
        sheet.write_row(0, 0, ["Leads", "3"])?;
        let sheet = book.add_worksheet().set_name("Leads")?;
        sheet.write_row(0, 0, ["name", "phone"])?;
        sheet.write_row(1, 0, ["Ada", "+447911000001"])?;
        sheet.set_hidden(true);
        Ok(())
    });
    folder.write("leads.xlsx", book);
    let alone = folder.import(&service, &["leads.xlsx", "--campaign", "101"]);
    alone.expect(2).tells("`--sheet Leads`");
    let mut terminal = start(&folder, &service, &["leads.xlsx"]);
    terminal.wait_for("  1  Leads\n");
    terminal.answer("(Enter cancels):", "leads\r");
    terminal.answer("[y/N]", "y\r");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(phones(&service), ["+447911000001"]);
}

#[test]
fn an_answer_is_in_the_command_that_is_printed() {
    let list = TWO.replace("+447911000002", "+4479110000");
    let (folder, service) = (Folder::with_leads(&list), recorder());
    let args = ["leads.csv", "--ledger", "none"];
    let mut terminal = start(&folder, &service, &args);
    terminal.answer("(Enter cancels):", "1,2\r");
    terminal.answer("[y/N]", "y\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 1, "{shown}");
    let next = shown.replace("\n", " ");
    assert!(
        next.contains("--phone-column Mobile --phone-column Phone"),
        "{shown}"
    );
}

#[test]
fn a_check_asks_too_and_a_trial_never_does() {
    let (folder, service) = (Folder::with_leads(TWO), recorder());
    let check = folder.leadload(&["check", "leads.csv"]).at(&service);
    let mut terminal = Terminal::start(check, 100, 60);
    terminal.answer("(Enter cancels):", "1\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("phone      `Mobile` (--phone-column)"),
        "{shown}"
    );
    let trial = folder.leadload(&["import", "leads.csv", "--sandbox", "--campaign", "101"]);
    let (code, shown) = Terminal::start(trial, 100, 40).end();
    assert_eq!(code, 2, "{shown}");
}
