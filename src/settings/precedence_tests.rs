//! Which of flag, environment, profile and default holds, and what is wrong with a profile.

use std::ffi::OsString;
use std::path::Path;

use super::{Layer, Layers, LedgerChoice, Origin, Parsed, Refusal, Refused, environment};
use crate::options::{Declaration, Format, Given, Options};

/// A file of settings, and what is typed beside `--config` with it.
fn parsed_with(toml: &str, environment: Vec<Layer>, line: &[&str]) -> Result<Parsed, Box<Refused>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, toml).unwrap();
    let mut args: Vec<OsString> = line.iter().map(OsString::from).collect();
    args.splice(0..0, [OsString::from("leadload")]);
    args.extend(["--config".into(), path.into()]);
    Parsed::new(&args, environment)
}

/// What these variables say.
fn variables(values: &[(&'static str, &str)]) -> Vec<Layer> {
    environment::from(|name| {
        let found = values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.into())
    })
}

fn layers(environment: Vec<Layer>, toml: &str, line: &[&str]) -> Layers {
    let line = [&["import", "leads.csv"], line].concat();
    match parsed_with(toml, environment, &line) {
        Ok(parsed) => parsed.layers,
        Err(refused) => panic!("{toml}: {:?}", refused.reason),
    }
}

fn import(toml: &str, line: &[&str]) -> Options {
    layers(Vec::new(), toml, line).options()
}

/// What is wrong with the settings.
fn complaint(toml: &str, line: &[&str]) -> String {
    match parsed_with(toml, Vec::new(), line).err().unwrap().reason {
        Refusal::Settings(error) => error.to_string(),
        Refusal::CommandLine(error) => panic!("{error}"),
    }
}

const IMPORT: [&str; 2] = ["import", "leads.csv"];

/// A value that an option takes, and another, as a file of settings has them: worked out from
/// the option itself.
fn two_values(declared: &Declaration) -> [Given; 2] {
    let numbers = [Given::Number(7), Given::Number(8)];
    let text = |text: &str| Given::Text(text.to_owned());
    let pairs = [
        [Given::Switch(true), Given::Switch(false)],
        numbers,
        [text("GB"), text("DE")],
        [text("60s"), text("90s")],
        [text("5/s"), text("6/s")],
        [text("utf-8"), text("windows-1252")],
        [text(";"), text("|")],
        [text("a=b"), text("c=d")],
        [text("https://a.example.com"), text("https://b.example.com")],
        [text("a"), text("b")],
    ];
    let takes = |given: &Given| {
        let done = Options::default().set(declared.key, given, Path::new("/"));
        done.is_some_and(|done| done.is_ok())
    };
    let known = words_of(declared).map(|[one, other]| [text(&one), text(&other)]);
    // An address is looked into where it is known whether it may be plain http.
    let urls = ["https://a.example.com", "https://b.example.com"].map(text);
    let urls = (declared.key == "base_url").then_some(urls);
    let found = known
        .into_iter()
        .chain(urls)
        .chain(pairs)
        .find(|pair| pair.iter().all(takes));
    found.unwrap_or_else(|| panic!("no values for {}", declared.key))
}

/// The first two words of an option that takes nothing else, as its help lists them.
fn words_of(declared: &Declaration) -> Option<[String; 2]> {
    let command = crate::cli::command();
    let import = command.find_subcommand("import").unwrap();
    let flag = import
        .get_arguments()
        .find(|arg| arg.get_id() == declared.key)?;
    let words = flag.get_possible_values();
    let [one, other, ..] = words.as_slice() else {
        return None;
    };
    Some([one, other].map(|word| word.get_name().to_owned()))
}

/// What is said of an option where a file says this; of a path its name, since it starts from
/// the folder of the file.
fn names(declared: &Declaration, options: &Options) -> Vec<OsString> {
    let texts = options.texts(declared.key).unwrap_or_default();
    let name = |text: OsString| Path::new(&text).file_name().unwrap_or(&text).to_owned();
    texts.into_iter().map(name).collect()
}

fn saying(declared: &Declaration, value: &Given) -> Options {
    let mut options = Options::default();
    let done = options.set(declared.key, value, Path::new(""));
    assert_eq!(done, Some(Ok(())), "{}", declared.key);
    options
}

fn in_file(declared: &Declaration, value: &Given) -> String {
    // The token is for the service beside it.
    let beside = match declared.is_secret {
        true => "base_url = 'https://a.example.com'\n",
        false => "",
    };
    format!(
        "{beside}{} = {}\n",
        declared.key,
        toml_edit::Value::from(value)
    )
}

fn settings() -> impl Iterator<Item = &'static Declaration> {
    let all = Options::declared().into_iter();
    all.filter(|declared| declared.may_stand_in_profile())
}

#[test]
fn of_every_option_the_strongest_word_holds() {
    for declared in settings().filter(|declared| declared.has_flag) {
        let [one, other] = two_values(declared);
        let common = in_file(declared, &one);
        let own = format!("{common}[profiles.default]\n{}", in_file(declared, &other));
        let typed = saying(declared, &one).words(|_| true);
        let typed: Vec<&str> = typed.iter().map(|word| word.to_str().unwrap()).collect();
        let mut cases = vec![
            (layers(Vec::new(), &common, &[]), &one, Origin::AllProfiles),
            (layers(Vec::new(), &own, &[]), &other, Origin::Profile),
            (layers(Vec::new(), &own, &typed), &one, Origin::Flag),
        ];
        if let (Some(name), Given::Text(text)) = (declared.variable, &one) {
            let layers = layers(variables(&[(name, text)]), &own, &[]);
            cases.push((layers, &one, Origin::Environment(name)));
        }
        for (layers, value, origin) in cases {
            let expected = names(declared, &saying(declared, value));
            let key = declared.key;
            assert_eq!(
                names(declared, &layers.options()),
                expected,
                "{key}: {origin:?}"
            );
            assert_eq!(layers.origin_of(key), origin, "{key}");
        }
        let silent = layers(Vec::new(), "", &[]);
        assert_eq!(silent.origin_of(declared.key), Origin::Default);
        let default = names(declared, &silent.options());
        let expected: Vec<OsString> = declared.default.iter().map(OsString::from).collect();
        assert!(
            declared.default.is_none() || default == expected,
            "{default:?}"
        );
    }
}

#[test]
fn every_option_can_stand_in_a_profile_or_is_refused_with_a_reason() {
    for declared in Options::declared() {
        let toml = in_file(declared, &two_values(declared)[0]);
        if declared.may_stand_in_profile() {
            let hyphened = toml.replace(declared.key, &declared.key.replace('_', "-"));
            for toml in [toml, hyphened] {
                assert!(import(&toml, &[]).texts(declared.key).is_some(), "{toml}");
            }
        } else {
            let text = complaint(&toml, &IMPORT);
            let reason = match declared.key {
                "profile" => "is no profile",
                _ => "is said for one command only",
            };
            assert!(text.contains(reason), "{toml}: {text}");
        }
    }
}

#[test]
fn every_default_that_depends_on_nothing_is_told_by_the_help_of_its_flag() {
    let command = crate::cli::command();
    let import = command.find_subcommand("import").unwrap();
    for declared in Options::declared() {
        let Some(default) = declared.default else {
            continue;
        };
        let mut flags = import.get_arguments();
        let flag = flags.find(|arg| arg.get_id() == declared.key).unwrap();
        let help = flag.get_help().unwrap().to_string();
        assert!(help.contains(&format!("[default: {default}]")), "{help}");
    }
}

#[test]
fn options_survive_being_kept() {
    let mut all = Options::default();
    for declared in Options::declared() {
        let value = &two_values(declared)[0];
        assert_eq!(all.set(declared.key, value, Path::new("")), Some(Ok(())));
    }
    let kept = serde_json::to_string(&all).unwrap();
    let again: Options = serde_json::from_str(&kept).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), kept);
    assert!(serde_json::from_str::<Options>("{\"regoin\":\"GB\"}").is_err());
    assert!(serde_json::from_str::<Options>("{\"region\":\"Atlantis\"}").is_err());
}

#[test]
fn what_was_kept_may_have_been_typed_empty() {
    let typed = layers(
        Vec::new(),
        "",
        &["--campaign", "", "--campaign-column", "a"],
    )
    .typed();
    let kept = serde_json::to_string(&typed).unwrap();
    let again: Options = serde_json::from_str(&kept).unwrap();
    assert_eq!(again.mapping.campaign.unwrap().0, "");
    let headers = import("columns = ['a', '']", &[]).mapping.columns;
    assert_eq!(headers.unwrap().len(), 2);
}

#[test]
fn what_says_nothing_switches_nothing_off() {
    let own = "verbose = 2\n[profiles.default]\nquiet = false";
    assert_eq!(import(own, &[]).log.verbose, Some(2));
    let own = "rate = '5/s'\n[profiles.default]\nrate = []";
    let rate = |line: &[&str]| import(own, line).texts("rate").unwrap();
    assert_eq!(rate(&[]), ["auto"]);
    assert_eq!(rate(&["--sandbox"]), ["50/s"]);
    assert!(
        import("[profiles.default]\nvar = []", &[])
            .texts("var")
            .unwrap()
            .is_empty()
    );
}

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
        let options = layers(environment, TWO, line).options();
        let region = options.phones.region.unwrap().to_string();
        (options.mapping.campaign.unwrap().0.clone(), region)
    };
    let crm = || variables(&[("LEADLOAD_PROFILE", "crm")]);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(campaign(Vec::new(), &[]), pair("7", "GB"));
    assert_eq!(campaign(crm(), &[]), pair("8", "DE"));
    assert_eq!(campaign(crm(), &["--profile", "default"]), pair("7", "GB"));
    assert_eq!(campaign(crm(), &["--campaign", "9"]), pair("9", "DE"));
}

#[test]
fn without_a_default_profile_only_what_is_common_holds() {
    let options = import("region = 'GB'\n[profile.crm]\ncampaign = 8", &[]);
    assert!(options.mapping.campaign.is_none());
    assert!(options.phones.region.is_some());
}

#[test]
fn a_flag_replaces_all_that_the_profile_has_for_it() {
    let toml = "rate = ['5/s', '100/min']\nset = { a = 'b' }\nverbose = 2";
    assert_eq!(import(toml, &[]).delivery.rate.unwrap().len(), 2);
    assert_eq!(import(toml, &[]).log.verbose, Some(2));
    let typed = import(toml, &["--rate", "none", "--set", "c=d", "-v"]);
    assert_eq!(typed.delivery.rate.unwrap().len(), 1);
    let set = typed.mapping.set.unwrap();
    assert_eq!(set.len(), 1);
    assert_eq!((set[0].name.as_str(), set[0].value.as_str()), ("c", "d"));
    assert_eq!(typed.log.verbose, Some(1));
}

#[test]
fn what_contradicts_the_command_line_is_left_out() {
    let log = |toml: &str, line: &[&str]| {
        let log = import(toml, line).log;
        (log.quiet == Some(true), log.verbose.unwrap_or(0))
    };
    assert_eq!(log("quiet = true", &["-v"]), (false, 1));
    assert_eq!(log("verbose = 1", &["--quiet"]), (true, 0));
    let own = "quiet = true\n[profiles.default]\nverbose = 1";
    assert_eq!(log(own, &[]), (false, 1));
    let skipped = |line: &[&str]| import("skip_column = 'a'", line).mapping.skip_column;
    assert!(skipped(&[]).is_some());
    assert!(skipped(&["--var", "a"]).is_none());
}

#[test]
fn the_environment_comes_before_the_profile() {
    let environment = variables(&[
        ("LEADLOAD_BASE_URL", "https://b.example.com"),
        ("LEADLOAD_TOKEN", "t"),
        ("LEADLOAD_LEDGER", "b.sqlite3"),
    ]);
    let toml = "base_url = 'https://a.example.com'\ntoken_file = 'a.token'\nledger = 'a.sqlite3'\nregion = 'GB'";
    let layers = layers(environment, toml, &[]);
    let origin = |key| layers.origin_of(key);
    assert_eq!(origin("base_url"), Origin::Environment("LEADLOAD_BASE_URL"));
    assert_eq!(origin("token_file"), Origin::Environment("LEADLOAD_TOKEN"));
    assert_eq!(origin("ledger"), Origin::Environment("LEADLOAD_LEDGER"));
    assert_eq!(origin("region"), Origin::AllProfiles);
    assert!(!format!("{layers:?}").contains("\"t\""), "the token");
}

#[test]
fn the_sandbox_takes_no_service_no_token_and_no_ledger_from_elsewhere() {
    let toml = "base_url = 'https://a.example.com'\ntoken_file = 'a.token'\nledger = 'a.sqlite3'\nrate = '5/s'\nresults = 'r.csv'";
    let environment = || {
        variables(&[
            ("LEADLOAD_BASE_URL", "https://b.example.com"),
            ("LEADLOAD_TOKEN", "t"),
            ("LEADLOAD_LEDGER", "b.sqlite3"),
        ])
    };
    let layers = layers(environment(), toml, &["--sandbox"]);
    let options = layers.said();
    assert!(options.connection.base_url.is_none());
    assert!(options.connection.token_file.is_none());
    assert!(options.ledger.ledger.is_none());
    assert!(options.output.results.is_none());
    assert_eq!(options.delivery.rate.as_ref().unwrap().len(), 1);
    let ledger = LedgerChoice::new(&layers.options()).unwrap();
    assert_eq!(ledger, LedgerChoice::None);
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
    let parsed = parsed_with(toml, Vec::new(), &line).ok().unwrap();
    let ledger = LedgerChoice::new(&parsed.layers.options()).unwrap();
    assert_eq!(ledger, LedgerChoice::None);
    assert!(parsed_with(toml, Vec::new(), &["campaigns"]).is_ok());
}

/// What a run that was given these flags hands to its rejects.
fn of_run(line: &[&str]) -> Options {
    import("", line).only(Declaration::is_handed_to_rejects)
}

#[test]
fn the_run_of_rejects_comes_before_the_profile_and_lists_of_both_protect() {
    let run = of_run(&[
        "--campaign",
        "7",
        "--var",
        "x=c",
        "--region",
        "GB",
        "--suppress",
        "/dnc",
    ]);
    let toml =
        "campaign = 8\nskip_column = 'd'\nassume_plus = true\nsuppress = '/no'\nrate = '5/s'";
    let with_run = |line: &[&str]| {
        let layers = layers(Vec::new(), toml, line);
        layers
            .with_run(crate::lead::RunId(3), run.clone())
            .options()
    };
    let found = with_run(&["--region", "FR"]);
    assert_eq!(found.mapping.campaign.unwrap().0, "7");
    assert_eq!(found.phones.region.unwrap().to_string(), "FR");
    assert!(found.mapping.skip_column.is_none());
    assert_eq!(found.phones.assume_plus, Some(false));
    let lists = found.phones.suppress.unwrap();
    let lists: Vec<&Path> = lists.iter().map(|list| list.as_path()).collect();
    assert_eq!(lists, [Path::new("/no"), Path::new("/dnc")]);
    assert_eq!(found.delivery.rate.unwrap().len(), 1);
    let typed = with_run(&["--suppress", "/other"]).phones.suppress.unwrap();
    assert_eq!(typed.len(), 1);
}

#[test]
fn that_no_column_is_sent_is_handed_down() {
    let run = layers(Vec::new(), "var = []", &[]).options();
    let kept = serde_json::to_string(&run.only(Declaration::is_handed_to_rejects)).unwrap();
    let run: Options = serde_json::from_str(&kept).unwrap();
    for (line, count) in [(&[][..], 0), (&["--var", "y"], 1)] {
        let layers = layers(Vec::new(), "", line);
        let found = layers
            .with_run(crate::lead::RunId(3), run.clone())
            .options();
        assert_eq!(found.mapping.var.unwrap().len(), count, "{line:?}");
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
            "(line 2) takes a text, and a whole number stands there\n\nhint: write one",
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
        let refused = parsed_with(toml, Vec::new(), line);
        let said = refused.err().unwrap().layers.said();
        said.output.format.as_deref() == Some(&Format::Json)
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
