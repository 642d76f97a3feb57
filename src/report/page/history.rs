//! The time line of a run, as a chart.

use std::time::Duration;

use jiff::Timestamp;
use maud::{Markup, html};

use super::chart::percent;
use super::timeline::{Pauses, Span, Step, Steps, Timeline};
use super::{Page, RunMode};
use crate::report::clock::Clock;
use crate::report::summary::seconds;
use crate::text::{counted, grouped};

/// How many outages are told one by one.
const MAX_OUTAGES: usize = 10;

/// Narrower than this, in percent, a pause would not be seen.
const MIN_SEEN: f64 = 0.4;

/// From this width on, in percent, there is room for its name.
const ROOM_FOR_NAME: f64 = 8.0;

/// By so much, in percent, a step reaches into the next, or paper shows a line between.
const SEAM: f64 = 0.05;

/// The time line, with waits and outages; none for a check.
pub(super) fn section(page: &Page<'_>, clock: &Clock) -> Markup {
    let RunMode::Sent { goes_on, .. } = page.deed else {
        return html! {};
    };
    let line = &page.notes.timeline;
    let outages = line.outages();
    let waits = line.waits.until(line.ended);
    let is_quiet = line.steps.all().is_empty() && waits.count + outages.count == 0;
    html! {
        section {
            h2 { "Time line" }
            @if goes_on { p { "This start alone; what earlier starts of the run have sent is not in it." } }
            @if is_quiet {
                p { "Nothing was sent." }
            } @else {
                (Chart { line, waits: &waits, outages: &outages, clock }.figure())
                (pauses(line, &waits, &outages, clock))
            }
        }
    }
}

/// The chart and what it is made of.
struct Chart<'a> {
    line: &'a Timeline,
    waits: &'a Pauses,
    outages: &'a Pauses,
    clock: &'a Clock,
}

impl Chart<'_> {
    fn figure(&self) -> Markup {
        let steps = self.line.steps.to_be_shown();
        let most = steps
            .all()
            .iter()
            .map(|step| step.rows())
            .max()
            .unwrap_or(0);
        let top = round_up(most);
        let text = self.text(&steps, most);
        let zone = self.clock.zone(self.line.began);
        html! {
            figure {
                div.plot {
                    div.y aria-hidden="true" {
                        span { (grouped(top)) } span { (half(top)) } span { "0" }
                    }
                    svg.line role="img" aria-label=(text) {
                        title { (text) }
                        @for span in self.waits.spans() { (self.pause(span, "wait", "waits")) }
                        @for span in self.outages.spans() { (self.pause(span, "outage", "outage")) }
                        @for y in ["0%", "50%", "100%"] {
                            line.grid x1="0" x2="100%" y1=(y) y2=(y) {}
                        }
                        @for (at, step) in steps.all().iter().enumerate() {
                            (self.step(&steps, at, *step, top))
                        }
                    }
                    div.x aria-hidden="true" {
                        @for (mark, text) in self.marks() {
                            span style={ "left:" (percent(mark)) } { (text) }
                        }
                    }
                }
                p.legend aria-hidden="true" {
                    span { span.swatch.created {} " became leads" }
                    @if steps.total().others > 0 { span { span.swatch.others {} " did not" } }
                    @if self.waits.count > 0 { span { span.swatch.wait {} " asked to wait" } }
                    @if self.outages.count > 0 { span { span.swatch.outage {} " no usable answers" } }
                }
                figcaption {
                    "Rows answered in each step of " (time(steps.width)) ", by the clock of this machine: " (zone) "."
                }
            }
        }
    }

    /// What the chart shows, for those who cannot see it.
    fn text(&self, steps: &Steps, most: u64) -> String {
        let began = self.line.began;
        let clock = |at: Duration| self.clock.time(moment(began, at));
        let rows = self.line.steps.total();
        let pace = rows.rows() as f64 / self.line.ended.as_secs_f64().max(0.001);
        let pace = match pace {
            slow if slow < 1.0 => format!("{:.1} a minute", slow * 60.0),
            fast => format!("{fast:.1} a second"),
        };
        format!(
            "From {} to {} {} were answered, {} of them with a new lead: {pace} on average, {} at most in {}.",
            clock(Duration::ZERO),
            clock(self.line.ended),
            counted(rows.rows(), "row"),
            grouped(rows.created),
            grouped(most),
            time(steps.width),
        )
    }

    /// Where a time stands, in percent of the chart's width.
    fn place(&self, at: Duration) -> f64 {
        let whole = self.line.ended.as_secs_f64().max(0.001);
        100.0 * (at.as_secs_f64() / whole).min(1.0)
    }

    /// A pause, with its name where there is room for it.
    fn pause(&self, span: &Span, class: &str, name: &str) -> Markup {
        let (from, to) = (self.place(span.from), self.place(span.to));
        let width = (to - from).max(MIN_SEEN);
        html! {
            rect class=(class) x=(percent(from.min(100.0 - width))) y="0" width=(percent(width)) height="100%" {}
            @if width >= ROOM_FOR_NAME {
                text x=(percent(from + width / 2.0)) y="1.25em" text-anchor="middle" { (name) }
            }
        }
    }

    fn step(&self, steps: &Steps, at: usize, step: Step, top: u64) -> Markup {
        let from = self.place(steps.width.saturating_mul(at as u32));
        let to = self.place(steps.width.saturating_mul(at as u32 + 1));
        let height = |rows: u64| 100.0 * rows as f64 / (top as f64).max(1.0);
        let (created, others) = (height(step.created), height(step.others));
        let bar = |class: &str, y: f64, height: f64| {
            html! {
                @if height > 0.0 {
                    rect class=(class) x=(percent(from)) y=(percent(y)) width=(percent(to - from + SEAM)) height=(percent(height)) {}
                }
            }
        };
        html! {
            (bar("created", 100.0 - created, created))
            (bar("others", 100.0 - created - others, others))
        }
    }

    /// Where the marks of the axis stand, and what is written there. Near the right edge
    /// there is no room for it.
    fn marks(&self) -> Vec<(f64, String)> {
        let began = self.line.began;
        let marks = self.clock.marks(began, moment(began, self.line.ended));
        let place = |mark: Timestamp| {
            let after = mark.duration_since(began);
            self.place(after.try_into().unwrap_or_default())
        };
        marks
            .into_iter()
            .map(|(mark, text)| (place(mark), text))
            .filter(|(place, _)| *place < 88.0)
            .collect()
    }
}

/// Waits and outages in words.
fn pauses(line: &Timeline, waits: &Pauses, outages: &Pauses, clock: &Clock) -> Markup {
    let at = |after: Duration| clock.time(moment(line.began, after));
    let told = outages
        .spans()
        .get(..MAX_OUTAGES)
        .unwrap_or(outages.spans());
    html! {
        @if waits.count > 0 {
            p {
                "The service asked to wait " (times(waits.count)) ", " (time(waits.total))
                " in all and " (time(waits.longest)) " at the longest. That is how it limits the pace."
            }
        }
        @if outages.count > 0 {
            p {
                "The service gave no usable answers " (times(outages.count)) ", for " (time(outages.total))
                " in all. All rows waited until it was back."
            }
        }
        @if outages.are_all_kept() && !told.is_empty() {
            div.scroll {
                table {
                    caption { "Outages" }
                    thead {
                        tr {
                            th scope="col" { "From" }
                            th scope="col" { "To" }
                            th.number scope="col" { "Lasted" }
                            th scope="col" { "What was seen" }
                        }
                    }
                    tbody {
                        @for span in told {
                            tr {
                                th scope="row" { (at(span.from)) }
                                td { (at(span.to)) }
                                td.number { (time(span.time())) }
                                td { code { (span.why) } }
                            }
                        }
                    }
                }
            }
            @if outages.spans().len() > told.len() {
                p { "And " (counted((outages.spans().len() - told.len()) as u64, "more outage")) "." }
            }
        }
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", grouped(more)),
    }
}

fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 1.0 => format!("{:.0} ms", short * 1000.0),
        long => seconds(long),
    }
}

fn moment(began: Timestamp, after: Duration) -> Timestamp {
    began.checked_add(after).unwrap_or(began)
}

/// The next number that makes a round top of an axis: 1, 2 or 5 and zeros.
fn round_up(most: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for digit in [1, 2, 5] {
            let top = power.saturating_mul(digit);
            if top >= most || top == u64::MAX {
                return top;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Half of a round number, as an axis has it.
fn half(top: u64) -> String {
    if top.is_multiple_of(2) {
        grouped(top / 2)
    } else {
        format!("{}.5", grouped(top / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_the_axis_is_round_and_never_too_low() {
        for (most, top) in [
            (0, 1),
            (1, 1),
            (3, 5),
            (5, 5),
            (6, 10),
            (13, 20),
            (201, 500),
        ] {
            assert_eq!(round_up(most), top);
        }
        assert_eq!(round_up(u64::MAX), u64::MAX);
        assert_eq!(
            (half(1), half(5), half(2000)),
            ("0.5".into(), "2.5".into(), "1,000".into())
        );
    }
}
