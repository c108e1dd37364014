//! The API asked from the other end, in this process and over a socket: the same answers.

use std::net::SocketAddr;

use gateway::{AskError, Client, Secret, ServeError, Settings};
use model::Zone;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
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
    // What differs from request to request.
    body["request_id"] = Value::Null;
    (reply.status, body)
}

#[tokio::test]
async fn near_and_far_answer_alike() {
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
async fn a_failure_tells_its_cause_in_this_process_only() {
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
async fn a_token_opens_a_server_that_listens_everywhere() {
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
    assert!(Settings::default().auth.tokens.is_empty());
}

#[tokio::test]
async fn nobody_there_and_somebody_who_hangs_up_are_told_apart() {
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
