//! When two texts mean the same: the same words except for a few.
//!
//! Owns: the measure, and finding pairs without comparing every text with every other. Never: the origin of the texts.

use std::collections::{BTreeMap, BTreeSet};

/// Tenths of all words of two texts that both must have.
const ALIKE_TENTHS: usize = 9;

/// Maximum number of texts with a shared word that are compared with a text, earliest first: a word of thousands of
/// texts means little.
const SHARING_MAX: usize = 128;

/// For each text that repeats an earlier one, both places; the earliest one that it repeats.
pub(crate) fn repeats(texts: &[&str]) -> Vec<(usize, usize)> {
    compared(texts).0
}

/// As [`repeats`], with the number of compared texts.
fn compared(texts: &[&str]) -> (Vec<(usize, usize)>, usize) {
    let texts = ranked(texts);
    let mut same: BTreeMap<&[usize], usize> = BTreeMap::new();
    let mut by_word: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let (mut repeats, mut comparisons) = (Vec::new(), 0);
    for (at, text) in texts.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        let first = *same.entry(text).or_insert(at);
        // Two similar texts share at least one of these rarest words.
        let rarest = &text[..=text.len() - (text.len() * ALIKE_TENTHS).div_ceil(10)];
        let is_alike = |earlier: &usize| {
            comparisons += 1;
            alike(&texts[*earlier], text)
        };
        if first < at {
            // This text repeats everything that the first text with the same words repeats.
            let earliest = repeated_by(&repeats, first).unwrap_or(first);
            repeats.push((at, earliest));
            continue;
        }
        let sharing = rarest
            .iter()
            .flat_map(|word| by_word.get(word).into_iter().flatten());
        let candidates: BTreeSet<usize> = sharing.copied().collect();
        let earliest = candidates.into_iter().find(is_alike);
        repeats.extend(earliest.map(|earlier| (at, earlier)));
        for word in rarest {
            let sharing = by_word.entry(*word).or_default();
            if sharing.len() < SHARING_MAX {
                sharing.push(at);
            }
        }
    }
    (repeats, comparisons)
}

/// The earlier text that a text repeats; the pairs are sorted by the repeating text.
fn repeated_by(repeats: &[(usize, usize)], text: usize) -> Option<usize> {
    let at = repeats.binary_search_by_key(&text, |(newer, _)| *newer).ok()?;
    Some(repeats[at].1)
}

/// Each text's distinct words as ranks: the rarest of all texts first.
fn ranked(texts: &[&str]) -> Vec<Vec<usize>> {
    let texts: Vec<BTreeSet<String>> = texts.iter().map(|text| words(text)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in texts.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut by_count: Vec<(usize, &str)> = counts.into_iter().map(|(word, count)| (count, word)).collect();
    by_count.sort_unstable();
    let ranks = by_count.iter().enumerate().map(|(rank, (_, word))| (*word, rank));
    let ranks: BTreeMap<&str, usize> = ranks.collect();
    let of_text = |text: &BTreeSet<String>| {
        let mut text: Vec<usize> = text.iter().map(|word| ranks[word.as_str()]).collect();
        text.sort_unstable();
        text
    };
    texts.iter().map(of_text).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn alike(a: &[usize], b: &[usize]) -> bool {
    let (mut both, mut rest) = (0, b);
    for word in a {
        let before = rest.partition_point(|other| other < word);
        rest = &rest[before..];
        both += usize::from(rest.first() == Some(word));
    }
    both * 10 >= (a.len() + b.len() - both) * ALIKE_TENTHS
}

#[cfg(test)]
mod tests {
    use super::compared;

    /// Ten times the texts take ten times the comparisons, even if all are the same or nearly so.
    #[test]
    fn comparisons_grow_with_the_number_of_texts_and_not_of_pairs() {
        let shapes: [fn(usize) -> String; 3] = [
            |_| "Ann likes the green tea of the old shop in the harbour street".to_owned(),
            |n| format!("Ann likes the green tea of the old shop in harbour street number {n}"),
            |n| format!("Ann likes tea number {}", n % 700),
        ];
        for shape in shapes {
            let texts: Vec<String> = (0..4_000).map(shape).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let [(few, some), (many, all)] = [compared(&texts[..400]), compared(&texts)];
            assert!(all <= 10 * (some + 400 * 300), "{some} and {all}");
            assert!(many.len() >= few.len());
        }
    }

    #[test]
    fn texts_of_the_same_words_repeat_the_same_earlier_text() {
        let long = "one two three four five six seven eight nine ten eleven twelve";
        let nearly = format!("{long} thirteen");
        let texts = [long, &nearly, "other", &nearly, long];
        assert_eq!(compared(&texts).0, [(1, 0), (3, 0), (4, 0)]);
    }
}
