//! How lists are read, each fact with the flag that overrides it, and what to know about them before
//! they are sent.

use super::block::{Block, Fact};
use super::countries::{completed_with, country};
use super::later_columns::by_line;
use crate::intake::{Intake, PlannedInput};
use crate::mapping::{Mapping, MarkKind, NamedMark};
use crate::message::Text;
use crate::screen::MarkedColumn;
use crate::source::{Certainty, Content, FooterLine, Sheet, TextForm};
use crate::text::{joined, listed};

/// A legacy encoding that was guessed from fewer letters may be wrong.
const FEW_LETTERS: u64 = 100;

/// How lists are read. `has_examples`: examples of their cells stand below.
pub fn list_facts(intake: &Intake, has_examples: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    for planned in intake.inputs.iter() {
        let mut facts = form(planned, has_examples);
        facts.extend(columns(intake, planned));
        facts.extend(list_notes(intake, planned));
        facts.extend(terminal_notes(intake, planned));
        blocks.push(Block::Title(Text::said(planned.input.name())));
        blocks.push(Block::Facts(facts));
    }
    let lists = do_not_call_lists(intake).into_iter();
    blocks.extend(
        lists.map(|list| Block::Paragraph(terminal_text!("Do-not-call list: {list}", list))),
    );
    blocks
}

/// The do-not-call lists, and how many numbers each has.
pub(super) fn do_not_call_lists(intake: &Intake) -> Vec<Text> {
    let lists = intake.suppression.lists.iter().map(|list| {
        let form = match (list.is_american_registry, &list.columns[..]) {
            (true, _) => terminal_text!(" in the form of the American registry"),
            (false, []) => Text::default(),
            (false, columns) => terminal_text!(" in {columns}", columns = columns.to_vec()),
        };
        let completed = match completed_with(intake, &list.evidence) {
            Some(completed) => terminal_text!(": {completed}", completed),
            None => Text::default(),
        };
        terminal_text!(
            "{name}, {numbers:number}{form}{completed}",
            name = list.input.name(),
            numbers = list.numbers.len(),
            form,
            completed
        )
    });
    let numbers = intake.suppression.kept.len();
    let kept = (numbers > 0).then(|| {
        text!(
            "{what leadload keeps, {numbers:number}|your own list “Do not call” ({numbers:number})}",
            numbers
        )
    });
    lists.chain(kept).collect()
}

fn form(planned: &PlannedInput, has_examples: bool) -> Vec<Fact> {
    let compression = planned.form.compression.iter();
    let mut facts: Vec<Fact> = compression
        .map(|by| Fact::new(text!("packed by"), Text::said(by.name())))
        .collect();
    match &planned.form.content {
        Content::Text(form) => {
            let delimiter = match form.delimiter {
                b'\t' => terminal_text!("tab"),
                other => terminal_text!("`{other}`", other = char::from(other)),
            };
            let encoding = encoding(form, has_examples);
            facts.push(overridden(
                planned,
                text!("encoding"),
                encoding,
                "--encoding",
            ));
            facts.push(overridden(
                planned,
                text!("delimiter"),
                delimiter,
                "--delimiter",
            ));
        }
        Content::Sheet(sheet) => facts.extend(sheet_facts(planned, sheet)),
    }
    let line = planned.header.line.unwrap_or_default();
    let header = match (planned.header.line, planned.form.above > 0) {
        (None, _) => terminal_text!("none: columns are called 1, 2, and so on"),
        _ if planned.mapping.rejects_form.is_some() => {
            terminal_text!("line {line}, rejects of an earlier run", line)
        }
        (Some(_), true) => terminal_text!(
            "line {line}; the lines above it are not part of the list (--no-header)",
            line
        ),
        (Some(_), false) => terminal_text!("line {line} (--no-header)", line),
    };
    facts.push(Fact::new(text!("header"), header));
    facts
}

/// A fact with the flag that overrides it: the form of rejects is detected whatever the flags say.
fn overridden(planned: &PlannedInput, name: Text, value: Text, flag: &'static str) -> Fact {
    let value = match planned.mapping.rejects_form {
        Some(_) => value,
        None => terminal_text!("{value} ({flag})", value, flag),
    };
    Fact::new(name, value)
}

fn sheet_facts(planned: &PlannedInput, sheet: &Sheet) -> Vec<Fact> {
    let mut others = sheet.names.clone();
    others.retain(|name| *name != sheet.name);
    let name = vec![sheet.name.clone()];
    let only = match planned.has_only_phones {
        true => terminal_text!(", the only visible one with phone numbers"),
        false => Text::default(),
    };
    let found = terminal_text!("{name}{only}", name, only);
    let found = match others.is_empty() {
        true => Fact::new(text!("sheet"), found),
        false => {
            let found = terminal_text!("{found}; not read: {others}", found, others);
            overridden(planned, text!("sheet"), found, "--sheet")
        }
    };
    let hidden = planned.counts.hidden;
    let becomes = match planned.mapping.skips_hidden {
        true => "left out",
        false => "sent too",
    };
    let hidden = (hidden > 0).then(|| {
        let found = terminal_text!("{hidden:row}, {becomes} (--hidden-rows)", hidden, becomes);
        Fact::new(text!("hidden"), found)
    });
    std::iter::once(found).chain(hidden).collect()
}

fn encoding(form: &TextForm, has_examples: bool) -> Text {
    let bom = match form.has_bom {
        true => " with byte order mark",
        false => "",
    };
    let name = form.encoding.name();
    match form.certainty {
        Certainty::Certain => terminal_text!("{name}{bom}", name, bom),
        Certainty::DamagedUtf8(bytes) => {
            terminal_text!("{name}{bom}, with {bytes:invalid byte}", name, bom, bytes)
        }
        Certainty::Guess(letters) if letters < FEW_LETTERS => terminal_text!(
            "{name}{bom}, guessed from {letters:letter}: please check that letters such as ä and é look right {place}",
            name,
            bom,
            letters,
            place = match has_examples {
                true => terminal_text!("below"),
                false => terminal_text!("with `leadload check`"),
            }
        ),
        Certainty::Guess(_) => terminal_text!("{name}{bom}, most likely", name, bom),
        Certainty::LikeDos => terminal_text!(
            "{name}{bom}, guessed, but the letters look like those of DOS: if they are wrong, try `--encoding cp850` (or `cp437`)",
            name,
            bom
        ),
    }
}

/// What the columns of a list are for.
fn columns(intake: &Intake, planned: &PlannedInput) -> Vec<Fact> {
    let names = &planned.header.names;
    let phones = planned.mapping.phone_columns.iter();
    let phones = phones.map(|phone| {
        let columns: Vec<String> = phone.columns().map(|at| listed(&names[at..=at])).collect();
        columns.join(" + ")
    });
    let phones: Vec<String> = phones.collect();
    let extensions = planned.mapping.phone_columns.iter();
    let extensions = extensions.filter_map(|phone| Some(names[phone.extension?].clone()));
    let extensions: Vec<String> = extensions.collect();
    let phones = terminal_text!("{phones} (--phone-column)", phones = phones.join(", "));
    let mut facts = vec![Fact::new(text!("phone"), phones)];
    if !extensions.is_empty() {
        let found = terminal_text!(
            "{extensions}: a number with an extension is not called",
            extensions
        );
        facts.push(Fact::new(text!("extension"), found));
    }
    let country = country(intake, planned);
    facts.extend(country.map(|country| Fact::new(text!("country"), country)));
    let completed = planned.evidence();
    let completed = completed.and_then(|evidence| completed_with(intake, evidence));
    facts.extend(completed.map(|completed| Fact::new(text!("no +code"), completed)));
    facts.extend(only(planned).map(|only| Fact::new(text!("only"), only)));
    facts.push(Fact::new(text!("variables"), variables(planned)));
    facts
}

fn only(planned: &PlannedInput) -> Option<Text> {
    let rules = planned.mapping.only.iter().map(|rule| {
        let column = listed(&planned.header.names[rule.column..=rule.column]);
        format!("rows with {} in {column}", rule.values())
    });
    let rules: Vec<String> = rules.collect();
    (!rules.is_empty()).then(|| terminal_text!("{rules} (--only)", rules = joined(&rules, "and")))
}

/// What is sent, and from which column if the name does not show it.
fn variables(planned: &PlannedInput) -> Text {
    const MAX: usize = 40;
    let Mapping {
        variables,
        constants,
        ..
    } = &planned.mapping;
    let from_columns = variables.iter().map(|(name, column)| {
        let header = planned.header.names[*column].trim();
        if letters(header) == letters(name) || header.is_empty() {
            listed(&[name])
        } else {
            format!("{} from {}", listed(&[name]), listed(&[header]))
        }
    });
    let constants = constants.iter().map(|(name, _)| listed(&[name]));
    let mut named: Vec<String> = from_columns.chain(constants).collect();
    if named.is_empty() {
        return terminal_text!("none (--var)");
    }
    if named.len() > MAX {
        named.truncate(MAX - 1);
        named.push("more".to_owned());
    }
    terminal_text!("{named} (--var, --skip-column)", named = named.join(", "))
}

/// The part that a header and the name made from it have in common.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// What to know about a list before it is sent, although it can be sent.
pub fn list_notes(intake: &Intake, planned: &PlannedInput) -> Vec<Fact> {
    let later = planned.evidence();
    let later = later.and_then(|evidence| by_line(&evidence.later_columns));
    let mut notes: Vec<Fact> = later
        .map(|later| Fact::new(text!("note"), later))
        .into_iter()
        .collect();
    let marked = intake.marked.columns.iter();
    let here = marked.filter(|marked| marked.column.input == planned.input.name());
    notes.extend(here.map(mark));
    if let Some(rows @ 1..) = planned.blank_rows() {
        let found = text!(
            "{{rows:row}, not counted|{rows:row} in the list {rows?is:are} blank, and not counted}",
            rows
        );
        notes.push(Fact::new(text!("blank"), found));
    }
    let footer = planned.footer().iter().map(footer);
    notes.extend(footer.map(|line| Fact::new(text!("footer"), line)));
    if let Some(rows) = planned.rows_of_full_sheet() {
        let found = text!(
            "{|the list has }exactly {rows:line}, as many as an Excel sheet holds{: the rest|; the rest} may have been cut off{|: compare it with the program that it comes from}",
            rows
        );
        notes.push(Fact::new(text!("note"), found));
    }
    notes.extend(planned.mapping.notes.iter().map(|note| {
        let found = text!("{note}{ ({flag})|}", note = note.text(), flag = note.flag);
        Fact::new(text!("note"), found)
    }));
    notes
}

/// What the list itself says about calling.
fn mark(marked: &MarkedColumn) -> Fact {
    let NamedMark { kind, header, .. } = &marked.column;
    let (name, says) = match kind {
        MarkKind::DoNotCall => (text!("no calls"), text!("so")),
        MarkKind::Consent => (text!("consent"), text!("no")),
    };
    let (rows, empty) = (marked.rows, marked.empty_consents());
    let unsaid = match empty {
        0 => Text::default(),
        _ => text!(
            "{, {empty:row} {empty?says:say} nothing|; {empty:row} {empty?has:have} nothing there: these people are called too}",
            empty
        ),
    };
    let unread = match marked.unread {
        None => Text::default(),
        Some((rows, line)) => text!(
            "{; {rows:row} without a number that can be read (the first in line {line})|}",
            rows,
            line
        ),
    };
    let found = match rows + empty {
        0 => text!(
            "{{header}: 0 rows say {says} ({flag})|}",
            header = vec![header.clone()],
            says,
            flag = kind.flag()
        ),
        _ => text!(
            "{{header}: {rows:row} {rows?says:say} {says}|{column}: {rows:row} left out}{unsaid}{unread}{ ({flag})|}",
            header = vec![header.clone()],
            rows,
            says,
            column = marked.column.says(),
            unsaid,
            unread,
            flag = kind.flag()
        ),
    };
    Fact::new(name, found)
}

/// A line below a list, which is not sent.
pub(super) fn footer(FooterLine { line, text }: &FooterLine) -> Text {
    text!(
        "{line {line}, not a contact: {text}|below the list, and not taken for a contact: “{text}” in line {line}}",
        line = *line,
        text
    )
}

/// What the page says in other ways.
fn terminal_notes(intake: &Intake, planned: &PlannedInput) -> Vec<Fact> {
    let new = planned.new_columns_listed();
    let new =
        new.map(|new| terminal_text!("new columns, not sent: {new} (--var, --save-mapping)", new));
    // The next reader of the rows gets the same error and reports it.
    let round = intake.sampled([planned]).ok();
    let round = round
        .filter(|(round, _)| round.are_suspicious())
        .map(|(round, _)| {
            terminal_text!(
                "of the first {numbers:number}, {round:} {round?ends:end} in 00000: digits may be lost",
                numbers = round.numbers,
                round = round.round
            )
        });
    new.into_iter()
        .chain(round)
        .map(|found| Fact::new(text!("note"), found))
        .collect()
}
