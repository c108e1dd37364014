//! The score distinguishes good answers from bad ones, over the HTTP exchange that a user's model has.

use extract::{Interview, Tail};
use model::Zone;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::endpoint::Endpoint;
use super::marked::{Marked, talks};
use super::{Score, Share, scored};

/// A fake model's answer about a talk: facts if the flag is set, else cuts.
type Answer = fn(&Marked, bool) -> String;

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
    let asks_facts = body["response_format"]["json_schema"]["name"] == "facts";
    let talk = talk_of(
        body["messages"][1]["content"].as_str().expect("a text"),
        asks_facts,
    );
    let said = answer(&talk, asks_facts);
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
    scored(&talks().expect("talks"), Some(&model), false)
        .await
        .expect("a score")
}

/// The marked talk in a prompt.
fn talk_of(prompt: &str, asks_facts: bool) -> Marked {
    let is_shown = |talk: &Marked| {
        let messages = talk.cell().expect("messages").messages;
        let zone = Zone::utc();
        let asked = if asks_facts {
            Interview::facts(&messages, &[])
        } else {
            Some(Interview::parts(&messages, &zone, Tail::Closed))
        };
        asked.is_some_and(|asked| asked.prompt().user == prompt)
    };
    talks()
        .expect("talks")
        .into_iter()
        .find(is_shown)
        .expect("one of ours")
}

/// The marked facts, or the marked cuts.
fn perfect(talk: &Marked, asks_facts: bool) -> String {
    if asks_facts {
        let facts: Vec<&String> = talk.facts.iter().map(|(text, ..)| text).collect();
        return json!({ "facts": facts }).to_string();
    }
    let count = talk.cell().expect("messages").messages.len();
    let ends = talk.cuts.clone().unwrap_or_default().into_iter().chain([count]);
    let parts: Vec<Value> = ends
        .map(|end| json!({"last": end, "title": "", "summary": ""}))
        .collect();
    json!({ "parts": parts }).to_string()
}

/// Facts that nobody stated, and facts made from words of assistants and tools and from questions.
fn hallucinating(talk: &Marked, asks_facts: bool) -> String {
    let messages = talk.cell().expect("messages").messages;
    let mut facts = vec!["Robin owns a castle in Wales with 12 towers.".to_owned()];
    facts.extend(messages.iter().map(model::Message::text));
    if asks_facts {
        return json!({ "facts": facts }).to_string();
    }
    json!({"parts": [{"last": messages.len(), "title": "Castles", "summary": "Robin bought a castle."}]})
        .to_string()
}

fn garbage(_: &Marked, _: bool) -> String {
    "I would rather talk about the weather.".to_owned()
}

async fn by_rules() -> Score {
    scored(&talks().expect("talks"), None, false)
        .await
        .expect("a score")
}

/// The number of facts that no mark allows.
fn wrong(score: &Score) -> usize {
    score.right.of - score.right.right
}

#[tokio::test]
async fn a_perfect_answer_adds_to_the_rules_and_takes_nothing_away() {
    let (rules, score) = (by_rules().await, score(perfect).await);
    assert_eq!(
        (rules.remembered.right, score.remembered.right),
        (22, 25),
        "{:#?}",
        score.failures
    );
    assert_eq!(wrong(&score), wrong(&rules), "{:#?}", score.failures);
    assert_eq!(score.kept_out, rules.kept_out);
    assert_eq!(score.cut.right, score.cut.of);
    assert!(score.adds_to(&rules));
}

/// Whatever a model answers, the rules' facts stay and nothing wrong is added.
#[tokio::test]
async fn a_hallucinating_model_adds_nothing_to_the_rules() {
    let (rules, score) = (by_rules().await, score(hallucinating).await);
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
    assert!(!score.failures.iter().any(|line| line.contains("claims: Robin")));
    assert_eq!(score.kept_out, rules.kept_out, "{:#?}", score.failures);
    assert_eq!(wrong(&score), wrong(&rules), "{:#?}", score.failures);
    assert!(score.remembered.right >= rules.remembered.right);
}

#[tokio::test]
async fn an_answer_in_prose_is_unusable_and_the_rules_facts_stay() {
    let (rules, score) = (by_rules().await, score(garbage).await);
    assert_eq!(score.usable, Share { right: 0, of: 24 });
    assert_eq!(score.remembered, rules.remembered);
    assert!(!score.adds_to(&rules));
}

#[test]
fn every_talk_has_valid_marks() {
    let talks = talks().expect("talks");
    assert_eq!(talks.len(), 24);
    assert!(talks.iter().filter(|talk| talk.language != "en").count() >= 6);
    for talk in talks {
        let count = talk.cell().expect("messages").messages.len();
        assert!(talk.cuts.iter().flatten().all(|cut| *cut < count), "{}", talk.id);
        assert!(talk.find.len() <= talk.facts.len(), "{}", talk.id);
    }
}
