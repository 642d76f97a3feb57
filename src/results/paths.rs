//! Where outputs go, and where they must not.

use std::fs;
use std::path::{Path, PathBuf};

use super::OutputError;
use crate::intake::PlannedInput;
use crate::source::{Input, folder_of};

/// Where an output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputChoice {
    /// Beside the input, named after it.
    BesideInput,
    /// Here.
    Path(PathBuf),
    /// It is not written.
    None,
}

/// The places of all outputs of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPaths {
    /// The results file.
    pub results: Option<PathBuf>,
    /// The rejects file of each input.
    pub rejects: Vec<Option<PathBuf>>,
}

impl OutputPaths {
    /// Names the outputs after the inputs where the user has not, and makes sure
    /// that none is an input, one of the `others` that are read, another output, or
    /// something else than a file.
    pub fn plan<'a>(
        inputs: &'a [PlannedInput],
        others: impl Iterator<Item = &'a Input>,
        results: &OutputChoice,
        rejects: &OutputChoice,
        sandbox: bool,
    ) -> Result<OutputPaths, OutputError> {
        if matches!(rejects, OutputChoice::Path(_)) && inputs.len() > 1 {
            return Err(OutputError::OneRejectsForSeveral);
        }
        let kind = |kind: &str| match sandbox {
            true => format!("sandbox.{kind}"),
            false => kind.to_owned(),
        };
        let place = |choice: &OutputChoice, input: &Input, kind: &str, extension| match choice {
            OutputChoice::BesideInput => Some(beside(input, kind, extension)),
            OutputChoice::Path(path) => Some(path.clone()),
            OutputChoice::None => None,
        };
        let paths = OutputPaths {
            results: inputs
                .first()
                .and_then(|first| place(results, &first.input, &kind("results"), "csv")),
            rejects: inputs
                .iter()
                .map(|planned| {
                    let extension = match planned.form.text() {
                        Some(_) => "csv",
                        None => "xlsx",
                    };
                    place(rejects, &planned.input, &kind("rejects"), extension)
                })
                .collect(),
        };
        let read: Vec<&Path> = inputs
            .iter()
            .map(|planned| &planned.input)
            .chain(others)
            .filter_map(Input::path)
            .collect();
        paths.refuse_other_forms()?;
        paths.refuse_clashes(&read)?;
        Ok(paths)
    }

    /// What is called a workbook could not be opened as one.
    fn refuse_other_forms(&self) -> Result<(), OutputError> {
        let is_other = |path: &Path| {
            let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
            path.as_os_str() == "-"
                || ["xlsx", "xls", "ods"]
                    .iter()
                    .any(|other| extension == *other)
        };
        let mut rejects = self.rejects.iter().flatten();
        if let Some(path) = rejects.find(|path| path.as_os_str() == "-") {
            return Err(OutputError::NotAFile { path: path.clone() });
        }
        match &self.results {
            Some(path) if is_other(path) => Err(OutputError::NotCsv { path: path.clone() }),
            _ => Ok(()),
        }
    }

    /// Looks at every output under its name and as the part that it is until then.
    fn refuse_clashes(&self, read: &[&Path]) -> Result<(), OutputError> {
        let mut seen: Vec<PathBuf> = Vec::new();
        for path in self.results.iter().chain(self.rejects.iter().flatten()) {
            let both = [path.clone(), part_of(path)];
            for place in &both {
                refuse_place(place, read, &seen)?;
            }
            seen.extend(both);
        }
        Ok(())
    }
}

fn refuse_place(place: &Path, read: &[&Path], seen: &[PathBuf]) -> Result<(), OutputError> {
    let path = place.to_owned();
    // Of a link itself: renaming onto it would leave its target alone.
    if fs::symlink_metadata(place).is_ok_and(|found| !found.is_file()) {
        return Err(OutputError::NotAFile { path });
    }
    if read.iter().any(|input| is_same(input, place)) {
        return Err(OutputError::IsAnInput { path });
    }
    if seen.iter().any(|other| is_same(other, place)) {
        return Err(OutputError::Twice { path });
    }
    Ok(())
}

/// Whether two paths lead to one file, be it there already or not.
fn is_same(a: &Path, b: &Path) -> bool {
    let is_one_place = || absolute(a).is_some_and(|place| Some(place) == absolute(b));
    same_file::is_same_file(a, b).unwrap_or(false) || is_one_place()
}

/// The path with its folder resolved; the file itself need not exist.
fn absolute(path: &Path) -> Option<PathBuf> {
    let folder = folder_of(path).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

/// What an output is called until it is complete.
pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// `leads.csv` and `results` make `leads.results.csv`; standard input makes
/// `leads.results.csv` in the current folder.
fn beside(input: &Input, kind: &str, extension: &str) -> PathBuf {
    let Some(path) = input.path() else {
        return PathBuf::from(format!("leads.{kind}.{extension}"));
    };
    let is_compressed = path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("gz") || extension.eq_ignore_ascii_case("zst")
    });
    let plain = match is_compressed {
        true => path.with_extension(""),
        false => path.to_owned(),
    };
    let mut name = plain.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{kind}.{extension}"));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
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
                PlannedInput::new(input, &FormChoice::default(), &MappingSpec::default()).unwrap()
            })
            .collect();
        (folder, inputs)
    }

    fn plan_beside(inputs: &[PlannedInput]) -> Result<OutputPaths, OutputError> {
        OutputPaths::plan(
            inputs,
            std::iter::empty(),
            &OutputChoice::BesideInput,
            &OutputChoice::BesideInput,
            false,
        )
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
        assert_eq!(
            paths.rejects,
            [
                Some(folder.path().join("a.rejects.csv")),
                Some(folder.path().join("b.rejects.csv"))
            ]
        );
    }

    #[test]
    fn an_output_is_never_an_input_another_output_or_a_folder() {
        let (folder, inputs) = folder_with(&["a.csv"]);
        let at = |name: &str| OutputChoice::Path(folder.path().join(name));
        let plan = |results, rejects| {
            OutputPaths::plan(&inputs, std::iter::empty(), &results, &rejects, false)
        };
        assert!(matches!(
            plan(at("a.csv"), OutputChoice::None),
            Err(OutputError::IsAnInput { .. })
        ));
        assert!(matches!(
            plan(at("./r.csv"), at("r.csv")),
            Err(OutputError::Twice { .. })
        ));
        assert!(matches!(
            plan(
                OutputChoice::Path(folder.path().to_owned()),
                OutputChoice::None
            ),
            Err(OutputError::NotAFile { .. })
        ));
        let (_folder, two) = folder_with(&["a.csv", "a.txt"]);
        assert!(matches!(plan_beside(&two), Err(OutputError::Twice { .. })));
    }
}
