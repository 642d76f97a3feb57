//! Runs the README and the pages in `docs` from top to bottom as a new user: with an empty
//! home folder, a folder with the sample lists, and a service that accepts any token.
//!
//! How the tests run the blocks of a page:
//!
//! - `console`: the text after `$ ` is typed, and lines after `> ` continue it. The
//!   rest must be its output, except for times and the like (see [`normalised`]).
//! - `sh`: every line is typed. It must end with exit code 0, or with the
//!   code in the comment at its end (`# exit code 1`).
//! - `csv NAME`: the list is saved under that name.
//! - All other blocks are not run.
//!
//! `UPDATE_RECIPES=1 cargo test recipes` writes the output of the commands into the pages.

use std::path::{Path, PathBuf};

use crate::transcript::normalised;
use crate::util::{Folder, sample_data, scenario};

/// The address of the service in the pages.
const ADDRESS: &str = "http://127.0.0.1:8088";

/// The run in the rejects of a page.
const RUN: &str = "1-dwxnb";

/// A command of a page.
pub struct Command {
    pub text: String,
    /// The lines of the page (from 0) with its output; `None` for a line of a script.
    shown: Option<std::ops::Range<usize>>,
    /// The exit codes it may end with; empty if the page does not say.
    exit_codes: Vec<i32>,
}

/// What begins a block with a list.
const LIST: &str = "csv ";

/// The commands of a page.
pub fn commands(page: &str) -> Vec<Command> {
    let lines: Vec<&str> = page.lines().map(str::trim_start).collect();
    let mut commands: Vec<Command> = Vec::new();
    let mut block = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            match (block, info.strip_prefix(LIST)) {
                (None, Some(name)) => commands.push(Command {
                    text: format!("cat > {name} <<'EOF'"),
                    shown: None,
                    exit_codes: vec![0],
                }),
                (Some(LIST), _) => commands.last_mut().unwrap().text.push_str("\nEOF"),
                _ => {}
            }
            block = match (block, info) {
                (None, info) => Some(if info.starts_with(LIST) { LIST } else { info }),
                (Some(_), _) => None,
            };
            continue;
        }
        match block {
            Some(LIST) => {
                let list = commands.last_mut().unwrap();
                list.text.push_str(&format!("\n{line}"));
            }
            Some("sh") => commands.push(Command {
                text: (*line).to_owned(),
                shown: None,
                exit_codes: vec![code_in(line)],
            }),
            Some("console") => match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(text), _) => commands.push(Command {
                    text: text.to_owned(),
                    shown: Some(at + 1..at + 1),
                    exit_codes: vec![],
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

/// The exit code in the comment of a line.
fn code_in(line: &str) -> i32 {
    let code = line.rsplit_once("# exit code ");
    code.map_or(0, |(_, code)| code.trim().parse().unwrap())
}

/// How a command ended.
pub struct Ended {
    pub output: String,
    pub exit_code: i32,
}

/// Runs all commands in one shell, so that each finds what the earlier ones have left.
pub fn run(folder: &Folder, commands: &[&str], base_url: &str) -> Vec<Ended> {
    let mut script = String::from("exec 2>&1\n");
    for command in commands {
        let mut typed = command.replace(ADDRESS, base_url);
        if let (Some(list), true) = (typed.strip_prefix("cat > "), typed.contains(RUN)) {
            // The letters are random: those of the rejects that are replaced are put in.
            let name = list.split_whitespace().next().unwrap();
            let run = format!("run=$(grep -oE '1-[b-z]{{5}}' {name} | head -n 1)");
            typed = format!("{run}\nsed s/{RUN}/$run/ > {list}");
        }
        // Keeps `$?` for the next command.
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
        .map(|part| Ended {
            // A terminal does not show the byte order mark of rejects.
            output: part[0].replace(base_url, ADDRESS).replace('\u{FEFF}', ""),
            exit_code: part[1].parse().unwrap(),
        })
        .collect()
}

/// Runs the commands `chosen` of a page after the commands `before`, and compares their output.
fn walk_through(page: &Path, folder: &Folder, before: &[Command], chosen: &[Command]) {
    let name = page.file_name().unwrap().to_string_lossy();
    let text = read(page);
    let typed = before.iter().chain(chosen);
    let typed: Vec<&str> = typed.map(|command| command.text.as_str()).collect();
    let service = scenario("any_token = true");
    let ended = run(folder, &typed, &service.base_url());
    assert_eq!(ended.len(), typed.len(), "{name}: the shell ended early");
    let ended = &ended[before.len()..];
    if std::env::var_os("UPDATE_RECIPES").is_some() {
        return std::fs::write(page, updated(&text, chosen, ended)).unwrap();
    }
    let lines: Vec<&str> = text.lines().collect();
    for (command, ended) in chosen.iter().zip(ended) {
        let Ended { output, exit_code } = ended;
        let codes = &command.exit_codes;
        assert!(
            codes.is_empty() || codes.contains(exit_code),
            "{name}: {} ends with {exit_code}\n{output}",
            command.text
        );
        if let Some(shown) = &command.shown {
            let expected: Vec<&str> = lines[shown.clone()].iter().map(|l| l.trim()).collect();
            let expected = normalised(expected.join("\n").trim_end(), folder);
            let output: Vec<&str> = output.lines().map(str::trim).collect();
            let output = normalised(output.join("\n").trim_end(), folder);
            assert_eq!(output, expected, "{name}: {}", command.text);
        }
    }
}

/// The page with the output of the commands.
fn updated(page: &str, commands: &[Command], ended: &[Ended]) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let mut result = Vec::new();
    let mut at = 0;
    for (command, ended) in commands.iter().zip(ended) {
        if let Some(shown) = &command.shown {
            result.extend(lines[at..shown.start].iter().map(|&line| line.to_owned()));
            let indent = lines[shown.start - 1];
            let indent = &indent[..indent.len() - indent.trim_start().len()];
            let output = ended.output.trim_end().lines();
            result.extend(output.map(|line| format!("{indent}{line}").trim_end().to_owned()));
            at = shown.end;
        }
    }
    result.extend(lines[at..].iter().map(|&line| line.to_owned()));
    result.join("\n") + "\n"
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn docs(name: &str) -> PathBuf {
    root().join("docs").join(name)
}

pub fn packaged(name: &str) -> PathBuf {
    root().join("packaging").join(name)
}

pub fn read(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap()
}

/// A folder with the lists that the pages do not create themselves.
fn folder_with_lists() -> Folder {
    let folder = Folder::new();
    for name in [
        "contacts.csv",
        "kontakte.csv",
        "us-contacts.csv",
        "do-not-call.txt",
    ] {
        folder.write(name, std::fs::read(sample_data(name)).unwrap());
    }
    folder
}

/// Runs a page as a reader who has followed the index.
#[track_caller]
fn recipe(name: &str) {
    recipe_in(&folder_with_lists(), name);
}

#[track_caller]
fn recipe_in(folder: &Folder, name: &str) {
    let page = docs(name);
    let index = commands(&read(&docs("README.md")));
    walk_through(&page, folder, &index, &commands(&read(&page)));
}

/// Three customers.
const CUSTOMERS: &str =
    "old_id,phone,campaign\nc-1,+447700900601,101\nc-2,+447700900602,102\nc-3,+447700900603,101\n";

#[test]
fn uploading_a_list() {
    recipe("upload.md");
}

/// A settings file for all profiles that sets no limit, so that leads take no time.
pub fn without_limit(folder: &Folder) {
    let settings = folder.config();
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(settings, "rate = \"none\"\n").unwrap();
}

#[test]
fn every_night() {
    let folder = folder_with_lists();
    without_limit(&folder);
    recipe_in(&folder, "nightly.md");
}

#[test]
fn a_migration() {
    recipe("migration.md");
}

#[test]
fn fixing_rejects() {
    recipe("rejects.md");
}

#[test]
fn a_wrong_list() {
    recipe("wrong-list.md");
}

#[test]
fn a_wrong_mapping() {
    recipe("wrong-mapping.md");
}

#[test]
fn completions_and_manual() {
    recipe("shell.md");
}

#[test]
fn phone_numbers() {
    recipe("phone-numbers.md");
}

#[test]
fn rates() {
    let folder = folder_with_lists();
    folder.write("customers.csv", CUSTOMERS);
    recipe_in(&folder, "rates.md");
}

#[test]
fn the_ledger() {
    recipe("ledger.md");
}

#[test]
fn settings() {
    recipe("settings.md");
}

/// All other pages have no command that a test can run.
#[test]
fn other_pages_run_nothing() {
    for name in [
        "container.md",
        "dependencies.md",
        "kubernetes.md",
        "problems.md",
        "releasing.md",
        "sandbox.md",
        "windows.md",
    ] {
        assert_eq!(commands(&read(&docs(name))).len(), 0, "{name}");
    }
}

#[test]
fn every_page_is_in_the_index_and_every_link_leads_somewhere() {
    let index = read(&docs("README.md"));
    let mut pages = [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "benches/README.md",
        "packaging/README.md",
    ]
    .map(|page| root().join(page))
    .to_vec();
    for entry in std::fs::read_dir(docs("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            let is_listed = name == "README.md" || index.contains(&format!("]({name})"));
            assert!(is_listed, "{name}");
            pages.push(docs(&name));
        }
    }
    for page in pages {
        for link in links(&read(&page)) {
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.with_file_name(file)
            };
            assert!(target.exists(), "{}: {link}", page.display());
            let is_there = heading.is_empty() || anchors(&read(&target)).any(|a| a == heading);
            assert!(is_there, "{}: {link}", page.display());
        }
    }
}

#[test]
fn every_dependency_is_explained() {
    let page = read(&docs("dependencies.md"));
    let manifest = read(&root().join("Cargo.toml"));
    let manifest = manifest.parse::<toml_edit::DocumentMut>().unwrap();
    let mut tables = vec![&manifest["dependencies"], &manifest["dev-dependencies"]];
    let targets = manifest["target"].as_table_like().unwrap().iter();
    tables.extend(targets.map(|(_, target)| &target["dependencies"]));
    let names = tables.into_iter().flat_map(|table| {
        let table = table.as_table_like().unwrap();
        table.iter().map(|(name, _)| name)
    });
    let words: Vec<&str> = page
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .collect();
    let unexplained: Vec<&str> = names.filter(|name| !words.contains(name)).collect();
    assert_eq!(unexplained, [""; 0]);
}

/// Links within the project, including those that are broken across two lines.
fn links(page: &str) -> Vec<String> {
    let links = page.split("](").skip(1).filter_map(|rest| {
        let (link, _) = rest.split_once(')')?;
        (!link.contains("://")).then(|| link.to_owned())
    });
    links.collect()
}

/// The headings of a page, as links name them.
fn anchors(page: &str) -> impl Iterator<Item = String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        let letters = text.chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || "-_".contains(c) => Some(c),
            _ => None,
        });
        letters.collect()
    })
}

/// All files that the container image is built from exist.
#[test]
fn the_container_file_copies_what_there_is() {
    let file = std::fs::read_to_string(packaged("Containerfile")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copied: Vec<&str> = file
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .filter(|line| !line.starts_with("--from"))
        .flat_map(|line| line.split(' ').rev().skip(1))
        .collect();
    assert_eq!(
        copied,
        [
            "build.rs",
            "Cargo.lock",
            "Cargo.toml",
            "src",
            "sample-data",
            "benches"
        ]
    );
    assert!(copied.iter().all(|name| root.join(name).exists()));
    // No other files are passed to the builder.
    let ignored = std::fs::read_to_string(root.join(".dockerignore")).unwrap();
    let lines = ignored.lines().filter(|line| !line.starts_with('#'));
    let mut let_through: Vec<&str> = lines.collect();
    assert_eq!(let_through.remove(0), "*");
    let mut expected = copied.iter().map(|name| format!("!{name}"));
    assert_eq!(let_through.len(), copied.len());
    assert!(expected.all(|line| let_through.contains(&line.as_str())));
}

/// Commands of the README that no test can run: they build the program again or ask questions.
const NOT_RUN: [&str; 3] = ["cargo test", "cargo install", "leadload config init"];

#[test]
fn the_readme() {
    let page = root().join("README.md");
    let text = read(&page);
    assert!(text.lines().count() <= 200);
    let folder = folder_with_lists();
    std::fs::create_dir(folder.path("sample-data")).unwrap();
    let list = std::fs::read(sample_data("contacts.csv")).unwrap();
    folder.write("sample-data/contacts.csv", list);
    // Enough rows for the nightly job, and few leads.
    let people = "+447700900701\n+447700900702\n".repeat(60);
    folder.write("all-contacts.csv", format!("phone\n{people}"));
    folder.write("do-not-call.csv", "phone\n+447700900799\n");
    folder.write("customers.csv", CUSTOMERS);
    // The program at the path where cargo builds it.
    let built = folder.path("target/release");
    std::fs::create_dir_all(&built).unwrap();
    let program = env!("CARGO_BIN_EXE_leadload");
    std::os::unix::fs::symlink(program, built.join("leadload")).unwrap();
    folder.write(
        "cargo",
        "#!/bin/sh\nshift 3\nexec target/release/leadload \"$@\"\n",
    );
    let cargo = Command {
        text: "cargo() { sh ./cargo \"$@\"; }".to_owned(),
        shown: None,
        exit_codes: vec![0],
    };
    let mut before = vec![cargo];
    before.extend(commands(&read(&docs("README.md"))));
    let mut chosen = commands(&text);
    chosen.retain(|command| !NOT_RUN.iter().any(|not| command.text.starts_with(not)));
    // Some rows of the lists are wrong on purpose.
    let steps = chosen.iter_mut().filter(|command| command.shown.is_none());
    steps.for_each(|command| command.exit_codes = vec![0, 1]);
    walk_through(&page, &folder, &before, &chosen);
}
