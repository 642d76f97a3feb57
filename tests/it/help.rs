//! What `-h` and `--help` show on a terminal of 80 columns.

use clap::Command;
use leadload::cli;

use crate::transcript::transcript;
use crate::util::Folder;

/// Each command, as it is typed.
fn commands() -> Vec<String> {
    fn collect(command: &Command, typed: &str, into: &mut Vec<String>) {
        into.push(typed.trim().to_owned());
        for below in command.get_subcommands() {
            collect(below, &format!("{typed} {}", below.get_name()), into);
        }
    }
    let mut all = Vec::new();
    collect(&cli::command(), "", &mut all);
    all
}

fn shown(command: &str, flag: &str) -> String {
    let folder = Folder::new();
    let typed = format!("{command} {flag}");
    let words: Vec<&str> = typed.split_whitespace().collect();
    let output = folder.leadload(&words).env("COLUMNS", "80").expect(0);
    assert_eq!(output.stderr, "", "{typed}");
    transcript(&folder, &format!("leadload {}", words.join(" ")), &output)
}

#[test]
fn every_command_explains_itself_shortly_and_at_length() {
    for command in commands() {
        let name = format!("leadload {command}").trim_end().replace(' ', "-");
        let both = shown(&command, "-h") + "\n" + &shown(&command, "--help");
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, both);
        });
    }
}

#[test]
fn the_short_help_fits_on_a_screen() {
    for command in commands() {
        let text = shown(&command, "-h");
        let lines: Vec<&str> = text
            .lines()
            .skip(2)
            .take_while(|line| !line.starts_with("---"))
            .collect();
        let widest = lines.iter().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
        assert!(lines.len() <= 24, "{} lines: {text}", lines.len());
    }
}

#[test]
fn no_help_is_wider_than_an_old_screen_wherever_it_goes() {
    let folder = Folder::new();
    for command in commands() {
        for flag in ["-h", "--help"] {
            let typed = format!("{command} {flag}");
            let words: Vec<&str> = typed.split_whitespace().collect();
            let piped = folder.leadload(&words).expect(0).stdout;
            let wide = piped.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{typed}");
            let shown = folder.leadload(&words).env("COLUMNS", "80").expect(0);
            assert_eq!(piped, shown.stdout, "{typed}");
        }
    }
}

#[test]
fn without_a_command_it_is_said_which_there_are() {
    let folder = Folder::new();
    for typed in ["", "config"] {
        let words: Vec<&str> = typed.split_whitespace().collect();
        let output = folder.leadload(&words).expect(2);
        assert_eq!(output.stdout, "");
        let help = folder.leadload(&[&words[..], &["-h"]].concat()).expect(0);
        assert_eq!(output.stderr, help.stdout);
    }
}

#[test]
fn config_show_takes_the_flags_of_an_import() {
    let folder = Folder::new();
    let output = folder
        .leadload(&["config", "show", "--nothing-like-it"])
        .expect(2);
    output.tells("`--nothing-like-it`");
    let show = ["config", "show", "--rate", "20/s", "--format", "json"];
    let rate = folder.leadload(&show).expect(0).stdout;
    assert!(rate.contains("20/s"), "{rate}");
    for flag in ["--again", "--dry-run", "--save-mapping=a", "--test-to=1"] {
        let output = folder.leadload(&["config", "show", flag]).expect(2);
        output.tells(&format!("`{}`", flag.split('=').next().unwrap()));
    }
}

#[test]
fn every_command_has_the_version_of_the_program_and_what_it_is_built_of() {
    let folder = Folder::new();
    let version = folder.leadload(&["--version"]).expect(0).stdout;
    let expected = format!("leadload {} (", env!("CARGO_PKG_VERSION"));
    let built_of = version.strip_prefix(&expected).unwrap().strip_suffix(")\n");
    // The commit is in release builds; packaging/ checks it there.
    let target = built_of.unwrap().rsplit(", ").next().unwrap();
    assert!(target.starts_with(std::env::consts::ARCH), "{version}");
    for command in commands() {
        let words: Vec<&str> = command.split_whitespace().chain(["-V"]).collect();
        assert_eq!(folder.leadload(&words).expect(0).stdout, version);
    }
}

#[test]
fn help_on_a_command_is_the_same_as_the_commands_help() {
    let below = |text: String| text.split_once('\n').map(|(_, text)| text.to_owned());
    assert_eq!(
        below(shown("help import", "")),
        below(shown("import", "--help"))
    );
}
