//! Which of flag, environment, profile and default is in force, and what is wrong with a
//! profile.

use std::ffi::OsString;

use super::profile::flags::{self, Takes, takes};
use super::{Environment, Parsed, Refusal, Refused};
use crate::cli::runs::RunsCommand;
use crate::cli::{Command as Asked, ImportArgs};

/// A file of settings, and what is typed beside `--config` with it.
fn parsed_with(toml: &str, environment: Environment, line: &[&str]) -> Result<Parsed, Refused> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, toml).unwrap();
    let mut args: Vec<OsString> = line.iter().map(OsString::from).collect();
    args.splice(0..0, [OsString::from("leadload")]);
    args.extend(["--config".into(), path.into()]);
    Parsed::new(&args, environment)
}

fn import(toml: &str, line: &[&str]) -> ImportArgs {
    import_in(Environment::default(), toml, line)
}

fn import_in(environment: Environment, toml: &str, line: &[&str]) -> ImportArgs {
    let line = [&["import", "leads.csv"], line].concat();
    let Ok(parsed) = parsed_with(toml, environment, &line) else {
        panic!("refused: {toml}");
    };
    match parsed.cli.command {
        Asked::Import(args) => *args,
        _ => unreachable!(),
    }
}

/// What is wrong with the settings.
fn complaint(toml: &str, line: &[&str]) -> String {
    match parsed_with(toml, Environment::default(), line)
        .err()
        .unwrap()
        .reason
    {
        Refusal::Settings(error) => error.to_string(),
        Refusal::CommandLine(error) => panic!("{error}"),
    }
}

const IMPORT: [&str; 2] = ["import", "leads.csv"];

const TWO: &str = "
region = 'GB'
[profiles.default]
campaign = 7
[profiles.crm]
campaign = 8
region = 'DE'
";

#[test]
fn a_named_profile_comes_before_that_of_the_environment_and_that_before_the_default() {
    let campaign = |environment, line: &[&str]| {
        let args = import_in(environment, TWO, line);
        let region = args.phones.region.map(|region| region.to_string());
        (args.mapping.campaign.unwrap(), region.unwrap())
    };
    let crm = || Environment {
        profile_name: Some("crm".into()),
        ..Environment::default()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(campaign(Environment::default(), &[]), pair("7", "GB"));
    assert_eq!(campaign(crm(), &[]), pair("8", "DE"));
    assert_eq!(campaign(crm(), &["--profile", "default"]), pair("7", "GB"));
    assert_eq!(campaign(crm(), &["--campaign", "9"]), pair("9", "DE"));
}

#[test]
fn without_a_default_profile_only_what_is_common_is_in_force() {
    let args = import("region = 'GB'\n[profile.crm]\ncampaign = 8", &[]);
    assert_eq!(args.mapping.campaign, None);
    assert!(args.phones.region.is_some());
}

#[test]
fn a_flag_replaces_all_that_the_profile_has_for_it() {
    let toml = "rate = ['5/s', '100/min']\nset = { a = 'b' }\nverbose = 2";
    assert_eq!(import(toml, &[]).delivery.rate.len(), 2);
    assert_eq!(import(toml, &[]).output.verbose, 2);
    let typed = import(toml, &["--rate", "none", "--set", "c=d", "-v"]);
    assert_eq!(typed.delivery.rate.len(), 1);
    assert_eq!(typed.mapping.set, [("c".to_owned(), "d".to_owned())]);
    assert_eq!(typed.output.verbose, 1);
}

#[test]
fn what_contradicts_the_command_line_is_left_out() {
    assert!(import("quiet = true", &["-v"]).output.verbose == 1);
    assert!(!import("quiet = true", &["-v"]).output.quiet);
    assert!(import("verbose = 1", &["--quiet"]).output.quiet);
    let own = "quiet = true\n[profiles.default]\nverbose = 1";
    assert_eq!(import(own, &[]).output.verbose, 1);
}

#[test]
fn the_environment_comes_before_the_profile() {
    let environment = Environment {
        base_url: Some("https://b.example.com".into()),
        token: Some("t".into()),
        ledger: Some("b.sqlite3".into()),
        ..Environment::default()
    };
    let toml = "base_url = 'https://a.example.com'\ntoken_file = 'a.token'\nledger = 'a.sqlite3'\nregion = 'GB'";
    let args = import_in(environment, toml, &[]);
    assert_eq!(args.connection.base_url, None);
    assert_eq!(args.connection.token_file, None);
    assert_eq!(args.ledger, None);
    assert!(args.phones.region.is_some());
}

#[test]
fn the_sandbox_takes_no_service_no_token_and_no_ledger_from_a_profile() {
    let toml = "base_url = 'https://a.example.com'\ntoken_file = 'a.token'\nledger = 'a.sqlite3'\nrate = '5/s'";
    let args = import(toml, &["--sandbox"]);
    assert_eq!(args.connection.base_url, None);
    assert_eq!(args.connection.token_file, None);
    assert_eq!(args.ledger, None);
    assert_eq!(args.delivery.rate.len(), 1);
}

#[test]
fn a_token_goes_to_the_service_beside_it_alone() {
    let has_token = |toml: &str, line: &[&str]| import(toml, line).connection.token_file.is_some();
    let own = "base_url = 'https://a.example.com/api'\ntoken_file = 'a.token'";
    assert!(has_token(own, &[]));
    assert!(has_token(own, &["--base-url", "https://a.example.com"]));
    assert!(!has_token(own, &["--base-url", "https://b.example.com"]));
    let nowhere = "token_file = 'a.token'";
    assert!(!has_token(
        nowhere,
        &["--base-url", "https://a.example.com"]
    ));
    let moved = format!("{own}\n[profiles.default]\nbase_url = 'https://b.example.com'");
    assert!(!has_token(&moved, &[]));
    let shared = "base_url = 'https://a.example.com'\n[profiles.default]\ntoken_file = 'a.token'";
    assert!(has_token(shared, &[]));
}

#[test]
fn other_commands_take_what_they_have_flags_for() {
    let toml = "ledger = 'none'\nrate = '5/s'\ncampaign = 7";
    let line = ["runs", "export", "--results", "r.csv"];
    let Ok(parsed) = parsed_with(toml, Environment::default(), &line) else {
        panic!("refused");
    };
    let Asked::Runs(runs) = parsed.cli.command else {
        panic!("another command");
    };
    assert_eq!(runs.ledger, Some("none".into()));
    let Some(RunsCommand::Export(export)) = runs.command else {
        panic!("another command");
    };
    assert_eq!(export.campaign, None);
    assert!(parsed_with(toml, Environment::default(), &["campaigns"]).is_ok());
}

#[test]
fn every_flag_of_an_import_can_stand_in_a_profile_or_is_refused_with_a_reason() {
    let import = flags::of_import();
    for flag in flags::settings(&import) {
        let key = flag.get_id().as_str();
        let words = flag.get_possible_values();
        let value = match (takes(flag), words.first()) {
            (Takes::Nothing, _) => "true".to_owned(),
            (Takes::Count, _) => "1".to_owned(),
            (_, Some(word)) => format!("'{}'", word.get_name()),
            _ => match key {
                "rate" => "'5/s'",
                "timeout" | "max_duration" | "max_outage" => "'60s'",
                "concurrency" | "max_attempts" | "max_new" | "min_rows" | "stop_after"
                | "limit" => "7",
                "delimiter" => "';'",
                "encoding" => "'utf-8'",
                "region" | "countries" => "'GB'",
                "set" => "'a=b'",
                "base_url" => "'https://a.example.com'",
                _ => "'a'",
            }
            .to_owned(),
        };
        // The token is for the service beside it.
        let beside = match key {
            "token_file" => "base_url = 'https://a.example.com'\n",
            _ => "",
        };
        let toml = format!("{beside}{key} = {value}");
        let is_of_one_command = [
            "config",
            "profile",
            "sandbox",
            "dry_run",
            "again",
            "test_to",
            "save_mapping",
        ]
        .contains(&key);
        if is_of_one_command {
            let text = complaint(&toml, &IMPORT);
            let reason = match key {
                "profile" => "is no profile",
                _ => "is said for one command only",
            };
            assert!(text.contains(reason), "{key}: {text}");
            continue;
        }
        for key in [key.to_owned(), key.replace('_', "-")] {
            let toml = format!("{beside}{key} = {value}");
            let parsed = parsed_with(&toml, Environment::default(), &IMPORT);
            let Ok(parsed) = parsed else {
                panic!("{toml}");
            };
            let profile = parsed.environment.profile.unwrap();
            assert!(profile.gives(&key.replace('-', "_")), "{toml}");
        }
    }
}

#[test]
fn what_is_wrong_is_told_with_key_profile_and_line() {
    for (toml, said, hint) in [
        (
            "[profiles.crm]\n\nrejoin = 'GB'",
            "`rejoin` in profile `crm` of `",
            "(line 3) is no setting\n\nhint: did you mean `region`?",
        ),
        (
            "rate = '0'",
            "`rate` in `",
            "(line 1): `0` cannot be used for `--rate`\n\nhint: write how many",
        ),
        ("rate = '-5/s'", "`rate` in `", "`-5/s` cannot be used"),
        (
            "rate = '10/fortnight'",
            "`rate` in `",
            "`10/fortnight` cannot be used",
        ),
        (
            "rate = ['auto', '5/s']",
            "`rate` in `",
            "cannot stand beside another",
        ),
        (
            "limit = -1",
            "`limit` in `",
            "`-1` cannot be used for `--limit`\n\nhint: write a whole number",
        ),
        (
            "format = 'yaml'",
            "`format` in `",
            "`yaml` cannot be used for `--format`\n\nhint: it takes `text` or `json`",
        ),
        (
            "region = 'Germny'",
            "`region` in `",
            "did you mean Germany?",
        ),
        (
            "assume_plus = 'yes'",
            "`assume_plus` in `",
            "(line 1) takes `true` or `false`, and a text stands there\n\nhint: write one of the two, without quotes",
        ),
        (
            "base_url = 'example'",
            "`base_url` in `",
            "`example` is no URL",
        ),
        ("campaign = 12345678901234567890123", "is no TOML", ""),
        (
            "[crm]\nregion = 'GB'",
            "`crm` in `",
            "is a table\n\nhint: a profile begins with a line such as `[profiles.crm]`",
        ),
        (
            "[Profiles.x]\nregion = 'GB'",
            "`Profiles` in `",
            "is a table\n\nhint: write it in small letters: a profile begins with `[profiles.x]`",
        ),
        (
            "[PROFILE]",
            "`PROFILE` in `",
            "a profile begins with `[profiles.crm]`",
        ),
        (
            "ledger = 5",
            "`ledger` in `",
            "(line 1) takes a text, and a whole number stands there\n\nhint: write the name",
        ),
        (
            "[profiles.crm]\ntoken_file = -1",
            "`token_file` in profile `crm` of `",
            "(line 2) takes a text, and a whole number stands there",
        ),
        (
            "campaign = ''",
            "`campaign` in `",
            "(line 1) is an empty text\n\nhint: write the campaign's id, or its name in quotes",
        ),
        ("profiles = 3", "`profiles` in `", "is no profile"),
        ("region = 'GB'\nregion = 'DE'", "is no TOML: line 2", ""),
        (
            "token-file = 'a'\ntoken_file = 'a'",
            "`token_file` in `",
            "is set in line 1 too",
        ),
        (
            "[profiles.crm]\nquiet = true\nverbose = 1",
            "`quiet` in profile `crm` of `",
            "contradicts `verbose` (line 3)",
        ),
        (
            "again = true",
            "`again` in `",
            "type `--again` where it is meant",
        ),
        (
            "[profiles.crm]\ncolumns = 3",
            "`columns` in profile `crm` of `",
            "(line 2) is no list of texts\n\nhint: write one",
        ),
    ] {
        let is_named = toml.starts_with("[profiles.crm]");
        let line: &[&str] = match is_named {
            true => &["campaigns", "--profile", "crm"],
            false => &["runs"],
        };
        let text = complaint(toml, line);
        assert!(text.contains(said) && text.contains(hint), "{toml}: {text}");
        assert_eq!(text.matches("\n\nhint: ").count(), 1, "{toml}: {text}");
    }
}

#[test]
fn a_profile_that_is_not_there_gets_those_that_are() {
    let text = complaint(TWO, &["campaigns", "--profile", "crn"]);
    assert!(text.contains("there is no profile `crn` in `"), "{text}");
    assert!(
        text.contains("did you mean `crm`? there are `default`, `crm`"),
        "{text}"
    );
    let text = complaint("", &["campaigns", "--profile", "crm"]);
    assert!(
        text.contains("there are none; `leadload config init` makes one"),
        "{text}"
    );
}

#[test]
fn a_token_in_the_file_is_never_shown() {
    for toml in [
        "token = '17|s3cretToken'",
        "[profiles.default]\ntoken = '17|s3cretToken'",
        "access_token = '17|s3cretToken'",
        "'17|s3cretToken' = 1",
        "s3cretTokenOfTheCustomer = 1",
        "[profiles.default]\n'17|s3cretToken' = 1",
        "['17|s3cretToken']\nregion = 'GB'",
        "[Profiles.'17|s3cretToken']",
        "[Profiles.s3cretTokenOfTheCustomer]",
        "[profiles]\n'17|s3cretToken' = 1",
        "token_file = ['17|s3cretToken']",
        "assume_plus = '17|s3cretToken'",
        "token_file = '17|s3cretToken'",
        "region = '17|s3cretToken'",
        "rate = '17|s3cretToken'",
        "base_url = '17|s3cretToken'",
        "verbose = '17|s3cretToken'",
        "token = { value = '17|s3cretToken' }",
        "token = 17|s3cretToken",
    ] {
        let text = complaint(toml, &IMPORT);
        assert!(!text.contains("s3cret"), "{toml}: {text}");
    }
}

#[test]
fn a_phone_number_in_the_file_is_never_shown() {
    for toml in [
        "'+447911000001' = 1",
        "region = '+447911000001'",
        "set = '+447911000001'",
        "max_new = '+447911000001'",
        "limit = 447911000001447911000001",
        "['+447911000001']",
        "[profiles]\n'+447911000001' = 1",
    ] {
        let text = complaint(toml, &IMPORT);
        assert!(!text.contains("7911"), "{toml}: {text}");
    }
    let text = complaint("[profiles.'447911000001']", &["runs", "--profile", "x"]);
    assert!(text.ends_with("hint: there is `…`"), "{text}");
    let text = complaint("", &["runs", "--profile", "+447911000001"]);
    assert!(text.starts_with("there is no profile `+…` in "), "{text}");
}

#[test]
fn json_is_asked_for_by_the_command_line_or_by_the_profile() {
    let wants_json = |toml: &str, line: &[&str]| {
        let refused = parsed_with(toml, Environment::default(), line);
        refused.err().unwrap().wants_json
    };
    assert!(wants_json(
        "rate = '0'",
        &["check", "a.csv", "--format", "json"]
    ));
    assert!(wants_json(
        "rate = '0'\nformat = 'json'",
        &["check", "a.csv"]
    ));
    assert!(wants_json(
        "format = 'json'",
        &["check", "a.csv", "--bogus"]
    ));
    assert!(!wants_json("rate = '0'", &["check", "a.csv"]));
}
