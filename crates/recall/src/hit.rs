//! Queries of a corpus, and their results.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{Doc, DocId, EntryId, Filter, Timestamp, Zone};

use crate::cosines::Cosines;

/// Which evidence may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    Keyword,
    Vector,
    #[default]
    Hybrid,
}

/// A question to a corpus.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    pub text: &'a str,
    /// The query's embedding, of the model that made the rows' vectors.
    pub vector: Option<&'a [f32]>,
    /// Calibration of that model's cosines.
    pub cosines: Cosines,
    pub method: Method,
    pub filter: Option<&'a Filter>,
    /// Time of the question; relative expressions ("last May", "two weeks ago") and freshness refer
    /// to it.
    pub asked_at: Timestamp,
    pub zone: &'a Zone,
    /// Search as of this time: later rows are invisible, and rows superseded later count as current.
    pub as_of: Option<Timestamp>,
    /// Maximum number of memories.
    pub memories_max: usize,
    /// Maximum number of verbatim messages; 0 leaves them out.
    pub messages_max: usize,
    /// Hits below this score are left out.
    pub score_min: f32,
}

/// Reasons for a hit's score: its parts, each 0 to 1 before weighting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Why {
    pub keyword: f32,
    pub vector: f32,
    /// How well its date fits a time expression in the query; none when the query has no such expression.
    pub time: Option<f32>,
    pub freshness: f32,
    /// Evidence from the rest of its session or episode.
    pub session: f32,
    /// Evidence from the turns before and after it.
    pub neighbours: f32,
    /// The query's words that it contains, as the query wrote them.
    pub terms: Vec<String>,
    /// The share of the question's information in these words: 0 to 1. A rare word carries more
    /// information.
    pub share: f32,
    /// The reranker's score, on the reranker's own scale; none if it did not read this hit.
    pub rerank: Option<f32>,
}

/// One ranked row.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub doc: Arc<Doc>,
    /// 0 to 1, comparable across queries and methods: the certainty that this answers.
    pub score: f32,
    pub why: Why,
    /// The entry that superseded it, if it no longer holds at the time of the question.
    pub superseded_by: Option<EntryId>,
    /// For a message: a later message that superseded it, proved by the facts made from both.
    pub later: Option<DocId>,
    /// A message with a statement that its person withdrew, or a message of a scene. A search finds
    /// it, but a model never gets that part unasked.
    pub is_withdrawn: bool,
    /// The marks of the withdrawn statements in such a message; none in a scene.
    pub taken_back: BTreeSet<String>,
    /// For a message: the facts made from it that have ended, according to their person.
    pub ended: Vec<Arc<Doc>>,
    /// An episode's best facts.
    pub facts: Vec<Hit>,
}

/// Result of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// Entries of the vault, best first; empty for an owner without entries.
    pub memories: Vec<Hit>,
    /// Verbatim messages, best first.
    pub messages: Vec<Hit>,
    /// The span that a time expression in the query was resolved to, `from` included, `to` not.
    pub span: Option<(Timestamp, Timestamp)>,
    /// The query names only a time, or nothing: its words do not help to find an answer.
    pub open: bool,
}

/// Keeps the best hits of a ranking that fit into about `tokens_max` tokens, memories and messages
/// together.
///
/// Hits are taken best first until one does not fit; a hit that is larger than the whole budget is
/// skipped. A memory counts with its facts.
pub fn cut_to_tokens(ranking: &mut Ranking, tokens_max: usize) {
    let (mut memories, mut messages) = (
        std::mem::take(&mut ranking.memories).into_iter().peekable(),
        std::mem::take(&mut ranking.messages).into_iter().peekable(),
    );
    let mut left = tokens_max;
    loop {
        let memory_first = match (memories.peek(), messages.peek()) {
            (Some(memory), Some(message)) => memory.score >= message.score,
            (memory, _) => memory.is_some(),
        };
        let Some(hit) = (if memory_first {
            memories.next()
        } else {
            messages.next()
        }) else {
            return;
        };
        let tokens = hit_tokens(&hit);
        if tokens > tokens_max {
            continue;
        }
        let Some(rest) = left.checked_sub(tokens) else {
            return;
        };
        left = rest;
        let kept = if memory_first {
            &mut ranking.memories
        } else {
            &mut ranking.messages
        };
        kept.push(hit);
    }
}

fn hit_tokens(hit: &Hit) -> usize {
    let doc = &hit.doc;
    let own = [&doc.subject, &doc.summary, &doc.text].map(|text| tokens(text));
    own.iter().sum::<usize>() + hit.facts.iter().map(hit_tokens).sum::<usize>()
}

/// Estimated number of tokens of a text: four characters make one, a character from U+2E80 on is
/// one by itself.
fn tokens(text: &str) -> usize {
    let wide = text.chars().filter(|c| *c >= '\u{2e80}').count();
    wide + (text.chars().count() - wide).div_ceil(4)
}
