//! How a start of the program finds a page that is open already.
//!
//! Each page has a folder in the user's state folder, by what it is for (service, profile,
//! ledger). A file there says on which port the page is and has a key, which only this user can
//! read. A later start asks there for a link of its own. Both sides prove that they know the key
//! and neither sends it. So nothing is given to a program that has taken the port of a page whose
//! process was killed, and no link of such a program is followed: its answer counts as none.

use std::fs::{self, File, TryLockError};
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::Request;
use axum::http::header::{CONTENT_TYPE, HOST};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use ring::hmac;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::connections::Server;
use super::redirect::{self, RedirectPlace};
use super::secret::Secret;
use crate::private_file;
use crate::text::hex;

/// Behind the prefix: where a later start asks for a link.
pub const ASK: &str = "again";

/// For the whole exchange.
const PATIENCE: Duration = Duration::from_secs(3);

/// The files of a page's folder.
const CONTACT: &str = "running.json";
const PORT: &str = "port";
const REDIRECT: &str = "redirect";
const IN_USE: &str = "in-use";

pub(super) const MAX_MESSAGE: usize = 16 << 10;

/// Where a page is, for later starts of the same user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    port: u16,
    /// `/PREFIX/`.
    base: String,
    process: u32,
    key: String,
}

impl Contact {
    pub(super) fn new(port: u16, base: &str, key: &Secret) -> Contact {
        Contact {
            port,
            base: base.to_owned(),
            process: std::process::id(),
            key: key.as_str().to_owned(),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Ask {
    nonce: String,
    /// Whether a browser is to be opened.
    opens: bool,
    proof: String,
}

/// What a later start gets to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningPage {
    /// To be printed.
    pub link: String,
    /// Leads a browser to the page.
    pub redirect: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    /// A [`RunningPage`].
    text: String,
    proof: String,
}

/// What is proved by either side. The first word keeps one side from using the other's proof.
enum Claim<'a> {
    Ask { nonce: &'a str, opens: bool },
    Answer { nonce: &'a str, text: &'a str },
}

impl Claim<'_> {
    fn text(&self) -> String {
        match self {
            Claim::Ask { nonce, opens } => format!("ask {nonce} {opens}"),
            Claim::Answer { nonce, text } => format!("answer {nonce} {text}"),
        }
    }

    fn prove(&self, key: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
        hex(hmac::sign(&key, self.text().as_bytes()).as_ref())
    }

    fn is_proved(&self, key: &str, proof: &str) -> bool {
        use subtle::ConstantTimeEq;
        self.prove(key).as_bytes().ct_eq(proof.as_bytes()).into()
    }
}

/// Answers a later start; `None` if it does not know the key.
pub(super) fn answer(
    key: &Secret,
    body: &[u8],
    found: impl FnOnce(bool) -> io::Result<RunningPage>,
) -> Option<Vec<u8>> {
    let Ask {
        nonce,
        opens,
        proof,
    } = serde_json::from_slice(body).ok()?;
    let claim = Claim::Ask {
        nonce: &nonce,
        opens,
    };
    if !claim.is_proved(key.as_str(), &proof) {
        return None;
    }
    let text = serde_json::to_string(&found(opens).ok()?).ok()?;
    let claim = Claim::Answer {
        nonce: &nonce,
        text: &text,
    };
    let proof = claim.prove(key.as_str());
    serde_json::to_vec(&Answer { text, proof }).ok()
}

/// Asks a running page for a link; `None` if that page is not there any more.
async fn ask(contact: &Contact, opens: bool) -> Option<RunningPage> {
    let nonce = Secret::new().ok()?;
    let nonce = nonce.as_str();
    let claim = Claim::Ask { nonce, opens };
    let ask = Ask {
        proof: claim.prove(&contact.key),
        nonce: nonce.to_owned(),
        opens,
    };
    let body = serde_json::to_vec(&ask).ok()?;
    let answer = timeout(PATIENCE, post(contact, body)).await.ok()??;
    let Answer { text, proof } = serde_json::from_slice(&answer).ok()?;
    let claim = Claim::Answer { nonce, text: &text };
    let is_ours = claim.is_proved(&contact.key, &proof);
    is_ours.then(|| serde_json::from_str(&text).ok())?
}

async fn post(contact: &Contact, body: Vec<u8>) -> Option<Bytes> {
    let port = contact.port;
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let request = Request::post(format!("{}{ASK}", contact.base))
        .header(HOST, format!("127.0.0.1:{port}"))
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .ok()?;
    let exchange = async move {
        let answer = sender.send_request(request).await.ok()?;
        let body = Limited::new(answer.into_body(), MAX_MESSAGE);
        Some(body.collect().await.ok()?.to_bytes())
    };
    // The connection ends once the answer is read, since nothing can be sent any more.
    futures::join!(exchange, connection).0
}

/// The folder of a page, while the program starts: of several starts at the same time each waits
/// for the one before it, so that two of them don't both find no page.
pub struct PageFolder {
    folder: PathBuf,
    _starting: File,
}

impl PageFolder {
    pub fn open(folder: PathBuf) -> io::Result<PageFolder> {
        private_file::own_folder(&folder)?;
        let starting = private_file::options().open(folder.join("starting"))?;
        // Some network file systems have no locks. Then two starts at the same time open two pages.
        let _ = starting.lock();
        Ok(PageFolder {
            folder,
            _starting: starting,
        })
    }

    /// The page that is open already. Removes what one that was killed has left.
    pub async fn running(&self, opens: bool) -> Option<RunningPage> {
        let contact = fs::read(self.folder.join(CONTACT)).ok();
        let contact = contact.and_then(|contact| serde_json::from_slice(&contact).ok());
        if let Some(contact) = &contact
            && let Some(found) = ask(contact, opens).await
        {
            return Some(found);
        }
        redirect::remove_noted(&self.note_of_redirect());
        None
    }

    /// The port of last time.
    pub fn last_port(&self) -> Option<u16> {
        fs::read_to_string(self.folder.join(PORT))
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// Lets later starts find this server, and browsers by files in the user's home folder.
    /// Returns what is to be kept as long as it runs. The error is [`io::ErrorKind::ResourceBusy`]
    /// if another process has the page: one that has been halted, for example, and did not answer.
    pub fn publish(&self, server: &Server, home: Option<PathBuf>) -> io::Result<Published> {
        let in_use = private_file::options().open(self.folder.join(IN_USE))?;
        // Two processes would write over each other's lists. Without locks, as above, the answer
        // of the other one has to do.
        if let Err(TryLockError::WouldBlock) = in_use.try_lock() {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        if let Some(home) = home {
            let note = self.note_of_redirect();
            server.write_redirects_in(RedirectPlace { home, note });
        }
        Published::write(&self.folder, server.contact(), in_use)
    }

    fn note_of_redirect(&self) -> PathBuf {
        self.folder.join(REDIRECT)
    }
}

/// The file by which later starts find this process. It is removed when this is dropped.
#[derive(Debug)]
pub struct Published {
    file: PathBuf,
    contact: Contact,
    _in_use: File,
}

impl Published {
    fn write(folder: &Path, contact: Contact, in_use: File) -> io::Result<Published> {
        let port = format!("{}\n", contact.port);
        private_file::replace(&folder.join(PORT), port.as_bytes(), None)?;
        let file = folder.join(CONTACT);
        private_file::replace(&file, &serde_json::to_vec(&contact)?, None)?;
        Ok(Published {
            file,
            contact,
            _in_use: in_use,
        })
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        // Without locks another process may have replaced it, which took this one for ended.
        let there = fs::read(&self.file).ok();
        let there = there.and_then(|there| serde_json::from_slice::<Contact>(&there).ok());
        if there.as_ref() == Some(&self.contact) {
            let _ = fs::remove_file(&self.file);
        }
    }
}
