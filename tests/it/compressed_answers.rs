//! Answers that are compressed although the client did not ask for it.

use crate::relay::always_with;
use crate::util::{Folder, contacts, number, scenario};

#[test]
fn compressed_answers_are_understood_like_plain_ones() {
    for pack in ["gzip", "deflate", "raw_deflate"] {
        let folder = Folder::with_leads(&contacts(3));
        let rule = format!(
            "pack = '{pack}'\n[[rule]]\nphone_number = '{}'\n\
             reply = {{ status = 422, body = '{{\"message\":\"No such number.\"}}' }}\n",
            number(2)
        );
        let service = scenario(&rule);
        let listed = folder.leadload(&["campaigns"]).at(&service).expect(0);
        listed.shows("Spring promo");
        let args = ["--ledger", "none", "--campaign", "Spring promo"];
        for status in ["created", "duplicate"] {
            folder
                .import(&service, &[&["leads.csv"], &args[..]].concat())
                .expect(1);
            assert_eq!(
                folder.column("leads.results.csv", "status"),
                [status, status, "rejected"],
                "{pack}"
            );
            let error = folder.column("leads.results.csv", "error");
            assert_eq!(error[2], "HTTP 422: No such number.", "{pack}");
        }
        let ids = folder.leadload(&["campaigns"]).at(&service);
        ids.env("LEADLOAD_TOKEN", "wrong")
            .expect(3)
            .tells("Unauthenticated.");
    }
}

#[test]
fn what_cannot_be_unpacked_is_an_answer_that_could_not_be_read() {
    for (encoding, said) in [("br", "`Content-Encoding`"), ("gzip", "damaged")] {
        let headers = format!("headers = {{ Content-Encoding = '{encoding}' }}");
        let reply = |row, reply: &str| {
            format!(
                "[[rule]]\nphone_number = '{}'\nreply = {{ {headers}, {reply} }}\n",
                number(row)
            )
        };
        let lost = reply(1, "store = true, body = '{\"data\":{\"id\":\"{id}\"}}'");
        let refused = reply(2, "status = 422, body = '{\"message\":\"no\"}'");
        let service = scenario(&(lost + &refused));
        let folder = Folder::with_leads(&contacts(4));
        let args = ["--max-attempts", "1", "--concurrency", "1"];
        folder.import_leads(&service, &args).expect(1);
        let results = folder.records("leads.results.csv");
        let told = results
            .iter()
            .map(|row| (&*row["status"], &*row["error_code"]));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                ("created", ""),
                ("uncertain", "unreadable_answer"),
                ("rejected", "http_422"),
                ("created", ""),
            ]
        );
        for row in &results[1..3] {
            assert!(row["error"].contains(said), "{row:?}");
        }
        let header = format!("Content-Encoding: {encoding}\r\n");
        let listed = |status| {
            let address = always_with(&header, status, r#"{"campaigns":[]}"#);
            let campaigns = folder.leadload(&["campaigns"]).at(&service);
            campaigns.env("LEADLOAD_BASE_URL", &address).expect(3)
        };
        listed(200).tells(said);
        listed(401).tells("HTTP 401");
    }
}
