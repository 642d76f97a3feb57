//! *Service*: its address and the access token, tried out and kept as a profile.

use std::time::Duration;

use axum::Extension;
use axum::response::Response;
use maud::html;
use tokio::time::timeout;

use crate::api::{BaseUrl, Token};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::campaign_list::listed_by;
use crate::message::Message;
use crate::options::Options;
use crate::options::TokenSource;
use crate::private_file;
use crate::settings::{Layers, NewProfile, Service};
use crate::web::layout::{FieldError, Screen, form, labelled, see_other, status_of};
use crate::web::server::FormFields;
use crate::web::trouble::Trouble;
use crate::web::visit::Visit;

const NO_ANSWER: &str = "The service did not answer within 20 seconds. Check the address and your internet connection, then try again.";

const ANOTHER_COUNTS: &str = "leadload was started with an address or access token of its own, which counts. Ask the person who set up leadload on this computer.";

/// How long the user waits for the service to answer.
const PATIENCE: Duration = Duration::from_secs(20);

const READ_BY_OTHERS: &str = "Other people on this computer can read or change your stored access token. Paste it again to store it for you alone.";

const HELP: &str = "Ask whoever manages it for its address and an access token. The token is stored on this computer.";

pub async fn show(visit: Visit) -> Response {
    if visit.site.is_practice() {
        let screen = Screen {
            title: "Service".into(),
            heading: "This is a practice".into(),
            help: "The service is one inside leadload. It needs no address and no token, and nobody is called.".into(),
            back: Some(visit.path("list")),
            ..Screen::default()
        };
        return screen.respond(&visit);
    }
    let address = present_address(&visit).unwrap_or_default();
    let wrong = visit.site.layers(&Options::default()).err();
    let wrong = wrong.map(|failure| FieldError::of(&Trouble::of(&failure), None));
    screen(&visit, &address, wrong.into_iter().collect())
}

fn present_address(visit: &Visit) -> Option<String> {
    let layers = visit.site.layers(&Options::default()).ok()?;
    let url = layers.given().connection.base_url?;
    Some(url.to_string())
}

/// Whether other people on this computer can read the stored token.
fn others_can_read(visit: &Visit) -> bool {
    let given = visit.site.layers(&Options::default());
    let token = given
        .ok()
        .and_then(|layers| layers.given().connection.token_file);
    match token.as_deref() {
        Some(TokenSource::File(path)) => private_file::others_can(path).is_some(),
        _ => false,
    }
}

fn screen(visit: &Visit, address: &str, errors: Vec<FieldError>) -> Response {
    let has_service = visit.site.has_service();
    let status = status_of(&errors);
    let screen = Screen {
        title: "Service".into(),
        heading: "Connect to your calling service".into(),
        help: HELP.into(),
        back: has_service.then(|| visit.path("list")),
        errors,
        body: Some(form(
            visit,
            &visit.path("service"),
            html! {
                @if others_can_read(visit) { p.note { (READ_BY_OTHERS) } }
                (labelled("address", "Address of the service", html! {
                    input #address type="text" name="address" value=(address) inputmode="url"
                        autocomplete="url" spellcheck="false" required placeholder="https://app.example.com";
                }))
                (labelled("token", "Access token", html! {
                    input #token type="password" name="token" autocomplete="off" required;
                }))
                p { button.primary type="submit" { "Continue" } }
            },
        )),
        status,
        ..Screen::default()
    };
    screen.respond(visit)
}

pub async fn connect(visit: Visit, Extension(fields): Extension<FormFields>) -> Response {
    let address = fields.get("address").unwrap_or_default().trim();
    match try_out(&visit, address, fields.get("token").unwrap_or_default()).await {
        Ok(()) => {
            visit.site.campaigns.forget();
            see_other(&visit.path("list"))
        }
        Err((field, text)) => screen(&visit, address, vec![FieldError::at(field, text)]),
    }
}

/// Tries out a new token for the present service and keeps it; or says what is wrong with it.
pub async fn take_token(visit: &Visit, token: &str) -> Result<(), String> {
    let address = present_address(visit).unwrap_or_default();
    let tried = try_out(visit, &address, token).await;
    tried.map_err(|(_, text)| text)?;
    visit.site.campaigns.forget();
    Ok(())
}

fn text(message: &Message) -> String {
    Trouble::of_message(StoppedBy::Usage, message).text()
}

/// What is stored does not count while the program was started with another address or token.
fn refuse_what_would_not_count(
    layers: &Layers,
    url: &BaseUrl,
) -> Result<(), (&'static str, String)> {
    let started_with = [
        layers.typed().connection,
        layers.of_environment().connection,
    ];
    for given in &started_with {
        let is_other = |address: &String| {
            BaseUrl::parse(address, true).map_or(true, |address| address != *url)
        };
        if given.base_url.as_deref().is_some_and(is_other) {
            return Err(("address", ANOTHER_COUNTS.to_owned()));
        }
        if given.token_file.is_some() {
            return Err(("token", ANOTHER_COUNTS.to_owned()));
        }
    }
    Ok(())
}

/// Lists the campaigns by this address and token, and keeps them. The error comes with the field
/// that is wrong.
async fn try_out(visit: &Visit, address: &str, token: &str) -> Result<(), (&'static str, String)> {
    let at = |field| move |failure: Failure| (field, Trouble::of(&failure).text());
    let layers = visit
        .site
        .layers(&Options::default())
        .map_err(at("address"))?;
    let new = NewProfile::new(&layers).stopped_by(StoppedBy::Usage);
    let new = new.map_err(at("address"))?;
    let url = new
        .address(address)
        .or_else(|error| BaseUrl::with_https(address).ok_or_else(|| ("address", text(&error))))?;
    let token = Token::from_text(token, "what you typed")
        .map_err(|error| ("token", text(&Message::of(&error))))?;
    refuse_what_would_not_count(&layers, &url)?;
    let connection = new.connection(url, token).stopped_by(StoppedBy::Usage);
    let connection = connection.map_err(at("address"))?;
    let service = Service::At(connection.clone());
    let listed = timeout(PATIENCE, listed_by(&service)).await;
    let listed = listed.map_err(|_| ("address", NO_ANSWER.to_owned()))?;
    listed.map_err(|failure| {
        let field = match failure.stopped_by {
            StoppedBy::Token => "token",
            _ => "address",
        };
        (field, Trouble::of(&failure).text())
    })?;
    new.write(&connection)
        .stopped_by(StoppedBy::Disk)
        .map_err(at("address"))?;
    Ok(())
}
