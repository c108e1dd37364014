//! The simulated caches: the reuse of each, and that none reuses more than exists.

use proptest::prelude::*;
use testkit::caches::{Blocks, Cache, Checkpoints, Rewind, Slots};

const USER: u32 = 9;

fn cached(cache: &mut impl Cache, tokens: &[u32]) -> usize {
    cache.request(tokens).cached
}

#[test]
fn the_reuse_of_each_cache_after_a_divergence() {
    let prompt: Vec<u32> = (0..3_000)
        .map(|at| if at == 2_000 { USER } else { at + 100 })
        .collect();
    let mut other = prompt.clone();
    other[2_500] = 0;
    let cases: [(Rewind, usize); 4] = [
        (Rewind::Any, 2_500),
        (Rewind::Checkpoints(Checkpoints::chat(USER)), 2_484),
        (
            Rewind::Checkpoints(Checkpoints {
                near_end: vec![4],
                ..Checkpoints::chat(USER)
            }),
            2_000,
        ),
        (Rewind::Never, 0),
    ];
    for (rewind, expected) in cases {
        let mut slots = Slots::new(rewind.clone(), 1);
        assert_eq!(cached(&mut slots, &prompt), 0);
        slots.reply(&[1, 2]);
        let longer = [&prompt[..], &[1, 2, 3]].concat();
        assert_eq!(
            cached(&mut slots, &longer),
            3_002,
            "{rewind:?}: an extension costs nothing more"
        );
        let mut slots = Slots::new(rewind.clone(), 1);
        slots.request(&prompt);
        assert_eq!(cached(&mut slots, &other), expected, "{rewind:?}");
    }
}

#[test]
fn another_prompt_takes_the_slot_unless_there_are_two() {
    let (one, two): (Vec<u32>, Vec<u32>) = ((0..100).collect(), (500..600).collect());
    for (slots, expected) in [(1, 0), (2, 99)] {
        let mut slots = Slots::new(Rewind::Any, slots);
        slots.request(&one);
        slots.request(&two);
        assert_eq!(cached(&mut slots, &one), expected);
    }
    let mut slots = Slots::new(Rewind::Any, 2);
    slots.request_in(0, &one);
    assert_eq!(
        slots.request_in(3, &one).cached,
        0,
        "a named slot is taken as named"
    );
}

#[test]
fn slots_with_shared_memory_are_refilled_only_if_the_server_chooses_them() {
    let (one, two): (Vec<u32>, Vec<u32>) = ((0..100).collect(), (500..600).collect());
    for (named, expected) in [(true, 0), (false, 99)] {
        let mut slots = Slots::shared(Rewind::Any, 4);
        let mut ask = |slot: usize, tokens: &[u32]| {
            let asked = if named {
                slots.request_in(slot, tokens)
            } else {
                slots.request(tokens)
            };
            asked.cached
        };
        ask(0, &one);
        assert_eq!(ask(0, &one), 99, "nobody came between");
        ask(1, &two);
        assert_eq!(ask(0, &one), expected, "named: {named}");
        assert_eq!(ask(1, &two), expected, "named: {named}");
    }
}

#[test]
fn blocks_are_whole_shared_and_bounded() {
    let mut blocks = Blocks::new(16, 32, 8);
    let prompt: Vec<u32> = (0..40).collect();
    assert_eq!(
        (cached(&mut blocks, &prompt), cached(&mut blocks, &prompt)),
        (0, 32)
    );
    blocks.reply(&(900..1_020).collect::<Vec<_>>());
    assert_eq!(
        cached(&mut blocks, &prompt),
        32,
        "the end falls out before the beginning"
    );
    assert_eq!(cached(&mut blocks, &prompt[..31]), 0, "below the least");
    let shifted: Vec<u32> = (1..41).collect();
    assert_eq!(
        cached(&mut blocks, &shifted),
        0,
        "a block counts only behind the same beginning"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    // Planted: a checkpoint that outlived a divergence before it; a block that matched behind another beginning.
    #[test]
    fn no_cache_reuses_more_than_there_is(turns in prop::collection::vec((0_usize..60, 0_u32..3, 1_usize..40, 0_u32..9), 1..12)) {
        let rule = Checkpoints { user_start: None, near_end: vec![17, 2], tokens_apart: 99, per_slot_max: 99 };
        let mut caches = [Rewind::Any, Rewind::Checkpoints(rule), Rewind::Never].map(|rewind| Slots::new(rewind, 1));
        let mut blocks = Blocks::new(4, 0, 10_000);
        // The server's true content: its current state, its saved states, and every prompt that it ever saw.
        let (mut live, mut saved, mut seen) = (Vec::new(), Vec::<Vec<u32>>::new(), Vec::<Vec<u32>>::new());
        for (keep, token, len, reply) in turns {
            let mut prompt: Vec<u32> = live[..keep.min(live.len())].to_vec();
            prompt.extend((0..len).map(|at| if at % 5 == 0 { token } else { token + 3 }));
            saved.retain(|state| state.len() < prompt.len() && prompt.starts_with(state));
            let extends = live.len() < prompt.len() && prompt.starts_with(&live);
            let never = if extends { live.len() } else { 0 };
            let checkpoint = saved.iter().map(Vec::len).max().unwrap_or(0).max(never);
            let any = common(&live, &prompt).min(prompt.len() - 1);
            let cached = caches.each_mut().map(|cache| cache.request(&prompt));
            prop_assert_eq!(cached.map(|cost| cost.cached), [any, checkpoint, never]);
            prop_assert!(cached.iter().all(|cost| cost.cached + cost.evaluated == prompt.len()));
            let most = seen.iter().map(|other| common(other, &prompt)).max().unwrap_or(0).min(prompt.len() - 1);
            prop_assert_eq!(blocks.request(&prompt).cached, most / 4 * 4);
            let places = [17, 2].iter().filter_map(|back| prompt.len().checked_sub(*back));
            saved.extend(places.filter(|place| *place > checkpoint).map(|place| prompt[..place].to_vec()));
            live = prompt;
            let reply: Vec<u32> = (0..reply).collect();
            for cache in &mut caches {
                cache.reply(&reply);
            }
            blocks.reply(&reply);
            live.extend(reply);
            seen.push(live.clone());
        }
    }
}

fn common(one: &[u32], other: &[u32]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}
