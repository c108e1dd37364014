//! One item of a conversation: a message in a provider's terms, as the client wrote it.
//!
//! Owns: the form of an item and the text for counting, scoring and summarising. Never: JSON; `dialect` reads and
//! writes it.

use std::fmt;

/// The place of an item in its conversation's log: counted from 0, never reused. It reads `m17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub u64);

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

impl ItemId {
    /// Parses an id such as `m17`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('m')?;
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok().map(Self))?
    }
}

model::worded! {
    /// Sender of an item. OpenAI's `developer` is `System`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Role {
        System = "system",
        User = "user",
        Assistant = "assistant",
        /// A tool's result as an item of its own. Anthropic has no such items: its results are blocks of a user's item.
        Tool = "tool",
    }
}

/// One item of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub role: Role,
    pub blocks: Vec<Block>,
    /// The JSON text of the item as the client wrote it, byte for byte; none for an item that Quipu made.
    pub raw: Option<Box<str>>,
    /// Whether the blocks differ from `raw`: a dialect then writes `raw` with the changed blocks. Never true without
    /// `raw`.
    pub edited: bool,
}

/// One part of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Text(String),
    Image(Image),
    Thinking(Thinking),
    Call(Call),
    Outcome(Outcome),
    /// Any other content (audio, a document, a provider's own block), as the JSON text of the block.
    Other(String),
}

/// A picture; its tokens depend at most on its size in pixels, never on its encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The block's JSON text.
    pub raw: String,
}

/// A model's reasoning. It may be signed: it must be sent back byte for byte, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thinking {
    pub text: String,
    /// The block's JSON text; empty if the dialect has reasoning as a plain field.
    pub raw: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// As the model sent it; empty if the model sent none.
    pub id: String,
    pub name: String,
    /// Exactly as sent; it need not be valid JSON.
    pub arguments: String,
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub call_id: String,
    pub text: String,
    /// Whether the client marked the call as failed.
    pub failed: bool,
    /// Number of pictures besides the text. A sound, a video or a document counts as one for each 750 kB of its
    /// encoding, and as at most 19.
    pub images: usize,
}

impl Item {
    /// An item that Quipu made.
    pub fn made(role: Role, blocks: Vec<Block>) -> Self {
        Self {
            role,
            blocks,
            raw: None,
            edited: false,
        }
    }

    /// An item of one text that Quipu made.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::made(role, vec![Block::Text(text.into())])
    }

    /// A tool's result that Quipu made.
    pub fn outcome(call_id: impl Into<String>, text: impl Into<String>) -> Self {
        let outcome = Outcome {
            call_id: call_id.into(),
            text: text.into(),
            failed: false,
            images: 0,
        };
        Self::made(Role::Tool, vec![Block::Outcome(outcome)])
    }

    /// Its calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Its results, in order.
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Outcome(outcome) => Some(outcome),
            _ => None,
        })
    }

    /// Text for the reader: the text blocks, joined by line feeds, without reasoning, calls and results.
    pub fn prose(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }

    /// All its text: prose, calls and results, joined by line feeds.
    pub fn words(&self) -> String {
        let texts = self.blocks.iter().flat_map(|block| match block {
            Block::Text(text) => vec![text.as_str()],
            Block::Call(call) => vec![call.name.as_str(), call.arguments.as_str()],
            Block::Outcome(outcome) => vec![outcome.text.as_str()],
            Block::Image(_) | Block::Thinking(_) | Block::Other(_) => Vec::new(),
        });
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        texts.join("\n")
    }

    /// Whether it contains reasoning.
    pub fn thinks(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block, Block::Thinking(_)))
    }

    /// Whether it is a person's message: a user's item with more content than tool results. Calls and reasoning in it
    /// do not count.
    pub fn asks(&self) -> bool {
        let says = |block: &Block| !matches!(block, Block::Outcome(_) | Block::Call(_) | Block::Thinking(_));
        self.role == Role::User && self.blocks.iter().any(says)
    }
}
