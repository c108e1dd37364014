//! Value of a question's words: some help to find an answer, some only ask.
//!
//! Owns: the words of asking that any subject shares. Never: how rare a word is.

/// Kind of a question's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It names the subject of the answer.
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

/// Stems with little information about the answer.
const ASKING: [&str; 15] = [
    "advic", "advis", "good", "help", "idea", "interest", "like", "look", "possibl", "recommend", "suggest",
    "think", "tip", "want", "wonder",
];

/// Stems without information about the answer.
const EMPTY: [&str; 73] = [
    "activ", "anyon", "anyth", "back", "between", "came", "catch", "chat", "come", "convers", "current",
    "day", "discuss", "done", "dure", "earlier", "els", "event", "ever", "everyon", "everyth", "get", "go",
    "goe", "gone", "got", "happen", "know", "last", "late", "latest", "made", "mention", "month", "must",
    "new", "news", "now", "occur", "pleas", "previous", "question", "recal", "recap", "recent", "rememb",
    "remind", "said", "say", "sinc", "someon", "someth", "speak", "spoke", "stuff", "summar", "summari",
    "summaris", "take", "talk", "tell", "thing", "time", "today", "told", "took", "topic", "updat", "week",
    "weekend", "went", "year", "yet",
];

/// Kind of a word, by its stem.
pub(crate) fn class(stem: &str) -> Class {
    if EMPTY.contains(&stem) {
        Class::Empty
    } else if ASKING.contains(&stem) {
        Class::Asking
    } else {
        Class::Telling
    }
}
