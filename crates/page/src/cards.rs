//! A memory as a card, a message as a quotation, and why a search found them.
//!
//! Owns: what of an item a person reads. Never: which items a view shows.

use askama::Template;
use wire::{EpisodeItem, Explain, FactItem, ForesightItem, FoundMessage, GetData, ProfileData};

use crate::guest::WhoseMemory;
use crate::words;

/// A memory as a card.
#[derive(Default)]
pub(crate) struct MemoryCard {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    /// A heading above the text, if the memory has one.
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) date: String,
    /// Why the date matters: "said", "happens".
    pub(crate) when: &'static str,
    /// Address of what took its place.
    pub(crate) superseded_by: Option<String>,
    pub(crate) ended: Option<String>,
    pub(crate) project_only: bool,
    /// Facts can hold in one project or everywhere.
    pub(crate) is_fact: bool,
    pub(crate) why: Option<HitReasons>,
    pub(crate) address: String,
    pub(crate) query: String,
    pub(crate) mode: CardMode,
}

/// How a card stands in a view.
#[derive(Default)]
pub(crate) enum CardMode {
    #[default]
    Shown,
    Edited,
    /// Changed just now, with the form that takes it back.
    Saved(Before),
}

/// A memory before a change.
pub(crate) struct Before {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) project_only: bool,
    /// The change itself took an earlier one back.
    pub(crate) is_undone: bool,
    /// Where the old words still stand.
    pub(crate) twin: Option<Twin>,
}

/// The same words in the other place: a fact, and a line of the profile.
pub(crate) struct Twin {
    pub(crate) place: String,
    pub(crate) text: String,
    pub(crate) address: String,
}

/// Why a search found something.
pub(crate) struct HitReasons {
    /// How well it fits, in words.
    pub(crate) fit: &'static str,
    /// Name, meaning and percent of each part that counted.
    pub(crate) parts: Vec<(&'static str, &'static str, u32)>,
    pub(crate) terms: Vec<String>,
}

/// A message in its own words.
pub(crate) struct MessageQuote {
    pub(crate) id: String,
    pub(crate) who: String,
    pub(crate) text: String,
    pub(crate) date: String,
    /// Address of its episode.
    pub(crate) episode: Option<String>,
    pub(crate) why: Option<HitReasons>,
}

#[derive(Template)]
#[template(path = "card.html")]
pub(crate) struct CardView<'a> {
    pub(crate) card: &'a MemoryCard,
}

/// Everything of an answer as cards.
pub(crate) fn cards(data: &GetData, whose: &WhoseMemory) -> Vec<MemoryCard> {
    let facts = data.facts.iter().map(|fact| MemoryCard::fact(fact, whose));
    let episodes = data
        .episodes
        .iter()
        .map(|episode| MemoryCard::episode(episode, whose));
    let events = data
        .foresights
        .iter()
        .map(|event| MemoryCard::event(event, whose));
    let profiles = data.profiles.iter();
    let statements = profiles.flat_map(|profile| MemoryCard::statements(&profile.profile_data, whose));
    facts.chain(episodes).chain(events).chain(statements).collect()
}

const FACT: &str = "Fact";
pub(crate) const EPISODE: &str = "Summary";
pub(crate) const EVENT: &str = "Upcoming event";
const STATEMENT: &str = "Profile";
const TRAIT: &str = "Trait";

/// The address of a memory's own view.
pub(crate) fn address(id: &str, whose: &WhoseMemory) -> String {
    format!("/page/memory/{}?{}", words::encoded(id), whose.query())
}

impl MemoryCard {
    /// A line of the profile.
    pub(crate) fn is_statement(&self) -> bool {
        matches!(self.kind, STATEMENT | TRAIT)
    }

    /// Whether it has a word of the question that found it.
    pub(crate) fn has_word(&self) -> bool {
        self.why.as_ref().is_some_and(|why| !why.terms.is_empty())
    }

    /// In a view with other cards.
    pub(crate) fn view(&self) -> CardView<'_> {
        CardView { card: self }
    }

    fn new(id: &str, kind: &'static str, text: &str, whose: &WhoseMemory) -> Self {
        Self {
            id: id.to_owned(),
            kind,
            text: text.to_owned(),
            when: "Said",
            address: address(id, whose),
            query: whose.query(),
            ..Self::default()
        }
    }

    pub(crate) fn fact(fact: &FactItem, whose: &WhoseMemory) -> Self {
        // A fact of another project of the same person has its own tenant.
        let whose = WhoseMemory {
            project: fact.project_id.clone().unwrap_or_else(|| "default".to_owned()),
            ..whose.clone()
        };
        Self {
            date: words::date(&fact.timestamp),
            superseded_by: fact.superseded_by.as_deref().map(|id| address(id, &whose)),
            ended: fact.valid_until.as_deref().map(words::date),
            project_only: fact.project_only,
            is_fact: true,
            why: reasons(fact.score, fact.explain.as_ref()),
            ..Self::new(&fact.id, FACT, &fact.content, &whose)
        }
    }

    pub(crate) fn episode(episode: &EpisodeItem, whose: &WhoseMemory) -> Self {
        let whose = WhoseMemory {
            project: episode.project_id.clone(),
            ..whose.clone()
        };
        Self {
            title: episode.subject.clone(),
            date: words::date(&episode.timestamp),
            superseded_by: episode.superseded_by.as_deref().map(|id| address(id, &whose)),
            why: reasons(episode.score, episode.explain.as_ref()),
            ..Self::new(&episode.id, EPISODE, &episode.summary, &whose)
        }
    }

    pub(crate) fn event(event: &ForesightItem, whose: &WhoseMemory) -> Self {
        Self {
            date: words::date(event.start_time.as_deref().unwrap_or(&event.timestamp)),
            when: if event.start_time.is_some() { "On" } else { "Said" },
            ..Self::new(&event.id, EVENT, &event.content, whose)
        }
    }

    pub(crate) fn statements(profile: &ProfileData, whose: &WhoseMemory) -> Vec<Self> {
        let stated = profile.explicit_info.iter().map(|line| Self {
            title: line.category.clone(),
            ..Self::new(&line.id, STATEMENT, &line.description, whose)
        });
        let shown = profile.implicit_traits.iter().map(|line| Self {
            title: line.name.clone(),
            ..Self::new(&line.id, TRAIT, &line.description, whose)
        });
        stated.chain(shown).collect()
    }
}

impl HitReasons {
    /// Of something that only its words found: what share of the question they are.
    pub(crate) fn of_words(share: f32, terms: Vec<String>) -> Self {
        Self {
            fit: fit(share),
            parts: vec![("words", "the same words", percent(share))],
            terms,
        }
    }
}

impl MessageQuote {
    /// Whether it has a word of the question that found it.
    pub(crate) fn has_word(&self) -> bool {
        self.why.as_ref().is_some_and(|why| !why.terms.is_empty())
    }

    pub(crate) fn of(message: &FoundMessage, whose: &WhoseMemory) -> Self {
        let whose = WhoseMemory {
            project: message.project_id.clone().unwrap_or_else(|| "default".to_owned()),
            ..whose.clone()
        };
        let name = message.sender_name.clone().or_else(|| message.sender_id.clone());
        Self {
            id: message.id.clone(),
            who: name.unwrap_or_else(|| "somebody".to_owned()),
            text: message.content.clone(),
            date: words::moment(&message.timestamp),
            episode: message.episode_id.as_deref().map(|id| address(id, &whose)),
            why: reasons(Some(message.score), message.explain.as_ref()),
        }
    }
}

fn reasons(score: Option<f32>, explain: Option<&Explain>) -> Option<HitReasons> {
    let explain = explain?;
    let parts = [
        ("words", "the same words", Some(explain.keyword)),
        ("meaning", "a similar meaning", Some(explain.vector)),
        ("time", "the time that you name", explain.time),
        ("recency", "how recent it is", Some(explain.freshness)),
        ("conversation", "the rest of it", Some(explain.session)),
        ("neighbours", "the messages beside it", Some(explain.neighbours)),
    ];
    let parts = parts.into_iter().filter_map(|(name, meaning, part)| {
        let percent = percent(part?);
        (percent > 0).then_some((name, meaning, percent))
    });
    Some(HitReasons {
        fit: fit(score.unwrap_or_default()),
        parts: parts.collect(),
        terms: explain.terms.clone(),
    })
}

/// A score between 0 and 1 in words.
fn fit(score: f32) -> &'static str {
    match percent(score) {
        60.. => "a strong match",
        25.. => "a good match",
        10.. => "a fair match",
        _ => "a weak match",
    }
}

/// The percent of a share.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a score or a confidence is between 0 and 1"
)]
pub(crate) fn percent(part: f32) -> u32 {
    (part.clamp(0.0, 1.0) * 100.0).round() as u32
}
