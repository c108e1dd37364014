//! Reasons of cache misses.

use prefix::backend::CacheModel;
use prefix::compose::{Composed, Sent};
use prefix::diverge::{Class, Observed, Outline, classify};
use prefix::shadow::Shadow;

use crate::bench::{Host, assistant, outcome, system, user};

const REWINDABLE: Observed = Observed {
    last_tokens: 1_000,
    prompt_tokens: 1_100,
    cached_tokens: 1_000,
    others_between: false,
    cache: CacheModel::Rewindable,
};

fn list() -> Vec<String> {
    vec![system("s"), user("one"), assistant("1"), user("two")]
}

/// The outline of a request without additions.
fn bare(model: &str, tools: &[&str], messages: &[String]) -> Outline {
    let sent = |(index, bytes): (usize, &String)| Sent {
        bytes: bytes.clone(),
        role: None,
        index: Some(index),
        injected: None,
    };
    Outline::of(&Composed {
        model: model.to_owned(),
        system: None,
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        messages: messages.iter().enumerate().map(sent).collect(),
        events: Vec::new(),
        shadow: Shadow::default(),
        injected: None,
    })
}

fn outline(messages: &[String]) -> Outline {
    bare("m", &[r#"{"name":"t"}"#], messages)
}

fn next() -> Vec<String> {
    [list(), vec![assistant("2"), user("three")]].concat()
}

fn with(at: usize, message: String) -> Outline {
    let mut messages = next();
    messages[at] = message;
    outline(&messages)
}

#[test]
fn a_miss_is_classified_by_the_changed_part() {
    let seen = Observed {
        cached_tokens: 900,
        ..REWINDABLE
    };
    let last = outline(&list()).with_reply(&assistant("2"));
    let all = next();
    let news = [
        outline(&all),
        with(0, system("s, 09:17")),
        with(1, user("1!")),
        with(2, outcome("a", "x")),
        with(4, assistant("2 ")),
        bare("n", &[], &all),
        bare("m", &[], &all),
    ];
    let verdicts = news.map(|new| {
        let verdict = classify(Some(&last), &new, &seen);
        (verdict.class.word(), verdict.expected_tokens)
    });
    let expected = [
        ("template_drop", 1_000),
        ("system", 74),
        ("message_user", 252),
        ("message_assistant", 431),
        ("assistant_echo", 804),
        ("model", 0),
        ("tools", 5),
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(classify(None, &outline(&all), &seen).class, Class::First);
}

#[test]
fn an_extension_without_reuse_has_a_reason() {
    let class = |cached_tokens, others_between, cache| {
        let last = outline(&list()).with_reply(&assistant("2"));
        let observed = Observed {
            cached_tokens,
            others_between,
            cache,
            ..REWINDABLE
        };
        classify(Some(&last), &outline(&next()), &observed).class
    };
    assert_eq!(class(0, true, CacheModel::Rewindable), Class::SlotStolen);
    assert_eq!(class(4, false, CacheModel::Rewindable), Class::Evicted);
    assert_eq!(class(700, false, CacheModel::Rewindable), Class::TemplateDrop);
    assert_eq!(class(980, false, CacheModel::Rewindable), Class::Extension);
    assert_eq!(
        class(
            896,
            false,
            CacheModel::Blocks {
                tokens: 128,
                tokens_min: 128
            }
        ),
        Class::Extension
    );
    assert_eq!(
        class(
            0,
            false,
            CacheModel::Blocks {
                tokens: 128,
                tokens_min: 1_024
            }
        ),
        Class::Extension
    );
}

#[test]
fn any_token_counts_are_classified() {
    let last = outline(&list()).with_reply(&assistant("2"));
    let most = usize::MAX;
    for cache in [
        CacheModel::Rewindable,
        CacheModel::Blocks {
            tokens: most,
            tokens_min: most,
        },
    ] {
        let observed = Observed {
            last_tokens: most,
            prompt_tokens: most,
            cached_tokens: most,
            others_between: false,
            cache,
        };
        assert_eq!(
            classify(Some(&last), &outline(&next()), &observed).class,
            Class::Extension
        );
    }
}

#[test]
fn a_divergence_does_not_hide_a_lost_cache() {
    let last = outline(&list()).with_reply(&assistant("2"));
    let class = |observed: &Observed| classify(Some(&last), &with(4, assistant("2 ")), observed).class;
    assert_eq!(
        class(&Observed {
            cached_tokens: 0,
            ..REWINDABLE
        }),
        Class::Evicted
    );
    assert_eq!(
        class(&Observed {
            cached_tokens: 0,
            others_between: true,
            ..REWINDABLE
        }),
        Class::SlotStolen
    );
}

#[test]
fn a_dropped_injection_is_classified() {
    let mut host = Host::default();
    let messages = [user("one"), assistant("1"), user("two")];
    let first = host.turn(&messages[..1], &[("a", "A")], None);
    let last = Outline::of(&first).with_reply(&messages[1]);
    let unfrozen = bare("m", &[], &messages);
    assert_eq!(
        classify(Some(&last), &unfrozen, &REWINDABLE).class,
        Class::TailInjection
    );
    let frozen = Outline::of(&host.turn(&messages, &[], None));
    assert_eq!(
        classify(Some(&last), &frozen, &REWINDABLE).class,
        Class::Extension
    );
}
