//! The cost of placing memory: mean tokens evaluated per turn, by placement and cache.
//!
//! Set-up: 60 turns; head 3,000, user 120, reply 300, memory 300 (another each turn), time 40; window 32,768, compacted
//! in one step from 85 % to 45 %. Run with `--no-capture` to see the table.

use expect_test::expect;
use testkit::caches::{Blocks, Cache, Checkpoints, Rewind, Slots};

const USER: u32 = 1;
const WINDOW: usize = 32_768;

#[derive(Clone, Copy)]
enum Place {
    Front,
    BeforeHistory,
    TailBefore,
    TailAfter,
    /// With this many tokens of memory a turn.
    Frozen(usize),
}

fn piece(kind: u32, turn: usize, len: usize) -> impl Iterator<Item = u32> {
    let [turn, len] = [turn, len].map(|number| u32::try_from(number).expect("small"));
    (0..len).map(move |at| kind << 28 | turn << 16 | at << 1)
}

fn user(turn: usize) -> impl Iterator<Item = u32> {
    std::iter::once(USER).chain(piece(2, turn, 119))
}

fn prompt(place: Place, first: usize, turn: usize) -> Vec<u32> {
    let memory = || piece(3, turn, 300).chain(piece(4, turn, 40));
    let mut tokens: Vec<u32> = Vec::new();
    if matches!(place, Place::Front) {
        tokens.extend(memory());
    }
    tokens.extend(piece(1, 0, 3_000));
    if matches!(place, Place::BeforeHistory) {
        tokens.extend(piece(3, turn, 300));
    }
    for past in first..turn {
        tokens.extend(user(past));
        if let Place::Frozen(len) = place {
            tokens.extend(piece(3, past, len).chain(piece(4, past, 40)));
        }
        tokens.extend(piece(5, past, 300));
    }
    match place {
        Place::Front => tokens.extend(user(turn)),
        Place::BeforeHistory => tokens.extend(piece(4, turn, 40).chain(user(turn))),
        Place::TailBefore => tokens.extend(memory().chain(user(turn))),
        Place::TailAfter => tokens.extend(user(turn).chain(memory())),
        Place::Frozen(len) => tokens.extend(user(turn).chain(piece(3, turn, len)).chain(piece(4, turn, 40))),
    }
    tokens
}

fn mean(place: Place, cache: &mut dyn Cache) -> usize {
    let (mut first, mut evaluated) = (0, 0);
    for turn in 0..60 {
        let mut tokens = prompt(place, first, turn);
        if tokens.len() + 300 > WINDOW * 85 / 100 {
            while tokens.len() > WINDOW * 45 / 100 {
                first += 1;
                tokens = prompt(place, first, turn);
            }
        }
        evaluated += cache.request(&tokens).evaluated;
        cache.reply(&piece(5, turn, 300).collect::<Vec<_>>());
    }
    evaluated / 60
}

#[test]
fn our_placement_costs_only_the_new_tokens() {
    let places = [
        ("memory and time at the front", Place::Front),
        ("memory before history, time in tail", Place::BeforeHistory),
        ("tail before user, not kept", Place::TailBefore),
        ("tail after user, not kept", Place::TailAfter),
        ("frozen, full block", Place::Frozen(300)),
        ("frozen, delta (ours)", Place::Frozen(70)),
    ];
    let mut rows = vec![format!(
        "{:38}{:>8}{:>8}{:>8}{:>8}{:>8}",
        "", "rewind", "ck-chat", "ck-flat", "extend", "blk128"
    )];
    for (name, place) in places {
        let slots = |rewind| mean(place, &mut Slots::new(rewind, 1));
        let row = [
            slots(Rewind::Any),
            slots(Rewind::Checkpoints(Checkpoints::chat(USER))),
            slots(Rewind::Checkpoints(Checkpoints::flat())),
            slots(Rewind::Never),
            mean(place, &mut Blocks::new(128, 1_024, 100_000)),
        ];
        let cells = row.map(|tokens| format!("{tokens:>8}"));
        rows.push([format!("{name:38}"), cells.concat()].concat());
    }
    let table = rows.join("\n");
    println!("{table}");
    expect![[r"
                                                rewind ck-chat ck-flat  extend  blk128
        memory and time at the front             15402   15402   15402   15402   15402
        memory before history, time in tail      12452   12507   12600   15402   12507
        tail before user, not kept                1097    1202    1693   15402    1159
        tail after user, not kept                  981    1148    1693   15402    1042
        frozen, full block                         864     964     964     964     919
        frozen, delta (ours)                       465     515     515     515     530"]]
    .assert_eq(&table);
}
