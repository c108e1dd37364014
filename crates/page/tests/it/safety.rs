//! The rules that a browser gets for the page, and the requests of other sites that it refuses.

use serde_json::json;

use crate::house::{Ask, get};
use crate::library::form as upload;
use crate::stage::{Stage, VIEWS, form, tags};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

#[tokio::test]
async fn every_answer_has_the_policy_and_nothing_inline() {
    let stage = Stage::furnished().await;
    let own = [
        format!(
            "/page/memory/{}?who=default/default/ada",
            stage.id_of("green tea").await
        ),
        "/page/conversation?id=kitchen&who=default/default/ada".to_owned(),
        "/page/nowhere".to_owned(),
        "/page/memory/ada_ep_none".to_owned(),
    ];
    for path in VIEWS.iter().map(|path| (*path).to_owned()).chain(own) {
        let reply = stage.view(&path).await;
        assert_eq!(reply.headers["content-security-policy"], POLICY, "{path}");
        assert_eq!(reply.headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(reply.headers["cache-control"], "no-store", "{path}");
        assert!(
            reply.text.starts_with("<!doctype html>"),
            "{path}: {}",
            reply.text
        );
        for tag in tags(&reply.text) {
            assert!(!tag.contains(" style="), "{path}: {tag}");
            assert!(!tag.contains(" on"), "{path}: {tag}");
            assert!(!tag.contains("javascript:"), "{path}: {tag}");
            assert!(!tag.starts_with("style"), "{path}: {tag}");
            if tag.starts_with("script") {
                assert!(tag.contains(" src=\"/page/assets/"), "{path}: {tag}");
            }
        }
        // Script tags are empty.
        for script in reply.text.split("<script").skip(1) {
            let inner = script.split_once('>').expect("a tag").1;
            assert!(inner.starts_with("</script>"), "{path}: {inner}");
        }
    }
}

#[tokio::test]
async fn asset_names_contain_the_digest_and_browsers_cache_them() {
    let stage = Stage::new().await;
    let html = stage.html("/").await;
    let names: Vec<&str> = html
        .split('"')
        .filter(|text| text.starts_with("/page/assets/"))
        .collect();
    assert_eq!(names.len(), 4);
    let mut bytes = html.len();
    for name in names {
        let reply = stage.view(name).await;
        assert_eq!(reply.status, 200, "{name}");
        assert_eq!(
            reply.headers["cache-control"],
            "public, max-age=31536000, immutable"
        );
        bytes += reply.text.len();
    }
    assert!(bytes <= 150_000, "{bytes} bytes");
    assert_eq!(stage.view("/page/assets/page.000000000000.css").await.status, 404);
    assert!(html.contains("integrity=\"sha256-"));
    assert!(html.contains("\"allowEval\":false"));
}

#[tokio::test]
async fn hostile_memories_are_shown_as_text() {
    let stage = Stage::new().await;
    let said = [
        (
            "ada",
            "My name is <script>alert(1)</script> and I live in Lisbon\" onload=\"alert(2).",
        ),
        ("bot", "Noted <img src=x onerror=alert(3)>."),
    ];
    stage.house.remember("<b>evil</b>", &said).await;
    let conversation = json!({"user_id": "ada", "conversation_id": "<b>evil</b>\r\n\"x", "messages": [
        {"role": "user", "content": "</p><script>alert(4)</script>"},
    ]});
    stage
        .house
        .post("/api/v2/context/append", &conversation)
        .await
        .data();
    let evil = "%3Cb%3Eevil%3C%2Fb%3E%0D%0A%22x";
    let mut seen = String::new();
    for path in [
        "/",
        "/page/memories?q=%3Cscript%3E%22%20onload%3D%22x%20Lisbon",
        "/page/memories?kind=episode",
        "/page/forget?all=1",
        "/page/forget?session=%3Cb%3Eevil%3C%2Fb%3E",
        "/page/conversations",
        &format!("/page/conversation?id={evil}&who=default/default/ada"),
        &format!("/page/conversation/original?id={evil}&item=m0&who=default/default/ada"),
    ] {
        let html = stage.view(path).await.text;
        for word in ["<script>", "<b>evil", "<img src", "\" onload=\""] {
            assert!(!html.contains(word), "{path}: {word} in {html}");
        }
        seen.push_str(&html);
    }
    // The views show the hostile text with its markup escaped.
    assert!(seen.contains("&#60;script&#62;alert(1)"));
    assert!(seen.contains("&#60;script&#62;alert(4)"));
}

/// Every request that changes something, as the page's forms post it.
async fn changes(stage: &Stage) -> Vec<Ask> {
    let id = stage.id_of("green tea").await;
    let who = "who=default/default/ada";
    vec![
        form(&format!("/page/memory/{id}?{who}"), &[("text", "I like coffee.")]),
        form(&format!("/page/forget?{who}"), &[("id", &id)]),
        form(
            &format!("/page/forget?{who}"),
            &[("all", "1"), ("confirm", "ada")],
        ),
        form(
            &format!("/page/conversation/pin?{who}"),
            &[("id", "kitchen"), ("item", "m0"), ("pinned", "true")],
        ),
        form("/page/background/undo", &[("run", "r_1")]),
        form(
            "/page/skills",
            &[
                ("id", "coder_sk_1"),
                ("agent_id", "coder"),
                ("verdict", "approve"),
            ],
        ),
        upload("POST", "/page/documents", "x.md", b"# X\n\nText."),
        upload("POST", "/page/import", "x.jsonl", b"I live in Oslo."),
        form("/page/sign-in", &[("token", "secret")]),
        form("/page/sign-out", &[]),
    ]
}

#[tokio::test]
async fn another_site_changes_nothing() {
    let stage = Stage::furnished().await;
    let before = stage.files();
    for ask in changes(&stage).await {
        for (site, origin) in [
            (Some("cross-site"), Some("http://evil.example")),
            (Some("same-site"), Some("http://localhost:3000")),
            (None, Some("http://evil.example")),
            (None, Some("http://localhost:3000")),
            (None, Some("null")),
            (None, None),
            (Some("none"), None),
        ] {
            let mut ask = ask.clone().without("origin").without("sec-fetch-site");
            if let Some(site) = site {
                ask = ask.header("sec-fetch-site", site);
            }
            if let Some(origin) = origin {
                ask = ask.header("origin", origin);
            }
            let path = ask.path.clone();
            let reply = stage.ask(ask).await;
            assert_eq!(reply.status, 403, "{path} {site:?} {origin:?}: {}", reply.text);
            assert!(!reply.headers.contains_key("set-cookie"), "{path}");
        }
    }
    assert_eq!(stage.files(), before);
    // The server refuses a host name of another site, even if the name resolves to this machine.
    let rebound = get("/page/memories").header("host", "evil.example");
    assert_eq!(stage.ask(rebound).await.status, 403);
    // Older browsers send only the origin.
    let id = stage.id_of("green tea").await;
    let old = form(
        &format!("/page/memory/{id}?who=default/default/ada"),
        &[("text", "I like coffee.")],
    );
    assert_eq!(stage.ask(old.without("sec-fetch-site")).await.status, 200);
    assert_ne!(stage.files(), before);
}
