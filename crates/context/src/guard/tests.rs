//! The guard's behaviour, by the tags of its requirements.

use proptest::prelude::*;

use super::*;

fn window(tokens: usize) -> ModelWindow {
    ModelWindow {
        tokens,
        source: WindowSource::Session,
        model: None,
    }
}

/// A check of a window of 100,000 tokens.
fn check(guard: &mut Guard, used: usize) -> (GuardFinding, Vec<GuardEvent>) {
    guard.check(&Limits::codebuddy(), 100_000, used)
}

fn claims(said: [Option<usize>; 4], model: Option<&str>) -> Claims {
    let [session, agent, model_config, backend] = said;
    Claims {
        session,
        agent,
        model_config,
        backend,
        model: model.map(str::to_owned),
    }
}

#[test]
fn wg_1_the_first_source_decides() {
    let resolved = |said, model| {
        let window = ModelWindow::resolve(&claims(said, model));
        (window.tokens, window.source.as_str(), window.model)
    };
    let model = Some("gpt-4o".to_owned());
    let at = |tokens, source| (tokens, source, model.clone());
    assert_eq!(
        resolved([Some(1), Some(2), Some(3), Some(4)], Some("gpt-4o")),
        at(1, "sessionConfig")
    );
    assert_eq!(
        resolved([None, Some(2), Some(3), Some(4)], Some("gpt-4o")),
        at(2, "agentConfig")
    );
    assert_eq!(
        resolved([Some(0), Some(0), Some(3), Some(4)], Some("gpt-4o")),
        at(3, "modelsConfig")
    );
    assert_eq!(
        resolved([None, None, None, Some(4)], Some("gpt-4o")),
        at(4, "model")
    );
    assert_eq!(
        resolved([None, None, None, Some(0)], Some("gpt-4o")),
        at(128_000, "model")
    );
    assert_eq!(
        resolved([None; 4], Some("unheard-of")),
        (WINDOW_DEFAULT, "default", Some("unheard-of".to_owned()))
    );
    assert_eq!(resolved([None; 4], None), (WINDOW_DEFAULT, "default", None));
}

#[test]
fn wg_3_evaluates_the_remaining_tokens() {
    let limits = Limits::codebuddy();
    let finding = evaluate(&limits, 100_000, 10_000);
    assert_eq!(
        (finding.verdict, finding.remaining(), finding.percent()),
        (Verdict::Ok, 90_000, 10.0)
    );
    assert_eq!(finding.message, None);
    assert!((evaluate(&limits, 100_000, 50_000).percent() - 50.0).abs() < 1e-9);
    assert_eq!(evaluate(&limits, 1_000, 1_500).remaining(), -500);
}

#[test]
fn wg_4_block_suppresses_warn() {
    let limits = Limits::codebuddy();
    let verdict = |limits: &Limits, left: usize| evaluate(limits, 100_000, 100_000 - left).verdict;
    assert_eq!(
        [32_000, 31_000, 16_000, 15_000].map(|left| verdict(&limits, left)),
        [Verdict::Ok, Verdict::Warn, Verdict::Warn, Verdict::Block]
    );
    let quiet = Limits {
        warn: None,
        ..limits.clone()
    };
    assert_eq!(
        [31_000, 15_000].map(|left| verdict(&quiet, left)),
        [Verdict::Ok, Verdict::Block]
    );
    let lenient = Limits {
        block: None,
        ..limits.clone()
    };
    assert_eq!(
        [31_000, 15_000, 0].map(|left| verdict(&lenient, left)),
        [Verdict::Warn; 3]
    );
    let message = evaluate(&limits, 100_000, 85_000).message;
    assert_eq!(
        message.as_deref(),
        Some("15000 of 100000 tokens are left in the context window; 16000 are needed")
    );
}

#[test]
fn wg_4_a_small_window_is_not_blocked_while_empty() {
    let small = |limits: &Limits, used| evaluate(limits, 8_192, used).verdict;
    assert_eq!(
        [0, 6_200, 7_200].map(|used| small(&Limits::quipu(), used)),
        [Verdict::Ok, Verdict::Warn, Verdict::Block]
    );
    let wide = |used| evaluate(&Limits::quipu(), 1_000_000, used).verdict;
    assert_eq!(
        [960_000, 970_000, 990_000].map(wide),
        [Verdict::Ok, Verdict::Warn, Verdict::Block]
    );
}

#[test]
fn wg_5_no_window_is_full() {
    let finding = evaluate(&Limits::quipu(), 0, 0);
    assert_eq!((finding.percent(), finding.verdict), (100.0, Verdict::Block));
}

#[test]
fn wg_6_a_warning_is_reported_once_until_reset() {
    let mut guard = Guard::default();
    let warnings = |guard: &mut Guard| {
        (0..3)
            .filter(|_| check(guard, 70_000).1.contains(&GuardEvent::Warning))
            .count()
    };
    assert_eq!(warnings(&mut guard), 1);
    guard.reset_warning();
    assert_eq!(warnings(&mut guard), 1);
}

#[test]
fn wg_6_each_blocking_check_is_reported() {
    let mut guard = Guard::default();
    for _ in 0..3 {
        assert_eq!(check(&mut guard, 90_000).1, [GuardEvent::Blocked]);
    }
}

#[test]
fn wg_6_a_threshold_is_crossed_from_above_only() {
    let mut guard = Guard::default();
    assert_eq!(check(&mut guard, 70_000).1, [GuardEvent::Warning]);
    assert_eq!(check(&mut guard, 75_000).1, []);
    assert_eq!(check(&mut guard, 10_000).1, []);
    assert_eq!(check(&mut guard, 70_000).1, [GuardEvent::ThresholdCrossed]);
    check(&mut guard, 10_000);
    assert_eq!(
        check(&mut guard, 90_000).1,
        [GuardEvent::Blocked, GuardEvent::ThresholdCrossed]
    );
}

#[test]
fn wg_8_safe_budget() {
    assert_eq!(
        [128_000, 0, 1, 7, 100_001].map(|tokens| window(tokens).safe_budget()),
        [106_666, 0, 0, 5, 83_334]
    );
    assert!(window(usize::MAX).safe_budget() > usize::MAX / 2);
}

#[test]
fn known_windows() {
    let windows = [
        ("gpt-5", Some(400_000)),
        ("openrouter/openai/gpt-5-mini:free", Some(400_000)),
        ("GPT-4.1-2025-04-14", Some(1_047_576)),
        ("gpt-4-32k-0613", Some(32_768)),
        ("gpt-4-0613", Some(8_192)),
        ("us.anthropic.claude-opus-4", Some(200_000)),
        ("llama3.1:8b", Some(131_072)),
        ("meta-llama/Llama-3-8B", Some(8_192)),
        ("gemini-2.5-pro", Some(1_048_576)),
        ("o3-mini", Some(200_000)),
        ("o300", None),
        ("", None),
    ];
    for (model, tokens) in windows {
        assert_eq!(known_window(model), tokens, "{model}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn i33_the_order_of_sources_is_total(said in proptest::array::uniform4(proptest::option::of(0..5usize)), model in proptest::option::of("gpt-4o|x")) {
        let window = ModelWindow::resolve(&claims(said, model.as_deref()));
        let place = said.iter().position(|tokens| tokens.is_some_and(|tokens| tokens > 0));
        let sources = [WindowSource::Session, WindowSource::Agent, WindowSource::ModelConfig, WindowSource::Model];
        let expected = match (place, model.as_deref()) {
            (Some(place), _) => (said[place].unwrap_or(0), sources[place]),
            (None, Some("gpt-4o")) => (128_000, WindowSource::Model),
            (None, _) => (WINDOW_DEFAULT, WindowSource::Default),
        };
        prop_assert_eq!((window.tokens, window.source), expected);
        prop_assert_eq!(window.model, model);
    }

    #[test]
    fn i33_more_usage_never_eases_the_verdict(tokens: usize, used: usize, more: usize, fixed: bool) {
        let limits = if fixed { Limits::codebuddy() } else { Limits::quipu() };
        let (less, much) = (evaluate(&limits, tokens, used), evaluate(&limits, tokens, used.saturating_add(more)));
        prop_assert!(less.verdict <= much.verdict);
        prop_assert_eq!(less.message.is_some(), less.verdict != Verdict::Ok);
    }

    #[test]
    fn i33_a_block_is_reported_only_as_a_block(usage in proptest::collection::vec(0..40_000usize, 1..20), tokens in 0..40_000usize) {
        let mut guard = Guard::default();
        for used in usage {
            let (finding, events) = guard.check(&Limits::quipu(), tokens, used);
            prop_assert_eq!(finding.verdict == Verdict::Block, events.contains(&GuardEvent::Blocked));
            prop_assert!(!(events.contains(&GuardEvent::Blocked) && events.contains(&GuardEvent::Warning)));
        }
    }

    #[test]
    fn any_text_has_a_window_or_none(text in ".{0,24}") {
        prop_assert!(known_window(&text).is_none_or(|tokens| tokens > 0));
    }
}
