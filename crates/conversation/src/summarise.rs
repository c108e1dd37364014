//! Having a stretch summarised by a model: piece by piece, each with the record of what came before.
//!
//! Owns: the calls. Never: the prompt (`context::prompt`), believing the answer (`Session::commit` bounds it).

use context::prompt;
use context::shorten::chunk;
use context::tokens::Meter;
use ports::{Chat, ChatRequest};
use transcript::Item;

/// What one request shows of the talk, in tokens: small enough for the window of a small local model.
const PIECE_TOKENS_MAX: usize = 6_000;

/// The model's summary; none when it fails, declines or has no room: then the digest stands alone.
pub(crate) async fn by_model(
    chat: &dyn Chat,
    items: &[Item],
    tokens_max: usize,
    meter: &Meter,
) -> Option<String> {
    let mut carried = String::new();
    let weights: Vec<usize> = items.iter().map(|item| meter.item(item)).collect();
    for piece in chunk::split(items, &weights, 1, &chunk::Rules::quipu(PIECE_TOKENS_MAX)) {
        let piece: Vec<&Item> = items[piece.items].iter().collect();
        let asked = prompt::summary(&piece, &carried, tokens_max, meter);
        let tokens_max = u32::try_from(asked.tokens_max).unwrap_or(u32::MAX);
        let request = ChatRequest::new(asked.system, asked.user, tokens_max);
        match chat.complete(request).await {
            Ok(reply) => carried = prompt::read_summary(&reply.content).unwrap_or(carried),
            Err(error) => {
                tracing::warn!(%error, "a summary is left to the rules");
                return None;
            }
        }
    }
    (!carried.is_empty()).then_some(carried)
}
