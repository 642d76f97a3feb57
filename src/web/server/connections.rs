//! The server: connections, and how long each may take.
//!
//! It listens on 127.0.0.1 alone, where every user of this computer can connect. Places are kept
//! for browsers that have signed in, whatever the others do: that is why it has its own loop of
//! connections.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::sync::{oneshot, watch};
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::{sleep, timeout};

use super::guard::Guard;
use super::limits::Limits;
use super::redirect::RedirectPlace;
use super::running::Contact;

/// How long to wait before trying again when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// A bound port, which nothing answers yet.
pub struct Server {
    listener: TcpListener,
    guard: Arc<Guard>,
}

impl Server {
    /// Binds this port, or any free one.
    pub fn bind(port: Option<u16>, limits: Limits) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        listener.set_nonblocking(true)?;
        let guard = Guard::new(listener.local_addr()?.port(), limits)?;
        Ok(Server {
            listener,
            guard: Arc::new(guard),
        })
    }

    pub fn port(&self) -> u16 {
        self.guard.port
    }

    /// What comes before the path of every page: `/PREFIX/`.
    pub fn base(&self) -> &str {
        &self.guard.base
    }

    /// What another start of the program needs to know to find this one.
    pub fn contact(&self) -> Contact {
        Contact::new(self.guard.port, &self.guard.base, &self.guard.key)
    }

    /// A link to be printed, which works once.
    pub fn link(&self) -> io::Result<String> {
        self.guard.link()
    }

    /// Writes a file that leads a browser to the page, once.
    pub fn redirect(&self) -> io::Result<PathBuf> {
        self.guard.write_redirect()
    }

    pub(super) fn write_redirects_in(&self, place: RedirectPlace) {
        self.guard.write_redirects_in(place);
    }

    /// Answers requests on a thread of its own, so that no other work slows a page down.
    pub fn start(self, pages: Router) -> io::Result<Running> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serve = move || {
            let end_time = self.guard.limits.end_time;
            let stop = async {
                let _ = stopped.await;
            };
            // Once bound, it does not fail: a broken connection affects only itself.
            let _ = runtime.block_on(self.run(pages, stop));
            runtime.shutdown_timeout(end_time);
        };
        let thread = std::thread::Builder::new()
            .name("web".to_owned())
            .spawn(serve)?;
        Ok(Running(Some((stop, thread))))
    }

    /// Answers requests until `stop` is ready. Then what is being answered is finished, as far
    /// as that takes no longer than a moment.
    pub async fn run(self, pages: Router, stop: impl Future<Output = ()>) -> io::Result<()> {
        let Server { listener, guard } = self;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (stopping, is_stopping) = watch::channel(());
        let mut connections = Connections::default();
        let mut stop = pin!(stop);
        let accept = async {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    sleep(PAUSE).await;
                    continue;
                };
                connections.make_room(guard.limits.connections).await;
                connections.add(|is_signed_in| {
                    let (guard, pages) = (Arc::clone(&guard), pages.clone());
                    connection(stream, guard, pages, is_signed_in, is_stopping.clone())
                });
                // What it asks is read before others can take its place.
                yield_now().await;
            }
        };
        tokio::select! {
            () = &mut stop => {}
            () = accept => {}
            () = remove_redirects(&guard) => {}
        }
        drop(listener);
        drop(stopping);
        let all = async { while connections.tasks.join_next().await.is_some() {} };
        let _ = timeout(guard.limits.end_time, all).await;
        guard.drop_redirect(Duration::ZERO);
        Ok(())
    }
}

/// The connections that are open.
#[derive(Default)]
struct Connections {
    tasks: JoinSet<()>,
    /// The oldest first, each with whether its browser has signed in.
    open: Vec<(AbortHandle, Arc<AtomicBool>)>,
}

impl Connections {
    /// Makes sure that one more is not too many. The oldest that has not signed in is closed,
    /// whatever it is doing: another user of this computer may have opened it.
    async fn make_room(&mut self, most: usize) {
        loop {
            while self.tasks.try_join_next().is_some() {}
            self.open.retain(|(task, _)| !task.is_finished());
            if self.open.len() < most {
                return;
            }
            let is_stranger =
                |(_, is_signed_in): &(_, Arc<AtomicBool>)| !is_signed_in.load(Ordering::Relaxed);
            if let Some(oldest) = self.open.iter().position(is_stranger) {
                self.open.remove(oldest).0.abort();
                return;
            }
            self.tasks.join_next().await;
        }
    }

    fn add<F>(&mut self, serve: impl FnOnce(Arc<AtomicBool>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let is_signed_in = Arc::new(AtomicBool::new(false));
        let task = self.tasks.spawn(serve(Arc::clone(&is_signed_in)));
        self.open.push((task, is_signed_in));
    }
}

/// Answers the requests of one connection.
async fn connection(
    stream: TcpStream,
    guard: Arc<Guard>,
    pages: Router,
    is_signed_in: Arc<AtomicBool>,
    mut is_stopping: watch::Receiver<()>,
) {
    // If this fails, answers are only slower.
    let _ = stream.set_nodelay(true);
    let limits = guard.limits;
    let service = service_fn(move |request| {
        let (guard, pages) = (Arc::clone(&guard), pages.clone());
        let is_signed_in = Arc::clone(&is_signed_in);
        async move { Ok::<_, Infallible>(guard.answer(request, pages, &is_signed_in).await) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            // This also ends connections on which nothing more is asked.
            .header_read_timeout(limits.head_time)
            .max_header_size(limits.head_bytes)
            .serve_connection(TokioIo::new(stream), service)
    );
    tokio::select! {
        _ = &mut connection => return,
        _ = is_stopping.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Removes each file that leads a browser here, if no browser has followed it in time.
async fn remove_redirects(guard: &Guard) {
    loop {
        guard.has_redirect.notified().await;
        // One that is written while this waits is removed in a further round.
        sleep(guard.limits.redirect_time).await;
        guard.drop_redirect(guard.limits.redirect_time);
    }
}

/// A server on its thread. Dropping it ends both.
pub struct Running(Option<(oneshot::Sender<()>, JoinHandle<()>)>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // If the thread has panicked there is nothing left to stop.
            let _ = thread.join();
        }
    }
}
