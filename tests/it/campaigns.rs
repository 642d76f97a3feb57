//! `leadload campaigns`.

use leadload::sandbox::Sandbox;
use serde_json::json;

use crate::util::{Folder, scenario, service};

/// Two campaigns, one with a number for its id and one with a text.
const TWO: [&str; 2] = [
    r#"{"id":7,"name":"Spring, \"promo\"","status":"paused","created_at":"2026-03-02 09:00:00","updated_at":"2026-03-02T09:00:00Z"}"#,
    r#"{"id":"8","name":"Autumn","status":"brand-new status","created_at":"x","updated_at":"y"}"#,
];

fn csv(folder: &Folder, service: &Sandbox) -> String {
    let listed = folder.leadload(&["campaigns", "--format", "csv"]);
    listed.at(service).expect(0).stdout
}

#[test]
fn every_list_shape_gives_the_same_campaigns_in_every_form() {
    let [spring, autumn] = TWO;
    for pages in [
        format!("'{{\"campaigns\":[{spring},{autumn}]}}'"),
        format!("'[{spring},{autumn}]'"),
        format!("'{{\"data\":[{spring},{autumn}]}}'"),
        format!(
            "'{{\"data\":[{spring}],\"next_page_url\":\"?page=2\"}}', '{{\"data\":[{autumn}]}}'"
        ),
    ] {
        let service = scenario(&format!("campaign_pages = [{pages}]"));
        let folder = Folder::new();
        assert_eq!(
            csv(&folder, &service),
            "id,name,status,created_at,updated_at\n\
                 7,\"Spring, \"\"promo\"\"\",paused,2026-03-02 09:00:00,2026-03-02T09:00:00Z\n\
                 8,Autumn,brand-new status,x,y\n",
            "{pages}"
        );
        let json = folder
            .leadload(&["campaigns", "--format", "json"])
            .at(&service)
            .expect(0);
        assert_eq!(
            json.json(),
            json!({"campaigns": [
                {"id": "7", "name": "Spring, \"promo\"", "status": "paused",
                 "created_at": "2026-03-02 09:00:00", "updated_at": "2026-03-02T09:00:00Z"},
                {"id": "8", "name": "Autumn", "status": "brand-new status",
                 "created_at": "x", "updated_at": "y"},
            ]})
        );
        let text = folder.leadload(&["campaigns"]).at(&service).expect(0);
        let first: Vec<&str> = text.stdout.lines().map(|l| &l[..2]).collect();
        assert_eq!(first, ["id", "7 ", "8 "]);
    }
}

#[test]
fn a_name_that_a_spreadsheet_would_run_is_harmless_in_csv() {
    let service = scenario(
        r#"
[[campaign]]
id = 7
name = "=1+1"
status = "a;=1+1;b"
created_at = "\u001b[2Jx"
updated_at = "a\n@SUM(A1)"
"#,
    );
    assert_eq!(
        csv(&Folder::new(), &service),
        "id,name,status,created_at,updated_at\n\
         7,'=1+1,a;'=1+1;b,\u{FFFD}[2Jx,a\u{FFFD}@SUM(A1)\n"
    );
}

#[test]
fn a_list_that_echoes_the_token_is_masked() {
    let token = "17|s3cretTokenOfTheCustomer";
    let service = scenario(&format!(
        "token = '{token}'\n[[campaign]]\nid = 7\nname = 'Owned by {token}'\nstatus = '{token}'"
    ));
    let folder = Folder::with_leads("phone\n+447911000001\n");
    for format in ["text", "json", "csv"] {
        let output = folder
            .leadload(&["campaigns", "--format", format])
            .at(&service)
            .expect(0);
        output.shows("Owned by [token]");
        assert!(!output.stdout.contains("s3cret"));
    }
    let output = folder
        .import(&service, &["leads.csv", "--campaign", "Owned"])
        .expect(2);
    assert!(!output.stderr.contains("s3cret"), "{}", output.stderr);
}

#[test]
fn a_refused_token_is_the_services_doing() {
    let folder = Folder::new();
    let output = folder
        .leadload(&["campaigns"])
        .at(&service())
        .env("LEADLOAD_TOKEN", "wrong")
        .expect(3);
    output.tells("`leadload config init`");
    assert_eq!(output.stdout, "");
}

#[test]
fn the_sandbox_command_serves_what_import_and_campaigns_ask_for() {
    use std::io::{BufRead, BufReader};
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let mut sandbox = folder
        .leadload(&["sandbox", "--listen", "127.0.0.1:0"])
        .start();
    let mut line = String::new();
    BufReader::new(sandbox.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line
        .split_whitespace()
        .find(|word| word.starts_with("http"))
        .unwrap();
    let at = |args: &[&str]| {
        folder
            .leadload(args)
            .env("LEADLOAD_BASE_URL", url)
            .env("LEADLOAD_TOKEN", "any")
    };
    at(&["campaigns"]).expect(0);
    at(&["import", "leads.csv", "--campaign", "Spring promo"]).expect(0);
    at(&["import", "leads.csv", "--campaign", "101"]).expect(0);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["already_imported"]
    );
    sandbox.kill().unwrap();
    sandbox.wait().unwrap();
}
