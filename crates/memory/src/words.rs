//! Words of a deletion by words.
//!
//! Owns: when a text contains some words. Never: which memories are deleted (`by_words`).

use std::collections::BTreeSet;

use model::{Entry, Message, Owner, Role, text};

use crate::error::EngineError;

/// Words as search reads them: without case, accents and a possessive ending. They are whole words, not stems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words(BTreeSet<String>);

impl Words {
    pub(crate) fn parse(text: &str) -> Result<Self, EngineError> {
        let mut words = BTreeSet::new();
        text::each_word(text, |_, word| {
            words.insert(word.to_owned());
        });
        if words.is_empty() {
            let problem = "give at least one word to forget: letters or digits";
            return Err(EngineError::invalid(problem));
        }
        Ok(Self(words))
    }

    /// Whether some texts together contain all of the words.
    pub(crate) fn are_in<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> bool {
        let mut left = self.0.clone();
        for text in texts {
            text::each_word(text, |_, word| {
                left.remove(word);
            });
        }
        left.is_empty()
    }

    /// Whether a message contains them. Messages of another user match by the speaker's name too.
    pub(crate) fn are_in_message(&self, message: &Message, owner: &Owner) -> bool {
        let text = message.text();
        let calls = message.tool_calls.iter().map(|call| call.arguments.as_str());
        let is_others = message.role == Role::User && message.sender != owner.id;
        let speaker = is_others.then(|| message.speaker());
        self.are_in([text.as_str()].into_iter().chain(calls).chain(speaker))
    }

    /// Whether an entry contains them anywhere.
    pub(crate) fn are_in_entry(&self, entry: &Entry) -> bool {
        let turns: Vec<String> = entry.turns.iter().map(Message::text).collect();
        let texts = [&*entry.subject, &*entry.summary, &*entry.body];
        self.are_in(texts.into_iter().chain(turns.iter().map(String::as_str)))
    }

    pub(crate) fn are_in_text(&self, entry: &Entry) -> bool {
        self.are_in([&*entry.subject, &*entry.summary, &*entry.body])
    }
}

#[cfg(test)]
mod tests;
