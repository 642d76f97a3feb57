//! Every exchange that has been seen in public or is to be expected, by its
//! number in the project's table of exchanges.

use std::num::NonZeroU32;
use std::time::{Duration, Instant, SystemTime};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use super::*;
use crate::api::Quota;

fn head(status: u16, retry_after: Option<&str>) -> Head {
    Head {
        status,
        retry_after: retry_after.map(str::to_owned),
        quota: None,
        request_id: None,
        redirects_to: None,
        next_page: None,
        now: SystemTime::UNIX_EPOCH,
        ahead: None,
        lines: HeaderMap::new(),
    }
}

fn reply(status: u16, body: &str) -> Verdict {
    judge(&head(status, None), body.as_bytes())
}

fn reply_after(status: u16, retry_after: &str, body: &str) -> Verdict {
    judge(&head(status, Some(retry_after)), body.as_bytes())
}

fn created(id: &str) -> Verdict {
    Verdict::Created {
        lead_id: id.into(),
        remark: None,
    }
}

fn duplicate(text: &str) -> Verdict {
    Verdict::Duplicate {
        lead_id: None,
        text: text.into(),
    }
}

fn rejected(status: u16, text: &str) -> Verdict {
    Verdict::Rejected {
        code: ErrorCode::Http(status),
        text: text.into(),
    }
}

fn perhaps_taken(code: ErrorCode, text: &str) -> Verdict {
    Verdict::PerhapsTaken {
        code,
        text: text.into(),
    }
}

/// The service may have taken the row: its answer cannot be read, and this is known of it.
#[track_caller]
fn is_unreadable(verdict: &Verdict, said: &str) {
    let Verdict::PerhapsTaken { code, text } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(*code, ErrorCode::UnreadableAnswer);
    assert!(text.ends_with(said), "{text}");
}
fn fatal(cause: FatalCause, status: u16, text: &str) -> Verdict {
    Verdict::Fatal {
        cause,
        code: ErrorCode::Http(status),
        text: text.into(),
    }
}

fn said(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

fn retry_later(wait: Option<Duration>, status: u16, text: &str) -> Verdict {
    Verdict::RetryLater {
        wait,
        may_be_taken: false,
        code: ErrorCode::Http(status),
        text: text.into(),
    }
}

const HTML: &str = "<!DOCTYPE html><html><body>Sorry</body></html>";

#[test]
fn rows_1_to_5_an_id_in_any_form_is_a_created_lead() {
    for (status, body) in [
        (200, r#"{"message":"ok","data":{"id":"123"}}"#),
        (
            200,
            r#"{"data":{"id":123,"phone_number":"+4479","variables":[],"status":"created"}}"#,
        ),
        (200, r#"{"id":123,"phone_number":"+4479"}"#),
        (200, r#"[{"message":"ok","data":{"id":"123"}}]"#),
        (200, r#"{"message":"ok","data":[{"id":"123"}]}"#),
        (201, r#"{"message":"ok","data":{"id":"123"}}"#),
    ] {
        assert_eq!(reply(status, body), created("123"), "{body}");
    }
    let verdict = reply(200, r#"{"data":{"id":"123","status":"blacklisted"}}"#);
    let Verdict::Created { lead_id, remark } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(lead_id, "123");
    assert!(remark.unwrap().contains("blacklisted"));
}

#[test]
fn row_7_a_success_without_an_id_may_be_a_lead_unless_it_says_duplicate() {
    for (body, said) in [
        ("", "JSON"),
        ("{}", ": HTTP 200"),
        (r#"{"data":{"id":""}}"#, ": HTTP 200"),
        (r#"{"data":{"id":null}}"#, ": HTTP 200"),
        (r#"{"message":"ok"}"#, ": HTTP 200: ok"),
        ("[]", "JSON"),
        (r#"{"data":{"id":"#, "JSON"),
    ] {
        is_unreadable(&reply(200, body), said);
    }
    assert_eq!(
        reply(200, r#"{"message":"Lead already exists"}"#),
        duplicate("HTTP 200: Lead already exists")
    );
    assert_eq!(
        reply(200, r#"{"message":"Lead already exists","data":{"id":9}}"#),
        Verdict::Duplicate {
            lead_id: Some("9".into()),
            text: "HTTP 200: Lead already exists".into(),
        }
    );
    // If there is an id, the lead was created, unless the text clearly says that it existed.
    for text in ["No duplicate found, lead created", "Duplicate lead created"] {
        let body = format!(r#"{{"message":"{text}","data":{{"id":"5"}}}}"#);
        assert_eq!(reply(200, &body), created("5"), "{text}");
    }
}

#[test]
fn row_8_success_false_is_a_refusal_whatever_the_status() {
    assert_eq!(
        reply(200, r#"{"success":false,"message":"Invalid phone"}"#),
        rejected(200, "HTTP 200: Invalid phone")
    );
    for body in [
        r#"{"status":false,"error":"Lead already exists"}"#,
        r#"{"data":{"success":false,"message":"Lead already exists"}}"#,
        r#"{"success":false,"message":"Lead already exists","retry_after":60}"#,
    ] {
        let text = "HTTP 200: Lead already exists";
        assert_eq!(reply(200, body), duplicate(text), "{body}");
    }
}

#[test]
fn row_8_there_are_more_ways_to_refuse_in_a_success() {
    for refusal in [
        r#""success":0"#,
        r#""success":"false""#,
        r#""success":"0""#,
        r#""success":" No ""#,
        r#""ok":false"#,
        r#""status":"error""#,
        r#""status":"Fail""#,
        r#""status":"failed""#,
        r#""status":"failure""#,
        r#""status":422"#,
        r#""status":"422""#,
        r#""code":400"#,
        r#""statusCode":403"#,
        r#""error":true"#,
        r#""error":1"#,
        r#""error":{"code":7}"#,
        r#""errors":["Invalid phone"]"#,
        r#""errors":"Invalid phone""#,
        r#""error_code":"INVALID_PHONE""#,
        r#""data":{"success":false}"#,
        r#""data":[{"ok":0}]"#,
        r#""data":{"error":"Invalid phone"}"#,
        r#""success":true,"errors":["Invalid phone"]"#,
    ] {
        for said in [r#""message":"Invalid phone""#, r#""msg":"Invalid phone""#] {
            let body = format!("{{{refusal},{said}}}");
            let verdict = rejected(200, "HTTP 200: Invalid phone");
            assert_eq!(reply(200, &body), verdict, "{body}");
        }
    }
    for (body, said) in [
        (r#"{"error":"Invalid phone"}"#, "Invalid phone"),
        (r#"{"error":{"message":"Invalid phone"}}"#, "Invalid phone"),
        (
            r#"{"errors":{"phone_number":["Invalid phone"]}}"#,
            "Invalid phone",
        ),
        (
            r#"{"success":false,"data":[{"code":"x","message":"Invalid phone"}]}"#,
            "Invalid phone",
        ),
        (
            r#"{"data":{"ok":false,"message":"Invalid phone"}}"#,
            "Invalid phone",
        ),
    ] {
        let verdict = rejected(201, &format!("HTTP 201: {said}"));
        assert_eq!(reply(201, body), verdict, "{body}");
    }
    assert_eq!(
        reply(200, r#"{"status":"error"}"#),
        rejected(200, "HTTP 200")
    );
}

#[test]
fn row_8_no_refusal_is_made_of_a_field_that_says_nothing() {
    for silent in [
        r#""error":null"#,
        r#""error":false"#,
        r#""error":"""#,
        r#""error":0"#,
        r#""error":{"code":0,"message":""}"#,
        r#""errors":[]"#,
        r#""errors":{}"#,
        r#""errors":null"#,
        r#""errors":{"phone_number":[]}"#,
        r#""success":null"#,
        r#""success":1"#,
        r#""ok":"yes""#,
        r#""status":0"#,
        r#""status":200"#,
        r#""status":"pending""#,
        r#""status":"blocked""#,
        r#""code":20000"#,
        // The lead's own.
        r#""data":{"status":"failed"}"#,
    ] {
        is_unreadable(&reply(200, &format!("{{{silent}}}")), ": HTTP 200");
        let body = format!(r#"{{{silent},"lead_id":"5"}}"#);
        assert_eq!(reply(200, &body), created("5"), "{body}");
    }
}

#[test]
fn row_8_what_has_an_id_was_created_whatever_else_is_said() {
    for (body, said) in [
        (r#"{"success":false,"data":{"id":"5"}}"#, "HTTP 200"),
        (
            r#"{"success":false,"message":"Queue is full","data":{"id":5}}"#,
            "HTTP 200: Queue is full",
        ),
        (
            r#"{"id":5,"errors":["Unknown variable city"]}"#,
            "HTTP 200: Unknown variable city",
        ),
    ] {
        let verdict = reply(200, body);
        let Verdict::Created { lead_id, remark } = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!(lead_id, "5");
        assert!(remark.unwrap().ends_with(said), "{body}");
    }
    // A refused duplicate may name the lead that is there.
    for text in ["Lead already exists", "Duplicate lead"] {
        let body = format!(r#"{{"success":false,"message":"{text}","data":{{"id":9}}}}"#);
        let verdict = Verdict::Duplicate {
            lead_id: Some("9".into()),
            text: format!("HTTP 200: {text}"),
        };
        assert_eq!(reply(200, &body), verdict);
    }
}

#[test]
fn row_8_a_refusal_that_says_when_is_a_wait() {
    let text = "HTTP 200: Too many";
    let refusal = r#"{"ok":false,"message":"Too many"}"#;
    assert_eq!(
        reply_after(200, "7", refusal),
        retry_later(said(7), 200, text)
    );
    let body = r#"{"error":{"message":"Too many","retry_after":60}}"#;
    assert_eq!(reply(200, body), retry_later(said(60), 200, text));
    // Neither a refusal nor a lead.
    let silent = reply_after(200, "7", "{}");
    assert!(matches!(silent, Verdict::PerhapsTaken { .. }), "{silent:?}");
    let with_id = reply_after(200, "7", r#"{"success":false,"retry_after":60,"id":5}"#);
    assert!(matches!(with_id, Verdict::Created { .. }), "{with_id:?}");
}

const PHP: &str =
    "<br />\n<b>Warning</b>:  Undefined array key \"a\" in /srv/a->b.php on line <b>3</b><br />\n";

#[test]
fn row_9_an_answer_with_an_id_counts_whatever_stands_around_it() {
    let answer = r#"{"message":"ok","data":{"id":"5"}}"#;
    for body in [
        format!("{PHP}{answer}"),
        format!("{PHP}[ {answer} ]"),
        format!("{answer}\nDEBUG: 12 ms"),
        format!("{answer}{answer}"),
        format!("{answer}<script>stats = {{\"id\": 7}}</script>"),
        format!("<!DOCTYPE html><html><body>Maintenance</body></html>{answer}"),
        format!("<style>p {{ color: red }}</style>{{}}[]{answer}"),
        format!("[2026-11-21 10:00:00] app.DEBUG: {{\"sql\":[1]}}\n{answer}"),
        format!("[{{\"n\":1}},{{\"n\":2}}]{answer}{{\"id\":6"),
    ] {
        assert_eq!(reply(200, &body), created("5"), "{body}");
    }
    let there = r#"{"message":"Lead already exists","data":{"id":9}}"#;
    let there = reply(200, &format!("{PHP}{there}"));
    assert!(matches!(there, Verdict::Duplicate { .. }), "{there:?}");
}

#[test]
fn row_9_an_id_that_may_be_anything_makes_no_lead() {
    for body in [
        // No answer, or not a whole one.
        format!("{PHP}{{\"message\":\"ok\"}}"),
        format!("{PHP}{{\"data\":{{\"campaign\":{{\"id\":7}}"),
        r#"{"score":NaN,"campaign":{"id":7}}"#.into(),
        r#"{"a":{"id":7},}"#.into(),
        // Lists of several.
        r#"[{"id":7},{"id":8}]"#.into(),
        format!("{PHP}[{{\"id\":7}},{{\"id\":8}}]"),
        r#"[[{"id":7}]]"#.into(),
        // A page's own.
        r#"<html><script>app({"id":7})</script></html>"#.into(),
        r#"<html><SCRIPT type="application/json">{"id":7}</SCRIPT></html>"#.into(),
        r#"<div user='{"id":7}'></div>"#.into(),
        // A refusal first.
        r#"{"success":false}{"id":7}"#.into(),
        // JSON in a text.
        r#""{\"id\":7}""#.into(),
    ] {
        is_unreadable(&reply(200, &body), "JSON");
    }
}

#[test]
fn row_9_no_text_takes_long_to_search() {
    let began = Instant::now();
    for pattern in [
        "{",
        "[",
        "{\"",
        "{\"\":",
        "[{\"\":",
        "{ ",
        "{\"a\":1}",
        "{\"\":[",
        "<{\"\":0}",
        "{\"\":0} [",
    ] {
        let body = pattern.repeat(500_000 / pattern.len());
        for end in ["", "x", "}"] {
            let verdict = reply(200, &format!("{body}{end}"));
            assert!(matches!(verdict, Verdict::PerhapsTaken { .. }), "{pattern}");
        }
    }
    // Work that grows with the square would take hours.
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn row_9_a_page_instead_of_json_may_hide_a_lead() {
    is_unreadable(&reply(200, HTML), "JSON");
}

#[test]
fn row_10_a_redirect_is_fatal() {
    for status in [301, 302, 303, 307, 308] {
        assert_eq!(
            reply(status, ""),
            fatal(FatalCause::Redirect, status, &format!("HTTP {status}"))
        );
    }
}

#[test]
fn row_10_a_redirect_names_its_target() {
    let redirect = |redirects_to: Option<&str>| {
        let head = Head {
            redirects_to: redirects_to.map(str::to_owned),
            ..head(302, None)
        };
        judge(&head, br#"{"message":"Moved."}"#)
    };
    for (place, text) in [
        (
            Some("https://new.example.com/login"),
            "HTTP 302 to https://new.example.com/login",
        ),
        (None, "HTTP 302: Moved."),
    ] {
        assert_eq!(redirect(place), fatal(FatalCause::Redirect, 302, text));
    }
}

#[test]
fn row_11_a_refused_number_is_a_rejected_row() {
    for status in [400, 422] {
        for body in [
            r#"{"message":"Invalid phone number"}"#,
            r#"{"error":"Invalid phone number"}"#,
            r#"{"error":{"message":"Invalid phone number"}}"#,
            r#"{"success":false,"message":"Invalid phone number","error_code":"X"}"#,
        ] {
            assert_eq!(
                reply(status, body),
                rejected(status, &format!("HTTP {status}: Invalid phone number")),
                "{body}"
            );
        }
    }
}

#[test]
fn rows_12_and_13_a_duplicate_is_known_by_what_is_said_of_the_number() {
    for (status, body, text) in [
        (
            422,
            r#"{"message":"The phone number has already been taken.","errors":{"phone_number":["The phone number has already been taken."]}}"#,
            "The phone number has already been taken.",
        ),
        (
            422,
            r#"{"message":"Die Daten sind ungültig.","errors":{"phone_number":["Die Nummer ist bereits vergeben."]}}"#,
            "Die Daten sind ungültig. Die Nummer ist bereits vergeben.",
        ),
        (422, r#"{"message":"Duplicate lead"}"#, "Duplicate lead"),
        (
            422,
            r#"{"message":"Lead already exists in this campaign"}"#,
            "Lead already exists in this campaign",
        ),
        (
            400,
            r#"{"status":false,"error":"Lead already exists"}"#,
            "Lead already exists",
        ),
        (
            409,
            r#"{"error":"Lead already exists"}"#,
            "Lead already exists",
        ),
        (400, "Lead already exists", "Lead already exists"),
    ] {
        assert_eq!(
            reply(status, body),
            duplicate(&format!("HTTP {status}: {text}")),
            "{body}"
        );
    }
}

#[test]
fn rows_12_and_13_there_are_more_ways_to_say_that_a_lead_exists() {
    for status in [400, 409, 422] {
        for said in [
            "Lead is already in this campaign",
            "The phone number has already been registered.",
            "validation.unique",
            "Contact exists",
            "already been taken",
            "Kontakt existiert bereits in dieser Kampagne",
            "Lead already added to campaign: limit of 1 per campaign",
        ] {
            for body in [
                format!(r#"{{"message":"{said}"}}"#),
                format!(r#"{{"error":"{said}"}}"#),
                format!(r#"{{"detail":"{said}"}}"#),
                said.to_owned(),
            ] {
                let text = format!("HTTP {status}: {said}");
                assert_eq!(reply(status, &body), duplicate(&text), "{body}");
            }
        }
        let body = r#"{"errors":{"phone_number":["validation.unique"]}}"#;
        let text = format!("HTTP {status}: validation.unique");
        assert_eq!(reply(status, body), duplicate(&text));
    }
}

#[test]
fn what_only_sounds_like_a_duplicate_is_a_refusal() {
    for (said, cause) in [
        ("The contact does not exist", None),
        ("The city must already exist", None),
        ("No contact exists", None),
        ("The campaign no longer exists", Some(FatalCause::Campaign)),
        (
            "The campaign is already stopped",
            Some(FatalCause::Campaign),
        ),
        (
            "You have already used all your credits",
            Some(FatalCause::Balance),
        ),
    ] {
        let text = format!("HTTP 422: {said}");
        let verdict = match cause {
            Some(cause) => fatal(cause, 422, &text),
            None => rejected(422, &text),
        };
        assert_eq!(reply(422, &format!(r#"{{"message":"{said}"}}"#)), verdict);
    }
}

/// A `duplicate` means that this campaign already has the lead.
#[test]
fn a_lead_that_another_campaign_has_is_neither_a_duplicate_nor_a_refused_campaign() {
    let said = "The lead already exists in another campaign";
    let body = format!(r#"{{"message":"{said}"}}"#);
    assert_eq!(
        reply(422, &body),
        rejected(422, &format!("HTTP 422: {said}"))
    );
    is_unreadable(&reply(200, &body), &format!(": HTTP 200: {said}"));
    for status in [200, 201] {
        for said in [
            said,
            "Lead created. The number already exists in another campaign.",
        ] {
            let body = format!(r#"{{"message":"{said}","data":{{"id":"5"}}}}"#);
            assert_eq!(reply(status, &body), created("5"), "{said}");
        }
    }
    let here = r#"{"message":"Lead is already in this campaign","data":{"id":9}}"#;
    assert!(matches!(reply(200, here), Verdict::Duplicate { .. }));
}

#[test]
fn a_denied_duplicate_is_not_a_duplicate() {
    assert_eq!(
        reply(400, r#"{"message":"Not a duplicate: invalid number"}"#),
        rejected(400, "HTTP 400: Not a duplicate: invalid number")
    );
}

#[test]
fn another_field_that_is_taken_makes_no_duplicate() {
    assert_eq!(
        reply(
            422,
            r#"{"message":"The email has already been taken.","errors":{"variables.0.email":["The email has already been taken."]}}"#
        ),
        rejected(422, "HTTP 422: The email has already been taken.")
    );
}

#[test]
fn rows_14_and_15_a_validation_error_is_a_rejected_row_with_its_sentences() {
    assert_eq!(
        reply(
            422,
            r#"{"message":"The given data was invalid.","errors":{"phone_number":["The phone number is invalid."]}}"#
        ),
        rejected(
            422,
            "HTTP 422: The given data was invalid. The phone number is invalid."
        )
    );
    assert_eq!(
        reply(
            422,
            r#"{"message":"Unknown variable.","errors":{"variables":["Unknown variable."]}}"#
        ),
        rejected(422, "HTTP 422: Unknown variable.")
    );
}

#[test]
fn row_16_a_complaint_about_the_campaign_is_fatal() {
    assert_eq!(
        reply(
            422,
            r#"{"message":"The selected campaign id is invalid.","errors":{"campaign_id":["The selected campaign id is invalid."]}}"#
        ),
        fatal(
            FatalCause::Campaign,
            422,
            "HTTP 422: The selected campaign id is invalid."
        )
    );
}

/// In the table, every text without `errors` is row 11, except texts about money. A 422 about the
/// campaign and not about the number is still judged as row 16: promise 4 counts "422 about
/// campaign", however it is written.
#[test]
fn row_16_without_errors_is_fatal_too() {
    assert_eq!(
        reply(422, r#"{"message":"Campaign is completed"}"#),
        fatal(FatalCause::Campaign, 422, "HTTP 422: Campaign is completed")
    );
    assert_eq!(
        reply(422, r#"{"message":"Invalid phone number for campaign 3"}"#),
        rejected(422, "HTTP 422: Invalid phone number for campaign 3")
    );
}

#[test]
fn row_17_a_422_about_money_or_limits_is_fatal() {
    for text in [
        "Insufficient balance",
        "You have no credits left",
        "Upgrade your plan",
        "Daily limit reached",
    ] {
        assert_eq!(
            reply(422, &format!(r#"{{"error":"{text}"}}"#)),
            fatal(FatalCause::Balance, 422, &format!("HTTP 422: {text}"))
        );
    }
    for text in [
        "The name may not be greater than 20 characters",
        "limit of characters for name is 20",
        "character limit exceeded for city",
        "The plan field is limited to 20 characters",
    ] {
        assert_eq!(
            reply(422, &format!(r#"{{"message":"{text}"}}"#)),
            rejected(422, &format!("HTTP 422: {text}"))
        );
    }
    // "Already", but not about the number.
    assert_eq!(
        reply(
            422,
            r#"{"error":"The number list already has its maximum"}"#
        ),
        rejected(422, "HTTP 422: The number list already has its maximum")
    );
    assert_eq!(
        reply(422, r#"{"error":"No explanation"}"#),
        rejected(422, "HTTP 422: No explanation")
    );
}

#[test]
fn rows_18_to_22_refusals_that_hold_for_every_row_are_fatal() {
    for (status, body, cause, text) in [
        (
            401,
            r#"{"message":"Unauthenticated."}"#,
            FatalCause::Token,
            "HTTP 401: Unauthenticated.",
        ),
        (
            401,
            r#"{"error":"Unauthorized"}"#,
            FatalCause::Token,
            "HTTP 401: Unauthorized",
        ),
        (
            402,
            r#"{"success":false,"error_code":"INSUFFICIENT_BALANCE"}"#,
            FatalCause::Payment,
            "HTTP 402: INSUFFICIENT_BALANCE",
        ),
        (
            403,
            r#"{"message":"Forbidden"}"#,
            FatalCause::Forbidden,
            "HTTP 403: Forbidden",
        ),
        (403, HTML, FatalCause::Forbidden, "HTTP 403"),
        (
            404,
            r#"{"message":"Campaign not found"}"#,
            FatalCause::Campaign,
            "HTTP 404: Campaign not found",
        ),
        (404, HTML, FatalCause::Campaign, "HTTP 404"),
        (405, HTML, FatalCause::NotTheService, "HTTP 405"),
        (
            405,
            r#"{"message":"The POST method is not supported"}"#,
            FatalCause::NotTheService,
            "HTTP 405: The POST method is not supported",
        ),
    ] {
        assert_eq!(reply(status, body), fatal(cause, status, text), "{body}");
        assert_eq!(cause.is_certain(), status == 401 || status == 402);
    }
}

#[test]
fn row_23_and_unknown_4xx_are_rejected_rows() {
    for status in [406, 410, 413, 415, 418, 451] {
        assert_eq!(
            reply(status, ""),
            rejected(status, &format!("HTTP {status}"))
        );
    }
    assert_eq!(
        reply(409, r#"{"error":"Conflict"}"#),
        rejected(409, "HTTP 409: Conflict")
    );
}

/// Not in the table, which rejects unknown 4xx. This one is not unknown: its definition says
/// that the request was not processed.
#[test]
fn a_request_that_comes_too_early_was_never_taken() {
    assert_eq!(
        reply(425, ""),
        Verdict::NeverTaken {
            code: ErrorCode::Http(425),
            text: "HTTP 425".into(),
            cure: None,
        }
    );
}

/// By its definition the request was not received in full, but gateways also send it when the
/// service behind them takes too long.
#[test]
fn after_a_408_the_lead_may_exist() {
    assert_eq!(
        reply(408, HTML),
        perhaps_taken(ErrorCode::Http(408), "HTTP 408")
    );
}

#[test]
fn any_refusal_that_says_when_is_a_wait() {
    for (status, is_perhaps_taken) in [
        (400, false),
        (403, false),
        (404, false),
        (405, false),
        (407, false),
        (408, true),
        (409, false),
        (413, false),
        (419, false),
        (422, false),
        (423, false),
        (425, false),
        (429, false),
        (430, false),
        (440, false),
        (500, true),
        (501, true),
        (502, true),
        (503, false),
        (504, true),
        (507, true),
        (520, true),
        (599, true),
    ] {
        let later = |wait, text: &str| Verdict::RetryLater {
            wait,
            may_be_taken: is_perhaps_taken,
            code: ErrorCode::Http(status),
            text: format!("HTTP {status}{text}"),
        };
        assert_eq!(reply_after(status, "37", HTML), later(said(37), ""));
        assert_eq!(reply_after(status, "soon", ""), later(None, ""));
        for body in [
            r#"{"message":"No such campaign","retry_after":60}"#,
            r#"{"error":{"message":"No such campaign","retry_after":"60"}}"#,
        ] {
            let verdict = later(said(60), ": No such campaign");
            assert_eq!(reply(status, body), verdict, "{body}");
        }
    }
}

#[test]
fn what_is_certain_is_no_wait_whatever_else_is_said() {
    let after = |status, body: &str| reply_after(status, "37", body);
    assert_eq!(after(401, ""), fatal(FatalCause::Token, 401, "HTTP 401"));
    assert_eq!(after(402, ""), fatal(FatalCause::Payment, 402, "HTTP 402"));
    let redirect = fatal(FatalCause::Redirect, 302, "HTTP 302");
    assert_eq!(after(302, ""), redirect);
    let there = r#"{"message":"Lead already exists","retry_after":60}"#;
    for status in [400, 409, 422] {
        let text = format!("HTTP {status}: Lead already exists");
        assert_eq!(after(status, there), duplicate(&text));
    }
    assert_eq!(after(200, r#"{"data":{"id":"5"}}"#), created("5"));
    let status = 600;
    assert_eq!(
        after(status, ""),
        perhaps_taken(ErrorCode::Http(status), "HTTP 600")
    );
}

#[test]
fn rows_24_and_25_a_429_waits_as_long_as_it_says() {
    let text = "HTTP 429: Too Many Attempts.";
    let json = r#"{"message":"Too Many Attempts."}"#;
    assert_eq!(
        reply_after(429, "37", json),
        retry_later(said(37), 429, text)
    );
    assert_eq!(
        reply_after(429, "37", HTML),
        retry_later(said(37), 429, "HTTP 429")
    );
    assert_eq!(
        reply_after(429, "Thu, 01 Jan 1970 00:01:30 GMT", json),
        retry_later(said(90), 429, text)
    );
    for body in [
        r#"{"message":"Too Many Attempts.","retry_after":60}"#,
        r#"{"message":"Too Many Attempts.","retry_after":"60"}"#,
        r#"{"error":{"message":"Too Many Attempts.","retry_after":60}}"#,
        r#"{"message":"Too Many Attempts.","data":{"retry_after":60}}"#,
        r#"{"message":"Too Many Attempts.","retry_after":"soon","error":{"retry_after":60}}"#,
    ] {
        assert_eq!(reply(429, body), retry_later(said(60), 429, text));
    }
    assert_eq!(reply(429, json), retry_later(None, 429, text));
}

#[test]
fn an_absurd_wait_is_bounded_or_ignored() {
    for (hint, wait) in [
        ("31536000", said(3600)),
        ("1e300", said(3600)),
        ("-5", None),
        ("0", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("Wed, 31 Dec 1969 23:59:59 GMT", None),
        ("NaN", None),
        ("soon", None),
        ("Fri, 31 Dec 1999 23:59:59 GMT", said(3600)),
    ] {
        assert_eq!(
            reply_after(429, hint, ""),
            retry_later(wait, 429, "HTTP 429"),
            "{hint}"
        );
    }
}

#[test]
fn a_refusal_without_a_usable_wait_waits_until_more_is_allowed() {
    let wait = |status, retry_after, limit, remaining, body: &str| {
        let quota = Quota {
            limit: NonZeroU32::new(limit),
            remaining,
            reset: Some(Duration::from_secs(20)),
        };
        let head = Head {
            quota: Some(quota),
            ..head(status, retry_after)
        };
        match judge(&head, body.as_bytes()) {
            Verdict::RetryLater { wait, .. } => Some(wait),
            _ => None,
        }
    };
    let field = r#"{"retry_after":5}"#;
    for (status, retry_after, remaining, body, expected) in [
        (429, None, Some(0), "", Some(said(20))),
        (429, None, None, "", Some(said(20))),
        (429, Some("0"), None, "", Some(said(20))),
        (429, Some("soon"), None, "", Some(said(20))),
        (503, Some("soon"), Some(0), "", Some(said(20))),
        // The header and the body are more exact.
        (429, Some("7"), Some(0), field, Some(said(7))),
        (429, None, Some(0), field, Some(said(5))),
        // Another limit than the stated one.
        (429, None, Some(3), "", Some(None)),
        (429, Some("soon"), Some(3), "", Some(None)),
        // A reset alone does not make a 503 safe to repeat.
        (503, None, Some(0), "", None),
    ] {
        assert_eq!(
            wait(status, retry_after, 100, remaining, body),
            expected,
            "{status} {retry_after:?} {remaining:?} {body}"
        );
    }
}

#[test]
fn what_a_proxy_refuses_was_never_taken() {
    assert_eq!(
        reply(407, HTML),
        Verdict::NeverTaken {
            code: ErrorCode::Http(407),
            text: "HTTP 407".into(),
            cure: Some(GIVE_LOGIN),
        }
    );
}

#[test]
fn rows_26_and_27_a_503_is_safe_to_repeat_only_with_retry_after() {
    assert_eq!(
        reply_after(503, "60", r#"{"message":"Service Unavailable"}"#),
        retry_later(said(60), 503, "HTTP 503: Service Unavailable")
    );
    assert_eq!(
        reply(503, HTML),
        perhaps_taken(ErrorCode::Http(503), "HTTP 503")
    );
    // A field of the body counts only if it is a time.
    for body in [r#"{"retry_after":60}"#, r#"{"error":{"retry_after":"60"}}"#] {
        assert_eq!(reply(503, body), retry_later(said(60), 503, "HTTP 503"));
    }
    for body in [
        r#"{"retry_after":0}"#,
        r#"{"retry_after":null}"#,
        r#"{"retry_after":"soon"}"#,
    ] {
        assert_eq!(
            reply(503, body),
            perhaps_taken(ErrorCode::Http(503), "HTTP 503")
        );
    }
}

#[test]
fn rows_28_and_29_any_other_5xx_may_follow_the_insert() {
    for status in [500, 501, 502, 504, 520, 522, 524, 599] {
        assert_eq!(
            reply(status, HTML),
            perhaps_taken(ErrorCode::Http(status), &format!("HTTP {status}"))
        );
    }
    assert_eq!(
        reply(500, r#"{"message":"Server Error"}"#),
        perhaps_taken(ErrorCode::Http(500), "HTTP 500: Server Error")
    );
}

#[test]
fn rows_30_and_31_only_what_was_never_written_was_never_taken() {
    for given in [Some(GIVE_LOGIN), None] {
        let why = "refused";
        let verdict = judge_lost(TransportError::NotSent { why, cure: given });
        let Verdict::NeverTaken { code, text, cure } = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!((code, cure), (ErrorCode::Connection, given));
        assert!(text.ends_with(why), "{text}");
    }
    for (lost, code) in [
        (TransportError::TimedOut, ErrorCode::Timeout),
        (
            TransportError::NotHttp("too long"),
            ErrorCode::UnreadableAnswer,
        ),
        (TransportError::Broken, ErrorCode::Connection),
    ] {
        assert_eq!(judge_lost(lost), perhaps_taken(code, &lost.to_string()));
    }
}

#[test]
fn a_text_is_masked_before_it_is_shortened() {
    let secret = "s3cret-token";
    let long = format!("{}{secret}", "x".repeat(MAX_TEXT - 5));
    let verdict = rejected(400, &long).presentable(|text| text.replace(secret, "[token]"));
    let Verdict::Rejected { text, .. } = verdict else {
        panic!("{verdict:?}");
    };
    assert!(!text.contains("s3cr"), "{text}");
    assert_eq!(text.chars().count(), MAX_TEXT);
}

/// Text that is no answer, as it stands around answers.
fn noise() -> impl Strategy<Value = String> {
    let known = select(vec![
        PHP,
        "<!DOCTYPE html><html><head><style>p{color:red}</style></head></html>\n",
        "<script>var a = {b: 1};</script>",
        "[2026-11-21 10:00:00] production.DEBUG: took 12 ms\n",
        "array(1) {\n  [\"id\"]=>\n  int(7)\n}\n",
        "{}",
        "[]",
        r#"{"level":"debug","context":{"id":7}}"#,
        r#"[{"id":1},{"id":2}]"#,
    ]);
    let piece = prop_oneof![known.prop_map(str::to_owned), r"[^<{\[]{0,20}"];
    vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn json_without_ids() -> impl Strategy<Value = Value> {
    let names = [
        "data", "lead", "success", "status", "error", "errors", "message", "uuid",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z0-9 ]{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        let fields = btree_map(select(names.to_vec()), inner.clone(), 0..5);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| fields.into_iter().collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn an_answer_with_an_id_is_found_in_any_text(
        before in noise(),
        answer in select(vec![
            r#"{"message":"ok","data":{"id":"5"}}"#,
            r#"{ "id": 5, "status": "pending" }"#,
            r#"[{"lead":{"id":5}}]"#,
        ]),
        after in noise(),
        rest in ".*",
    ) {
        let body = format!("{before}{answer}{after}{rest}");
        prop_assert_eq!(reply(200, &body), created("5"), "{}", body);
    }

    #[test]
    fn without_an_id_nothing_is_created(
        before in r"[^{\[]{0,20}",
        json in json_without_ids(),
        rest in r"[^{]{0,20}",
    ) {
        let body = format!("{before}{json}{rest}");
        let verdict = reply(200, &body);
        prop_assert!(!matches!(verdict, Verdict::Created { .. }), "{} {:?}", body, verdict);
    }

    #[test]
    fn with_an_id_nothing_is_refused(mut json in json_without_ids()) {
        if let Value::Object(fields) = &mut json {
            fields.insert("data".into(), json!({ "id": "5" }));
            let verdict = reply(200, &json.to_string());
            let is_there = matches!(verdict, Verdict::Created { .. } | Verdict::Duplicate { .. });
            prop_assert!(is_there, "{} {:?}", json, verdict);
        }
    }
}

#[test]
fn a_refusal_names_its_request_and_is_the_same_without_that_name() {
    let named = naming("no", Some("r-1"));
    assert_eq!(named.to_string(), "no (request id r-1)");
    assert_eq!(without_request_id(&named), "no");
    assert_eq!(without_request_id(&naming("no", None)), "no");
}
