//! Names in a turn that occur nowhere in memory: memory has no answer about them.
//!
//! Owns: the choice of words that are names. Never: the minimum certainty, or the hits.

use std::collections::BTreeSet;
use std::ops::Range;

use model::text::{self, Language};
use model::{Timestamp, Zone};
use unicode_segmentation::UnicodeSegmentation;

use super::turn::follows_a_word;
use crate::hit::{Hit, Ranking};
use crate::time;

/// Whether a turn names somebody or something, and no hit has a word of any of these names.
pub(super) fn names_a_stranger(turn: &str, ranking: &Ranking) -> bool {
    let names = names(turn);
    let memories = ranking.memories.iter();
    let memories = memories.flat_map(|hit| std::iter::once(hit).chain(&hit.facts));
    let mut hits = ranking.messages.iter().chain(memories);
    !names.is_empty() && hits.all(|hit| hit_terms(hit).is_disjoint(&names))
}

/// The words of a hit and of its speaker, folded as for the search.
fn hit_terms(hit: &Hit) -> BTreeSet<String> {
    let doc = &hit.doc;
    let owner = doc.key.owner.id.as_str();
    let texts = [&*doc.text, &*doc.subject, &*doc.summary, owner];
    let texts = texts.into_iter().chain(doc.speaker.as_deref());
    texts.flat_map(text::term_set).collect()
}

/// The words of names in a text: capitalised words within a sentence, in a language that
/// capitalises no other words. A name that only addresses somebody ("Hey Claude, …") and the name
/// of a day or month are left out.
fn names(text: &str) -> BTreeSet<String> {
    let language = Language::of(text);
    let mut names = BTreeSet::new();
    if language == Language::German {
        return names;
    }
    let times = time::asked(text, Timestamp::from_millis(0), &Zone::utc());
    let is_time = |place: &Range<usize>| {
        let mut times = times.iter();
        times.any(|time| time.range.start < place.end && place.start < time.range.end)
    };
    let mut start = 0;
    for sentence in text.split_sentence_bounds() {
        let (mut found, mut lower, mut place_in_sentence) = (BTreeSet::new(), 0, 0);
        text::each_word(sentence, |place, word| {
            place_in_sentence += 1;
            let within = start + place.start..start + place.end;
            let calls = place_in_sentence == 2 && sentence[place.end..].starts_with(',');
            if !sentence[place.clone()].starts_with(char::is_uppercase) {
                lower += usize::from(place_in_sentence > 1);
            } else if follows_a_word(&text[..within.start])
                && !(calls || language.is_stop_word(word) || is_time(&within))
            {
                found.extend(text::term_set(&sentence[place]));
            }
        });
        // If all words are capitalised, the capitals mark no names.
        if lower > 0 {
            names.extend(found);
        }
        start += sentence.len();
    }
    names
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_name_is_capitalised_within_a_sentence_and_no_address_and_no_day() {
        let of = |text: &str| names(text).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(of("What did Elise say about New York?"), "elis new york");
        for none in [
            "What is my blood type?",
            "Hey Claude, where do I live?",
            "When do I see the dentist, on Monday or in May 2025?",
            "What Is My Blood Type?",
            "WHERE DO I LIVE",
            "Wie heißt mein Zahnarzt?",
            "I think I'm late. Where do I live?",
            "我住在哪里？",
        ] {
            assert!(of(none).is_empty(), "{none}: {:?}", of(none));
        }
    }
}
