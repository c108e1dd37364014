//! A search: hits with their reasons, and the fold below the sure ones.
//!
//! Owns: the fold, and finding profile lines by their words. Never: ranking.

use model::text;
use std::cmp::Ordering;

use gateway::wire::{GetData, MemoryType, SearchData, SearchRequest};

use crate::cards::{EPISODE, HitReasons, MemoryCard, MessageQuote, cards};
use crate::memories::{self, ListQuery, ResultsPart};
use crate::visit::Visit;
use crate::words;
use gateway::ApiError;

/// Hits of a search.
const HITS: i64 = 20;
/// Maximum number of verbatim messages next to the hits.
const MESSAGES: i64 = 6;
/// The minimum score of a sure hit without a word of the question: its meaning or its conversation counts.
const SURE: f32 = 0.1;
/// Maximum number of hits above the fold if none is sure.
const SIMILAR_MAX: usize = 5;

pub(crate) async fn results(visit: &Visit, wanted: &ListQuery) -> Result<ResultsPart, ApiError> {
    let words = telling(wanted.question());
    let mut found = statements(visit, wanted, &words).await?;
    let data: SearchData = visit
        .api
        .post_data("/memory/search", &request(visit, wanted))
        .await?;
    let owner = &visit.owner;
    let score = |score: Option<f32>| score.unwrap_or_default();
    let facts = data.facts.iter();
    found.extend(facts.map(|fact| (score(fact.score), MemoryCard::fact(fact, owner))));
    let episodes = data.episodes.iter();
    found.extend(episodes.map(|episode| (score(episode.score), MemoryCard::episode(episode, owner))));
    let events = data.foresights.iter();
    found.extend(events.map(|event| (score(event.score), MemoryCard::event(event, owner))));
    found.retain(|(_, card)| wanted.keeps(card));
    // A single fact is more precise than the summary that contains it.
    found.sort_by(|(a, one), (b, other)| {
        (one.kind == EPISODE, b)
            .partial_cmp(&(other.kind == EPISODE, a))
            .unwrap_or(Ordering::Equal)
    });
    let messages = data.messages.into_iter().filter(|_| wanted.is_kind(""));
    let said: Vec<(f32, MessageQuote)> = messages
        .map(|message| (message.score, MessageQuote::of(message, owner)))
        .collect();
    let has_word =
        found.iter().any(|(_, card)| card.has_word()) || said.iter().any(|(_, quote)| quote.has_word());
    let (mut cards, mut less) = folded(found, MemoryCard::has_word);
    let (mut quotes, mut less_quotes) = folded(said, MessageQuote::has_word);
    if cards.is_empty() && quotes.is_empty() {
        cards.extend(less.drain(..less.len().min(SIMILAR_MAX)));
        quotes.extend(less_quotes.drain(..less_quotes.len().min(SIMILAR_MAX)));
    }
    let summary = if cards.is_empty() && quotes.is_empty() {
        "Nothing found.".to_owned()
    } else if has_word || words.is_empty() {
        format!("{}, best first.", counted(cards.len(), quotes.len()))
    } else if let [word] = &*words {
        format!("Nothing has the word \u{201c}{word}\u{201d}. Similar ones:")
    } else {
        "Nothing has these words. Similar ones:".to_owned()
    };
    Ok(ResultsPart {
        summary: Some(summary),
        less_summary: counted(less.len(), less_quotes.len()),
        cards,
        quotes,
        less,
        less_quotes,
        warnings: data.warnings,
        is_search: true,
        forget: Some(visit.owner.link("forget", &[("words", &wanted.question())])),
        ..ResultsPart::empty(visit)
    })
}

fn request(visit: &Visit, wanted: &ListQuery) -> SearchRequest {
    SearchRequest {
        user_id: Some(visit.owner.user.clone()),
        top_k: HITS,
        include_messages: MESSAGES,
        include_person: true,
        explain: true,
        filters: wanted.filter(),
        as_of: wanted.as_of(),
        ..SearchRequest::new(wanted.question()).within(&visit.owner.app, &visit.owner.project)
    }
}

/// Profile lines that contain words of the question. The engine returns only whole profiles.
async fn statements(
    visit: &Visit,
    wanted: &ListQuery,
    words: &[String],
) -> Result<Vec<(f32, MemoryCard)>, ApiError> {
    let is_asked = wanted.is_kind("") || wanted.is_kind("profile");
    // A profile line has no time.
    if !is_asked || wanted.is_at_a_time() || words.is_empty() {
        return Ok(Vec::new());
    }
    let request = memories::request(&visit.owner, MemoryType::Profile);
    let data: GetData = visit.api.post_data("/memory/get", &request).await?;
    let lines = cards(&data, &visit.owner).into_iter();
    Ok(lines.filter_map(|line| with_words(line, words)).collect())
}

fn with_words(mut line: MemoryCard, words: &[String]) -> Option<(f32, MemoryCard)> {
    let terms = text::term_set(&format!("{} {}", line.title, line.text));
    let has = |word: &&String| text::query_terms(word).iter().any(|term| terms.contains(term));
    let shared: Vec<String> = words.iter().filter(has).cloned().collect();
    if shared.is_empty() {
        return None;
    }
    let share = shared.len() as f32 / words.len() as f32;
    line.why = Some(HitReasons::of_words(share, shared));
    Some((share, line))
}

/// The words of a question without stop words, each once.
fn telling(question: &str) -> Vec<String> {
    let language = text::Language::of(question);
    let mut words: Vec<String> = Vec::new();
    text::each_word(question, |_, word| {
        if !language.is_stop_word(word) && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    });
    words
}

/// Splits hits into sure and less sure ones.
fn folded<T>(hits: Vec<(f32, T)>, has_word: impl Fn(&T) -> bool) -> (Vec<T>, Vec<T>) {
    let (sure, less): (Vec<_>, Vec<_>) = hits
        .into_iter()
        .partition(|(score, hit)| *score >= SURE || has_word(hit));
    let alone = |hits: Vec<(f32, T)>| hits.into_iter().map(|(_, hit)| hit).collect();
    (alone(sure), alone(less))
}

/// "2 memories and 1 message"; a part of 0 is left out.
fn counted(memories: usize, messages: usize) -> String {
    let parts = [
        (memories, "memory", "memories"),
        (messages, "message", "messages"),
    ];
    let parts = parts.iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, one, more)| words::count(*count, one, more))
        .collect();
    parts.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_with_a_word_or_a_sure_meaning_stands_above_the_fold() {
        let hits = vec![
            (0.4, "moved to Porto"),
            (0.05, "lives in Lisbon"),
            (0.03, "has a dog"),
        ];
        let (sure, less) = folded(hits, |text| text.contains("live"));
        assert_eq!(sure, ["moved to Porto", "lives in Lisbon"]);
        assert_eq!(less, ["has a dog"]);
        assert_eq!(telling("Where does she live, live?"), ["live"]);
        assert_eq!(counted(1, 0), "1 memory");
        assert_eq!(counted(2, 1), "2 memories and 1 message");
    }
}
