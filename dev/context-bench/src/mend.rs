//! B12: the speed of repairing broken transcripts, and whether providers accept the repaired ones.
//!
//! Owns: breaking talks. Never: the repair and the checkers; `transcript` and its tests have them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use transcript::order::openai;
use transcript::repair::repair;
use transcript::{Block, Item};

use crate::dice::Dice;
use crate::speed::Clock;
use crate::table::{Table, count, number};
use crate::talk::Talk;

#[path = "../../../crates/transcript/tests/it/anthropic.rs"]
mod anthropic;

/// Number of broken transcripts made of one talk.
const BREAKS: usize = 20;
/// The system item and the user's first item stay in place: without them a client has no talk.
const OPENING: usize = 2;

/// The results of the repairs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mended {
    pub transcripts: usize,
    pub items: usize,
    /// Transcripts that a provider would refuse before the repair.
    pub broken: usize,
    /// Repaired transcripts that OpenAI's or Anthropic's rules still refuse.
    pub refused: usize,
    /// Repaired transcripts that a second repair changes again.
    pub unstable: usize,
    pub time: Duration,
}

/// Repairs several broken forms of every talk.
pub fn measure(talks: &[Talk], clock: Clock<'_>) -> Mended {
    let mut mended = Mended::default();
    let pending = BTreeSet::new();
    let accepted = |items: &[Arc<Item>]| openai(items) && anthropic::anthropic(items);
    for (seed, talk) in (0..).zip(talks) {
        let mut dice = Dice::new(seed);
        for _ in 0..BREAKS {
            let items = broken(&talk.items, &mut dice);
            let start = clock();
            let repaired = repair(&items, &pending);
            mended.time += clock().saturating_sub(start);
            mended.transcripts += 1;
            mended.items += items.len();
            mended.broken += usize::from(!accepted(&items));
            mended.refused += usize::from(!accepted(&repaired));
            let again = repair(&repaired, &pending);
            mended.unstable += usize::from(again != repaired);
        }
    }
    mended
}

/// A copy with items lost, doubled, out of order, or with blank or reused ids.
fn broken(items: &[Arc<Item>], dice: &mut Dice) -> Vec<Arc<Item>> {
    let mut out: Vec<Arc<Item>> = items[..OPENING.min(items.len())].to_vec();
    for item in items.iter().skip(OPENING) {
        match dice.roll(24) {
            0 => {}
            1 => out.extend([Arc::clone(item), Arc::clone(item)]),
            2 => {
                let early = out.len() - dice.roll(out.len().saturating_sub(OPENING).min(4));
                out.insert(early, Arc::clone(item));
            }
            3 => out.push(with_id(item, "")),
            4 => out.push(with_id(item, "call_1")),
            _ => out.push(Arc::clone(item)),
        }
    }
    out
}

fn with_id(item: &Arc<Item>, id: &str) -> Arc<Item> {
    let mut item = Item::clone(item);
    for block in &mut item.blocks {
        match block {
            Block::Call(call) => id.clone_into(&mut call.id),
            Block::Outcome(outcome) => id.clone_into(&mut outcome.call_id),
            _ => {}
        }
    }
    Arc::new(item)
}

/// One row.
pub fn table(mended: &Mended) -> Table {
    let row = vec![
        count(mended.transcripts),
        count(mended.items),
        count(mended.broken),
        count(mended.refused),
        count(mended.unstable),
        number(mended.items as f64 / mended.time.as_secs_f64() / 1e6, 2),
    ];
    Table::new(
        "B12",
        "broken transcripts repaired",
        [
            "transcripts",
            "items",
            "refused before",
            "refused after",
            "changed by a second repair",
            "million items/s",
        ],
        vec![row],
    )
}
