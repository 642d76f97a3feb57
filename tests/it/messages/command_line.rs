//! Words that are not flags, and values that flags do not accept.

use super::Page;
use crate::util::Folder;

#[test]
fn of_the_command_line() {
    let folder = Folder::with_leads(super::ONE);
    let mut page = Page::default();
    for args in [
        // Words.
        "improt leads.csv",
        "leads.csv",
        "import",
        "import leads.csv --campain 101",
        "import leads.csv --nothing-like-it",
        "import leads.csv --token 1|abcdefghijklmnop",
        "import leads.csv --token=1|abcdefghijklmnop",
        "-q import leads.csv",
        "campaigns all",
        "campaigns 1|abcdefghijklmnop",
        "config init s3cretToken",
        "campaigns --rate 5/s",
        "check leads.csv --test-to +447911000001",
        "check leads.csv --metrics-file run.prom",
        "import leads.csv -region DE",
        "campaigns --447911000001",
        "runs shwo",
        "undo 1",
        "sandbox --port 8080",
        "runs show 1 2",
        "runs export",
        "runs prune",
        "runs forget",
        "completions",
        "completions tcsh",
        // Values.
        "import leads.csv --campaign",
        "import leads.csv --campaign=",
        "import leads.csv --rate 0",
        "import leads.csv --rate -5/s",
        "import leads.csv --rate 10/fortnight",
        "import leads.csv --rate fast",
        "import leads.csv --concurrency 0",
        "import leads.csv --concurrency 5000",
        "import leads.csv --max-attempts 0",
        "import leads.csv --max-attempts ten",
        "import leads.csv --timeout 60",
        "import leads.csv --timeout 0s",
        "import leads.csv --max-duration soon",
        "import leads.csv --stop-after 0",
        "import leads.csv --max-new -1",
        "import leads.csv --min-rows -1",
        "import leads.csv --campaign -5 --sandbox",
        "import leads.csv --limit 1.5",
        "import leads.csv --limit 20/s",
        "import leads.csv --limit 99999999999999999999",
        "import leads.csv --max-attempts 447911000001",
        "import leads.csv --timeout 99999999999999999999d",
        "import leads.csv --rate 99999999999999999999/s",
        "import leads.csv --rate 5/999d",
        "import leads.csv --region +447911000001",
        "import leads.csv --delimiter ab",
        "import leads.csv --encoding utf-9",
        "import leads.csv --encoding klingon",
        "import leads.csv --encoding hz-gb-2312",
        "import leads.csv --region Germny",
        "import leads.csv --region xx",
        "import leads.csv --countries DE,XX",
        "import leads.csv --set greeting",
        "import leads.csv --set =hello",
        "import leads.csv --phone-rule strict",
        "import leads.csv --phone-rule vald",
        "import leads.csv --format jsn",
        "import leads.csv --once twice",
        "import leads.csv --sandbox=yes",
        "runs show first",
        "runs show 447911000001",
        "runs prune --older-than 3mo",
        "runs prune --older-than 99999999999999999999d",
        "runs export --status ready --results x.csv",
        "runs forget --number 447911000001",
        "sandbox --listen 8088",
        "sandbox --share-429 2",
        "sandbox --limit auto",
        "sandbox --limit leaky:fast",
        "sandbox --limit leak:20/s",
        "sandbox --limit leaky:20/s:many",
        "sandbox --limit fixed:20/s:5",
        "sandbox --limit token:20/s:0",
        "sandbox --seed x",
        // Flags that exclude or require each other.
        "import leads.csv --sandbox --base-url http://127.0.0.1:1",
        "import leads.csv --sandbox --token-file token",
        "import leads.csv --quiet --verbose",
        "import leads.csv --region GB --region DE",
        "runs forget 1 --number +447911000001",
        "sandbox --outage-for 5s",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        page.add(&folder, folder.leadload(&args));
    }
    page.is("command-line");
}

#[test]
fn for_machines_they_are_one_object() {
    let folder = Folder::new();
    for args in [&["--format", "json"][..], &["--format=json"]] {
        let args = [&["import", "leads.csv", "--rate", "0"], args].concat();
        let output = folder.leadload(&args).expect(2);
        let summary = output.json();
        assert_eq!(summary["stopped_by"], "usage");
        let error = summary["error"].as_str().unwrap();
        assert_eq!(format!("error: {error}\n"), output.stderr);
        assert_eq!(error.matches("\n\nhint: ").count(), 1, "{error}");
    }
}

/// A command without its subcommand prints the help on standard error.
#[test]
fn a_command_that_has_commands_lists_them() {
    let folder = Folder::new();
    for args in [&[][..], &["config"]] {
        let output = folder.leadload(args).expect(2);
        assert_eq!(output.stdout, "");
        output.tells("\nCommands:\n");
    }
}

#[test]
#[cfg(unix)]
fn a_word_that_is_no_text_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::with_leads(super::ONE);
    let run = folder.leadload(&["import", "leads.csv", "--campaign"]);
    let output = run.arg(OsStr::from_bytes(b"\xFF")).expect(2);
    assert_eq!(
        output.stderr,
        "error: invalid UTF-8 was detected in one or more arguments\n\nhint: write `leadload \
         import [OPTIONS] <FILE>...`; `--help` explains it\n"
    );
}
