//! Approved skills of an agent for a turn, if one fits its message.
//!
//! Owns: the agent, the time limit, the length of a skill's text. Never: a draft, ranking (`recall`), the wrapper
//! (`prefix`).

use std::collections::BTreeSet;

use memory::{Engine, Search};
use model::text::term_set;
use model::{DocKind, EntryKind, Owner, Scope, SkillStatus, warned};
use ports::Clock;
use prefix::fragment::RecalledMemory;
use transcript::spoken;

use crate::recall::{self, WAIT};

const SKILLS_MAX: usize = 2;
/// The search also finds cases, which are never injected.
const FOUND_MAX: usize = 8;
/// For a longer question, the query is its beginning, where people describe their task.
const QUERY_CHARS_MAX: usize = 600;
/// A skill fits with a better score, or with this many words in common: among few skills a score means little.
const SCORE_MIN: f32 = 0.3;
const SHARED_MIN: usize = 2;
/// Shorter words occur in any text.
const WORD_CHARS_MIN: usize = 4;
/// Maximum characters of a skill, so that it fits into a turn's fragment beside memories.
const TEXT_CHARS_MAX: usize = 900;

/// The approved skills of an agent that match the question, best first; empty if the search takes too long. For
/// requests with tools.
pub(crate) async fn skills(
    engine: &Engine,
    clock: &dyn Clock,
    scope: &Scope,
    agent: &Owner,
    question: &str,
) -> Vec<RecalledMemory> {
    let query: String = spoken::own_text(question).chars().take(QUERY_CHARS_MAX).collect();
    if query.trim().is_empty() {
        return Vec::new();
    }
    let asked = long_terms(&query);
    let search = Search {
        memories_max: FOUND_MAX,
        ..recall::of_turn(scope, agent, query)
    };
    let found = tokio::select! {
        found = engine.search(search) => found,
        () = clock.sleep(WAIT) => return Vec::new(),
    };
    let Some(found) = warned!(found, "cannot search skills") else {
        return Vec::new();
    };
    let approved = found.memories.iter().filter(|hit| {
        let is_skill = hit.doc.kind == DocKind::Entry(EntryKind::Skill);
        is_skill && SkillStatus::of(&hit.doc.labels) == SkillStatus::Approved
    });
    let fitting = approved.filter(|hit| {
        let told = long_terms(&format!("{} {}", hit.doc.subject, hit.doc.summary));
        hit.score >= SCORE_MIN || told.intersection(&asked).count() >= SHARED_MIN
    });
    let told = fitting.take(SKILLS_MAX).map(|hit| {
        let doc = &hit.doc;
        let body: String = doc.text.trim().chars().take(TEXT_CHARS_MAX).collect();
        let text = format!("skill `{}`: {}\n{body}", doc.subject, doc.summary.trim());
        RecalledMemory {
            // A changed skill is injected again.
            id: format!("{} {}", doc.key.id, prefix::Digest::of(text.as_bytes())),
            text,
            said_millis: None,
        }
    });
    told.collect()
}

fn long_terms(text: &str) -> BTreeSet<String> {
    let mut terms = term_set(text);
    terms.retain(|word| word.chars().count() >= WORD_CHARS_MIN);
    terms
}
