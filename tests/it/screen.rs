//! What a terminal shows while an import runs.

use leadload::sandbox::Sandbox;

use crate::terminal::Terminal;
use crate::util::{Folder, Run, contacts, scenario};

/// The key with which a user ends an import.
const CTRL_C: &str = "\u{3}";

/// Enough rows that the import does not end by itself during the test.
const ROWS: usize = 2000;

/// An import that takes a while.
fn import(folder: &Folder, service: &Sandbox, args: &str) -> Run {
    let args = format!("import leads.csv --campaign 101 --rate 40/s --yes {args}");
    // The user's time zone is five and a half hours ahead of London.
    folder
        .leadload(&[])
        .args(args.trim_end())
        .at(service)
        .env("TZ", "XYZ+5:30")
}

/// The lower part of a screen, from the bar on, with `N` for every number.
fn block(shown: &str) -> String {
    let mut lines = shown.lines().skip_while(|line| !line.contains("rows ("));
    let bar = lines.next().unwrap();
    let (bar, rows) = bar.split_once("] ").unwrap();
    let is_bar = |c: char| matches!(c, '[' | '=' | '>' | ' ');
    assert!(bar.chars().all(is_bar), "{bar}");
    let mut text = String::from("[BAR] ");
    for part in [rows].into_iter().chain(lines) {
        let digits = part
            .replace(|c: char| c.is_ascii_digit(), "N")
            .replace("N,N", "NN");
        let mut last = ' ';
        text.extend(
            digits
                .chars()
                .filter(|c| std::mem::replace(&mut last, *c) != 'N' || *c != 'N'),
        );
        text.push('\n');
    }
    text
}

/// Waits until the screen shows all of these texts. Returns the screen.
#[track_caller]
fn when(terminal: &Terminal, texts: &[&str]) -> String {
    terminal.wait_until(&texts.join(", "), |shown| {
        texts.iter().all(|text| shown.contains(text))
    })
}

/// How many leads have been created, as the screen says.
fn created(shown: &str) -> u64 {
    let before = shown.split(" created").next().unwrap_or_default();
    let count = before.split_whitespace().last().unwrap_or_default();
    count.replace(',', "").parse().unwrap_or_default()
}

/// Stops the import, which must leave a clean screen. Returns the screen.
#[track_caller]
fn stopped(mut terminal: Terminal) -> String {
    terminal.type_in(CTRL_C);
    let shown = terminal.wait_for("continues where this stopped");
    assert!(!shown.contains("rows ("), "{shown}");
    assert!(!shown.contains("still in flight"), "{shown}");
    let written = terminal.written();
    assert!(
        !written.contains("\u{1b}[?25l"),
        "the cursor is never hidden"
    );
    assert_eq!(terminal.end().0, 4);
    shown
}

#[test]
fn eighty_columns_show_everything_in_three_lines() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario("latency_ms = 5");
    let terminal = Terminal::start(import(&folder, &service, ""), 80, 24);
    let shown = when(&terminal, &["of 2,000 rows (", "created", "s left"]);
    insta::assert_snapshot!("bar_of_an_import", block(&shown));
    let bar = shown.lines().find(|line| line.contains("rows (")).unwrap();
    assert_eq!(bar.len(), 79, "{bar}");
    // The earlier output is above the bar.
    assert!(shown.starts_with("leads.csv\n  encoding "), "{shown}");
    assert!(shown.contains("\n\n["), "{shown}");
    stopped(terminal);
}

#[test]
fn forty_columns_show_everything_and_nothing_is_cut() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario("latency_ms = 5");
    let terminal = Terminal::start(import(&folder, &service, ""), 40, 12);
    let shown = when(&terminal, &["of 2,000 rows (", "created", "s left"]);
    insta::assert_snapshot!("bar_of_several_counts", block(&shown));
    stopped(terminal);
}

#[test]
fn on_a_tiny_screen_nothing_breaks() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario("latency_ms = 5");
    let mut terminal = Terminal::start(import(&folder, &service, ""), 20, 3);
    let shown = when(&terminal, &["of 2,000"]);
    assert!(shown.lines().count() <= 3, "{shown}");
    terminal.type_in(CTRL_C);
    assert_eq!(terminal.end().0, 4);
}

#[cfg(unix)]
#[test]
fn a_terminal_that_says_it_has_no_size_is_taken_for_a_usual_one() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario("latency_ms = 5");
    let script = "stty cols 0 rows 0; exec \"$0\" \"$@\"";
    let args = ["import", "leads.csv", "--campaign", "101", "--yes"];
    let import = folder.through_shell(script, &args).at(&service);
    let import = import.args("--rate 40/s").env("TZ", "XYZ+5:30");
    let terminal = Terminal::start(import, 80, 24);
    let shown = when(&terminal, &["of 2,000 rows (", "created", "s left"]);
    let bar = shown.lines().find(|line| line.contains("rows (")).unwrap();
    assert_eq!(bar.len(), 79, "{bar}");
    stopped(terminal);
    // Tables too.
    let runs = folder.through_shell(script, &["runs"]);
    let (code, shown) = Terminal::start(runs, 80, 24).end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("run  began (UTC)       state "), "{shown}");
    assert!(shown.contains("leads.csv"), "{shown}");
}

#[test]
fn a_window_of_another_size_leaves_nothing_torn_or_doubled() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario("latency_ms = 5");
    let terminal = Terminal::start(import(&folder, &service, ""), 80, 24);
    when(&terminal, &["of 2,000 rows (", "s left"]);
    for columns in [40, 100, 30, 62, 80] {
        terminal.resize(columns, 24);
        let widest = usize::from(columns) - 1;
        // The terminal may show a part of what was written last.
        let shown = terminal.wait_until("whole bar of the new width", |shown| {
            let lines_with = |text: &'static str| shown.lines().filter(move |l| l.contains(text));
            let is_widest = lines_with("[").all(|bar| bar.starts_with('[') && bar.len() == widest);
            is_widest && ["[", "created", "up to"].map(|once| lines_with(once).count()) == [1; 3]
        });
        assert!(shown.contains("run 1"), "{shown}");
    }
    stopped(terminal);
}

#[test]
fn a_log_line_is_shown_whole_above_the_bars() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario(
        "latency_ms = 5\n[[rule]]\nphone_number = '+447911000020'\nattempts = [1]\n\
         reply = { status = 500 }",
    );
    let terminal = Terminal::start(import(&folder, &service, "-v"), 110, 30);
    let shown = when(&terminal, &["row 21: ", "created", "of 2,000 rows"]);
    let lines = shown.lines().filter(|line| line.contains("INFO row 21: "));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 1, "{shown}");
    let is_whole = lines[0].contains("(http_500)") && lines[0].trim_end().ends_with("(run 1)");
    assert!(is_whole, "{shown}");
    assert!(shown.find(lines[0]) < shown.find("rows ("), "{shown}");
    assert_eq!(shown.matches("rows (").count(), 1, "{shown}");
    stopped(terminal);
}

#[test]
fn while_the_service_asks_to_wait_the_seconds_are_counted_down() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario(
        "latency_ms = 5\n[[rule]]\nphone_number = '+447911000020'\nattempts = [1]\n\
         reply = { status = 429, headers = { Retry-After = '37' } }",
    );
    let terminal = Terminal::start(import(&folder, &service, ""), 80, 24);
    let shown = when(&terminal, &["asks to wait 3", "min left"]);
    insta::assert_snapshot!("bar_of_a_wait", block(&shown));
    when(&terminal, &["asks to wait 35 s"]);
    terminal.resize(40, 24);
    when(&terminal, &["\nthe service asks to wait 3"]);
    stopped(terminal);
}

#[test]
fn an_outage_is_shown_with_the_time_in_the_zone_of_the_user() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario("latency_ms = 5\noutage = { after_requests = 20, for_s = 3600 }");
    let terminal = Terminal::start(import(&folder, &service, ""), 80, 24);
    let shown = terminal.wait_for("service not answering since ");
    let (_, since) = shown.split_once("service not answering since ").unwrap();
    let (time, next) = since.split_once(", ").unwrap();
    assert!(next.starts_with("trying again "), "{shown}");
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let here = |minutes: i64| {
        let span = jiff::SignedDuration::from_mins(-(5 * 60 + 30) - minutes);
        now.checked_add(span).unwrap().strftime("%H:%M").to_string()
    };
    assert!([here(0), here(1)].contains(&time.to_owned()), "{shown}");
    stopped(terminal);
}

#[test]
fn a_terminal_that_can_draw_nothing_gets_plain_lines() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario("latency_ms = 5");
    for term in ["dumb", ""] {
        let ledger = format!("--ledger {term}.sqlite3 --new-ledger");
        let run = import(&folder, &service, &ledger);
        let terminal = Terminal::start(
            run.env("TERM", if term.is_empty() { "dumb" } else { term }),
            80,
            40,
        );
        terminal.wait_for("Results: ");
        let written = terminal.written();
        assert!(!written.contains('\u{1b}'), "{written:?}");
        assert!(!written.contains("rows ("), "{written:?}");
        assert_eq!(terminal.end().0, 0);
    }
}

#[test]
fn there_is_no_colour_with_or_without_no_color() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario("latency_ms = 5");
    for name in ["NO_COLOR", "ANYTHING"] {
        let run = import(&folder, &service, "-vv").env(name, "1");
        let terminal = Terminal::start(run, 80, 40);
        terminal.wait_for("Results: ");
        let written = terminal.written();
        let mut sequences = written.split("\u{1b}[").skip(1);
        let is_colour = |sequence: &str| {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic());
            end.is_some_and(|end| &sequence[end..=end] == "m")
        };
        assert!(!sequences.any(is_colour), "{written:?}");
        assert_eq!(terminal.end().0, 0);
    }
}

#[test]
fn a_second_ctrl_c_leaves_a_clean_screen_too() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = scenario(
        "latency_ms = 5\n[[rule]]\nphone_number = '+447911000020'\nreply = { then = 'hang' }",
    );
    let mut terminal = Terminal::start(import(&folder, &service, ""), 80, 24);
    terminal.wait_until("row behind the one that hangs", |shown| {
        shown.contains("of 2,000 rows (") && created(shown) > 20
    });
    terminal.type_in(CTRL_C);
    terminal.wait_for("stopping, 1 still in flight");
    terminal.type_in(CTRL_C);
    let shown = terminal.wait_for("continues where this stopped");
    assert!(!shown.contains("still in flight"), "{shown}");
    let uncertain = shown.lines().find(|line| line.contains("uncertain"));
    assert!(uncertain.unwrap().contains(" 1 "), "{shown}");
    assert_eq!(terminal.end().0, 4);
}

#[test]
fn a_check_has_a_block_as_well_and_leaves_none() {
    let folder = Folder::with_leads(&contacts(60_000));
    let run = folder.leadload(&["check", "leads.csv"]);
    let terminal = Terminal::start(run, 80, 24);
    let shown = terminal.wait_for("60,000 rows checked");
    // The bar is drawn and removed before a test can see it on the screen.
    let written = terminal.written();
    assert!(written.contains(" ready\u{1b}"), "{written:?}");
    assert!(!shown.contains(" ready\n"), "{shown}");
    assert_eq!(terminal.end().0, 0);
}
