//! The campaign names in rows, and what they mean in the service's list.

use std::collections::{BTreeMap, HashMap};

use super::{Campaign, CampaignChoice, CampaignError};
use crate::lead::CampaignId;
use crate::message::{Message, Text, in_lines};
use crate::text::{joined, nearest, shown_name};

const MAX_PLACES: usize = 3;

const MAX_NAMES: usize = 20;

/// The names in campaign columns, each with the rows that have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamesInRows(BTreeMap<String, NamedRows>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedRows {
    pub rows: u64,
    /// The first few of these rows: the input, counted from 0, and the line.
    pub first: Vec<(usize, u64)>,
}

impl NamesInRows {
    pub fn add(&mut self, name: String, file: usize, line: u64) {
        let named = self.0.entry(name).or_default();
        named.rows += 1;
        if named.first.len() < MAX_PLACES {
            named.first.push((file, line));
        }
    }

    /// Adds the campaign that is given for all rows, if it is a name. It is not in any row.
    pub fn add_default(&mut self, choice: Option<&CampaignChoice>) {
        if let Some(CampaignChoice::Name(name)) = choice {
            self.0.entry(name.clone()).or_default();
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn of(&self, name: &str) -> NamedRows {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// The ids of the names that mean exactly one campaign in `list`, and the other names.
    pub fn resolved(
        self,
        list: &[Campaign],
        inputs: &[&str],
    ) -> (HashMap<String, CampaignId>, Option<UnclearNames>) {
        let mut ids = HashMap::new();
        let mut errors = Vec::new();
        let mut unknown = Vec::new();
        for name in self.0.keys() {
            let named = list.iter().filter(|campaign| campaign.name.trim() == name);
            match named.collect::<Vec<_>>()[..] {
                [] => unknown.push(name.clone()),
                [campaign] => match campaign.lead_campaign() {
                    Ok(id) => drop(ids.insert(name.clone(), id)),
                    Err(error) => errors.push(error),
                },
                ref several => {
                    let ids = several.iter().map(|campaign| campaign.id.clone());
                    let ids: Vec<String> = ids.collect();
                    let called = shown_name(name);
                    let message = Message::new(
                        text!(
                            "{several} campaigns are called `{called}`",
                            several = ids.len(),
                            called = &called
                        ),
                        text!(
                            "for `{called}` give the id, {ids}",
                            called,
                            ids = joined(&ids, "or")
                        ),
                    );
                    errors.push(CampaignError {
                        problem: "ambiguous",
                        names: vec![name.clone()],
                        ids,
                        message: Box::new(message),
                    });
                }
            }
        }
        if !unknown.is_empty() {
            errors.insert(0, unknown_names(unknown, list));
        }
        let unclear = (!errors.is_empty()).then_some(UnclearNames {
            errors,
            names: self,
            inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
        });
        (ids, unclear)
    }
}

fn unknown_names(unknown: Vec<String>, list: &[Campaign]) -> CampaignError {
    let existing: Vec<String> = list.iter().map(|c| c.name.clone()).collect();
    let meant = unknown.first().and_then(|first| nearest(first, &existing));
    let meant = match meant {
        Some(name) => text!("did you mean `{name}`? ", name = shown_name(name)),
        None => Text::default(),
    };
    let hint = match existing.is_empty() {
        true => text!("the service lists no campaign for this token"),
        false => text!("{meant}{the|The} campaigns are {existing}", meant, existing),
    };
    let what = text!(
        "no campaign{number?:s} {number?is:are} called {unknown}",
        number = unknown.len(),
        unknown = unknown.clone()
    );
    CampaignError {
        problem: "unknown",
        names: unknown,
        ids: Vec::new(),
        message: Box::new(Message::new(what, hint)),
    }
}

/// Names that do not mean exactly one campaign each, and the rows that have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnclearNames {
    pub errors: Vec<CampaignError>,
    names: NamesInRows,
    inputs: Vec<String>,
}

impl UnclearNames {
    /// Each name with its error and its rows.
    pub fn names(&self) -> impl Iterator<Item = (&CampaignError, &str, NamedRows)> {
        self.errors.iter().flat_map(move |error| {
            let names = error.names.iter();
            names.map(move |name| (error, name.as_str(), self.names.of(name)))
        })
    }

    /// One sentence for each error, followed by the rows that have the names.
    pub fn lines(&self) -> Vec<Text> {
        let mut lines: Vec<Text> = self.sentences().collect();
        let inputs: Vec<&str> = self.inputs.iter().map(String::as_str).collect();
        let in_rows: Vec<_> = self
            .names()
            .filter(|(_, _, named)| named.rows > 0)
            .collect();
        for (_, name, NamedRows { rows, first }) in in_rows.iter().take(MAX_NAMES) {
            let places = in_lines(*rows, first, &inputs);
            lines.push(text!(
                "{  |}`{name}`: {rows:row}, {places}",
                name = shown_name(name),
                rows = *rows,
                places
            ));
        }
        if let Some(left @ 1..) = in_rows.len().checked_sub(MAX_NAMES) {
            lines.push(text!("{  |}and {left:more name}", left));
        }
        lines
    }

    fn sentences(&self) -> impl Iterator<Item = Text> {
        self.errors.iter().map(|error| error.message.what.clone())
    }

    /// What to do, at the terminal.
    pub fn hint(&self) -> String {
        let hints = self.errors.iter();
        let hints = hints.filter_map(|error| error.message.at_terminal().1);
        let mut hints: Vec<String> = hints.collect();
        hints.dedup();
        hints.join("; ")
    }

    pub fn message(&self) -> Message {
        let sentences = self.sentences();
        let sentences = sentences.reduce(|before, next| text!("{before}; {next}", before, next));
        let lines: Vec<String> = self.lines().iter().map(Text::to_string).collect();
        message!(
            "{{lines}|{sentences}}",
            "{{hint}|correct the names in the list, or make the campaigns in {the_service}; or choose one campaign for all rows}",
            lines = lines.join("\n"),
            sentences = sentences.unwrap_or_else(Text::default),
            hint = self.hint()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::campaign;
    use super::*;

    fn resolved(names: &[(&str, u64)]) -> (HashMap<String, CampaignId>, Option<UnclearNames>) {
        let list = [
            campaign("1", "Spring"),
            campaign("2", "News"),
            campaign("3", "News"),
            campaign("9b1c", "Uuid"),
        ];
        let mut found = NamesInRows::default();
        for (name, line) in names {
            found.add((*name).to_owned(), 0, *line);
        }
        found.resolved(&list, &["a.csv"])
    }

    fn said(names: &[(&str, u64)]) -> String {
        resolved(names).1.unwrap().message().to_string()
    }

    #[test]
    fn a_name_is_matched_exactly_and_only_once() {
        let (ids, unclear) = resolved(&[("Spring", 2)]);
        assert_eq!(ids["Spring"], CampaignId(1));
        assert_eq!(unclear, None);
        let text = said(&[("spring", 2), ("x", 3)]);
        assert!(text.contains("  `spring`: 1 row, in line 2\n"), "{text}");
        assert!(text.contains("  `x`: 1 row, in line 3\n"), "{text}");
        assert!(text.contains("`Spring`? "), "{text}");
        assert!(text.contains("`Spring`, `News`, `News`, `Uuid`"), "{text}");
        let text = said(&[("News", 2), ("News", 4)]);
        assert!(text.contains("  `News`: 2 rows, in lines 2, 4\n"), "{text}");
        assert!(text.ends_with("2 or 3"), "{text}");
        assert!(said(&[("Uuid", 2)]).contains("`9b1c`"));
        assert!(said(&[("Uuid", 2)]).starts_with("the campaign `Uuid` has the id `9b1c`"));
    }

    #[test]
    fn all_unclear_names_are_reported_at_once_with_their_first_rows() {
        let rows: Vec<_> = (5..15).map(|line| ("x", line)).collect();
        let mut names = vec![("News", 2), ("Spring", 3)];
        names.extend(rows);
        let text = said(&names);
        assert!(text.contains("  `x`: 10 rows, "), "{text}");
        assert!(text.contains("lines 5, 6, 7\n"), "{text}");
        assert!(text.contains("  `News`: 1 row, in line 2\n"), "{text}");
        assert!(text.ends_with("2 or 3"), "{text}");
        assert_eq!(resolved(&names).0["Spring"], CampaignId(1));
    }

    #[test]
    fn a_name_that_was_given_for_all_rows_has_no_line() {
        let mut names = NamesInRows::default();
        names.add_default(Some(&CampaignChoice::Name("x".into())));
        let unclear = names.resolved(&[], &[]).1.unwrap();
        let text = unclear.message().to_string();
        assert!(text.contains("`x`") && !text.contains("line"), "{text}");
    }
}
