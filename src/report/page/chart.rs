//! Bars. Their rectangles are given in shares of whatever room there is, so that their
//! labels keep their size on a narrow screen.

use maud::{Markup, html};

/// A part of a bar, in percent of its length.
const MIN_SEEN: f64 = 1.0;

/// From this part on there is room for a key.
const ROOM_FOR_KEY: f64 = 5.0;

/// One part of a stacked bar.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// What stands for it in bar and table alike.
    pub(super) key: String,
    /// The class that colours it.
    pub(super) class: &'static str,
    /// What it is, for those who point at it.
    pub(super) title: String,
    /// How much it is.
    pub(super) value: u64,
}

/// A bar of all parts end to end; `text` says the same in words.
pub(super) fn stacked_bar(parts: &[Part], text: &str) -> Markup {
    let widths = widths(parts);
    let from = widths.iter().scan(0.0, |sum, width| {
        let from = *sum;
        *sum += width;
        Some(from)
    });
    html! {
        svg.stacked role="img" aria-label=(text) {
            title { (text) }
            @for (part, (from, width)) in parts.iter().zip(from.zip(&widths)) {
                g {
                    title { (part.title) }
                    rect class={ "part " (part.class) } x=(percent(from)) y="0" width=(percent(*width)) height="100%" {}
                    @if *width >= ROOM_FOR_KEY {
                        text x=(percent(from + width / 2.0)) y="50%" dy="0.35em" text-anchor="middle" { (part.key) }
                    }
                }
            }
        }
    }
}

/// A bar for one line of a table, which says the number itself.
pub(super) fn bar(value: u64, most: u64) -> Markup {
    let width = 100.0 * value as f64 / (most as f64).max(1.0);
    html! {
        svg.bar aria-hidden="true" {
            rect x="0" y="0" width=(percent(width.max(MIN_SEEN))) height="100%" {}
        }
    }
}

/// The sample of a part's colour in a table, with its key.
pub(super) fn swatch(part: &Part) -> Markup {
    html! { span class={ "swatch " (part.class) } aria-hidden="true" { (part.key) } }
}

/// The width of each part, in percent. What is there can be seen, however little it is;
/// that comes off the others.
fn widths(parts: &[Part]) -> Vec<f64> {
    let whole: u64 = parts.iter().map(|part| part.value).sum();
    let raw = parts.iter().map(|part| match part.value {
        0 => 0.0,
        value => (100.0 * value as f64 / whole as f64).max(MIN_SEEN),
    });
    let raw: Vec<f64> = raw.collect();
    let sum: f64 = raw.iter().sum();
    raw.iter()
        .map(|width| 100.0 * width / sum.max(1.0))
        .collect()
}

/// A length or a place as an attribute has it.
pub(super) fn percent(value: f64) -> String {
    format!("{value:.3}%")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(values: &[u64]) -> Vec<Part> {
        let part = |value: &u64| Part {
            key: "1".into(),
            class: "x",
            title: "t".into(),
            value: *value,
        };
        values.iter().map(part).collect()
    }

    #[test]
    fn what_is_there_can_be_seen_and_what_is_not_cannot() {
        assert_eq!(widths(&parts(&[50, 0, 50])), [50.0, 0.0, 50.0]);
        let widths = widths(&parts(&[1, 1_000_000]));
        assert!(widths[0] > 0.98 && widths[1] < 99.1, "{widths:?}");
        assert!(self::widths(&[]).is_empty());
    }

    #[test]
    fn a_text_in_a_chart_cannot_become_markup() {
        let mut parts = parts(&[1]);
        parts[0].title = "\"><script>".into();
        let svg = stacked_bar(&parts, "\"><img onerror>").into_string();
        assert!(!svg.contains("<script") && !svg.contains("<img"), "{svg}");
    }

    proptest! {
        #[test]
        fn the_parts_fill_the_bar(values in prop::collection::vec(1_u64..u64::MAX / 16, 1..10)) {
            let widths = widths(&parts(&values));
            let sum: f64 = widths.iter().sum();
            prop_assert!((sum - 100.0).abs() < 1e-6, "{widths:?}");
            prop_assert!(widths.iter().all(|width| *width > 0.5));
        }
    }
}
