//! `leadload config init` at a terminal: what it offers, what it keeps, and what it prints.

use std::fs;

use leadload::sandbox::Sandbox;

use crate::terminal::Terminal;
use crate::util::{Folder, Run, scenario};

const TOKEN: &str = "17|s3cretTokenOfTheCustomer";

/// A service that requires this token.
fn strict() -> Sandbox {
    scenario("token = '17|s3cretTokenOfTheCustomer'")
}

/// A folder with this settings file.
fn with_settings(toml: &str) -> Folder {
    let folder = Folder::new();
    folder.write("config.toml", toml);
    folder
}

fn init(folder: &Folder) -> Run {
    folder.leadload(&["config", "init", "--config", "config.toml"])
}

fn crm(folder: &Folder) -> Run {
    init(folder).args("--profile crm")
}

/// Answers yes to replacing, and types the address and token of the service.
fn replace(terminal: &mut Terminal, service: &Sandbox) {
    terminal.answer("[y/N]", "y\r");
    terminal.wait_for("Address");
    terminal.type_in(&format!("{}\r", service.base_url()));
    terminal.wait_for("Access token");
    terminal.type_in(&format!("{TOKEN}\r"));
}

/// The screen's text, without its line breaks.
fn in_one_line(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

const REPLACED: &str = "# Of all.
[profiles.crm] # Ours.
# Where it is:
base_url = 'https://old.example.com' # moved in May
# Who asks:
token_file = \"crm.token\" # of Ada
# Where they live:
region = 'GB' # most of them
rate = '5/s' # slow
";

/// Types the token, and returns the last screen. The exit code must be 0.
#[track_caller]
fn ended_with_token(mut terminal: Terminal) -> String {
    terminal.wait_for("Access token");
    terminal.type_in(&format!("{TOKEN}\r"));
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    shown
}

#[test]
#[should_panic(expected = "it has not ended, and shows:")]
fn a_command_that_does_not_end_is_not_awaited_for_ever() {
    let folder = with_settings(REPLACED);
    let terminal = Terminal::start(crm(&folder), 100, 40);
    terminal.wait_for("`crm`");
    terminal.end_within(std::time::Duration::from_millis(50));
}

#[test]
fn what_is_replaced_keeps_its_comments_and_what_is_not_asked_for_stays() {
    let service = strict();
    let folder = with_settings(REPLACED);
    let mut terminal = Terminal::start(crm(&folder), 100, 40);
    terminal.wait_for("https://old.example.com");
    replace(&mut terminal, &service);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let url = format!("\"{}\"", service.base_url());
    let expected = REPLACED.replace("'https://old.example.com'", &url);
    // The old file name belongs to the old address.
    let expected = expected.replace("crm.token", "crm-2.token");
    assert_eq!(folder.read("config.toml"), expected);
}

#[test]
fn a_name_alone_is_tried_with_https_in_front() {
    let service = strict();
    let url = service.base_url();
    let name = url.strip_prefix("http://").unwrap();
    let folder = Folder::new();
    let mut terminal = Terminal::start(crm(&folder), 100, 40);
    terminal.wait_for("https://app.example.com:");
    terminal.type_in(&format!("{name}\r"));
    terminal.wait_for("Access token");
    terminal.type_in(&format!("{TOKEN}\r"));
    terminal.wait_for(&format!("Asking https://{name}"));
    terminal.wait_until("second question", |shown| {
        shown.matches("Address").count() == 2
    });
    terminal.type_in(&format!("{url}\r"));
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(
        folder
            .read("config.toml")
            .contains(&format!("base_url = \"{url}\""))
    );
}

#[test]
fn the_address_that_is_there_is_taken_by_enter_alone() {
    let service = strict();
    let url = service.base_url();
    let folder = with_settings(&format!("[profiles.crm]\nbase_url = '{url}'\n"));
    let mut terminal = Terminal::start(crm(&folder), 100, 40);
    terminal.answer("[y/N]", "y\r");
    terminal.wait_for(&format!("[{url}]:"));
    terminal.type_in("\r");
    let shown = ended_with_token(terminal);
    assert!(shown.contains(&format!("Asking {url}")));
}

#[test]
fn a_token_file_that_is_no_longer_used_is_mentioned_and_kept() {
    let service = strict();
    let folder = with_settings("[profiles.crm]\ntoken_file = 'old.token'\n");
    folder.write("old.token", "old");
    let mut terminal = Terminal::start(crm(&folder), 200, 40);
    replace(&mut terminal, &service);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let old = folder.path("").canonicalize().unwrap().join("old.token");
    let old = old.display().to_string();
    assert!(in_one_line(&shown).contains(&old), "{shown}");
    assert_eq!(folder.read("old.token"), "old");
    assert_eq!(folder.read("crm.token"), format!("{TOKEN}\n"));
}

#[test]
fn a_file_that_something_else_needs_is_not_written_over_by_the_token() {
    let service = strict();
    let folder = with_settings("[profiles.other]\ntoken_file = 'crm.token'\n");
    folder.write("crm.token", "of the other");
    folder.write("crm-2.token", "");
    let url = service.base_url();
    let run = crm(&folder).args(&format!("--base-url {url}"));
    run.env("LEADLOAD_TOKEN", TOKEN).expect(0);
    assert_eq!(folder.read("crm.token"), "of the other");
    assert_eq!(folder.read("crm-2.token"), "");
    assert_eq!(folder.read("crm-3.token"), format!("{TOKEN}\n"));
    assert!(
        folder
            .read("config.toml")
            .contains("token_file = \"crm-3.token\"")
    );
}

#[test]
fn what_is_typed_while_the_service_is_asked_answers_nothing() {
    let service = strict();
    let folder = Folder::new();
    let mut terminal = Terminal::start(crm(&folder), 100, 40);
    terminal.wait_for("Address");
    terminal.type_in("http://127.0.0.1:1\r");
    terminal.wait_for("Access token");
    terminal.type_in(&format!("{TOKEN}\r"));
    terminal.wait_for("Asking http://127.0.0.1:1");
    terminal.type_in("too early\rand again\rand without an end");
    terminal.wait_until("second question", |shown| {
        shown.matches("Address").count() == 2
    });
    terminal.type_in(&format!("{}\r", service.base_url()));
    // The token was not refused.
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown.matches("Address").count(), 2, "{shown}");
}

#[test]
fn what_is_said_of_a_signal_begins_on_a_line_of_its_own() {
    let folder = Folder::new();
    // This server accepts connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let run = crm(&folder).args(&format!("--base-url {url}"));
    let mut terminal = Terminal::start(run, 100, 40);
    terminal.wait_for("Access token");
    terminal.type_in(&format!("{TOKEN}\r"));
    terminal.wait_for(&format!("Asking {url}"));
    terminal.type_in("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert!(shown.contains("\n^C\n"), "{shown}");
    assert!(!folder.path("config.toml").exists());
    assert!(!fs::exists(folder.path("crm.token")).unwrap());
}

#[test]
fn a_flag_with_an_address_of_plain_http_ends_the_setup() {
    let folder = Folder::new();
    let run = init(&folder).args("--base-url http://intranet");
    let terminal = Terminal::start(run, 100, 40);
    let (code, shown) = terminal.end();
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("--insecure-http"), "{shown}");
}

#[test]
fn without_a_terminal_the_environment_must_be_right() {
    let folder = Folder::new();
    let run = init(&folder).env("LEADLOAD_BASE_URL", "http://intranet");
    let output = run.env("LEADLOAD_TOKEN", TOKEN).expect(2);
    output.tells("`http://intranet`");
}

#[test]
fn a_new_token_is_not_stored_where_a_profile_sends_it_to_an_old_address() {
    let service = strict();
    let folder = with_settings(
        "[profiles.crm]\nbase_url = 'https://old.example.com'\ntoken_file = 'crm.token'\n",
    );
    folder.write("crm.token", "old");
    let mut terminal = Terminal::start(crm(&folder), 100, 40);
    replace(&mut terminal, &service);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("crm.token"), "{shown}");
    assert_eq!(folder.read("crm.token"), "old");
    assert_eq!(folder.read("crm-2.token"), format!("{TOKEN}\n"));
    let toml = folder.read("config.toml");
    assert!(toml.contains("token_file = \"crm-2.token\""), "{toml}");
}

#[test]
fn a_new_token_for_the_same_address_takes_the_place_of_the_old_one() {
    let service = strict();
    let url = service.base_url();
    let folder = with_settings(&format!(
        "[profiles.crm]\nbase_url = '{url}/api/'\ntoken_file = 'crm.token'\n"
    ));
    folder.write("crm.token", "old");
    let mut terminal = Terminal::start(crm(&folder), 100, 40);
    replace(&mut terminal, &service);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(folder.read("crm.token"), format!("{TOKEN}\n"));
    assert!(!folder.path("crm-2.token").exists());
}

#[test]
fn an_address_with_a_password_is_not_shown() {
    let folder =
        with_settings("[profiles.crm]\nbase_url = 'https://user:s3cret@old.example.com'\n");
    let mut terminal = Terminal::start(crm(&folder), 200, 40);
    let shown = terminal.wait_for("[y/N]");
    assert!(shown.contains("`crm`"), "{shown}");
    assert!(!shown.contains("old.example.com"), "{shown}");
    terminal.type_in("\r");
    let written = terminal.written();
    let (code, shown) = terminal.end();
    assert_eq!(code, 2, "{shown}");
    assert!(
        !written.contains("s3cret") && !shown.contains("s3cret"),
        "{shown}"
    );
}

#[test]
fn messages_are_broken_between_words_on_a_narrow_terminal() {
    let service = strict();
    let folder = Folder::new();
    let terminal = Terminal::start(crm(&folder).at(&service), 40, 60);
    terminal.wait_for("5 campaigns");
    let written = terminal.written();
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        lines.filter(|line| !line.contains("/")).collect()
    };
    // The terminal itself would have broken the lines anywhere.
    for line in lines(&written).iter().filter(|line| !line.ends_with(':')) {
        assert!(line.chars().count() < 40, "{line}");
    }
    let shown = lines(&shown);
    let mut full = shown.iter().filter(|line| line.chars().count() > 30);
    let is_broken = full.any(|line| line.ends_with(char::is_alphabetic));
    assert!(is_broken, "{shown:?}");
}
