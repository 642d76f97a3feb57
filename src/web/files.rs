//! The files to download. The page names no path: each file belongs to a job.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path as UrlPath;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::checking::Checked;
use super::history;
use super::job::Job;
use super::layout::{FieldError, Screen};
use super::site::Site;
use super::steps::{checked, job};
use super::trouble::Trouble;
use super::visit::Visit;
use super::words;
use crate::exit::Failure;
use crate::import::{inputs, service};
use crate::intake::PlannedInput;
use crate::ledger::OutputKind;
use crate::results::write_results_workbook;

const WORKBOOK: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const CHUNK: usize = 64 * 1024;

const CSV: &str = "text/csv; charset=utf-8";

pub async fn download(visit: Visit, UrlPath((id, name)): UrlPath<(u64, String)>) -> Response {
    let job = match job(&visit, id) {
        Ok(job) => job,
        Err(response) => return response,
    };
    let _making = job.making.lock().await;
    let file = match &*name {
        "rows-to-fix.xlsx" => {
            let checked = match checked(&visit, &job).await {
                Ok(checked) => checked,
                Err(response) => return response,
            };
            rows_to_fix(&visit, &job, &checked).await
        }
        "results.csv" => results(&visit, &job).map(|path| (path, CSV)),
        "results.xlsx" => workbook(&visit, &job).await,
        "rejects.xlsx" => rejects(&visit, &job).map(|path| (path, WORKBOOK)),
        "list" => Ok((job.record().list, "application/octet-stream")),
        _ => Err(gone()),
    };
    let sent = match file {
        Ok((path, kind)) => send(&path, kind).await.map_err(|error| unreadable(&error)),
        Err(trouble) => Err(trouble),
    };
    sent.unwrap_or_else(|trouble| failed(&visit, &job, &trouble))
}

fn gone() -> Trouble {
    Trouble::new(
        "This file is not here.",
        "It may have been removed. Go back to the run.",
    )
}

fn unreadable(error: &io::Error) -> Trouble {
    Trouble::new("The file can't be made.", words::disk(error))
}

fn failed(visit: &Visit, job: &Job, trouble: &Trouble) -> Response {
    let screen = Screen {
        title: "Download".into(),
        heading: "The file cannot be downloaded".into(),
        back: Some(visit.job_path(job.id, "run")),
        errors: vec![FieldError::of(trouble, None)],
        ..Screen::default()
    };
    screen.respond(visit)
}

async fn send(path: &Path, kind: &'static str) -> io::Result<Response> {
    let file = File::open(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let encoded = utf8_percent_encode(&name, NON_ALPHANUMERIC);
    let disposition = format!("attachment; filename*=UTF-8''{encoded}");
    let head = [
        (CONTENT_TYPE, kind.to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ];
    Ok((head, Body::from_stream(chunks(file))).into_response())
}

/// The content of a file, a piece at a time. Files are read on a thread of their own.
fn chunks(file: File) -> impl futures::Stream<Item = io::Result<Vec<u8>>> {
    futures::stream::try_unfold(file, async |mut file| {
        let reading = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK];
            let read = file.read(&mut chunk)?;
            chunk.truncate(read);
            Ok((read > 0).then_some((chunk, file)))
        });
        reading.await?
    })
}

/// The results file of the job's latest run.
fn results(visit: &Visit, job: &Job) -> Result<PathBuf, Trouble> {
    let live = job.state().sending.live().and_then(|live| live.now().end);
    let of_live = live.and_then(|end| end.results);
    of_live
        .or_else(|| of_ledger(visit, job, OutputKind::Results))
        .ok_or_else(gone)
}

fn rejects(visit: &Visit, job: &Job) -> Result<PathBuf, Trouble> {
    let live = job.state().sending.live().and_then(|live| live.now().end);
    let of_live = live.and_then(|end| end.rejects);
    of_live
        .or_else(|| of_ledger(visit, job, OutputKind::Rejects))
        .ok_or_else(gone)
}

fn of_ledger(visit: &Visit, job: &Job, kind: OutputKind) -> Option<PathBuf> {
    let run = job.record().run?;
    let runs = visit.site.ledger().ok()??.runs().ok()?;
    let run = runs.into_iter().find(|known| known.run == run)?;
    history::output(&run, kind)
}

async fn workbook(visit: &Visit, job: &Arc<Job>) -> Result<(PathBuf, &'static str), Trouble> {
    let results = results(visit, job)?;
    let made = results_workbook(&visit.site, job, results).await;
    let place = made.map_err(|failure| Trouble::of(&failure))?;
    Ok((place, WORKBOOK))
}

/// The list and its results in one workbook: made now, as long as the list is there.
pub async fn results_workbook(
    site: &Site,
    job: &Job,
    results: PathBuf,
) -> Result<PathBuf, Failure> {
    let (record, place) = (job.record(), job.beside_list(".results.xlsx"));
    if place.is_file() && !record.list.is_file() {
        return Ok(place);
    }
    let mut request = site.request(&record)?;
    let surveyed = inputs::survey(&mut request).await?;
    let settings = request.settings()?;
    let to = place.clone();
    let making = service::on_a_thread(move || -> Result<(), Failure> {
        let mut planned = surveyed.into_iter();
        let Some(first) = planned.next() else {
            return Ok(());
        };
        let planned = PlannedInput::new(first, &settings.reading.mapping)?;
        make(&to, |file| write_results_workbook(&planned, &results, file))
    });
    making.await?;
    Ok(place)
}

/// The rows of a check that cannot be sent, in a workbook that names its list.
async fn rows_to_fix(
    visit: &Visit,
    job: &Arc<Job>,
    checked: &Arc<Checked>,
) -> Result<(PathBuf, &'static str), Trouble> {
    // Not beside the list, where the rejects of its run have the same name.
    let folder = job.folder.join("of-the-check");
    let made = crate::private_file::folders().create(&folder);
    made.map_err(|error| unreadable(&error))?;
    let name = job.beside_list(".rows-to-fix.xlsx");
    let place = folder.join(name.file_name().unwrap_or_default());
    let written = checked.write_rows_to_fix(&visit.site, job, &place).await;
    written.map_err(|failure| Trouble::of(&failure))?;
    Ok((place, WORKBOOK))
}

/// Makes a private file, which gets its name when it is whole.
fn make<E: std::fmt::Display>(
    path: &Path,
    write: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), Failure> {
    let fail = |why: String| {
        Failure::usage(
            format!("the file cannot be made: {why}"),
            "free some space and try again",
        )
    };
    let file = crate::private_file::beside(path).map_err(|error| fail(error.to_string()))?;
    write(file.as_file()).map_err(|error| fail(error.to_string()))?;
    file.persist(path)
        .map_err(|error| fail(error.to_string()))?;
    Ok(())
}
