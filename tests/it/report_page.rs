//! `--report`: the page says the same as the other outputs, for people, and has no active content.

use std::fs;

use leadload::results::{SheetLayout, WorkbookError, write_workbook};
use serde_json::Value;

use crate::page::Page;
use crate::util::{Folder, Output, contacts, sample_data, scenario, service, wait_for_requests};

/// The page with this name.
fn page(folder: &Folder, name: &str) -> Page {
    Page::read(&folder.read(name))
}

/// The page has the same number for every status as the JSON summary, and the numbers add up.
#[track_caller]
fn says_the_same(page: &Page, summary: &Value) {
    let table = page.table_of("Rows by status");
    let mut sum = 0;
    for (status, rows) in summary["counts"].as_object().unwrap() {
        let rows = rows.as_u64().unwrap();
        let shown = table
            .rows
            .iter()
            .find(|cells| cells[0].ends_with(status.as_str()));
        match shown {
            Some(cells) => assert_eq!(cells[1].replace(',', ""), rows.to_string(), "{status}"),
            None => assert_eq!(rows, 0, "{status}"),
        }
        sum += rows;
    }
    assert_eq!(
        page.cell("Rows by status", "all", 1).replace(',', ""),
        sum.to_string()
    );
    assert_eq!(summary["rows"], sum);
}

fn run(folder: &Folder, line: &str, code: i32) -> Output {
    let args: Vec<&str> = line.split(' ').collect();
    folder.leadload(&args).expect(code)
}

fn with_samples(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for name in names {
        fs::copy(sample_data(name), folder.path(name)).unwrap();
    }
    folder
}

#[test]
fn the_page_of_a_check_says_what_the_check_says() {
    let folder = with_samples(&["kontakte.csv", "do-not-call.txt"]);
    let line = "check kontakte.csv --region DE --suppress do-not-call.txt --campaign 101 --report page.html";
    let text = run(&folder, line, 1).stdout;
    assert!(text.contains("\nReport: page.html\n"), "{text}");
    let summary = run(&folder, &format!("{line} --format json"), 1).json();
    assert_eq!(summary["report"], "page.html");

    let page = page(&folder, "page.html");
    says_the_same(&page, &summary);
    page.says("check");
    page.says("of 12 rows, 6 ");
    page.says("4 need");
    page.says("do-not-call.txt, 2 numbers");
    page.says("4 s.");
    // Each problem with its cell, and each row that is left out.
    for text in [
        "phone_damaged",
        "4,91714E+12",
        "phone_ambiguous",
        "(empty)",
        "row 1",
        "do-not-call.txt, line 2",
    ] {
        page.says(text);
    }
    // Columns with sample values.
    assert_eq!(page.cell("kontakte.csv", "Handy", 1), "phone_number");
    assert_eq!(
        page.cell("kontakte.csv", "Vorname", 2),
        "Jürgen · Zoë · Søren"
    );
    // The numbers by country are those of the JSON summary, added up.
    let numbers = summary["numbers"].as_array().unwrap();
    let sum: u64 = numbers
        .iter()
        .map(|kind| kind["rows"].as_u64().unwrap())
        .sum();
    assert_eq!(page.table_of("6 numbers").rows.len(), 1 + 3);
    assert_eq!(sum, 6);
    assert_eq!(page.cell("6 numbers", "DE Germany", 1), "4");
}

#[test]
fn the_page_of_an_import_says_what_became_of_every_row() {
    let folder = with_samples(&["contacts.csv"]);
    let service = service();
    let args = "contacts.csv --campaign 101 --format json --report page.html";
    let args: Vec<&str> = args.split(' ').collect();
    let summary = folder.import(&service, &args).expect(1).json();
    let page = page(&folder, "page.html");
    says_the_same(&page, &summary);
    page.says("Complete, ");
    page.says("of 205 rows, 194 ");
    page.says("8 need");
    page.says("194 numbers");
    page.says("+12025550130 / +12025550131");
    page.says("leadload import contacts.rejects.csv");
    page.says_nothing_of("sandbox");
}

#[test]
fn the_rejects_are_sent_by_the_command_that_the_summary_ends_with() {
    let folder = Folder::with_leads("phone\n+447911000001\nx\n");
    folder.write("dnc.txt", "+447911000099\n");
    let service = service();
    for ledger in ["ledger.db", "none"] {
        let args = ["--report", "page.html", "--suppress", "dnc.txt"];
        let ledger_args = ["--ledger", ledger, "--allow-duplicates", "--again"];
        let run = folder.import_leads(&service, &[&args[..], &ledger_args].concat());
        let summary = run.expect(1).stdout;
        let command = summary.lines().last().unwrap().trim();
        assert_eq!(
            command.contains("--suppress dnc.txt"),
            ledger == "none",
            "{command}"
        );
        let page = page(&folder, "page.html");
        page.says(command);
        match ledger {
            "none" => page.says_nothing_of("from this run"),
            _ => page.says("from this run"),
        }
    }
}

#[test]
fn a_stopped_run_says_why_and_how_to_go_on_and_then_that_it_goes_on() {
    let folder = Folder::with_leads(&contacts(100));
    let service = scenario("token_revoked_after = 50");
    let args = ["--report", "page.html", "--format", "json"];
    let summary = folder.import_leads(&service, &args).expect(3).json();
    let first = page(&folder, "page.html");
    says_the_same(&first, &summary);
    first.says("Stopped");
    first.says("token");
    first.says("50 of 100 rows");
    first.says("leads.csv --campaign 101 --report page.html");

    let service = crate::util::replaced(service, "");
    let summary = folder.import_leads(&service, &args).expect(0).json();
    let second = page(&folder, "page.html");
    says_the_same(&second, &summary);
    second.says("an earlier start");
    second.says("100 numbers");
    assert_eq!(
        folder.names(),
        ["leads.csv", "leads.results.csv", "page.html"]
    );
}

#[test]
fn whatever_a_list_or_a_service_says_stays_text() {
    let hostile = "\"><img src=x onerror=alert(1)><script>alert(1)</script>";
    let cell = hostile.replace('"', "\"\"");
    let text = format!(
        "phone,\"<b onclick=alert(1)>{cell}\",\u{202e}name\n\
         \"{cell}\",a,b\n\
         \u{202e}x\0\u{7},a,b\n\
         +447911000001,a,b\n\
         +447911000001,\"{cell}\",\u{202e}b\n"
    );
    let folder = Folder::with_leads(&text);
    folder.write("<b>&\"q.csv", "phone\n+447911000002\n'--></style></svg>\n");
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000001"
        reply = { status = 422, body = '{"message":"</td></table><script>alert(`1`)</script>\u202e"}' }"#,
    );
    for command in ["import", "check"] {
        let args = [
            command,
            "leads.csv",
            "<b>&\"q.csv",
            "--campaign",
            "101",
            "--report",
            "page.html",
            "--set",
            "note=<i>\u{202e}",
        ];
        folder.leadload(&args).at(&service).expect(1);
        let page = page(&folder, "page.html");
        page.says("\"><img src=x onerror=alert(1)><script>al");
        page.says("'--></style></svg>");
        page.says("<b>&\"q.csv, 2 rows");
        assert!(page.text.contains("</td></table><script>") == (command == "import"));
    }
}

#[test]
fn a_spreadsheet_has_a_page_too() {
    let folder = Folder::new();
    let rows = [
        ["Phone", "Name"],
        ["+447911000001", "Ada"],
        ["4.4770E+11", "Bob"],
    ];
    let rows = rows.map(|row| Ok::<_, WorkbookError>(row.map(str::to_owned).to_vec()));
    let mut file = fs::File::create(folder.path("leads.xlsx")).unwrap();
    let layout = SheetLayout {
        name: "rejects",
        has_header: true,
    };
    write_workbook(&layout, rows.into_iter(), &mut file).unwrap();
    let service = service();
    let args = [
        "leads.xlsx",
        "--campaign",
        "101",
        "--report",
        "page.html",
        "--format",
        "json",
    ];
    let summary = folder.import(&service, &args).expect(1).json();
    let page = page(&folder, "page.html");
    says_the_same(&page, &summary);
    page.says("leadload import leads.rejects.xlsx");
    assert_eq!(page.table_of("The row").rows[1][..2], ["3", "4.4770E+11"]);
}

#[test]
fn a_list_without_rows_has_a_page_that_says_so() {
    let folder = Folder::with_leads("phone,name\n");
    for command in ["check", "import"] {
        run(
            &folder,
            &format!("{command} leads.csv --sandbox --campaign 101 --report page.html"),
            0,
        );
        let page = page(&folder, "page.html");
        page.says("no rows");
        page.says(match command {
            "check" => "Checked",
            _ => "Complete",
        });
        page.says_nothing_of("Rows by status");
    }
}

#[test]
fn a_trial_says_that_nothing_left_this_computer() {
    let folder = Folder::with_leads(&contacts(3));
    let line = "import leads.csv --sandbox --rate none --campaign 101 --report page.html";
    run(&folder, line, 0);
    let page = page(&folder, "page.html");
    page.says("Trial");
    page.says("sandbox");
    page.says("of 3 rows, 3 ");
}

#[test]
fn several_files_and_campaigns_are_kept_apart() {
    let folder = Folder::new();
    folder.write("a.csv", "phone,list\n+447911000001,101\nx,101\n");
    folder.write(
        "b.csv",
        "phone,list\n+447911000002,102\n+447911000003,102\ny,101\n",
    );
    let service = service();
    let args = "a.csv b.csv --campaign-column list --report page.html --format json";
    let args: Vec<&str> = args.split(' ').collect();
    let summary = folder.import(&service, &args).expect(1).json();
    let page = page(&folder, "page.html");
    says_the_same(&page, &summary);
    page.says("a.csv and 1 more");
    page.says("a.csv, 2 rows");
    page.says("b.csv, 3 rows");
    page.says("each row");
    assert_eq!(page.table_of("Both rows").rows[2][..3], ["b.csv", "4", "y"]);
    assert_eq!(page.cell("Rows by campaign", "102", 2), "2 created");
    assert_eq!(page.cell("b.csv", "list", 1), "campaign_id");
}

#[test]
fn many_problems_make_no_long_page() {
    let mut text = String::from("phone\n");
    (0..20_000).for_each(|row| text.push_str(&format!("x{row}\n")));
    let folder = Folder::with_leads(&text);
    run(&folder, "check leads.csv --report page.html", 1);
    let page = page(&folder, "page.html");
    page.says("20,000 rows");
    assert_eq!(
        page.table_of("The first 5 of 20,000 rows").rows.len(),
        1 + 5
    );
    assert!(folder.read("page.html").len() < 30_000);
}

#[test]
fn rows_that_are_known_to_be_bad_ask_for_no_attention() {
    let folder = Folder::with_leads("phone\n+447911000001\nx\n");
    let service = service();
    folder.import_leads(&service, &[]).expect(1);
    let args = [
        "--known-bad",
        "skip",
        "--report",
        "page.html",
        "--format",
        "json",
    ];
    let summary = folder.import_leads(&service, &args).expect(0).json();
    let page = page(&folder, "page.html");
    says_the_same(&page, &summary);
    page.says("of 2 rows, 2 ");
    page.says("already bad");
    page.says_nothing_of("leadload import");
}

#[cfg(unix)]
#[test]
fn the_page_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_leads(&contacts(1));
    run(&folder, "check leads.csv --report page.html", 0);
    let mode = fs::metadata(folder.path("page.html"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_page_that_cannot_be_there_is_refused_before_anything_is_sent() {
    let folder = Folder::with_leads(&contacts(1));
    folder.write("list.html", contacts(1));
    folder.write("dnc.html", "+447911000099\n");
    fs::create_dir(folder.path("folder.html")).unwrap();
    let service = service();
    for (flags, named) in [
        ("--report folder.html", "`folder.html`"),
        ("--report page.pdf", "`.html`"),
        ("--report leads.csv", "`.html`"),
        ("--report -", "`.html`"),
        ("--report dnc.html --suppress dnc.html", "`dnc.html`"),
        ("--report list.html list.html", "`list.html`"),
        ("--report page.html --results ./page.html", "page.html`"),
        ("--report page.html --rejects page.html", "page.html`"),
        ("--report l.html --ledger l.html", "`l.html`"),
    ] {
        for command in ["import", "check"] {
            let run =
                folder.leadload(&[command, "leads.csv", "--campaign", "101", "--rate", "none"]);
            let output = run.at(&service).args(flags).expect(2);
            output.tells(named);
            assert_eq!(output.stdout, "");
        }
    }
    assert_eq!(service.stats().lead_requests, 0);
    let left: Vec<String> = folder
        .names()
        .into_iter()
        .filter(|name| name.contains("part"))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn an_earlier_page_is_replaced_and_a_run_that_does_not_begin_leaves_it() {
    let folder = Folder::with_leads(&contacts(2));
    run(&folder, "check leads.csv --report page.html", 0);
    folder.write("leads.csv", contacts(3));
    run(&folder, "check leads.csv --report page.html", 0);
    let told = folder.read("page.html");
    Page::read(&told).says("3 rows");
    run(
        &folder,
        "import leads.csv --sandbox --campaign Nobody --report page.html",
        2,
    );
    assert_eq!(folder.read("page.html"), told);
    assert_eq!(folder.names(), ["leads.csv", "page.html"]);
}

#[test]
fn a_file_in_the_place_of_a_page_that_is_not_as_it_was_written_is_kept() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    run(&folder, "check leads.csv --report page.html", 0);
    let edited = folder.read("page.html").replace("</h1>", " (seen)</h1>");
    for (command, other) in [
        ("import", "mine"),
        ("check", "mine too"),
        ("import", &edited),
    ] {
        folder.write("page.html", other);
        let line = "leads.csv --campaign 101 --rate none --report page.html --results none";
        let args: Vec<&str> = [command].into_iter().chain(line.split(' ')).collect();
        let output = folder.leadload(&args).at(&service).expect(0);
        let mut words = output.stdout.split_whitespace();
        let kept = words.find(|word| word.starts_with("page.2")).unwrap();
        assert!(kept.ends_with(".html"), "{kept}");
        assert_eq!(folder.read(kept), other);
        page(&folder, "page.html").says("of 2 rows");
    }
}

#[cfg(unix)]
#[test]
fn a_page_that_is_lost_meanwhile_is_missed_and_the_same_command_writes_it() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario("latency_ms = 20");
    let args = ["--report", "page.html", "--concurrency", "1"];
    let child = folder.import_leads(&service, &args).start();
    wait_for_requests(&service, 3);
    fs::remove_file(folder.path("page.html.part")).unwrap();
    let output = Output::of(child);
    assert_eq!(output.code, 5, "{}", output.stderr);
    output.tells("page.html.part`");
    output.shows("same command");
    assert_eq!(folder.records("leads.results.csv").len(), 20);

    folder.import_leads(&service, &args).expect(0);
    page(&folder, "page.html").says("of 20 rows, 20 ");
    assert_eq!(service.stats().lead_requests, 20);
}

#[test]
fn a_check_that_finds_nothing_ready_does_not_offer_to_send() {
    let folder = Folder::with_leads("phone,name\n12,Ada\n");
    folder
        .leadload(&["check", "leads.csv", "--report", "page.html"])
        .expect(1);
    let page = folder.read("page.html");
    assert!(!page.contains("leadload import"), "{page}");
}
