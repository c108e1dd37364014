//! Lasting wishes for answers: "always give me weights in ounces", "keep your answers short".
//!
//! Owns: the choice of requests that last beyond their message, word for word. Never: a request for
//! one answer.

use crate::words::{WordList, word_list, words};

/// Verbs of an answer; these alone apply to every answer.
static ANSWERING: WordList = word_list!("answer reply respond speak talk");

/// Verbs of an answer that has the user as an object.
static SERVING: WordList = word_list!(
    "give use call address write show send explain tell remind ask list convert format suggest recommend offer assume"
);

static ANSWERS: WordList = word_list!("answers replies responses messages explanations");

/// Words that may come before a wish.
static OPENINGS: WordList = word_list!(
    "one thing dear from now on in future pls kindly please and but so also ok okay hi hello hey thanks btw remember note"
);

/// A longer wish is a task.
const WORDS_MAX: usize = 14;

/// The wish in a sentence, verbatim.
pub(super) fn wish(sentence: &str) -> Option<&str> {
    let words = words(sentence);
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let start = (0..words.len()).find(|at| !OPENINGS.contains(text(*at)))?;
    let end = (start + 3..words.len())
        .find(|at| words[*at].breaks)
        .unwrap_or(words.len());
    let rest = || (start..end).map(text);
    let is_wish = match text(start) {
        "always" | "never" => {
            ANSWERING.contains(text(start + 1)) && end > start + 2
                || SERVING.contains(text(start + 1)) && rest().any(|word| word == "me")
        }
        "keep" => {
            matches!(text(start + 1), "your" | "ur" | "the")
                && ANSWERS.contains(text(start + 2))
                && end > start + 3
        }
        _ => false,
    };
    if !is_wish
        || end - start > WORDS_MAX
        || rest().any(|word| matches!(word, "this" | "that" | "it" | "here"))
    {
        return None;
    }
    Some(&sentence[words[start].range.start..words[end - 1].range.end])
}
