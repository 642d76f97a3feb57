//! The settings file, and profiles.

use super::Page;
use crate::util::Folder;

/// Settings that an import cannot use.
const WRONG: &[&str] = &[
    "regiom = 'GB'",
    "colour = 'blue'",
    "token = '17|s3cretToken'",
    "'17|s3cretToken' = 1",
    "'+447911000001' = 1",
    "again = true",
    "columns = ['Phone']",
    "region = 'GB'\nregion = 'DE'",
    "region = GB",
    "[profiles.default]\nquiet = true\nverbose = 1",
    "[profiles.default]\n\nrejoin = 'GB'",
    // Kinds of values.
    "ledger = 5",
    "token_file = -1",
    "token_file = '17|s3cretToken'",
    "results = true",
    "base_url = ['https://a.example.com', 'https://b.example.com']",
    "campaign = 101.5",
    "phone_column = [true]",
    "limit = '7'",
    "limit = -1",
    "stop_after = 2.5",
    "concurrency = false",
    "timeout = 60",
    "max_duration = 12:00:00",
    "rate = 20",
    "rate = '10/fortnight'",
    "rate = ['auto', '5/s']",
    "limit = 12345678901234567890123",
    "base_url = 'example'",
    "format = 'yaml'",
    "region = 'Germny'",
    "region = ' '",
    "region = '+447911000001'",
    "countries = ['GB', 44]",
    "delimiter = 5",
    "phone_rule = 1",
    "assume_plus = 'yes'",
    "verbose = 'much'",
    "verbose = 10",
    "set = 'fair'",
    "set = { price = 1.50 }",
    "set = { 'a=b' = 'c' }",
    "set = { a = { b = 'c' } }",
    "set = 2026-01-01",
    "[region]\nname = 'GB'",
    // Profiles.
    "profiles = 3",
    "[profiles]\nregion = 'GB'",
    "[crm]\nregion = 'GB'",
    "[Profiles.crm]\nregion = 'GB'",
    "[PROFILE.crm]\nregion = 'GB'",
    "['17|s3cretToken']\nregion = 'GB'",
    "[profile.crm]\nregion = 'GB'",
];

#[test]
fn of_files_of_settings() {
    let folder = Folder::new();
    let mut page = Page::default();
    for toml in WRONG {
        folder.write("config.toml", toml);
        let run = folder.leadload(&["runs", "--config", "config.toml"]);
        page.add_of_file(&folder, toml, run);
    }
    page.is("settings");
}

#[test]
fn of_places_of_settings() {
    let folder = Folder::with_leads(super::ONE);
    std::fs::create_dir(folder.path("lists")).unwrap();
    folder.write("bytes.toml", b"region = '\xFF'");
    folder.write("config.toml", "[profiles.'17|s3cretToken']\n");
    folder.write("two.toml", "[profiles.crm]\n[profiles.web]\n");
    let mut page = Page::default();
    for args in [
        "--config nowhere.toml",
        "--config lists",
        "--config bytes.toml",
        "--profile crm",
        "--profile +447911000001",
        "--profile 17|s3cretToken",
        "--config config.toml --profile 17",
        "--config two.toml --profile crn",
        "--config two.toml --profile 17|s3cretToken",
    ] {
        let args: Vec<&str> = ["runs"].into_iter().chain(args.split(' ')).collect();
        page.add(&folder, folder.leadload(&args));
    }
    for args in [
        "config init --sandbox",
        "config init",
        "check leads.csv -q --save-mapping 17|s3cretToken",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let run = folder.leadload(&args);
        page.add(&folder, run.env("LEADLOAD_TOKEN", "t0ken"));
    }
    folder.write("inline.toml", "profiles = { crm = 3 }\n");
    folder.write("more.csv", "phone,town\n+447911000001,Leeds\n");
    for args in [
        "check leads.csv -q --save-mapping crm --config leads.csv/config.toml",
        "check leads.csv -q --save-mapping crm --config inline.toml",
        "check leads.csv more.csv -q --save-mapping crm",
        "import leads.csv -q --sandbox --save-mapping crm",
        "config init --profile crm --base-url http://127.0.0.1:1 --config two.toml",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let run = folder.leadload(&args);
        page.add(&folder, run.env("LEADLOAD_TOKEN", "t0ken"));
    }
    let service = crate::util::service();
    let init = ["config", "init", "--base-url", &service.base_url()];
    let run = folder.leadload(&init).env("LEADLOAD_TOKEN", "wrong");
    page.add(&folder, run);
    let url = "http://127.0.0.1:1";
    for profile in ["a/b", "+447911000001", "CRM"] {
        let args = ["config", "init", "--profile", profile, "--base-url", url];
        let run = folder.leadload(&args).env("LEADLOAD_TOKEN", "t0ken");
        page.add(&folder, run.env("LEADLOAD_CONFIG", "two.toml"));
    }
    page.is("settings-places");
}
