//! The pages in `docs`, read from top to bottom by a new user: an empty home folder, an empty
//! folder to work in, and a service that takes any token.
//!
//! What is done with which block of a page:
//!
//! - `console`: what follows `$ ` is typed, lines after `> ` belong to it, and the rest is what
//!   comes of it, apart from times and the like (see [`normalised`]);
//! - `sh`: every line is typed; it ends with exit code 0, or with what a remark at its end says
//!   (`# exit code 1`);
//! - anything else is not run.
//!
//! `UPDATE_RECIPES=1 cargo test recipes` writes what has come of it into the pages.

use std::path::{Path, PathBuf};

use crate::transcript::normalised;
use crate::util::{Folder, sample_data, scenario};

/// Where the pages say that the service is.
const ADDRESS: &str = "http://127.0.0.1:8088";

/// What is typed, and where it stands.
struct Command {
    text: String,
    /// The lines of the page (from 0) in which stands what comes of it; none for a line of a
    /// script.
    shown: Option<std::ops::Range<usize>>,
    exit_code: Option<i32>,
}

/// The commands of a page.
fn commands(page: &str) -> Vec<Command> {
    let lines: Vec<&str> = page.lines().map(str::trim_start).collect();
    let mut commands: Vec<Command> = Vec::new();
    let mut block = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            block = match (block, info) {
                (None, info) => Some(info),
                (Some(_), _) => None,
            };
            continue;
        }
        match block {
            Some("sh") => commands.push(Command {
                text: (*line).to_owned(),
                shown: None,
                exit_code: Some(code_in(line)),
            }),
            Some("console") => match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(text), _) => commands.push(Command {
                    text: text.to_owned(),
                    shown: Some(at + 1..at + 1),
                    exit_code: None,
                }),
                (None, Some(command)) => {
                    match line.strip_prefix("> ") {
                        Some(text) => {
                            command.text.push_str(&format!("\n{text}"));
                            command.shown = Some(at + 1..at + 1);
                        }
                        None => command.shown = command.shown.take().map(|r| r.start..at + 1),
                    };
                }
                (None, None) => panic!("line {}: output of no command", at + 1),
            },
            _ => {}
        }
    }
    commands
}

/// The exit code that a line says it ends with.
fn code_in(line: &str) -> i32 {
    let code = line.rsplit_once("# exit code ");
    code.map_or(0, |(_, code)| code.trim().parse().unwrap())
}

/// What has come of a command.
struct Came {
    output: String,
    exit_code: i32,
}

/// Runs all in one shell, so that each finds what those before have left.
fn run(folder: &Folder, commands: &[&Command], base_url: &str) -> Vec<Came> {
    let mut script = String::from("exec 2>&1\n");
    for command in commands {
        let typed = command.text.replace(ADDRESS, base_url);
        // What `$?` is stays as it is.
        script.push_str(&format!(
            "{typed}\nended=$?; printf '\\036%s\\036' $ended; (exit $ended)\n"
        ));
    }
    let program = Path::new(env!("CARGO_BIN_EXE_leadload")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.display());
    let output = folder
        .through_shell(&script, &[])
        .env("PATH", &path)
        .output();
    let parts: Vec<&str> = output.stdout.split('\u{1e}').collect();
    parts
        .chunks_exact(2)
        .map(|came| Came {
            // A terminal does not show the byte order mark of rejects.
            output: came[0].replace(base_url, ADDRESS).replace('\u{FEFF}', ""),
            exit_code: came[1].parse().unwrap(),
        })
        .collect()
}

/// Runs the commands of a page that `is_run` takes, after those of `before`.
fn walk_through(
    page: &Path,
    folder: &Folder,
    before: &[Command],
    is_run: impl Fn(&Command) -> bool,
) {
    let name = page.file_name().unwrap().to_string_lossy();
    let text = std::fs::read_to_string(page).unwrap();
    let all = commands(&text);
    let chosen: Vec<&Command> = all.iter().filter(|command| is_run(command)).collect();
    let typed: Vec<&Command> = before.iter().chain(chosen.iter().copied()).collect();
    let service = scenario("any_token = true");
    let came = run(folder, &typed, &service.base_url());
    assert_eq!(came.len(), typed.len(), "{name}: the shell ended early");
    let came = &came[before.len()..];
    if std::env::var_os("UPDATE_RECIPES").is_some() {
        return std::fs::write(page, updated(&text, &chosen, came)).unwrap();
    }
    let lines: Vec<&str> = text.lines().collect();
    for (command, came) in chosen.iter().zip(came) {
        if let Some(code) = command.exit_code {
            let Came { output, exit_code } = came;
            assert_eq!(*exit_code, code, "{name}: {}\n{output}", command.text);
        }
        if let Some(shown) = &command.shown {
            let expected: Vec<&str> = lines[shown.clone()].iter().map(|l| l.trim()).collect();
            let expected = normalised(expected.join("\n").trim_end(), folder);
            let output: Vec<&str> = came.output.lines().map(str::trim).collect();
            let output = normalised(output.join("\n").trim_end(), folder);
            assert_eq!(output, expected, "{name}: {}", command.text);
        }
    }
}

/// The page with what has come of the commands.
fn updated(page: &str, commands: &[&Command], came: &[Came]) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let mut result = Vec::new();
    let mut at = 0;
    for (command, came) in commands.iter().zip(came) {
        if let Some(shown) = &command.shown {
            result.extend(lines[at..shown.start].iter().map(|&line| line.to_owned()));
            let indent = lines[shown.start - 1];
            let indent = &indent[..indent.len() - indent.trim_start().len()];
            let output = came.output.trim_end().lines();
            result.extend(output.map(|line| format!("{indent}{line}").trim_end().to_owned()));
            at = shown.end;
        }
    }
    result.extend(lines[at..].iter().map(|&line| line.to_owned()));
    result.join("\n") + "\n"
}

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name)
}

/// A page whose reader has done what the index of the pages says.
#[track_caller]
fn recipe(name: &str) {
    let index = std::fs::read_to_string(docs("README.md")).unwrap();
    walk_through(&docs(name), &Folder::new(), &commands(&index), |_| true);
}

#[test]
fn every_night() {
    recipe("nightly.md");
}

#[test]
fn a_migration() {
    recipe("migration.md");
}

#[test]
fn mending_rejects() {
    recipe("mending.md");
}

#[test]
fn a_wrong_mapping() {
    recipe("wrong-mapping.md");
}

#[test]
fn completions_and_manual() {
    recipe("shell.md");
}

/// Where nothing can be run there is nothing to run.
#[test]
fn containers_and_windows() {
    for name in ["container.md", "kubernetes.md", "powershell.md"] {
        let page = std::fs::read_to_string(docs(name)).unwrap();
        assert_eq!(commands(&page).len(), 0, "{name}");
    }
}

#[test]
fn every_page_is_in_the_index_and_every_link_leads_somewhere() {
    let index = std::fs::read_to_string(docs("README.md")).unwrap();
    for entry in std::fs::read_dir(docs("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "README.md" {
            assert!(index.contains(&format!("]({name})")), "{name}");
            let page = std::fs::read_to_string(docs(&name)).unwrap();
            links(&page).for_each(|link| assert!(docs(link).exists(), "{name}: {link}"));
        }
    }
    links(&index).for_each(|link| assert!(docs(link).exists(), "{link}"));
}

/// Links to other files.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| {
        let (link, _) = rest.split_once(')')?;
        let file = link.split('#').next()?;
        (!file.is_empty() && !file.contains("://")).then_some(file)
    })
}

/// The command that systemd starts, and its flags, are those of the page.
#[test]
fn the_unit_runs_the_command_of_the_page() {
    let unit = std::fs::read_to_string(docs("systemd/leadload-import.service")).unwrap();
    let line = unit.lines().find_map(|l| l.strip_prefix("ExecStart="));
    let command = line.unwrap().trim_start_matches("/usr/local/bin/");
    let page = std::fs::read_to_string(docs("nightly.md")).unwrap();
    let (same, log) = command.split_once(" --log-format").unwrap();
    assert!(page.contains(&format!("\n{same} --quiet")), "{same}");
    assert_eq!(log, " json --format json -v");

    let folder = Folder::new();
    folder.write("all-contacts.csv", "phone\n+447700900401\n+447700900402\n");
    folder.write("do-not-call.csv", "phone\n+447700900499\n");
    let service = scenario("");
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    folder.leadload(&args).at(&service).expect(0);
    assert_eq!(service.stats().created, 2);
}

/// The command of the CronJob is that of the page, too.
#[test]
fn kubernetes_runs_the_command_of_the_unit() {
    let page = std::fs::read_to_string(docs("kubernetes.md")).unwrap();
    let (_, args) = page.split_once("args: [import, ").unwrap();
    let (args, _) = args.split_once(']').unwrap();
    let args = args.replace('"', "").replace(", ", " ");
    let unit = std::fs::read_to_string(docs("systemd/leadload-import.service")).unwrap();
    assert!(
        unit.contains(&format!("/leadload import {args}\n")),
        "{args}"
    );
}

/// Where systemd is, it has the last word.
#[test]
#[cfg(target_os = "linux")]
fn systemd_takes_the_units() {
    let folder = Folder::new();
    let names = [
        "leadload-import.service",
        "leadload-import.timer",
        "leadload-import-failed.service",
    ];
    for name in names {
        let unit = std::fs::read_to_string(docs("systemd").join(name)).unwrap();
        // It wants to see the program, which need not be installed.
        let unit = unit.replace("/usr/local/bin/leadload", env!("CARGO_BIN_EXE_leadload"));
        folder.write(name, unit);
    }
    let verified = std::process::Command::new("systemd-analyze")
        .arg("verify")
        .args(names)
        .current_dir(folder.path(""))
        .output();
    let Ok(output) = verified else {
        return;
    };
    // It may have something to say of the units of this machine too.
    let said = String::from_utf8(output.stderr).unwrap();
    let of_ours: Vec<&str> = said.lines().filter(|l| l.contains("leadload")).collect();
    assert!(of_ours.is_empty(), "{said}");
}

/// What the image is built of is there.
#[test]
fn the_container_file_copies_what_there_is() {
    let file = std::fs::read_to_string(docs("Containerfile")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copied: Vec<&str> = file
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .filter(|line| !line.starts_with("--from"))
        .flat_map(|line| line.split(' ').rev().skip(1))
        .collect();
    assert_eq!(copied, ["Cargo.lock", "Cargo.toml", "src", "benches"]);
    assert!(copied.iter().all(|name| root.join(name).exists()));
    // And nothing else is handed to the builder.
    let ignored = std::fs::read_to_string(root.join(".dockerignore")).unwrap();
    let lines = ignored.lines().filter(|line| !line.starts_with('#'));
    let mut let_through: Vec<&str> = lines.collect();
    assert_eq!(let_through.remove(0), "*");
    let mut expected = copied.iter().map(|name| format!("!{name}"));
    assert_eq!(let_through.len(), copied.len());
    assert!(expected.all(|line| let_through.contains(&line.as_str())));
}

/// Commands of the README that no test can run: they would build the program again, never
/// end, or tell of runs that nobody has made.
const NOT_RUN: [&str; 3] = ["cargo test", "leadload sandbox", "leadload runs"];

#[test]
fn the_readme() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sample-data")).unwrap();
    for name in [
        "contacts.csv",
        "kontakte.csv",
        "us-contacts.csv",
        "do-not-call.txt",
    ] {
        let list = std::fs::read(sample_data(name)).unwrap();
        folder.write(&format!("sample-data/{name}"), &list);
        folder.write(name, &list);
    }
    // As cargo starts what it has built.
    let built = folder.path("target/release");
    std::fs::create_dir_all(&built).unwrap();
    let program = env!("CARGO_BIN_EXE_leadload");
    std::os::unix::fs::symlink(program, built.join("leadload")).unwrap();
    folder.write(
        "cargo",
        "#!/bin/sh\nshift 3\nexec target/release/leadload \"$@\"\n",
    );
    let before = [Command {
        text: "cargo() { sh ./cargo \"$@\"; }".to_owned(),
        shown: None,
        exit_code: Some(0),
    }];
    walk_through(&readme, &folder, &before, |command| {
        command.shown.is_some() && !NOT_RUN.iter().any(|not| command.text.starts_with(not))
    });
}
