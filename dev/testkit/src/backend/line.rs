//! A connection under a test's control: bytes held until a release, bodies that break off, heads that
//! trickle.
//!
//! Owns: bytes and the time they leave. Never: their content.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;

pub(super) type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Counts releases, so that a task that begins to wait after a release does not lose it.
#[derive(Clone)]
pub(super) struct Gate(watch::Sender<usize>);

impl Default for Gate {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Gate {
    pub(super) fn release(&self) {
        self.0.send_modify(|released| *released += 1);
    }

    pub(super) fn released(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until there were more than `count` releases.
    pub(super) fn beyond(&self, count: usize) -> Wait {
        let mut released = self.0.subscribe();
        Box::pin(async move {
            let waited = released.wait_for(|released| *released > count).await;
            debug_assert!(waited.is_ok(), "the gate lives as long as its server");
        })
    }
}

/// A body that writes each chunk before it gives the next.
pub(super) struct Chunks {
    left: VecDeque<Bytes>,
    sized: bool,
    held: Option<Wait>,
    reset_after: Option<usize>,
    sent: usize,
    written: bool,
}

impl Chunks {
    /// `sized`: the length is known beforehand; `held`: waited for after the first chunk.
    pub(super) fn new(
        chunks: VecDeque<Bytes>,
        sized: bool,
        held: Option<Wait>,
        reset_after: Option<usize>,
    ) -> Self {
        Self {
            left: chunks,
            sized: sized && reset_after.is_none(),
            held,
            reset_after,
            sent: 0,
            written: false,
        }
    }
}

/// The body ends here because of a planted fault.
#[derive(Debug)]
pub(super) struct Reset;

impl fmt::Display for Reset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("planted reset")
    }
}

impl std::error::Error for Reset {}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Reset;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Reset>>> {
        if !std::mem::replace(&mut self.written, true) {
            // hyper writes its buffer only while its body is not ready.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.sent == 1
            && let Some(held) = &mut self.held
        {
            ready!(held.as_mut().poll(context));
            self.held = None;
        }
        let is_over = |after| self.sent >= after || self.left.is_empty();
        if self.reset_after.is_some_and(is_over) {
            return Poll::Ready(Some(Err(Reset)));
        }
        self.sent += 1;
        self.written = false;
        Poll::Ready(self.left.pop_front().map(|chunk| Ok(Frame::data(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        if !self.sized {
            return SizeHint::default();
        }
        SizeHint::with_exact(self.left.iter().map(|chunk| chunk.len() as u64).sum())
    }
}

/// Set while a head trickles: the count of releases that the next byte waits for.
#[derive(Clone, Default)]
pub(super) struct Trickle(Arc<Mutex<Option<usize>>>);

impl Trickle {
    pub(super) fn begin(&self, released: usize) {
        *self.lock() = Some(released);
    }

    fn lock(&self) -> MutexGuard<'_, Option<usize>> {
        self.0.lock().expect("nothing panics while it holds the lock")
    }
}

/// A TCP connection with heads that may trickle.
pub(super) struct Line {
    stream: TcpStream,
    gate: Gate,
    trickle: Trickle,
    wait: Option<Wait>,
    /// The last bytes that trickled.
    tail: [u8; 4],
}

impl Line {
    pub(super) fn new(stream: TcpStream, gate: Gate, trickle: Trickle) -> Self {
        Self {
            stream,
            gate,
            trickle,
            wait: None,
            tail: [0; 4],
        }
    }

    /// Ends the connection like a crashed process.
    pub(super) fn reset(self) {
        // If this fails, the connection closes in good order, and a test that expects a reset fails.
        let _told = self.stream.set_zero_linger();
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Line {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let line = self.get_mut();
        let mut trickle = line.trickle.lock();
        let (Some(count), false) = (*trickle, bytes.is_empty()) else {
            return Pin::new(&mut line.stream).poll_write(context, bytes);
        };
        if line.gate.released() <= count {
            let wait = line.wait.get_or_insert_with(|| line.gate.beyond(count));
            ready!(wait.as_mut().poll(context));
        }
        let written = ready!(Pin::new(&mut line.stream).poll_write(context, &bytes[..1]))?;
        line.wait = None;
        line.tail.rotate_left(1);
        line.tail[3] = bytes[0];
        *trickle = (line.tail != *b"\r\n\r\n").then_some(count + 1);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
