//! What the service and the agent would get: the requests for two rows of the list, and the
//! agent's opening line with the values of three people.

use maud::{Markup, html};
use serde_json::Value;

use super::column_form::ColumnForm;
use super::job::Job;
use super::layout::labelled;
use crate::report::PreviewRow;
use crate::text::shortened;

/// How much is shown of a value: a cell may hold a book.
const VALUE: usize = 500;

/// The box for the agent's opening line.
pub fn opening_line(form: &ColumnForm) -> Markup {
    html! {
        (labelled("opening-line", "Paste the agent's opening line", html! {
            textarea #opening-line name="opening-line" rows="2" aria-describedby="opening-line-help" { (form.opening_line) }
        }))
        p #opening-line-help .hint {
            "For example: Hi {{first_name}}, … Preview shows it for three people. It stays on this computer."
        }
    }
}

/// What was found for the settings as they are kept, if they were checked.
pub fn section(job: &Job, form: &ColumnForm) -> Markup {
    let Some(checked) = job.state().check.done() else {
        return html! {};
    };
    let preview = &checked.preview;
    let bodies = &checked.found.findings.bodies;
    html! {
        section #preview tabindex="-1" aria-labelledby="preview-heading" {
            h2 #preview-heading { "Preview" }
            @if let Some(first) = &preview.first {
                (row(&format!("What the service would get for the first row, line {}", first.line), first))
            }
            @if let Some(emptiest) = &preview.emptiest {
                (row(&format!("For the row with most empty cells, line {}", emptiest.line), emptiest))
            }
            @if preview.first.is_none() {
                p { "No row can be sent as the list is." }
            }
            @if !form.opening_line.trim().is_empty() {
                p { "The agent would begin:" }
                ul.lines {
                    @for body in bodies {
                        li { (filled_in(&form.opening_line, &variables(body))) }
                    }
                }
            }
        }
    }
}

/// What is in the body of a request. Beside the number stands the cell that it was made of.
fn row(caption: &str, row: &PreviewRow) -> Markup {
    let sent: Value = serde_json::from_str(&row.body).unwrap_or_default();
    let number = sent["phone_number"].as_str().unwrap_or_default();
    html! {
        table.sent {
            caption { (caption) }
            tbody {
                tr {
                    th scope="row" { "Phone number" }
                    td {
                        (number)
                        @if row.cell != number { span.hint { " from " bdi { (shortened(&row.cell, VALUE)) } } }
                    }
                }
                @for (name, value) in variables(&row.body) {
                    tr {
                        th scope="row" { bdi { (name) } }
                        td { @if value.trim().is_empty() { em { "empty" } } @else { bdi { (shortened(&value, VALUE)) } } }
                    }
                }
            }
        }
    }
}

/// The variables in the body of a request.
fn variables(body: &str) -> Vec<(String, String)> {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let variables = match &body["variables"] {
        Value::Array(list) => list.first().cloned(),
        other => Some(other.clone()),
    };
    let variables = variables.as_ref().and_then(Value::as_object);
    let variables = variables.into_iter().flatten();
    variables
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

/// The opening line with values in place of names. Names that no variable has, and values that
/// are empty, are marked.
fn filled_in(line: &str, variables: &[(String, String)]) -> Markup {
    html! {
        @for piece in pieces(line) {
            @match piece {
                Piece::Text(text) => (text),
                Piece::Name(name) => @match value_of(name, variables) {
                    Some(value) if !value.trim().is_empty() => mark.value { bdi { (shortened(value, VALUE)) } },
                    Some(_) => mark.missing { "[" (name) ": empty]" },
                    None => mark.missing { "[" (name) ": not sent]" },
                },
            }
        }
    }
}

fn value_of<'v>(name: &str, variables: &'v [(String, String)]) -> Option<&'v str> {
    let mut variables = variables.iter();
    variables.find_map(|(known, value)| (known == name).then_some(value.as_str()))
}

#[derive(Debug, PartialEq, Eq)]
enum Piece<'l> {
    Text(&'l str),
    Name(&'l str),
}

/// The texts of a line and the names between `{{` and `}}`.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        pieces.push(Piece::Text(before));
        pieces.push(Piece::Name(name.trim()));
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_an_opening_line_are_filled_in_or_marked() {
        let variables = [("first_name", "Ada"), ("city", " ")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let shown = filled_in("Hi {{first_name}} of {{ city }}{{zip}}, {{", &variables);
        assert_eq!(
            shown.into_string(),
            "Hi <mark class=\"value\"><bdi>Ada</bdi></mark> of <mark class=\"missing\">[city: empty]</mark><mark class=\"missing\">[zip: not sent]</mark>, {{"
        );
    }
}
