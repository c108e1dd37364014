//! Tokens of an item: its text, and a provider's framing.
//!
//! Owns: the framing of messages, calls and tools, and the policy for content that is not text. Never: counting text;
//! [`crate::tokens::Meter::text`] does it.

use transcript::encoded::encoded;
use transcript::{Block, Call, Item};

use crate::tokens::Meter;
use crate::tokens::meter::CountSource;

/// Tokens of a picture in any encoding: OpenAI's largest common size in full detail, rounded.
pub(super) const IMAGE_TOKENS: usize = 1_100;
/// Tokens of a picture that its client sends in low detail.
pub(super) const IMAGE_LOW_TOKENS: usize = 85;
/// Base tokens of a sound or a document, without its size.
pub(super) const FILE_TOKENS: usize = 1_100;
/// Encoded bytes of a sound, a video or a document per additional token: the value of compressed sound. A page of plain
/// text has more tokens, an uncompressed sound fewer; the server's counts calibrate, and its refusal leads to a
/// compaction.
const FILE_BYTES_PER_TOKEN: usize = 680;
/// Maximum additional tokens of a file: only the backend knows whether it is too long.
const FILE_TOKENS_MAX: usize = 20_000;

/// OpenAI frames a message with three tokens and names its role with one.
const MESSAGE_TOKENS: usize = 3 + 1;
/// Tokens of the marks around a call or a result.
const CALL_TOKENS: usize = 8;
/// Tokens of the marks around OpenAI's list of tools.
const TOOLS_TOKENS: usize = 16;
/// Other providers explain to the model how to call a tool: Anthropic in some 350 tokens, templates of open models in
/// fewer.
const TOOLS_EXPLAINED_TOKENS: usize = 350;

impl Meter {
    /// The tokens of an item, with the provider's framing.
    ///
    /// Pictures count [`IMAGE_TOKENS`] or [`IMAGE_LOW_TOKENS`]. In another provider's block, the text is counted; each
    /// encoded file counts [`FILE_TOKENS`] and a token for each [`FILE_BYTES_PER_TOKEN`], up to [`FILE_TOKENS_MAX`].
    /// Reasoning counts its text; encrypted reasoning is estimated by the size of the cipher. A signature counts
    /// nothing.
    pub fn item(&self, item: &Item) -> usize {
        item.blocks
            .iter()
            .fold(MESSAGE_TOKENS, |sum, block| sum.saturating_add(self.block(block)))
    }

    /// The tokens of a request's tools, given as the JSON text of their list; 0 without tools.
    ///
    /// OpenAI renders them in fewer tokens than their JSON has, so this is an upper bound.
    pub fn tools(&self, json: &str) -> usize {
        let bare = json.trim();
        if matches!(bare, "" | "[]" | "{}" | "null") {
            return 0;
        }
        let frame = if self.is_openai() {
            TOOLS_TOKENS
        } else {
            TOOLS_EXPLAINED_TOKENS
        };
        self.text(bare) + frame
    }

    /// The tokens of one block of an item.
    pub fn block(&self, block: &Block) -> usize {
        match block {
            Block::Text(text) => self.text(text),
            Block::Image(image) => image_tokens(&image.raw),
            Block::Thinking(thinking) if thinking.text.is_empty() => cipher_tokens(&thinking.raw),
            Block::Thinking(thinking) => self.text(&thinking.text),
            Block::Call(call) => self.call(call),
            Block::Outcome(outcome) => self
                .text(&outcome.text)
                .saturating_add(outcome.images.saturating_mul(IMAGE_TOKENS))
                .saturating_add(CALL_TOKENS),
            Block::Other(raw) => self.other(raw),
        }
    }

    fn call(&self, call: &Call) -> usize {
        // OpenAI does not show a call's id to the model; other providers may.
        let id = if self.is_openai() { 0 } else { self.text(&call.id) };
        id + self.text(&call.name) + self.text(&call.arguments) + CALL_TOKENS
    }

    fn other(&self, raw: &str) -> usize {
        let mut tokens = 0;
        let mut text_start = 0;
        for (start, end) in encoded(raw) {
            tokens += self.text(&raw[text_start..start])
                + FILE_TOKENS
                + ((end - start) / FILE_BYTES_PER_TOKEN).min(FILE_TOKENS_MAX);
            text_start = end;
        }
        tokens + self.text(&raw[text_start..])
    }

    fn is_openai(&self) -> bool {
        matches!(self.source, CountSource::Exact(_))
    }
}

/// A key in JSON is followed by a colon, a value never is.
fn image_tokens(raw: &str) -> usize {
    let low = raw.split("\"detail\"").skip(1).any(|rest| {
        let value = rest.trim_start().strip_prefix(':');
        value.is_some_and(|value| value.trim_start().starts_with("\"low\""))
    });
    if low { IMAGE_LOW_TOKENS } else { IMAGE_TOKENS }
}

/// Base64 has four bytes for three of the cipher, and a token of the reasoning has about four bytes.
fn cipher_tokens(raw: &str) -> usize {
    raw.len().div_ceil(16).saturating_mul(3)
}
