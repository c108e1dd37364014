//! Texts that are secrets, and texts that are not.

use proptest::prelude::*;

use proptest::strategy::ValueTree;

use super::{assign, hints_at, in_small_letters, marks, redact, shapes};

mod kinds;

/// Built from parts, so that scanners of repositories do not report a test as a leak.
fn secrets() -> Vec<(&'static str, String)> {
    let s = |parts: &[&str]| parts.concat();
    vec![
        ("anthropic-key", s(&["sk-", "ant-api03-Zk3v9Qp2Lm8Rt5Wx7Yb1"])),
        ("openai-key", s(&["sk-", "proj-Zk3v9Qp2Lm8Rt5Wx7Yb1Nc4"])),
        ("aws-key", s(&["AKI", "AIOSFODNN7EXAMPLE"])),
        (
            "github-token",
            s(&["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"]),
        ),
        (
            "github-token",
            s(&["github", "_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789"]),
        ),
        ("slack-token", s(&["xo", "xb-123456789012-abcdefGHIJKL"])),
        ("google-key", s(&["AI", "zaSyD4f5G6h7J8k9L0q1W2e3R4t5Y6u7I8o9P"])),
        ("stripe-key", s(&["sk_", "live_4eC39HqLyjWDarjtT1zdp7dc"])),
        (
            "jwt",
            s(&["ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.s5cR7tq_xYz-09"]),
        ),
        ("card", s(&["4242 4242 ", "4242 4242"])),
        (
            "private-key",
            s(&[
                "-----BEGIN RSA ",
                "PRIVATE KEY-----\nMIIEow+/12=\nAbc\n-----END RSA PRIVATE KEY-----",
            ]),
        ),
    ]
}

#[test]
fn every_shape_is_found_alone_and_in_a_sentence() {
    for (kind, secret) in secrets() {
        for (before, after) in [
            ("", ""),
            ("use ", " now"),
            ("密钥是", "。"),
            ("k=\"", "\"\n"),
            ("(", ")"),
        ] {
            let out = redact(&format!("{before}{secret}{after}")).into_owned();
            assert!(!out.contains(&secret), "{out}");
            assert!(out.starts_with(before) && out.ends_with(after), "{out}");
        }
        assert_eq!(redact(&secret), format!("[redacted:{kind}]"));
    }
}

#[test]
fn values_of_secret_names_are_redacted() {
    for (text, secret) in [
        ("password=hunter", "hunter"),
        ("PASSWORD: \"correct-horse\"", "correct-horse"),
        ("my password is hunter2!", "hunter2!"),
        ("{\"token\": \"abcd1234\"}", "abcd1234"),
        ("{\\\"api_key\\\": \\\"abcd1234\\\"}", "abcd1234"),
        ("password: \"$tr0ng*\"", "$tr0ng*"),
        ("export DB_PASS=s3cr3t", "s3cr3t"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "wJalrXUtnFEMI",
        ),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("curl -H 'Authorization: Bearer abc.def-123456'", "abc.def"),
        ("postgres://app:pa55@db:5432/x", "pa55"),
        ("redis://:pa55w@cache", "pa55w"),
        ("密码：秘密abc123", "abc123"),
        ("le mot de passe est azerty12", "azerty12"),
        ("SESSION_SEED=Zk3v9Qp2Lm8Rt5Wx7Yb1Nc4Hd6", "Zk3v9"),
    ] {
        let out = redact(text);
        assert!(!out.contains(secret), "{text} -> {out}");
        assert!(out.contains("[redacted:"), "{text} -> {out}");
    }
}

#[test]
fn a_text_that_only_resembles_a_secret_stays() {
    for text in [
        "commit e83c5163316f89bfbde7d9ab23ca2e25604af290 fixes it",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id = \"550e8400-e29b-41d4-a716-446655440000\"",
        "let token = parser.next_token();",
        "connect(user=user, password=password)",
        "struct Login { password: String, secret: Option<Secret> }",
        "max_tokens: 4096, token_count = 12",
        "password = os.environ[\"DB_PASSWORD\"]",
        "url = postgres://app:${DB_PASSWORD}@db/x",
        "api_key: <your key>, token: \"${TOKEN}\"",
        "http://localhost:8080/a/b@c",
        "the password is required; the token is refreshed",
        "4242 4242 4242 4243 fails its check",
        "compass: N45E, bypass=strict",
        "a risk-free task-force-of-many-different-people",
        "at 1700000000000 ms; 3.14159265358979323846; order 1234567890123456",
        "<img src=\"data:image/png;base64,iVBORw0KGgo\">",
        "const NAME: &str = \"crates/context/src/Redact.rs\";",
        "import { useVeryLongHookNameForState2 } from 'some/Module3'",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn text_marked_as_private_is_redacted_completely() {
    for (text, left) in [
        (
            "I like tea. <private>I am ill.</private> Bye.",
            "I like tea. [redacted:private] Bye.",
        ),
        ("<PRIVATE>\npassword=hunter22\n</Private>", "[redacted:private]"),
        (
            "<private>a</private>b<private>c</private>",
            "[redacted:private]b[redacted:private]",
        ),
        (
            "a <private> part without an end",
            "a <private> part without an end",
        ),
    ] {
        assert_eq!(redact(text), left);
    }
}

#[test]
fn marks_are_listed_by_kind() {
    let out = redact("password=hunter22 and 4242 4242 4242 4242; [redacted:] is none");
    assert_eq!(marks(&out), ["password", "card"]);
    assert_eq!(marks("plain"), Vec::<&str>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn no_canary_survives_and_a_second_redaction_changes_nothing(
        picks in prop::collection::vec((0..11_usize, "[ \\n,;.a-z一é\"'=:-]{0,12}"), 1..8),
    ) {
        let all = secrets();
        let mut text = String::new();
        for (pick, noise) in &picks {
            text.push_str(noise);
            text.push(' ');
            text.push_str(&all[*pick].1);
            text.push(' ');
        }
        let once = redact(&text).into_owned();
        for (pick, _) in &picks {
            // A card next to other groups of digits is ambiguous; the card alone is tested above.
            prop_assert!(all[*pick].0 == "card" || !once.contains(&all[*pick].1), "{once}");
        }
        prop_assert_eq!(redact(&once), once.as_str());
    }

    #[test]
    fn a_second_redaction_changes_no_text(text in "(?s)(.|password=|sk-|\\[redacted:|://|Bearer |eyJ|[A-Za-z0-9]{1,30}|@|\"|4242){0,40}") {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
    }
}

#[test]
fn a_long_text_of_near_misses_stays_short() {
    for piece in [
        "password=",
        "a://b:",
        "4242 ",
        "-----BEGIN PRIVATE KEY-----",
        "eyJaaaaaaaaa.",
        "[redacted:",
        "A=\"",
        "bearer ",
        "<private>",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        assert!(redact(&text).len() <= text.len() * 4);
    }
}

/// A random match of a pattern without its anchors, which a random text cannot satisfy.
fn random_match(pattern: &str) -> impl Strategy<Value = String> + use<> {
    let places = [r"(?-u:\b)", "^|", r"\s?$|", "|$"];
    let plain = places
        .iter()
        .fold(pattern.to_owned(), |plain, place| plain.replace(place, ""));
    proptest::string::string_regex(&plain).expect("a pattern")
}

#[test]
fn every_match_of_a_pattern_contains_one_of_its_hints() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for (pattern, hints) in shapes::patterns().chain(assign::patterns()) {
        for _ in 0..60 {
            let tree = random_match(pattern).new_tree(&mut runner).expect("a text");
            let text = tree.current();
            assert!(hints_at(&in_small_letters(&text), hints), "{pattern}: {text}");
        }
    }
}
