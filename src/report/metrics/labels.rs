//! Which job the metrics belong to: two labels on every sample.
//!
//! Two jobs may keep their files in one folder of the collector, which reads all of them as
//! one: samples of the same name with the same labels would fail the whole scrape.

use std::path::PathBuf;

use crate::text::looks_secret;

/// The profile and the first input of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobLabels {
    profile: String,
    input: String,
}

impl JobLabels {
    /// The labels of an import. Without folders; standard input is `-`.
    pub fn new(profile: Option<&str>, inputs: &[PathBuf]) -> JobLabels {
        let input = inputs.first().map(|path| {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        });
        JobLabels {
            profile: shown(profile.unwrap_or_default().to_owned()),
            input: shown(input.unwrap_or_default()),
        }
    }

    /// These and further labels, as they are written behind a name.
    pub(super) fn with(&self, further: &[(&str, &str)]) -> String {
        let ours = [("profile", &*self.profile), ("input", &*self.input)];
        let all = ours.iter().chain(further);
        let all: Vec<_> = all
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        format!("{{{}}}", all.join(","))
    }
}

/// A name as it was typed. A token in its place must not get into a file that everybody can
/// read.
fn shown(name: String) -> String {
    if looks_secret(&name) {
        "(not shown)".to_owned()
    } else {
        name
    }
}

/// The value of a label, as the format has it.
fn escaped(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(profile: Option<&str>, input: &str) -> String {
        JobLabels::new(profile, &[input.into(), "more.csv".into()]).with(&[])
    }

    #[test]
    fn the_profile_and_the_first_input_are_labels_without_folders() {
        for (profile, input, expected) in [
            (
                None,
                "/srv/leads/all.csv",
                r#"{profile="",input="all.csv"}"#,
            ),
            (Some("crm"), "-", r#"{profile="crm",input="-"}"#),
            (Some("crm"), "..", r#"{profile="crm",input=".."}"#),
            (None, "größe.xlsx", r#"{profile="",input="größe.xlsx"}"#),
        ] {
            assert_eq!(labels(profile, input), expected);
        }
        let further = JobLabels::new(None, &["a.csv".into()]).with(&[("status", "created")]);
        assert_eq!(further, r#"{profile="",input="a.csv",status="created"}"#);
    }

    #[test]
    fn backslashes_quotes_and_newlines_are_escaped_and_nothing_else() {
        assert_eq!(
            labels(Some("a\\b\"c\nd"), "x,y={z} \t.csv"),
            "{profile=\"a\\\\b\\\"c\\nd\",input=\"x,y={z} \t.csv\"}"
        );
    }

    #[test]
    fn what_looks_like_a_token_is_no_label() {
        let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
        let hidden = "{profile=\"(not shown)\",input=\"(not shown)\"}";
        assert_eq!(labels(Some(token), token), hidden);
    }
}
