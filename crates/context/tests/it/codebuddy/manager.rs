//! CM-2, CM-8, WG-8: the time of a compaction.

use std::sync::Arc;

use context::budget::Budget;
use context::guard::known_window;
use context::plan::{Decision, Effort, Keep, Trigger};
use context::policy::Policy;
use context::session::Session;

use crate::codebuddy::{meter, user};

fn codebuddy() -> Policy {
    Policy::preset("codebuddy").expect("there is one")
}

/// A conversation of this many messages of this many characters.
fn talk(policy: Policy, count: usize, chars: usize) -> Session {
    let mut session = Session::new(policy, meter());
    for _ in 0..count {
        let arrival = session.arrival(Arc::new(user("word ".repeat(chars / 5))));
        session.apply(&arrival);
    }
    session
}

fn should_auto_compact(session: &Session, budget: &Budget) -> bool {
    let decision = session.decide(budget, Trigger::Auto, Effort::Mask);
    !matches!(decision, Decision::Keep(_, Keep::BelowThreshold))
}

/// The budget of a window with an eighth for the answer.
fn budget(window: usize) -> Budget {
    let reserve = window / 8;
    Budget {
        reserve,
        safety: codebuddy().safety(window - reserve),
        ..Budget::view(window)
    }
}

#[test]
fn cm_8_a_threshold_in_tokens() {
    let at = |tokens| Policy {
        compact_at_tokens: Some(tokens),
        ..codebuddy()
    };
    // About 250 tokens.
    assert!(should_auto_compact(&talk(at(100), 10, 100), &budget(1_000_000)));
    assert!(!should_auto_compact(
        &talk(at(999_999), 10, 100),
        &budget(1_000_000)
    ));
}

#[test]
fn cm_2_a_given_window_and_a_known_one() {
    assert!(should_auto_compact(&talk(codebuddy(), 400, 200), &budget(8_192)));
    let threshold = |model: &str| {
        let window = known_window(model).expect("a known model");
        (window, talk(codebuddy(), 0, 0).inputs(&budget(window)).threshold)
    };
    assert_eq!(threshold("gpt-5"), (400_000, 200_000));
    assert_eq!(threshold("gpt-4-turbo").0, 128_000);
}

#[test]
fn wg_8_should_compact_at_a_share() {
    let should_compact = |used: usize, share: f64| {
        let policy = Policy {
            compact_at: share,
            compact_at_tokens: None,
            ..codebuddy()
        };
        used >= talk(policy, 0, 0).inputs(&Budget::view(100_000)).threshold
    };
    let told = [(50_000, 0.7), (70_000, 0.7), (80_000, 0.8), (70_000, 0.8)];
    assert_eq!(
        told.map(|(used, share)| should_compact(used, share)),
        [false, true, true, false]
    );
}
