//! A command line that is shown to a user who may run it again.
//!
//! Rule: a line that is shown means the same when it is pasted; otherwise nothing is shown.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::lead::RunId;
use crate::options::{Declaration, Options, Scope};
use crate::shell;
use crate::text::printable;

/// A command: the one that started this process, or one to run next.
#[derive(Debug, Clone)]
pub struct CommandLine {
    args: Vec<OsString>,
    typed: Options,
    shown: Option<String>,
}

impl CommandLine {
    /// The command with these arguments, which begin with the
    /// program's name. `typed` has the options among them.
    pub fn new(args: &[OsString], typed: Options) -> CommandLine {
        CommandLine {
            args: args.to_vec(),
            typed,
            shown: joined(args, shell::quote),
        }
    }

    /// A command whose options do not matter.
    pub fn of(args: &[OsString]) -> CommandLine {
        CommandLine::new(args, Options::default())
    }

    /// The same command on these inputs, as if these options had been typed.
    pub fn with_typed(&self, inputs: &[PathBuf], typed: Options) -> CommandLine {
        // The program and the command.
        let mut args: Vec<OsString> = self.args.iter().take(2).cloned().collect();
        args.extend(inputs.iter().map(|path| operand(path)));
        args.extend(typed.args(|_| true));
        CommandLine::new(&args, typed)
    }

    /// The command that imports the rejects of this one; `None` if there are no
    /// rejects. If the ledger `knows_run`, the rejects get their mapping from there.
    pub fn of_rejects(&self, rejects: &[PathBuf], knows_run: bool) -> Option<CommandLine> {
        self.import(rejects, &[], |declared| {
            declared.is_repeated_after_import || declared.is_passed_to_rejects() && !knows_run
        })
    }

    /// The command that looks the uncertain rows of this run up, at the same service.
    pub fn of_reconcile(&self, run: RunId) -> Option<CommandLine> {
        let program = self.args.first()?.clone();
        let mut args = vec![program, "runs".into(), "reconcile".into()];
        args.push(run.to_string().into());
        let is_repeated = |declared: &Declaration| {
            let is_of_service = matches!(declared.scope, Scope::Service | Scope::Connection);
            is_of_service || matches!(declared.key, "config" | "profile" | "rate" | "timeout")
        };
        args.extend(self.typed.args(is_repeated));
        Some(CommandLine::of(&args))
    }

    /// The command that imports the inputs of this check.
    /// `flags` select the profile that the mapping was saved in.
    pub fn of_import(&self, inputs: &[PathBuf], flags: &[OsString]) -> Option<CommandLine> {
        self.import(inputs, flags, |declared| declared.is_repeated_after_check)
    }

    fn import(
        &self,
        inputs: &[PathBuf],
        flags: &[OsString],
        is_repeated: impl Fn(&Declaration) -> bool,
    ) -> Option<CommandLine> {
        let mut args = vec![self.args.first()?.clone(), "import".into()];
        args.extend(inputs.iter().map(|path| operand(path)));
        args.extend_from_slice(flags);
        args.extend(self.typed.args(is_repeated));
        (!inputs.is_empty()).then(|| CommandLine::of(&args))
    }

    /// The line to paste into a shell. `None` if an argument is not
    /// Unicode, or has characters that cannot be shown or quoted.
    pub fn shown(&self) -> Option<&str> {
        self.shown.as_deref()
    }
}

/// A path as an argument that is not mistaken for a flag; `-` is standard input.
pub fn operand(path: &Path) -> OsString {
    let is_like_flag = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if is_like_flag && path != Path::new("-") {
        Path::new(".").join(path).into()
    } else {
        path.into()
    }
}

fn joined(args: &[OsString], quote: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut words = Vec::with_capacity(args.len());
    for arg in args {
        let text = arg.to_str()?;
        // Characters that move the cursor or change the
        // direction of text must not reach a terminal.
        if printable(text) != text {
            return None;
        }
        words.push(quote(text)?);
    }
    // In PowerShell a quoted word at the beginning is a text, not a program.
    let is_program = words.first().is_some_and(|word| !word.starts_with('"'));
    is_program.then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn args(texts: &[&str]) -> Vec<OsString> {
        texts.iter().map(OsString::from).collect()
    }

    #[test]
    fn plain_arguments_are_shown_as_they_were_typed() {
        let plain = ["leadload", "import", "leads.csv", "--campaign", "101"];
        let line = CommandLine::of(&args(&plain));
        assert_eq!(
            line.shown(),
            Some("leadload import leads.csv --campaign 101")
        );
    }

    fn command_for_rejects(line: &str, knows_run: bool) -> String {
        let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let command = crate::cli::parse(&typed).unwrap();
        let line = CommandLine::new(&typed, command.typed());
        let rejects = [PathBuf::from("leads.rejects.csv")];
        let next = line.of_rejects(&rejects, knows_run).unwrap();
        next.shown().unwrap().to_owned()
    }

    #[test]
    fn options_that_the_run_has_recorded_are_left_out_of_the_command() {
        let typed = "leadload import leads.csv --campaign 101 --region GB --suppress a.csv \
                     --suppress=b.csv --rate 5/s --rate 100/min --limit 10 --delimiter ; \
                     --results out.csv --rejects bad.csv --token-file t -vv --wait";
        assert_eq!(
            command_for_rejects(typed, true),
            "leadload import leads.rejects.csv --token-file t --rate 5/s --rate 100/min \
             --wait --verbose --verbose"
        );
        assert_eq!(
            command_for_rejects(typed, false),
            "leadload import leads.rejects.csv --token-file t --campaign 101 --region GB \
             --suppress a.csv --suppress b.csv --rate 5/s --rate 100/min --wait --verbose \
             --verbose"
        );
    }

    #[test]
    fn a_file_name_with_a_leading_dash_is_not_taken_for_a_flag() {
        assert_eq!(operand(Path::new("-a.csv")), Path::new("./-a.csv"));
        assert_eq!(operand(Path::new("-")), Path::new("-"));
        let ledger = shell::quote("--ledger=-l").unwrap();
        assert_eq!(
            command_for_rejects("leadload import a.csv --ledger=-l", true),
            format!("leadload import leads.rejects.csv {ledger}")
        );
    }

    #[test]
    fn a_posix_shell_gets_each_argument_back_whole() {
        let typed = args(&[
            "./leadload",
            "import",
            "my leads.csv",
            "--set",
            "note=it's $5",
            "",
        ]);
        assert_eq!(
            joined(&typed, shell::for_posix).as_deref(),
            Some(r#"./leadload import 'my leads.csv' --set "note=it's "'$5' ''"#)
        );
    }

    #[test]
    fn windows_shells_get_double_quotes_where_both_take_them_alike() {
        for (arg, quoted) in [
            ("leads.csv", Some("leads.csv")),
            (r"C:\Lists\größe.csv", Some(r"C:\Lists\größe.csv")),
            (r"C:\My Lists\a.csv", Some(r#""C:\My Lists\a.csv""#)),
            ("--rate=0.5/s", Some(r#""--rate=0.5/s""#)),
            ("name=a,b;c", Some(r#""name=a,b;c""#)),
            ("it's", Some(r#""it's""#)),
            ("", None),
            ("say \"x\"", None),
            ("$HOME", None),
            ("%PATH%", None),
            ("Sale!", None),
            ("a`b", None),
            ("“a”", None),
            (r"My Lists\", None),
        ] {
            assert_eq!(shell::for_windows(arg).as_deref(), quoted, "{arg}");
        }
        let program = args(&[r"C:\Program Files\leadload.exe", "import"]);
        assert_eq!(joined(&program, shell::for_windows), None);
    }

    #[test]
    fn arguments_with_control_characters_are_not_shown() {
        for arg in ["a\nb", "a\u{1b}[2Jb", "a\u{202e}b", "a\0b"] {
            assert_eq!(CommandLine::of(&args(&["leadload", arg])).shown(), None);
        }
        assert_eq!(CommandLine::of(&[]).shown(), None);
    }

    #[cfg(unix)]
    #[test]
    fn an_argument_that_is_not_unicode_is_not_shown() {
        use std::os::unix::ffi::OsStringExt;
        let name = OsString::from_vec(b"caf\xe9.csv".to_vec());
        let line = CommandLine::of(&["leadload".into(), "import".into(), name]);
        assert_eq!(line.shown(), None);
    }

    proptest! {
        #[test]
        fn a_line_that_is_shown_is_read_back_as_it_was_typed(
            rest in prop::collection::vec("\\PC{0,12}", 0..6),
        ) {
            let typed: Vec<String> = ["leadload".to_owned()].into_iter().chain(rest).collect();
            let args: Vec<OsString> = typed.iter().map(OsString::from).collect();
            if let Some(line) = joined(&args, shell::for_posix) {
                prop_assert_eq!(shlex::split(&line), Some(typed));
            }
        }
    }
}
