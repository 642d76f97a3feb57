//! What is read from bodies, in all the shapes that services use.

use super::*;

fn lead_id(body: &str) -> Option<String> {
    Body::read(body).lead_id()
}

#[test]
fn fields_without_meaning_may_have_any_type() {
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    for other in [r#""\ud800""#, "1e999", &deep] {
        let body = format!(r#"{{"variables":{other},"data":{{"echo":{other},"id":7}}}}"#);
        assert_eq!(lead_id(&body).as_deref(), Some("7"), "{other}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_it() {
    assert_eq!(lead_id("\u{FEFF}{\"id\":7}").as_deref(), Some("7"));
}

#[test]
fn an_id_is_kept_as_written() {
    for (id, told) in [
        ("12345678901234567890123", "12345678901234567890123"),
        ("-1", "-1"),
        (r#"" a\u002fb ""#, "a/b"),
    ] {
        let body = format!(r#"{{"id":{id}}}"#);
        assert_eq!(lead_id(&body).as_deref(), Some(told));
    }
    for none in [
        "null", "true", "1.50", "1E5", "7.0", r#""""#, r#"" ""#, "[7]", "{}",
    ] {
        let body = format!(r#"{{"id":{none}}}"#);
        assert_eq!(lead_id(&body), None, "{none}");
    }
}

#[test]
fn an_id_is_found_wherever_services_put_it() {
    for body in [
        r#"{"data":{"id":5}}"#,
        r#"{"id":5}"#,
        r#"{"lead":{"id":"5"}}"#,
        r#"{"data":{"lead":{"id":5}}}"#,
        r#"{"data":{"lead_id":"5"}}"#,
        r#"{"lead_id":5}"#,
        r#"[{"lead_id":5}]"#,
        r#"{"data":[{"lead":{"id":5}}]}"#,
        r#"{"lead":[{"id":5}]}"#,
        // The next place, if this one has none.
        r#"{"data":{"id":null,"lead_id":5}}"#,
        r#"{"data":{"id":1.5,"lead":{"id":5}}}"#,
        r#"{"data":{},"lead_id":5}"#,
        r#"{"lead":{"id":true},"lead_id":5}"#,
        // The first id is the request's, the second one the lead's.
        r#"{"id":"req-1","data":{"lead_id":5}}"#,
        r#"{"id":"req-1","lead":{"id":5}}"#,
        r#"{"id":"req-1","lead_id":5}"#,
    ] {
        assert_eq!(lead_id(body).as_deref(), Some("5"), "{body}");
    }
    assert_eq!(lead_id(r#"{"id":"req-1","lead":{"name":"Ada"}}"#), None);
}

#[test]
fn where_a_field_is_there_twice_the_last_counts() {
    let body = r#"{"id":1,"data":{"id":2,"id":3},"success":false,"success":true}"#;
    assert_eq!(lead_id(body).as_deref(), Some("3"));
    assert!(!Body::read(body).denies_success());
}

#[test]
fn an_id_beside_data_is_not_taken_for_the_leads() {
    for data in ["null", r#""x""#, "7", "{}", "[{}]", "[7]"] {
        let body = format!(r#"{{"id":1,"data":{data}}}"#);
        assert_eq!(lead_id(&body), None, "{data}");
    }
    assert_eq!(lead_id(r#"{"id":1,"data":[]}"#).as_deref(), Some("1"));
}

#[test]
fn error_texts_may_be_in_an_object() {
    for field in ["message", "error", "error_code"] {
        let body = format!(r#"{{"{field}":{{"message":"Already exists."}}}}"#);
        let body = Body::read(&body);
        assert_eq!(body.presence(), Some(Presence::Here), "{field}");
        assert_eq!(body.text(422), "HTTP 422: Already exists.");
    }
}

#[test]
fn error_texts_may_be_in_lists_and_by_field() {
    for body in [
        r#"{"errors":["It already exists."]}"#,
        r#"{"errors":"It already exists."}"#,
        r#"{"errors":[{"field":"phone","message":"It already exists."}]}"#,
        r#"{"errors":{"phone":{"message":"It already exists."}}}"#,
        r#"{"errors":{"phone":[{"code":7,"message":"It already exists."}]}}"#,
        r#"{"error":["It already exists."]}"#,
        r#"{"error":{"phone":["It already exists."],"sent":{"name":"Ann"}}}"#,
        r#"{"message":[" It already exists. ",""]}"#,
        r#"{"detail":"It already exists."}"#,
    ] {
        let read = Body::read(body);
        assert_eq!(read.text(422), "HTTP 422: It already exists.", "{body}");
        assert_eq!(read.presence(), Some(Presence::Here), "{body}");
    }
    let both = Body::read(r#"{"message":"Invalid.","errors":["It is short.","It is old."]}"#);
    assert_eq!(both.text(422), "HTTP 422: Invalid. It is short. It is old.");
    let nothing = Body::read(r#"{"errors":[],"error":7,"message":null,"detail":{}}"#);
    assert_eq!(nothing.text(422), "HTTP 422");
}

#[test]
fn error_texts_are_shown_unchanged_in_any_shape() {
    for (body, told) in [
        (
            r#"{"detail":[{"type":"value_error","loc":["body","phone_number"],"msg":"value is not a valid phone number","input":"+4479"}]}"#,
            "phone_number: value is not a valid phone number",
        ),
        (
            r#"{"detail":[{"loc":["body","variables",0,"city"],"msg":"Field required"},{"loc":["body"],"msg":"No JSON"}]}"#,
            "variables.city: Field required; No JSON",
        ),
        (
            r#"{"detail":["Too short.","Too old."]}"#,
            "Too short. Too old.",
        ),
        (
            r#"{"detail":{"msg":"Too short.","type":"x"}}"#,
            "Too short.",
        ),
        (
            r#"{"errors":[{"field":"phone_number","detail":"is too short"}]}"#,
            "is too short",
        ),
        (
            r#"{"errors":[{"path":"phone_number","msg":"is too short"},{"param":"city","description":"is odd"}]}"#,
            "is too short; is odd",
        ),
        (
            r#"{"errors":[{"status":"422","source":{"pointer":"/data/attributes/phone_number"},"title":"Invalid","detail":"It is too short."}]}"#,
            "It is too short.",
        ),
        (r#"{"errors":[{"title":"Too short"}]}"#, "Too short"),
        (
            r#"{"type":"about:blank","title":"Unprocessable Content","status":422,"detail":"The number is too short."}"#,
            "Unprocessable Content: The number is too short.",
        ),
        (
            r#"{"title":"Your request is not valid.","errors":[{"detail":"is too short","pointer":"/phone_number"}]}"#,
            "Your request is not valid. is too short",
        ),
        (
            r#"{"title":"Invalid.","detail":"Too short."}"#,
            "Invalid. Too short.",
        ),
        (
            r#"{"error":"Bad Request","message":["It is short","It is old"]}"#,
            "It is short; It is old",
        ),
        (r#"{"error":{"code":7,"message":"Too short"}}"#, "Too short"),
        (r#"{"error":"Too short"}"#, "Too short"),
    ] {
        assert_eq!(
            Body::read(body).text(422),
            format!("HTTP 422: {told}"),
            "{body}"
        );
    }
}

#[test]
fn an_error_is_judged_by_its_field_in_any_shape() {
    let by_field = |field: &str, text: &str| {
        [
            format!(r#"{{"errors":{{"{field}":["{text}"]}}}}"#),
            format!(r#"{{"errors":{{"data.{field}":["{text}"]}}}}"#),
            format!(r#"{{"errors":[{{"field":"{field}","detail":"{text}"}}]}}"#),
            format!(
                r#"{{"errors":[{{"source":{{"pointer":"/data/attributes/{field}"}},"title":"{text}"}}]}}"#
            ),
            format!(r#"{{"detail":[{{"loc":["body","{field}"],"msg":"{text}"}}]}}"#),
            format!(r#"{{"error":{{"{field}":["{text}"]}}}}"#),
            format!(r#"{{"message":{{"{field}":["{text}"]}}}}"#),
            format!(r#"{{"message":"No.","errors":{{"{field}":["{text}"]}}}}"#),
        ]
    };
    for (field, text, is_duplicate, is_campaign) in [
        ("phone_number", "validation.unique", true, false),
        ("phone_number", "has already been taken", true, false),
        ("lead", "already exists", true, false),
        ("email", "has already been taken", false, false),
        ("contact_email", "validation.unique", false, false),
        ("variables.0.phone", "validation.unique", false, false),
        ("campaign_id", "is invalid", false, true),
        ("campaign_id", "has already been taken", false, true),
        (
            "campaign_id",
            "Lead is already in this campaign",
            true,
            false,
        ),
    ] {
        for body in by_field(field, text) {
            let read = Body::read(&body);
            let is_here = read.duplicate() == Some(Presence::Here);
            assert_eq!(
                (is_here, read.is_about_campaign()),
                (is_duplicate, is_campaign),
                "{body}"
            );
            assert!(!read.is_about_balance());
        }
    }
    let echo = r#"{"error":{"phone_number":["is too short"],"campaign_id":101}}"#;
    assert!(!Body::read(echo).is_about_campaign());
    // The complaint names no field.
    let balance = Body::read(r#"{"errors":[{"code":"x","detail":"Insufficient balance"}]}"#);
    assert!(balance.is_about_balance());
}
