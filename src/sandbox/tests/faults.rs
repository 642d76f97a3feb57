//! Tests of what goes wrong on purpose: faults, limits, outages, scripts, and shutdown.

use super::*;
use crate::cli::{self, Command};

/// What is sent if a fault always occurs, and whether the lead was stored.
fn always(fault: &str) -> (Vec<u8>, bool) {
    let sandbox = start(&format!("retry_after_s = 7\n[faults]\n{fault} = 1.0"));
    let bytes = exchange(&sandbox, &lead_request(&lead(ADA)));
    let stats = sandbox.stats();
    assert_eq!(
        stats.faults.into_iter().collect::<Vec<_>>(),
        [(fault.to_owned(), 1)]
    );
    (bytes, !sandbox.leads().is_empty())
}

#[test]
fn a_fault_with_an_answer_stores_the_lead_or_not_as_its_name_says() {
    let cases = [
        ("status_429", 429, "application/json", Some("7"), false),
        ("status_500_before", 500, "application/json", None, false),
        ("status_500_after", 500, "application/json", None, true),
        ("status_502", 502, "text/html; charset=UTF-8", None, false),
        ("status_503", 503, "application/json", Some("7"), false),
        (
            "status_503_html",
            503,
            "text/html; charset=UTF-8",
            None,
            false,
        ),
        ("unreadable", 200, "text/html; charset=UTF-8", None, true),
    ];
    for (fault, status, content_type, retry_after, stored) in cases {
        let (bytes, was_stored) = always(fault);
        let answer = parse(&bytes);
        assert_eq!(answer.status, status, "{fault}");
        assert_eq!(answer.header("content-type"), Some(content_type), "{fault}");
        assert_eq!(answer.header("retry-after"), retry_after, "{fault}");
        assert_eq!(was_stored, stored, "{fault}");
    }
}

#[test]
fn a_dropped_connection_sends_no_bytes() {
    assert_eq!(always("drop_before"), (Vec::new(), false));
    assert_eq!(always("drop_after"), (Vec::new(), true));
}

#[test]
fn a_sandbox_stops_while_requests_hang_or_wait() {
    for (scenario, stored) in [
        ("[faults]\nhang_before = 1", false),
        ("[faults]\nhang_after = 1", true),
        ("latency_ms = 60_000", true),
    ] {
        let sandbox = start(scenario);
        let mut tcp = TcpStream::connect(sandbox.addr()).unwrap();
        tcp.write_all(lead_request(&lead(ADA)).as_bytes()).unwrap();
        wait_until(|| sandbox.stats().arrivals_us.len() == 1);
        tcp.set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        tcp.read(&mut [0]).unwrap_err();
        assert_eq!(!sandbox.leads().is_empty(), stored, "{scenario}");
        let stopping = Instant::now();
        drop(sandbox);
        assert!(stopping.elapsed() < Duration::from_secs(2), "{scenario}");
    }
}

#[test]
fn a_sandbox_stops_while_connections_are_idle_or_half_sent() {
    let sandbox = start("");
    let _idle = TcpStream::connect(sandbox.addr()).unwrap();
    let mut half = TcpStream::connect(sandbox.addr()).unwrap();
    half.write_all(b"POST /api/user/lead HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
        .unwrap();
    wait_until(|| sandbox.stats().lead_requests == 1);
    let stopping = Instant::now();
    drop(sandbox);
    assert!(stopping.elapsed() < Duration::from_secs(2));
}

/// Waits, for a limited time, for something that another thread is about to do.
fn wait_until(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(5), "still not done");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_lead_is_stored_even_if_the_caller_gives_up() {
    let sandbox = start("latency_ms = 60_000");
    let mut tcp = TcpStream::connect(sandbox.addr()).unwrap();
    tcp.write_all(lead_request(&lead(ADA)).as_bytes()).unwrap();
    wait_until(|| sandbox.leads().len() == 1);
    drop(tcp);
    wait_until(|| sandbox.shared.state().in_flight() == 0);
}

const MANY_FAULTS: &str =
    "[faults]\nstatus_429 = 0.2\nstatus_500_after = 0.1\ndrop_after = 0.2\ndrop_before = 0.1";

/// The status of the first and the second attempt of 200 numbers, requested in this order.
fn fates(seed: u64, order: impl Iterator<Item = u64>) -> BTreeMap<u64, [Option<u16>; 2]> {
    let sandbox = start(&format!("seed = {seed}\n{MANY_FAULTS}"));
    let fate = |number: u64| {
        let body = lead(&format!("+1555{number:07}"));
        let bytes = exchange(&sandbox, &lead_request(&body));
        (!bytes.is_empty()).then(|| parse(&bytes).status)
    };
    order.map(|n| (n, [(); 2].map(|()| fate(n)))).collect()
}

#[test]
fn faults_do_not_depend_on_the_order_of_arrival() {
    let forwards = fates(1, 0..200);
    assert_eq!(fates(1, (0..200).rev()), forwards);
    assert_ne!(fates(2, 0..200), forwards);
    let count = |status| {
        let firsts = forwards.values().map(|[first, _]| *first);
        firsts.filter(|fate| *fate == status).count()
    };
    // Of 200, roughly: 40 % are created, 20 % get a 429, 10 % a 500, 30 % no answer.
    assert!((60..100).contains(&count(Some(200))), "{forwards:?}");
    assert!((25..60).contains(&count(Some(429))), "{forwards:?}");
    assert!((8..35).contains(&count(Some(500))), "{forwards:?}");
    assert!((40..80).contains(&count(None)), "{forwards:?}");
}

// Limits

#[test]
fn what_exceeds_the_rate_limit_is_refused_with_a_hint() {
    let limit = "[[rate_limit]]\nrequests = 2\nper_s = 60";
    let sandbox = start(&format!("rate_limit_headers = true\n{limit}"));
    let answers: Vec<_> = (0..3)
        .map(|n| post(&sandbox, &lead(&format!("+1555000000{n}"))))
        .collect();
    let shown: Vec<_> = answers
        .iter()
        .map(|answer| {
            let remaining = answer.header("x-ratelimit-remaining").unwrap();
            (answer.status, remaining, answer.header("retry-after"))
        })
        .collect();
    assert_eq!(
        shown,
        [(200, "1", None), (200, "0", None), (429, "0", Some("60"))]
    );
    assert_eq!(answers[0].header("x-ratelimit-limit"), Some("2"));
    assert_eq!(answers[2].body, r#"{"message":"Too Many Attempts."}"#);
    assert_eq!(sandbox.leads().len(), 2);
    assert_eq!(sandbox.stats().refused, BTreeMap::from([(429, 1)]));
}

#[test]
fn a_limit_given_by_a_flag_holds() {
    // Status, remaining and time to wait of four requests at once.
    let answers = |flags: &[&str]| {
        let words = [&["leadload", "sandbox"], flags].concat();
        let words: Vec<_> = words.into_iter().map(Into::into).collect();
        let Ok(Command::Sandbox(args)) = cli::parse(&words) else {
            panic!("{flags:?}");
        };
        let mut config = SandboxConfig {
            any_token: true,
            rate_limit_headers: true,
            ..SandboxConfig::default()
        };
        args.override_in(&mut config).unwrap();
        let sandbox = Sandbox::start(config).unwrap();
        [1, 2, 3, 4].map(|n| {
            let answer = post(&sandbox, &lead(&format!("+1555000000{n}")));
            let number = |name| answer.header(name).map(|text| text.parse().unwrap());
            (
                answer.status,
                number("x-ratelimit-remaining"),
                number("retry-after"),
            )
        })
    };
    let made = |remaining| (200, Some(remaining), None);
    let refused = |wait_s: u64| (429, Some(0), Some(wait_s));
    let unstated = |status, wait_s| (status, None, wait_s);
    let (made_unstated, refused_unstated) = (unstated(200, None), unstated(429, Some(30)));
    assert_eq!(
        answers(&["--limit", "leaky:2/min:1"]),
        [
            made_unstated,
            made_unstated,
            refused_unstated,
            refused_unstated
        ]
    );
    assert_eq!(
        answers(&["--limit", "token:6/min:3"]),
        [made(2), made(1), made(0), refused(10)]
    );
    // The name that the flag had before.
    let both = ["--rate-limit", "3/min", "--limit", "fixed:1/h"];
    assert_eq!(
        answers(&both),
        [made(0), refused(3600), refused(3600), refused(3600)]
    );
}

#[test]
fn the_hint_has_the_chosen_form() {
    let second = |hint: &str| {
        let limit = "[[rate_limit]]\nrequests = 1\nper_s = 60";
        let sandbox = start(&format!("rate_limit_hint = '{hint}'\n{limit}"));
        let [_, second] = [(); 2].map(|()| post(&sandbox, &lead(ADA)));
        second
    };
    let date = second("http_date");
    let then = httpdate::parse_http_date(date.header("retry-after").unwrap()).unwrap();
    let wait = then.duration_since(std::time::SystemTime::now()).unwrap();
    assert!((58..=61).contains(&wait.as_secs()), "{wait:?}");
    let body = second("body");
    assert_eq!(body.header("retry-after"), None);
    let expected = json!({"message": "Too Many Attempts.", "retry_after": 60});
    assert_eq!(body.json(), expected);
    let none = second("none");
    assert_eq!((none.status, none.header("retry-after")), (429, None));
    assert_eq!(none.json(), json!({"message": "Too Many Attempts."}));
}

#[test]
fn throttling_comes_before_any_look_at_the_request() {
    let sandbox = start("[[rate_limit]]\nrequests = 1\nper_s = 60");
    assert_eq!(post(&sandbox, "nonsense").status, 400);
    assert_eq!(post(&sandbox, "nonsense").status, 429);
}

#[test]
fn an_outage_begins_and_ends() {
    let sandbox = start("[outage]\nafter_requests = 1\nfor_s = 0.2");
    assert_eq!(post(&sandbox, &lead("+15550000001")).status, 200);
    let during = lead_request(&lead("+15550000002"));
    assert_eq!(exchange(&sandbox, &during), b"");
    let list = request("GET /api/user/campaigns", AUTH, "");
    assert_eq!(exchange(&sandbox, &list), b"");
    std::thread::sleep(Duration::from_millis(250));
    assert_eq!(parse(&exchange(&sandbox, &during)).status, 200);
    assert_eq!(sandbox.leads().len(), 2);

    for (style, status) in [("503", 503), ("502", 502)] {
        let outage = format!("[outage]\nafter_requests = 0\nfor_s = 60\nstyle = '{style}'");
        let answer = post(&start(&outage), &lead(ADA));
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("retry-after"), None);
        assert!(answer.body.starts_with("<!DOCTYPE html>"));
    }
}

#[test]
fn token_and_balance_run_out() {
    let sandbox = start("token_revoked_after = 1");
    assert_eq!(post(&sandbox, &lead(ADA)).status, 200);
    assert_eq!(post(&sandbox, &lead(ADA)).status, 401);
    assert_eq!(get(&sandbox, "/api/user/campaigns").status, 401);

    let sandbox = start("balance_after = 1");
    assert_eq!(post(&sandbox, &lead(ADA)).status, 200);
    let answer = post(&sandbox, &lead("+15550000001"));
    assert_eq!(answer.status, 402);
    assert_eq!(answer.json()["error"], "INSUFFICIENT_BALANCE");
}

#[test]
fn the_hidden_cap_makes_requests_queue() {
    let sandbox = start("latency_ms = 60\nmax_concurrent = 2");
    let start = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let body = lead(&format!("+1555000000{number}"));
            let sandbox = &sandbox;
            scope.spawn(move || assert_eq!(post(sandbox, &body).status, 200));
        }
    });
    assert!(start.elapsed() >= Duration::from_millis(180));
    assert_eq!(sandbox.stats().peak_in_flight, 6);
    assert_eq!(sandbox.stats().max_in_window(Duration::from_secs(60)), 6);
}

// Rules

#[test]
fn rules_play_any_exchange() {
    let sandbox = start(
        r#"
        [[rule]]
        phone_number = "+447911123456"
        attempts = [1]
        reply = { status = 302, headers = { location = "/login", content-type = "text/html" }, body = "moved" }
        [[rule]]
        phone_number = "+447911123456"
        attempts = [2, 4]
        reply = { store = true, then = "drop" }
        [[rule]]
        campaign_id = 102
        reply = { status = 201, store = true, body = '{"data":{"id":{id},"status":"blacklisted"}}' }
        [[rule]]
        phone_number = "+15550000001"
        reply = { body = "0123456789", headers = { x-ratelimit-limit = "9" } }
        [[rule]]
        phone_number = "+15550000002"
        reply = { then = "usual", delay_ms = 40 }
        "#,
    );
    let moved = post(&sandbox, &lead(ADA));
    assert_eq!((moved.status, moved.body.as_str()), (302, "moved"));
    assert_eq!(moved.header("location"), Some("/login"));
    assert_eq!(moved.header("content-type"), Some("text/html"));
    assert_eq!(sandbox.leads().len(), 0);
    assert_eq!(exchange(&sandbox, &lead_request(&lead(ADA))), b"");
    assert_eq!(sandbox.leads().len(), 1);
    assert_eq!(post(&sandbox, &lead(ADA)).status, 422);
    assert_eq!(exchange(&sandbox, &lead_request(&lead(ADA))), b"");
    assert_eq!(sandbox.leads().len(), 1);
    let other = post(&sandbox, &lead("+15550000009").replace("101", "102"));
    let expected = json!({"data": {"id": 2, "status": "blacklisted"}});
    assert_eq!((other.status, other.json()), (201, expected));
    let limited = post(&sandbox, &lead("+15550000001"));
    assert_eq!(limited.body, "0123456789");
    assert_eq!(limited.header("x-ratelimit-limit"), Some("9"));
    let start = Instant::now();
    assert_eq!(post(&sandbox, &lead("+15550000002")).status, 200);
    assert!(start.elapsed() >= Duration::from_millis(40));
}

#[test]
fn a_connection_serves_many_requests_even_refused_ones() {
    let sandbox = start("[[rate_limit]]\nrequests = 1\nper_s = 60");
    let mut tcp = TcpStream::connect(sandbox.addr()).unwrap();
    let kept = lead_request(&lead(ADA)).replace("Connection: close\r\n", "");
    for _ in 0..3 {
        tcp.write_all(kept.as_bytes()).unwrap();
        assert_ne!(tcp.read(&mut [0; 4096]).unwrap(), 0);
    }
    assert_eq!(sandbox.stats().lead_requests, 3);
    assert_eq!(sandbox.stats().connections, 1);
}

// Configuration

#[test]
fn the_sandbox_listens_on_loopback_only() {
    let config = SandboxConfig {
        listen: Some(([0, 0, 0, 0], 0).into()),
        ..SandboxConfig::default()
    };
    let error = Sandbox::start(config).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(
        error.to_string(),
        "the sandbox listens on loopback addresses only, such as 127.0.0.1:8088"
    );
    let config = SandboxConfig {
        listen: Some((std::net::Ipv6Addr::LOCALHOST, 0).into()),
        ..SandboxConfig::default()
    };
    // Not every machine has IPv6. With IPv6 the URL has brackets.
    if let Ok(sandbox) = Sandbox::start(config) {
        assert!(sandbox.base_url().starts_with("http://[::1]:"));
    }
}

#[test]
fn contradictions_are_found_at_the_start() {
    for scenario in [
        "max_concurrent = 0",
        "token = ''",
        "[[rate_limit]]\nrequests = 1\nper_s = 1e300",
        "[faults]\ndrop_after = 1.5",
        "[faults]\ndrop_after = 0.6\nunreadable = 0.6",
        "[[rate_limit]]\nrequests = 0\nper_s = 1",
        "[[rate_limit]]\nrequests = 1\nper_s = 1\nburst = 1",
        "[[rate_limit]]\nrequests = 1\nper_s = 1\nshape = 'token'\nburst = 0",
        "[[rate_limit]]\nrequests = 1\nper_s = 1\nother_user = { from_s = nan }",
        "[[rule]]\nphone_number = '0791'",
        "[[rule]]\nreply = { status = 100 }",
        "[[rule]]\nreply = { headers = { 'no name' = 'x' } }",
        "[outage]\nafter_requests = 1\nfor_s = -1",
    ] {
        let config = toml_edit::de::from_str(scenario).unwrap();
        let error = Sandbox::start(config).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{scenario}");
    }
    assert!(toml_edit::de::from_str::<SandboxConfig>("latency = 5").is_err());
}

#[test]
fn each_campaign_of_a_scenario_replaces_the_examples() {
    let sandbox = start("[[campaign]]\nid = 7\nname = 'Only one'");
    let list = get(&sandbox, "/api/user/campaigns").json();
    let names: BTreeSet<_> = list["campaigns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|campaign| campaign["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, BTreeSet::from(["Only one"]));
    assert_eq!(post(&sandbox, &lead(ADA)).status, 404);
}
