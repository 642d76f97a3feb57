//! Bad input: exit code 2, one message that names what is wrong and what to use, and nothing is sent. The
//! messages themselves are in `messages`.

use crate::util::{Folder, service};

const ONE: &str = "phone\n+447911000001\n";

/// Runs against a service that must not be called. Returns the message.
#[track_caller]
fn message(folder: &Folder, args: &[&str]) -> String {
    let service = service();
    let mut all = vec!["import"];
    all.extend(args);
    let before = folder.names();
    let output = folder.leadload(&all).at(&service).expect(2);
    assert_eq!(service.stats().lead_requests, 0, "nothing is sent");
    assert_eq!(output.stdout, "");
    assert_eq!(folder.names(), before, "nothing is left behind");
    let mut lines = output
        .stderr
        .lines()
        .filter(|line| !line.contains(" WARN "));
    let first = lines.next().unwrap_or_default();
    assert!(first.starts_with("error: "), "{}", output.stderr);
    let rest: Vec<&str> = lines.collect();
    let message = [&[first], &rest[..]].concat().join("\n");
    message.trim_start_matches("error: ").to_owned()
}

/// An import of these inputs and flags into campaign 101 is refused, and its message names all of this.
#[track_caller]
fn is_refused(folder: &Folder, args: &str, named: &[&str]) {
    let args = format!("{args} --campaign 101");
    let text = message(folder, &args.split(' ').collect::<Vec<_>>());
    for name in named {
        assert!(text.contains(name), "{name}\n{text}");
    }
}

#[test]
fn inputs_that_are_no_list_are_named() {
    let folder = Folder::with_leads(ONE);
    std::fs::create_dir(folder.path("lists")).unwrap();
    for (name, text) in [("a.csv", ""), ("b.csv", "\n\r\n\n"), ("c.csv", "\u{FEFF}")] {
        folder.write(name, text);
        is_refused(&folder, name, &[name]);
    }
    is_refused(&folder, "laeds.csv", &["`laeds.csv`", "`leads.csv`"]);
    is_refused(&folder, "nowhere/xyz", &["`nowhere/xyz`"]);
    is_refused(&folder, "lists", &["`lists`"]);
    is_refused(&folder, "leads.csv ./leads.csv", &["`./leads.csv`"]);
}

#[test]
fn columns_that_do_not_fit_are_named_and_what_to_choose_from() {
    let folder = Folder::with_leads("phone,customer\n");
    folder.write("none.csv", "name,city\nAda,Leeds\n");
    is_refused(&folder, "none.csv", &["`name`, `city`", "--phone-column"]);
    folder.write("header.csv", "name,phone\nAda,+447911123456\n");
    is_refused(&folder, "header.csv --no-header", &["line 1"]);
    folder.write("two.csv", "Mobile,name,Phone\n");
    let both = "--phone-column Mobile --phone-column Phone";
    is_refused(&folder, "two.csv", &["`Mobile`", "`Phone`", both]);
    folder.write("more.csv", "phone,town\n");
    is_refused(
        &folder,
        "leads.csv more.csv --var customer",
        &["`more.csv`"],
    );
    for flag in [
        "--var",
        "--skip-column",
        "--campaign-column",
        "--phone-column",
    ] {
        let args = format!("leads.csv {flag} custmer");
        is_refused(&folder, &args, &["custmer`", "`phone`, `customer`"]);
    }
}

#[test]
fn campaigns_that_do_not_exist_are_named_with_those_that_do() {
    let folder = Folder::with_leads("phone,list\n+447911000001,Sprung promo\n+447911000002,Zzz\n");
    let text = |args: &[&str]| message(&folder, &[&["leads.csv"], args].concat());
    for args in [
        ["--campaign", "spring promo"],
        ["--campaign-column", "list"],
    ] {
        let text = text(&args);
        assert!(text.contains("`Spring promo`"), "{text}");
        assert!(text.contains("`Welcome call`"), "{text}");
    }
    let text_of_list = text(&["--campaign-column", "list"]);
    assert!(text_of_list.contains("line 2\n"), "{text_of_list}");
    assert!(text_of_list.contains("line 3\n"), "{text_of_list}");
    assert!(text(&["--campaign", "Newsletter"]).contains("104 or 105"));
    for args in [&[][..], &["--campaign", " "]] {
        assert!(text(args).contains("`leadload campaigns`"));
    }
}

#[test]
fn a_token_or_an_address_that_cannot_be_used_is_named_and_no_token_quoted() {
    let folder = Folder::with_leads(ONE);
    folder.write("torn", "first-half\nsecond-half\n");
    folder.write("empty", "\n");
    for file in ["nowhere", "torn", "empty"] {
        let args = format!("leads.csv --token-file {file}");
        is_refused(&folder, &args, &[&format!("`{file}`")]);
    }
    for (url, to_use) in [
        ("app.example.com", "`https://app.example.com`"),
        ("http://app.example.com/api", "--insecure-http"),
    ] {
        is_refused(&folder, &format!("leads.csv --base-url {url}"), &[to_use]);
    }
    for flag in ["--base-url", "--token-file"] {
        let args = ["leads.csv", flag, "plain-s3cret-123456789"];
        let text = message(&folder, &args);
        assert!(!text.contains("s3cret"), "{text}");
    }
}

#[test]
fn a_file_in_place_of_a_command_is_answered_with_the_commands_that_take_one() {
    let folder = Folder::with_leads(ONE);
    folder.write("kontakte", ONE);
    for file in ["leads.csv", "nowhere/Kunden.XLSX", "old.csv.gz", "kontakte"] {
        let output = folder.leadload(&[file]).expect(2);
        for named in [file, "`leadload import FILE`", "`leadload check FILE`"] {
            output.tells(named);
        }
    }
    let output = folder.leadload(&["kontakten"]).expect(2);
    assert!(!output.stderr.contains("FILE"), "{}", output.stderr);
}

#[test]
fn without_a_service_or_a_token_it_says_how_to_give_one() {
    let folder = Folder::with_leads(ONE);
    let import = || folder.leadload(&["import", "leads.csv", "--campaign", "101"]);
    import().expect(2).tells("`--base-url`");
    let with_service = import().env("LEADLOAD_BASE_URL", "http://127.0.0.1:1");
    with_service.expect(2).tells("`--token-file`");
}

#[test]
fn the_sandbox_goes_with_no_address_and_no_token() {
    let folder = Folder::with_leads(ONE);
    for flag in ["--base-url=http://127.0.0.1:1", "--token-file=t"] {
        folder
            .leadload(&[
                "import",
                "leads.csv",
                "--campaign",
                "101",
                "--sandbox",
                flag,
            ])
            .expect(2);
    }
}

#[test]
fn a_rate_or_limit_that_is_none_is_refused_and_its_flag_named() {
    let folder = Folder::with_leads(ONE);
    for (flag, value) in [
        ("--rate", "0"),
        ("--rate", "-5/s"),
        ("--rate", "10/fortnight"),
        ("--rate", "0/s"),
        ("--rate", "none --rate 5/s"),
        ("--rate", "5/s --rate auto"),
        ("--concurrency", "0"),
        ("--concurrency", "5000"),
        ("--max-duration", "0s"),
        ("--max-duration", "60"),
        ("--max-outage", "soon"),
        ("--stop-after", "0"),
        ("--limit", "20/s"),
    ] {
        is_refused(&folder, &format!("leads.csv {flag} {value}"), &[flag]);
    }
}

#[test]
fn a_wrong_name_of_an_output_or_a_do_not_call_list_is_named() {
    let folder = Folder::with_leads(ONE);
    folder.write("more.csv", "phone\n+447911000002\n");
    std::fs::create_dir(folder.path("lists")).unwrap();
    for (args, named) in [
        ("--suppress no.txt", "`no.txt`"),
        ("--suppress -", "`--suppress -`"),
        ("--results ./leads.csv", "`./leads.csv`"),
        ("--results x.csv --rejects ./x.csv", "x.csv`"),
        ("--report x.pdf", "`x.pdf`"),
        ("--report lists", "`lists`"),
        ("--results lists", "`lists`"),
        ("more.csv --rejects x.csv", "`x.csv`"),
    ] {
        is_refused(&folder, &format!("leads.csv {args}"), &[named]);
    }
}

#[test]
fn a_test_lead_leaves_no_file_so_that_it_needs_no_place_for_one() {
    let folder = Folder::with_leads(ONE);
    let args = ["--test-to", "+447911000009", "--results", "no/x.csv"];
    folder.import_leads(&service(), &args).expect(0);
}

#[test]
fn a_results_file_is_not_taken_for_a_list() {
    let folder = Folder::with_leads(ONE);
    folder.import_leads(&service(), &[]).expect(0);
    // As a spreadsheet saves it, with a column for notes.
    let noted = folder
        .read("leads.results.csv")
        .replace("settled_at\n", "settled_at,\n");
    folder.write("noted.csv", noted);
    for name in ["noted.csv", "leads.results.csv"] {
        is_refused(&folder, name, &[name, "`*.csv`"]);
    }
}

#[test]
fn json_is_one_object_also_when_nothing_was_sent() {
    let folder = Folder::with_leads("name\nAda\n");
    let output = folder
        .leadload(&[
            "import",
            "leads.csv",
            "--sandbox",
            "--campaign",
            "101",
            "--format",
            "json",
        ])
        .expect(2);
    let summary = output.json();
    assert_eq!(summary["exit_code"], 2);
    assert_eq!(summary["stopped_by"], "usage");
    assert_eq!(summary["complete"], false);
    assert!(summary["error"].as_str().unwrap().contains("`name`"));
}

#[test]
fn what_the_command_line_has_wrong_is_said_as_json_too() {
    let folder = Folder::with_leads(ONE);
    let common = ["import", "leads.csv", "--sandbox", "--campaign", "101"];
    for args in [
        &["--format", "json", "--limit", "x"][..],
        &["--format=json", "--bogus"],
    ] {
        let all = [&common[..], args].concat();
        let summary = folder.leadload(&all).expect(2).json();
        assert_eq!(summary["exit_code"], 2);
        assert_eq!(summary["stopped_by"], "usage");
        assert!(!summary["error"].as_str().unwrap().starts_with("error: "));
    }
}

#[test]
fn the_error_for_a_file_without_a_header_does_not_show_its_first_number() {
    let folder = Folder::with_leads("Ada,+447911000001\nBob,+447911000002\n");
    let text = message(&folder, &["leads.csv", "--campaign", "101"]);
    assert!(text.contains("`--no-header`"), "{text}");
    assert!(!text.contains("911000001"), "{text}");
}

#[test]
fn rows_that_cannot_be_sent_have_no_say_in_which_campaigns_are_known() {
    let folder =
        Folder::with_leads("phone,list\n+447911000001,101\nx,Unknown\n+447911000002,Ada,101\n");
    folder
        .import(&service(), &["leads.csv", "--campaign-column", "list"])
        .expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["", "phone_not_e164", "field_count"]
    );
}
