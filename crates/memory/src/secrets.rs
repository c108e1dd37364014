//! Secrets out of messages before anything of them is written.
//!
//! Owns: the parts of a message that are checked. Never: the patterns of secrets (`redact`).

use std::borrow::Cow;

use model::{Content, Message};

/// Replaces a message's secrets with marks; returns the number of new marks.
pub(crate) fn take_out(message: &mut Message) -> usize {
    let texts: Vec<&mut String> = match &mut message.content {
        Content::Text(text) => vec![text],
        Content::Parts(parts) => parts.iter_mut().filter_map(|part| part.text.as_mut()).collect(),
    };
    let arguments = message.tool_calls.iter_mut().map(|call| &mut call.arguments);
    texts.into_iter().chain(arguments).map(clean).sum()
}

/// The same for one text.
pub(crate) fn clean(text: &mut String) -> usize {
    match model::redact::redact(text) {
        Cow::Borrowed(_) => 0,
        Cow::Owned(less) => {
            let before = model::redact::marks(text).len();
            let count = model::redact::marks(&less).len().saturating_sub(before);
            *text = less;
            count
        }
    }
}
