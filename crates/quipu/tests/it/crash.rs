//! The process dies at any moment; after a restart every acknowledged message is there.

use serde_json::json;

use crate::harness::Root;

#[test]
fn acknowledged_messages_survive_kill_nine() {
    let root = Root::new();
    let mut acknowledged = Vec::new();
    for round in 0..4 {
        let server = root.serve();
        for at in 0..10 + round * 7 {
            let text = format!("round {round} message {at} speaks of quokka{round}x{at}");
            let (status, answer) = server.post(
                "/api/v2/memory/add",
                &json!({"session_id": format!("s{}", at % 3), "messages": [{
                    "sender_id": "ana", "role": "user",
                    "timestamp": 1_700_000_000_000_i64 + round * 86_400_000 + at * 1_200_000, "content": text,
                }]}),
            );
            assert_eq!(status, 200, "{answer}");
            acknowledged.push(format!("quokka{round}x{at}"));
        }
        server.kill();
    }
    let server = root.serve();
    for word in &acknowledged {
        let (status, answer) = server.post(
            "/api/v2/memory/search",
            &json!({"user_id": "ana", "query": word, "method": "keyword", "include_messages": 5}),
        );
        assert_eq!(status, 200, "{answer}");
        let messages = answer["data"]["messages"].as_array().unwrap();
        let exact = messages
            .iter()
            .filter(|m| m["content"].as_str().unwrap().ends_with(word.as_str()))
            .count();
        assert_eq!(exact, 1, "{word}: {answer}");
    }
    let (status, health) = server.get("/health");
    assert_eq!((status, &health["status"]), (200, &json!("ok")), "{health}");
    server.kill();

    // No message was written twice.
    root.json(&["sync"]);
    for word in &acknowledged {
        let files = root.markdown();
        let verbatim = format!("speaks of {word}\n");
        let episodes = files
            .iter()
            .filter(|(path, _)| path.to_string_lossy().contains("episodes"));
        let times: usize = episodes.map(|(_, text)| text.matches(&verbatim).count()).sum();
        assert!(
            times <= 2,
            "{word} stands {times} times: once in the transcript, at most once in the digest"
        );
    }
}
