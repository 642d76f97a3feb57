//! The table is complete, and the documentation says the same.

use std::fmt::Write;

use super::*;
use crate::message::Voice;
use crate::phone::PhoneRules;

const OUTLOOK: Outlook = Outlook {
    by_same_command: false,
    in_doubt: InDoubt::Refused,
};

fn problems() -> impl Iterator<Item = (Status, ErrorCode)> {
    let codes = ErrorCode::all().chain([ErrorCode::Http(422)]);
    codes.flat_map(|code| {
        let problems = Status::ALL.into_iter().filter(|status| status.is_problem());
        problems.map(move |status| (status, code))
    })
}

fn steps(advice: &Advice, voice: Voice) -> Vec<String> {
    let steps = advice.steps.iter();
    steps.map(|step| Text::from(*step).words(voice)).collect()
}

/// Rows in doubt, one of which is on a do-not-call list.
fn group() -> OutcomeGroup {
    OutcomeGroup {
        rows: 2,
        suppressed: 1,
        ..OutcomeGroup::default()
    }
}

#[test]
fn every_problem_has_advice_that_says_what_to_do() {
    for (status, code) in problems() {
        for by_same_command in [true, false] {
            for in_doubt in [InDoubt::Refused, InDoubt::Doubled, InDoubt::Held] {
                let outlook = Outlook {
                    by_same_command,
                    in_doubt,
                };
                let advice = Advice::of(status, code, &group(), outlook);
                let mut texts = steps(&advice, Voice::Terminal);
                assert!(!texts.is_empty(), "{status} {code}");
                texts.extend(steps(&advice, Voice::Page));
                texts.extend([
                    advice.title.to_owned(),
                    Text::from(advice.meaning).to_string(),
                ]);
                for text in texts {
                    assert!(!text.is_empty(), "{status} {code}");
                    assert!(!text.contains(['{', '|', '}']), "{text}");
                    assert_eq!(text.matches('`').count() % 2, 0, "{text}");
                }
            }
        }
    }
}

#[test]
fn uncertain_rows_on_a_do_not_call_list_are_not_announced_as_sent_again() {
    for in_doubt in [InDoubt::Refused, InDoubt::Doubled, InDoubt::Held] {
        let outlook = Outlook {
            in_doubt,
            ..OUTLOOK
        };
        let said = |group: &OutcomeGroup| {
            let (status, code) = (Status::Uncertain, ErrorCode::AnswerLost);
            let advice = Advice::of(status, code, group, outlook);
            let short = short_advice(&advice, status, group, outlook, &[]);
            let said = [short.to_string()].into_iter();
            said.chain(steps(&advice, Voice::Terminal))
                .collect::<Vec<_>>()
        };
        let all = said(&OutcomeGroup {
            suppressed: 2,
            ..group()
        });
        assert_eq!(all.len(), 2, "{all:?}");
        for text in all {
            assert!(text.contains("on a do-not-call list now"), "{text}");
            assert!(text.contains("not sent again"), "{text}");
        }
        let some = said(&group());
        let end = "; those on a do-not-call list are not sent again";
        assert!(some[0].ends_with(end), "{some:?}");
        assert!(some.last().unwrap().contains("do-not-call"), "{some:?}");
        let none = said(&OutcomeGroup {
            suppressed: 0,
            ..group()
        });
        assert!(!none.concat().contains("do-not-call"), "{none:?}");
    }
}

#[test]
fn a_cell_without_a_number_is_in_the_meaning_of_the_code_that_it_gets() {
    let phones = PhoneRules::default();
    for (cell, named) in [("", "is empty"), ("-", "a dash"), ("n/a", "`n/a`")] {
        let code = phones.read(cell, None).unwrap_err().code();
        let meaning = Advice::of(Status::Invalid, code, &group(), OUTLOOK).meaning;
        let meaning = Text::from(meaning).to_string();
        assert!(meaning.contains(named), "{cell}: {meaning}");
    }
}

/// `docs/problems.md` as generated from the table.
fn documentation() -> String {
    let mut text = String::from(
        "# Problems and what to do\n\nWhat each error code means, and how its rows are fixed. The summary and the report page\nsay the same.\n",
    );
    let cells = ErrorCode::all().map(|code| (Status::Invalid, code));
    let rest = [
        (Status::Rejected, ErrorCode::Http(422)),
        (Status::Failed, ErrorCode::Http(503)),
        (Status::Uncertain, ErrorCode::AnswerLost),
    ];
    let rest_codes = rest.map(|(status, code)| (status, Some(code)));
    let mut said: Vec<&str> = Vec::new();
    for (status, code) in cells.chain(rest) {
        let advice = Advice::of(status, code, &group(), OUTLOOK);
        if said.contains(&advice.title) {
            continue;
        }
        said.push(advice.title);
        let key = if rest_codes.contains(&(status, Some(code))) {
            format!("`{status}`")
        } else {
            format!("`{code}`")
        };
        let _ = write!(
            text,
            "\n## {}\n\n{key}: {}\n\n",
            advice.title,
            Text::from(advice.meaning)
        );
        for step in steps(&advice, Voice::Terminal) {
            let _ = writeln!(text, "- {step}");
        }
    }
    text
}

#[test]
fn the_documentation_has_the_words_of_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/problems.md");
    if std::env::var_os("UPDATE_RECIPES").is_some() {
        std::fs::write(path, documentation()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), documentation());
}
