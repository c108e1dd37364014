//! A search in two rounds: a chat model reads the hits and adds queries for missing information.
//!
//! Owns: its time limit, and the union of several answers. Never: the prompt (`extract`), or the searches themselves.

use std::mem::take;
use std::time::Duration;

use extract::follow_up;
use futures::future::try_join_all;
use model::warned;
use ports::{Chat, ChatError, ChatRequest};
use recall::{Hit, Ranking, Shortlist, cut_to_tokens};

use super::search;
use super::search::unite;
use crate::api::{Found, Search};
use crate::base::{Base, patient};
use crate::error::EngineError;

/// Time that a search waits for the chat model, which can be busy with a conversation.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of hits that the model reads.
const HITS_READ_MAX: usize = 20;

/// Finds memories and messages, with up to three further queries of the chat model; none without a chat model.
pub(crate) async fn search(base: &Base, search: Search) -> Result<Option<Found>, EngineError> {
    let Some(chat) = base.parts.chat.as_deref() else {
        return Ok(None);
    };
    let mut found = search::search(base, search.clone()).await?;
    let mut ranking = Ranking {
        memories: take(&mut found.memories),
        messages: take(&mut found.messages),
        ..Ranking::default()
    };
    let queries = further(base, chat, &search, &ranking).await;
    match warned!(queries, "chat model unavailable; the search has one round") {
        Some(queries) => found.queries = queries,
        None => found
            .warnings
            .push("no further queries: the chat model did not answer; see the server's log".to_owned()),
    }
    let more = found.queries.iter().map(|query| {
        let next = Search {
            query: query.clone(),
            ..search.clone()
        };
        search::search(base, next)
    });
    // Scores of two queries are comparable; the higher one counts for the same hit.
    let is_better = |known: &Hit, other: &Hit| known.score < other.score;
    for other in try_join_all(more).await? {
        unite(&mut ranking.memories, other.memories, is_better);
        unite(&mut ranking.messages, other.messages, is_better);
        found.warnings.extend(other.warnings);
        ranking.memories.truncate(search.memories_max);
        ranking.messages.truncate(search.messages_max);
    }
    found.warnings.dedup();
    if let Some(tokens_max) = search.tokens_max {
        cut_to_tokens(&mut ranking, tokens_max);
    }
    (found.memories, found.messages) = (ranking.memories, ranking.messages);
    Ok(Some(found))
}

/// The queries that the chat model adds.
async fn further(
    base: &Base,
    chat: &dyn Chat,
    search: &Search,
    ranking: &Ranking,
) -> Result<Vec<String>, ChatError> {
    let mut read = Shortlist::of(ranking, &search.query, &search.owner, &base.settings.zone).passages;
    read.truncate(HITS_READ_MAX);
    let prompt = follow_up::request(&search.query, &read);
    let request = ChatRequest {
        schema: Some((prompt.schema_name, prompt.schema_json)),
        ..ChatRequest::new(prompt.system, prompt.user, prompt.tokens_max)
    };
    let reply = patient(&*base.parts.clock, chat, request, PATIENCE).await?;
    follow_up::queries(&reply.content, &search.query).ok_or_else(|| ChatError::Refused {
        reason: "the chat model's answer has no queries".to_owned(),
    })
}
