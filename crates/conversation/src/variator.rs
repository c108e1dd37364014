//! code-buddy's variator: results of tools in one of three wordings, another one each turn.
//!
//! Owns: the wording of a result, chosen once when it arrives. Never: a view of its own, a result that a model has seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use ports::context_engine::{Assembled, ContextEngine, EngineFault, EngineInfo, TurnMeta};
use transcript::{Block, Item};

/// Part of the preset `codebuddy`.
#[derive(Debug, Default)]
pub(crate) struct Variator {
    /// The tools of calls whose results have not come yet, by the call's id.
    tools: Mutex<BTreeMap<String, String>>,
}

impl Variator {
    fn note(&self, item: &Item) {
        let calls = item.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some((call.id.clone(), call.name.clone())),
            _ => None,
        });
        self.tools.lock().extend(calls);
    }

    fn worded(&self, mut item: Item, turn: usize) -> Item {
        for block in &mut item.blocks {
            if let Block::Outcome(outcome) = block {
                let name = self.tools.lock().remove(&outcome.call_id);
                let (name, text) = (name.as_deref().unwrap_or("tool"), &outcome.text);
                outcome.text = match turn.saturating_sub(1) % 3 {
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
            self.note(item);
        }
        let worded = items
            .into_iter()
            .map(|item| self.worded(Item::clone(&item), turn.turn));
        Ok(worded.map(Arc::new).collect())
    }

    async fn assemble(&self, items: Vec<Arc<Item>>, _turn: &TurnMeta) -> Result<Assembled, EngineFault> {
        Ok(Assembled { items, tokens: 0 })
    }

    async fn compact(
        &self,
        items: Vec<Arc<Item>>,
        _target_tokens: usize,
        _turn: &TurnMeta,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        Ok(items)
    }

    async fn after_turn(
        &self,
        _items: &[Arc<Item>],
        reply: &Item,
        _turn: &TurnMeta,
    ) -> Result<(), EngineFault> {
        self.note(reply);
        Ok(())
    }

    async fn prepare_subagent_spawn(
        &self,
        items: Vec<Arc<Item>>,
        _role: &str,
        _turn: &TurnMeta,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        Ok(items)
    }
}
