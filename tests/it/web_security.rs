//! `leadload web` over raw sockets: who is let in, what is left on the disk, and how several
//! starts find each other.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

#[cfg(unix)]
use crate::page_session::Session;
use crate::util::{Folder, Output, kill, wait_until};
#[cfg(unix)]
use crate::util::{contacts, service, signal};

const PATIENCE: Duration = Duration::from_secs(30);

const TRIAL: [&str; 3] = ["web", "--sandbox", "--no-open"];

/// A running page. It is killed when this is dropped.
struct Page {
    process: Option<Child>,
    port: u16,
    /// `/PREFIX/`.
    base: String,
    /// What the printed link asks for: `open?code=…`.
    open: String,
}

impl Page {
    fn start(folder: &Folder) -> Page {
        Page::with(folder, &[])
    }

    fn with(folder: &Folder, args: &[&str]) -> Page {
        let run = folder.leadload(&[&TRIAL[..], args].concat());
        Page::of(run.start())
    }

    fn of(mut process: Child) -> Page {
        let mut link = String::new();
        let stdout = process.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut link).unwrap();
        let (port, base, open) = parts(&link);
        Page {
            process: Some(process),
            port,
            base,
            open,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn request(&self, method: &str, page: &str, headers: &str, body: &str) -> String {
        let (base, port, length) = (&self.base, self.port, body.len());
        let mut stream = self.connect();
        let request = format!(
            "{method} {base}{page} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, page: &str, headers: &str) -> String {
        self.request("GET", page, headers, "")
    }

    /// Signs in with the printed link, as a browser that keeps the cookie.
    #[cfg(unix)]
    fn session(&self) -> Session {
        let (port, base, open) = (self.port, &self.base, &self.open);
        Session::sign_in(&format!("http://127.0.0.1:{port}{base}{open}"))
    }

    /// Signs in with the printed link; the header with the cookie.
    fn sign_in(&self) -> String {
        cookie(&self.get(&self.open, ""))
    }

    /// Waits for the end of the program after it was asked to end.
    fn end(mut self) -> Output {
        Output::of(self.process.take().unwrap())
    }

    fn kill(mut self) {
        kill(self.process.take().unwrap());
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            kill(process);
        }
    }
}

/// The port, the path before every page, and what is behind it.
fn parts(link: &str) -> (u16, String, String) {
    let line = link.strip_suffix('\n').unwrap();
    let rest = line.strip_prefix("http://127.0.0.1:").unwrap();
    let (port, path) = rest.split_once('/').unwrap();
    let (prefix, open) = path.split_once('/').unwrap();
    (
        port.parse().unwrap(),
        format!("/{prefix}/"),
        open.to_owned(),
    )
}

#[track_caller]
fn cookie(answer: &str) -> String {
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let line = answer.lines().find(|line| line.starts_with("set-cookie: "));
    let cookie = line.unwrap().strip_prefix("set-cookie: ").unwrap();
    format!("Cookie: {}\r\n", cookie.split(';').next().unwrap())
}

#[track_caller]
fn has_status(answer: &str, status: u16) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{answer}"
    );
    for header in [
        "content-security-policy: default-src 'none'; ",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "referrer-policy: same-origin",
        "x-frame-options: DENY",
    ] {
        assert!(answer.contains(header), "{answer}");
    }
    assert!(!answer.contains("unsafe-"), "{answer}");
}

fn state(folder: &Folder) -> PathBuf {
    let of_user = match cfg!(target_os = "macos") {
        true => "Library/Application Support",
        false => ".local/state",
    };
    folder.home().join(of_user).join("leadload/web")
}

/// Every file and folder below this one.
fn below(folder: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        all.extend(below(&path));
        all.insert(path);
    }
    all
}

#[test]
fn the_page_is_for_the_browser_that_followed_the_link() {
    let folder = Folder::new();
    let page = Page::start(&folder);
    has_status(&page.get("list", ""), 403);
    let cookie = page.sign_in();
    has_status(&page.get("list", &cookie), 200);
    has_status(&page.get("list", ""), 403);
    has_status(&page.get(&page.open, ""), 403);
    has_status(&page.get("no/such/page", &cookie), 404);
    has_status(&page.get("..%2f..%2fetc%2fpasswd", &cookie), 404);
    has_status(&page.request("PUT", "", &cookie, ""), 405);
    let other = Page::with(&folder, &["--ledger", "other"]);
    has_status(&other.get("list", &cookie), 403);
}

#[test]
fn the_cookie_of_a_former_start_is_worth_nothing() {
    let folder = Folder::new();
    let former = Page::start(&folder);
    let (port, cookie) = (former.port, former.sign_in());
    former.kill();
    let page = Page::with(&folder, &["--port", &port.to_string()]);
    assert_eq!(page.port, port);
    let answer = page.get("list", &cookie);
    has_status(&answer, 403);
    assert!(answer.contains("Start leadload again"));
}

#[test]
fn a_rebound_name_is_refused() {
    let folder = Folder::new();
    let page = Page::start(&folder);
    let cookie = page.sign_in();
    let mut stream = page.connect();
    let (base, port) = (&page.base, page.port);
    let request = format!(
        "GET {base} HTTP/1.1\r\nHost: evil.example:{port}\r\n{cookie}Sec-Fetch-Site: same-origin\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    has_status(&answer, 421);
}

#[test]
fn a_change_needs_our_origin_and_the_form_token() {
    let folder = Folder::new();
    let page = Page::start(&folder);
    let cookie = page.sign_in();
    let shown = page.get("list", &cookie);
    let (_, token) = shown.split_once("name=\"form_token\" value=\"").unwrap();
    let token = token.split('"').next().unwrap();
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let ours = format!("Origin: http://127.0.0.1:{}\r\n", page.port);
    let post = |origin: &str, body: &str| {
        let headers = format!("{cookie}{form}{origin}");
        page.request("POST", "no/such/page", &headers, body)
    };
    let right = format!("form_token={token}");
    has_status(&post("", &right), 403);
    has_status(&post("Origin: http://evil.example\r\n", &right), 403);
    has_status(&post(&ours, "form_token=0"), 403);
    has_status(&post(&ours, ""), 403);
    // The page's own router has been asked.
    has_status(&post(&ours, &right), 404);
    has_status(&post("Sec-Fetch-Site: same-origin\r\n", &right), 404);
}

#[test]
fn only_this_computer_can_connect() {
    let folder = Folder::new();
    let page = Page::start(&folder);
    // Any other address of this computer, such as the whole of 127.0.0.0/8 on Linux.
    let other = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 2), page.port));
    assert!(cfg!(not(target_os = "linux")) || other.is_ok());
}

#[cfg(unix)]
#[test]
fn everything_that_is_kept_is_for_its_owner_only() {
    let folder = Folder::new();
    let _page = Page::start(&folder);
    assert!(below(&state(&folder)).len() >= 3);
    are_private(&state(&folder));
}

/// The mode of each file and folder below this one.
#[cfg(unix)]
#[track_caller]
fn are_private(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for path in below(folder) {
        let found = path.metadata().unwrap();
        let mode = if found.is_dir() { 0o700 } else { 0o600 };
        let is_private = found.permissions().mode() & 0o777 == mode;
        assert!(
            is_private,
            "{:o} {}",
            found.permissions().mode(),
            path.display()
        );
    }
}

#[cfg(unix)]
#[test]
fn whatever_the_umask_what_is_made_is_for_its_owner_only_and_in_the_home_folder() {
    const OPEN: &str = "umask 0; exec \"$0\" \"$@\"";
    let folder = Folder::with_leads(&contacts(3));
    let temporary = tempfile::tempdir().unwrap();
    let (service, list) = (service(), folder.path("leads.csv"));
    let run = |args: &[&str]| {
        let place = temporary.path().to_str().unwrap();
        folder.through_shell(OPEN, args).env("TMPDIR", place)
    };
    let import = ["import", "leads.csv", "--campaign", "101", "--rate", "none"];
    run(&import).at(&service).expect(0);
    run(&["runs", "copy", "--to", "copy"]).expect(0);
    are_private(&folder.home());
    fs::remove_file(&list).unwrap();
    are_private(&folder.path("."));
    folder.write("leads.csv", contacts(3));
    let page = Page::of(run(&TRIAL).start());
    let session = page.session();
    let uploaded = session.upload("list", &[], Some(&list));
    session.arrive(&uploaded.to.expect(&uploaded.body));
    let suppressed = session.upload("do-not-call/list", &[], Some(&list));
    assert_eq!(suppressed.status, 303, "{}", suppressed.body);
    are_private(&folder.home());
    assert_eq!(below(temporary.path()), BTreeSet::new());
    let lists = |folder: &Folder| {
        let mut files = below(&state(folder)).into_iter();
        files.any(|path| path.ends_with("leads.csv"))
    };
    assert!(lists(&folder));
    // What a practice leaves that is killed goes with the next one.
    page.kill();
    let _page = Page::start(&folder);
    assert!(!lists(&folder));
}

#[cfg(unix)]
#[test]
fn a_folder_of_the_page_that_others_can_write_to_is_closed_to_them() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    Page::start(&folder).kill();
    let [own] = fs::read_dir(state(&folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
    let _page = Page::start(&folder);
    assert_eq!(own.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_second_start_opens_the_page_of_the_first() {
    let folder = Folder::new();
    let page = Page::start(&folder);
    for _ in 0..2 {
        let second = folder.leadload(&TRIAL).expect(0);
        let (port, base, open) = parts(&second.stdout);
        assert_eq!((port, &base), (page.port, &page.base));
        assert_ne!(open, page.open);
        second.tells("running already");
        has_status(&page.get("list", &cookie(&page.get(&open, ""))), 200);
        has_status(&page.get(&open, ""), 403);
    }
    has_status(&page.get("list", &page.sign_in()), 200);
}

#[test]
fn another_service_profile_or_ledger_has_a_page_of_its_own() {
    let folder = Folder::new();
    let mut ports = BTreeSet::new();
    let mut pages = Vec::new();
    for args in [
        &["web", "--no-open"][..],
        &["web", "--no-open", "--sandbox"],
        &["web", "--no-open", "--base-url", "http://127.0.0.1:1"],
        &["web", "--no-open", "--ledger", "other"],
    ] {
        let page = Page::of(folder.leadload(args).start());
        assert!(ports.insert(page.port), "{args:?}");
        pages.push(page);
    }
}

#[test]
fn without_a_ledger_there_is_no_page() {
    let folder = Folder::new();
    let run = folder.leadload(&["web", "--no-open", "--ledger", "none"]);
    let output = run.expect(2);
    output.tells("the page needs");
}

#[test]
fn several_starts_at_the_same_time_have_one_page() {
    let folder = Folder::new();
    let starts: Vec<Child> = (0..4).map(|_| folder.leadload(&TRIAL).start()).collect();
    let pages: Vec<Page> = starts.into_iter().map(Page::of).collect();
    let ports: BTreeSet<u16> = pages.iter().map(|page| page.port).collect();
    assert_eq!(ports.len(), 1);
}

#[test]
fn the_page_of_a_killed_process_is_replaced_at_its_port() {
    let folder = Folder::new();
    let killed = Page::start(&folder);
    let (port, base) = (killed.port, killed.base.clone());
    killed.kill();
    let page = Page::start(&folder);
    // Unless another program has taken it meanwhile.
    assert!(page.port == port || TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err());
    assert_ne!(page.base, base);
    has_status(&page.get("list", &page.sign_in()), 200);
}

#[cfg(unix)]
#[test]
fn a_page_that_does_not_answer_keeps_its_lists_to_itself() {
    let folder = Folder::new();
    let mut page = Page::start(&folder);
    let process = page.process.take().unwrap();
    signal(&process, "-STOP");
    let output = folder.leadload(&TRIAL).expect(6);
    output.tells("running already");
    signal(&process, "-CONT");
    page.process = Some(process);
    assert_eq!(Page::start(&folder).port, page.port);
}

#[test]
fn another_program_at_the_port_of_last_time_is_left_alone() {
    let folder = Folder::new();
    let killed = Page::start(&folder);
    let port = killed.port;
    killed.kill();
    let Ok(_other) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) else {
        return;
    };
    // It takes connections and never answers.
    let page = Page::start(&folder);
    assert_ne!(page.port, port);
    has_status(&page.get("list", &page.sign_in()), 200);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let folder = Folder::new();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let wanted = port.to_string();
    let args = [&TRIAL[..], &["--port", &wanted]].concat();
    let output = folder.leadload(&args).expect(2);
    assert_eq!(output.stdout, "");
    output.tells(&format!("{port}"));
    output.tells("`--port`");
}

#[test]
fn flags_that_cannot_be_used_are_refused_before_anything_is_served() {
    let folder = Folder::new();
    for args in [
        &["--port", "70000"][..],
        &["--sandbox", "--base-url", "https://a.example"],
        &["--base-url", "http://a.example"],
        &["--profile", "none-of-this-name"],
    ] {
        let output = folder.leadload(&[&["web", "--no-open"], args].concat());
        assert_eq!(output.expect(2).stdout, "", "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_page_and_leaves_only_its_port_behind() {
    let folder = Folder::new();
    for name in ["-INT", "-TERM", "-HUP"] {
        let page = Page::start(&folder);
        let port = page.port;
        // A connection that is open does not keep it.
        let _open = page.connect();
        signal(page.process.as_ref().unwrap(), name);
        let output = page.end();
        assert_eq!((output.code, output.stdout.as_str()), (0, ""));
        output.tells("window open");
        let files = below(&state(&folder));
        let files = files.iter().filter(|path| path.is_file());
        let mut names: Vec<&str> = files
            .map(|path| path.file_name().unwrap().to_str().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["in-use", "port", "starting"]);
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    }
}

/// A browser that notes its environment and its arguments, and does nothing else.
#[cfg(target_os = "linux")]
fn with_browser(folder: &Folder, args: &[&str]) -> crate::util::Run {
    use std::os::unix::fs::PermissionsExt;
    folder.write(
        "browser",
        "#!/bin/sh\nenv > environment\nprintf '%s\\n' \"$@\" > opened.new && mv opened.new opened\nsleep 30\n",
    );
    let browser = folder.path("browser");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o700)).unwrap();
    let run = folder.leadload(args);
    run.env("DISPLAY", ":99")
        .env("BROWSER", browser.to_str().unwrap())
}

/// What the browser was started with: the path of the file that leads it to the page.
#[cfg(target_os = "linux")]
fn opened(folder: &Folder) -> PathBuf {
    wait_until("opened", || folder.path("opened").exists());
    let opened = folder.read("opened");
    fs::remove_file(folder.path("opened")).unwrap();
    let path = opened.trim().strip_prefix("file://").unwrap();
    PathBuf::from(path)
}

#[cfg(target_os = "linux")]
fn link_in(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let (_, link) = text.split_once("content=\"0;url=").unwrap();
    format!("{}\n", link.split('"').next().unwrap())
}

/// The arguments of all processes of this computer, and what each of them was started with.
#[cfg(target_os = "linux")]
fn arguments_of_all() -> String {
    let mut all = String::new();
    for process in fs::read_dir("/proc").unwrap() {
        let process = process.unwrap().path();
        for file in ["cmdline", "environ"] {
            // It may have ended, or be another user's.
            let bytes = fs::read(process.join(file)).unwrap_or_default();
            all += &String::from_utf8_lossy(&bytes);
            all.push('\n');
        }
    }
    all
}

#[cfg(target_os = "linux")]
#[test]
fn the_browser_gets_there_by_a_private_file_and_the_link_is_in_no_arguments() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let page = Page::of(with_browser(&folder, &["web", "--sandbox"]).start());
    let file = opened(&folder);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let beside = file.parent().unwrap();
    assert_eq!((mode(&file), mode(beside)), (0o600, 0o700));
    let home = folder.home().canonicalize().unwrap();
    assert_eq!(beside.canonicalize().unwrap().parent(), Some(&*home));
    let name = beside.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("leadload-"), "{name}");

    let (port, base, open) = parts(&link_in(&file));
    assert_eq!((port, &base), (page.port, &page.base));
    assert_ne!(open, page.open);
    let arguments = arguments_of_all();
    assert!(arguments.contains(file.to_str().unwrap()));
    for secret in [&open, &page.open, &page.base] {
        assert!(!arguments.contains(secret.trim_matches('/')), "{secret}");
    }
    // The file is gone once it has been of use.
    let cookie = cookie(&page.get(&open, ""));
    assert!(!beside.exists());
    has_status(&page.get("list", &cookie), 200);
    has_status(&page.get("list", &page.sign_in()), 200);

    // So it is for a second start, whose file the first one removes.
    let second = with_browser(&folder, &["web", "--sandbox"]).expect(0);
    let file = opened(&folder);
    let (_, _, open) = parts(&link_in(&file));
    assert_ne!(parts(&second.stdout).2, open);
    assert!(page.get(&open, "").starts_with("HTTP/1.1 200 "));
    assert!(!file.parent().unwrap().exists());
}

#[cfg(target_os = "linux")]
#[test]
fn the_browser_gets_neither_the_token_nor_a_password_with_its_environment() {
    let folder = Folder::new();
    let secrets = [
        ("LEADLOAD_TOKEN", "1|s3cret-of-the-service"),
        ("LEADLOAD_TOKN", "1|s3cret-misspelled"),
        ("LEADLOAD_LEDGER", "s3cret.sqlite3"),
        ("leadload_token", "1|s3cret-as-on-windows"),
        ("PGPASSWORD", "s3cret-of-the-database"),
        ("PGPASSFILE", "/s3cret/pgpass"),
    ];
    let web = with_browser(&folder, &["web"]).env("XDG_CURRENT_DESKTOP", "GNOME");
    let web = secrets
        .iter()
        .fold(web, |web, (name, value)| web.env(name, value));
    let _page = Page::of(web.start());
    opened(&folder);
    let environment = folder.read("environment");
    assert!(!environment.contains("s3cret"), "{environment}");
    for (name, _) in secrets {
        assert!(!environment.contains(name), "{environment}");
    }
    // What a browser needs, it has.
    for line in [
        "DISPLAY=:99",
        "XDG_CURRENT_DESKTOP=GNOME",
        "HOME=/",
        "PATH=",
    ] {
        let has = environment.lines().any(|has| has.starts_with(line));
        assert!(has, "{line}: {environment}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_file_for_the_browser_is_removed_at_the_end_and_after_a_crash() {
    let folder = Folder::new();
    let page = Page::of(with_browser(&folder, &["web", "--sandbox"]).start());
    let file = opened(&folder);
    assert!(file.exists());
    signal(page.process.as_ref().unwrap(), "-TERM");
    assert_eq!(page.end().code, 0);
    assert!(!file.parent().unwrap().exists());

    let page = Page::of(with_browser(&folder, &["web", "--sandbox"]).start());
    let file = opened(&folder);
    page.kill();
    assert!(file.exists());
    let _next = Page::start(&folder);
    assert!(!file.parent().unwrap().exists());
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_display_or_a_browser_the_link_is_only_printed() {
    let folder = Folder::new();
    let without = with_browser(&folder, &["web", "--sandbox"]);
    let page = Page::of(
        without
            .env("DISPLAY", "")
            .env("WAYLAND_DISPLAY", "")
            .start(),
    );
    signal(page.process.as_ref().unwrap(), "-TERM");
    page.end().tells("the link above");
    assert!(!folder.path("opened").exists());

    let missing = with_browser(&folder, &["web", "--sandbox"]);
    let page = Page::of(missing.env("BROWSER", "").env("PATH", "/nowhere").start());
    has_status(&page.get("list", &page.sign_in()), 200);
}

#[test]
fn a_header_of_a_megabyte_does_not_stop_the_page() {
    let folder = Folder::new();
    let page = Page::start(&folder);
    let cookie = page.sign_in();
    let mut stream = page.connect();
    // The page does not have to read all of it.
    let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(1 << 20));
    let _ = stream.write_all(long.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431 "));
    has_status(&page.get("list", &cookie), 200);
}
