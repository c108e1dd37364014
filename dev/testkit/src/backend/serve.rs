//! Connections and faults.
//!
//! Owns: the tasks that serve; the assignment of faults to requests. Never: the content of an answer.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::line::{Chunks, Line, Reset, Trickle};
use super::{Fault, Seen, Shared, call, probe};

/// Serves until the future is dropped.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        connections.spawn(connection(stream, Arc::clone(&shared)));
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    stream
        .set_nodelay(true)
        .expect("a TCP connection can do without delay");
    let trickle = Trickle::default();
    let line = Line::new(stream, shared.gate.clone(), trickle.clone());
    let service = service_fn(move |request| Box::pin(serve(Arc::clone(&shared), trickle.clone(), request)));
    let mut serving = http1::Builder::new().serve_connection(TokioIo::new(line), service);
    let ended = poll_fn(|context| serving.poll_without_shutdown(context)).await;
    let source = ended.as_ref().err().and_then(std::error::Error::source);
    if source.is_some_and(<dyn std::error::Error>::is::<Reset>) {
        serving.into_parts().io.into_inner().reset();
    }
}

/// The connection ends without an answer.
#[derive(Debug)]
struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("closed without an answer")
    }
}

impl std::error::Error for Closed {}

async fn serve(
    shared: Arc<Shared>,
    trickle: Trickle,
    request: Request<Incoming>,
) -> Result<Response<Chunks>, Closed> {
    let mut seen = seen(request).await?;
    let path = seen.path.split('?').next().unwrap_or_default().to_owned();
    let is_post = seen.method == Method::POST.as_str();
    // Read before a test can see the request: a release by that test then counts.
    let released = shared.gate.released();
    let fault = shared.lock().faults.pop_front();
    let checked = if is_post {
        call::check(&shared, &path, &mut seen)
    } else {
        Err(probe::answer(&shared, &path))
    };
    let answer = match (&fault, checked) {
        (Some(Fault::CloseBeforeHead), _) => None,
        (Some(Fault::Status { code, headers, body }), _) => {
            Some(super::answer::Answer::new(*code, headers.clone(), body.clone()))
        }
        (_, Ok(call)) => Some(call.run(&shared, &mut seen)),
        (_, Err(answer)) => Some(answer),
    };
    shared.note(seen);
    let mut answer = answer.ok_or(Closed)?;
    let mut reset_after = None;
    match fault {
        Some(Fault::Hang) => shared.gate.beyond(released).await,
        Some(Fault::SlowLoris) => trickle.begin(released),
        Some(Fault::GarbageSse) => answer.garble(),
        Some(Fault::TruncatedJson) => answer.truncate(),
        Some(Fault::ResetAfterChunks(count)) => reset_after = Some(count),
        Some(Fault::Status { .. } | Fault::CloseBeforeHead) | None => {}
    }
    let held = (answer.stream && shared.hold.load(Ordering::SeqCst)).then(|| shared.gate.beyond(released));
    Ok(answer.into_response(held, reset_after))
}

async fn seen(request: Request<Incoming>) -> Result<Seen, Closed> {
    let (head, mut body) = request.into_parts();
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Closed)?;
        bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
    }
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Ok(Seen {
        method: head.method.to_string(),
        path: head
            .uri
            .path_and_query()
            .map(ToString::to_string)
            .unwrap_or_default(),
        headers: head
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect(),
        body: bytes.into(),
        ..Seen::default()
    })
}
