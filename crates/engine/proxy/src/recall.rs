//! What memory has to say to a turn.
//!
//! Owns: the question, the time it may take, what of a hit and of the pages at hand is told. Never: ranking (`recall`), the wrapper (`prefix`).

use std::time::Duration;

use consolidate::page;
use engine::{Engine, Hit, Method, Search};
use futures::future::join_all;
use model::{DocKind, EntryKind, Owner, Page, Role, Scope, SessionId, Zone};
use ports::Clock;

/// How long a turn waits for memory; later it goes without.
pub(crate) const WAIT: Duration = Duration::from_millis(50);
const MEMORIES_MAX: usize = 6;
/// A question of more characters is searched for by its end, where people ask.
const QUERY_CHARS_MAX: usize = 600;
/// Less sure hits are more often noise than help.
const SCORE_MIN: f32 = 0.35;
/// Of an episode that has no facts.
const TEXT_CHARS_MAX: usize = 400;

/// What the ids of pages at hand begin with.
pub(crate) const PAGES: &str = "pages ";

/// A memory as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recalled {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// What is remembered that may help with this, best first; nothing if it takes too long. What was said in this conversation
/// itself is left out: the model sees it.
pub(crate) async fn recall(
    engine: &Engine,
    clock: &dyn Clock,
    scope: &Scope,
    owner: &Owner,
    here: &SessionId,
    question: &str,
) -> Vec<Recalled> {
    let skipped = question.chars().count().saturating_sub(QUERY_CHARS_MAX);
    let query: String = question.chars().skip(skipped).collect();
    if query.trim().is_empty() {
        return Vec::new();
    }
    let search = Search {
        scope: scope.clone(),
        owner: owner.clone(),
        query,
        method: Method::Hybrid,
        memories_max: MEMORIES_MAX * 2,
        messages_max: MEMORIES_MAX,
        filter: None,
        as_of: None,
        asked_at: None,
        score_min: SCORE_MIN,
        tokens_max: None,
    };
    let found = tokio::select! {
        found = engine.search(search) => found,
        () = clock.sleep(WAIT) => {
            tracing::debug!(conversation = %here, "memory took too long: the turn goes without");
            return Vec::new();
        }
    };
    let zone = &engine.settings().zone;
    match found {
        Ok(found) => {
            let elsewhere =
                |hit: &&Hit| hit.doc.session.as_ref() != Some(here) && hit.superseded_by.is_none();
            // What an agent has learnt is asked for, and never put into a person's turn.
            let is_agents =
                |hit: &Hit| matches!(hit.doc.kind, DocKind::Entry(EntryKind::Case | EntryKind::Skill));
            let told = found
                .memories
                .iter()
                .filter(elsewhere)
                .filter(|hit| !is_agents(hit))
                .flat_map(|hit| told(hit, zone));
            // What a person said a moment ago in another conversation is no memory yet.
            let is_fresh = |hit: &&Hit| hit.doc.parent.is_none() && hit.doc.role == Some(Role::User);
            let said = found.messages.iter().filter(elsewhere).filter(is_fresh);
            told.chain(said.map(|hit| one(hit, zone)))
                .take(MEMORIES_MAX)
                .collect()
        }
        Err(error) => {
            tracing::warn!(%error, "memory could not be searched");
            Vec::new()
        }
    }
}

/// What stands in the pages at hand, as one memory of at most so many tokens; what is over is left out from the end. Nothing
/// if it takes too long.
pub(crate) async fn pages(
    engine: &Engine,
    clock: &dyn Clock,
    scope: &Scope,
    owner: &Owner,
    tokens_max: usize,
    count: &(dyn Fn(&str) -> usize + Sync),
) -> Option<Recalled> {
    let read = join_all(Page::ALL.map(|page| engine.page(scope, owner, page)));
    let read = tokio::select! {
        read = read => read,
        () = clock.sleep(WAIT) => return None,
    };
    let mut text = String::new();
    for page in read {
        let page = page.unwrap_or_else(|error| {
            tracing::warn!(%error, "a page at hand could not be read");
            None
        });
        let page = page::read_aloud(&page.unwrap_or_default());
        for line in page.lines().filter(|line| !line.trim().is_empty()) {
            let before = text.len();
            if before > 0 {
                text.push('\n');
            }
            text.push_str(line.trim_end());
            if count(&text) > tokens_max {
                text.truncate(before);
                break;
            }
        }
    }
    (!text.is_empty()).then(|| Recalled {
        id: format!("{PAGES}{}", owner.id),
        text,
    })
}

/// An episode is told by its facts where it has some.
fn told(hit: &Hit, zone: &Zone) -> Vec<Recalled> {
    let facts = hit.facts.iter().filter(|fact| fact.superseded_by.is_none());
    let mut told: Vec<Recalled> = facts.map(|fact| one(fact, zone)).collect();
    if told.is_empty() {
        told.push(one(hit, zone));
    }
    told
}

fn one(hit: &Hit, zone: &Zone) -> Recalled {
    let doc = &hit.doc;
    let text = if doc.text.chars().count() > TEXT_CHARS_MAX && !doc.summary.is_empty() {
        &doc.summary
    } else {
        &doc.text
    };
    let text: String = text.chars().take(TEXT_CHARS_MAX).collect();
    Recalled {
        id: doc.key.id.to_string(),
        text: format!("{}: {}", zone.date(doc.time), text.trim()),
    }
}
