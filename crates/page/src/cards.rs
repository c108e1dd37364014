//! A memory as a card, a message as a quotation, and the reasons of a search hit.
//!
//! Owns: the parts of an item that a person reads. Never: the selection of items for a view.

use askama::Template;
use gateway::wire::{EpisodeItem, Explain, FactItem, ForesightItem, FoundMessage, GetData, ProfileData};

use crate::visit::MemoryOwner;
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
    /// The meaning of the date: "said", "happens".
    pub(crate) when: &'static str,
    /// Address of the memory that superseded this one.
    pub(crate) superseded_by: Option<String>,
    pub(crate) ended: Option<String>,
    pub(crate) project_only: bool,
    /// A fact can be valid in one project or everywhere.
    pub(crate) is_fact: bool,
    pub(crate) session: Option<String>,
    /// The file that contains the memory; the API names no file of a profile.
    pub(crate) path: String,
    /// Address of the episode that contains the fact.
    pub(crate) parent: Option<String>,
    pub(crate) why: Option<HitReasons>,
    pub(crate) address: String,
    pub(crate) query: String,
    pub(crate) mode: CardMode,
}

/// The mode of a card in a view.
#[derive(Default)]
pub(crate) enum CardMode {
    #[default]
    Shown,
    Edited,
    /// Just changed; the card has a form that undoes the change.
    Saved(Before),
}

/// A memory before a change.
pub(crate) struct Before {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) project_only: bool,
    /// The change itself undid an earlier one.
    pub(crate) is_undone: bool,
    /// Another memory that still has the old text.
    pub(crate) stale_copy: Option<StaleCopy>,
}

/// The same text in the other place: a profile line for a fact, a fact for a profile line.
pub(crate) struct StaleCopy {
    pub(crate) place: String,
    pub(crate) text: String,
    pub(crate) address: String,
}

/// Why a search found an item: its score and the parts of the score.
pub(crate) struct HitReasons {
    score: f32,
    explain: Explain,
}

#[derive(Template)]
#[template(path = "card.html")]
pub(crate) struct CardView<'a> {
    pub(crate) card: &'a MemoryCard,
}

/// All items of an answer as cards.
pub(crate) fn cards(data: &GetData, owner: &MemoryOwner) -> Vec<MemoryCard> {
    let facts = data.facts.iter().map(|fact| MemoryCard::fact(fact, owner));
    let episodes = data.episodes.iter();
    let episodes = episodes.map(|episode| MemoryCard::episode(episode, owner));
    let events = data.foresights.iter();
    let events = events.map(|event| MemoryCard::event(event, owner));
    let profiles = data.profiles.iter();
    let statements = profiles.flat_map(|profile| MemoryCard::statements(&profile.profile_data, owner));
    facts.chain(episodes).chain(events).chain(statements).collect()
}

const FACT: &str = "Fact";
pub(crate) const EPISODE: &str = "Summary";
pub(crate) const EVENT: &str = "Event";
const STATEMENT: &str = "Profile";
const TRAIT: &str = "Trait";

/// The address of a memory's view.
pub(crate) fn address(id: &str, owner: &MemoryOwner) -> String {
    format!("/page/memory/{}?{}", words::encoded(id), owner.query())
}

impl MemoryCard {
    /// Whether the memory is a line of the profile.
    pub(crate) fn is_statement(&self) -> bool {
        matches!(self.kind, STATEMENT | TRAIT)
    }

    /// Whether the memory has a word of the question.
    pub(crate) fn has_word(&self) -> bool {
        has_word(self.why.as_ref())
    }

    /// The template of the card within a view.
    pub(crate) fn view(&self) -> CardView<'_> {
        CardView { card: self }
    }

    fn new(id: &str, kind: &'static str, text: &str, owner: &MemoryOwner) -> Self {
        Self {
            id: id.to_owned(),
            kind,
            text: text.to_owned(),
            when: "Said",
            address: address(id, owner),
            query: owner.query(),
            ..Self::default()
        }
    }

    pub(crate) fn fact(fact: &FactItem, owner: &MemoryOwner) -> Self {
        // A fact about the same person from another project has the address of that project.
        let owner = owner.in_project(fact.project_id.as_deref());
        Self {
            date: words::date(&fact.timestamp),
            superseded_by: fact.superseded_by.as_deref().map(|id| address(id, &owner)),
            ended: fact.valid_until.as_deref().map(words::date),
            project_only: fact.project_only,
            is_fact: true,
            session: fact.session_id.clone(),
            path: fact.path.clone(),
            parent: fact.episode_id.as_deref().map(|id| address(id, &owner)),
            why: HitReasons::of(fact.score, fact.explain.as_ref()),
            ..Self::new(&fact.id, FACT, &fact.content, &owner)
        }
    }

    pub(crate) fn episode(episode: &EpisodeItem, owner: &MemoryOwner) -> Self {
        let owner = owner.in_project(Some(&episode.project_id));
        Self {
            title: episode.subject.clone(),
            date: words::date(&episode.timestamp),
            superseded_by: episode.superseded_by.as_deref().map(|id| address(id, &owner)),
            session: episode.session_id.clone(),
            path: episode.path.clone(),
            why: HitReasons::of(episode.score, episode.explain.as_ref()),
            ..Self::new(&episode.id, EPISODE, &episode.summary, &owner)
        }
    }

    pub(crate) fn event(event: &ForesightItem, owner: &MemoryOwner) -> Self {
        Self {
            date: words::date(event.start_time.as_deref().unwrap_or(&event.timestamp)),
            when: if event.start_time.is_some() { "On" } else { "Said" },
            session: event.session_id.clone(),
            path: event.path.clone(),
            ..Self::new(&event.id, EVENT, &event.content, owner)
        }
    }

    pub(crate) fn statements(profile: &ProfileData, owner: &MemoryOwner) -> Vec<Self> {
        let stated = profile.explicit_info.iter().map(|line| Self {
            title: line.category.clone(),
            ..Self::new(&line.id, STATEMENT, &line.description, owner)
        });
        let shown = profile.implicit_traits.iter().map(|line| Self {
            title: line.name.clone(),
            ..Self::new(&line.id, TRAIT, &line.description, owner)
        });
        stated.chain(shown).collect()
    }
}

impl HitReasons {
    pub(crate) fn of(score: Option<f32>, explain: Option<&Explain>) -> Option<Self> {
        Some(Self {
            score: score.unwrap_or_default(),
            explain: explain?.clone(),
        })
    }

    /// The reasons of a hit that was found by words alone: `share` is the shared part of the question's words.
    pub(crate) fn of_words(share: f32, terms: Vec<String>) -> Self {
        let explain = Explain {
            keyword: share,
            terms,
            ..Explain::default()
        };
        Self {
            score: share,
            explain,
        }
    }

    pub(crate) fn fit(&self) -> &'static str {
        fit(self.score)
    }

    /// The words of the question that the hit contains.
    pub(crate) fn terms(&self) -> &[String] {
        &self.explain.terms
    }

    /// Name, meaning and percentage of each part of the score above 0.
    pub(crate) fn parts(&self) -> Vec<(&'static str, &'static str, u32)> {
        let explain = &self.explain;
        let parts = [
            ("words", "the same words", explain.keyword),
            ("meaning", "a similar meaning", explain.vector),
            ("time", "the time that you name", explain.time.unwrap_or_default()),
            ("recency", "how recent it is", explain.freshness),
            ("conversation", "the rest of it", explain.session),
            ("neighbours", "the messages beside it", explain.neighbours),
        ];
        let parts = parts
            .into_iter()
            .map(|(name, meaning, part)| (name, meaning, percent(part)));
        parts.filter(|(.., percent)| *percent > 0).collect()
    }
}

/// A verbatim message.
pub(crate) struct MessageQuote {
    pub(crate) message: FoundMessage,
    /// Address of its episode.
    pub(crate) episode: Option<String>,
    pub(crate) why: Option<HitReasons>,
}

impl MessageQuote {
    pub(crate) fn of(message: FoundMessage, owner: &MemoryOwner) -> Self {
        let owner = owner.in_project(message.project_id.as_deref());
        Self {
            episode: message.episode_id.as_deref().map(|id| address(id, &owner)),
            why: HitReasons::of(Some(message.score), message.explain.as_ref()),
            message,
        }
    }

    /// Whether the message has a word of the question.
    pub(crate) fn has_word(&self) -> bool {
        has_word(self.why.as_ref())
    }
}

fn has_word(why: Option<&HitReasons>) -> bool {
    why.is_some_and(|why| !why.terms().is_empty())
}

/// A description of a score between 0 and 1.
fn fit(score: f32) -> &'static str {
    match percent(score) {
        60.. => "a strong match",
        25.. => "a good match",
        10.. => "a fair match",
        _ => "a weak match",
    }
}

/// A share in percent.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a score or a confidence is between 0 and 1"
)]
pub(crate) fn percent(part: f32) -> u32 {
    (part.clamp(0.0, 1.0) * 100.0).round() as u32
}
