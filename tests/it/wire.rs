//! The exact bytes of requests.

use leadload::sandbox::{Sandbox, SandboxConfig};

use crate::util::{Folder, scenario, service_with};

fn recording() -> Sandbox {
    service_with(SandboxConfig {
        keep_bodies: true,
        ..SandboxConfig::default()
    })
}

fn bodies(service: &Sandbox) -> Vec<String> {
    service
        .requests()
        .iter()
        .map(|request| String::from_utf8(request.body.to_vec()).unwrap())
        .collect()
}

#[test]
fn a_body_has_an_integer_campaign_an_array_of_one_object_and_the_misspelled_flag() {
    let folder = Folder::with_leads(
        "Customer Name,Phone,City,Notes\nAda \"A\", +447911123456 ,Leeds, \nBob,+447911123457,,\n",
    );
    let service = recording();
    folder
        .import_leads(&service, &["--concurrency", "1"])
        .expect(0);
    assert_eq!(
        bodies(&service),
        [
            r#"{"phone_number":"+447911123456","campaign_id":101,"variables":[{"customer_name":"Ada \"A\"","city":"Leeds"}],"allow_dupplicate":false}"#,
            r#"{"phone_number":"+447911123457","campaign_id":101,"variables":[{"customer_name":"Bob"}],"allow_dupplicate":false}"#,
        ]
    );
}

#[test]
fn variables_are_left_out_where_a_row_has_none() {
    let folder = Folder::with_leads("phone,name\n+447911123456,\n");
    let service = recording();
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(
        bodies(&service),
        [r#"{"phone_number":"+447911123456","campaign_id":101,"allow_dupplicate":false}"#]
    );
}

#[test]
fn the_mapping_flags_decide_what_is_sent() {
    let folder = Folder::with_leads("phone,First Name,City,Notes\n+447911123456,Ada,  ,secret\n");
    let service = recording();
    folder
        .import_leads(
            &service,
            &[
                "--skip-column",
                "NOTES",
                "--set",
                "source=fair=2026",
                "--var-names",
                "as-is",
                "--empty",
                "send",
            ],
        )
        .expect(0);
    assert_eq!(
        bodies(&service),
        [
            r#"{"phone_number":"+447911123456","campaign_id":101,"variables":[{"First Name":"Ada","City":"","source":"fair=2026"}],"allow_dupplicate":false}"#
        ]
    );
}

#[test]
fn with_var_only_the_named_columns_are_sent() {
    let folder = Folder::with_leads("phone,First Name,City\n+447911123456,Ada,Leeds\n");
    let service = recording();
    folder
        .import_leads(&service, &["--var", "who=2", "--var", "phone"])
        .expect(0);
    assert_eq!(
        bodies(&service),
        [
            r#"{"phone_number":"+447911123456","campaign_id":101,"variables":[{"who":"Ada","phone":"+447911123456"}],"allow_dupplicate":false}"#
        ]
    );
}

#[test]
fn variables_can_be_an_object_and_duplicates_can_be_allowed() {
    let folder = Folder::with_leads("phone,name\n+447911123456,Ada\n");
    let service = scenario("keep_bodies = true\nvariables_shape = 'object'");
    folder
        .import_leads(
            &service,
            &["--variables-shape", "object", "--allow-duplicates"],
        )
        .expect(0);
    assert_eq!(
        bodies(&service),
        [
            r#"{"phone_number":"+447911123456","campaign_id":101,"variables":{"name":"Ada"},"allow_dupplicate":true}"#
        ]
    );
}

#[test]
fn the_headers_say_who_asks_and_what_is_sent_and_accepted() {
    let folder = Folder::with_leads("phone\n+447911123456\n");
    let service = recording();
    folder.import_leads(&service, &[]).expect(0);
    let requests = service.requests();
    let header = |name: &str| {
        let mut values = requests[0].headers.get_all(name).iter();
        let value = values.next().map(|value| value.to_str().unwrap());
        assert!(values.next().is_none(), "{name} stands twice");
        value
    };
    assert_eq!(header("authorization"), Some("Bearer sandbox-token"));
    assert_eq!(header("accept"), Some("application/json"));
    assert_eq!(header("content-type"), Some("application/json"));
    let agent = format!("leadload/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(header("user-agent"), Some(agent.as_str()));
}

#[test]
fn the_base_url_may_end_in_a_slash_or_in_api() {
    for ending in ["", "/", "/api", "/api/"] {
        let folder = Folder::with_leads("phone\n+447911123456\n");
        let service = recording();
        folder
            .import_leads(&service, &[])
            .env("LEADLOAD_BASE_URL", &(service.base_url() + ending))
            .expect(0);
        assert_eq!(service.stats().created, 1, "{ending}");
    }
}
