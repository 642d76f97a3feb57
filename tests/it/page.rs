//! Reads a report strictly: every tag is closed in order, and there are
//! only the elements and attributes that a report may have.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The elements of a report. Text from a list or from the service never becomes one.
const ELEMENTS: &str = "html head meta title style body main footer header section article \
    h1 h2 h3 h4 p div span strong em code pre bdi time dl dt dd ul li \
    table caption thead tbody tfoot tr th td";

/// The attributes of these elements. None of them links anywhere or runs anything.
const ATTRIBUTES: &str = "lang charset name content http-equiv class scope datetime data-label";

/// A table, row by row.
#[derive(Debug, Default, Clone)]
pub struct Table {
    pub caption: String,
    /// The cells of each row, including the header row.
    pub rows: Vec<Vec<String>>,
}

/// A report.
#[derive(Debug, Default)]
pub struct Page {
    /// All text but the style, one line for each paragraph, cell and so on.
    pub text: String,
    pub tables: Vec<Table>,
    /// Levels and texts.
    pub headings: Vec<(u8, String)>,
    open: Vec<String>,
}

impl Page {
    /// Reads a report, and panics if it is not valid.
    #[track_caller]
    pub fn read(html: &str) -> Page {
        assert!(
            html.starts_with("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        );
        for foreign in ["<script", "<img", "url(", "@import", "http://", "https://"] {
            assert!(!html.contains(foreign), "{foreign}");
        }
        let is_steering =
            |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!html.contains(is_steering));
        let mut reader = Reader::from_str(html);
        reader.config_mut().check_end_names = false;
        let mut page = Page::default();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(element) => page.open(&element),
                Event::End(element) => page.close(element.name().as_ref()),
                Event::Text(text) => page.add(&text),
                Event::GeneralRef(entity) => page.add(match &*entity {
                    "amp" => "&",
                    "lt" => "<",
                    "gt" => ">",
                    "quot" => "\"",
                    other => panic!("{other}"),
                }),
                Event::DocType(_) => {}
                // The last line, which shows whether the report was changed.
                Event::Comment(text) => assert!(text.starts_with(" leadload: "), "{text:?}"),
                Event::Eof => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(page.open.is_empty(), "{:?}", page.open);
        page.check();
        page
    }

    fn open(&mut self, element: &BytesStart<'_>) {
        let name = element.name().as_ref().to_owned();
        assert!(
            ELEMENTS.split_whitespace().any(|known| known == name),
            "{name}"
        );
        for attribute in element.attributes() {
            let attribute = attribute.unwrap();
            let key = attribute.key.as_ref();
            assert!(
                ATTRIBUTES.split_whitespace().any(|known| known == key),
                "{key}"
            );
        }
        match name.as_str() {
            // This element has no closing tag.
            "meta" => return,
            "table" => self.tables.push(Table::default()),
            "tr" => self.table().rows.push(Vec::new()),
            "th" | "td" => self.row().push(String::new()),
            "h1" | "h2" | "h3" | "h4" => {
                let level = name[1..].parse().unwrap();
                self.headings.push((level, String::new()));
            }
            _ => {}
        }
        self.open.push(name);
    }

    fn close(&mut self, name: &str) {
        assert_eq!(self.open.pop().as_deref(), Some(name));
        if !["bdi", "strong", "em", "code", "span", "time"].contains(&name) {
            self.text.push('\n');
        }
    }

    fn add(&mut self, text: &str) {
        let is_in = |name: &str| self.open.iter().any(|open| open == name);
        let (in_caption, in_cell) = (is_in("caption"), is_in("th") || is_in("td"));
        let in_heading = ["h1", "h2", "h3", "h4"].iter().any(|name| is_in(name));
        if is_in("style") {
            return;
        }
        self.text.push_str(text);
        if in_caption {
            self.table().caption.push_str(text);
        } else if in_cell {
            self.row().last_mut().unwrap().push_str(text);
        } else if in_heading {
            self.headings.last_mut().unwrap().1.push_str(text);
        }
    }

    fn table(&mut self) -> &mut Table {
        self.tables.last_mut().unwrap()
    }

    fn row(&mut self) -> &mut Vec<String> {
        self.table().rows.last_mut().unwrap()
    }

    /// Checks what a screen reader relies on.
    fn check(&self) {
        let levels: Vec<u8> = self.headings.iter().map(|(level, _)| *level).collect();
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
        assert_eq!(levels[0], 1);
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{levels:?}"
        );
        assert!(self.tables.iter().all(|table| !table.caption.is_empty()));
    }

    /// The table whose caption begins like this.
    #[track_caller]
    pub fn table_of(&self, caption: &str) -> &Table {
        let found = self
            .tables
            .iter()
            .find(|table| table.caption.starts_with(caption));
        found.unwrap_or_else(|| panic!("{caption}: {:?}", self.tables))
    }

    /// The text of one cell in that table, in the row whose first cell ends with `row`.
    #[track_caller]
    pub fn cell(&self, caption: &str, row: &str, column: usize) -> &str {
        let rows = &self.table_of(caption).rows;
        let found = rows.iter().find(|cells| cells[0].trim().ends_with(row));
        &found.unwrap_or_else(|| panic!("{row}: {rows:?}"))[column]
    }

    #[track_caller]
    pub fn says(&self, text: &str) {
        assert!(self.text.contains(text), "{text}\n---\n{}", self.text);
    }

    #[track_caller]
    pub fn says_nothing_of(&self, text: &str) {
        assert!(!self.text.contains(text), "{text}\n---\n{}", self.text);
    }
}
