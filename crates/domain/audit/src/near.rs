//! When two texts say the same: the same words but for a few.
//!
//! Owns: the measure, and finding pairs without comparing every text with every other. Never: what the texts are of.

use std::collections::{BTreeMap, BTreeSet};

/// So many tenths of the words of two texts together must be in both.
const ALIKE_TENTHS: usize = 9;

/// For each text that repeats an earlier one, both places; the earliest one that it repeats.
pub(crate) fn repeats(texts: &[&str]) -> Vec<(usize, usize)> {
    let texts: Vec<BTreeSet<String>> = texts.iter().map(|text| words(text)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in texts.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut by_word: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut repeats = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let mut rarest: Vec<&str> = text.iter().map(String::as_str).collect();
        rarest.sort_by_key(|word| (counts[word], *word));
        // Texts that are alike share one of so many of their rarest words.
        rarest.truncate(text.len() - (text.len() * ALIKE_TENTHS).div_ceil(10) + 1);
        let candidates: BTreeSet<usize> = rarest
            .iter()
            .flat_map(|word| by_word.get(word).into_iter().flatten().copied())
            .collect();
        let earliest = candidates
            .into_iter()
            .find(|earlier| alike(&texts[*earlier], text));
        if let Some(earlier) = earliest.filter(|_| !text.is_empty()) {
            repeats.push((at, earlier));
        }
        for word in rarest {
            by_word.entry(word).or_default().push(at);
        }
    }
    repeats
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let both = a.intersection(b).count();
    both * 10 >= (a.len() + b.len() - both) * ALIKE_TENTHS
}
