//! The address of the service, and how it is reached.

use super::{Page, import};
use crate::relay::Authority;
use crate::util::{Folder, Run, service};

fn campaigns(folder: &Folder, base_url: &str, args: &[&str]) -> Run {
    folder
        .leadload(&[&["campaigns"], args].concat())
        .env("LEADLOAD_BASE_URL", base_url)
        .env("LEADLOAD_TOKEN", "sandbox-token")
}

#[test]
fn of_the_connection() {
    let folder = Folder::with_leads(super::ONE);
    let mut page = Page::default();
    page.add(&folder, folder.leadload(&["campaigns"]));
    for base_url in [
        "app.example.com",
        "ftp://app.example.com",
        "1|abcdefghijklmnopqrst",
        "https://user:word@app.example.com",
        "https://app.example.com/?a=b",
        "http://app.example.com/api",
    ] {
        let args = ["--base-url", base_url];
        page.add(&folder, campaigns(&folder, "", &args));
    }
    page.add(&folder, campaigns(&folder, "nowhere", &[]));
    for (name, value) in [
        ("HTTPS_PROXY", "'http://proxy.example:80'"),
        ("HTTPS_PROXY", "http://me:a#b@proxy.example"),
        ("NO_PROXY", "*.example"),
    ] {
        let run = campaigns(&folder, "https://app.example.com", &[]);
        page.add(&folder, run.env(name, value));
    }
    page.is("connection");
}

#[test]
fn of_certificates() {
    let (folder, service, authority) =
        (Folder::with_leads(super::ONE), service(), Authority::new());
    folder.write("none.pem", "not a certificate");
    folder.write(
        "damaged.pem",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    folder.write("ca.pem", authority.pem());
    folder.write("other.pem", Authority::new().pem());
    let mut page = Page::default();
    for file in ["nowhere.pem", "none.pem", "damaged.pem"] {
        let run = campaigns(&folder, "https://localhost:1", &["--ca-file", file]);
        page.add(&folder, run);
    }
    let address = authority.tls_before(&service, "localhost");
    let base_url = format!("https://localhost:{}", address.port());
    let run = campaigns(&folder, &base_url, &["--ca-file", "other.pem"]);
    page.add(&folder, run);
    let send = |base_url: &str, ca: &str| {
        import(&folder, &service, &["--ca-file", ca]).env("LEADLOAD_BASE_URL", base_url)
    };
    page.add_of_begun(&folder, send(&base_url, "other.pem"));
    let elsewhere = authority.tls_before(&service, "leads.example");
    let base_url = format!("https://localhost:{}", elsewhere.port());
    page.add_of_begun(&folder, send(&base_url, "ca.pem"));
    page.is("certificates");
}
