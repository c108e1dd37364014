//! B2: recovery by id and by words after k compactions and a restart.
//!
//! Owns: the restart from records, and a plain search by rare words over the originals (a pure crate cannot
//! use the ledger's search). Never: the view; `survival` measures it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use context::event::ViewEvent;
use context::policy::Policy;
use context::session::{PieceContent, Session};
use context::tokens::Meter;
use context::{ranges, record};
use transcript::{Item, ItemId};

use crate::strategy::{Engine, Strategy};
use crate::survival::{LIMIT_MAIN, ROUNDS, parts, texts};
use crate::table::{Table, count, number};
use crate::talk::Talk;
use crate::tally::Tally;

/// The recovery after a number of compactions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recovery {
    pub rounds: usize,
    /// Items that the view names, alone or in a node, and for which the log has the original as it arrived.
    pub by_id: Tally,
    /// Needles in the first item found by their words, and in one of the first five.
    pub first: Tally,
    pub five: Tally,
    /// Total bytes of the first items found.
    pub bytes: usize,
}

/// Our engine at the main limit.
pub fn measure(talks: &[Talk], meter: &Meter) -> Vec<Recovery> {
    let of = |rounds: usize| {
        let mut recovery = Recovery {
            rounds,
            ..Recovery::default()
        };
        for talk in talks {
            let mut engine = Engine::new(Policy::quipu(), meter.clone());
            for (part, so_far) in parts(&talk.items, rounds, meter) {
                engine.request(part, so_far * LIMIT_MAIN / 100);
            }
            recovery.look(talk, engine.log(), meter);
        }
        recovery
    };
    ROUNDS.map(of).to_vec()
}

impl Recovery {
    fn look(&mut self, talk: &Talk, log: &[ViewEvent], meter: &Meter) {
        let lines = log.iter().map(record::write);
        let log: Vec<ViewEvent> = lines.filter_map(|line| record::read(&line).ok()).collect();
        let originals: BTreeMap<ItemId, Arc<Item>> = log
            .iter()
            .filter_map(|event| match event {
                ViewEvent::Item { id, item } => Some((*id, Arc::clone(item))),
                _ => None,
            })
            .collect();
        let session = Session::restore(Policy::quipu(), meter.clone(), log);
        for (id, item) in (0..).map(ItemId).zip(&talk.items) {
            self.by_id
                .add(is_in_view(&session, id) && originals.get(&id) == Some(item));
        }
        let index = Index::of(originals.values());
        for needle in &talk.needles {
            let found = index.search(&needle.text, 5);
            let says = |item: &Arc<Item>| {
                texts(std::slice::from_ref(item))
                    .iter()
                    .any(|text| needle.is_in(text))
            };
            self.first.add(found.first().is_some_and(&says));
            self.five.add(found.iter().any(says));
            let first = found.first().map(std::slice::from_ref).unwrap_or_default();
            self.bytes += texts(first).iter().map(|text| text.len()).sum::<usize>();
        }
    }
}

/// Whether the view shows the item, its stub, or a node that covers it.
fn is_in_view(session: &Session, id: ItemId) -> bool {
    session.frontier().iter().any(|piece| match &piece.what {
        PieceContent::Item { id: shown, .. } => *shown == id,
        PieceContent::Node(node) => ranges::contains(&node.covers, id),
    })
}

/// The items that contain each word.
struct Index {
    items: Vec<Arc<Item>>,
    places: BTreeMap<String, BTreeSet<usize>>,
}

impl Index {
    fn of<'a>(items: impl Iterator<Item = &'a Arc<Item>>) -> Self {
        let items: Vec<Arc<Item>> = items.cloned().collect();
        let mut places: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (place, item) in items.iter().enumerate() {
            for word in texts(std::slice::from_ref(item))
                .into_iter()
                .flat_map(search_words)
            {
                places.entry(word).or_default().insert(place);
            }
        }
        Self { items, places }
    }

    /// The items with the rarest words of the query, best first; ties by age, oldest first.
    fn search(&self, query: &str, max: usize) -> Vec<Arc<Item>> {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for word in search_words(query).into_iter().collect::<BTreeSet<_>>() {
            let Some(places) = self.places.get(&word) else {
                continue;
            };
            let rarity = (1.0 + self.items.len() as f64 / places.len() as f64).ln();
            for place in places {
                *scores.entry(*place).or_default() += rarity;
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
            .into_iter()
            .take(max)
            .map(|(place, _)| Arc::clone(&self.items[place]))
            .collect()
    }
}

/// Runs of letters and digits in lower case; in a script without blanks, pairs of neighbouring characters.
fn search_words(text: &str) -> Vec<String> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.filter(|run| !run.is_empty())
        .flat_map(|run| {
            let chars: Vec<char> = run.chars().collect();
            if chars.iter().any(|c| *c >= '\u{2e80}') {
                chars.windows(2).map(|pair| pair.iter().collect()).collect()
            } else {
                vec![run.to_lowercase()]
            }
        })
        .collect()
}

/// One row for each number of rounds.
pub fn table(recoveries: &[Recovery]) -> Table {
    let row = |recovery: &Recovery| {
        vec![
            count(recovery.rounds),
            number(recovery.by_id.percent(), 2),
            number(recovery.first.percent(), 1),
            number(recovery.five.percent(), 1),
            number(recovery.bytes as f64 / recovery.first.all as f64, 0),
        ]
    };
    Table::new(
        "B2",
        "had again after k compactions to 25 % and a restart, one call each, percent",
        [
            "compactions",
            "items by id",
            "needles by words, first hit",
            "among five",
            "bytes of the first hit",
        ],
        recoveries.iter().map(row).collect(),
    )
}
