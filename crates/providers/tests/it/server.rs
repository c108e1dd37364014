//! A small HTTP server: one thread for each connection, answers from a closure, every request recorded.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the client sends JSON")
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// The connection breaks after this many bytes of the body.
    sent: usize,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self {
            status,
            headers: Vec::new(),
            sent: body.len(),
            body,
        }
    }

    pub(crate) fn json(body: &Value) -> Self {
        Self::new(200, body.to_string())
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn torn_after(mut self, bytes: usize) -> Self {
        self.sent = bytes.min(self.body.len());
        self
    }
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stopped: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn new(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (requests, stopped) = (
            Arc::<Mutex<Vec<Request>>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let (kept, stop): (_, Arc<AtomicBool>) = (Arc::clone(&requests), Arc::clone(&stopped));
        let handler: Arc<Handler> = Arc::new(handler);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (kept, handler) = (Arc::clone(&kept), Arc::clone(&handler));
                thread::spawn(move || serve(stream.ok()?, &kept, &*handler));
            }
        });
        Self {
            address,
            requests,
            stopped,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests
            .lock()
            .expect("no handler panics while it holds this")
            .clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it reads the flag and frees the port.
        drop(TcpStream::connect(self.address));
    }
}

/// An address without a listener.
pub(crate) fn dead_url(path: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    format!("http://{}{path}", listener.local_addr().expect("it is bound"))
}

fn serve(mut stream: TcpStream, kept: &Mutex<Vec<Request>>, handler: &Handler) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let mut request = Request {
        path,
        headers,
        body: Vec::new(),
    };
    let length = request
        .header("content-length")
        .and_then(|value| value.parse().ok())
        .unwrap_or(0);
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body).ok()?;
    kept.lock()
        .expect("no handler panics while it holds this")
        .push(request.clone());
    let reply = handler(&request);
    let mut head = format!(
        "HTTP/1.1 {} X\r\ncontent-length: {}\r\n",
        reply.status,
        reply.body.len()
    );
    for (name, value) in &reply.headers {
        head = format!("{head}{name}: {value}\r\n");
    }
    head.push_str("connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&reply.body[..reply.sent]).ok()
}
