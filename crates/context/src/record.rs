//! The record of an event: one JSON object, version 1, for a ledger or a file of lines.
//!
//! Owns: the format (`docs/internals/context.md`). Invariant: `read(write(event)) == event`. Never: the storage.

use std::sync::Arc;

use crate::digest::{Digest, DigestLine, LineKind};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use transcript::{Block, Call, Image, Item, ItemId, Outcome, Role, Thinking};

use crate::event::{CompactionReason, Mask, Node, NodeId, ViewEvent};

/// A record that contains no event.
#[derive(Debug, thiserror::Error)]
#[error("not an event of a conversation: {0}")]
pub struct Unreadable(serde_json::Error);

/// The record of an event: one line of JSON.
pub fn write(event: &ViewEvent) -> String {
    serde_json::to_string(&Record::of(event)).expect("a record has string keys and finite numbers")
}

/// The event of a record. Refuses events that no session writes: the last number as an id, covers that are not
/// ascending and disjoint, a worth that is not finite.
pub fn read(text: &str) -> Result<ViewEvent, Unreadable> {
    let event = serde_json::from_str::<Record>(text)
        .map(Record::event)
        .map_err(Unreadable)?;
    match flaw(&event) {
        Some(flaw) => Err(Unreadable(serde_json::Error::custom(flaw))),
        None => Ok(event),
    }
}

/// An error in an event that a session could not process.
fn flaw(event: &ViewEvent) -> Option<&'static str> {
    let id = match event {
        ViewEvent::Item { id, .. } | ViewEvent::Forget(id) => id.0,
        ViewEvent::Node(node) => {
            let ascend = node.covers.iter().all(|(first, last)| first <= last)
                && node.covers.windows(2).all(|pair| pair[0].1 < pair[1].0);
            if !ascend {
                return Some("covers that are not ascending and disjoint");
            }
            if !node.digest.lines.iter().all(|line| line.worth.is_finite()) {
                return Some("a worth that is not finite");
            }
            let last = node.covers.last().map_or(0, |(_, last)| last.0);
            last.max(node.id.0)
        }
        _ => 0,
    };
    (id == u64::MAX).then_some("an id after which there is none")
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum Record {
    Item(ItemRecord),
    Node(Box<NodeRecord>),
    Rewrite(ItemRecord),
    Masks { masks: Vec<MaskRecord> },
    Pin { id: u64 },
    Unpin { id: u64 },
    Flush { key: String, facts: usize },
    Rewind { to: u64 },
    Forget { id: u64 },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemRecord {
    id: u64,
    #[serde(with = "RoleWord")]
    role: Role,
    blocks: Vec<BlockRecord>,
    raw: Option<Box<str>>,
    edited: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Role", rename_all = "snake_case")]
enum RoleWord {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum BlockRecord {
    Text {
        text: String,
    },
    Image {
        raw: String,
    },
    Thinking {
        text: String,
        raw: String,
    },
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    Outcome(#[serde(with = "OutcomeRecord")] Outcome),
    Other {
        raw: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Outcome", deny_unknown_fields)]
struct OutcomeRecord {
    call_id: String,
    text: String,
    failed: bool,
    images: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeRecord {
    id: u64,
    covers: Vec<(u64, u64)>,
    children: Vec<u64>,
    digest: Vec<LineRecord>,
    summary: Option<String>,
    text: String,
    tokens_before: usize,
    tokens_after: usize,
    #[serde(with = "ReasonWord")]
    reason: CompactionReason,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CompactionReason", rename_all = "snake_case")]
enum ReasonWord {
    Threshold,
    Idle,
    Manual,
    Overflow,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineRecord {
    #[serde(with = "KindWord")]
    kind: LineKind,
    text: String,
    sources: Vec<u64>,
    worth: f32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LineKind", rename_all = "snake_case")]
enum KindWord {
    Objective,
    Constraint,
    Decision,
    Todo,
    Done,
    File,
    Command,
    Error,
    Identifier,
    Excerpt,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaskRecord {
    id: u64,
    block: usize,
    stub: String,
}

impl Record {
    fn of(event: &ViewEvent) -> Self {
        match event {
            ViewEvent::Item { id, item } => Self::Item(ItemRecord::of(*id, item)),
            ViewEvent::Rewrite { id, item } => Self::Rewrite(ItemRecord::of(*id, item)),
            ViewEvent::Node(node) => Self::Node(Box::new(NodeRecord::of(node))),
            ViewEvent::Masks(masks) => Self::Masks {
                masks: masks.iter().map(MaskRecord::of).collect(),
            },
            ViewEvent::Pin(id) => Self::Pin { id: id.0 },
            ViewEvent::Unpin(id) => Self::Unpin { id: id.0 },
            ViewEvent::Flush { key, facts } => Self::Flush {
                key: key.clone(),
                facts: *facts,
            },
            ViewEvent::Rewind(to) => Self::Rewind { to: to.0 },
            ViewEvent::Forget(id) => Self::Forget { id: id.0 },
        }
    }

    fn event(self) -> ViewEvent {
        match self {
            Self::Item(record) => ViewEvent::Item {
                id: ItemId(record.id),
                item: record.item(),
            },
            Self::Rewrite(record) => ViewEvent::Rewrite {
                id: ItemId(record.id),
                item: record.item(),
            },
            Self::Node(node) => ViewEvent::Node(node.node()),
            Self::Masks { masks } => ViewEvent::Masks(masks.into_iter().map(MaskRecord::mask).collect()),
            Self::Pin { id } => ViewEvent::Pin(ItemId(id)),
            Self::Unpin { id } => ViewEvent::Unpin(ItemId(id)),
            Self::Flush { key, facts } => ViewEvent::Flush { key, facts },
            Self::Rewind { to } => ViewEvent::Rewind(ItemId(to)),
            Self::Forget { id } => ViewEvent::Forget(ItemId(id)),
        }
    }
}

impl ItemRecord {
    fn of(id: ItemId, item: &Item) -> Self {
        Self {
            id: id.0,
            role: item.role,
            blocks: item.blocks.iter().map(BlockRecord::of).collect(),
            raw: item.raw.clone(),
            edited: item.edited,
        }
    }

    fn item(self) -> Arc<Item> {
        Arc::new(Item {
            role: self.role,
            blocks: self.blocks.into_iter().map(BlockRecord::block).collect(),
            raw: self.raw,
            edited: self.edited,
        })
    }
}

impl BlockRecord {
    fn of(block: &Block) -> Self {
        match block.clone() {
            Block::Text(text) => Self::Text { text },
            Block::Image(Image { raw }) => Self::Image { raw },
            Block::Thinking(Thinking { text, raw }) => Self::Thinking { text, raw },
            Block::Call(Call { id, name, arguments }) => Self::Call { id, name, arguments },
            Block::Outcome(outcome) => Self::Outcome(outcome),
            Block::Other(raw) => Self::Other { raw },
        }
    }

    fn block(self) -> Block {
        match self {
            Self::Text { text } => Block::Text(text),
            Self::Image { raw } => Block::Image(Image { raw }),
            Self::Thinking { text, raw } => Block::Thinking(Thinking { text, raw }),
            Self::Call { id, name, arguments } => Block::Call(Call { id, name, arguments }),
            Self::Outcome(outcome) => Block::Outcome(outcome),
            Self::Other { raw } => Block::Other(raw),
        }
    }
}

impl NodeRecord {
    fn of(node: &Node) -> Self {
        let line = |line: &DigestLine| LineRecord {
            kind: line.kind,
            text: line.text.clone(),
            sources: line.sources.iter().map(|id| id.0).collect(),
            worth: line.worth,
        };
        Self {
            id: node.id.0,
            covers: node
                .covers
                .iter()
                .map(|(first, last)| (first.0, last.0))
                .collect(),
            children: node.children.iter().map(|id| id.0).collect(),
            digest: node.digest.lines.iter().map(line).collect(),
            summary: node.summary.clone(),
            text: node.text.clone(),
            tokens_before: node.tokens_before,
            tokens_after: node.tokens_after,
            reason: node.reason,
        }
    }

    fn node(self) -> Node {
        let line = |line: LineRecord| DigestLine {
            kind: line.kind,
            text: line.text,
            sources: line.sources.into_iter().map(ItemId).collect(),
            worth: line.worth,
        };
        Node {
            id: NodeId(self.id),
            covers: self
                .covers
                .into_iter()
                .map(|(first, last)| (ItemId(first), ItemId(last)))
                .collect(),
            children: self.children.into_iter().map(NodeId).collect(),
            digest: Digest {
                lines: self.digest.into_iter().map(line).collect(),
            },
            summary: self.summary,
            text: self.text,
            tokens_before: self.tokens_before,
            tokens_after: self.tokens_after,
            reason: self.reason,
        }
    }
}

impl MaskRecord {
    fn of(mask: &Mask) -> Self {
        Self {
            id: mask.id.0,
            block: mask.block,
            stub: mask.stub.clone(),
        }
    }

    fn mask(self) -> Mask {
        Mask {
            id: ItemId(self.id),
            block: self.block,
            stub: self.stub,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u64, covers: &str, worth: &str) -> bool {
        let text = format!(
            r#"{{"event":"node","id":{id},"covers":{covers},"children":[],"digest":[{{"kind":"todo","text":"","sources":[],"worth":{worth}}}],
            "summary":null,"text":"","tokens_before":0,"tokens_after":0,"reason":"manual"}}"#
        );
        read(&text).is_ok()
    }

    #[test]
    fn events_that_no_session_writes_are_refused() {
        assert!(node(0, "[[1,1],[3,4]]", "0.5"));
        assert!(!node(0, "[[1,0]]", "0.5"));
        assert!(!node(0, "[[3,4],[1,1]]", "0.5"));
        assert!(!node(0, "[[1,3],[3,4]]", "0.5"));
        assert!(!node(0, "[]", "1e300"));
        let max = u64::MAX;
        assert!(!node(max, "[]", "0.5"));
        assert!(!node(0, &format!("[[1,{max}]]"), "0.5"));
        assert!(read(&format!(r#"{{"event":"forget","id":{max}}}"#)).is_err());
        assert!(read(&format!(r#"{{"event":"forget","id":{}}}"#, max - 1)).is_ok());
    }
}
