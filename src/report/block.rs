//! What a report says, in the order in which it is read, as data: [`super::text`] and [`super::html`]
//! put it into words, for a terminal, for the page of `--report` and for the page in the browser.
//!
//! A text without words in one of the two voices is left out there, with its block if nothing else is
//! in it.

use std::path::Path;

use crate::lead::{ErrorCode, Status};
use crate::message::Text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// What the report is about, in a line.
    Title(Text),
    /// What the blocks up to the next heading are about.
    Heading(Text),
    Paragraph(Text),
    /// Something to look at before going on.
    Note(Text),
    Facts(Vec<Fact>),
    Counts(Vec<Count>),
    Table(Table),
    Problem(Problem),
    List(Vec<Text>),
    /// Lines as they stand.
    Literal(Vec<String>),
    /// Where files are. The page in the browser names none.
    Files(Vec<File>),
    /// A command to run, and what it does; without the command where a shell could not take it.
    Command(Text, Option<String>),
}

/// Something that is known, and what it is; several lines if there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub name: Text,
    pub value: Vec<Text>,
    /// The setting that changes it: the step of the page, and what a screen reader calls it there.
    pub change: Option<(&'static str, &'static str)>,
}

/// How many rows there are of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    pub name: Text,
    pub rows: u64,
    pub meaning: Text,
}

/// Rows of cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub title: Text,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Text>>,
    /// What is said of the rows that are not shown.
    pub rest: Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Without a name in one voice, the column is left out there.
    pub name: Text,
    pub form: Form,
}

/// How the cells of a column are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Words, which may be broken into lines.
    Words,
    /// A number, on the right.
    Number,
    /// Something that stays in one line.
    Line,
    /// A name that is cut if there is no room for all of it.
    Name,
}

/// Rows that have the same problem, or that were left out for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub title: &'static str,
    pub status: Status,
    pub code: Option<ErrorCode>,
    pub rows: u64,
    /// Where the rows are.
    pub places: Text,
    pub meaning: Text,
    /// For a terminal, what to do in a sentence.
    pub short: Text,
    /// What to do, step by step.
    pub steps: Vec<Text>,
    /// Some of the rows.
    pub examples: Option<Table>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub name: Text,
    pub path: String,
    /// What is in it, or what became of it.
    pub remark: Text,
}

impl Fact {
    pub fn new(name: impl Into<Text>, value: impl Into<Text>) -> Fact {
        Fact::of_lines(name, vec![value.into()])
    }

    pub fn of_lines(name: impl Into<Text>, value: Vec<Text>) -> Fact {
        Fact {
            name: name.into(),
            value,
            change: None,
        }
    }

    /// A fact that this step of the page changes; a screen reader calls it by this name.
    pub fn changed_at(self, step: &'static str, name: &'static str) -> Fact {
        Fact {
            change: Some((step, name)),
            ..self
        }
    }
}

impl File {
    pub fn new(name: impl Into<Text>, path: &Path) -> File {
        File {
            name: name.into(),
            path: path.display().to_string(),
            remark: Text::default(),
        }
    }
}

impl Count {
    pub fn new(name: impl Into<Text>, rows: u64, meaning: impl Into<Text>) -> Count {
        Count {
            name: name.into(),
            rows,
            meaning: meaning.into(),
        }
    }
}

impl Column {
    pub fn new(name: impl Into<Text>, form: Form) -> Column {
        Column {
            name: name.into(),
            form,
        }
    }

    /// Left out, cells and all, unless `is_needed`.
    pub fn only_if(self, is_needed: bool) -> Column {
        match is_needed {
            true => self,
            false => Column::new(Text::default(), self.form),
        }
    }
}
