//! Campaigns that do not exist, and campaign lists that cannot be fetched.

use super::{ONE, Page};
use crate::relay::always;
use crate::util::{Folder, service};

#[test]
fn of_campaigns() {
    let folder = Folder::with_leads(ONE);
    folder.write(
        "lists.csv",
        "phone,list\n+447911000001,Sprung promo\n+447911000002,Zzz\n",
    );
    let service = service();
    let import = |args: &str| {
        let args = format!("import --quiet {args}");
        let args: Vec<&str> = args.split(' ').collect();
        folder.leadload(&args).at(&service)
    };
    let mut page = Page::default();
    for args in [
        "leads.csv",
        "leads.csv --campaign Sprung",
        "leads.csv --campaign spring",
        "leads.csv --campaign Newsletter",
        "leads.csv --campaign 99999999999999999999",
        "lists.csv --campaign-column list",
    ] {
        page.add(&folder, import(args));
    }
    assert_eq!(service.stats().lead_requests, 0);
    page.is("campaigns");
}

#[test]
fn of_lists_of_campaigns() {
    let folder = Folder::with_leads(ONE);
    let to_a_name = &["import", "leads.csv", "--campaign", "Spring promo"][..];
    let mut page = Page::default();
    for (status, body, args) in [
        (
            200,
            r#"{"campaigns":[{"id":"9f1c-22","name":"Spring promo"}]}"#,
            to_a_name,
        ),
        (200, r#"{"campaigns":[]}"#, to_a_name),
        (
            200,
            r#"{"campaigns":[],"links":{"next":"https://other.example/"}}"#,
            to_a_name,
        ),
        (200, "<html>", &["campaigns"]),
        (200, r#"{"items":[]}"#, &["campaigns"]),
        (401, r#"{"error":"Unauthenticated"}"#, &["campaigns"]),
        (402, r#"{"error":"No credit"}"#, &["campaigns"]),
        (403, r#"{"error":"Forbidden"}"#, &["campaigns"]),
        (404, "not here", &["campaigns"]),
        (302, "", &["campaigns"]),
        (400, r#"{"message":"no such version"}"#, &["campaigns"]),
    ] {
        let run = folder
            .leadload(args)
            .env("LEADLOAD_BASE_URL", &always(status, body))
            .env("LEADLOAD_TOKEN", "t0ken");
        page.add(&folder, run);
    }
    page.is("campaign-lists");
}
