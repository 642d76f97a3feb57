//! A browser for tests without scripts: follows links, and fills in and sends forms as browsers do.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use crate::page_session::{Answer, Session, URLENCODED};
use crate::util::{Folder, Run, kill};

const PATIENCE: Duration = Duration::from_secs(60);

const BOUNDARY: &str = "----the-boundary-of-a-form";

/// A running page and the one who looks at it.
pub struct Visitor {
    process: Option<Child>,
    session: Session,
}

/// What a page has answered.
#[derive(Debug, Clone)]
pub struct Screen {
    pub status: u16,
    /// The address after all redirects, without the prefix.
    pub at: String,
    pub html: String,
}

impl Visitor {
    /// The page for practice.
    pub fn practice(folder: &Folder) -> Visitor {
        Visitor::of(folder.leadload(&["web", "--no-open", "--sandbox"]))
    }

    pub fn of(run: Run) -> Visitor {
        let mut process = run.start();
        let mut link = String::new();
        let stdout = process.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut link).unwrap();
        Visitor {
            process: Some(process),
            session: Session::sign_in(&link),
        }
    }

    /// Goes to a page, follows redirects, and waits while it says that work is being done.
    pub fn get(&self, page: &str) -> Screen {
        let began = Instant::now();
        loop {
            let screen = self.look(page);
            if !screen.html.contains("data-waiting") {
                return screen;
            }
            assert!(began.elapsed() < PATIENCE, "{screen:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The page as it is now.
    pub fn look(&self, page: &str) -> Screen {
        self.arrive(page, self.session.get(page))
    }

    fn arrive(&self, page: &str, answer: Answer) -> Screen {
        match answer.to {
            Some(to) => self.get(to.split('#').next().unwrap()),
            None => Screen {
                status: answer.status,
                at: page.to_owned(),
                html: answer.body,
            },
        }
    }

    /// Waits until a page fulfils a condition.
    pub fn wait(&self, page: &str, is_right: impl Fn(&Screen) -> bool) -> Screen {
        let began = Instant::now();
        loop {
            let screen = self.get(page);
            if is_right(&screen) {
                return screen;
            }
            assert!(began.elapsed() < PATIENCE, "{screen:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends a form.
    pub fn send(&self, form: &Form) -> Screen {
        // `/PREFIX/list`
        let (_, action) = form.action[1..].split_once('/').unwrap();
        let (kind, body) = form.encoded();
        let screen = self.arrive(action, self.session.send(action, &kind, &body));
        match screen.html.contains("data-waiting") {
            true => self.get(&screen.at),
            false => screen,
        }
    }

    /// Chooses a list on the page for new lists.
    pub fn upload(&self, name: &str, bytes: impl AsRef<[u8]>) -> Screen {
        let form = self.get("list").form("list").file(name, bytes);
        self.send(&form)
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            kill(process);
        }
    }
}

impl Screen {
    /// The form whose address ends in this.
    #[track_caller]
    pub fn form(&self, action: &str) -> Form {
        let found = self.forms().into_iter();
        let mut found = found.filter(|form| form.action.ends_with(&format!("/{action}")));
        found
            .next()
            .unwrap_or_else(|| panic!("no form {action} at {}: {}", self.at, self.text()))
    }

    fn forms(&self) -> Vec<Form> {
        let forms = self.html.split("<form").skip(1);
        forms
            .map(|form| {
                let form = form.split("</form>").next().unwrap();
                let (tag, inner) = form.split_once('>').unwrap();
                Form::of(tag, inner)
            })
            .collect()
    }

    /// What the summary of errors says, with a space between them.
    pub fn problem(&self) -> String {
        let found = self.html.split_once("id=\"errors\"");
        let Some((_, rest)) = found else {
            return String::new();
        };
        let list = rest.split_once("<ul>").unwrap().1;
        text_of(list.split("</ul>").next().unwrap())
    }

    /// The text of the page.
    pub fn text(&self) -> String {
        let body = self.html.split_once("<body").map_or("", |(_, body)| body);
        text_of(body.split_once('>').map_or("", |(_, body)| body))
    }

    pub fn heading(&self) -> String {
        let found = self.html.split_once("<h1").map_or("", |(_, rest)| rest);
        let inner = found.split_once('>').map_or("", |(_, inner)| inner);
        text_of(inner.split("</h1>").next().unwrap_or_default())
    }

    /// The number of the list that the page is about.
    #[track_caller]
    pub fn list(&self) -> String {
        let rest = self.at.strip_prefix("lists/").unwrap();
        format!("lists/{}", rest.split('/').next().unwrap())
    }
}

fn text_of(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' if is_tag => {
                is_tag = false;
                text.push(' ');
            }
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    unescaped(&words.join(" "))
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// A form with what is filled in.
#[derive(Debug, Clone)]
pub struct Form {
    action: String,
    has_files: bool,
    pub fields: Vec<(String, String)>,
    /// All choices of the selects, by name: value and label.
    pub choices: BTreeMap<String, Vec<(String, String)>>,
    file: Option<(String, Vec<u8>)>,
}

impl Form {
    fn of(tag: &str, inner: &str) -> Form {
        let mut form = Form {
            action: attribute(tag, "action").unwrap_or_default(),
            has_files: tag.contains("multipart/form-data"),
            fields: Vec::new(),
            choices: BTreeMap::new(),
            file: None,
        };
        for part in inner.split('<').skip(1) {
            let (tag, text) = part.split_once('>').unwrap_or((part, ""));
            let name = attribute(tag, "name");
            let value = attribute(tag, "value").unwrap_or_default();
            if tag.starts_with("input") {
                let kind = attribute(tag, "type").unwrap_or_default();
                let is_sent = match &*kind {
                    "checkbox" | "radio" => has(tag, "checked"),
                    "file" => false,
                    _ => true,
                };
                if let Some(name) = name.filter(|_| is_sent) {
                    form.fields.push((name, value));
                }
            } else if tag.starts_with("textarea") {
                form.fields.extend(name.map(|name| (name, unescaped(text))));
            } else if tag.starts_with("select") {
                let name = name.unwrap();
                form.choices.entry(name.clone()).or_default();
                form.fields.push((name, "\0".to_owned()));
            } else if tag.starts_with("option") {
                let (name, chosen) = form.fields.last_mut().unwrap();
                let label = unescaped(text.trim());
                form.choices
                    .get_mut(name)
                    .unwrap()
                    .push((value.clone(), label));
                // The first option counts where none is selected.
                if chosen == "\0" || has(tag, "selected") {
                    *chosen = value;
                }
            }
        }
        form
    }

    /// Fills a field in; takes the place of what is there.
    pub fn set(mut self, name: &str, value: &str) -> Form {
        self.fields.retain(|(field, _)| field != name);
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Chooses what a select calls so.
    #[track_caller]
    pub fn choose(self, name: &str, label: &str) -> Form {
        let choices = self.choices.get(name).unwrap();
        let mut found = choices.iter().filter(|(_, text)| text.starts_with(label));
        let value = found
            .next()
            .unwrap_or_else(|| panic!("{choices:?}"))
            .0
            .clone();
        self.set(name, &value)
    }

    /// Presses a button.
    pub fn press(self, action: &str) -> Form {
        self.set("action", action)
    }

    pub fn file(mut self, name: &str, bytes: impl AsRef<[u8]>) -> Form {
        self.file = Some((name.to_owned(), bytes.as_ref().to_vec()));
        self
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields.find_map(|(field, value)| (field == name).then_some(value.as_str()))
    }

    fn encoded(&self) -> (String, Vec<u8>) {
        if !self.has_files {
            let mut body = url::form_urlencoded::Serializer::new(String::new());
            body.extend_pairs(&self.fields);
            return (URLENCODED.to_owned(), body.finish().into_bytes());
        }
        let mut body = Vec::new();
        let mut part = |disposition: String, bytes: &[u8]| {
            let head =
                format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        };
        for (name, value) in &self.fields {
            part(format!("name=\"{name}\""), value.as_bytes());
        }
        // Without a choice browsers send a file without a name.
        let (name, bytes) = self
            .file
            .as_ref()
            .map_or(("", &[][..]), |(name, bytes)| (name, bytes));
        let name = name.replace('"', "%22");
        part(format!("name=\"list\"; filename=\"{name}\""), bytes);
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        (format!("multipart/form-data; boundary={BOUNDARY}"), body)
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(unescaped(rest.split('"').next()?))
}

fn has(tag: &str, name: &str) -> bool {
    tag.split(' ').any(|word| word == name)
}
