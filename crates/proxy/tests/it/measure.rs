//! Sums cover every recorded request, and memory for single requests is bounded.

use model::Timestamp;
use prefix::backend::Kind;
use prefix::diverge::Class;
use prefix::shadow::Reason;
use proptest::prelude::*;
use proxy::measure::{CONVERSATIONS_MAX, Measured, Measures};
use testkit::backend::{CacheKind, Config};

use crate::caches::Line;
use crate::stage::Stage;

fn measured(upstream: &str, conversation: &str) -> Measured {
    Measured {
        at: Timestamp::from_millis(0),
        upstream: upstream.to_owned(),
        kind: Kind::LlamaCpp,
        conversation: conversation.to_owned(),
        prompt_tokens: 100,
        cached_tokens: Some(80),
        completion_tokens: 10,
        first_token_ms: None,
        total_ms: 1000,
        expected_tokens: Some(90),
        class: None,
        reasons: vec![Reason::Opened],
        injected_tokens: 0,
        status: 200,
    }
}

#[test]
fn a_conversation_keeps_its_newest_requests_newest_first() {
    let measures = Measures::new(3);
    for total_ms in 1..=5 {
        for conversation in ["one", "two"] {
            measures.record(Measured {
                total_ms,
                ..measured("local", conversation)
            });
        }
    }
    let times = |id: &str| {
        measures
            .conversation(id)
            .iter()
            .map(|one| one.total_ms)
            .collect::<Vec<_>>()
    };
    assert_eq!(times("one"), [5, 4, 3]);
    assert_eq!(
        measures.conversation("one")[0],
        Measured {
            total_ms: 5,
            ..measured("local", "one")
        }
    );
    measures.forget_all("one");
    assert_eq!(times("one"), [0; 0]);
    assert_eq!(times("two"), [5, 4, 3]);
    assert_eq!(measures.upstreams()["local"].requests, 10, "sums tell of nobody");
}

#[test]
fn the_longest_idle_conversation_is_dropped_first() {
    let measures = Measures::new(2);
    for number in 0..CONVERSATIONS_MAX {
        measures.record(measured("local", &number.to_string()));
    }
    measures.record(measured("local", "0"));
    measures.record(measured("local", "one more"));
    let kept = |id: &str| measures.conversation(id).len();
    assert_eq!((kept("0"), kept("1"), kept("2"), kept("one more")), (2, 0, 1, 1));
}

#[test]
fn ratios_cover_only_requests_with_known_figures() {
    let measures = Measures::new(1);
    let asked = |class, cached_tokens| {
        measures.record(Measured {
            class,
            cached_tokens,
            ..measured("local", "one")
        });
    };
    asked(None, None);
    let totals = measures.upstreams().remove("local").unwrap();
    assert_eq!(
        (totals.requests, totals.prompt_tokens, totals.evaluated_tokens),
        (1, 100, 0)
    );
    assert_eq!((totals.hit_ratio, totals.extension_ratio), (None, None));
    asked(Some(Class::First), Some(0));
    assert_eq!(
        measures.upstreams()["local"].extension_ratio,
        None,
        "a first request extends nothing"
    );
    asked(Some(Class::Extension), Some(100));
    asked(Some(Class::Extension), Some(150));
    asked(Some(Class::SlotStolen), Some(0));
    asked(Some(Class::TailInjection), Some(50));
    asked(Some(Class::TailInjection), None);
    let totals = measures.upstreams().remove("local").unwrap();
    assert_eq!(
        (
            totals.prompt_tokens,
            totals.cached_tokens,
            totals.evaluated_tokens
        ),
        (700, 250, 250)
    );
    assert_eq!((totals.hit_ratio, totals.extension_ratio), (Some(0.5), Some(0.4)));
    let classes: Vec<_> = totals.classes.into_iter().collect();
    assert_eq!(
        classes,
        [
            ("extension", 2),
            ("first", 1),
            ("slot_stolen", 1),
            ("tail_injection", 2)
        ]
    );
}

#[test]
fn first_tokens_are_ranked_among_the_newest() {
    let measures = Measures::new(1);
    let first = |first_token_ms| {
        measures.record(Measured {
            first_token_ms,
            ..measured("local", "one")
        });
    };
    let ranks = || {
        let totals = measures.upstreams().remove("local").unwrap();
        (totals.first_token_p50_ms, totals.first_token_p99_ms)
    };
    first(None);
    assert_eq!(ranks(), (None, None));
    first(Some(7));
    assert_eq!(ranks(), (Some(7), Some(7)));
    (0..1024).for_each(|_| first(Some(1_000_000)));
    (1..=1024).rev().for_each(|millis| first(Some(millis)));
    assert_eq!(ranks(), (Some(512), Some(1014)));
}

#[test]
fn the_counters_are_rendered_by_server_and_class() {
    let measures = Measures::new(1);
    let classes = [
        Class::First,
        Class::Extension,
        Class::Evicted,
        Class::Evicted,
        Class::System,
    ];
    for class in classes {
        measures.record(Measured {
            class: Some(class),
            ..measured("local", "one")
        });
    }
    measures.record(measured("a\\b\n", "two"));
    let mut text = "before\n".to_owned();
    measures.render_prometheus(&mut text);
    let expected = r#"before
# HELP quipu_upstream_requests_total Requests to model servers.
# TYPE quipu_upstream_requests_total counter
quipu_upstream_requests_total{upstream="a\\b\n"} 1
quipu_upstream_requests_total{upstream="local"} 5
# HELP quipu_upstream_prompt_tokens_total Prompt tokens.
# TYPE quipu_upstream_prompt_tokens_total counter
quipu_upstream_prompt_tokens_total{upstream="a\\b\n"} 100
quipu_upstream_prompt_tokens_total{upstream="local"} 500
# HELP quipu_upstream_cached_tokens_total Prompt tokens read from the cache.
# TYPE quipu_upstream_cached_tokens_total counter
quipu_upstream_cached_tokens_total{upstream="a\\b\n"} 80
quipu_upstream_cached_tokens_total{upstream="local"} 400
# HELP quipu_upstream_misses_total Requests that did not extend the last one, by reason.
# TYPE quipu_upstream_misses_total counter
quipu_upstream_misses_total{upstream="local",class="evicted"} 2
quipu_upstream_misses_total{upstream="local",class="system"} 1
"#;
    assert_eq!(text, expected);
}

proptest! {
    #[test]
    fn the_sums_equal_those_of_the_requests(
        requests in prop::collection::vec((0usize..2, 0u64..1000, prop::option::of(0u64..1000)), 0..50),
    ) {
        let measures = Measures::new(4);
        let names = ["local", "cloud"];
        for (upstream, prompt_tokens, cached) in &requests {
            let cached_tokens = cached.map(|cached| cached.min(*prompt_tokens));
            let one = measured(names[*upstream], "one");
            measures.record(Measured { prompt_tokens: *prompt_tokens, cached_tokens, ..one });
        }
        let totals = measures.upstreams();
        for (number, name) in names.iter().enumerate() {
            let of: Vec<_> = requests.iter().filter(|request| request.0 == number).collect();
            let total = totals.get(*name).cloned().unwrap_or_default();
            prop_assert_eq!(total.requests, of.len() as u64);
            prop_assert_eq!(total.prompt_tokens, of.iter().map(|request| request.1).sum::<u64>());
            let told: u64 = of.iter().filter(|request| request.2.is_some()).map(|request| request.1).sum();
            prop_assert_eq!(total.cached_tokens + total.evaluated_tokens, told);
        }
        prop_assert!(measures.conversation("one").len() <= 4);
    }
}

#[tokio::test]
async fn no_server_is_blamed_without_a_cache_or_without_a_report_of_it() {
    let never = CacheKind::Blocks {
        tokens: 16,
        tokens_min: 1 << 30,
        known_max: 1,
    };
    let cases = [
        (Kind::LlamaCpp, CacheKind::Rewindable, Some(Class::Extension)),
        (Kind::LlamaCpp, never, None),
        (Kind::UnknownLocal, CacheKind::Rewindable, None),
        (Kind::UnknownLocal, never, None),
    ];
    for (kind, cache, class) in cases {
        let stage = Stage::new(Config {
            kind,
            cache,
            ..Config::default()
        })
        .await;
        let mut line = Line::new("You help.");
        for turn in 0..3 {
            line.says(&format!("Note {turn}: the boat lies in the harbour."));
            line.goes_on(&stage).await;
        }
        let (_, newest) = stage.proxy.measures().newest(1).remove(0);
        assert_eq!(newest[0].class, class, "{kind:?}, {cache:?}");
    }
}
