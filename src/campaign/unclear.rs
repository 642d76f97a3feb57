//! The campaign names in rows, and what they mean in the service's list.

use std::collections::{BTreeMap, HashMap};

use super::{Campaign, CampaignChoice, CampaignError};
use crate::lead::CampaignId;
use crate::message::Message;
use crate::text::{counted, in_lines, joined, listed, nearest, shown_name};

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
    pub fn note(&mut self, name: String, file: usize, line: u64) {
        let named = self.0.entry(name).or_default();
        named.rows += 1;
        if named.first.len() < MAX_PLACES {
            named.first.push((file, line));
        }
    }

    /// Adds the campaign that is given for all rows, if it is a name. It is not in any row.
    pub fn note_default(&mut self, choice: Option<&CampaignChoice>) {
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
                    let (called, several) = (shown_name(name), ids.len());
                    let what = format!("{several} campaigns are called `{called}`");
                    let ids_of_it = joined(&ids, "or");
                    let hint = format!("for `{called}` give the id, {ids_of_it}");
                    errors.push(CampaignError {
                        problem: "ambiguous",
                        names: vec![name.clone()],
                        ids,
                        message: Message::new(what, hint),
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
    let existing: Vec<&str> = list.iter().map(|c| c.name.as_str()).collect();
    let meant = unknown.first().and_then(|first| nearest(first, &existing));
    let meant = meant.map(|name| format!("did you mean `{}`? ", shown_name(name)));
    let hint = if existing.is_empty() {
        "the service lists no campaign for this token".to_owned()
    } else {
        format!("the campaigns are {}", listed(&existing))
    };
    let what = match unknown.len() {
        1 => format!("no campaign is called {}", listed(&unknown)),
        _ => format!("no campaigns are called {}", listed(&unknown)),
    };
    CampaignError {
        problem: "unknown",
        names: unknown,
        ids: Vec::new(),
        message: Message::new(what, meant.unwrap_or_default() + &hint),
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
    pub fn lines(&self) -> Vec<String> {
        let errors = self.errors.iter().map(|error| error.message.what.clone());
        let mut lines: Vec<String> = errors.collect();
        let inputs: Vec<&str> = self.inputs.iter().map(String::as_str).collect();
        let in_rows: Vec<_> = self
            .names()
            .filter(|(_, _, named)| named.rows > 0)
            .collect();
        for (_, name, NamedRows { rows, first }) in in_rows.iter().take(MAX_NAMES) {
            let places = in_lines(*rows, first, &inputs);
            let rows = counted(*rows, "row");
            lines.push(format!("  `{}`: {rows}, {places}", shown_name(name)));
        }
        if let Some(left @ 1..) = in_rows.len().checked_sub(MAX_NAMES) {
            lines.push(format!("  and {}", counted(left as u64, "more name")));
        }
        lines
    }

    pub fn hint(&self) -> String {
        let hints = self.errors.iter();
        let mut hints: Vec<&str> = hints
            .filter_map(|error| error.message.hint.as_deref())
            .collect();
        hints.dedup();
        hints.join("; ")
    }

    pub fn message(&self) -> Message {
        let on_page = "Correct the names in the list, or make the campaigns in the calling service. Or choose one campaign for all rows.";
        let errors = self.errors.iter().map(|error| error.message.what.clone());
        let errors: Vec<String> = errors.collect();
        Message::new(self.lines().join("\n"), self.hint()).on_page(errors.join("; "), on_page)
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
            found.note((*name).to_owned(), 0, *line);
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
        assert_eq!(
            said(&[("spring", 2), ("x", 3)]),
            "no campaigns are called `spring`, `x`\n\
             \x20 `spring`: 1 row, in line 2\n\
             \x20 `x`: 1 row, in line 3\n\n\
             hint: did you mean `Spring`? the campaigns are `Spring`, `News`, `News`, `Uuid`"
        );
        assert_eq!(
            said(&[("News", 2), ("News", 4)]),
            "2 campaigns are called `News`\n\
             \x20 `News`: 2 rows, in lines 2, 4\n\n\
             hint: for `News` give the id, 2 or 3"
        );
        assert!(said(&[("Uuid", 2)]).starts_with("the campaign `Uuid` has the id `9b1c`"));
    }

    #[test]
    fn all_unclear_names_are_reported_at_once_with_their_first_rows() {
        let rows: Vec<_> = (5..15).map(|line| ("x", line)).collect();
        let mut names = vec![("News", 2), ("Spring", 3)];
        names.extend(rows);
        assert_eq!(
            said(&names),
            "no campaign is called `x`\n\
             2 campaigns are called `News`\n\
             \x20 `x`: 10 rows, the first in lines 5, 6, 7\n\
             \x20 `News`: 1 row, in line 2\n\n\
             hint: the campaigns are `Spring`, `News`, `News`, `Uuid`; \
             for `News` give the id, 2 or 3"
        );
        assert_eq!(resolved(&names).0["Spring"], CampaignId(1));
    }

    #[test]
    fn a_name_that_was_given_for_all_rows_has_no_line() {
        let mut names = NamesInRows::default();
        names.note_default(Some(&CampaignChoice::Name("x".into())));
        let unclear = names.resolved(&[], &[]).1.unwrap();
        assert_eq!(
            unclear.message().to_string(),
            "no campaign is called `x`\n\nhint: the service lists no campaign for this token"
        );
    }
}
