//! Bad input: exit code 2, one message (what is wrong, where, and what to
//! do next), and nothing is sent.

use crate::util::{Folder, service};

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

/// The message of an import of `leads.csv` into campaign 101.
#[track_caller]
fn leads_message(folder: &Folder, args: &[&str]) -> String {
    message(
        folder,
        &[&["leads.csv", "--campaign", "101"], args].concat(),
    )
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new();
    let text = message(&folder, &["nowhere.csv", "--campaign", "101"]);
    assert!(text.starts_with("cannot read `nowhere.csv`: "), "{text}");
}

#[test]
fn a_misspelled_file_gets_the_one_that_was_meant() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    assert_eq!(
        message(&folder, &["laeds.csv", "--campaign", "101"]),
        "cannot read `laeds.csv`: there is no such file\n\nhint: did you mean `leads.csv`?"
    );
    assert_eq!(
        message(&folder, &["nowhere/xyz", "--campaign", "101"]),
        "cannot read `nowhere/xyz`: there is no such file\n\nhint: check the name and the folder"
    );
}

#[test]
fn a_folder_is_not_a_file() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("lists")).unwrap();
    assert_eq!(
        message(&folder, &["lists", "--campaign", "101"]),
        "`lists` is a folder, not a file\n\nhint: name the file itself"
    );
}

#[test]
fn an_empty_file_has_no_header() {
    for text in ["", "\n\r\n\n", "\u{FEFF}"] {
        let folder = Folder::with_leads(text);
        assert_eq!(
            leads_message(&folder, &[]),
            "`leads.csv` is empty\n\nhint: the first line must be a header, such as `phone_number,name`"
        );
    }
}

#[test]
fn where_no_column_looks_like_a_phone_the_headers_are_listed() {
    let folder = Folder::with_leads("name,city\nAda,Leeds\n");
    assert_eq!(
        leads_message(&folder, &[]),
        "no column of `leads.csv` looks like a phone number\n\nhint: name it with `--phone-column`; the columns are `name`, `city`"
    );
}

#[test]
fn a_header_that_the_user_denies_is_pointed_out() {
    let folder = Folder::with_leads("name,phone\nAda,+447911123456\n");
    assert_eq!(
        leads_message(&folder, &["--no-header"]),
        "no column of `leads.csv` looks like a phone number\n\nhint: line 1 looks like the header: leave out `--no-header`"
    );
}

#[test]
fn where_two_columns_look_like_a_phone_both_are_named() {
    let folder = Folder::with_leads("Mobile,name,Phone\n");
    assert_eq!(
        leads_message(&folder, &[]),
        "2 columns of `leads.csv` have phone numbers: column 1 (`Mobile`), column 3 (`Phone`)\n\nhint: choose one with `--phone-column`, or several in order of preference: each row uses its first usable number. For all of them: --phone-column Mobile --phone-column Phone"
    );
}

#[test]
fn a_flag_that_names_no_column_gets_the_nearest_header() {
    let folder = Folder::with_leads("phone,customer\n");
    for flag in [
        "--var",
        "--skip-column",
        "--campaign-column",
        "--phone-column",
    ] {
        assert_eq!(
            leads_message(&folder, &[flag, "custmer"]),
            format!(
                "`{flag} custmer` names no column of `leads.csv`\n\nhint: did you mean `customer`? its columns are `phone`, `customer`"
            )
        );
    }
}

#[test]
fn the_file_that_a_mapping_does_not_fit_is_named() {
    let folder = Folder::with_leads("phone,city\n");
    folder.write("more.csv", "phone,town\n");
    let text = message(
        &folder,
        &[
            "leads.csv",
            "more.csv",
            "--campaign",
            "101",
            "--var",
            "city",
        ],
    );
    assert!(
        text.starts_with("`--var city` names no column of `more.csv`"),
        "{text}"
    );
}

#[test]
fn unknown_campaigns_are_listed_with_those_that_exist() {
    let folder = Folder::with_leads("phone,list\n+447911000001,Sprung promo\n+447911000002,Zzz\n");
    let existing = "the campaigns are `Spring promo`, `Autumn survey`, `Welcome call`, `Newsletter`, `Newsletter`";
    assert_eq!(
        message(&folder, &["leads.csv", "--campaign", "spring promo"]),
        format!(
            "no campaign is called `spring promo`\n\nhint: did you mean `Spring promo`? {existing}"
        )
    );
    assert_eq!(
        message(&folder, &["leads.csv", "--campaign-column", "list"]),
        format!(
            "no campaigns are called `Sprung promo`, `Zzz`\n  `Sprung promo`: 1 row, in line 2\n  `Zzz`: 1 row, in line 3\n\nhint: did you mean `Spring promo`? {existing}"
        )
    );
}

#[test]
fn an_ambiguous_campaign_gets_its_ids() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    assert_eq!(
        message(&folder, &["leads.csv", "--campaign", "Newsletter"]),
        "2 campaigns are called `Newsletter`\n\nhint: for `Newsletter` give the id, 104 or 105"
    );
}

#[test]
fn an_import_without_a_campaign_says_where_to_find_one() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    for args in [&["leads.csv"][..], &["leads.csv", "--campaign", " "]] {
        assert_eq!(
            message(&folder, args),
            "no campaign is given\n\nhint: name it with `--campaign`, by id or by name, or with `--campaign-column`; `leadload campaigns` lists them"
        );
    }
}

#[test]
fn a_token_file_that_cannot_be_used_is_named_and_not_quoted() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    folder.write("torn", "first-half\nsecond-half\n");
    folder.write("empty", "\n");
    let text = |file: &str| leads_message(&folder, &["--token-file", file]);
    assert!(text("nowhere").starts_with("cannot read the token file `nowhere`: "));
    assert_eq!(
        text("torn"),
        "the token file `torn` has more than one line, and a token is one line\n\nhint: it must hold the access token and nothing else"
    );
    assert_eq!(
        text("empty"),
        "the token file `empty` is empty\n\nhint: it must hold the access token and nothing else"
    );
}

#[test]
fn a_base_url_must_be_one_and_safe() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let text = |url: &str| leads_message(&folder, &["--base-url", url]);
    assert_eq!(
        text("app.example.com"),
        "`app.example.com` is not a web address\n\nhint: did you mean `https://app.example.com`?"
    );
    assert_eq!(
        text("http://app.example.com/api"),
        "`http://app.example.com` is plain http: the token and every number could be read on the way\n\nhint: use https, or allow it with `--insecure-http`"
    );
}

#[test]
fn a_file_in_place_of_a_command_is_answered_with_the_commands_that_take_one() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    folder.write("kontakte", "phone\n+447911000001\n");
    for file in ["leads.csv", "nowhere/Kunden.XLSX", "old.csv.gz", "kontakte"] {
        let output = folder.leadload(&[file]).expect(2);
        output.tells(&format!("error: there is no command `{file}`\n"));
        output.tells("`leadload import FILE` sends a list");
        output.tells("`leadload check FILE` looks at it");
    }
    let output = folder.leadload(&["kontakten"]).expect(2);
    assert!(!output.stderr.contains("FILE"), "{}", output.stderr);
}

#[test]
fn without_a_service_or_a_token_it_says_how_to_give_one() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let output = folder
        .leadload(&["import", "leads.csv", "--campaign", "101"])
        .expect(2);
    assert_eq!(
        output.stderr,
        "error: no service is given\n\nhint: set it up once with `leadload config init`, which asks for its address and your access token; or name it with `--base-url` or LEADLOAD_BASE_URL; to try things out without a service, use `--sandbox`\n"
    );
    let output = folder
        .leadload(&[
            "import",
            "leads.csv",
            "--campaign",
            "101",
            "--base-url",
            "http://127.0.0.1:1",
        ])
        .expect(2);
    assert_eq!(
        output.stderr,
        "error: no access token is given\n\nhint: run `leadload config init` once; in scripts set LEADLOAD_TOKEN, or name a file with `--token-file`\n"
    );
}

#[test]
fn the_sandbox_goes_with_no_address_and_no_token() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
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
fn a_rate_that_is_none_is_refused() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    for rate in ["0", "-5/s", "10/fortnight", "0/s"] {
        let output = folder
            .leadload(&[
                "import",
                "leads.csv",
                "--campaign",
                "101",
                "--sandbox",
                &format!("--rate={rate}"),
            ])
            .expect(2);
        output.tells(&format!("`{rate}` cannot be used for `--rate`"));
    }
    assert_eq!(
        leads_message(&folder, &["--rate", "none", "--rate", "5/s"]),
        "`--rate none` cannot be combined with another `--rate`\n\nhint: leave one of them out"
    );
    assert_eq!(
        leads_message(&folder, &["--rate", "5/s", "--rate", "auto"]),
        "`--rate auto` cannot be combined with another `--rate`\n\nhint: leave one of them out"
    );
}

#[test]
fn a_limit_of_a_run_that_is_none_is_refused_and_its_flag_named() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    for (flag, value, hint) in [
        (
            "--concurrency",
            "0",
            "write a number from 1 to 1000, or `auto`",
        ),
        ("--max-duration", "0s", "it must be more than 0"),
        ("--max-duration", "60", "write a number and its unit"),
        ("--max-outage", "soon", "write a number and its unit"),
        ("--stop-after", "0", "write a whole number from 1"),
        ("--limit", "20/s", "write a whole number; `--rate` limits"),
    ] {
        let text = leads_message(&folder, &[flag, value]);
        let begin = format!("`{value}` cannot be used for `{flag}`\n\nhint: ");
        assert!(text.starts_with(&begin) && text.contains(hint), "{text}");
    }
    let text = leads_message(&folder, &["--concurrency", "5000"]);
    assert!(text.contains("write a number from 1 to 1000, or `auto`"));
}

#[test]
fn a_wrong_file_name_is_reported_and_nothing_is_written() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    folder.write("more.csv", "phone\n+447911000002\n");
    std::fs::create_dir(folder.path("lists")).unwrap();
    for (args, said) in [
        (
            "nosuch.csv",
            "cannot read `nosuch.csv`: there is no such file",
        ),
        ("lists", "`lists` is a folder, not a file"),
        ("leads.csv ./leads.csv", "`./leads.csv` is given twice"),
        (
            "leads.csv --suppress no.txt",
            "cannot read `no.txt`: there is no such file",
        ),
        ("leads.csv --suppress -", "`--suppress -` would read"),
        (
            "leads.csv --results ./leads.csv",
            "`./leads.csv` is an input",
        ),
        (
            "leads.csv --results x.csv --rejects ./x.csv",
            "two outputs would be written",
        ),
        ("leads.csv --report x.pdf", "the report cannot be `x.pdf`"),
        ("leads.csv --report lists", "the report cannot be `lists`"),
        ("leads.csv --results lists", "`lists` is not a regular file"),
        (
            "leads.csv more.csv --rejects x.csv",
            "two outputs would be written to `x.csv`",
        ),
    ] {
        let run = folder.leadload(&["import", "--sandbox", "--campaign", "101"]);
        let output = run.args(args).expect(2);
        let said = format!("error: {said}");
        assert!(output.stderr.contains(&said), "{}", output.stderr);
    }
    assert_eq!(folder.names(), ["leads.csv", "lists", "more.csv"]);
}

#[test]
fn a_test_lead_leaves_no_file_so_that_it_needs_no_place_for_one() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let args = ["--test-to", "+447911000009", "--results", "no/x.csv"];
    folder.import_leads(&service(), &args).expect(0);
}

#[test]
fn a_results_file_is_not_taken_for_a_list() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    folder.import_leads(&service(), &[]).expect(0);
    // As a spreadsheet saves it, with a column for notes.
    let noted = folder
        .read("leads.results.csv")
        .replace("settled_at\n", "settled_at,\n");
    folder.write("noted.csv", noted);
    let text = message(&folder, &["noted.csv", "--campaign", "101"]);
    assert!(text.contains("is a results file"), "{text}");
    assert_eq!(
        message(&folder, &["leads.results.csv", "--campaign", "101"]),
        "`leads.results.csv` is a results file of leadload, not a list of contacts\n\nhint: give the list itself, for example `leadload import contacts.csv` (`*.csv` matches results files too)"
    );
}

#[test]
fn an_input_given_twice_is_a_slip() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    assert_eq!(
        message(&folder, &["leads.csv", "./leads.csv", "--campaign", "101"]),
        "`./leads.csv` is given twice\n\nhint: name each input once"
    );
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
    assert!(
        summary["error"]
            .as_str()
            .unwrap()
            .contains("looks like a phone number")
    );
}

#[test]
fn what_the_command_line_has_wrong_is_said_as_json_too() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
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
    assert_eq!(
        leads_message(&folder, &[]),
        "the first row of `leads.csv` (line 1) looks like a contact, not like column headers\n\nhint: if the file has no header, say so with `--no-header`; its columns are then called 1, 2, and so on"
    );
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

#[test]
fn a_token_in_the_wrong_place_is_not_quoted() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    for flag in ["--base-url", "--token-file"] {
        let text = leads_message(&folder, &[flag, "plain-s3cret-123456789"]);
        assert!(!text.contains("s3cret"), "{text}");
    }
}
