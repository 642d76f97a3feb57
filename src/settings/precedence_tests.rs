//! Which of flag, environment, profile and default applies, and what is wrong with a profile.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::{Value as Json, json};

use super::layers::token_file;
use super::profile::edit::toml_of;
use super::{Layers, Origin, environment, ledger_place};
use crate::cli::{self, Command};
use crate::lead::RunId;
use crate::options::{Declaration, Format, Options, in_home};

/// Names and values of environment variables.
type Variables<'a> = &'a [(&'static str, &'a str)];

/// The options of a settings file together with those typed on
/// a command line that names it, and what is wrong with them.
fn load(toml: &str, variables: Variables, line: &[&str]) -> (Layers, anyhow::Result<()>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, toml).unwrap();
    let words = ["leadload"].iter().chain(line);
    let mut args: Vec<OsString> = words.map(OsString::from).collect();
    args.extend(["--config".into(), path.into()]);
    let environment = environment::from(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.into())
    });
    let command = cli::parse(&args).unwrap();
    let writes_outputs = !matches!(command, Command::Check(_));
    Layers::load(command.typed(), environment, true, writes_outputs)
}

fn layers(variables: Variables, toml: &str, line: &[&str]) -> Layers {
    let (layers, checked) = load(toml, variables, &[&IMPORT, line].concat());
    checked.unwrap_or_else(|error| panic!("{toml}: {error}"));
    layers
}

fn import(toml: &str, line: &[&str]) -> Options {
    layers(&[], toml, line).options()
}

/// The error in the settings.
fn complaint(toml: &str, line: &[&str]) -> String {
    load(toml, &[], line).1.unwrap_err().to_string()
}

const IMPORT: [&str; 2] = ["import", "leads.csv"];

/// Two different values that an option accepts, as a settings
/// file has them. They are derived from the option itself.
fn two_values(declared: &Declaration) -> [Json; 2] {
    let pairs = [
        [json!(true), json!(false)],
        [json!(7), json!(8)],
        [json!("GB"), json!("DE")],
        [json!("60s"), json!("90s")],
        [json!("5/s"), json!("6/s")],
        [json!("utf-8"), json!("windows-1252")],
        [json!(";"), json!("|")],
        [json!("a=b"), json!("c=d")],
        [json!("mobile"), json!("+premium")],
        [json!("call"), json!("leave-out")],
        [json!("a"), json!("b")],
    ];
    let takes = |json: &Json| {
        let mut options = Options::default();
        let field = options.field_mut(declared.key).unwrap();
        field.set_json(json, Path::new("/")).is_ok()
    };
    if declared.key == "base_url" {
        // It is checked elsewhere, where it is known whether it may be plain http.
        return ["https://a.example.com", "https://b.example.com"].map(Json::from);
    }
    let words = words_of(declared).map(|words| words.map(Json::from));
    let mut pairs = words.into_iter().chain(pairs);
    let found = pairs.find(|pair| pair.iter().all(takes));
    found.unwrap_or_else(|| panic!("no values for {}", declared.key))
}

/// The first two words of an option that accepts only words, as its help lists them.
fn words_of(declared: &Declaration) -> Option<[String; 2]> {
    let command = cli::command();
    let import = command.find_subcommand("import").unwrap();
    let mut flags = import.get_arguments();
    let flag = flags.find(|arg| arg.get_id() == declared.key)?;
    let words = flag.get_possible_values();
    let [one, other, ..] = words.as_slice() else {
        return None;
    };
    Some([one, other].map(|word| word.get_name().to_owned()))
}

/// The texts of an option. A path from the root is reduced to its
/// name, since paths in a file are relative to its folder.
fn names(options: &Options, key: &str) -> Vec<OsString> {
    let texts = options.field(key).unwrap().texts();
    let name = |text: OsString| match Path::new(&text) {
        path if path.has_root() => path.file_name().unwrap().to_owned(),
        _ => text,
    };
    texts.into_iter().map(name).collect()
}

fn origin_of(layers: &Layers, key: &str) -> Origin {
    layers.origin(|given| given.field(key).unwrap().is_given())
}

fn saying(declared: &Declaration, value: &Json) -> Options {
    let mut options = Options::default();
    let field = options.field_mut(declared.key).unwrap();
    assert_eq!(
        field.set_json(value, Path::new("")),
        Ok(()),
        "{}",
        declared.key
    );
    options
}

fn in_file(declared: &Declaration, value: &Json) -> String {
    // The token is for the service that is given together with it.
    let beside = if declared.is_secret {
        "base_url = 'https://a.example.com'\n"
    } else {
        ""
    };
    // The columns of one list cannot apply to all profiles.
    let head = if declared.has_flag {
        ""
    } else {
        "[profiles.default]\n"
    };
    format!("{beside}{head}{} = {}\n", declared.key, toml_of(value))
}

#[test]
fn for_every_option_the_source_with_highest_precedence_wins() {
    let declared = Options::declared().into_iter();
    let settings = declared.filter(|declared| declared.may_be_in_profile());
    for declared in settings.filter(|declared| declared.has_flag) {
        let key = declared.key;
        let [one, other] = two_values(declared);
        let common = in_file(declared, &one);
        let own = format!("{common}[profiles.default]\n{}", in_file(declared, &other));
        let typed = saying(declared, &one).args(|_| true);
        let typed: Vec<&str> = typed.iter().map(|word| word.to_str().unwrap()).collect();
        let mut cases = vec![
            (layers(&[], &common, &[]), &one, Origin::AllProfiles),
            (
                layers(&[], &own, &[]),
                &other,
                Origin::Profile("default".into()),
            ),
            (layers(&[], &own, &typed), &one, Origin::Flag),
        ];
        if let (Some(name), Json::String(text)) = (declared.variable, &one) {
            let layers = layers(&[(name, text)], &own, &[]);
            cases.push((layers, &one, Origin::Environment(name)));
        }
        for (layers, value, origin) in cases {
            let expected = names(&saying(declared, value), key);
            assert_eq!(names(&layers.options(), key), expected, "{key}: {origin:?}");
            assert_eq!(origin_of(&layers, key), origin, "{key}");
        }
        let silent = layers(&[], "", &[]);
        assert_eq!(origin_of(&silent, key), Origin::Default);
        if let Some(default) = declared.default {
            assert_eq!(names(&silent.options(), key), [default]);
        }
    }
}

#[test]
fn every_option_is_allowed_in_a_profile_or_refused_with_a_reason() {
    for declared in Options::declared() {
        let toml = in_file(declared, &two_values(declared)[0]);
        if declared.may_be_in_profile() {
            let options = import(&toml, &[]);
            assert!(options.field(declared.key).unwrap().is_given(), "{toml}");
        } else {
            let text = complaint(&toml, &IMPORT);
            assert!(text.contains("one command"), "{toml}: {text}");
        }
    }
}

#[test]
fn every_default_and_every_variable_is_in_the_help_of_its_flag() {
    let command = cli::command();
    let import = command.find_subcommand("import").unwrap();
    for declared in Options::declared() {
        let default = declared
            .default
            .map(|default| format!("[default: {default}"));
        let variable = declared.variable.map(|name| format!("[env: {name}]"));
        for told in default.into_iter().chain(variable) {
            let mut flags = import.get_arguments();
            let flag = flags.find(|arg| arg.get_id() == declared.key).unwrap();
            let help = flag.get_help().unwrap().to_string();
            assert!(help.contains(&told), "{told}: {help}");
        }
    }
}

/// A form of a page gives texts, without a command line.
#[test]
fn every_option_takes_what_would_be_typed() {
    for declared in Options::declared()
        .into_iter()
        .filter(|declared| declared.has_flag)
    {
        let key = declared.key;
        let mut options = saying(declared, &two_values(declared)[0]);
        let texts = options.field(key).unwrap().texts();
        let texts: Vec<&OsStr> = texts.iter().map(OsString::as_os_str).collect();
        let field = options.field_mut(key).unwrap();
        let json = field.json();
        field.clear();
        assert!(!field.is_given(), "{key}");
        assert_eq!(field.set_texts(&texts), Ok(()), "{key}");
        assert_eq!(field.json(), json, "{key}");
    }
    let mut options = Options::default();
    let countries = options.field_mut("countries").unwrap();
    assert_eq!(
        countries.set_texts(&["de,FR".as_ref(), "gb".as_ref()]),
        Ok(())
    );
    assert_eq!(names(&options, "countries"), ["DE", "FR", "GB"]);
}

/// The options after they were stored as JSON and read back.
fn kept(options: &Options) -> Options {
    let json = serde_json::to_string(options).unwrap();
    let again: Options = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
    again
}

#[test]
fn options_survive_being_kept() {
    let mut all = Options::default();
    for declared in Options::declared() {
        all.complete(&saying(declared, &two_values(declared)[0]));
    }
    kept(&all);
    assert!(serde_json::from_str::<Options>("{\"regoin\":\"GB\"}").is_err());
    assert!(serde_json::from_str::<Options>("{\"region\":\"Atlantis\"}").is_err());
    // An empty text may have been typed.
    let typed = layers(&[], "", &["--campaign", "", "--campaign-column", "a"]).typed();
    assert_eq!(kept(&typed).mapping.campaign.unwrap().text(), "");
}

#[test]
fn a_ledger_says_how_columns_become_leads_and_nothing_about_where_they_go() {
    let taken = |is_passed_on: fn(&Declaration) -> bool| -> Vec<&str> {
        let declared = Options::declared().into_iter();
        let taken = declared.filter(|declared| {
            let value = &two_values(declared)[0];
            let stored = serde_json::to_value(saying(declared, value)).unwrap();
            let options = Options::of_ledger(stored.as_object().unwrap(), is_passed_on);
            options.unwrap().has(declared)
        });
        taken.map(|declared| declared.key).collect()
    };
    let to_rejects =
        "campaign campaign_column phone_column var skip_column set only do_not_call_column
        consent_column var_names empty keep region region_column assume_plus phone_rule countries
        phone_kinds suppress variables_shape";
    let to_rejects: Vec<_> = to_rejects.split_whitespace().collect();
    assert_eq!(taken(Declaration::is_passed_to_rejects), to_rejects);
    let to_resumed = "delimiter encoding no_header sheet hidden_rows limit only empty region
        assume_plus phone_rule countries phone_kinds variables_shape";
    let to_resumed: Vec<_> = to_resumed.split_whitespace().collect();
    assert_eq!(taken(Declaration::is_passed_to_resumed), to_resumed);
}

#[test]
fn what_a_file_says_is_what_would_be_typed() {
    let home = directories::BaseDirs::new().unwrap().home_dir().join("x");
    for (toml, key, typed) in [
        ("delimiter = ' '", "delimiter", &[" "][..]),
        ("campaign = 7", "campaign", &["7"]),
        (
            "set = { b = 'x', a = 1, c = '' }",
            "set",
            &["b=x", "a=1", "c="],
        ),
        ("[set]\nb = 'x'\na = 'y=z'", "set", &["b=x", "a=y=z"]),
        (
            "var = { name = 'Full name', city = 3 }",
            "var",
            &["name=Full name", "city=3"],
        ),
        ("countries = 'DE,fr'", "countries", &["DE", "FR"]),
        ("region = 'germany'", "region", &["DE"]),
        ("report = 'none'", "report", &["none"]),
        ("ledger = '~/x'", "ledger", &[home.to_str().unwrap()]),
    ] {
        let options = import(toml, &[]);
        assert_eq!(options.field(key).unwrap().texts(), typed, "{toml}");
    }
}

#[test]
fn empty_values_switch_nothing_off() {
    let own = "verbose = 2\n[profiles.default]\nquiet = false";
    assert_eq!(import(own, &[]).log.verbose, Some(2));
    let own = "rate = '5/s'\n[profiles.default]\nrate = []";
    assert_eq!(names(&import(own, &[]), "rate"), ["auto"]);
    assert_eq!(origin_of(&layers(&[], own, &[]), "rate"), Origin::Default);
    assert_eq!(names(&import(own, &["--sandbox"]), "rate"), ["50/s"]);
    let own = "[profiles.default]\nvar = []\ncolumns = ['a', '']";
    let none = import(own, &[]).mapping;
    assert_eq!(
        (none.var.unwrap().len(), none.columns.unwrap().len()),
        (0, 2)
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
    let crm = [("LEADLOAD_PROFILE", "crm")];
    for (environment, line, campaign, region) in [
        (&[][..], &[][..], "7", "GB"),
        (&crm, &[], "8", "DE"),
        (&crm, &["--profile", "default"], "7", "GB"),
        (&crm, &["--campaign", "9"], "9", "DE"),
    ] {
        let options = layers(environment, TWO, line).options();
        assert_eq!(options.mapping.campaign.unwrap().text(), campaign);
        assert_eq!(options.phones.region.unwrap().text(), region);
    }
    let options = import("region = 'GB'\n[profiles.crm]\ncampaign = 8", &[]);
    assert!(options.mapping.campaign.is_none() && options.phones.region.is_some());
}

#[test]
fn a_flag_replaces_all_that_the_profile_has_for_it() {
    let toml = "rate = ['5/s', '100/min']\nset = { a = 'b' }\nverbose = 2";
    let said = |line: &[&str]| {
        let options = import(toml, line);
        ["rate", "set", "verbose"].map(|key| names(&options, key))
    };
    assert_eq!(said(&[]), [vec!["5/s", "100/min"], vec!["a=b"], vec!["2"]]);
    let line = ["--rate", "none", "--set", "c=d", "-v"];
    assert_eq!(said(&line), [["none"], ["c=d"], ["1"]]);
}

#[test]
fn what_contradicts_the_command_line_is_left_out() {
    let own = "quiet = true\n[profiles.default]\nverbose = 1";
    for (toml, line, quiet, verbose) in [
        ("quiet = true", &["-v"][..], None, Some(1)),
        ("verbose = 1", &["--quiet"], Some(true), None),
        (own, &[], None, Some(1)),
    ] {
        let log = import(toml, line).log;
        assert_eq!((log.quiet, log.verbose), (quiet, verbose), "{toml}");
    }
    let skipped = |line: &[&str]| import("skip_column = 'a'", line).mapping.skip_column;
    assert!(skipped(&[]).is_some() && skipped(&["--var", "a"]).is_none());
}

const SERVICE: &str = "base_url = 'https://a.example.com'\ntoken_file = 'a.token'\n\
                       ledger = 'a.sqlite3'\nrate = '5/s'\nresults = 'r.csv'";

const VARIABLES: [(&str, &str); 3] = [
    ("LEADLOAD_BASE_URL", "https://b.example.com"),
    ("LEADLOAD_TOKEN", "t"),
    ("LEADLOAD_LEDGER", "b.sqlite3"),
];

#[test]
fn the_environment_comes_before_the_profile_and_its_token_is_not_shown() {
    let layers = layers(&VARIABLES, SERVICE, &[]);
    for (key, (name, _)) in ["base_url", "token_file", "ledger"].iter().zip(VARIABLES) {
        assert_eq!(origin_of(&layers, key), Origin::Environment(name));
    }
    assert_eq!(origin_of(&layers, "rate"), Origin::AllProfiles);
    assert!(!format!("{layers:?}").contains("\"t\""), "the token");
}

#[test]
fn the_sandbox_takes_no_service_no_token_and_no_ledger_from_elsewhere() {
    let layers = layers(&VARIABLES, SERVICE, &["--sandbox"]);
    let said = layers.given();
    for key in ["base_url", "token_file", "ledger", "results"] {
        assert!(!said.field(key).unwrap().is_given(), "{key}");
    }
    assert_eq!(names(&said, "rate"), ["5/s"]);
    let ledger = ledger_place(&layers.options()).unwrap();
    assert_eq!(ledger, None);
}

#[test]
fn a_token_goes_to_the_service_beside_it_alone() {
    let own = "base_url = 'https://a.example.com/api'\ntoken_file = 'a.token'";
    let moved = format!("{own}\n[profiles.default]\nbase_url = 'https://b.example.com'");
    let shared = "base_url = 'https://a.example.com'\n[profiles.default]\ntoken_file = 'a.token'";
    let (to_a, to_b) = ("https://a.example.com", "https://b.example.com");
    for (toml, line, goes) in [
        (own, &[][..], true),
        (own, &["--base-url", to_a], true),
        (own, &["--base-url", to_b], false),
        ("token_file = 'a.token'", &["--base-url", to_a], false),
        (&moved, &[], false),
        (&moved, &["--base-url", to_a], false),
        (shared, &[], true),
    ] {
        let token = import(toml, line).connection.token_file;
        assert_eq!(token.is_some(), goes, "{toml} {line:?}");
    }
}

#[test]
fn other_commands_take_what_they_have_flags_for() {
    let toml = "ledger = 'none'\nrate = '5/s'\ncampaign = 7";
    let line = ["runs", "export", "--results", "r.csv"];
    let ledger = ledger_place(&load(toml, &[], &line).0.options()).unwrap();
    assert_eq!(ledger, None);
    assert!(load(toml, &[], &["campaigns"]).1.is_ok());
}

/// The options for rejects of a run with these options.
fn of_rejects(run: &Options, toml: &str, line: &[&str]) -> Options {
    let mut run = kept(run);
    run.retain(Declaration::is_passed_to_rejects);
    let mut layers = layers(&[], toml, line);
    layers.add_run(RunId(3), run);
    layers.options()
}

#[test]
fn the_run_of_rejects_comes_before_the_profile_and_lists_of_both_protect() {
    let line = "--campaign 7 --var x=c --region GB --suppress /dnc";
    let run = import("", &line.split(' ').collect::<Vec<_>>());
    let toml =
        "campaign = 8\nskip_column = 'd'\nassume_plus = true\nsuppress = '/no'\nrate = '5/s'";
    let found = of_rejects(&run, toml, &["--region", "FR"]);
    for (key, values) in [
        ("campaign", &["7"][..]),
        ("region", &["FR"]),
        ("skip_column", &[]),
        ("assume_plus", &[]),
        ("suppress", &["no", "dnc"]),
        ("rate", &["5/s"]),
    ] {
        assert_eq!(names(&found, key), values, "{key}");
    }
    let typed = of_rejects(&run, toml, &["--suppress", "/other"]);
    assert_eq!(names(&typed, "suppress"), ["other"]);
    let typed = of_rejects(&run, toml, &["--suppress", "none"]);
    assert_eq!(names(&typed, "suppress"), [""; 0]);
}

#[test]
fn sending_no_column_is_inherited() {
    let run = import("var = []", &[]);
    for (line, count) in [(&[][..], 0), (&["--var", "y"], 1)] {
        let found = of_rejects(&run, "", line);
        assert_eq!(found.mapping.var.unwrap().len(), count, "{line:?}");
    }
}

#[test]
fn a_missing_profile_is_reported_with_the_existing_ones() {
    for (toml, name, told) in [
        (TWO, "crn", "`default`, `crm`"),
        ("", "crm", "`leadload config init`"),
        ("[profiles.'447911000001']", "x", "`…`"),
        ("", "+447911000001", "`leadload config init`"),
    ] {
        let text = complaint(toml, &["campaigns", "--profile", name]);
        let shown = name.replace("447911000001", "…");
        assert!(text.contains(&format!("profile `{shown}` ")), "{text}");
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn no_token_and_no_phone_number_in_the_file_is_ever_shown() {
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
        "'+447911000001' = 1",
        "region = '+447911000001'",
        "set = '+447911000001'",
        "max_new = '+447911000001'",
        "limit = 447911000001447911000001",
        "['+447911000001']",
        "[profiles]\n'+447911000001' = 1",
    ] {
        let text = complaint(toml, &IMPORT);
        assert!(
            !text.contains("s3cret") && !text.contains("7911"),
            "{toml}: {text}"
        );
    }
}

#[test]
fn a_path_or_address_in_quotation_marks_is_refused_where_it_is_given() {
    for (variables, toml, line, place) in [
        (
            &[("LEADLOAD_LEDGER", "'l'")][..],
            "",
            &[][..],
            "LEADLOAD_LEDGER:",
        ),
        (
            &[("LEADLOAD_TOKEN_FILE", "“t”")],
            "",
            &[],
            "LEADLOAD_TOKEN_FILE:",
        ),
        (
            &[("LEADLOAD_BASE_URL", "\"https://a.example\"")],
            "",
            &[],
            "LEADLOAD_BASE_URL:",
        ),
        (
            &[],
            "",
            &["--base-url", "'https://a.example'"],
            "`--base-url`:",
        ),
        (&[], "suppress = ['a', \"'b'\"]", &[], "`suppress` in `"),
        (
            &[],
            "[profiles.default]\nledger = '\"l\"'",
            &[],
            "`ledger` in profile `default` of `",
        ),
        (
            &[],
            "base_url = '\"https://a.example\"'",
            &[],
            "`base_url` in `",
        ),
    ] {
        let (_, checked) = load(toml, variables, &[&IMPORT[..], line].concat());
        let error = checked.unwrap_err().to_string();
        assert!(error.starts_with(place), "{error}");
        assert!(error.contains("in quotation marks"), "{error}");
    }
    // A weaker value does not count.
    for line in [&["--ledger", "l"][..], &["--sandbox"]] {
        layers(&[("LEADLOAD_LEDGER", "'l'")], "", line);
    }
}

#[test]
fn a_path_of_the_environment_may_begin_in_the_home_folder() {
    let variables = [("LEADLOAD_LEDGER", "~/a/l"), ("LEADLOAD_TOKEN_FILE", "~t")];
    let options = layers(&variables, "", &[]).options();
    let home = in_home("~/").unwrap();
    assert_eq!(**options.ledger.ledger.as_ref().unwrap(), home.join("a/l"));
    assert_eq!(token_file(&options), Some(Path::new("~t")));
}

#[test]
fn the_format_is_known_although_a_setting_is_wrong() {
    for (toml, line, wants) in [
        ("rate = '0'", "check a.csv --format json", true),
        ("rate = '0'\nformat = 'json'", "check a.csv", true),
        ("rate = '0'", "check a.csv", false),
    ] {
        let (layers, checked) = load(toml, &[], &line.split(' ').collect::<Vec<_>>());
        assert!(checked.is_err(), "{toml}");
        let format = layers.given().output.format();
        assert_eq!(format == Format::Json, wants, "{toml}");
    }
}
