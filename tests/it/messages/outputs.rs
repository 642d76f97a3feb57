//! Files that cannot be written.

use super::{Page, import};
use crate::util::{Folder, service};

#[test]
fn of_outputs() {
    let folder = Folder::with_leads(super::ONE);
    folder.write("more.csv", "phone\n+447911000002\n");
    folder.write("leads.rejects.csv", "phone\n+447911000003\n");
    folder.write("l.csv", "");
    std::fs::create_dir(folder.path("lists")).unwrap();
    let service = service();
    let mut page = Page::default();
    for args in [
        "--results leads.csv",
        "--results x.csv --rejects ./x.csv",
        "--results lists",
        "--results nowhere/x.csv",
        "--results leads.csv/x.csv",
        "--results x.xlsx",
        "--report x.pdf",
        "--report lists",
        "--metrics-file leads.csv",
        "--metrics-file lists",
        "--metrics-file x.csv --results x.csv",
        "--ledger l.csv --results l.csv",
        "more.csv --rejects x.csv",
        "leads.rejects.csv",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        page.add(&folder, import(&folder, &service, &args));
    }
    assert_eq!(service.stats().lead_requests, 0);
    page.is("outputs");
}

/// Nobody can create a file in these folders, not even the superuser.
#[test]
#[cfg(target_os = "linux")]
fn of_folders_that_take_no_file() {
    let folder = Folder::with_leads(super::ONE);
    let service = service();
    let mut page = Page::default();
    for args in [
        "--results /proc/x.csv",
        "--results /sys/x.csv",
        "--report /proc/x.html",
        "--report /sys/x.html",
        "--metrics-file /proc/x.prom",
        "--metrics-file /sys/x.prom",
        "--metrics-file nowhere/x.prom",
        "--ledger /proc/x",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        page.add(&folder, import(&folder, &service, &args));
    }
    assert_eq!(service.stats().lead_requests, 0);
    for args in [
        "man --folder /proc/x",
        "man --folder /proc/x/y",
        "man --folder /sys/x",
        "man --folder leads.csv/x",
        "check leads.csv -q --save-mapping crm --config /proc/x/config.toml",
        "check leads.csv -q --save-mapping crm --config /sys/config.toml",
        "config init --config /proc/config.toml --base-url http://127.0.0.1:1",
        "config init --config /sys/x/config.toml --base-url http://127.0.0.1:1",
        "config init --config leads.csv/x/config.toml --base-url http://127.0.0.1:1",
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let run = folder.leadload(&args).env("LEADLOAD_TOKEN", "t0ken");
        page.add(&folder, run);
    }
    page.is("folders");
}
