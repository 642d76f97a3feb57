//! The files to download. The page names no path: each file belongs to a list or a run.

use std::fs::File;
use std::io::{self, Read, Write};
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
use super::steps::checked;
use super::trouble::Trouble;
use super::visit::{Answer, CurrentJob, Visit};
use super::words;
use crate::exit::Failure;
use crate::import::{inputs, service};
use crate::intake::PlannedInput;
use crate::lead::RunId;
use crate::ledger::{OutputKind, OutputRecord, OutputState, RunRecord, Sha256};
use crate::paths::is_within;
use crate::results::write_results_workbook;
use crate::source::Fingerprint;

const CHUNK: usize = 64 * 1024;

/// A file of a list.
pub async fn download(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    UrlPath((_, name)): UrlPath<(u64, String)>,
) -> Answer {
    let file = match &*name {
        "rows-to-fix.xlsx" => {
            let checked = checked(&visit, &job).await?;
            rows_to_fix(&visit, &job, &checked).await
        }
        "list" => own_list(&job),
        _ => Err(gone()),
    };
    answer(&visit, visit.job_path(job.id, "problems"), file).await
}

/// A file of a run.
pub async fn download_of_run(visit: Visit, UrlPath((run, name)): UrlPath<(u64, String)>) -> Answer {
    let run = history::run_with_files(&visit, run).await?;
    let job = visit.site.jobs.of_run(run.run);
    let job = job.as_deref();
    let file = match &*name {
        "results.csv" => output(&run, job, OutputKind::Results).ok_or_else(gone),
        "results.xlsx" => workbook(&visit, &run, job).await,
        "rows-to-fix" => output(&run, job, OutputKind::Rejects).ok_or_else(gone),
        "removed.csv" => output(&run, job, OutputKind::Undo).ok_or_else(gone),
        _ => Err(gone()),
    };
    answer(&visit, visit.run_path(run.run), file).await
}

async fn answer(visit: &Visit, back: String, file: Result<PathBuf, Trouble>) -> Answer {
    let sent = match file {
        Ok(path) => send(&path).await.map_err(|error| unreadable(&error)),
        Err(trouble) => Err(trouble),
    };
    sent.map_err(|trouble| {
        let screen = Screen {
            title: "Download".into(),
            heading: "The file cannot be downloaded".into(),
            back: Some(back),
            errors: vec![FieldError::of(&trouble, None)],
            ..Screen::default()
        };
        screen.respond(visit)
    })
}

/// The list, which is the page's own: that of a run which a command line began is where a ledger
/// says, and what lies there may be something else.
fn own_list(job: &Job) -> Result<PathBuf, Trouble> {
    let list = job.record().list;
    match job.has_own(&list) {
        true => Ok(list),
        false => Err(gone()),
    }
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

async fn send(path: &Path) -> io::Result<Response> {
    let file = File::open(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let encoded = utf8_percent_encode(&name, NON_ALPHANUMERIC);
    let disposition = format!("attachment; filename*=UTF-8''{encoded}");
    let head = [
        (CONTENT_TYPE, kind(path).to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ];
    Ok((head, Body::from_stream(chunks(file))).into_response())
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => "text/csv; charset=utf-8",
        Some("xlsx") => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _ => "application/octet-stream",
    }
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

/// Where this output of a run is, if it was written here and is as it was written: a ledger that
/// is shared, or was copied, names files of other computers. Of files that the ledger lacks only the
/// end of the run knows.
pub fn output(run: &RunRecord, job: Option<&Job>, kind: OutputKind) -> Option<PathBuf> {
    if complete(run, kind).next().is_some() {
        let mut of_here = complete(run, kind).filter(|_| run.is_of_here());
        let as_written = of_here.rfind(|output| output.is_as_written());
        return as_written?.path.clone();
    }
    let live = job.and_then(|job| Some(job.state().sending.live()?.now()));
    let end = live.filter(|live| live.run == Some(run.run))?.end?;
    let of_end = match kind {
        OutputKind::Results => end.results,
        OutputKind::Rejects => end.rejects,
        OutputKind::Undo => None,
    };
    of_end.filter(|path| path.is_file())
}

/// Why an output of a run that was there cannot be downloaded, after its name in the plural.
pub fn why_not_there(run: &RunRecord, job: Option<&Job>, kind: OutputKind) -> Option<&'static str> {
    if output(run, job, kind).is_some() {
        return None;
    }
    Some(match complete(run, kind).next_back()?.state? {
        _ if !run.is_of_here() => "are on the computer that sent the list.",
        OutputState::AsWritten => return None,
        OutputState::Changed => {
            "are no longer as they were written, so they can't be downloaded here."
        }
        OutputState::Gone => "are no longer at their place, so they can't be downloaded here.",
        OutputState::Elsewhere => "are on the computer that sent the list.",
    })
}

fn complete(run: &RunRecord, kind: OutputKind) -> impl DoubleEndedIterator<Item = &OutputRecord> {
    let outputs = run.outputs.iter();
    outputs.filter(move |output| output.kind == kind && output.sha256.is_some())
}

/// The list and its results in one workbook.
async fn workbook(visit: &Visit, run: &RunRecord, job: Option<&Job>) -> Result<PathBuf, Trouble> {
    let results = output(run, job, OutputKind::Results).ok_or_else(gone)?;
    let job = job.ok_or_else(gone)?;
    let made = results_workbook(&visit.site, job, run.run, results).await;
    made.map_err(|failure| Trouble::of(&failure))
}

/// Whether the workbook of a run has been made, or can be.
pub fn has_workbook(run: &RunRecord, job: &Job) -> bool {
    let record = job.record();
    let can_be_made = record.run == Some(run.run) && record.list.is_file();
    let results = output(run, Some(job), OutputKind::Results);
    results.is_some_and(|results| can_be_made || is_as_made(&workbook_place(&job.folder, &results)))
}

/// Where the workbook is that shows the list beside these results, in the folder of its job: the
/// results of a command line are in a folder of the user's, where nothing is replaced.
pub fn workbook_place(folder: &Path, results: &Path) -> PathBuf {
    let own = is_within(results, folder).then_some(results);
    let name = || folder.join(results.file_name().unwrap_or_default());
    own.map_or_else(name, Path::to_owned).with_extension("xlsx")
}

/// Makes the workbook of a run, unless it is there and no older than the results.
pub async fn results_workbook(
    site: &Site,
    job: &Job,
    run: RunId,
    results: PathBuf,
) -> Result<PathBuf, Failure> {
    let _making = job.making_file.lock().await;
    let (record, place) = (job.record(), workbook_place(&job.folder, &results));
    let is_its_list = record.run == Some(run) && record.list.is_file();
    if is_as_made(&place) && (!is_its_list || is_newer(&place, &results)) {
        return Ok(place);
    }
    if !is_its_list {
        return Err(Failure::usage(message!(
            "the workbook with the list and its results is no longer as it was made, and the list is gone",
            "download the results as CSV"
        )));
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
        make(&to, |file| write_results_workbook(&planned, &results, file))?;
        let digest = digest(&to).unwrap_or_default();
        make(&digest_place(&to), |mut file| file.write_all(&digest))
    });
    making.await?;
    Ok(place)
}

/// Where it is kept what a workbook has to be: a file that was changed since is not shown.
pub fn digest_place(workbook: &Path) -> PathBuf {
    workbook.with_extension("xlsx.sha256")
}

fn digest(file: &Path) -> io::Result<Sha256> {
    Ok(Fingerprint::of(File::open(file)?)?.sha256)
}

fn is_as_made(workbook: &Path) -> bool {
    let made = std::fs::read(digest_place(workbook));
    made.is_ok_and(|made| digest(workbook).is_ok_and(|now| made == now))
}

/// Whether the first file is newer than the second.
fn is_newer(file: &Path, than: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    changed(file) > changed(than)
}

/// The rows of a check that cannot be sent, in a workbook that names its list.
async fn rows_to_fix(
    visit: &Visit,
    job: &Arc<Job>,
    checked: &Arc<Checked>,
) -> Result<PathBuf, Trouble> {
    let _making = job.making_file.lock().await;
    // Not beside the list, where the rejects of its run have the same name.
    let folder = job.folder.join("of-the-check");
    let made = crate::private_file::folders().create(&folder);
    made.map_err(|error| unreadable(&error))?;
    let name = job.output(".rows-to-fix.xlsx");
    let place = folder.join(name.file_name().unwrap_or_default());
    let written = checked.write_rows_to_fix(&visit.site, job, &place).await;
    written.map_err(|failure| Trouble::of(&failure))?;
    Ok(place)
}

/// Makes a private file, which gets its name when it is whole.
fn make<E: std::fmt::Display>(
    path: &Path,
    write: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), Failure> {
    let fail = |why: String| {
        Failure::usage(message!(
            "the file cannot be made: {why}",
            "free some space and try again",
            why
        ))
    };
    let file = crate::private_file::beside(path).map_err(|error| fail(error.to_string()))?;
    write(file.as_file()).map_err(|error| fail(error.to_string()))?;
    file.persist(path)
        .map_err(|error| fail(error.to_string()))?;
    Ok(())
}
