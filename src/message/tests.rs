use std::io;

use super::*;

/// In the words of the terminal.
impl PartialEq<&str> for Text {
    fn eq(&self, words: &&str) -> bool {
        let said = self.to_string();
        said == *words
    }
}

fn both(text: &Text) -> [String; 2] {
    [Voice::Terminal, Voice::Page].map(|voice| text.words(voice))
}

#[test]
fn each_voice_has_its_words_and_its_names_for_settings() {
    let text = text!(
        "{`{file}` has|{file} has} no country; {name it with|choose it under} {--region}, then {again}",
        file = "/home/ada/leads.csv"
    );
    assert_eq!(
        both(&text),
        [
            "`/home/ada/leads.csv` has no country; name it with `--region`, then run the same command again",
            "/home/ada/leads.csv has no country. Choose it under “Country”, then try again.",
        ]
    );
}

#[test]
fn the_page_speaks_in_sentences_and_names_no_path() {
    let text = text!(
        "`{file}` is empty; free some space",
        file = "/home/ada/leads.csv"
    );
    assert_eq!(both(&text)[1], "“leads.csv” is empty. Free some space.");
    let text = text!("cannot read `{file}`: it is a folder", file = "");
    assert_eq!(both(&text)[0], "cannot read ``: it is a folder");
    let text = text!("{why}", why = text!("the disk is full"));
    assert_eq!(both(&text)[1], "The disk is full.");
    assert_eq!(both(&Text::said("iPad.csv"))[1], "iPad.csv.");
    let text = text!("leadload keeps nothing{ (`--ledger none`)|}");
    assert_eq!(both(&text)[1], "leadload keeps nothing.");
}

#[test]
fn numbers_have_nouns_and_words_that_agree() {
    let said = |rows: u64| text!("{rows:row} {rows?is:are} hidden of {rows:}", rows).to_string();
    assert_eq!(said(1), "1 row is hidden of 1");
    assert_eq!(said(1200), "1,200 rows are hidden of 1,200");
}

#[test]
fn names_are_quoted_and_a_token_that_was_typed_is_hidden() {
    let names = vec!["Name".to_owned(), "+44 7911 123456".to_owned()];
    let text = text!("its columns are {names}", names);
    assert_eq!(
        both(&text),
        [
            "its columns are `Name`, `+…`",
            "Its columns are “Name”, “+…”."
        ]
    );
    let typed = |words: &str| text!("{typed}", typed = Value::Typed(words.to_owned())).to_string();
    assert_eq!(typed("Germny"), "`Germny`");
    assert_eq!(typed("17|abc"), "`…` (hidden, since it looks like a token)");
}

#[test]
fn only_the_terminal_shows_the_number_of_an_error_of_the_system() {
    let error = io::Error::from_raw_os_error(2);
    let [terminal, page] = both(&text!("cannot write: {error}", error = &error));
    assert!(terminal.ends_with("(os error 2)"), "{terminal}");
    assert!(
        page.ends_with("directory.") || page.ends_with("specified."),
        "{page}"
    );
}

#[test]
fn what_is_for_the_terminal_alone_has_no_words_for_the_page() {
    let message = Message::new(text!("it broke"), terminal_text!("use `--again`"));
    assert!(!message.is_for_page());
    assert!(Message::new(text!("it broke"), template!("{again}")).is_for_page());
    assert!(!Message::without_hint(Text::terminal("it broke")).is_for_page());
}

#[test]
fn messages_that_follow_each_other_keep_their_hints() {
    let first = Message::new(text!("it stopped"), text!("wait"));
    let other = Message::new(text!("it broke"), text!("mend it; {again}"));
    let followed = first.clone().then(other.clone());
    assert_eq!(
        followed.to_string(),
        "it stopped\n\nhint: wait\n\nit broke\n\nhint: mend it; run the same command again"
    );
    let page = followed.on_page();
    assert_eq!(page.0, "It stopped. It broke.");
    assert_eq!(page.1.as_deref(), Some("Wait. Mend it. Try again."));
    let around = first.with_inner(other);
    assert_eq!(
        around.to_string(),
        "it stopped\n\nit broke\n\nhint: mend it; run the same command again\n\nhint: wait"
    );
}

#[test]
fn a_message_behind_a_place_names_it_first() {
    let message = Message::new(text!("is empty"), text!("choose another one"));
    let message = message.behind(text!("`{file}`", file = "a.csv"));
    assert_eq!(
        message.to_string(),
        "`a.csv` is empty\n\nhint: choose another one"
    );
    assert_eq!(message.on_page().0, "“a.csv” is empty.");
}
