//! `context_expand`: the tool by which a model reads the originals behind a summary or a mask.
//!
//! Owns: its definition in every dialect, its answer and the limit of it. Never: finding originals (`look`).

use std::fmt::Write as _;

use serde_json::{Value, json};
use transcript::dialect::Dialect;

use super::{ContextError, Contexts};
use crate::conversation::party::Party;
use crate::conversation::state::Conversation;

const NAME: &str = "context_expand";
const DESCRIPTION: &str = "Show the full text of earlier messages that a summary or a stub stands for.";
/// Maximum characters of an answer, so that it fits into the model's window.
const CHARS_MAX: usize = 20_000;

/// The definition of the tool, as requests of the dialect list it.
pub fn tool(dialect: Dialect) -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"id": {"type": "string", "description": "The id in a summary or a stub: `m17` for a message, `n3` for a summary"}},
        "required": ["id"],
    });
    match dialect {
        Dialect::OpenAi => {
            json!({"type": "function", "function": {"name": NAME, "description": DESCRIPTION, "parameters": schema}})
        }
        Dialect::Anthropic | Dialect::ClaudeCode => {
            json!({"name": NAME, "description": DESCRIPTION, "input_schema": schema})
        }
        Dialect::OpenAiResponses | Dialect::Codex => {
            json!({"type": "function", "name": NAME, "description": DESCRIPTION, "parameters": schema})
        }
    }
}

impl Contexts {
    /// The text of originals for a model that asked for them.
    pub async fn expand(&self, party: &Party, id: &str) -> Result<String, ContextError> {
        let mut text = String::new();
        for original in self.recover(party, id).await? {
            let item = Conversation::read(&original.message);
            let (id, role) = (original.id, item.role.as_str());
            let words = item.words();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{id}] {role}: {words}");
        }
        if let Some((end, _)) = text.char_indices().nth(CHARS_MAX) {
            text.truncate(end);
            text.push_str("\n[… cut here; ask for a single message by its id]");
        }
        Ok(text)
    }
}
