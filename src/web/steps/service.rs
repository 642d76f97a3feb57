//! *Service*: its address and the access token, tried out and kept as a profile.

use axum::Extension;
use axum::http::StatusCode;
use axum::response::Response;
use maud::html;

use crate::api::{BaseUrl, Token};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::campaign_list::listed_by;
use crate::message::Message;
use crate::options::Options;
use crate::settings::{NewProfile, Service};
use crate::web::layout::{FieldError, Screen, form, labelled, see_other};
use crate::web::server::FormFields;
use crate::web::trouble::{Trouble, sentence};
use crate::web::visit::Visit;

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
    screen(&visit, &address, Vec::new())
}

fn present_address(visit: &Visit) -> Option<String> {
    let layers = visit.site.layers(&Options::default()).ok()?;
    let url = layers.given().connection.base_url?;
    Some(url.to_string())
}

fn screen(visit: &Visit, address: &str, errors: Vec<FieldError>) -> Response {
    let has_service = visit.site.has_service();
    let status = match errors.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
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

/// Lists the campaigns by this address and token, and keeps them. The error comes with the field
/// that is wrong.
async fn try_out(visit: &Visit, address: &str, token: &str) -> Result<(), (&'static str, String)> {
    let at = |field| move |failure: Failure| (field, Trouble::of(&failure).text());
    let layers = visit
        .site
        .layers(&Options::default())
        .map_err(at("address"))?;
    let new = NewProfile::new(&layers).or_stopped(StoppedBy::Usage);
    let new = new.map_err(at("address"))?;
    let url = new
        .address(address)
        .or_else(|error| BaseUrl::with_https(address).ok_or(("address", sentence(&error.what))))?;
    let token = Token::from_text(token, "what you typed")
        .map_err(|error| ("token", sentence(&Message::of(&error).what)))?;
    let connection = new.connection(url, token).or_stopped(StoppedBy::Usage);
    let connection = connection.map_err(at("address"))?;
    let service = Service::At(connection.clone());
    listed_by(&service).await.map_err(|failure| {
        let field = match failure.stopped_by {
            StoppedBy::Token => "token",
            _ => "address",
        };
        (field, Trouble::of(&failure).text())
    })?;
    new.write(&connection)
        .or_stopped(StoppedBy::Disk)
        .map_err(at("address"))?;
    Ok(())
}
