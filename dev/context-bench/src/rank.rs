//! B16: whether items that are needed later rank first.
//!
//! Owns: made-up agent sessions that return to earlier files, labels, AUC and NDCG of code-buddy's formula,
//! of recency and of chance. Never: a label that depends on a score; labels split words by white space alone,
//! unlike the scorer.

use std::collections::{BTreeMap, BTreeSet};

use context::shorten::score::{ScoreRules, score};
use transcript::{Block, Call, Item, Role};

use crate::dice::Dice;
use crate::table::{Table, number, text};

type Ranker = fn(&[Item]) -> Vec<f64>;

const RANKERS: [(&str, Ranker); 4] = [
    ("code-buddy", values),
    ("recency", |items| {
        (0..items.len()).map(|index| index as f64).collect()
    }),
    ("length", |items| {
        items.iter().map(|item| identifiers(item).len() as f64).collect()
    }),
    ("chance", |items| {
        let mut dice = Dice::new(items.len() as u64);
        items.iter().map(|_| dice.roll(1_000_000) as f64).collect()
    }),
];

/// One ranker's quality, means over talks cut at a third, the half and three quarters.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    pub name: &'static str,
    /// The probability that an item needed later ranks before one that is not.
    pub auc: f64,
    pub ndcg: f64,
}

/// Every ranker on these talks.
pub fn measure(talks: &[Vec<Item>]) -> Vec<Quality> {
    let quality = |(name, ranker): (&'static str, Ranker)| {
        let (mut auc, mut ndcg, mut count) = (0.0, 0.0, 0.0);
        for talk in talks {
            for cut in [talk.len() / 3, talk.len() / 2, talk.len() * 3 / 4] {
                let labels = labels(talk, cut);
                let positive = labels.iter().filter(|label| **label).count();
                if positive > 0 && positive < cut {
                    let values = ranker(&talk[..cut]);
                    auc += area(&values, &labels);
                    ndcg += gain(&values, &labels);
                    count += 1.0;
                }
            }
        }
        Quality {
            name,
            auc: auc / count,
            ndcg: ndcg / count,
        }
    };
    RANKERS.map(quality).to_vec()
}

/// One row for each ranker.
pub fn table(qualities: &[Quality]) -> Table {
    let row = |quality: &Quality| {
        vec![
            text(quality.name),
            number(quality.auc, 3),
            number(quality.ndcg, 3),
        ]
    };
    Table::new(
        "B16",
        "whether items whose identifiers are needed later rank first",
        ["ranker", "AUC", "NDCG"],
        qualities.iter().map(row).collect(),
    )
}

fn values(items: &[Item]) -> Vec<f64> {
    let scores = score(items, &ScoreRules::default());
    scores.into_iter().map(|score| score.value).collect()
}

fn identifiers(item: &Item) -> BTreeSet<String> {
    let texts = item.blocks.iter().map(|block| match block {
        Block::Text(text) => text.clone(),
        Block::Call(call) => call.arguments.clone(),
        Block::Outcome(outcome) => outcome.text.clone(),
        _ => String::new(),
    });
    let trim = |word: &str| word.trim_matches(|c: char| c.is_ascii_punctuation()).to_owned();
    let words: Vec<String> = texts
        .flat_map(|text| text.split_whitespace().map(trim).collect::<Vec<_>>())
        .collect();
    let marks = |c: char| c.is_ascii_digit() || c.is_uppercase() || "_/.:@#".contains(c);
    let named = |word: &String| word.len() >= 5 && word.chars().skip(1).any(marks);
    words.into_iter().filter(named).collect()
}

/// An item is positive if it shares an identifier with a later item and at most six items have that
/// identifier.
fn labels(talk: &[Item], cut: usize) -> Vec<bool> {
    let words: Vec<BTreeSet<String>> = talk.iter().map(identifiers).collect();
    let mut items_with: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words.iter().flatten() {
        *items_with.entry(word).or_default() += 1;
    }
    let later: BTreeSet<&str> = words[cut..].iter().flatten().map(String::as_str).collect();
    let needed = |word: &String| items_with[word.as_str()] <= 6 && later.contains(word.as_str());
    words[..cut]
        .iter()
        .map(|words| words.iter().any(needed))
        .collect()
}

/// The probability that a positive ranks before a negative; a tie counts half.
fn area(values: &[f64], labels: &[bool]) -> f64 {
    let (mut won, mut pairs) = (0.0, 0.0);
    for (a, _) in values.iter().zip(labels).filter(|(_, label)| **label) {
        for (b, _) in values.iter().zip(labels).filter(|(_, label)| !**label) {
            pairs += 1.0;
            won += match a.total_cmp(b) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    won / pairs
}

fn gain(values: &[f64], labels: &[bool]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let discounted = |labels: &mut dyn Iterator<Item = bool>| -> f64 {
        labels
            .enumerate()
            .filter(|(_, label)| *label)
            .map(|(at, _)| 1.0 / (at as f64 + 2.0).log2())
            .sum()
    };
    let best = labels.iter().filter(|label| **label).count();
    discounted(&mut order.into_iter().map(|index| labels[index])) / discounted(&mut (0..best).map(|_| true))
}

/// A session of an agent that works on a few files at a time, reads some needlessly, and returns to old ones
/// now and then.
pub fn session(seed: u64) -> Vec<Item> {
    let mut dice = Dice::new(seed);
    let mut items = vec![Item::text(Role::System, "You are a careful engineer.")];
    let (mut known, mut focus): (Vec<String>, String) = (Vec::new(), "src/main.rs".to_owned());
    for turn in 0..40 + dice.roll(60) {
        match dice.roll(10) {
            0 => items.push(Item::text(
                Role::User,
                format!(
                    "Look at {focus} again, it is slow for order {}",
                    dice.roll(90_000)
                ),
            )),
            1 => items.push(Item::text(
                Role::Assistant,
                "Understood. I will carry on with the next part of the work.",
            )),
            2 if !known.is_empty() => focus.clone_from(&known[dice.roll(known.len())]),
            3 | 4 => {
                focus = format!("src/part{}/unit_{}.rs", dice.roll(9), dice.roll(500));
                known.push(focus.clone());
            }
            _ => {}
        }
        let id = format!("call{turn}");
        let call = Call {
            id: id.clone(),
            name: "shell".to_owned(),
            arguments: format!("{{\"command\":\"cat {focus}\"}}"),
        };
        items.push(Item {
            role: Role::Assistant,
            blocks: vec![Block::Call(call)],
            raw: None,
            edited: false,
        });
        let lines: Vec<String> = (0..dice.roll(12))
            .map(|line| format!("fn step_{}() {{}} // line {line}", dice.roll(4_000)))
            .collect();
        let failed = dice.roll(6) == 0;
        let text = if failed {
            format!("error[E{:04}]: in {focus}", dice.roll(800))
        } else {
            lines.join("\n")
        };
        items.push(Item::outcome(&id, text));
    }
    items
}
