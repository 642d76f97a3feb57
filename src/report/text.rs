//! Blocks as text for a terminal.
//!
//! Rules: only lines with a path or a command are wider than the terminal. No word is cut, except a
//! name in a table that has no room for it; a table that fits in no other way shows each of its rows
//! as facts.

use comfy_table::{CellAlignment, ColumnConstraint};
use console::measure_text_width;

use super::block::{Block, Column, Count, Fact, File, Form, Problem, Table};
use super::html::begun;
use super::table::{lines, plain_table};
use super::width::{Width, wrapped};
use crate::message::{Text, Voice};
use crate::text::{counted, grouped, printable, shortened};

/// The names of facts have at least this width, so that several lists of facts line up.
const FACT: usize = 9;

/// The longest status.
const COUNT: usize = 16;

/// A name in a table is not cut below this.
const NAME: usize = 12;

/// Text of these blocks, with an empty line between two of them unless they belong together.
pub fn text(blocks: &[Block], width: Width) -> String {
    let mut text = String::new();
    let mut before = None;
    for block in blocks {
        let shown = block_text(block, width);
        if shown.is_empty() {
            continue;
        }
        if !text.is_empty() && !joins(before, block) {
            text.push('\n');
        }
        text += &shown;
        before = Some(block);
    }
    text
}

/// Whether no empty line stands between two blocks.
fn joins(before: Option<&Block>, block: &Block) -> bool {
    match (before, block) {
        (_, Block::Heading(_) | Block::Command(..) | Block::Files(_)) => false,
        (Some(Block::Title(_) | Block::Heading(_)), _) => true,
        (Some(Block::Problem(_)), Block::Problem(_)) => true,
        (Some(Block::Problem(_)), Block::List(_)) => true,
        (Some(Block::Facts(_)), Block::Facts(_)) => true,
        _ => false,
    }
}

fn block_text(block: &Block, width: Width) -> String {
    match block {
        Block::Heading(heading) => indented(&(begun(&words(heading)) + ":"), 0, width),
        Block::Title(said) | Block::Paragraph(said) | Block::Note(said) => {
            indented(&words(said), 0, width)
        }
        Block::Facts(facts) => facts_text(facts, width),
        Block::Counts(counts) => counts
            .iter()
            .map(|count| count_text(count, width))
            .collect(),
        Block::Table(table) => table_text(table, width),
        Block::Problem(problem) => problem_text(problem, width),
        Block::List(items) => items
            .iter()
            .map(|item| indented(&words(item), 2, width))
            .collect(),
        Block::Literal(lines) => lines
            .iter()
            .map(|line| format!("  {}\n", printable(line)))
            .collect(),
        Block::Files(files) => files.iter().map(file_text).collect(),
        Block::Command(what, Some(line)) => format!("{}:\n  {line}\n", words(what)),
        Block::Command(what, None) => format!("{}.\n", words(what)),
    }
}

/// What the terminal says, which cannot steer it.
fn words(text: &Text) -> String {
    printable(&text.phrase(Voice::Terminal)).into_owned()
}

/// Lines that all begin so far from the edge. No words are no line.
fn indented(said: &str, indent: usize, width: Width) -> String {
    if said.is_empty() {
        return String::new();
    }
    let lines = wrapped(width.less(indent).columns(), said.split(' ')).into_iter();
    lines
        .map(|line| format!("{:indent$}{line}\n", ""))
        .collect()
}

/// Lines with a name and a text, which is indented in every line.
fn facts_text(facts: &[Fact], width: Width) -> String {
    let facts: Vec<(String, String)> = facts.iter().flat_map(fact_lines).collect();
    let names = facts.iter().map(|(name, _)| name.chars().count());
    let label = names.max().unwrap_or_default().max(FACT) + 2;
    let facts = facts.iter().flat_map(|(name, value)| {
        let values = wrapped(width.less(label + 2).columns(), value.split(' '));
        let values = values.into_iter().enumerate();
        values.map(move |(at, line)| {
            let name = if at == 0 { name } else { "" };
            format!("  {name:label$}{line}\n")
        })
    });
    facts.collect()
}

/// The lines of a fact, of which the first has its name.
fn fact_lines(fact: &Fact) -> Vec<(String, String)> {
    let lines = fact.value.iter().map(words).filter(|line| !line.is_empty());
    let names = std::iter::once(words(&fact.name)).chain(std::iter::repeat(String::new()));
    names.zip(lines).collect()
}

fn count_text(count: &Count, width: Width) -> String {
    let (name, meaning) = (words(&count.name), words(&count.meaning));
    let line = format!("  {name:<COUNT$} {:>9}", grouped(count.rows));
    let indent = line.chars().count() + 2;
    let fits = meaning.chars().count() + indent < width.columns();
    match fits {
        true => format!("{line}  {meaning}").trim_end().to_owned() + "\n",
        false => format!("{line}\n{}", indented(&meaning, 4, width)),
    }
}

/// A table with a title has no names above its columns: what is in them is clear.
fn table_text(table: &Table, width: Width) -> String {
    let has_name = |column: &Column| !words(&column.name).is_empty();
    let shown: Vec<usize> = (0..table.columns.len())
        .filter(|at| has_name(&table.columns[*at]))
        .collect();
    let columns: Vec<&Column> = shown.iter().map(|at| &table.columns[*at]).collect();
    let names: Vec<String> = columns.iter().map(|column| words(&column.name)).collect();
    let rows = table
        .rows
        .iter()
        .map(|row| shown.iter().map(|at| words(&row[*at])).collect());
    let mut rows: Vec<Vec<String>> = rows.collect();
    let (title, rest) = (words(&table.title), words(&table.rest));
    let mut text = match title.is_empty() {
        true => String::new(),
        false => format!("{title}:\n"),
    };
    let header = title.is_empty().then_some(&names);
    text += &match cut_names(&columns, header, &mut rows, width) {
        true => aligned(&columns, header, rows, width),
        false => stacked(&names, &rows, width),
    };
    if !rest.is_empty() {
        text += &format!("  {rest}\n");
    }
    text
}

/// The rows of a table without names above its columns are indented.
fn room_for_table(has_header: bool, width: Width) -> Option<usize> {
    let indent = if has_header { 0 } else { 2 };
    Some(width.table()?.saturating_sub(indent))
}

/// Cuts names as far as the table needs it to fit. Whether it does; else nothing is cut.
fn cut_names(
    columns: &[&Column],
    header: Option<&Vec<String>>,
    rows: &mut [Vec<String>],
    width: Width,
) -> bool {
    let Some(room) = room_for_table(header.is_some(), width) else {
        return true;
    };
    let widest = |at: usize, form: Form| {
        let cells = rows
            .iter()
            .map(|row| &row[at])
            .chain(header.map(|names| &names[at]));
        let cell = |cell: &String| match form {
            Form::Words => cell
                .split(' ')
                .map(measure_text_width)
                .max()
                .unwrap_or_default(),
            _ => measure_text_width(cell),
        };
        cells.map(cell).max().unwrap_or_default()
    };
    let least = columns
        .iter()
        .enumerate()
        .map(|(at, column)| widest(at, column.form));
    let least: Vec<usize> = least.collect();
    let needed = least.iter().sum::<usize>() + 2 * least.len().saturating_sub(1);
    let Some(mut over) = needed.checked_sub(room).filter(|over| *over > 0) else {
        return true;
    };
    let mut most = least.clone();
    for (at, column) in columns.iter().enumerate() {
        if column.form == Form::Name {
            most[at] = least[at].saturating_sub(over).max(NAME).min(least[at]);
            over -= least[at] - most[at];
        }
    }
    if over > 0 {
        return false;
    }
    for row in rows {
        for (at, cell) in row
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| most[*at] < least[*at])
        {
            *cell = shortened(cell, most[at]);
        }
    }
    true
}

fn aligned(
    columns: &[&Column],
    header: Option<&Vec<String>>,
    rows: Vec<Vec<String>>,
    width: Width,
) -> String {
    // The space before the first cell and behind the last one is not printed.
    let mut table = plain_table(room_for_table(header.is_some(), width).map(|room| room + 2));
    if let Some(names) = header {
        table.set_header(names);
    }
    table.add_rows(rows);
    for (at, Column { form, .. }) in columns.iter().enumerate() {
        let Some(column) = table.column_mut(at) else {
            continue;
        };
        if *form != Form::Words {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        if *form == Form::Number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let indent = if header.is_some() { "" } else { "  " };
    lines(&table)
        .lines()
        .map(|line| format!("{indent}{line}\n"))
        .collect()
}

/// The rows below each other, where there is no room beside.
fn stacked(names: &[String], rows: &[Vec<String>], width: Width) -> String {
    let rows = rows.iter().map(|row| {
        let facts = names.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
        let facts = facts.map(|(name, cell)| Fact::new(Text::said(name), Text::said(cell)));
        facts_text(&facts.collect::<Vec<_>>(), width)
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn problem_text(problem: &Problem, width: Width) -> String {
    let kind = match problem.code.filter(|_| problem.status.is_problem()) {
        Some(code) => code.to_string(),
        None => problem.status.to_string(),
    };
    let (rows, places) = (counted(problem.rows, "row"), words(&problem.places));
    indented(&format!("{kind}: {rows}, {places}"), 2, width)
        + &indented(&words(&problem.short), 4, width)
}

fn file_text(file: &File) -> String {
    let (name, remark) = (begun(&words(&file.name)), words(&file.remark));
    let path = printable(&file.path);
    match remark.is_empty() {
        true => format!("{name}: {path}\n"),
        false => format!("{name}: {path} ({remark})\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_only_if_the_table_fits_then() {
        let table = |number: &str| {
            Block::Table(Table {
                columns: vec![
                    Column::new(text!("name"), Form::Name),
                    Column::new(text!("number"), Form::Line),
                ],
                rows: vec![vec![
                    Text::said("a-very-long-name-of-a-list.csv"),
                    Text::said(number),
                ]],
                ..Table::default()
            })
        };
        let shown = |number| text(&[table(number)], Width::of_columns(30));
        assert_eq!(
            shown("12345678"),
            "name                  number\na-very-long-name-of…  12345678\n"
        );
        assert_eq!(
            shown("123456789 12345678"),
            "  name       a-very-long-name-of-a-list.csv\n  number     123456789\n             12345678\n"
        );
    }
}
