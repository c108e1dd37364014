//! Boundaries: golden cuts, and properties of any conversation.

use std::sync::Arc;

use model::{CutReason, Message, Role, Vector};
use proptest::prelude::*;

use super::{MINUTE_MILLIS, at, calling, message, talk};
use crate::{Boundary, Limits, boundaries, boundary_possible, owners};

fn cuts(messages: &[Message], vectors: Option<&[Vector]>, limits: &Limits) -> Vec<(usize, CutReason)> {
    let cuts = boundaries(messages, vectors, limits);
    cuts.into_iter().map(|cut| (cut.end, cut.reason)).collect()
}

/// Messages of these speakers, each a number of minutes after the one before.
fn spaced(script: &[(&str, i64)]) -> Vec<Message> {
    let mut time = at("2024-01-01T00:00:00Z");
    let mut messages = Vec::new();
    for (i, (who, minutes)) in script.iter().enumerate() {
        time = time.plus_millis(minutes * MINUTE_MILLIS);
        messages.push(message(i, who, "words about the day", time));
    }
    messages
}

#[test]
fn a_pause_longer_than_the_limit_cuts() {
    let limits = Limits::default();
    let just = spaced(&[("alice", 0), ("bot", 30), ("alice", 30)]);
    assert_eq!(cuts(&just, None, &limits), []);
    let longer = spaced(&[("alice", 0), ("bot", 1), ("alice", 31), ("bot", 1)]);
    assert_eq!(cuts(&longer, None, &limits), [(2, CutReason::Gap)]);
}

#[test]
fn nothing_is_cut_before_a_person_has_spoken() {
    let script = spaced(&[("bot", 0), ("bot", 90), ("bot", 90), ("alice", 90), ("bot", 90)]);
    assert_eq!(cuts(&script, None, &Limits::default()), [(4, CutReason::Gap)]);
}

#[test]
fn a_tool_call_keeps_its_results() {
    let mut script = spaced(&[
        ("alice", 0),
        ("bot", 1),
        ("tool", 50),
        ("tool", 50),
        ("bot", 1),
        ("alice", 50),
    ]);
    script[1] = calling(calling(script[1].clone(), "a"), "b");
    assert_eq!(cuts(&script, None, &Limits::default()), [(5, CutReason::Gap)]);
}

#[test]
fn a_call_that_is_never_answered_holds_only_until_a_person_goes_on() {
    let mut script = spaced(&[("alice", 0), ("bot", 1), ("alice", 50), ("bot", 1), ("alice", 50)]);
    script[1] = calling(script[1].clone(), "a");
    assert_eq!(cuts(&script, None, &Limits::default()), [(4, CutReason::Gap)]);
}

#[test]
fn a_full_part_is_cut_where_a_person_begins_to_speak() {
    let limits = Limits {
        messages_max: 8,
        ..Limits::default()
    };
    let who = [
        "alice", "bot", "alice", "bot", "alice", "bot", "alice", "bot", "bot", "bot",
    ];
    let script: Vec<_> = who.iter().map(|who| (*who, 1)).collect();
    assert_eq!(cuts(&spaced(&script), None, &limits), [(6, CutReason::Size)]);
}

#[test]
fn a_part_is_cut_at_its_token_limit() {
    let limits = Limits {
        tokens_max: 1_000,
        ..Limits::default()
    };
    let mut script = talk("alice: one\nbot: two\nalice: three\nbot: four\nalice: five");
    for message in &mut script[1..] {
        message.content = model::Content::Text("word ".repeat(400)).into();
    }
    assert_eq!(
        cuts(&script, None, &limits),
        [(2, CutReason::Size), (3, CutReason::Size)]
    );
}

#[test]
fn even_a_run_of_tool_results_without_end_is_cut() {
    let limits = Limits {
        messages_max: 10,
        ..Limits::default()
    };
    let mut script = vec![("alice", 1), ("bot", 1)];
    script.extend(vec![("tool", 1); 60]);
    let found = cuts(&spaced(&script), None, &limits);
    assert_eq!(found.first(), Some(&(20, CutReason::Size)));
}

/// A number from 0 to 0.2 that looks like chance.
fn noise(seed: usize) -> f32 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 48) as f32 / 327_680.0
}

/// Vectors along one axis for each subject, with some noise.
fn about(subjects: &[usize]) -> Vec<Vector> {
    let vector = |(i, subject): (usize, &usize)| -> Vector {
        let mut v = [0.0f32; 16];
        v[*subject] = 1.0;
        for (d, x) in v.iter_mut().enumerate().skip(8) {
            *x = noise(i * 16 + d);
        }
        let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
        v.iter().map(|x| x / length).collect::<Vec<_>>().into()
    };
    subjects.iter().enumerate().map(vector).collect()
}

fn two_subjects() -> (Vec<Message>, Vec<Vector>) {
    let script: Vec<_> = (0..40)
        .map(|i| if i % 2 == 0 { ("alice", 1) } else { ("bot", 1) })
        .collect();
    let subjects: Vec<usize> = (0..40).map(|i| usize::from(i >= 20)).collect();
    (spaced(&script), about(&subjects))
}

#[test]
fn a_talk_is_cut_where_its_subject_changes() {
    let (messages, vectors) = two_subjects();
    assert_eq!(
        cuts(&messages, Some(&vectors), &Limits::default()),
        [(20, CutReason::Topic)]
    );
    assert_eq!(cuts(&messages, None, &Limits::default()), []);
    let same = about(&[0; 40]);
    assert_eq!(cuts(&messages, Some(&same), &Limits::default()), []);
}

#[test]
fn a_question_keeps_its_answer() {
    let (mut messages, vectors) = two_subjects();
    messages[19].content = model::Content::Text("And what else is new?".to_owned()).into();
    assert_eq!(cuts(&messages, Some(&vectors), &Limits::default()), []);
}

#[test]
fn vectors_without_meaning_cut_nothing() {
    let (messages, _) = two_subjects();
    let zero: Vec<Vector> = (0..40).map(|_| Arc::from(vec![0.0f32; 16])).collect();
    assert_eq!(cuts(&messages, Some(&zero), &Limits::default()), []);
    assert_eq!(cuts(&messages, Some(&zero[..3]), &Limits::default()), []);
}

#[test]
fn the_users_who_speak_are_the_owners() {
    let messages = talk("bot: hi\nbob: hi\nalice: hi\ntool: 1\nbob: bye");
    let names: Vec<String> = owners(&messages)
        .iter()
        .map(|owner| owner.id.to_string())
        .collect();
    assert_eq!(names, ["bob", "alice"]);
}

/// Ten sessions of fifty short messages in adds of ten, each ended by a flush, as the engine would
/// ask.
#[test]
fn asking_a_model_stays_within_its_budget() {
    let limits = Limits::default();
    let (mut calls, mut tokens) = (0, 0);
    for _ in 0..10 {
        let script: Vec<_> = (0..50)
            .map(|i| if i % 2 == 0 { ("alice", 1) } else { ("bot", 1) })
            .collect();
        let messages = spaced(&script);
        let mut asked = 0;
        let mut ask = |buffer: &[Message], tail| {
            let prompt = crate::parts_request(buffer, &model::Zone::utc(), tail);
            calls += 1;
            tokens += crate::tokens(&prompt.system)
                + crate::tokens(&prompt.user)
                + crate::tokens(&prompt.schema_json);
        };
        for end in (10..=50).step_by(10) {
            // The worst case: the model never finds a boundary, so the buffer only grows.
            if boundary_possible(&messages[..end], asked, &limits) {
                ask(&messages[..end], crate::Tail::Open);
                asked = end;
            }
        }
        ask(&messages, crate::Tail::Closed);
    }
    assert!(calls <= 60, "{calls} calls");
    assert!(tokens <= 100_000, "{tokens} tokens");
    assert!(calls >= 20, "the model must be asked at all");
}

#[test]
fn a_certain_cut_makes_a_model_call_useful() {
    let limits = Limits::default();
    let quiet = spaced(&[("alice", 0), ("bot", 1)]);
    assert!(!boundary_possible(&quiet, 0, &limits));
    let paused = spaced(&[("alice", 0), ("bot", 1), ("alice", 60)]);
    assert!(boundary_possible(&paused, 2, &limits));
    let machine = spaced(&[("bot", 1); 40]);
    assert!(!boundary_possible(&machine, 0, &limits));
}

fn conversation() -> impl Strategy<Value = (Vec<Message>, Vec<Vector>)> {
    let turn = (0usize..8, 0i64..45, ".{0,30}", 0usize..3, any::<bool>());
    prop::collection::vec(turn, 0..90).prop_map(|turns| {
        let mut time = at("2024-01-01T00:00:00Z");
        let mut messages = Vec::new();
        let mut subjects = Vec::new();
        for (i, (who, minutes, text, subject, calls)) in turns.into_iter().enumerate() {
            time = time.plus_millis(minutes * MINUTE_MILLIS);
            let who = ["alice", "alice", "alice", "bot", "bot", "bob", "bot", "tool"][who];
            let mut one = message(i, who, &text, time);
            if one.role == Role::Assistant && calls && i % 3 == 0 {
                one = calling(one, "call");
            }
            messages.push(one);
            subjects.push(if i % 40 < 20 { 0 } else { subject });
        }
        (messages, about(&subjects))
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    (5u32..60, 1usize..40, 10usize..400).prop_map(|(gap_minutes, messages_max, tokens_max)| Limits {
        gap_minutes,
        messages_max,
        tokens_max,
    })
}

proptest! {
    #[test]
    fn cuts_rise_and_every_part_has_a_person((messages, vectors) in conversation(), limits in limits()) {
        let found = boundaries(&messages, Some(&vectors), &limits);
        let mut start = 0;
        for Boundary { end, .. } in &found {
            prop_assert!(start < *end && *end < messages.len());
            prop_assert!(messages[start..*end].iter().any(|message| message.role == Role::User));
            start = *end;
        }
        prop_assert_eq!(found, boundaries(&messages, Some(&vectors), &limits));
    }

    #[test]
    fn only_a_runaway_part_is_cut_inside_a_tool_call((messages, _) in conversation()) {
        let limits = Limits { messages_max: 1_000, tokens_max: 1_000_000, gap_minutes: 20 };
        for cut in boundaries(&messages, None, &limits) {
            prop_assert!(messages[cut.end].role != Role::Tool);
            prop_assert!(messages[cut.end - 1].tool_calls.is_empty());
        }
    }

    #[test]
    fn a_longer_buffer_keeps_earlier_cuts((messages, vectors) in conversation(), limits in limits(), share in 0.0f64..1.0) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small length")]
        let end = (messages.len() as f64 * share) as usize;
        let short = boundaries(&messages[..end], Some(&vectors[..end]), &limits);
        let long = boundaries(&messages, Some(&vectors), &limits);
        prop_assert_eq!(&long[..short.len()], &short[..]);
    }

    #[test]
    fn cutting_while_messages_arrive_gives_the_same_parts((messages, vectors) in conversation(), limits in limits(), step in 1usize..9) {
        let whole: Vec<usize> = boundaries(&messages, Some(&vectors), &limits).iter().map(|cut| cut.end).collect();
        let (mut start, mut found) = (0, Vec::new());
        let mut arrived = 0;
        while arrived < messages.len() {
            arrived = messages.len().min(arrived + step);
            let cuts = boundaries(&messages[start..arrived], Some(&vectors[start..arrived]), &limits);
            let ends: Vec<usize> = cuts.iter().map(|cut| start + cut.end).collect();
            start = ends.last().copied().unwrap_or(start);
            found.extend(ends);
        }
        prop_assert_eq!(found, whole);
    }
}
