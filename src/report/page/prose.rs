//! Sentences in the form that the page shows.

use maud::{Markup, html};

use crate::message::Message;

/// A sentence in which text between backquotes is shown as code.
pub(super) fn marked(text: &str) -> Markup {
    let are_paired = text.matches('`').count().is_multiple_of(2);
    html! {
        @if are_paired {
            @for (at, piece) in text.split('`').enumerate() {
                @if at % 2 == 1 { (typed(piece)) } @else { (piece) }
            }
        } @else {
            (text)
        }
    }
}

/// Text shown as code. A flag is not broken after its dashes at the end of a line.
fn typed(text: &str) -> Markup {
    html! {
        code {
            @for (at, word) in text.split(' ').enumerate() {
                @if at > 0 { " " }
                @if word.starts_with("--") { span.flag { (word) } } @else { (word) }
            }
        }
    }
}

/// A message with its hint, each a paragraph.
pub(super) fn message(message: &Message) -> Markup {
    let (what, hint) = message.at_terminal();
    html! {
        @for paragraph in what.split("\n\n") { p { (marked(paragraph)) } }
        @for (at, paragraph) in hint.iter().flat_map(|hint| hint.split("\n\n")).enumerate() {
            p { @if at == 0 { strong { "What to do: " } } (marked(paragraph)) }
        }
    }
}

/// The share of a whole: `94 %`, and where that would hide something `< 1 %` or `> 99 %`.
pub fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / (whole as f64).max(1.0);
    match percent {
        0.0 => "0 %".to_owned(),
        small if small < 1.0 => "< 1 %".to_owned(),
        large if large > 99.0 && part < whole => "> 99 %".to_owned(),
        other => format!("{other:.0} %"),
    }
}

/// A table; of each column its heading, and whether it holds numbers.
pub(super) fn table(class: &str, caption: &str, columns: &[(&str, bool)], rows: &Markup) -> Markup {
    html! {
        div.scroll {
            table class=(class) {
                caption { bdi { (caption) } }
                thead {
                    tr {
                        @for (heading, is_number) in columns {
                            th class=[is_number.then_some("number")] scope="col" { (heading) }
                        }
                    }
                }
                (rows)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_never_rounds_to_nothing_or_to_all() {
        for (part, whole, said) in [
            (0, 10, "0 %"),
            (1, 1000, "< 1 %"),
            (1, 3, "33 %"),
            (999, 1000, "> 99 %"),
            (1000, 1000, "100 %"),
            (0, 0, "0 %"),
        ] {
            assert_eq!(share(part, whole), said);
        }
    }

    #[test]
    fn commands_are_marked_up_and_escaped() {
        assert_eq!(
            marked("give `--region <b>` or not").into_string(),
            "give <code><span class=\"flag\">--region</span> &lt;b&gt;</code> or not"
        );
        assert_eq!(marked("it's 5` long").into_string(), "it's 5` long");
        assert_eq!(
            message(&message!("it is so", "do that")).into_string(),
            "<p>it is so</p><p><strong>What to do: </strong>do that</p>"
        );
    }
}
