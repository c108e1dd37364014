//! Connections: real sockets, clients that disconnect, and the end of the server.

use std::net::SocketAddr;
use std::time::Duration;

use gateway::{GatewaySettings, ServeError};
use model::Zone;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::gate::Plan;
use crate::house::{House, SAID, TEA, conversation, tokens};

struct Served {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    tasks: JoinSet<Result<(), ServeError>>,
}

async fn serve(house: &House) -> Served {
    let listener = house
        .gateway
        .bind(([127, 0, 0, 1], 0).into())
        .await
        .expect("bound");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let gateway = house.gateway.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let shutdown = async {
            stopped.await.expect("the test stops it");
        };
        gateway.serve(listener, shutdown).await
    });
    Served { address, stop, tasks }
}

fn request(route: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST /api/v1/memory/{route} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

async fn read_answer(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut chunk = [0; 4_096];
    loop {
        let read = stream.read(&mut chunk).await.expect("an answer");
        text.extend_from_slice(&chunk[..read]);
        let so_far = String::from_utf8_lossy(&text);
        let whole = so_far.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            length.and_then(|length| length.parse().ok()) == Some(body.len())
        });
        if read == 0 || whole {
            return so_far.into_owned();
        }
    }
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let house = House::new().await;
    let served = serve(&house).await;
    let mut stream = TcpStream::connect(served.address).await.expect("connected");
    for session in ["s", "t"] {
        stream
            .write_all(&request("add", &conversation(session, &TEA)))
            .await
            .expect("written");
        let answer = read_answer(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.contains("\"accumulated\""), "{answer}");
    }
    served.stop.send(()).expect("it runs");
    served
        .tasks
        .join_all()
        .await
        .pop()
        .expect("one")
        .expect("no error");
}

#[tokio::test]
async fn a_write_completes_after_its_client_disconnects() {
    for (call, path) in [("append", "add"), ("buffer", "add"), ("buffer", "flush")] {
        let house = House::new().await;
        let mut body = conversation("s", &TEA);
        // A pause at which the add cuts the buffer.
        body["messages"][3]["timestamp"] = json!(SAID + 86_400_000);
        if path == "flush" {
            house
                .post("/api/v1/memory/add", &conversation("s", &TEA))
                .await
                .data();
            body = json!({"session_id": "s"});
        }
        let served = serve(&house).await;
        house.gated.set(Plan::Hold(call));
        let mut stream = TcpStream::connect(served.address).await.expect("connected");
        stream.write_all(&request(path, &body)).await.expect("written");
        house.gated.reached().await;
        drop(stream);
        // When another client is served, the server has noticed that the first one is gone.
        let mut other = TcpStream::connect(served.address).await.expect("connected");
        other
            .write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .await
            .expect("written");
        read_answer(&mut other).await;
        drop(other);
        house.gated.set(Plan::Open);
        served.stop.send(()).expect("it runs");
        served
            .tasks
            .join_all()
            .await
            .pop()
            .expect("one")
            .expect("no error");
        let all = house.ledger.everything();
        assert_eq!(all.len(), TEA.len(), "{call} {path}");
        assert!(all.iter().any(|(_, cell)| cell.is_some()), "{call} {path}");
    }
}

#[tokio::test]
async fn a_stopping_server_waits_for_requests_up_to_a_limit() {
    let house = House::new().await;
    let mut served = serve(&house).await;
    // A client that sends half a request and stops.
    let mut stream = TcpStream::connect(served.address).await.expect("connected");
    stream
        .write_all(b"POST /api/v1/memory/add HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{")
        .await
        .expect("written");
    let mut other = TcpStream::connect(served.address).await.expect("connected");
    other
        .write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .expect("written");
    read_answer(&mut other).await;
    served.stop.send(()).expect("it runs");
    // The server accepts nobody new, and closes the silent connection after its time limit.
    let time_passes = async {
        loop {
            house.clock.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = served.tasks.join_next() => ended.expect("one").expect("no panic").expect("no error"),
        () = time_passes => unreachable!("it never ends"),
    }
    let mut rest = Vec::new();
    // A reset ends the connection as well as a close.
    drop(stream.read_to_end(&mut rest).await);
    assert!(
        TcpStream::connect(served.address).await.is_err(),
        "nobody listens any more"
    );
    assert!(house.ledger.everything().is_empty());
}

#[tokio::test]
async fn without_tokens_the_server_refuses_a_public_address() {
    let open = House::new().await;
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:4777"] {
        let address: SocketAddr = address.parse().expect("an address");
        let refused = open.gateway.bind(address).await.expect_err("refused");
        assert!(matches!(refused, ServeError::OpenToTheNetwork(_)));
        assert!(refused.to_string().contains("no token"), "{refused}");
    }
    // Also for a listener that another program has opened.
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.expect("bound");
    let refused = open
        .gateway
        .serve(listener, std::future::pending())
        .await
        .expect_err("refused");
    assert!(matches!(refused, ServeError::OpenToTheNetwork(_)));

    let guarded = House::with(tokens(), Zone::utc()).await;
    let listener = guarded
        .gateway
        .bind(([0, 0, 0, 0], 0).into())
        .await
        .expect("with tokens it may");
    guarded.gateway.serve(listener, async {}).await.expect("no error");
    let taken = open
        .gateway
        .bind(([127, 0, 0, 1], 0).into())
        .await
        .expect("bound");
    let again = open
        .gateway
        .bind(taken.local_addr().expect("an address"))
        .await
        .expect_err("taken");
    assert!(matches!(again, ServeError::Bind { .. }));
    assert_eq!(GatewaySettings::default().shutdown, Duration::from_secs(10));
}
