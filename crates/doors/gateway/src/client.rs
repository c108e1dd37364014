//! The other end of the API: one who asks it, in this process or over a socket.
//!
//! Owns: bringing a request there and its answer back. Never: what is asked, or what an answer means.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{Method, Request, Response};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::ServiceExt;

use crate::frame::Detail;
use crate::settings::Secret;
use crate::state::Gateway;

/// One who asks.
#[derive(Debug, Clone)]
pub struct Client(Way);

#[derive(Debug, Clone)]
enum Way {
    Here(Router),
    There {
        address: SocketAddr,
        token: Option<Secret>,
    },
}

/// An answer, whatever its status.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    /// Why it failed, where the body says only that it did; never known of a server.
    pub detail: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nothing was asked.
    #[error("nobody answers at http://{address}")]
    Unreachable {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// It may have been done all the same.
    #[error("http://{address} hung up before it answered")]
    HungUp {
        address: SocketAddr,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Client {
    /// Asks a gateway of this process, which must have no tokens.
    pub fn here(gateway: &Gateway) -> Self {
        Self(Way::Here(gateway.router()))
    }

    /// Asks a server that listens at an address.
    pub fn there(address: SocketAddr, token: Option<Secret>) -> Self {
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let address = SocketAddr::new(ip, address.port());
        Self(Way::There { address, token })
    }

    /// Asks with GET.
    pub async fn get(&self, path: &str) -> Result<Reply, AskError> {
        self.ask(Method::GET, path, Body::empty()).await
    }

    /// Asks with POST and a JSON body.
    pub async fn post(&self, path: &str, json: Vec<u8>) -> Result<Reply, AskError> {
        self.ask(Method::POST, path, json.into()).await
    }

    async fn ask(&self, method: Method, path: &str, body: Body) -> Result<Reply, AskError> {
        let request = |host: &str| {
            Request::builder()
                .method(method)
                .uri(path)
                .header(HOST, host)
                .header(CONTENT_TYPE, "application/json")
        };
        match &self.0 {
            Way::Here(router) => {
                let request = request("localhost")
                    .body(body)
                    .expect("a path of this program's own");
                let Ok(response) = router.clone().oneshot(request).await;
                let detail = response
                    .extensions()
                    .get::<Detail>()
                    .map(|detail| detail.0.clone());
                let reply = read(response).await.expect("it is in memory");
                Ok(Reply { detail, ..reply })
            }
            Way::There { address, token } => {
                let mut request = request(&address.to_string());
                if let Some(token) = token {
                    request = request.header(AUTHORIZATION, token.bearer());
                }
                let request = request.body(body).expect("a path of this program's own");
                over_socket(*address, request).await
            }
        }
    }
}

async fn over_socket(address: SocketAddr, request: Request<Body>) -> Result<Reply, AskError> {
    let unreachable = |source| AskError::Unreachable { address, source };
    let stream = TcpStream::connect(address).await.map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    let hung_up = |source| AskError::HungUp { address, source };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| hung_up(error.into()))?;
    // The connection ends when the sender does.
    let asking = async move {
        let response = sender.send_request(request).await?;
        Ok(read(response.map(Body::new)).await?)
    };
    let (reply, _ended) = futures::join!(asking, connection);
    reply.map_err(hung_up)
}

async fn read(response: Response<Body>) -> Result<Reply, axum::Error> {
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await?;
    Ok(Reply {
        status,
        body: body.to_vec(),
        detail: None,
    })
}
