//! Summaries by a model: chunks side by side, each round with the record of the round before.
//!
//! Owns: the calls. Never: the prompt (`context::prompt`), accepting the answer (`Session::commit` bounds it).

use context::prompt;
use context::shorten::{chunk, summary};
use context::tokens::Meter;
use model::warned;
use ports::{Chat, ChatError, ChatReply, ChatRequest};
use transcript::Item;

/// Maximum tokens of the conversation in one request: small enough for the window of a small local model.
const CHUNK_TOKENS_MAX: usize = 6_000;
/// A smaller chunk joins its neighbour, because a call for it would cost too much.
const CHUNK_TOKENS_MIN: usize = 500;
/// Maximum number of chunks that are summarised at the same time.
const AT_ONCE: usize = 4;

/// The model's summary of at most about this many tokens; a person may wait for it. None if it is unusable: the summary
/// is then the digest alone.
pub(crate) async fn by_model(
    chat: &dyn Chat,
    items: &[Item],
    (tokens_max, is_awaited): (usize, bool),
    meter: &Meter,
) -> Option<String> {
    let weights: Vec<usize> = items.iter().map(|item| meter.item(item)).collect();
    let chunks = chunk::split(items, &weights, CHUNK_TOKENS_MAX);
    let chunks = chunk::balance(chunks, CHUNK_TOKENS_MIN, CHUNK_TOKENS_MAX);
    let (mut parts, mut carried) = (Vec::new(), String::new());
    for round in summary::rounds(&chunks, AT_ONCE) {
        let asked = chunks[round.clone()].iter().map(|chunk| {
            let stretch: Vec<&Item> = items[chunk.items.clone()].iter().collect();
            let asked = prompt::summary(&stretch, &carried, tokens_max, meter);
            let tokens_max = u32::try_from(asked.tokens_max).unwrap_or(u32::MAX);
            ChatRequest {
                is_awaited,
                ..ChatRequest::new(asked.system, asked.user, tokens_max)
            }
        });
        let replies = chat.complete_all(asked.collect()).await;
        let answers = chunks[round].iter().zip(replies.into_iter().map(answer));
        let answered: Vec<_> = answers
            .map(|(chunk, answer)| summary::part(items, chunk, answer.ok_or(()), meter))
            .collect();
        carried = summary::merge(answered.iter().filter(|part| !part.failed).cloned().collect());
        parts.extend(answered);
    }
    let is_usable = parts.iter().any(|part| !part.failed);
    is_usable.then(|| summary::merge_within(parts, tokens_max, meter))
}

fn answer(reply: Result<ChatReply, ChatError>) -> Option<String> {
    let reply = warned!(reply, "no summary from the model; falling back to rules")?;
    prompt::read_summary(&reply.content)
}
