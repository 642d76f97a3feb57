//! Blocks as HTML: for the file that `--report` writes, which speaks as the terminal does, and for the
//! page in the browser.

use maud::{Markup, html};

use super::block::{Block, Column, Count, Fact, File, Form, Problem, Table};
use crate::lead::ErrorCode;
use crate::message::{Message, Span, Text, Voice};
use crate::text::{counted, file_name, grouped};

/// How blocks are shown.
pub struct Html<'a> {
    pub voice: Voice,
    /// What leads from a fact to the setting that changes it: the step, and its name.
    pub change: &'a dyn Fn(&str, &str) -> Markup,
    /// What leads from a problem to what cures it.
    pub cure: &'a dyn Fn(ErrorCode) -> Markup,
    /// What a cell of a table becomes, by its row and column, from 0: the cell itself, or a link.
    pub cell: &'a dyn Fn(usize, usize, Markup) -> Markup,
    /// The name of one more column of tables, and its cell in each row.
    pub last: Option<(&'a str, &'a dyn Fn(usize) -> Markup)>,
}

impl Html<'_> {
    /// Without links.
    pub const fn plain(voice: Voice) -> Html<'static> {
        Html {
            voice,
            change: &|_, _| html! {},
            cure: &|_| html! {},
            cell: &|_, _, cell| cell,
            last: None,
        }
    }

    pub fn blocks(&self, blocks: &[Block]) -> Markup {
        html! { @for block in blocks { (self.block(block)) } }
    }

    fn block(&self, block: &Block) -> Markup {
        let is_of_terminal = self.voice == Voice::Terminal;
        html! {
            @match block {
                Block::Title(title) => @if self.says(title) { p.big { (self.phrase(title)) } },
                Block::Heading(heading) => @if self.says(heading) { h2 { (self.begun(heading)) } },
                Block::Paragraph(said) => @if self.says(said) { p { (self.sentence(said)) } },
                Block::Note(said) => @if self.says(said) { p.note { (self.sentence(said)) } },
                Block::Facts(facts) => (self.facts(facts)),
                Block::Counts(counts) => (self.counts(counts)),
                Block::Table(table) => (self.table(table)),
                Block::Problem(problem) => (self.problem(problem)),
                Block::List(items) => (self.list(items)),
                Block::Literal(lines) => @if is_of_terminal { pre { @for line in lines { (line) "\n" } } },
                Block::Files(files) => @if is_of_terminal { (self.files(files)) },
                Block::Command(what, line) => @if is_of_terminal {
                    p { (self.phrase(what)) @if line.is_some() { ":" } @else { "." } }
                    @if let Some(line) = line { pre { code { (line) } } }
                },
            }
        }
    }

    /// Whether this voice has words for it.
    fn says(&self, text: &Text) -> bool {
        let is_meant = self.voice == Voice::Terminal || text.is_for_page();
        is_meant && !text.phrase_spans(self.voice).is_empty()
    }

    /// Words in a sentence.
    pub fn sentence(&self, text: &Text) -> Markup {
        self.spans(&text.spans(self.voice))
    }

    /// Words in a cell or behind a name.
    fn phrase(&self, text: &Text) -> Markup {
        self.spans(&text.phrase_spans(self.voice))
    }

    /// Words that begin a line.
    fn begun(&self, text: &Text) -> String {
        begun(&text.phrase(self.voice))
    }

    fn list(&self, items: &[Text]) -> Markup {
        let items: Vec<_> = items.iter().filter(|item| self.says(item)).collect();
        html! {
            @if !items.is_empty() { ul.steps { @for item in items { li { (self.sentence(item)) } } } }
        }
    }

    fn spans(&self, spans: &[Span]) -> Markup {
        html! {
            @for Span { text, is_typed } in spans {
                @match (is_typed, self.voice) {
                    (false, _) => (text),
                    (true, Voice::Terminal) => (typed(text)),
                    (true, Voice::Page) => { "“" bdi { (file_name(text)) } "”" },
                }
            }
        }
    }

    /// What happened and what to do, each a paragraph.
    pub fn message(&self, message: &Message) -> Markup {
        let (what, hints) = message.parts();
        html! {
            @for what in what { p { (self.sentence(what)) } }
            @for (at, hint) in hints.into_iter().enumerate().filter(|(_, hint)| self.says(hint)) {
                p { @if at == 0 { strong { "What to do: " } } (self.sentence(hint)) }
            }
        }
    }

    fn facts(&self, facts: &[Fact]) -> Markup {
        let class = match facts.iter().any(|fact| fact.change.is_some()) {
            true => "summary",
            false => "facts",
        };
        let shown: Vec<(&Fact, Vec<Markup>)> = facts
            .iter()
            .map(|fact| {
                let lines = fact.value.iter().filter(|line| self.says(line));
                let lines = lines.map(|line| html! { bdi { (self.phrase(line)) } });
                (fact, lines.collect())
            })
            .filter(|(_, lines): &(_, Vec<Markup>)| !lines.is_empty())
            .collect();
        html! {
            @if !shown.is_empty() {
                dl class=(class) {
                    @for (fact, lines) in &shown {
                        div {
                            dt { (self.begun(&fact.name)) }
                            dd {
                                @if let [line] = &lines[..] { (line) }
                                @else { ul { @for line in lines { li { (line) } } } }
                            }
                            @if let Some((step, name)) = fact.change { dd { ((self.change)(step, name)) } }
                        }
                    }
                }
            }
        }
    }

    /// As a table with shares and meanings; on the page the names say what is meant.
    fn counts(&self, counts: &[Count]) -> Markup {
        match (counts, self.voice) {
            ([], _) => html! {},
            (_, Voice::Terminal) => self.table(&with_shares(counts)),
            (_, Voice::Page) => html! {
                dl.counts {
                    @for count in counts {
                        div { dt { (self.phrase(&count.name)) } dd { (grouped(count.rows)) } }
                    }
                }
            },
        }
    }

    fn table(&self, table: &Table) -> Markup {
        let all = table.columns.iter().enumerate();
        let columns: Vec<(usize, &Column)> =
            all.filter(|(_, column)| self.says(&column.name)).collect();
        html! {
            div.scroll {
                table.stack {
                    @if self.says(&table.title) { caption { bdi { (self.phrase(&table.title)) } } }
                    thead {
                        tr {
                            @for (_, column) in &columns {
                                th.number[column.form == Form::Number] scope="col" { (self.begun(&column.name)) }
                            }
                            @if let Some((name, _)) = self.last { th scope="col" { (name) } }
                        }
                    }
                    tbody {
                        @for (number, row) in table.rows.iter().enumerate() {
                            tr {
                                @for (place, (at, column)) in columns.iter().enumerate() {
                                    @let cell = (self.cell)(number, *at, html! { bdi { (self.phrase(&row[*at])) } });
                                    @let is_number = column.form == Form::Number;
                                    @let name = self.begun(&column.name);
                                    @if place == 0 { th.number[is_number] scope="row" data-label=(name) { (cell) } }
                                    @else { td.number[is_number] data-label=(name) { (cell) } }
                                }
                                @if let Some((_, last)) = self.last { td { (last(number)) } }
                            }
                        }
                    }
                }
            }
            @if self.says(&table.rest) { p { (self.sentence(&table.rest)) } }
        }
    }

    fn problem(&self, problem: &Problem) -> Markup {
        let steps = self.list(&problem.steps);
        html! {
            article.problem {
                @match self.voice {
                    Voice::Terminal => {
                        h3 { (problem.title) }
                        p.tags {
                            strong { (counted(problem.rows, "row")) } " " code { (problem.status) }
                            @if let Some(code) = problem.code { " " code { (code) } }
                        }
                    }
                    Voice::Page => h2 { (problem.title) ": " (counted(problem.rows, "row")) },
                }
                p { (self.sentence(&problem.meaning)) }
                @if self.voice == Voice::Page && self.says(&problem.places) { p.hint { (self.sentence(&problem.places)) } }
                @if let Some(code) = problem.code { ((self.cure)(code)) }
                @if !problem.steps.is_empty() {
                    @match self.voice {
                        Voice::Terminal => { h4 { "How to fix it" } (steps) }
                        Voice::Page => details { summary { "How to fix it" } (steps) },
                    }
                }
                @if let Some(examples) = &problem.examples { (self.table(examples)) }
            }
        }
    }

    fn files(&self, files: &[File]) -> Markup {
        html! {
            dl.files {
                @for file in files {
                    div {
                        dt { (self.phrase(&file.name)) ": " bdi { (file.path) } }
                        dd { (self.phrase(&file.remark)) }
                    }
                }
            }
        }
    }
}

fn with_shares(counts: &[Count]) -> Table {
    let total: u64 = counts.iter().map(|count| count.rows).sum();
    let all = Count::new(text!("all"), total, Text::default());
    let row = |count: &Count| {
        let [rows, share] = [grouped(count.rows), share(count.rows, total)].map(Text::said);
        vec![count.name.clone(), rows, share, count.meaning.clone()]
    };
    Table {
        title: text!("Rows by status"),
        columns: vec![
            Column::new(text!("status"), Form::Line),
            Column::new(text!("rows"), Form::Number),
            Column::new(text!("share"), Form::Number),
            Column::new(text!("what it means"), Form::Words),
        ],
        rows: counts.iter().chain([&all]).map(row).collect(),
        rest: Text::default(),
    }
}

/// Words that begin a line.
pub(super) fn begun(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_leaves_nothing_behind() {
        let empty = [
            Block::List(Vec::new()),
            Block::Counts(Vec::new()),
            Block::Facts(Vec::new()),
            Block::Paragraph(Text::default()),
        ];
        for voice in [Voice::Terminal, Voice::Page] {
            assert_eq!(Html::plain(voice).blocks(&empty).into_string(), "");
        }
    }

    #[test]
    fn each_cell_has_the_name_of_its_column_for_screens_without_room_for_a_heading() {
        let table = Block::Table(Table {
            columns: vec![
                Column::new(text!("line"), Form::Number),
                Column::new(text!("what is wrong"), Form::Words),
                Column::new(text!("file"), Form::Words).only_if(false),
            ],
            rows: vec![vec![text!("7"), text!("it is empty"), text!("a.csv")]],
            ..Table::default()
        });
        let shown = Html::plain(Voice::Page).blocks(&[table]).into_string();
        assert!(shown.contains(r#"data-label="Line"><bdi>7<"#), "{shown}");
        assert!(
            shown.contains(r#"data-label="What is wrong"><bdi>it is empty<"#),
            "{shown}"
        );
        assert!(!shown.contains("a.csv"), "{shown}");
    }
}
