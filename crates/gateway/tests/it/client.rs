//! The API through the client, in this process and over TCP: the same answers.

use std::net::SocketAddr;

use gateway::{AskError, Client, GatewaySettings, Secret, ServeError};
use model::Zone;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::gate::Plan;
use crate::house::{House, TEA, conversation, tokens};

struct Served {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    tasks: JoinSet<Result<(), ServeError>>,
}

async fn serve(house: &House, address: &str) -> Served {
    let listener = house
        .gateway
        .bind(address.parse().expect("an address"))
        .await
        .expect("bound");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let gateway = house.gateway.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { gateway.serve(listener, async { drop(stopped.await) }).await });
    Served { address, stop, tasks }
}

async fn end(mut served: Served) {
    served.stop.send(()).expect("it runs");
    let ended = served.tasks.join_next().await.expect("one");
    ended.expect("no panic").expect("no error");
}

async fn answer(client: &Client, path: &str, body: Option<&Value>) -> (u16, Value) {
    let reply = match body {
        Some(body) => client.post(path, body.to_string().into_bytes()).await,
        None => client.get(path).await,
    };
    let reply = reply.expect("it answers");
    let mut body: Value = serde_json::from_slice(&reply.body).expect("JSON");
    // The request id differs between requests.
    body["request_id"] = Value::Null;
    (reply.status, body)
}

#[tokio::test]
async fn a_client_gets_the_same_answers_in_process_and_over_tcp() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let served = serve(&house, "127.0.0.1:0").await;
    let clients = [Client::here(&house.gateway), Client::there(served.address, None)];
    let search = json!({"user_id": "ada", "query": "sencha", "include_messages": 9, "explain": true});
    let wrong = json!({"user_id": "a/b", "query": "x"});
    for (path, body, status) in [
        ("/api/v2/memory/search", Some(&search), 200),
        ("/api/v2/memory/search", Some(&wrong), 422),
        ("/api/v2/memories/ada_ep_none", None, 404),
        ("/api/v2/tasks?page_size=3", None, 200),
        ("/health", None, 200),
        ("/nowhere", None, 404),
    ] {
        let [near, far] = [
            answer(&clients[0], path, body).await,
            answer(&clients[1], path, body).await,
        ];
        assert_eq!(near, far, "{path}");
        assert_eq!(near.0, status, "{path}");
    }
    // A large request and a large answer.
    let text = "tea ".repeat(1 << 20);
    let large = conversation("large", &[("ada", &text)]);
    let (status, _) = answer(&clients[1], "/api/v2/memory/add", Some(&large)).await;
    assert_eq!(status, 200);
    let search = json!({"user_id": "ada", "query": "tea", "filters": {"session_id": "large"}});
    let (_, found) = answer(&clients[1], "/api/v2/memory/search", Some(&search)).await;
    assert_eq!(found["data"]["unprocessed_messages"][0]["content"], text);
    end(served).await;
}

#[tokio::test]
async fn a_stream_returns_the_same_answer_in_pieces() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let served = serve(&house, "127.0.0.1:0").await;
    let search = json!({"user_id": "ada", "query": "sencha"})
        .to_string()
        .into_bytes();
    for client in [Client::here(&house.gateway), Client::there(served.address, None)] {
        let headers = [("x-request-id", "mine")];
        let asked = client
            .stream("/api/v2/memory/search", search.clone(), &headers)
            .await;
        let mut arriving = asked.expect("it answers");
        assert_eq!(arriving.status, 200);
        assert_eq!(arriving.header("x-request-id"), Some("mine"));
        let mut body = Vec::new();
        while let Some(piece) = arriving.next().await.expect("it is whole") {
            body.extend_from_slice(piece.as_ref());
        }
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["request_id"], "mine");
        assert!(body["data"]["unprocessed_messages"].is_array());
    }
    end(served).await;
}

/// Accepts a connection, and reads its request to the end of the body.
async fn accepted(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().await.expect("a connection");
    let mut request = Vec::new();
    while !request.ends_with(b"{}") {
        stream.read_buf(&mut request).await.expect("a request");
    }
    stream
}

#[tokio::test]
async fn pieces_arrive_one_by_one_and_dropping_the_answer_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let client = Client::there(listener.local_addr().expect("an address"), None);
    let writing = async {
        let mut stream = accepted(&listener).await;
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head).await.expect("written");
        stream
    };
    let (mut stream, asked) = futures::join!(writing, client.stream("/x", b"{}".to_vec(), &[]));
    let mut arriving = asked.expect("its head is there");
    for piece in ["one", "two", "six"] {
        let chunk = format!("3\r\n{piece}\r\n");
        stream.write_all(chunk.as_bytes()).await.expect("written");
        let arrived = arriving.next().await.expect("not broken").expect("more");
        assert_eq!(arrived.as_ref(), piece.as_bytes());
    }
    drop(arriving);
    // The end or a reset: the client has closed the connection.
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn an_incomplete_answer_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let client = Client::there(listener.local_addr().expect("an address"), None);
    let writing = async {
        let mut stream = accepted(&listener).await;
        let half = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n";
        stream.write_all(half).await.expect("written");
    };
    let ((), asked) = futures::join!(writing, client.stream("/x", b"{}".to_vec(), &[]));
    let mut arriving = asked.expect("its head is there");
    assert!(arriving.next().await.expect("a piece").is_some());
    let Err(error) = arriving.next().await else {
        panic!("it is not whole")
    };
    assert!(matches!(error, AskError::BrokenOff(_)), "{error}");
}

#[tokio::test]
async fn only_a_client_in_this_process_gets_the_cause_of_a_failure() {
    let house = House::new().await;
    let served = serve(&house, "127.0.0.1:0").await;
    house.gated.set(Plan::Fail("append", "disk full"));
    let add = conversation("s", &TEA).to_string().into_bytes();
    let near = Client::here(&house.gateway)
        .post("/api/v1/memory/add", add.clone())
        .await
        .expect("it answers");
    assert_eq!(near.status, 500);
    assert!(near.detail.expect("its cause").contains("disk full"));
    let far = Client::there(served.address, None)
        .post("/api/v1/memory/add", add)
        .await
        .expect("it answers");
    assert_eq!((far.status, far.detail), (500, None));
    assert!(!String::from_utf8_lossy(&far.body).contains("disk full"));
    end(served).await;
}

#[tokio::test]
async fn a_server_on_all_addresses_needs_a_token() {
    let house = House::with(tokens(), Zone::utc()).await;
    for address in ["0.0.0.0:0", "[::]:0"] {
        let served = serve(&house, address).await;
        for (token, status) in [(None, 401), (Some("wrong"), 401), (Some("root"), 200)] {
            let client = Client::there(served.address, token.map(Secret::new));
            assert_eq!(
                client.get("/health").await.expect("it answers").status,
                status,
                "{address}"
            );
        }
        end(served).await;
    }
    assert!(GatewaySettings::default().auth.tokens.is_empty());
}

#[tokio::test]
async fn a_missing_server_and_a_closed_connection_are_different_errors() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let address = listener.local_addr().expect("an address");
    let client = Client::there(address, None);
    let hangs_up = async {
        let (mut stream, _) = listener.accept().await.expect("somebody");
        let mut some = [0; 8];
        stream.read_exact(&mut some).await.expect("a request");
    };
    let (asked, ()) = futures::join!(client.get("/health"), hangs_up);
    let error = asked.expect_err("no answer");
    assert!(matches!(error, AskError::HungUp { .. }), "{error:?}");
    drop(listener);
    let error = client.get("/health").await.expect_err("nobody is there");
    assert!(matches!(error, AskError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains(&address.to_string()));
}
