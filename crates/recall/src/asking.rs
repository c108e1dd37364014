//! What the words of a question are good for: to find an answer, or only to ask.
//!
//! Owns: the words with which people ask, whatever they ask about. Never: how rare a word is.

/// What a word of a question does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Tells what an answer is about.
    Telling,
    /// Part of a time expression.
    Time,
    /// A speaker's name.
    Name,
    /// Asks for something, and may be about it: "recommend", "interested".
    Asking,
    /// Only asks: "happened", "talk".
    Empty,
}

/// Stems that tell little about the answer.
const ASKING: [&str; 15] = [
    "advic",
    "advis",
    "good",
    "help",
    "idea",
    "interest",
    "like",
    "look",
    "possibl",
    "recommend",
    "suggest",
    "think",
    "tip",
    "want",
    "wonder",
];

/// Stems that tell nothing about it.
const EMPTY: [&str; 72] = [
    "activ", "anyon", "anyth", "back", "between", "came", "catch", "chat", "come", "convers", "current",
    "day", "discuss", "done", "dure", "earlier", "els", "event", "ever", "everyon", "everyth", "get", "go",
    "goe", "gone", "got", "happen", "know", "last", "late", "latest", "made", "mention", "month", "new",
    "news", "now", "occur", "pleas", "previous", "question", "recal", "recap", "recent", "rememb", "remind",
    "said", "say", "sinc", "someon", "someth", "speak", "spoke", "stuff", "summar", "summari", "summaris",
    "take", "talk", "tell", "thing", "time", "today", "told", "took", "topic", "updat", "week", "weekend",
    "went", "year", "yet",
];

/// What a word does, by its stem.
pub(crate) fn class(stem: &str) -> Class {
    if EMPTY.contains(&stem) {
        Class::Empty
    } else if ASKING.contains(&stem) {
        Class::Asking
    } else {
        Class::Telling
    }
}
