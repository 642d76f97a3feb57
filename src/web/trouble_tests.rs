use std::fs;
use std::num::NonZeroU32;

use jiff::Timestamp;

use super::*;
use crate::api::verdict::FatalCause;
use crate::api::{BaseUrl, Certificates, ListError, Proxy, Token};
use crate::campaign::{Campaign, CampaignChoice, NamesInRows};
use crate::exit::OrStopped;
use crate::import::campaign_list::no_campaign;
use crate::import::results_file;
use crate::lead::{CampaignId, ErrorCode};
use crate::ledger::{Ledger, LedgerPlace};
use crate::options::Options;
use crate::phone::{PhoneRules, Region};
use crate::report::stop_text;
use crate::screen::SuppressionLists;
use crate::settings::{Layers, Service};
use crate::signals::Interrupt;
use crate::source::{FormChoice, Input, SourceError};
use crate::stop::{Stop, StopReason};

/// Words that the page never uses: what is typed at a terminal, and names of files and statuses
/// for which the page has other words.
const NEVER: [&str; 21] = [
    "--",
    "`",
    "LEADLOAD_",
    "leadload import",
    "leadload check",
    "leadload config",
    "leadload campaigns",
    "leadload runs",
    "leadload web",
    "command",
    "flag",
    "Ctrl-C",
    "ulimit",
    "reject",
    "profile",
    "ledger",
    "sandbox",
    "suppress",
    "--region",
    "os error",
    "hint:",
];

#[track_caller]
fn is_for_page(text: &str) {
    for word in NEVER {
        assert!(!text.contains(word), "{word}: {text}");
    }
    assert!(text.ends_with(['.', '?']), "{text}");
    assert!(!text.contains(".."), "{text}");
    let first = text.chars().next().unwrap();
    assert!(
        first.is_uppercase()
            || first.is_ascii_digit()
            || first == '“'
            || text.starts_with("leadload"),
        "{text}"
    );
}

/// The trouble says what happened and what to do.
#[track_caller]
fn helps(trouble: &Trouble) {
    is_for_page(&trouble.what);
    is_for_page(trouble.hint.as_deref().unwrap());
}

#[track_caller]
fn failure_helps(failure: impl Into<Failure>) {
    helps(&Trouble::of(&failure.into()));
}

#[track_caller]
fn message_helps(message: &Message) {
    helps(&Trouble::of_message(StoppedBy::Usage, message));
}

fn stops() -> Vec<Stop> {
    use StopReason as R;
    let now = Timestamp::now();
    let causes = [
        FatalCause::Token,
        FatalCause::Forbidden,
        FatalCause::Payment,
        FatalCause::Balance,
        FatalCause::Campaign,
        FatalCause::Redirect,
        FatalCause::NotTheService,
    ];
    let refused = causes.map(R::Refused);
    let one = Stop::new(R::Refused(FatalCause::Campaign)).saying("it is closed");
    let code = ErrorCode::Http(503);
    let others = [
        R::UnreadableAnswers(3),
        R::NoUsableAnswer {
            rows: 4,
            last: code,
        },
        R::NoConnection {
            why: "no connection to the service: its certificate is not trusted".into(),
            cure: template!("{|{ask_setup}}"),
        },
        R::RejectedAlike(NonZeroU32::new(50).unwrap()),
        R::NoAnswers {
            since: now,
            last: Some(code),
            detail: None,
        },
        R::NoAnswers {
            since: now,
            last: None,
            detail: Some("it was refused".into()),
        },
        R::AskedToWait {
            until: now,
            why: code,
        },
        R::Stuck(2),
        R::Interrupted(Interrupt::Signal),
        R::Interrupted(Interrupt::TimeUp),
        R::ResultsEnded,
        R::Campaigns {
            refused: vec![(CampaignId(7), one.clone()), (CampaignId(8), one)],
            others_were_sent: true,
        },
        R::TestUnanswered {
            code,
            may_be_made: true,
        },
        R::TestUnanswered {
            code,
            may_be_made: false,
        },
        R::TestThrottled {
            code,
            until: Some(now),
        },
        R::TestThrottled { code, until: None },
        R::TokenReplaced,
        R::TestInterrupted(Interrupt::Signal),
    ];
    refused.into_iter().chain(others).map(Stop::new).collect()
}

#[test]
fn every_stop_of_a_run_says_what_to_do_on_the_page() {
    for stop in stops() {
        let message = stop_text(&stop);
        helps(&Trouble::of_message(stop.by(), &message));
        let said = stop_text(&stop.clone().saying("HTTP 500: try --later"));
        let what = said.on_page().0;
        // The service has said it, or leadload says it of an answer that is not the service's.
        let is_said = what.ends_with("It says: HTTP 500: try --later.");
        assert!(
            is_said || what.ends_with(" (HTTP 500: try --later)."),
            "{what}"
        );
        let is_unread = matches!(stop.reason, StopReason::UnreadableAnswers(_));
        assert!(!(is_said && is_unread), "{what}");
        if matches!(stop.reason, StopReason::TestInterrupted(_)) {
            continue;
        }
        // A second reason is said too.
        let also = stop.with(Stop::new(StopReason::ResultsEnded));
        let trouble = Trouble::of_message(also.by(), &stop_text(&also));
        helps(&trouble);
        assert!(
            trouble.what.contains("The results cannot be written"),
            "{trouble:?}"
        );
    }
}

#[test]
fn every_reason_why_campaigns_are_not_listed_says_what_to_do_on_the_page() {
    for cause in [
        FatalCause::Token,
        FatalCause::Forbidden,
        FatalCause::Payment,
        FatalCause::Redirect,
        FatalCause::NotTheService,
    ] {
        let text = "HTTP 401".into();
        message_helps(&ListError::Refused { cause, text }.message());
    }
    for cure in [None, Some(template!("{|{ask_setup}}"))] {
        let text = "its certificate is not trusted".to_owned();
        message_helps(&ListError::NoAnswer { text, cure }.message());
    }
    message_helps(&ListError::Unreadable("it is too long".into()).message());
    message_helps(&ListError::Incomplete(Vec::new(), "it goes on elsewhere").message());
    failure_helps(no_campaign());
}

#[test]
fn addresses_and_tokens_that_are_wrong_say_what_to_type() {
    for address in [
        "",
        "crm",
        "app.example.com",
        "ftp://app.example.com",
        "http://app.example.com",
        "https://me:pw@app.example.com",
        "https://app.example.com/?a=1",
        "https://app.example.com/#a",
        "'https://app.example.com'",
    ] {
        message_helps(&BaseUrl::parse(address, false).unwrap_err());
    }
    for token in ["", "two words", "two\nlines", "tökén", "“token”"] {
        let error = Token::from_text(token, "what you typed").unwrap_err();
        message_helps(&Message::of(&error));
    }
    let url = BaseUrl::parse("https://app.example.com", false).unwrap();
    for value in ["'a'", "me:a#b@c", "htp://a"] {
        for name in ["HTTPS_PROXY", "NO_PROXY"] {
            let set = |other: &str| (other == name).then(|| value.into());
            if let Err(message) = Proxy::of_variables(&url, set) {
                message_helps(&message);
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nothing");
    message_helps(&Message::of(&Token::from_file(&nowhere).unwrap_err()));
    message_helps(&Message::of(
        &Certificates::from_file(&nowhere).unwrap_err(),
    ));
    let layers = Layers::new(Options::default(), Vec::new(), None, false);
    failure_helps(
        Service::new(&layers)
            .stopped_by(StoppedBy::Usage)
            .unwrap_err(),
    );
}

#[test]
fn files_that_are_no_lists_say_what_they_are_and_what_to_choose() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("a.pdf", &b"%PDF-1.7"[..]),
        ("a.png", b"\x89PNG"),
        ("a.html", b"<!doctype html>"),
        ("a.7z", b"7z\xBC\xAF\x27\x1C"),
        ("a.json", b"{\"a\":1}"),
        ("a.zip", b"PK\x03\x04 and nothing more"),
        (
            "a.xls",
            b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and nothing more",
        ),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let input = Input::open(&path).unwrap();
        let error = input.survey(&FormChoice::default()).err().unwrap();
        let trouble = Trouble::of(&error.into());
        helps(&trouble);
        assert!(
            trouble.what.starts_with(&format!("“{name}” ")),
            "{trouble:?}"
        );
    }
    failure_helps(Input::open(&folder.path().join("gone.csv")).unwrap_err());
    failure_helps(SourceError::changed("october.csv"));
    failure_helps(SourceError::broke_off());
    failure_helps(results_file("october.results.csv"));
}

#[test]
fn do_not_call_lists_that_cannot_be_used_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        "",
        "name\nAda\n",
        "email\nada@example.com\n",
        "phone\n+44123\n",
        "phone\n07911 123456\n",
        "phone\n\"+447911123456\n",
    ] {
        let path = folder.path().join("blocked.csv");
        fs::write(&path, text).unwrap();
        let read = SuppressionLists::read(&[path], &PhoneRules::default(), None, true);
        failure_helps(read.stopped_by(StoppedBy::Usage).unwrap_err());
    }
    let path = folder.path().join("american.csv");
    let numbers: Vec<String> = (0..20).map(|n| format!("(203) 555-01{n:02}")).collect();
    fs::write(&path, format!("phone\n{}\n", numbers.join("\n"))).unwrap();
    let britain = Region::parse("GB");
    let read = SuppressionLists::read(&[path], &PhoneRules::default(), britain, true);
    failure_helps(read.stopped_by(StoppedBy::Usage).unwrap_err());
}

#[test]
fn a_record_of_what_was_sent_that_cannot_be_used_is_not_called_a_file_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| LedgerPlace::file(folder.path().join(name));
    fs::write(folder.path().join("text"), "no database ".repeat(1000)).unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for name in ["text", "folder", "text/inside"] {
        let error = Ledger::open(&place(name)).err().unwrap();
        failure_helps(error);
    }
}

#[test]
fn names_of_campaigns_that_are_not_clear_say_what_to_do() {
    let mut names = NamesInRows::default();
    names.add("Sprnig".to_owned(), 0, 2);
    names.add_default(Some(&CampaignChoice::Name("Autumn".to_owned())));
    let list: [Campaign; 0] = [];
    let (_, unclear) = names.resolved(&list, &["october.csv"]);
    message_helps(&unclear.unwrap().message());
}

#[test]
fn trouble_without_advice_of_its_own_has_some() {
    let failure = Failure::new(StoppedBy::Disk, std::io::Error::from_raw_os_error(28));
    failure_helps(failure);
    for (by, _) in StoppedBy::WORDS {
        helps(&Trouble::of_message(
            by,
            &Message::without_hint(text!("it broke")),
        ));
    }
}
