//! The table is whole, and the documentation says the same.

use std::fmt::Write;

use super::*;

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

#[test]
fn every_problem_has_advice_that_says_what_to_do() {
    for (status, code) in problems() {
        for by_same_command in [true, false] {
            for in_doubt in [InDoubt::Refused, InDoubt::Doubled, InDoubt::Held] {
                let advice = Advice::of(
                    status,
                    code,
                    Outlook {
                        by_same_command,
                        in_doubt,
                    },
                );
                assert!(!advice.steps.is_empty(), "{status} {code}");
                let steps = advice.steps.iter().map(|step| step.with_flags());
                for text in [advice.title, advice.meaning].into_iter().chain(steps) {
                    assert!(!text.is_empty(), "{status} {code}");
                    assert_eq!(text.matches('`').count() % 2, 0, "{text}");
                }
            }
        }
    }
}

#[test]
fn a_step_has_two_forms_only_where_a_flag_or_a_command_is_in_one() {
    for (status, code) in problems() {
        for step in Advice::of(status, code, OUTLOOK).steps {
            let names_one = |text: &str| text.contains("--") || text.contains("the same command");
            assert!(!names_one(step.without_flags()), "{step:?}");
            let has_two = matches!(step, Step::Flag { .. });
            assert_eq!(names_one(step.with_flags()), has_two, "{step:?}");
        }
    }
}

/// `docs/problems.md`, as the table has it.
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
        let advice = Advice::of(status, code, OUTLOOK);
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
            advice.title, advice.meaning
        );
        for step in advice.steps {
            let _ = writeln!(text, "- {}", step.with_flags());
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
