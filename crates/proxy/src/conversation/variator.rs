//! code-buddy's variator: tool results in one of three wordings, in rotation by turn.
//!
//! Owns: the wording of a result, chosen once when it arrives. Never: a view of its own, a result that a model has seen.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use ports::context_engine::{ContextEngine, EngineFault, EngineInfo, TurnMeta};
use transcript::{Block, Item};

/// Maximum number of calls that wait for results, over all conversations. The oldest is dropped first; its result is
/// then attributed to "tool".
const WAITING_MAX: usize = 1_000;

/// A part of the preset `codebuddy`.
#[derive(Debug, Default)]
pub(crate) struct Variator {
    /// Conversation, id and tool of each call whose result has not come yet, the oldest first.
    waiting: Mutex<VecDeque<[String; 3]>>,
}

impl Variator {
    fn note(&self, item: &Item, turn: &TurnMeta) {
        let calls = item.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some([turn.conversation.clone(), call.id.clone(), call.name.clone()]),
            _ => None,
        });
        let mut waiting = self.waiting.lock();
        waiting.extend(calls);
        let over = waiting.len().saturating_sub(WAITING_MAX);
        waiting.drain(..over);
    }

    /// The tool of the call that this result answers.
    fn tool(&self, call_id: &str, turn: &TurnMeta) -> Option<String> {
        let mut waiting = self.waiting.lock();
        let is_it = |[conversation, id, _]: &[String; 3]| *conversation == turn.conversation && id == call_id;
        let at = waiting.iter().rposition(is_it)?;
        waiting.remove(at).map(|[_, _, tool]| tool)
    }

    fn worded(&self, mut item: Item, turn: &TurnMeta) -> Item {
        for block in &mut item.blocks {
            if let Block::Outcome(outcome) = block {
                let name = self.tool(&outcome.call_id, turn);
                let (name, text) = (name.as_deref().unwrap_or("tool"), &outcome.text);
                outcome.text = match turn.turn.saturating_sub(1) % 3 {
                    0 => format!("Result from {name}:\n{text}"),
                    1 => format!("Output of {name}:\n---\n{text}\n---"),
                    _ => format!("[{name}] returned:\n{text}"),
                };
                item.edited = item.raw.is_some();
            }
        }
        item
    }
}

#[async_trait]
impl ContextEngine for Variator {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            id: "codebuddy".to_owned(),
            owns_compaction: false,
        }
    }

    async fn ingest(&self, items: Vec<Arc<Item>>, turn: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault> {
        for item in &items {
            self.note(item, turn);
        }
        let worded = items
            .into_iter()
            .map(|item| self.worded(Item::clone(&item), turn));
        Ok(worded.map(Arc::new).collect())
    }

    async fn after_turn(
        &self,
        _items: &[Arc<Item>],
        reply: &Item,
        turn: &TurnMeta,
    ) -> Result<(), EngineFault> {
        self.note(reply, turn);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use transcript::{Call, Role};

    use super::*;

    fn turn(conversation: &str) -> TurnMeta {
        TurnMeta {
            conversation: conversation.to_owned(),
            model: String::new(),
            limit_tokens: 8_000,
            turn: 1,
        }
    }

    async fn calls(engine: &Variator, conversation: &str, id: &str, tool: &str) {
        let call = Block::Call(Call {
            id: id.to_owned(),
            name: tool.to_owned(),
            arguments: String::new(),
        });
        let reply = Item::made(Role::Assistant, vec![call]);
        let noted = engine.after_turn(&[], &reply, &turn(conversation)).await;
        noted.expect("a note");
    }

    async fn result(engine: &Variator, conversation: &str, id: &str) -> String {
        let outcome = Arc::new(Item::outcome(id, "done"));
        let worded = engine
            .ingest(vec![outcome], &turn(conversation))
            .await
            .expect("items");
        worded[0].outcomes().next().expect("a result").text.clone()
    }

    #[tokio::test]
    async fn two_conversations_with_equal_call_ids_keep_their_own_tools() {
        let engine = Variator::default();
        calls(&engine, "one", "call_1", "walk").await;
        calls(&engine, "two", "call_1", "read").await;
        assert_eq!(result(&engine, "one", "call_1").await, "Result from walk:\ndone");
        assert_eq!(result(&engine, "two", "call_1").await, "Result from read:\ndone");
    }

    #[tokio::test]
    async fn calls_that_never_get_a_result_take_bounded_room() {
        let engine = Variator::default();
        for number in 0..=WAITING_MAX {
            calls(&engine, "one", &format!("call_{number}"), "walk").await;
        }
        assert_eq!(engine.waiting.lock().len(), WAITING_MAX);
        assert_eq!(result(&engine, "one", "call_0").await, "Result from tool:\ndone");
        assert_eq!(result(&engine, "one", "call_1").await, "Result from walk:\ndone");
    }
}
