//! The extras of each backend, its locality, and learning from a refusal.

use std::fmt::Write as _;

use expect_test::expect;
use prefix::backend::{CacheModel, Extra, Kind, Locality, Mark, RefusedExtras, Session, decide, locality};
use proptest::prelude::*;

fn names(extras: &[Extra]) -> Vec<String> {
    extras.iter().map(|extra| extra.name().to_owned()).collect()
}

const SESSION: Session<'static> = Session {
    tenant: "acme",
    conversation: Some("session-A"),
    slot: None,
    header: None,
    retention: None,
};

// O-8, O-9, O-10. Planted: an official host with the extras of a slot.
#[test]
fn a_local_address_gets_a_session_and_an_official_host_does_not() {
    let local = decide(None, None, "http://192.168.1.50:1234/v1/chat/completions").profile();
    let field = |name, json: &str| Extra::Field {
        name,
        json: json.to_owned(),
    };
    let none = RefusedExtras::default();
    for session in ["session-A", "session-A", "session-B"] {
        let extras = local.extras(
            Session {
                conversation: Some(session),
                ..SESSION
            },
            &none,
        );
        assert_eq!(
            extras,
            [
                field("session_id", &format!("\"{session}\"")),
                field("cache_prompt", "true")
            ]
        );
    }
    let official = decide(None, None, "https://api.openai.com/v1").profile();
    assert_eq!(names(&official.extras(SESSION, &none)), ["prompt_cache_key"]);
    for kind in Kind::ALL {
        let session = Session {
            conversation: None,
            ..SESSION
        };
        assert!(kind.profile().extras(session, &none).is_empty());
    }
}

// X-11.
#[test]
fn the_matrix_of_extras() {
    let mut table = String::new();
    for kind in Kind::ALL {
        let profile = kind.profile();
        let extras = names(&profile.extras(
            Session {
                slot: Some(1),
                ..SESSION
            },
            &RefusedExtras::default(),
        ));
        writeln!(
            table,
            "{} {} {}",
            kind.as_str(),
            if profile.local { "local" } else { "hosted" },
            extras.join(" ")
        )
        .unwrap();
        assert_eq!(Kind::parse(kind.as_str()), Some(kind));
    }
    expect![[r"
        llama.cpp local session_id cache_prompt id_slot
        lmstudio local session_id cache_prompt
        ollama local 
        vllm local cache_salt
        sglang local 
        openai hosted prompt_cache_key
        anthropic hosted cache_control
        gemini hosted 
        deepseek hosted 
        mistral hosted prompt_cache_key
        xai hosted x-grok-conv-id
        fireworks hosted x-session-affinity
        openrouter hosted x-session-id
        cerebras hosted 
        local local session_id cache_prompt
        hosted hosted 
    "]]
    .assert_eq(&table);
}

#[test]
fn keys_are_stable_and_no_two_tenants_share_one() {
    let key = |tenant, conversation| {
        let session = Session {
            tenant,
            conversation: Some(conversation),
            ..SESSION
        };
        Kind::OpenAi.profile().extras(session, &RefusedExtras::default())
    };
    assert_eq!(key("acme", "a"), key("acme", "a"));
    assert_ne!(key("acme", "a"), key("globex", "a"));
    assert_ne!(key("acme", "a"), key("acme", "b"));
}

#[test]
fn the_locality_of_hosts() {
    use Locality::{Hosted, Local, Probe};
    let cases = [
        ("http://localhost:8080/v1", Local),
        ("http://user:secret@127.0.0.1:1/", Local),
        ("0.0.0.0:11434", Local),
        ("http://[::1]:8080", Local),
        ("http://[fd12::1]/v1", Local),
        ("http://[fe80::1%25eth0]:1", Local),
        ("http://[::ffff:192.168.0.9]", Local),
        ("http://10.0.0.5", Local),
        ("http://172.31.1.1", Local),
        ("http://172.32.1.1", Hosted),
        ("http://100.64.0.1", Local),
        ("http://100.128.0.1", Hosted),
        ("http://host.docker.internal:1234", Local),
        ("http://10.example.com/v1", Hosted),
        ("http://192.168.1.1.nip.io", Hosted),
        ("https://localhost.example.com", Hosted),
        ("http://nas.local:1234", Probe),
        ("http://ollama:11434", Probe),
        ("http://box.lan", Probe),
        ("http://127.0.0.1@example.com/", Hosted),
        ("http://example.com\\@127.0.0.1/", Hosted),
        ("https://[2001:db8::1]", Hosted),
        ("", Hosted),
    ];
    for (url, expected) in cases {
        assert_eq!(locality(url), expected, "{url}");
    }
}

#[test]
fn a_kind_is_configured_else_probed_else_known_else_by_address() {
    let url = "http://ollama:11434";
    assert_eq!(decide(Some(Kind::Vllm), Some(Kind::Ollama), url), Kind::Vllm);
    assert_eq!(decide(None, Some(Kind::Ollama), url), Kind::Ollama);
    assert_eq!(decide(None, None, url), Kind::UnknownHosted);
    assert_eq!(decide(None, None, "https://eu.api.mistral.ai/v1"), Kind::Mistral);
    assert_eq!(
        decide(None, None, "https://notmistral.ai/v1"),
        Kind::UnknownHosted
    );
    assert_eq!(
        decide(None, Some(Kind::LlamaCpp), "https://api.openai.com/v1"),
        Kind::LlamaCpp
    );
}

#[test]
fn a_refused_field_is_never_sent_again() {
    let profile = Kind::Mistral.profile();
    let mut refused = RefusedExtras::default();
    let sent = profile.extras(SESSION, &refused);
    let other = r#"{"detail":[{"loc":["body","my_prompt_cache_key"]}]}"#;
    let named = r#"{"detail":[{"type":"extra_forbidden","loc":["body","prompt_cache_key"]}]}"#;
    assert!(
        !refused.learn(422, other, &sent)
            && !refused.learn(500, named, &sent)
            && !refused.learn(422, named, &[])
    );
    assert!(refused.learn(422, named, &sent) && !refused.learn(422, named, &sent));
    assert!(profile.extras(SESSION, &refused).is_empty());
}

#[test]
fn a_local_model_rewinds_and_a_hosted_one_keeps_blocks() {
    assert_eq!(Kind::LlamaCpp.profile().cache, CacheModel::Rewindable);
    assert!(matches!(
        Kind::OpenAi.profile().cache,
        CacheModel::Blocks {
            tokens: 128,
            tokens_min: 1_024
        }
    ));
}

#[test]
fn marks_follow_the_conversation() {
    let anthropic = Kind::Anthropic.profile();
    let marks = |blocks: &[usize], sent| anthropic.marks(Some(Mark::System), blocks, sent, false);
    assert_eq!(marks(&[1], 0), [Mark::System, Mark::Message(0)]);
    assert_eq!(
        marks(&[1, 1, 1], 1),
        [Mark::System, Mark::Message(0), Mark::Message(2)]
    );
    let far = marks(&[1, 15, 15, 1], 1);
    assert_eq!(
        far,
        [Mark::System, Mark::Message(0), Mark::Message(1), Mark::Message(3)]
    );
    assert_eq!(anthropic.marks(None, &[1], 0, true), []);
    assert_eq!(
        Kind::OpenAi.profile().marks(Some(Mark::Tools), &[1], 0, false),
        []
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    // Planted: a last message of more than 20 blocks that was marked twice.
    #[test]
    fn at_most_four_marks_in_order(blocks in prop::collection::vec(0_usize..30, 0..12), sent in 0_usize..14) {
        let marks = Kind::Anthropic.profile().marks(Some(Mark::System), &blocks, sent, false);
        prop_assert!(marks.len() <= 4);
        let places: Vec<usize> = marks.iter().filter_map(|mark| match mark { Mark::Message(at) => Some(*at), _ => None }).collect();
        prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(places.iter().all(|at| *at < blocks.len()));
    }

    // Planted: an unclosed bracket ended in a slice out of bounds.
    #[test]
    fn any_url_has_a_locality(url in "(http://|\\[|\\]|:|@|%|/|\\PC|127.0.0.1|\\.){0,9}") {
        locality(&url);
        decide(None, None, &url);
    }
}
