//! That the score tells good answers from bad ones, through the same HTTP exchange that a user's model has.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::endpoint::Endpoint;
use super::marked::{Marked, talks};
use super::{Score, Share, scored};

/// What a fake model says to a request's messages.
type Answer = fn(&str) -> String;

/// A model server on a loopback port.
async fn serve(answer: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            exchange(stream, answer).await;
        }
    });
    url
}

async fn exchange(mut stream: TcpStream, answer: Answer) {
    let mut request = Vec::new();
    let body = loop {
        let mut buffer = [0; 8_192];
        let read = stream.read(&mut buffer).await.expect("it reads");
        request.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break serde_json::from_str::<Value>(body).expect("JSON");
        }
    };
    assert_eq!(body["response_format"]["type"], "json_schema");
    let said = answer(body["messages"][1]["content"].as_str().expect("a text"));
    let reply = json!({"choices": [{"message": {"role": "assistant", "content": said}}]}).to_string();
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{reply}",
        reply.len()
    );
    stream.write_all(reply.as_bytes()).await.expect("it writes");
}

async fn score(answer: Answer) -> Score {
    let url = serve(answer).await;
    let model = Endpoint::new(&url, "fake", None).expect("a client");
    scored(&talks().expect("talks"), Some(&model))
        .await
        .expect("a score")
}

/// The talk that a prompt shows, and the number of its messages.
fn shown(prompt: &str) -> (Marked, usize) {
    let is_shown = |talk: &Marked| {
        let first = talk.cell().expect("messages").messages.remove(0).text();
        prompt.contains(&first)
    };
    let talk = talks()
        .expect("talks")
        .into_iter()
        .find(is_shown)
        .expect("one of ours");
    let count = talk.cell().expect("messages").messages.len();
    (talk, count)
}

/// The marked answer, cut where the talk says.
fn perfect(prompt: &str) -> String {
    let (talk, count) = shown(prompt);
    let cuts = talk.cuts.clone().unwrap_or_default();
    let ends: Vec<usize> = cuts.into_iter().chain([count]).collect();
    let part = |(at, end): (usize, &usize)| {
        let from = at.checked_sub(1).map_or(0, |before| ends[before]);
        let is_here = |cited: &[usize]| cited.iter().all(|place| (from + 1..=*end).contains(place));
        let facts = talk.facts.iter().filter(|(_, cited, _)| is_here(cited));
        let facts: Vec<Value> = facts
            .map(|(text, cited, date)| json!({"text": text, "messages": cited, "date": date}))
            .collect();
        json!({"last": end, "title": "", "summary": "", "facts": facts})
    };
    json!({"parts": ends.iter().enumerate().map(part).collect::<Vec<_>>()}).to_string()
}

/// Nothing that anybody said, and the words of assistants, tools and questions as if they were facts.
fn hallucinating(prompt: &str) -> String {
    let (talk, count) = shown(prompt);
    let messages = talk.cell().expect("messages").messages;
    let mut facts =
        vec![json!({"text": "Robin owns a castle in Wales with 12 towers.", "messages": [1], "date": ""})];
    for (number, message) in (1..).zip(&messages) {
        let text = message.text();
        facts.push(json!({"text": text, "messages": [number], "date": "1999-01-01"}));
    }
    json!({"parts": [{"last": count, "title": "Castles", "summary": "Robin bought a castle.", "facts": facts}]}).to_string()
}

fn garbage(_: &str) -> String {
    "I would rather talk about the weather.".to_owned()
}

fn is_full(share: Share) -> bool {
    share.right == share.of && share.of > 0
}

/// What memory leaves standing beside a perfect answer, because no words of the newer fact prove that it is over.
const UNPROVED: [&str; 4] = [
    "new-job (en)",
    "    still stands: works at harlow|work at harlow|is a dispatcher",
    "fish-again (en)",
    "    still stands: is vegetarian|been vegetarian",
];

#[tokio::test]
async fn a_perfect_answer_has_a_full_score_but_for_what_no_words_prove() {
    let score = score(perfect).await;
    assert_eq!(score.failures, UNPROVED);
    let rows = score.rows();
    let short: Vec<_> = rows.iter().filter(|(_, share)| !is_full(*share)).collect();
    let [(what, share)] = short[..] else {
        panic!("{rows:?}")
    };
    assert_eq!(
        (*what, share.right, share.of),
        ("what was overtaken, and no longer stands", 1, 3)
    );
}

#[tokio::test]
async fn a_hallucinating_model_is_told_so() {
    let score = score(hallucinating).await;
    assert!(
        score.dropped.values().sum::<usize>() >= 100,
        "{:?}",
        score.dropped
    );
    assert!(
        score
            .failures
            .iter()
            .any(|line| line.contains("left out: Robin owns a castle"))
    );
    assert!(
        score.failures.iter().any(|line| line.contains("claims: ")),
        "what is said in play passes the checks"
    );
    assert!(!score.failures.iter().any(|line| line.contains("claims: Robin")));
    assert!(!is_full(score.right), "{:?}", score.right);
    assert!(!is_full(score.kept_out), "{:?}", score.kept_out);
    assert!(!is_full(score.remembered), "{:?}", score.remembered);
}

#[tokio::test]
async fn a_model_that_talks_is_counted() {
    let score = score(garbage).await;
    assert_eq!(score.usable, Share { right: 0, of: 24 });
    assert_eq!(score.remembered.right, 0);
}

#[test]
fn the_talks_are_marked_as_they_should_be() {
    let talks = talks().expect("talks");
    assert_eq!(talks.len(), 24);
    assert!(talks.iter().filter(|talk| talk.language != "en").count() >= 6);
    for talk in talks {
        let count = talk.cell().expect("messages").messages.len();
        assert!(talk.cuts.iter().flatten().all(|cut| *cut < count), "{}", talk.id);
        assert!(talk.find.len() <= talk.facts.len(), "{}", talk.id);
    }
}
