//! A connection that ends when the other side takes nothing for a while.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

pub struct Stalled<T> {
    inner: T,
    longest: Duration,
    /// Since nothing could be written.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<T> Stalled<T> {
    pub fn new(inner: T, longest: Duration) -> Stalled<T> {
        Stalled {
            inner,
            longest,
            waiting: None,
        }
    }
}

impl<T: AsyncWrite + Unpin> Stalled<T> {
    /// Fails if this is not ready for too long.
    fn bounded<R>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut T>, &mut Context<'_>) -> Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if let Poll::Ready(written) = write(Pin::new(&mut self.inner), cx) {
            self.waiting = None;
            return Poll::Ready(written);
        }
        let longest = self.longest;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(longest)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stalled<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.bounded(cx, |inner, cx| inner.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.bounded(cx, |inner, cx| inner.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.bounded(cx, |inner, cx| inner.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.bounded(cx, |inner, cx| inner.poll_shutdown(cx))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Stalled<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(cx, into)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const LONGEST: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_given_up() {
        let (ours, _theirs) = duplex(4);
        let mut stream = Stalled::new(ours, LONGEST);
        let error = stream.write_all(b"12345").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_all() {
        let (ours, mut theirs) = duplex(4);
        let mut stream = Stalled::new(ours, LONGEST);
        let read = async {
            let mut got = [0; 20];
            for piece in got.chunks_mut(4) {
                sleep(LONGEST * 9 / 10).await;
                theirs.read_exact(piece).await.unwrap();
            }
            got
        };
        let write = stream.write_all(&[7; 20]);
        let (written, got) = tokio::join!(write, read);
        written.unwrap();
        assert_eq!(got, [7; 20]);
    }
}
