//! A client of the API, in this process or over TCP.
//!
//! Owns: sending a request and receiving its answer. Never: the meaning of either.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use futures::StreamExt;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::form::Form;
use crate::frame::Detail;
use crate::guard::CARRIERS;
use crate::reply::{ApiError, ClientReply};
use crate::settings::Secret;
use crate::state::Gateway;

/// The prefix of the memory API's newest version.
const NEWEST: &str = "/api/v2";

/// A client of the API.
#[derive(Debug, Clone)]
pub struct Client(Way);

#[derive(Debug, Clone)]
enum Way {
    Here {
        router: Router,
        /// Headers with a token.
        credentials: HeaderMap,
    },
    There {
        address: SocketAddr,
        token: Option<Secret>,
    },
}

/// An answer that arrives while the caller reads it, with any status. Dropping it closes the connection.
#[derive(Debug)]
pub struct Arriving {
    pub status: u16,
    headers: HeaderMap,
    detail: Option<String>,
    body: BodyDataStream,
    /// The connection's task, which ends with the answer; empty for a client in this process.
    _connection: JoinSet<()>,
}

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The request was not sent.
    #[error("no server answers at http://{address}")]
    Unreachable {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// The connection closed; the request may have succeeded.
    #[error("http://{address} closed the connection before it answered")]
    HungUp {
        address: SocketAddr,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Only a part of the answer arrived.
    #[error("the answer ended too early")]
    BrokenOff(#[source] axum::Error),
}

impl Arriving {
    /// A header of visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The next bytes; none after the end.
    pub async fn next(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, AskError> {
        self.body.next().await.transpose().map_err(AskError::BrokenOff)
    }

    /// Reads the rest of the body.
    pub async fn rest(mut self) -> Result<ClientReply, AskError> {
        let mut body = Vec::new();
        while let Some(piece) = self.next().await? {
            body.extend_from_slice(piece.as_ref());
        }
        Ok(ClientReply {
            status: self.status,
            body,
            detail: self.detail,
        })
    }
}

impl Client {
    /// A client of a gateway in this process. A gateway with tokens refuses it until [`Client::acting_for`] gives it
    /// a token.
    pub fn here(gateway: &Gateway) -> Self {
        Self(Way::Here {
            router: gateway.router(),
            credentials: HeaderMap::new(),
        })
    }

    /// A client in this process with the token of a request: its permissions are those of the request. A client of a
    /// server keeps its own token.
    #[must_use]
    pub fn acting_for(&self, headers: &HeaderMap) -> Self {
        let Way::Here { router, .. } = &self.0 else {
            return self.clone();
        };
        let given = |name: HeaderName| Some((name.clone(), headers.get(name)?.clone()));
        Self(Way::Here {
            router: router.clone(),
            credentials: CARRIERS.into_iter().filter_map(given).collect(),
        })
    }

    /// A client of a server at an address.
    pub fn there(address: SocketAddr, token: Option<Secret>) -> Self {
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let address = SocketAddr::new(ip, address.port());
        Self(Way::There { address, token })
    }

    /// GETs data from a route below `/api/v2`.
    pub async fn get_data<T: DeserializeOwned>(&self, route: &str) -> Result<T, ApiError> {
        self.get(&format!("{NEWEST}{route}")).await?.data()
    }

    /// POSTs a JSON body to a route below `/api/v2`, and returns the data.
    pub async fn post_data<T: DeserializeOwned>(
        &self,
        route: &str,
        body: &impl Serialize,
    ) -> Result<T, ApiError> {
        let json = serde_json::to_vec(body).expect("a request of this program");
        self.post(&format!("{NEWEST}{route}"), json).await?.data()
    }

    /// DELETEs at a route below `/api/v2`; no data if nothing existed there.
    pub async fn delete_data<T: DeserializeOwned>(&self, route: &str) -> Result<Option<T>, ApiError> {
        match self.delete(&format!("{NEWEST}{route}")).await? {
            ClientReply { status: 204, .. } => Ok(None),
            reply => reply.data().map(Some),
        }
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> Result<ClientReply, AskError> {
        self.ask(Method::GET, path, Body::empty()).await
    }

    /// Sends a POST request with a JSON body.
    pub async fn post(&self, path: &str, json: Vec<u8>) -> Result<ClientReply, AskError> {
        self.ask(Method::POST, path, json.into()).await
    }

    /// Sends a DELETE request.
    pub async fn delete(&self, path: &str) -> Result<ClientReply, AskError> {
        self.ask(Method::DELETE, path, Body::empty()).await
    }

    /// Sends a POST request with a form.
    pub async fn upload(&self, path: &str, form: Form) -> Result<ClientReply, AskError> {
        let mut request = self.request(Method::POST, path, form.body.into());
        let media_type = HeaderValue::from_str(&form.media_type).expect("visible ASCII");
        request.headers_mut().insert(CONTENT_TYPE, media_type);
        self.answered(request).await
    }

    /// Forwards the body of a request as a POST request, while it arrives.
    pub async fn forward(&self, path: &str, given: Request<Body>) -> Result<ClientReply, AskError> {
        let (head, body) = given.into_parts();
        let mut request = self.request(Method::POST, path, body);
        request.headers_mut().remove(CONTENT_TYPE);
        for name in [CONTENT_TYPE, CONTENT_LENGTH] {
            request
                .headers_mut()
                .extend(head.headers.get(&name).map(|value| (name, value.clone())));
        }
        self.answered(request).await
    }

    /// Sends a POST request with a JSON body and headers of visible ASCII; returns when the head of the answer has
    /// arrived.
    pub async fn stream(
        &self,
        path: &str,
        json: Vec<u8>,
        headers: &[(&str, &str)],
    ) -> Result<Arriving, AskError> {
        let mut request = self.request(Method::POST, path, json.into());
        for (name, value) in headers {
            let name = HeaderName::try_from(*name).expect("a name of this program's own");
            let value = HeaderValue::from_str(value).expect("visible ASCII");
            request.headers_mut().insert(name, value);
        }
        self.send(request).await
    }

    async fn ask(&self, method: Method, path: &str, body: Body) -> Result<ClientReply, AskError> {
        self.answered(self.request(method, path, body)).await
    }

    async fn answered(&self, request: Request<Body>) -> Result<ClientReply, AskError> {
        self.send(request).await?.rest().await
    }

    async fn send(&self, request: Request<Body>) -> Result<Arriving, AskError> {
        let mut connections = JoinSet::new();
        let response = match &self.0 {
            Way::Here { router, .. } => {
                let Ok(response) = router.clone().oneshot(request).await;
                response
            }
            Way::There { address, .. } => {
                let (mut sender, connection) = connect(*address).await?;
                connections.spawn(async move { drop(connection.await) });
                let response = sender.send_request(request).await;
                response.map_err(|error| hung_up(*address, error))?.map(Body::new)
            }
        };
        let (head, body) = response.into_parts();
        Ok(Arriving {
            status: head.status.as_u16(),
            detail: head.extensions.get::<Detail>().map(|detail| detail.0.clone()),
            headers: head.headers,
            body: body.into_data_stream(),
            _connection: connections,
        })
    }

    fn request(&self, method: Method, path: &str, body: Body) -> Request<Body> {
        let (host, token) = match &self.0 {
            Way::Here { .. } => ("localhost".to_owned(), None),
            Way::There { address, token } => (address.to_string(), token.as_ref()),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, host)
            .header(CONTENT_TYPE, "application/json");
        if let Some(token) = token.and_then(Secret::bearer) {
            request = request.header(AUTHORIZATION, token);
        }
        let mut request = request.body(body).expect("a path of this program's own");
        if let Way::Here { credentials, .. } = &self.0 {
            request.headers_mut().extend(credentials.clone());
        }
        request
    }
}

type Connection = http1::Connection<TokioIo<TcpStream>, Body>;

async fn connect(address: SocketAddr) -> Result<(http1::SendRequest<Body>, Connection), AskError> {
    let unreachable = |source| AskError::Unreachable { address, source };
    let stream = TcpStream::connect(address).await.map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| hung_up(address, error))
}

fn hung_up(address: SocketAddr, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> AskError {
    AskError::HungUp {
        address,
        source: source.into(),
    }
}
