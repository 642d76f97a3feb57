//! Where outputs are written, and where they must not be.

use std::fs;
use std::path::{Path, PathBuf};

use super::OutputError;
use crate::intake::PlannedInput;
use crate::ledger::{LedgerPlace, OutputKind};
use crate::message::Template;
use crate::paths::{absolute_place, folder_of, is_same_place};
use crate::source::Input;

/// Where the user wants an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputChoice {
    /// Next to the input, with a name made from the input's name.
    BesideInput,
    Path(PathBuf),
    None,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChoices {
    pub results: OutputChoice,
    pub rejects: OutputChoice,
    pub report: Option<PathBuf>,
    /// Whether this is a trial on the sandbox, whose outputs have `sandbox` in their names.
    pub sandbox: bool,
    /// Files of settings, tokens and certificates, which are never overwritten.
    pub reserved: Vec<PathBuf>,
}

/// The paths of all outputs of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPaths {
    pub results: Option<PathBuf>,
    /// The rejects file of each input.
    pub rejects: Vec<Option<PathBuf>>,
    pub report: Option<PathBuf>,
}

impl OutputPaths {
    /// Chooses all paths: names the outputs after the inputs unless the user has named
    /// them. Makes sure that no output is an input, one of the `others` (also read by this
    /// command), another output, a reserved file, or anything that is not a regular file.
    pub fn plan<'a>(
        inputs: &'a [PlannedInput],
        others: impl Iterator<Item = &'a Input>,
        choices: &OutputChoices,
    ) -> Result<OutputPaths, OutputError> {
        let paths = OutputPaths::named(inputs, choices);
        let read: Vec<&Path> = inputs
            .iter()
            .map(|planned| &planned.input)
            .chain(others)
            .filter_map(Input::path)
            .collect();
        paths.refuse_other_forms()?;
        paths.refuse_reserved(&choices.reserved)?;
        let rejects = inputs.iter().zip(paths.rejects.iter().flatten());
        let mut rejects = rejects.filter(|_| choices.rejects == OutputChoice::BesideInput);
        let is_read = |place| read.iter().any(|input| is_same_place(input, place));
        if let Some((of, path)) = rejects.find(|(_, path)| is_read(path)) {
            let what = text!(
                "`{path}` is an input, and also where the {rejects|rows to fix} of `{of}` would go",
                path = path.display().to_string(),
                of = of.input.name()
            );
            return Err(OutputError::usage(
                what,
                "import the two one after the other, or name another file with `--rejects`",
            ));
        }
        paths.refuse_clashes(&read)?;
        Ok(paths)
    }

    fn named(inputs: &[PlannedInput], choices: &OutputChoices) -> OutputPaths {
        let sandbox = if choices.sandbox { "sandbox." } else { "" };
        let place = |choice: &OutputChoice, input: &Input, ending: &str| match choice {
            OutputChoice::BesideInput => Some(beside(input, &format!("{sandbox}{ending}"))),
            OutputChoice::Path(path) => Some(path.clone()),
            OutputChoice::None => None,
        };
        let rejects = inputs.iter().map(|planned| {
            let ending = match planned.form.text() {
                Some(_) => "rejects.csv",
                None => "rejects.xlsx",
            };
            place(&choices.rejects, &planned.input, ending)
        });
        OutputPaths {
            rejects: rejects.collect(),
            results: inputs
                .first()
                .and_then(|first| place(&choices.results, &first.input, "results.csv")),
            report: choices.report.clone(),
        }
    }

    /// The absolute paths of all results and rejects that may be written; the
    /// ledger records these. Paths whose folder does not exist are left out.
    pub fn places(&self) -> Vec<(PathBuf, OutputKind)> {
        let rejects = self.rejects.iter().flatten();
        let rejects = rejects.map(|path| (path, OutputKind::Rejects));
        let results = self.results.iter().map(|path| (path, OutputKind::Results));
        results
            .chain(rejects)
            .filter_map(|(path, kind)| Some((absolute_place(path).ok()?, kind)))
            .collect()
    }

    /// An unfinished output that was kept under another name: the ledger does not know its run,
    /// or has not all of its rows. It may have no rows: they are written a batch at a time.
    pub fn unfinished(&self) -> Option<PathBuf> {
        let mut places = self.results.iter().chain(self.rejects.iter().flatten());
        places.find_map(|place| {
            let name = place.file_name()?.to_str()?;
            let is_kept = |path: &PathBuf| {
                let file = path.file_name().and_then(|file| file.to_str());
                let rest = file.and_then(|file| file.strip_prefix(name)?.strip_suffix(PART));
                rest.is_some_and(|stamp| !stamp.is_empty())
            };
            let files = fs::read_dir(folder_of(place)).ok()?.flatten();
            files.map(|file| file.path()).find(is_kept)
        })
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        let results = self.results.iter();
        results
            .chain(self.rejects.iter().flatten())
            .chain(&self.report)
    }

    /// All outputs, each under its final name and under its `.part` name.
    fn with_parts(&self) -> impl Iterator<Item = PathBuf> {
        self.all().flat_map(|path| [path.clone(), part_of(path)])
    }

    /// Whether an output, or its `.part` file, will be at this path.
    pub fn take(&self, place: &Path) -> bool {
        self.with_parts().any(|path| is_same_place(&path, place))
    }

    /// Makes sure that an export to `results` overwrites no file that is read, no file of the
    /// ledger, none of `reserved`, and nothing that is not a regular file.
    pub fn refuse_export(
        results: &Path,
        read: &[&Path],
        ledger: &LedgerPlace,
        reserved: &[PathBuf],
    ) -> Result<(), OutputError> {
        let paths = OutputPaths {
            results: Some(results.to_owned()),
            rejects: Vec::new(),
            report: None,
        };
        paths.refuse_other_forms()?;
        paths.refuse_reserved(reserved)?;
        paths.refuse_clashes(read)?;
        paths.refuse_ledger(ledger)
    }

    fn refuse_reserved(&self, reserved: &[PathBuf]) -> Result<(), OutputError> {
        let is_reserved = |path: &Path| reserved.iter().any(|other| is_same_place(other, path));
        let why =
            template!("holds settings, a token or certificates that {this command|leadload} uses");
        self.refuse(is_reserved, why)
    }

    /// Makes sure that no output is the ledger or one of the files next to it.
    pub fn refuse_ledger(&self, ledger: &LedgerPlace) -> Result<(), OutputError> {
        let why = template!("is a file of {ledger}");
        self.refuse(|path| ledger.owns(path), why)
    }

    fn refuse(&self, is_refused: impl Fn(&Path) -> bool, why: Template) -> Result<(), OutputError> {
        let Some(path) = self.with_parts().find(|path| is_refused(path)) else {
            return Ok(());
        };
        let what = text!(
            "`{path}` {why}, and is never written over",
            path = path.display().to_string(),
            why
        );
        Err(OutputError::usage(what, "name another file"))
    }

    /// A CSV file with the name of a workbook could not be opened as a workbook.
    fn refuse_other_forms(&self) -> Result<(), OutputError> {
        let is_stdout = |path: &Path| path.as_os_str() == "-";
        let is_no_csv = |path: &Path| is_stdout(path) || is_called(path, &["xlsx", "xls", "ods"]);
        let mut rejects = self.rejects.iter().flatten();
        if let Some(path) = rejects.find(|path| is_stdout(path)) {
            return Err(OutputError::not_a_file(path));
        }
        let is_no_page = |path: &Path| !is_called(path, &["html", "htm"]);
        let (what, ending) = if let Some(path) = self.results.iter().find(|path| is_no_csv(path)) {
            let path = path.display().to_string();
            let what = text!("the results cannot be `{path}`: they are a CSV file", path);
            (what, "csv")
        } else if let Some(path) = self.report.iter().find(|path| is_no_page(path)) {
            let path = path.display().to_string();
            let what = text!(
                "the report cannot be `{path}`: it is a page for a browser",
                path
            );
            (what, "html")
        } else {
            return Ok(());
        };
        let hint = text!("give it a name that ends in `.{ending}`", ending);
        Err(OutputError::usage(what, hint))
    }

    fn refuse_clashes(&self, read: &[&Path]) -> Result<(), OutputError> {
        let mut seen: Vec<PathBuf> = Vec::new();
        for place in self.with_parts() {
            refuse_place(&place, read, &seen)?;
            seen.push(place);
        }
        Ok(())
    }
}

/// Whether the file name has one of these extensions.
pub(super) fn is_called(path: &Path, extensions: &[&str]) -> bool {
    let found = path.extension().unwrap_or_default();
    let mut extensions = extensions.iter();
    extensions.any(|extension| found.eq_ignore_ascii_case(extension))
}

fn refuse_place(place: &Path, read: &[&Path], seen: &[PathBuf]) -> Result<(), OutputError> {
    // Looks at a link itself, not its target: renaming a file onto a link replaces only the link.
    let is_other_kind = fs::symlink_metadata(place).is_ok_and(|found| !found.is_file());
    let shown = place.display().to_string();
    if is_other_kind {
        Err(OutputError::not_a_file(place))
    } else if read.iter().any(|input| is_same_place(input, place)) {
        let what = text!(
            "`{shown}` is an input, and inputs are never written to",
            shown
        );
        Err(OutputError::usage(what, "").naming_flags())
    } else if seen.iter().any(|other| is_same_place(other, place)) {
        Err(OutputError::usage(
            text!("two outputs would be written to `{shown}`", shown),
            "name different files with `--results`, `--rejects` and `--report`, or import the inputs one by one",
        ))
    } else {
        Ok(())
    }
}

/// The suffix of the name of an output that is not complete.
const PART: &str = ".part";

/// The path of an output until it is complete.
pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PART);
    PathBuf::from(name)
}

/// The path of an output next to its input: `leads.csv` and `results.csv` give
/// `leads.results.csv`. Standard input gives `leads.results.csv` in the current folder.
fn beside(input: &Input, ending: &str) -> PathBuf {
    match input.path() {
        Some(path) => beside_path(path, ending),
        None => PathBuf::from(format!("leads.{ending}")),
    }
}

/// Whether an import of this list alone writes such a file here, unless it is told otherwise.
pub fn is_usual_place(path: &Path, kind: OutputKind, list: &Path) -> bool {
    let endings: &[&str] = match kind {
        OutputKind::Results => &["results.csv"],
        OutputKind::Rejects => &["rejects.csv", "rejects.xlsx"],
        OutputKind::Undo => &["undo.csv"],
    };
    let mut endings = endings.iter();
    endings.any(|ending| beside_path(list, ending) == path)
}

/// The path of an output beside this input.
pub(super) fn beside_path(path: &Path, ending: &str) -> PathBuf {
    let plain = if is_called(path, &["gz", "zst"]) {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    let mut name = plain.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{ending}"));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::InspectedInput;
    use crate::mapping::MappingSpec;
    use crate::source::FormChoice;

    fn folder_with(names: &[&str]) -> (tempfile::TempDir, Vec<PlannedInput>) {
        let folder = tempfile::tempdir().unwrap();
        let inputs = names
            .iter()
            .map(|name| {
                let path = folder.path().join(name);
                fs::write(&path, "phone\n").unwrap();
                let input = Input::open(&path).unwrap();
                PlannedInput::new(
                    InspectedInput::new(input, &FormChoice::default()).unwrap(),
                    &MappingSpec::default(),
                )
                .unwrap()
            })
            .collect();
        (folder, inputs)
    }

    fn plan_beside(inputs: &[PlannedInput]) -> Result<OutputPaths, OutputError> {
        plan_all(inputs, &usual())
    }

    fn plan_all(
        inputs: &[PlannedInput],
        choices: &OutputChoices,
    ) -> Result<OutputPaths, OutputError> {
        OutputPaths::plan(inputs, std::iter::empty(), choices)
    }

    /// The choices of a user who gives no flags.
    fn usual() -> OutputChoices {
        OutputChoices {
            results: OutputChoice::BesideInput,
            rejects: OutputChoice::BesideInput,
            report: None,
            sandbox: false,
            reserved: Vec::new(),
        }
    }

    #[test]
    fn outputs_are_named_after_the_input_without_its_last_extension() {
        for (input, results) in [
            ("leads.csv", "leads.results.csv"),
            ("leads.csv.gz", "leads.results.csv"),
            ("leads.2026.csv", "leads.2026.results.csv"),
            ("leads.TXT.ZST", "leads.results.csv"),
            ("leads", "leads.results.csv"),
            ("leads.rejects.csv", "leads.rejects.results.csv"),
        ] {
            let (folder, inputs) = folder_with(&[input]);
            let paths = plan_beside(&inputs).unwrap();
            assert_eq!(paths.results, Some(folder.path().join(results)), "{input}");
        }
    }

    #[test]
    fn several_inputs_have_results_under_the_first_name_and_rejects_of_their_own() {
        let (folder, inputs) = folder_with(&["a.csv", "b.csv"]);
        let paths = plan_beside(&inputs).unwrap();
        assert_eq!(paths.results, Some(folder.path().join("a.results.csv")));
        let rejects: Vec<&Path> = paths
            .rejects
            .iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        assert_eq!(
            rejects,
            [
                folder.path().join("a.rejects.csv"),
                folder.path().join("b.rejects.csv")
            ]
        );
    }

    #[test]
    fn an_output_is_never_an_input_another_output_or_a_folder() {
        let (folder, inputs) = folder_with(&["a.csv"]);
        let at = |name: &str| OutputChoice::Path(folder.path().join(name));
        let plan = |results, rejects| {
            plan_all(
                &inputs,
                &OutputChoices {
                    results,
                    rejects,
                    ..usual()
                },
            )
        };
        let reason =
            |planned: Result<OutputPaths, OutputError>| planned.unwrap_err().message().to_string();
        let input = reason(plan(at("a.csv"), OutputChoice::None));
        assert!(input.contains("is an input"), "{input}");
        let twice = reason(plan(at("./r.csv"), at("r.csv")));
        assert!(twice.contains("two outputs"), "{twice}");
        let place = OutputChoice::Path(folder.path().to_owned());
        let folder = reason(plan(place, OutputChoice::None));
        assert!(folder.contains("regular file"), "{folder}");
        let (_folder, two) = folder_with(&["a.csv", "a.txt"]);
        let twice = reason(plan_beside(&two));
        assert!(twice.contains("two outputs"), "{twice}");
    }
}
