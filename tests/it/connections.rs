//! The connection to the service: TLS, certificates, proxies.

use std::net::SocketAddr;
#[cfg(unix)]
use std::{thread, time::Duration};

use leadload::sandbox::Sandbox;

use crate::relay::{Authority, Proxy, address_of, refusing_tls, socks_proxy};
use crate::util::{Folder, Output, Run, service};
#[cfg(unix)]
use crate::util::{contacts, scenario, signal, wait_for_requests};

/// A name that is in no DNS (RFC 2606), so only a proxy can reach it.
const NOWHERE: &str = "leads.example";

/// An address where nothing listens: no service uses port 1.
const DEAD: &str = "http://127.0.0.1:1";

const SECRET: &str = "pr0xySecret";

fn one_lead() -> Folder {
    Folder::with_leads("phone\n+447911000001\n")
}

/// Sends one lead, once, to `base_url` instead of the service.
fn import(folder: &Folder, service: &Sandbox, base_url: &str, args: &[&str]) -> Run {
    let once = ["--max-attempts", "1", "-v"];
    folder
        .import_leads(service, &[&once, args].concat())
        .env("LEADLOAD_BASE_URL", base_url)
}

/// The column `error` of the only row. Checks that nothing was sent,
/// because no connection was made.
#[track_caller]
fn why_nothing_was_sent(folder: &Folder, service: &Sandbox, output: &Output) -> String {
    let row = &folder.records("leads.results.csv")[0];
    assert_eq!(
        (row["status"].as_str(), row["error_code"].as_str()),
        ("failed", "connection"),
        "{}",
        output.stderr
    );
    assert_eq!(service.stats().lead_requests, 0);
    row["error"].clone()
}

#[test]
fn a_certificate_of_an_authority_in_the_ca_file_is_trusted() {
    let (folder, service, authority) = (one_lead(), service(), Authority::new());
    // The file has other certificates too.
    let pem = Authority::new().pem() + &authority.pem();
    folder.write("ca.pem", pem);
    let address = authority.tls_before(&service, "localhost");
    let base_url = format!("https://localhost:{}", address.port());
    import(&folder, &service, &base_url, &["--ca-file", "ca.pem"]).expect(0);
    assert_eq!(service.stats().created, 1);

    let campaigns = ["campaigns", "--base-url", &base_url, "--ca-file", "ca.pem"];
    let listed = folder.leadload(&campaigns).at(&service).expect(0);
    listed.shows("101");
}

#[test]
fn an_untrusted_certificate_is_reported_and_nothing_is_sent() {
    let (folder, service, authority) = (one_lead(), service(), Authority::new());
    folder.write("other.pem", Authority::new().pem());
    let address = authority.tls_before(&service, "localhost");
    let base_url = format!("https://localhost:{}", address.port());
    for args in [&[][..], &["--ca-file", "other.pem"]] {
        // Every row would fail the same way, so the first one stops the run.
        let stderr = import(&folder, &service, &base_url, args).expect(3).stderr;
        assert!(stderr.contains("not trusted"), "{stderr}");
        assert!(stderr.contains("--ca-file"), "{stderr}");
        assert_eq!(service.stats().lead_requests, 0);
        assert_eq!(folder.records("leads.results.csv").len(), 0);
    }
    // A second attempt would get the same certificate, so the program does not wait for one.
    let campaigns = ["campaigns", "--base-url", &base_url];
    let refused = folder.leadload(&campaigns).at(&service).expect(3);
    let stderr = refused.stderr;
    assert!(stderr.contains("not trusted"), "{stderr}");
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    let (folder, service, authority) = (one_lead(), service(), Authority::new());
    folder.write("ca.pem", authority.pem());
    let address = authority.tls_before(&service, NOWHERE);
    let base_url = format!("https://localhost:{}", address.port());
    let output = import(&folder, &service, &base_url, &["--ca-file", "ca.pem"]).expect(3);
    output.tells("another host");
}

#[test]
fn what_no_waiting_cures_stops_at_once_and_says_why() {
    let (service, authority) = (service(), Authority::new());
    let stops = |address: SocketAddr, why: &str| {
        let folder = one_lead();
        folder.write("ca.pem", authority.pem());
        let base_url = format!("https://localhost:{}", address.port());
        let args = ["--ca-file", "ca.pem", "--format", "json"];
        // Many attempts would be allowed.
        let import = folder.import_leads(&service, &args);
        let output = import.env("LEADLOAD_BASE_URL", &base_url).expect(3);
        let summary = output.json();
        let error = summary["error"].as_str().unwrap();
        assert!(error.contains(why), "{error}");
        assert_eq!(summary["stopped_by"], "outage");
        assert_eq!(summary["rows"], 0);
        assert_eq!(service.stats().lead_requests, 0);
    };
    let wanted = authority.tls_for_known_clients(&service, "localhost");
    stops(wanted, "client certificate");
    stops(authority.tls_as_itself(&service), "authority");
    stops(authority.nameless_tls_before(&service), "no host");
    // No common version, no common cipher.
    for alert in [70, 40] {
        stops(refusing_tls(alert), "TLS");
    }
}

/// Other systems have no variable for their certificates.
#[cfg(target_os = "linux")]
#[test]
fn the_systems_authorities_are_trusted_beside_those_of_the_ca_file() {
    let (folder, service) = (one_lead(), service());
    let (of_system, of_file) = (Authority::new(), Authority::new());
    folder.write("system.pem", of_system.pem());
    folder.write("ca.pem", of_file.pem());
    for authority in [of_system, of_file] {
        let address = authority.tls_before(&service, "localhost");
        let base_url = format!("https://localhost:{}", address.port());
        import(&folder, &service, &base_url, &["--ca-file", "ca.pem"])
            .env("SSL_CERT_FILE", folder.path("system.pem").to_str().unwrap())
            .expect(0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_system_without_certificates_is_reported_unless_none_is_needed() {
    let (folder, service) = (one_lead(), service());
    let without = |run: Run| {
        run.env("SSL_CERT_FILE", "/nowhere/certificates")
            .env("SSL_CERT_DIR", "/nowhere")
    };
    let output = without(import(&folder, &service, "https://localhost:1", &[])).expect(2);
    output.tells("ca-certificates");
    assert!(output.stdout.is_empty());
    without(import(&folder, &service, &service.base_url(), &[])).expect(0);
}

#[test]
fn a_ca_file_that_is_of_no_use_is_named_before_anything_is_sent() {
    let (folder, service) = (one_lead(), service());
    folder.write("empty.pem", "");
    let pem = Authority::new().pem();
    folder.write("damaged.pem", &pem[..pem.len() / 2]);
    for (name, reason) in [
        ("missing.pem", "cannot read"),
        ("empty.pem", "no certificate"),
        ("damaged.pem", "damaged"),
    ] {
        let args = ["--ca-file", name];
        let output = import(&folder, &service, &service.base_url(), &args).expect(2);
        let listed = folder.leadload(&["campaigns", "--ca-file", name]);
        for output in [output, listed.at(&service).expect(2)] {
            let stderr = output.stderr;
            assert!(stderr.contains(name) && stderr.contains(reason), "{stderr}");
            assert!(stderr.contains("hint: "), "{stderr}");
            assert!(output.stdout.is_empty());
        }
        // A trial uses no TLS.
        let trial = ["import", "leads.csv", "--campaign", "101", "--sandbox"];
        folder.leadload(&[&trial[..], &args].concat()).expect(0);
    }
    assert_eq!(service.stats().connections, 0);
    let check = ["check", "leads.csv", "--ca-file", "missing.pem"];
    folder.leadload(&check).expect(0);
}

/// Sends `leads.csv` in a shell that allows so many open files.
#[cfg(unix)]
fn with_open_files(folder: &Folder, service: &Sandbox, files: u32, args: &[&str]) -> Run {
    let script = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
    let import = ["import", "leads.csv", "--campaign", "101", "--rate", "none"];
    let run = folder.through_shell(&script, &[&import, args].concat());
    run.at(service)
}

#[cfg(unix)]
#[test]
fn where_few_files_may_be_open_fewer_requests_are_in_flight_and_the_results_are_written() {
    for concurrency in ["auto", "100"] {
        let folder = Folder::with_leads(&contacts(300));
        let service = scenario("latency_ms = 10");
        let args = ["--concurrency", concurrency];
        with_open_files(&folder, &service, 64, &args).expect(0);
        let statuses = folder.column("leads.results.csv", "status");
        assert_eq!(statuses, ["created"; 300]);
        let stats = service.stats();
        assert_eq!(stats.lead_requests, 300);
        assert!(stats.peak_in_flight <= 30, "{}", stats.peak_in_flight);
    }
}

#[cfg(unix)]
#[test]
fn where_too_few_files_may_be_open_nothing_is_sent() {
    let (folder, service) = (one_lead(), service());
    let refused = with_open_files(&folder, &service, 32, &[]).expect(5);
    refused.tells("32 files");
    refused.tells("ulimit -n");
    assert_eq!(service.stats().connections, 0);
    assert_eq!(folder.names(), ["leads.csv"]);
}

/// After Ctrl-Z and `fg`, or in a container that was paused.
#[cfg(unix)]
#[test]
fn an_answer_that_came_while_the_program_stood_still_counts_after_the_time_limit() {
    let (folder, service) = (one_lead(), scenario("latency_ms = 300"));
    let child = folder.import_leads(&service, &["--timeout", "1s"]).start();
    wait_for_requests(&service, 1);
    signal(&child, "-STOP");
    thread::sleep(Duration::from_millis(1500));
    signal(&child, "-CONT");
    let output = Output::of(child);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let row = &folder.records("leads.results.csv")[0];
    assert_eq!((&*row["status"], &*row["error_code"]), ("created", ""));
    assert_eq!(service.stats().lead_requests, 1);
}

#[test]
fn this_computer_is_never_reached_through_a_proxy() {
    let (folder, service) = (one_lead(), service());
    let (with_number, with_name) = (service.base_url(), address_of(&service).port());
    for base_url in [with_number, format!("http://localhost:{with_name}")] {
        import(&folder, &service, &base_url, &["--ledger", "none"])
            .env("HTTP_PROXY", DEAD)
            .env("http_proxy", DEAD)
            .env("ALL_PROXY", UNREADABLE[0])
            .expect(0);
    }
    assert_eq!(service.stats().lead_requests, 2);
}

/// Values that the HTTP library takes for no proxy, or for another one.
const UNREADABLE: [&str; 7] = [
    "'http://pr0xySecret.example:3128'",
    "“http://pr0xySecret.example:3128”",
    "http://me:pr0xySecret@proxy.example :3128",
    "htp://me:pr0xySecret@proxy.example:3128",
    "http://pr0xySecret.example:port",
    "http://me:1#pr0xySecret@proxy.example:3128",
    "http://me:1/pr0xySecret@proxy.example:3128",
];

#[test]
fn a_proxy_that_cannot_be_read_is_named_and_nothing_goes_past_it() {
    let (folder, service) = (one_lead(), service());
    let (plain, tls) = (format!("http://{NOWHERE}"), format!("https://{NOWHERE}"));
    for (name, base_url) in [
        ("HTTPS_PROXY", &tls),
        ("https_proxy", &tls),
        ("HTTP_PROXY", &plain),
        ("http_proxy", &plain),
        ("ALL_PROXY", &tls),
        ("all_proxy", &plain),
    ] {
        for value in UNREADABLE {
            let output = import(&folder, &service, base_url, &["--insecure-http"])
                .env(name, value)
                .expect(2);
            output.tells(name);
            if value.contains('#') {
                output.tells("`%23`");
            }
            assert!(!output.stderr.contains(SECRET), "{}", output.stderr);
            assert_eq!(output.stdout, "");
        }
    }
    for list in [
        "'leads.example'",
        "*.example",
        "localhost leads.example:443",
    ] {
        let output = import(&folder, &service, &tls, &[])
            .env("HTTPS_PROXY", DEAD)
            .env("NO_PROXY", list)
            .expect(2);
        output.tells("NO_PROXY");
    }
}

#[test]
fn every_command_looks_at_the_proxy_before_it_talks_to_the_service() {
    let (folder, service) = (one_lead(), service());
    let proxy = Proxy::to(address_of(&service));
    let plain = format!("http://{NOWHERE}");
    // Spaces around it do no harm.
    import(&folder, &service, &plain, &["--insecure-http"])
        .env("HTTP_PROXY", &format!(" http://{} ", proxy.address))
        .expect(0);
    assert_eq!(service.stats().created, 1);
    let connections = proxy.connections();
    assert!(connections > 0);
    let run = |args: &str| {
        folder
            .leadload(&args.split(' ').collect::<Vec<_>>())
            .at(&service)
            .env("LEADLOAD_BASE_URL", &plain)
            .env("HTTP_PROXY", UNREADABLE[0])
    };
    for args in [
        "import leads.csv --campaign 101",
        "check leads.csv --campaign Spring",
        "campaigns",
        "runs undo last --yes",
        "runs reconcile last",
        "config init",
        "web --no-open",
    ] {
        let output = run(args).args("--insecure-http").expect(2);
        output.tells("HTTP_PROXY");
    }
    // These talk to nobody.
    for args in [
        "check leads.csv --campaign 101 --insecure-http",
        "import leads.csv --campaign 101 --sandbox",
        "runs",
        "config show --insecure-http",
    ] {
        run(args).expect(0);
    }
    assert_eq!(proxy.connections(), connections);
}

#[test]
fn the_proxy_of_the_environment_is_used_and_its_password_kept_secret() {
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        let (folder, service) = (one_lead(), service());
        let proxy = Proxy::to(address_of(&service));
        let base_url = format!("http://{NOWHERE}");
        let output = import(&folder, &service, &base_url, &["--insecure-http", "-vv"])
            .env(name, &format!("http://me:{SECRET}@{}", proxy.address))
            .expect(0);
        assert_eq!(service.stats().created, 1, "{name}");
        let head = &proxy.heads()[0];
        let line = format!("POST http://{NOWHERE}/api/user/lead HTTP/1.1\r\n");
        assert!(head.starts_with(&line), "{head}");
        // me:pr0xySecret
        assert!(head.contains("Basic bWU6cHIweHlTZWNyZXQ="), "{head}");
        let shown = output.stdout + &output.stderr + &folder.read("leads.results.csv");
        assert!(!shown.contains(SECRET), "{shown}");
        assert!(!shown.contains("bWU6cHIw"), "{shown}");
    }
}

#[test]
fn no_proxy_is_used_for_what_no_proxy_names() {
    let (folder, service) = (one_lead(), service());
    let proxy = Proxy::to(address_of(&service));
    // Longer than a host name can be, so DNS is not asked.
    let base_url = format!("http://{}.example", "x".repeat(64));
    let output = import(&folder, &service, &base_url, &["--insecure-http"])
        .env("HTTP_PROXY", &format!("http://{}", proxy.address))
        .env("NO_PROXY", "other.test,.example")
        .expect(1);
    let why = why_nothing_was_sent(&folder, &service, &output);
    assert!(why.contains("no address"), "{why}");
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn https_goes_through_a_tunnel_that_the_proxy_makes() {
    let (folder, service, authority) = (one_lead(), service(), Authority::new());
    folder.write("ca.pem", authority.pem());
    let proxy = Proxy::to(authority.tls_before(&service, NOWHERE));
    let base_url = format!("https://{NOWHERE}");
    import(&folder, &service, &base_url, &["--ca-file", "ca.pem"])
        .env("HTTPS_PROXY", &proxy.address.to_string())
        .expect(0);
    assert_eq!(service.stats().created, 1);
    let head = &proxy.heads()[0];
    assert!(head.starts_with("CONNECT leads.example:443 HTTP/1.1\r\n"));
    // The proxy must not get the token: it is for the service.
    assert!(!head.contains(service.token()), "{head}");
}

#[test]
fn a_proxy_that_does_not_connect_has_sent_nothing_on() {
    let service = service();
    let target = address_of(&service);
    let refusing = |status| Proxy::answering(status, target).address.to_string();
    for (proxy, reason, code) in [
        (refusing("403 Forbidden"), "refuses", 3),
        (refusing("407 Login"), "user name", 3),
        (DEAD.to_owned(), "reached", 1),
    ] {
        let folder = one_lead();
        let output = import(&folder, &service, &format!("https://{NOWHERE}"), &["-vv"])
            .env(
                "HTTPS_PROXY",
                &proxy.replace("http://", &format!("http://me:{SECRET}@")),
            )
            .expect(code);
        // What a refusal stops has no outcome.
        let why = match code {
            1 => why_nothing_was_sent(&folder, &service, &output),
            _ => output.stderr.clone(),
        };
        assert!(why.contains(reason), "{why}");
        let shown = output.stdout + &output.stderr + &why;
        assert!(!shown.contains(SECRET), "{shown}");
    }
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn a_socks_proxy_will_do() {
    let (folder, service) = (one_lead(), service());
    let proxy = socks_proxy(address_of(&service));
    let base_url = format!("http://{NOWHERE}");
    import(&folder, &service, &base_url, &["--insecure-http"])
        .env("ALL_PROXY", &format!("socks5h://{proxy}"))
        .expect(0);
    assert_eq!(service.stats().created, 1);
}
