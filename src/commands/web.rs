//! `leadload web`: serves the page until it is ended, or opens the one that is open already.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crate::cli::web::WebArgs;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::import::service;
use crate::message::{Message, Text};
use crate::paths::with_reason;
use crate::report::{Log, console};
use crate::settings::{
    Layers, has_display, home_folder, ledger_place, page_folder, refuse_unreadable_proxy,
};
use crate::signals::{self, Interrupts};
use crate::web::{Limits, PageFolder, Pages, Published, RunningPage, Server, open_browser};

const RUNNING_ALREADY: &str = "\
leadload is running already. Its page opens in your browser; if it does not, open the link above.
";

const OPENED: &str = "\
leadload is open in your browser. Keep this window open while sending.
If no page opens, use the link above. It works once. Ctrl-C ends leadload.
";

const PRINTED: &str = "\
Open the link above in your browser. It works once.
Keep this window open while sending. Ctrl-C ends leadload.
";

const RUNNING_ALREADY_PRINTED: &str = "\
leadload is running already. Open the link above in your browser. It works once.
";

pub fn run(args: &WebArgs, layers: &Layers, log: &Log) -> Result<ExitCode, Failure> {
    refuse_no_ledger(layers)?;
    refuse_unreadable_proxy(layers).stopped_by(StoppedBy::Usage)?;
    let place = page_folder(layers).stopped_by(StoppedBy::Usage)?;
    let opens = !args.no_open && has_display();
    service::block_on(async {
        // Before the link is printed, so that a signal sent in reply is not missed.
        let mut signals = signals::listen().stopped_by(StoppedBy::Usage)?;
        let to_open = place.clone();
        // This may wait for another start.
        let opening = service::on_a_thread(move || {
            PageFolder::open(to_open.clone()).map_err(|error| unusable(&to_open, &error))
        });
        let folder = tokio::select! {
            folder = opening => folder?,
            _ = signals.next() => return Ok(ExitCode::Complete),
        };
        if let Some(found) = folder.running(opens).await {
            // A browser in the terminal keeps no other start waiting.
            drop(folder);
            open_other(found, opens, &mut signals).await?;
            return Ok(ExitCode::Complete);
        }
        let server = bind(args.port, folder.last_port())?;
        let published = folder.publish(&server, home_folder());
        let _published: Published = published.map_err(|error| unusable(&place, &error))?;
        let link = server.link().stopped_by(StoppedBy::Usage)?;
        let redirect = opens.then(|| server.redirect().ok()).flatten();
        let (typed, log) = (layers.typed(), log.clone());
        let pages = move || Pages::new(typed, &place, log);
        let pages = service::on_a_thread(pages).await?;
        let _running = server.start(pages.router).stopped_by(StoppedBy::Usage)?;
        // From now on it answers, so another start may look for it.
        drop(folder);
        let text = if opens { OPENED } else { PRINTED };
        announce(&link, redirect, text)?;
        tokio::select! {
            _ = signals.next() => {}
            () = pages.quit.notified() => {}
        }
        let winding_down = service::on_a_thread(move || {
            (pages.wind_down)();
            Ok::<(), Failure>(())
        });
        // A second signal does not wait for what is being sent.
        tokio::select! {
            ended = winding_down => ended?,
            _ = signals.next() => {}
        }
        Ok(ExitCode::Complete)
    })
}

/// Opens the page that is open already.
async fn open_other(
    found: RunningPage,
    opens: bool,
    signals: &mut Interrupts,
) -> Result<(), Failure> {
    let text = match opens {
        true => RUNNING_ALREADY,
        false => RUNNING_ALREADY_PRINTED,
    };
    let opening = announce(&found.link, found.redirect, text)?;
    let opened = service::on_a_thread(move || {
        // If it has panicked, nothing was opened, and the link is printed.
        let _ = opening.map(JoinHandle::join);
        Ok::<(), Failure>(())
    });
    tokio::select! {
        opened = opened => opened,
        _ = signals.next() => Ok(()),
    }
}

/// Without a ledger, what the page says of stopping and resuming would not be true.
fn refuse_no_ledger(layers: &Layers) -> Result<(), Failure> {
    let options = layers.options();
    let place = ledger_place(&options).stopped_by(StoppedBy::Usage)?;
    if place.is_some() || options.connection.sandbox == Some(true) {
        return Ok(());
    }
    Err(Failure::usage(terminal_message!(
        "the page needs a ledger, and the ledger is set to `none`",
        "name a file with `--ledger`, or take `none` out of LEADLOAD_LEDGER or of the profile"
    )))
}

/// Prints the link, alone on its line, and opens the browser.
fn announce(
    link: &str,
    redirect: Option<PathBuf>,
    text: &str,
) -> Result<Option<JoinHandle<()>>, Failure> {
    console::print(&format!("{link}\n")).stopped_by(StoppedBy::Disk)?;
    console::note(text);
    Ok(redirect.map(open_browser))
}

/// The port that was asked for and no other; else that of last time, or any free one.
fn bind(wanted: Option<u16>, last: Option<u16>) -> Result<Server, Failure> {
    let limits = Limits::default();
    let bound = match (wanted, last) {
        (Some(port), _) => Server::bind(Some(port), limits),
        (None, None) => Server::bind(None, limits),
        (None, last) => Server::bind(last, limits).or_else(|_| Server::bind(None, limits)),
    };
    bound.map_err(|error| {
        let port = wanted.map_or("any port".to_owned(), |port| format!("port {port}"));
        let why = match error.kind() {
            ErrorKind::AddrInUse => "another program is using it",
            ErrorKind::PermissionDenied => "you do not have permission",
            _ => &error.to_string(),
        };
        Failure::usage(Message::new(
            Text::terminal(format!("cannot use {port} for the page: {why}")),
            terminal_text!(
                "name another one with `--port`, or leave `--port` out to take a free one"
            ),
        ))
    })
}

fn unusable(folder: &Path, error: &io::Error) -> Failure {
    if error.kind() == ErrorKind::ResourceBusy {
        let message = terminal_message!(
            "leadload is running already, but its page does not answer",
            "end that process, then start leadload again; what was sent is remembered"
        );
        return Failure::new(StoppedBy::Busy, message);
    }
    let message = Message::new(
        Text::terminal(format!(
            "cannot write to the page's folder {}",
            with_reason(folder, error)
        )),
        terminal_text!("make room on the disk, or get permission to write there"),
    );
    Failure::new(StoppedBy::Disk, message)
}
