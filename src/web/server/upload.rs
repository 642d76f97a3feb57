//! Receives a file that a browser sends, in a form with fields before or after it.
//!
//! The file goes to the disk as it arrives. What has arrived and is not on the disk is bounded,
//! so a form of any shape (a field or a header without end, thousands of parts) takes no more
//! memory than an ordinary one. If anything fails, or the page does not keep it, the file is
//! removed.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use futures::stream::Stream;
use multer::{Field, Multipart};
use tempfile::{NamedTempFile, TempPath};
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::body::{self, BodyError, Chunks};
use super::file_name::safe_name;
use super::form::{FORM_TOKEN, FormFields};
use super::limits::Limits;
use super::session::Session;

/// The field with the file.
pub const FILE: &str = "list";

/// How many bytes may have arrived beside those of the file: all fields, and what is underway.
const BESIDE_THE_FILE: u64 = 2 << 20;

/// Chunks that have arrived and are not on the disk yet.
const UNDERWAY: usize = 4;

/// A form with a file, whose form token has not been checked: an extension of its request.
#[derive(Clone)]
pub(super) struct UnreadForm(Arc<Mutex<Option<Form>>>);

struct Form {
    body: Body,
    boundary: String,
    limits: Limits,
}

impl UnreadForm {
    pub(super) fn new(body: Body, boundary: String, limits: Limits) -> UnreadForm {
        let form = Form {
            body,
            boundary,
            limits,
        };
        UnreadForm(Arc::new(Mutex::new(Some(form))))
    }

    fn take(&self) -> Option<Form> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A form with a file that has arrived whole.
#[derive(Debug)]
pub struct Upload {
    /// The file, if one was chosen: what the browser calls it, made safe, and where it is. Its name
    /// there is the same.
    pub file: Option<(String, PathBuf)>,
    /// The other fields, without the form token.
    pub fields: FormFields,
}

#[derive(Debug, Error)]
pub enum UploadError {
    #[error("the file is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("the form has too many parts, or too long ones")]
    TooManyParts,
    #[error("the form token is missing or another session's")]
    FormToken,
    /// Also a second file, and a form that is no form with a file.
    #[error("the form cannot be read")]
    Unreadable,
    #[error("nothing arrived for too long")]
    TooSlow,
    /// Nobody reads the answer to this.
    #[error("the browser broke off")]
    BrokenOff,
    #[error("the disk is full")]
    DiskFull,
    #[error("the file cannot be written: {0}")]
    Disk(io::Error),
}

impl From<BodyError> for UploadError {
    fn from(error: BodyError) -> UploadError {
        match error {
            BodyError::TooLarge => UploadError::TooManyParts,
            BodyError::TooSlow => UploadError::TooSlow,
            BodyError::BrokenOff => UploadError::BrokenOff,
        }
    }
}

impl From<multer::Error> for UploadError {
    fn from(error: multer::Error) -> UploadError {
        let cause = match &error {
            multer::Error::StreamReadFailed(cause) => cause.downcast_ref::<BodyError>(),
            _ => None,
        };
        match cause {
            Some(error) => (*error).into(),
            None => UploadError::Unreadable,
        }
    }
}

impl From<io::Error> for UploadError {
    fn from(error: io::Error) -> UploadError {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                UploadError::DiskFull
            }
            _ => UploadError::Disk(error),
        }
    }
}

/// Receives the form of a request and writes its file into `folder`, for its owner only.
/// After an error the rest of the form is read too, as long as it keeps coming: a browser shows an
/// answer only when it has sent all.
pub async fn receive(request: Request, folder: &Path) -> Result<Upload, UploadError> {
    let extensions = request.extensions();
    let session = extensions.get::<Session>().cloned();
    let form = extensions.get::<UnreadForm>().and_then(UnreadForm::take);
    let (Some(session), Some(form)) = (session, form) else {
        return Err(UploadError::Unreadable);
    };
    let Form {
        body,
        boundary,
        limits,
    } = form;
    let announced = body.size_hint().lower();
    let mut chunks = body::chunks(body, limits.idle_time);
    let received = if announced > limits.file_bytes + BESIDE_THE_FILE {
        Err(UploadError::TooLarge {
            limit: limits.file_bytes,
        })
    } else {
        let mut reading = Reading::new(&mut chunks, &boundary, &session, limits);
        reading.form(folder).await
    };
    match &received {
        Ok(_) | Err(UploadError::TooSlow | UploadError::BrokenOff) => {}
        Err(_) => body::drain(&mut chunks).await,
    }
    received
}

/// The chunks of a body as long as there is room for them. They come one at a time, and a reader
/// that asks for the next at once has to ask again, for two reasons:
///
/// - The form is read on another thread than the connection. multer would take all chunks that
///   there are before it passes on the first.
/// - multer 3.1 asks for more after it has looked for the first part, and takes an end that has
///   come meanwhile for that of a form without parts, although the whole form has come with it
///   (rwf2/multer#70).
struct Metered<'a> {
    chunks: &'a mut Chunks,
    room: Arc<AtomicU64>,
    has_given: bool,
}

impl Stream for Metered<'_> {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.has_given) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = std::task::ready!(self.chunks.as_mut().poll_next(cx));
        self.has_given = next.is_some();
        Poll::Ready(match next {
            Some(Ok(chunk)) => {
                let taken = |room: u64| room.checked_sub(chunk.len() as u64);
                let room = self
                    .room
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken);
                Some(room.map(|_| chunk).map_err(|_| BodyError::TooLarge))
            }
            other => other,
        })
    }
}

struct Reading<'a> {
    multipart: Multipart<'a>,
    room: Arc<AtomicU64>,
    session: &'a Session,
    limits: Limits,
    parts: usize,
    fields: Vec<(String, String)>,
}

impl<'a> Reading<'a> {
    fn new(
        chunks: &'a mut Chunks,
        boundary: &str,
        session: &'a Session,
        limits: Limits,
    ) -> Reading<'a> {
        let room = Arc::new(AtomicU64::new(BESIDE_THE_FILE));
        let metered = Metered {
            chunks,
            room: Arc::clone(&room),
            has_given: false,
        };
        Reading {
            multipart: Multipart::new(metered, boundary),
            room,
            session,
            limits,
            parts: 0,
            fields: Vec::new(),
        }
    }

    async fn form(&mut self, folder: &Path) -> Result<Upload, UploadError> {
        let form_time = self.limits.form_time;
        let before = timeout(form_time, self.fields_before_file()).await;
        let Some(mut file) = before.map_err(|_| UploadError::TooSlow)?? else {
            return Ok(self.upload(None));
        };
        let name = file.file_name().unwrap_or_default().to_owned();
        let (path, bytes) = self.write(&mut file, folder).await?;
        drop(file);
        match timeout(form_time, self.next_field()).await {
            Err(_) => return Err(UploadError::TooSlow),
            Ok(Err(error)) => return Err(error),
            // Forms of ours have one file.
            Ok(Ok(Some(_))) => return Err(UploadError::Unreadable),
            Ok(Ok(None)) => {}
        }
        if name.is_empty() && bytes == 0 {
            return Ok(self.upload(None));
        }
        let name = safe_name(&name);
        let place = folder.join(&name);
        path.persist(&place).map_err(|error| error.error)?;
        Ok(self.upload(Some((name, place))))
    }

    fn upload(&mut self, file: Option<(String, PathBuf)>) -> Upload {
        Upload {
            file,
            fields: FormFields(std::mem::take(&mut self.fields)),
        }
    }

    /// The file, if there is one. The form token comes before anything else.
    async fn fields_before_file(&mut self) -> Result<Option<Field<'a>>, UploadError> {
        let first = self.part().await?.ok_or(UploadError::FormToken)?;
        if first.name() != Some(FORM_TOKEN) {
            return Err(UploadError::FormToken);
        }
        let token = self.text(first).await?;
        if !self.session.form_token.is(&token) {
            return Err(UploadError::FormToken);
        }
        self.next_field().await
    }

    /// Keeps the fields up to the next part that has a file.
    async fn next_field(&mut self) -> Result<Option<Field<'a>>, UploadError> {
        while let Some(field) = self.part().await? {
            match (field.name(), field.file_name()) {
                (Some(FILE), Some(_)) => return Ok(Some(field)),
                (Some(name), None) if name != FORM_TOKEN => {
                    let name = name.to_owned();
                    let value = self.text(field).await?;
                    self.fields.push((name, value));
                }
                _ => return Err(UploadError::Unreadable),
            }
        }
        Ok(None)
    }

    async fn part(&mut self) -> Result<Option<Field<'a>>, UploadError> {
        let field = self.multipart.next_field().await?;
        self.parts += usize::from(field.is_some());
        match self.parts > self.limits.parts {
            true => Err(UploadError::TooManyParts),
            false => Ok(field),
        }
    }

    async fn text(&self, mut field: Field<'_>) -> Result<String, UploadError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = field.chunk().await? {
            if bytes.len() + chunk.len() > self.limits.field_bytes {
                return Err(UploadError::TooManyParts);
            }
            bytes.extend_from_slice(&chunk);
        }
        String::from_utf8(bytes).map_err(|_| UploadError::Unreadable)
    }

    async fn write(
        &self,
        file: &mut Field<'_>,
        folder: &Path,
    ) -> Result<(TempPath, u64), UploadError> {
        let (sender, chunks) = mpsc::channel(UNDERWAY);
        let folder = folder.to_owned();
        let writing = spawn_blocking(move || write(chunks, folder));
        let passed = self.pass_on(file, sender).await;
        // Nothing panics there.
        let written = writing.await.map_err(|_| UploadError::Unreadable)?;
        // First, since it may be why nothing could be passed on.
        let path = written?;
        Ok((path, passed?))
    }

    /// Passes the file on to the thread that writes it, and counts its bytes.
    async fn pass_on(
        &self,
        file: &mut Field<'_>,
        to: mpsc::Sender<Bytes>,
    ) -> Result<u64, UploadError> {
        let limit = self.limits.file_bytes;
        let mut bytes = 0;
        while let Some(chunk) = file.chunk().await? {
            let length = chunk.len() as u64;
            bytes += length;
            if bytes > limit {
                return Err(UploadError::TooLarge { limit });
            }
            if to.send(chunk).await.is_err() {
                // The writer has failed, and says why.
                return Err(UploadError::BrokenOff);
            }
            self.room.fetch_add(length, Ordering::Relaxed);
        }
        Ok(bytes)
    }
}

/// Writes what comes into a new file. If nobody waits for the result, the file is removed.
fn write(mut chunks: mpsc::Receiver<Bytes>, folder: PathBuf) -> io::Result<TempPath> {
    // 0600 on Unix.
    let mut file = NamedTempFile::with_prefix_in("upload-", folder)?;
    while let Some(chunk) = chunks.blocking_recv() {
        file.write_all(&chunk)?;
    }
    file.as_file().sync_all()?;
    Ok(file.into_temp_path())
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use futures::task::noop_waker;

    use super::*;

    #[test]
    fn a_form_that_arrives_whole_while_its_first_part_is_looked_for_is_read() {
        const FORM: &[u8] =
            b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n";
        let mut polls = 0;
        let mut chunks: Chunks = Box::pin(stream::poll_fn(move |_| {
            polls += 1;
            match polls {
                1 => Poll::Pending,
                2 => Poll::Ready(Some(Ok(Bytes::from_static(FORM)))),
                _ => Poll::Ready(None),
            }
        }));
        let metered = Metered {
            chunks: &mut chunks,
            room: Arc::new(AtomicU64::new(BESIDE_THE_FILE)),
            has_given: false,
        };
        let mut form = Multipart::new(metered, "b");
        let waker = noop_waker();
        let mut context = Context::from_waker(&waker);
        assert!(form.poll_next_field(&mut context).is_pending());
        let Poll::Ready(Ok(Some(part))) = form.poll_next_field(&mut context) else {
            panic!("the part is there");
        };
        assert_eq!(part.name(), Some("a"));
    }
}
