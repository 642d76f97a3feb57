//! The settings file, its profiles, and how they are set up.

#[cfg(unix)]
use std::fs;

use serde_json::json;

use crate::util::{Folder, scenario, service};

const TOKEN: &str = "17|s3cretTokenOfTheCustomer";

/// A service that requires this token.
const STRICT: &str = "token = '17|s3cretTokenOfTheCustomer'";

const OTHER_REJECTS: &str = "phone,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run\n\
     +447911000009,1,invalid,phone_impossible,too long,77\n";

/// A folder with a list, and with a profile `crm` for a service in `config.toml`.
fn with_profile(base_url: &str, more: &str) -> Folder {
    let folder = Folder::with_leads("Phone,City\n+447911000001,Leeds\n");
    write_private(&folder, "crm.token", TOKEN);
    let toml = format!(
        "[profiles.crm]\nbase_url = '{base_url}'\ntoken_file = 'crm.token'\ncampaign = 101\n{more}\n"
    );
    folder.write("config.toml", toml);
    folder
}

/// Writes a file that nobody else can read.
fn write_private(folder: &Folder, name: &str, text: &str) {
    folder.write(name, text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let owner_only = fs::Permissions::from_mode(0o600);
        fs::set_permissions(folder.path(name), owner_only).unwrap();
    }
}

/// The path of the settings file, as the program prints it.
fn config(folder: &Folder) -> String {
    let mut path = folder.path("config.toml");
    if cfg!(unix) {
        path = path.canonicalize().unwrap();
    }
    path.display().to_string()
}

const CRM: [&str; 4] = ["--config", "config.toml", "--profile", "crm"];

/// Saves the mapping of the list in the profile `crm`.
#[track_caller]
fn keep_mapping(folder: &Folder) {
    let file = ["--config", "config.toml", "--save-mapping", "crm"];
    folder
        .leadload(&[&["check", "leads.csv"][..], &file].concat())
        .expect(0);
}

#[cfg(unix)]
fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_profile_is_enough_for_an_import() {
    let service = scenario(STRICT);
    let folder = with_profile(&service.base_url(), "rate = 'none'");
    let output = folder
        .leadload(&[&["import", "leads.csv"][..], &CRM].concat())
        .expect(0);
    assert_eq!(service.leads().len(), 1);
    assert!(!output.stderr.contains("WARN"), "{}", output.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn the_users_own_file_needs_no_name_and_its_default_profile_neither() {
    let service = scenario(STRICT);
    let folder = Folder::new();
    let config = folder.config();
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config.with_file_name("a.token"), TOKEN).unwrap();
    let toml = format!(
        "[profiles.default]\nbase_url = '{}'\ntoken_file = 'a.token'\n",
        service.base_url()
    );
    fs::write(&config, toml).unwrap();
    // A `config.toml` in the current folder is not used.
    folder.write(
        "config.toml",
        "[profiles.default]\nbase_url = 'https://a.example.com'\n",
    );
    let output = folder.leadload(&["campaigns"]).expect(0);
    assert!(output.stdout.contains("Spring promo"));
}

#[test]
fn a_settings_file_that_is_named_and_missing_is_reported() {
    let folder = Folder::new();
    let output = folder
        .leadload(&["campaigns"])
        .env("LEADLOAD_CONFIG", "nowhere.toml")
        .expect(2);
    output.tells("`nowhere.toml`");
    let output = folder
        .leadload(&["campaigns"])
        .env("LEADLOAD_PROFILE", "crm")
        .expect(2);
    output.tells("`crm`");
}

#[test]
fn a_profiles_token_is_not_sent_to_another_service() {
    let (own, other) = (scenario(STRICT), scenario(STRICT));
    let folder = with_profile(&own.base_url(), "");
    let line = [&["campaigns"][..], &CRM].concat();
    folder.leadload(&line).expect(0);
    let output = folder
        .leadload(&line)
        .env("LEADLOAD_BASE_URL", &other.base_url())
        .expect(2);
    output.tells(&own.base_url());
    folder
        .leadload(&line)
        .env("LEADLOAD_BASE_URL", &other.base_url())
        .env("LEADLOAD_TOKEN", TOKEN)
        .expect(0);
}

#[test]
fn a_check_writes_no_file_that_only_the_profile_names() {
    let outputs = "results = 'a.csv'\nrejects = 'b.csv'\nreport = 'c.html'";
    let folder = with_profile("https://a.example.com", outputs);
    folder.write("leads.csv", "phone\n+447911000001\nx\n");
    let before = folder.names();
    for command in [&["check"][..], &["import", "--dry-run"]] {
        let args = [command, &["leads.csv"], &CRM].concat();
        folder.leadload(&args).expect(1);
        assert_eq!(folder.names(), before);
    }
}

#[test]
fn what_is_wrong_in_a_profile_is_json_too() {
    let folder = with_profile(
        "https://a.example.com",
        "format = 'json'\nrate = '10/fortnight'",
    );
    let output = folder
        .leadload(&[&["import", "leads.csv"][..], &CRM].concat())
        .expect(2);
    let summary = output.json();
    assert_eq!(summary["stopped_by"], "usage");
    assert_eq!(summary["exit_code"], 2);
    let error = summary["error"].as_str().unwrap();
    assert!(error.contains("profile `crm`"), "{error}");
    assert!(error.contains("line 6"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_token_file_that_everybody_can_read_or_a_group_can_change_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let service = scenario(STRICT);
    let folder = with_profile(&service.base_url(), "");
    for (mode, is_warned_of) in [
        (0o644, true),
        (0o660, true),
        // The permissions that systemd and Kubernetes use.
        (0o440, false),
        (0o640, false),
    ] {
        let open = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path("crm.token"), open).unwrap();
        let stderr = folder
            .leadload(&[&["campaigns"][..], &CRM].concat())
            .expect(0)
            .stderr;
        assert_eq!(stderr.contains("`chmod 600`"), is_warned_of, "{mode:o}");
        assert_eq!(stderr.is_empty(), !is_warned_of, "{mode:o}: {stderr}");
    }
}

#[test]
fn the_run_of_rejects_comes_before_the_profile() {
    let service = scenario(STRICT);
    let folder = with_profile(&service.base_url(), "rate = 'none'\nregion = 'GB'");
    folder.write("leads.csv", "Phone,City\n0171 392 0001,Ort\n07x,Leeds\n");
    let line = [
        &["import", "leads.csv", "--region", "DE", "--campaign", "102"][..],
        &CRM,
    ]
    .concat();
    folder.leadload(&line).expect(1);
    let fixed = folder
        .read("leads.rejects.csv")
        .replace("07x", "0171 392 0002");
    folder.write("leads.rejects.csv", fixed);
    let line = [&["import", "leads.rejects.csv"][..], &CRM].concat();
    folder.leadload(&line).expect(0);
    let leads = service.leads();
    assert_eq!(leads.len(), 2);
    assert_eq!(leads[1].phone_number, "+491713920002");
    assert_eq!(leads[1].campaign_id, 102);
}

#[test]
fn rejects_of_a_run_that_sent_no_column_send_none_without_the_profile() {
    let service = service();
    let folder = with_profile(&service.base_url(), "rate = 'none'\nvar = []");
    folder.write("leads.csv", "Phone,City\n+447911000001,Leeds\n12,York\n");
    let line = [&["import", "leads.csv", "--region", "GB"][..], &CRM].concat();
    folder.leadload(&line).at(&service).expect(1);
    let fixed = folder
        .read("leads.rejects.csv")
        .replace("\n12,", "\n07911000002,");
    folder.write("leads.rejects.csv", fixed);
    folder
        .leadload(&["import", "leads.rejects.csv"])
        .at(&service)
        .expect(0);
    let leads = service.leads();
    assert_eq!(leads.len(), 2);
    assert!(leads.iter().all(|lead| lead.variables.is_empty()));
}

#[test]
fn duplicates_that_a_profile_allows_are_not_made_twice_unasked() {
    let service = scenario(STRICT);
    let folder = with_profile(
        &service.base_url(),
        "rate = 'none'\nallow_duplicates = true",
    );
    let run = |command: &str, more: &[&str]| {
        let line = [&[command, "leads.csv"][..], &CRM, more].concat();
        folder.leadload(&line)
    };
    run("import", &[]).expect(0);
    let refused = run("import", &[]).expect(2);
    refused.tells("`allow_duplicates`");
    run("check", &[]).expect(0);
    run("import", &["--again"]).expect(0);
    assert_eq!(service.leads().len(), 2);
}

#[test]
fn a_profile_says_too_little_about_rejects_of_a_run_that_is_not_known_unless_it_has_a_mapping() {
    let service = scenario(STRICT);
    let folder = with_profile(&service.base_url(), "rate = 'none'");
    folder.write("other.rejects.csv", OTHER_REJECTS);
    let line = [&["import", "other.rejects.csv"][..], &CRM].concat();
    folder.leadload(&line).expect(2).tells("run 77");
    let said = "--campaign 102 --region GB --suppress none";
    let refused = folder.leadload(&line).args(said).expect(2);
    refused.tells("`--var` or `--skip-column`");
    let folder = with_profile(&service.base_url(), "rate = 'none'\nvar = []");
    folder.write("other.rejects.csv", OTHER_REJECTS);
    folder.leadload(&line).args(said).expect(0).tells("run 77");
    assert_eq!(service.leads()[0].campaign_id, 102);
}

#[test]
fn show_lists_every_setting_and_its_source_but_not_the_token() {
    let folder = with_profile(
        "https://a.example.com/api/",
        "rate = ['5/s', '100/min']\nset = { source = 'fair' }",
    );
    let line = [&["config", "show", "--region", "DE"][..], &CRM].concat();
    let output = folder
        .leadload(&line)
        .env("LEADLOAD_LEDGER", "none")
        .expect(0);
    let config = config(&folder);
    let lines: Vec<String> = output
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let from_crm = "profile `crm`";
    for expected in [
        format!("file {config}"),
        "profile crm".into(),
        format!("base_url https://a.example.com {from_crm}"),
        format!("token set {from_crm}"),
        format!("rate 5/s, 100/min {from_crm}"),
        format!("set source=fair {from_crm}"),
        "ledger none LEADLOAD_LEDGER".into(),
        "region DE flag".into(),
        "timeout 60s default".into(),
        "max_outage 1h default".into(),
        "concurrency auto default".into(),
        "stop_after 50 default".into(),
        "max_attempts 8 default".into(),
        "on_uncertain resend default".into(),
    ] {
        assert!(lines.contains(&expected), "{expected}\n{}", output.stdout);
    }
    assert!(!output.stdout.contains("s3cret"));
    let json = folder
        .leadload(&[&line[..], &["--format", "json"]].concat())
        .expect(0);
    let shown = json.json();
    assert_eq!(shown["profile"], "crm");
    assert_eq!(shown["config"], config.as_str());
    let settings = shown["settings"].as_array().unwrap();
    let rate = settings
        .iter()
        .find(|setting| setting["name"] == "rate")
        .unwrap();
    assert_eq!(rate["values"], serde_json::json!(["5/s", "100/min"]));
    assert!(!json.stdout.contains("s3cret"));
}

#[test]
fn show_takes_the_command_line_of_an_import_as_it_is() {
    let folder = Folder::new();
    let line = "config show leads.csv --sandbox --campaign 101 --format json";
    let line: Vec<&str> = line.split(' ').collect();
    let output = folder.leadload(&line).expect(0);
    assert!(output.json()["config"].is_null());
    output.shows("50/s");
    folder
        .leadload(&["import", "--sandbox", "--campaign", "101"])
        .expect(2);
}

#[test]
fn no_output_of_any_command_has_the_token_of_a_profile() {
    let service = scenario(STRICT);
    let folder = with_profile(&service.base_url(), "rate = 'none'\nverbose = 2");
    let mut shown = String::new();
    for line in [
        &["config", "show"][..],
        &["config", "show", "--format", "json"],
        &["campaigns"],
        &["check", "leads.csv", "--save-mapping", "crm"],
        &["import", "leads.csv"],
        &["runs"],
    ] {
        let output = folder.leadload(&[line, &CRM].concat()).expect(0);
        shown += &(output.stdout + &output.stderr);
    }
    shown += &folder.read("config.toml");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn a_mapping_is_kept_as_a_list_of_what_is_sent() {
    let folder = Folder::with_leads("Phone,First Name,Notes\n07911 000001,Ada,x\n");
    folder.write(
        "config.toml",
        "# mine\n[profiles.crm]\nrate = '5/s' # slow\nskip_column = 'Old'\n",
    );
    let line = [
        "check",
        "leads.csv",
        "--config",
        "config.toml",
        "--skip-column",
        "Notes",
    ];
    let more = [
        "--region",
        "GB",
        "--set",
        "source=fair",
        "--save-mapping",
        "crm",
    ];
    let output = folder.leadload(&[&line[..], &more].concat()).expect(0);
    output.shows(&config(&folder));
    output.shows("--profile crm --campaign ID_OR_NAME");
    assert_eq!(
        folder.read("config.toml"),
        "# mine\n[profiles.crm]\nrate = '5/s' # slow\nregion = \"GB\"\nphone_column = [\"Phone\"]\nvar = [\"first_name=First Name\"]\nset = [\"source=fair\"]\ncolumns = [\"Phone\", \"First Name\", \"Notes\"]\n"
    );
}

#[test]
fn a_mapping_that_is_kept_again_starts_from_the_one_that_was_kept() {
    let folder = Folder::with_leads(
        "Phone,City,Notes,List,Land\n07911000001,Leeds,x,101,GB\n07911000002,York,,101,GB\n",
    );
    folder.write("no.csv", "Phone\n+447911000009\n");
    let line = ["check", "leads.csv", "--config", "config.toml"];
    let save = [&line[..], &["--save-mapping", "crm"]].concat();
    let first = [
        &["--phone-rule", "valid", "--countries", "GB,DE"][..],
        &["--suppress", "no.csv", "--delimiter", ","],
        &["--encoding", "utf-8", "--empty", "send"],
        &["--var-names", "as-is", "--set", "a=b"],
        &["--campaign-column", "List", "--region-column", "Land"],
        &["--skip-column", "Notes", "--phone-column", "Phone"],
    ]
    .concat();
    folder.leadload(&[&save[..], &first].concat()).expect(0);
    let kept = folder.read("config.toml");
    assert!(kept.contains("\nvar = [\"City=City\"]\n"), "{kept}");
    assert!(kept.contains("\nset = [\"a=b\"]\n"), "{kept}");
    folder.leadload(&save).expect(0);
    assert_eq!(folder.read("config.toml"), kept);
    // The same profile by its name; and the profile in use saves a mapping under another name.
    folder.leadload(&[&save[..], &CRM[2..]].concat()).expect(0);
    assert_eq!(folder.read("config.toml"), kept);
    let other = ["--profile", "crm", "--save-mapping", "other"];
    folder.leadload(&[&line[..], &other].concat()).expect(0);
    let both = folder.read("config.toml");
    let twice = kept.replace("[profiles.crm]", "\n[profiles.other]");
    assert_eq!(both, kept + &twice);
    // Flags come before what was saved.
    folder
        .leadload(&[&save[..], &["--set", "a=c", "--empty", "omit"]].concat())
        .expect(0);
    let kept = folder.read("config.toml");
    for line in ["set = [\"a=c\"]", "empty = \"omit\""] {
        assert!(kept.contains(&format!("\n{line}\n")), "{kept}");
    }
}

#[test]
fn what_all_profiles_share_is_shown_as_theirs() {
    let folder = Folder::new();
    folder.write(
        "config.toml",
        "region = 'FR'\n[profiles.crm]\nrate = '5/s'\n",
    );
    let show = [&["config", "show", "--format", "json"][..], &CRM].concat();
    let shown = folder.leadload(&show).expect(0).json();
    let from = |name: &str| {
        let mut settings = shown["settings"].as_array().unwrap().iter();
        let setting = settings.find(|setting| setting["name"] == name);
        setting.unwrap()["from"].clone()
    };
    assert!(from("region").as_str().unwrap().contains("all profiles"));
    assert_eq!(from("rate"), "profile `crm`");
}

#[test]
fn a_column_that_is_no_longer_sent_is_reported() {
    let folder = Folder::with_leads("Phone,City,Notes\n+447911000001,Leeds,x\n");
    let line = ["check", "leads.csv", "--config", "config.toml"];
    let save = [&line[..], &["--save-mapping", "crm", "--format", "json"]].concat();
    folder.leadload(&save).expect(0);
    let output = folder
        .leadload(&[&save[..], &["--var", "Notes"]].concat())
        .expect(0);
    let saved = &output.json()["saved_mapping"];
    assert_eq!(saved["sent_no_more"], json!(["City"]));
}

#[test]
fn what_a_trial_writes_is_not_where_the_profile_has_its_files() {
    let folder = Folder::with_leads("Phone,City\n+447911000001,Leeds\n");
    folder.write(
        "config.toml",
        "[profiles.crm]\nresults = 'out.csv'\nrejects = 'bad.csv'\nreport = 'r.html'\n\
         metrics_file = 'm.prom'\n",
    );
    let line = ["import", "leads.csv", "--sandbox", "--campaign", "101"];
    folder.leadload(&[&line[..], &CRM].concat()).expect(0);
    assert_eq!(
        folder.names(),
        ["config.toml", "leads.csv", "leads.sandbox.results.csv"]
    );
}

#[test]
fn a_missing_header_is_reported_without_the_contact_in_its_place() {
    let service = service();
    let folder = Folder::with_leads("Phone,Name,City\n+447911000001,Ada,Leeds\n");
    keep_mapping(&folder);
    folder.write("leads.csv", "+447911000001,Zebedee,Quixville\n");
    let line = [&["import", "leads.csv", "--campaign", "101"][..], &CRM].concat();
    let output = folder.leadload(&line).at(&service).expect(2);
    output.tells("`--no-header`");
    assert!(!output.stderr.contains("Zebedee"), "{}", output.stderr);
}

#[test]
fn only_a_profile_that_is_typed_comes_before_the_mapping_that_was_kept() {
    let folder = Folder::with_leads("Phone,City,Notes\n+447911000001,Leeds,x\n");
    folder.write("a.csv", "Phone\n+447911000008\n");
    folder.write("b.csv", "Phone\n+447911000009\n");
    folder.write(
        "config.toml",
        "[profiles.a]\ncampaign = 102\nsuppress = ['a.csv']\nformat = 'json'\n\
         [profiles.b]\nvar = ['city=City']\nsuppress = ['b.csv']\n",
    );
    let save = ["check", "leads.csv", "--save-mapping", "b"];
    let by_environment = |line: &[&str]| {
        folder
            .leadload(line)
            .env("LEADLOAD_CONFIG", "config.toml")
            .env("LEADLOAD_PROFILE", "a")
    };
    let output = by_environment(&save).expect(0);
    // The hint's command works in the same environment.
    output.shows("leadload import leads.csv --profile b --campaign ID_OR_NAME\n");
    let kept = folder.read("config.toml");
    let (_, b) = kept.split_once("[profiles.b]").unwrap();
    assert!(b.contains("var = [\"city=City\"]"), "{b}");
    assert!(b.contains("b.csv") && !b.contains("a.csv"), "{b}");
    let refused = [&save[..], &["--region-column", "Land"]].concat();
    let output = by_environment(&refused).expect(2);
    assert_eq!(output.stdout, "", "the form is that of `b`");
    // With `--profile` on the command line too, no do-not-call list is removed.
    let typed = [&save[..], &["--profile", "a"]].concat();
    let saved = by_environment(&typed).expect(0).json();
    assert_eq!(saved["saved_mapping"]["newly_sent"], json!(["Notes"]));
    let output = by_environment(&typed).args("--format text").expect(0);
    output.shows("--campaign ID_OR_NAME");
    let kept = folder.read("config.toml");
    let (_, b) = kept.split_once("[profiles.b]").unwrap();
    assert!(b.contains("b.csv") && b.contains("a.csv"), "{b}");
}

#[test]
fn a_profile_that_a_mapping_makes_reaches_the_service_of_the_one_in_use() {
    let service = scenario(STRICT);
    let folder = Folder::with_leads("Phone,City\n+447911000001,Leeds\n");
    folder.write("crm.token", TOKEN);
    folder.write(
        "config.toml",
        format!(
            "[profiles.default]\nbase_url = '{}'\ntoken_file = 'crm.token'\nrate = 'none'\n\
             results = 'one.csv'\nledger = 'own.db'\n",
            service.base_url()
        ),
    );
    let save = ["--config", "config.toml", "--save-mapping", "fair"];
    let output = folder
        .leadload(&[&["check", "leads.csv", "--concurrency", "2"][..], &save].concat())
        .expect(0);
    let next = format!(
        "import leads.csv --config {} --profile fair --campaign ID_OR_NAME --concurrency 2",
        config(&folder)
    );
    output.shows(&next);
    let kept = folder.read("config.toml");
    let (_, fair) = kept.split_once("[profiles.fair]\n").unwrap();
    assert!(!fair.contains("one.csv"), "{fair}");
    let line = ["import", "leads.csv", "--config", "config.toml"];
    folder
        .leadload(&[&line[..], &["--profile", "fair", "--campaign", "101"]].concat())
        .expect(0);
    assert_eq!(service.leads().len(), 1);
    assert!(folder.path("own.db").exists());
}

#[test]
fn by_a_kept_mapping_a_new_column_is_not_sent_and_a_missing_one_stops() {
    let service = service();
    let folder = Folder::with_leads("Phone,City,Notes\n+447911000001,Leeds,x\n");
    let line = [
        "check",
        "leads.csv",
        "--config",
        "config.toml",
        "--skip-column",
        "Notes",
    ];
    folder
        .leadload(&[&line[..], &["--save-mapping", "crm", "--format", "json"]].concat())
        .expect(0);
    // Without the column that was left out, and with a new one.
    folder.write("leads.csv", "Salary,CITY,Phone\n1,Leeds,+447911000001\n");
    let line = [
        &["import", "leads.csv", "--campaign", "101", "--rate", "none"][..],
        &CRM,
    ]
    .concat();
    let output = folder.leadload(&line).at(&service).expect(0);
    assert_eq!(service.leads()[0].variables.len(), 1);
    let told = output
        .stderr
        .lines()
        .filter(|line| line.contains("`Salary`"));
    let (warnings, layout): (Vec<&str>, Vec<&str>) = told.partition(|line| line.contains(" WARN "));
    assert_eq!((warnings.len(), layout.len()), (1, 1), "{}", output.stderr);

    folder.write("leads.csv", "Phone,Town\n+447911000002,Leeds\n");
    let output = folder.leadload(&line).at(&service).expect(2);
    output.tells("`--var City`");
    output.tells(&config(&folder));
    assert_eq!(service.leads().len(), 1);
    // The hint names the command that saves the mapping again: it drops
    // columns that are missing, and shows new columns before they are sent.
    let hint = format!(
        "`leadload check FILE --config {} --save-mapping crm`",
        config(&folder)
    );
    output.tells(&hint);
    let again = [
        "check",
        "leads.csv",
        "--config",
        "config.toml",
        "--save-mapping",
        "crm",
    ];
    let output = folder
        .leadload(&[&again[..], &["--format", "json"]].concat())
        .expect(0);
    let saved = &output.json()["saved_mapping"];
    assert_eq!(saved["profile"], "crm");
    assert_eq!(saved["lost"], json!(["City"]));
    assert_eq!(saved["left_out"], json!(["Town"]));
    let kept = folder.read("config.toml");
    assert!(kept.contains("\nvar = []\n"), "{kept}");
    let more = ["--var", "city=Town", "--format", "json"];
    let output = folder.leadload(&[&again[..], &more].concat()).expect(0);
    assert_eq!(
        output.json()["saved_mapping"]["newly_sent"],
        json!(["Town"])
    );
    assert!(folder.read("config.toml").contains("\"city=Town\""));
    folder.leadload(&line).at(&service).expect(0);
    assert_eq!(service.leads().len(), 2);
}

#[test]
fn by_a_kept_mapping_a_new_column_without_a_header_is_mentioned_by_its_number() {
    let service = service();
    let folder = Folder::with_leads("Phone,City\n+447911000001,Leeds\n");
    keep_mapping(&folder);
    // Delimiters after the last cell of every line do not make a column.
    folder.write(
        "leads.csv",
        "Phone,,City,Salary,,,\n+447911000001,x,Leeds,1,y,z,\n+447911000002,x,Leeds,1,y,z,\n",
    );
    let all = ["import", "leads.csv", "--campaign", "101", "--rate", "none"];
    let output = folder.leadload(&[&all[..], &CRM].concat()).at(&service);
    let stderr = output.expect(0).stderr;
    assert!(stderr.contains(" 2, 5, 6, 7 "), "{stderr}");
    assert_eq!(service.leads()[0].variables.len(), 1);
    let check = [&["check", "leads.csv", "--format", "json"][..], &CRM].concat();
    let found = folder.leadload(&check).expect(0).json();
    assert_eq!(
        found["inputs"][0]["new_columns"],
        serde_json::json!(["2", "Salary", "5", "6", "7"])
    );
    folder.write("leads.csv", "Phone,City,,\n+447911000003,Leeds,,\n");
    let output = folder.leadload(&[&all[..], &CRM].concat()).at(&service);
    let stderr = output.expect(0).stderr;
    assert!(!stderr.contains(" WARN "), "{stderr}");
}

#[test]
fn a_profile_that_a_mapping_makes_may_be_named_before_it_is_there() {
    let folder = Folder::with_leads("Phone,City\n07911000001,Leeds\n");
    folder.write("config.toml", "region = 'GB'\n");
    let line = [&["check", "leads.csv"][..], &CRM].concat();
    folder.leadload(&line).expect(2);
    let save = [&line[..], &["--save-mapping", "other"]].concat();
    folder.leadload(&save).expect(2);
    let save = [&line[..], &["--save-mapping", "crm"]].concat();
    // The number is valid because of the settings that all profiles share.
    folder.leadload(&save).expect(0);
    assert!(folder.read("config.toml").contains("[profiles.crm]"));
    folder.leadload(&line).expect(0);
}

#[test]
fn a_place_that_cannot_be_written_is_reported_before_anything_is_asked_or_read() {
    let folder = Folder::with_leads("Phone,City\n12,Leeds\n");
    folder.write("inline.toml", "profiles = { crm = 3 }\n");
    for config in ["leads.csv/config.toml", "inline.toml"] {
        // If the list were read, its invalid row would be reported.
        let check = [
            "check",
            "leads.csv",
            "--save-mapping",
            "crm",
            "--config",
            config,
        ];
        let init = [
            "config",
            "init",
            "--base-url",
            "http://127.0.0.1:1",
            "--config",
            config,
        ];
        for line in [&check, &init] {
            let output = folder.leadload(line).env("LEADLOAD_TOKEN", TOKEN).expect(2);
            output.tells(config.split('/').next().unwrap());
            assert_eq!(output.stdout, "");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn settings_go_into_the_users_own_file() {
    let folder = Folder::with_leads("Phone,City\n+447911000001,Leeds\n");
    folder
        .leadload(&["check", "leads.csv", "--save-mapping", "crm"])
        .expect(0);
    assert!(folder.config().exists());
}

#[test]
fn a_mapping_is_kept_by_check_alone_and_of_one_list() {
    let folder = Folder::with_leads("Phone,City\n+447911000001,Leeds\n");
    folder.write("more.csv", "Phone,Town\n+447911000001,Leeds\n");
    let save = ["--config", "config.toml", "--save-mapping", "crm"];
    for (line, named) in [
        (
            &["import", "leads.csv", "--sandbox"][..],
            "`leadload check`",
        ),
        (&["check", "leads.csv", "more.csv"], "`more.csv`"),
    ] {
        let output = folder.leadload(&[line, &save].concat()).expect(2);
        output.tells(named);
    }
    let output = folder
        .leadload(&["check", "leads.csv", "--save-mapping", "a/b"])
        .expect(2);
    output.tells("`a/b`");
    assert_eq!(folder.names(), ["leads.csv", "more.csv"]);
    folder
        .leadload(&[&["import", "--dry-run", "leads.csv"][..], &save].concat())
        .expect(0);
    assert!(folder.path("config.toml").exists());
}

#[test]
fn a_profile_is_set_up_without_a_terminal_by_flags() {
    let service = scenario(STRICT);
    let folder = Folder::new();
    write_private(&folder, "token", TOKEN);
    let url = service.base_url();
    let given = [
        "--base-url",
        &url,
        "--token-file",
        "token",
        "--config",
        "my/config.toml",
    ];
    let line = [&["config", "init", "--profile", "crm"][..], &given].concat();
    let output = folder.leadload(&line).expect(0);
    output.tells(" 5 campaigns");
    output.shows("\n  leadload campaigns --config ");
    assert_eq!(
        folder.read("my/config.toml"),
        format!("[profiles.crm]\nbase_url = \"{url}\"\ntoken_file = \"crm.token\"\n")
    );
    assert_eq!(folder.read("my/crm.token"), format!("{TOKEN}\n"));
    #[cfg(unix)]
    {
        assert_eq!(mode(&folder.path("my")), 0o700);
        assert_eq!(mode(&folder.path("my/config.toml")), 0o600);
        assert_eq!(mode(&folder.path("my/crm.token")), 0o600);
    }
    folder
        .leadload(&[
            "campaigns",
            "--config",
            "my/config.toml",
            "--profile",
            "crm",
        ])
        .expect(0);
    // The same command again would replace the profile, and there is no terminal to ask.
    let output = folder.leadload(&line).expect(2);
    output.tells("`crm`");
}

#[test]
fn a_profile_is_not_set_up_with_a_refused_token_or_without_a_terminal() {
    let service = scenario(STRICT);
    let folder = Folder::new();
    let url = service.base_url();
    let init = ["config", "init", "--base-url", &url];
    let output = folder
        .leadload(&[&init[..], &["--config", "config.toml"]].concat())
        .env("LEADLOAD_TOKEN", "wrong-s3cret")
        .expect(3);
    assert!(!output.stderr.contains("s3cret"));
    folder.leadload(&init).expect(2).tells("--token-file");
    folder.leadload(&["config", "init", "--sandbox"]).expect(2);
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_profile_is_tried_out_as_its_settings_say() {
    let folder = Folder::new();
    folder.write(
        "config.toml",
        "ca_file = 'nowhere.pem'\n[profiles.plain]\ninsecure_http = true\n",
    );
    let init = |name: &str| {
        let line = [
            "config",
            "init",
            "--config",
            "config.toml",
            "--profile",
            name,
        ];
        let line = [&line[..], &["--base-url", "http://192.0.2.1"]].concat();
        folder
            .leadload(&line)
            .env("LEADLOAD_TOKEN", TOKEN)
            .expect(2)
    };
    let other = init("other").stderr;
    assert!(other.contains("http://192.0.2.1"), "{other}");
    assert!(!other.contains("nowhere.pem"), "{other}");
    let plain = init("plain").stderr;
    assert!(plain.contains("nowhere.pem"), "{plain}");
}

#[test]
fn a_quiet_setup_says_only_what_was_written() {
    let service = scenario(STRICT);
    let folder = Folder::new();
    let url = service.base_url();
    let line = [
        "config",
        "init",
        "-q",
        "--base-url",
        &url,
        "--config",
        "a.toml",
    ];
    let output = folder
        .leadload(&line)
        .env("LEADLOAD_TOKEN", TOKEN)
        .expect(0);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.contains("a.toml"));
}

#[cfg(unix)]
mod at_a_terminal {
    use super::*;
    use crate::terminal::Terminal;

    #[test]
    fn a_profile_is_set_up_by_answers_and_the_token_is_not_shown() {
        let service = scenario(STRICT);
        let folder = Folder::new();
        folder.write("config.toml", "# mine\n");
        let init = folder.leadload(&[
            "config",
            "init",
            "--config",
            "config.toml",
            "--profile",
            "crm",
        ]);
        let mut terminal = Terminal::start(init, 100, 40);
        terminal.wait_for("Address");
        terminal.type_in("example\r");
        // Keys that are typed before the question is shown do not count as its answer.
        let wait_for_second = |terminal: &Terminal, question: &str| {
            terminal.wait_until(question, |shown| shown.matches(question).count() == 2);
        };
        wait_for_second(&terminal, "Address");
        terminal.type_in(&format!("{}/api\r", service.base_url()));
        terminal.wait_for("Access token");
        terminal.type_in("wrong-s3cret\r");
        wait_for_second(&terminal, "Access token");
        terminal.type_in(&format!("{TOKEN}\r"));
        terminal.wait_for("Next:");
        let written = terminal.written();
        assert!(!written.contains("s3cret"), "{written}");
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains(" 5 campaigns"), "{shown}");
        assert_eq!(
            folder.read("config.toml"),
            format!(
                "# mine\n\n[profiles.crm]\nbase_url = \"{}\"\ntoken_file = \"crm.token\"\n",
                service.base_url()
            )
        );
        assert_eq!(folder.read("crm.token"), format!("{TOKEN}\n"));
    }

    #[test]
    fn what_is_there_is_replaced_only_on_a_yes() {
        let service = scenario(STRICT);
        let folder = with_profile("https://old.example.com", "rate = '5/s'");
        let url = service.base_url();
        let start = || {
            let line = [&["config", "init", "--base-url", &url][..], &CRM].concat();
            let init = folder.leadload(&line).env("LEADLOAD_TOKEN", TOKEN);
            let terminal = Terminal::start(init, 100, 40);
            terminal.wait_for("https://old.example.com");
            terminal
        };
        let mut terminal = start();
        terminal.answer("[y/N]", "\r");
        let (code, shown) = terminal.end();
        assert_eq!(code, 2, "{shown}");
        assert!(folder.read("config.toml").contains("old.example.com"));
        let mut terminal = start();
        terminal.answer("[y/N]", "y\r");
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        let toml = folder.read("config.toml");
        assert!(
            toml.contains(&url) && toml.contains("rate = '5/s'"),
            "{toml}"
        );
    }

    #[test]
    fn nothing_is_asked_where_standard_error_is_json() {
        let folder = Folder::new();
        for (line, to_use) in [
            (&["config", "init"][..], "--token-file"),
            (&["runs", "forget", "--number", "+447911000001"], "--yes"),
        ] {
            let line = [line, &["--log-format", "json"]].concat();
            let (code, shown) = Terminal::start(folder.leadload(&line), 200, 20).end();
            assert_eq!(code, 2, "{shown}");
            assert!(shown.contains(to_use), "{shown}");
        }
    }

    #[test]
    fn a_signal_at_the_hidden_question_leaves_a_terminal_that_shows_what_is_typed() {
        let folder = Folder::new();
        let mut run = folder.through_shell(
            "trap : INT; \"$0\" \"$@\"; echo ended with $?; read line; echo got $line",
            &["config", "init", "--profile", "crm"],
        );
        run = run.env("LEADLOAD_BASE_URL", "http://127.0.0.1:1");
        let mut terminal = Terminal::start(run, 100, 40);
        terminal.wait_for("Access token");
        terminal.type_in("\u{3}");
        terminal.wait_for("ended with 4");
        terminal.type_in("seen\r");
        let (_, shown) = terminal.end();
        assert_eq!(shown.matches("seen").count(), 2, "{shown}");
        assert!(!folder.config().exists());
    }
}

#[test]
fn the_address_of_a_ledger_is_shown_whole_but_for_its_password() {
    let folder = Folder::new();
    let address = "postgresql://ada:s3cr%65t@db.example/leads?sslmode=require&lease=5s";
    let shown = "postgresql://ada@db.example:5432/leads?sslmode=require&lease=5s";
    for format in ["text", "json"] {
        let show = folder.leadload(&["config", "show", "--format", format]);
        let output = show.env("LEADLOAD_LEDGER", address).expect(0);
        output.shows(shown);
        assert!(!output.stdout.contains("s3cr"), "{}", output.stdout);
    }
}
