//! `leadload completions` and `leadload man`.

use std::io::Read;
use std::process::Stdio;

use leadload::exit::ExitCode;
use leadload::options::Options;

use crate::util::Folder;

fn completions(shell: &str) -> String {
    let folder = Folder::new();
    let output = folder.leadload(&["completions", shell]).expect(0);
    assert_eq!(output.stderr, "", "{shell}");
    assert!(folder.names().is_empty(), "{shell}");
    output.stdout
}

#[test]
fn every_shell_gets_a_script_that_knows_commands_and_flags() {
    for (shell, beginning) in [
        ("bash", "_leadload() {"),
        ("zsh", "#compdef leadload"),
        ("fish", "# Print an optspec"),
        (
            "powershell",
            "\nusing namespace System.Management.Automation",
        ),
        ("elvish", "\nuse builtin;"),
    ] {
        let script = completions(shell);
        assert!(script.starts_with(beginning), "{shell}: {script}");
        for word in ["import", "phone-column", "variables-shape", "snake"] {
            assert!(script.contains(word), "{word} for {shell}");
        }
    }
}

/// What bash offers at the end of a line; `None` if it is not installed.
#[cfg(target_os = "linux")]
fn offered(line: &[&str]) -> Option<Vec<String>> {
    let folder = Folder::new();
    folder.write("leadload.bash", completions("bash"));
    let words = line.join(" ");
    let script = format!(
        "source leadload.bash; COMP_WORDS=({words} ''); COMP_CWORD={}; \
         COMP_WORDS[$COMP_CWORD]=$1; _leadload leadload \"$1\" \"$2\"; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        line.len()
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script, "bash", "--re", line.last()?])
        .current_dir(folder.path(""))
        .output()
        .ok()?;
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let offered = String::from_utf8(output.stdout).unwrap();
    Some(offered.lines().map(str::to_owned).collect())
}

#[test]
#[cfg(target_os = "linux")]
fn a_shell_completes_a_flag() {
    // The content of the script is checked above, even if this shell is missing.
    if let Some(offered) = offered(&["leadload", "check"]) {
        let begin_so = ["--region", "--region-column", "--results", "--rejects"];
        assert_eq!(offered[..4], begin_so);
        assert!(offered.iter().all(|flag| flag.starts_with("--re")));
    }
}

#[test]
fn the_manual_has_a_page_for_the_program() {
    let folder = Folder::new();
    let page = folder.leadload(&["man"]).expect(0).stdout;
    let sections: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix(".SH "))
        .map(|title| title.trim_matches('"'))
        .collect();
    assert_eq!(
        sections,
        [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "SUBCOMMANDS",
            "EXTRA",
            "VERSION",
            "EXIT STATUS",
            "ENVIRONMENT",
            "FILES",
        ]
    );
    assert!(page.contains("leadload\\-import(1)"), "{page}");
}

#[test]
fn every_page_has_exit_codes_variables_and_files() {
    let folder = Folder::new();
    folder.leadload(&["man", "--folder", "pages"]).expect(0);
    for name in ["leadload.1", "leadload-import.1", "leadload-runs-copy.1"] {
        let page = folder.read(&format!("pages/{name}")).replace('\\', "");
        let entry = |name: &str| format!(".TP\nfB{name}fR\n");
        for (code, meaning) in ExitCode::MEANINGS {
            let entry = entry(&(code as u8).to_string()) + meaning;
            assert_eq!(page.matches(&entry).count(), 1, "{entry}: {page}");
        }
        let declared = Options::declared().into_iter();
        let variables = declared.filter_map(|declared| declared.variable);
        for variable in variables.chain(["LEADLOAD_TOKEN", "PGPASSWORD", "HTTPS_PROXY"]) {
            assert!(page.contains(&entry(variable)), "{variable}: {page}");
        }
        for file in ["config.toml", "ledger.sqlite3", "NAME.results.csv"] {
            assert!(page.contains(file), "{file}: {page}");
        }
        assert!(!page.contains("Exit codes:"), "twice: {page}");
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = Folder::new();
    let output = folder.leadload(&["man", "--folder", "a/man1"]).expect(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    let mut names: Vec<String> = std::fs::read_dir(folder.path("a/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "leadload-campaigns.1",
            "leadload-check.1",
            "leadload-completions.1",
            "leadload-config-init.1",
            "leadload-config-show.1",
            "leadload-config.1",
            "leadload-import.1",
            "leadload-man.1",
            "leadload-runs-copy.1",
            "leadload-runs-export.1",
            "leadload-runs-forget.1",
            "leadload-runs-list.1",
            "leadload-runs-prune.1",
            "leadload-runs-reconcile.1",
            "leadload-runs-show.1",
            "leadload-runs-undo.1",
            "leadload-runs.1",
            "leadload-sandbox.1",
            "leadload-suppress-add.1",
            "leadload-suppress-list.1",
            "leadload-suppress-remove.1",
            "leadload-suppress.1",
            "leadload-web.1",
            "leadload.1",
        ]
    );
    for name in names {
        let page = folder.read(&format!("a/man1/{name}"));
        let command = name.trim_end_matches(".1");
        let title = format!(".TH {command} 1 ");
        assert!(page.contains(&title), "{page}");
        assert!(page.contains(".SH SYNOPSIS\n"), "{page}");
        assert!(
            page.contains("\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"),
            "{page}"
        );
    }
    let import = folder.read("a/man1/leadload-import.1");
    // The page has what `-h` leaves out, too.
    assert!(import.contains("no\\-header"), "{import}");
    for section in ["SERVICE", "READING", "MAPPING", "DELIVERY", "EXTRA"] {
        assert!(import.contains(&format!(".SH {section}\n")), "{section}");
    }
    assert_eq!(
        import,
        {
            folder.leadload(&["man", "--folder", "a/man1"]).expect(0);
            folder.read("a/man1/leadload-import.1")
        },
        "written again"
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_a_normal_end() {
    let folder = Folder::new();
    for args in [&["man"][..], &["completions", "zsh"], &["import", "--help"]] {
        let mut command = folder.leadload(args).into_command();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        assert_eq!(stderr, "", "{args:?}");
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    }
}
