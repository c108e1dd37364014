//! From the first person to the third, and back for one who has no name.
//!
//! Owns: pronouns and verb endings. Never: which clauses are retold (`statement`).

use std::borrow::Cow;

use super::lexicon::{ADVERBS, Form, third, verb};
use crate::visible::FIRST_PERSON;
use crate::words::{Word, WordList, word_list, words};

/// Present forms that are past forms too; as a past they are right without the ending.
const SAME_IN_PAST: [&str; 7] = ["quit", "cut", "set", "put", "hurt", "split", "read"];

/// Words that the third person already contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// The speaker's name, so that "my" can be "their".
    Name,
    /// The speaker's name as the subject, so that the first verb follows it.
    Subject,
}

/// A statement in the first person, changed to the third; others stay as they are.
pub(crate) fn of_somebody(text: &str) -> Cow<'_, str> {
    let words = words(text);
    let own = words
        .first()
        .is_some_and(|word| matches!(word.text.as_str(), "i" | "my" | "i'm" | "i've" | "i'll"));
    if !own {
        return Cow::Borrowed(text);
    }
    let end = words.last().map_or(0, |word| word.range.end);
    Cow::Owned(retell(text, &words, "me", Before::Nothing) + &text[end..])
}

/// A statement that begins with a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.map_or_else(String::new, |first| first.chain(chars).collect())
}

/// Retells the words of a clause: `text` is the clause, `name` the speaker, whose words stay in the first person if it is "I".
pub(super) fn retell(text: &str, words: &[Word], name: &str, before: Before) -> String {
    let mut out = String::new();
    let mut at = words.first().map_or(0, |word| word.range.start);
    let mut named = before != Before::Nothing;
    let mut awaits_verb = before == Before::Subject;
    let mut present = false;
    for (i, word) in words.iter().enumerate() {
        out.push_str(&text[at..word.range.start]);
        at = word.range.end;
        let leads_on = matches!(word.text.as_str(), "have" | "don't" | "am")
            || words.get(i + 1).is_some_and(|next| LEAD_ON.contains(&next.text));
        let after_and =
            leads_on && i > 0 && present && matches!(words[i - 1].text.as_str(), "and" | "or" | "but");
        if let Some(told) = pronoun(&word.text, name, named).filter(|_| !is_of_title(word, i)) {
            let subject = is_subject(&word.text);
            named |= subject || matches!(word.text.as_str(), "my" | "our" | "me" | "us");
            awaits_verb = subject && !word.text.contains('\'');
            out.push_str(&told);
        } else if awaits_verb || after_and {
            let told = if name == FIRST_PERSON {
                own_form(&word.text).map(str::to_owned)
            } else {
                conjugated(&word.text)
            };
            present |= told.is_some();
            awaits_verb &=
                ADVERBS.contains(&word.text) || matches!(word.text.as_str(), "no" | "longer" | "never");
            out.push_str(told.as_deref().unwrap_or(&text[word.range.clone()]));
        } else {
            out.push_str(&text[word.range.clone()]);
        }
    }
    out
}

/// Whether a pronoun is part of a name: "The Last of Us", "My Favorite Murder".
fn is_of_title(word: &Word, at: usize) -> bool {
    at > 0 && word.capital && matches!(word.text.as_str(), "us" | "me" | "my" | "our")
}

/// Words behind which the one before can be a verb and not just a noun: "and work at", but not "and love songs".
static LEAD_ON: WordList =
    word_list!("at in for with as on to a an the my our from every two by up out once twice");

fn is_subject(word: &str) -> bool {
    word == "i" || word == "we" || word.starts_with("i'") || word.starts_with("we'")
}

fn pronoun(word: &str, name: &str, named: bool) -> Option<String> {
    if name == FIRST_PERSON {
        let told = match word {
            "i" | "we" => "I",
            "me" | "us" => "me",
            "i'm" | "im" | "we're" => "I am",
            "i've" | "ive" | "we've" => "I have",
            "i'll" | "we'll" => "I will",
            "my" | "our" => "my",
            "mine" | "ours" => "mine",
            "myself" | "ourselves" => "myself",
            _ => return None,
        };
        return Some(told.to_owned());
    }
    Some(match word {
        "i" | "we" | "me" | "us" => name.to_owned(),
        "i'm" | "im" | "we're" => format!("{name} is"),
        "i've" | "ive" | "we've" => format!("{name} has"),
        "i'll" | "we'll" => format!("{name} will"),
        "my" | "our" if named => "their".to_owned(),
        "my" | "our" => format!("{name}'s"),
        "mine" | "ours" => "theirs".to_owned(),
        "myself" | "ourselves" => "themselves".to_owned(),
        _ => return None,
    })
}

/// A verb that followed "we" as it follows "I", where that differs.
fn own_form(word: &str) -> Option<&'static str> {
    match word {
        "are" => Some("am"),
        "were" => Some("was"),
        "aren't" => Some("am not"),
        "weren't" => Some("wasn't"),
        _ => None,
    }
}

/// A verb as it follows the speaker's name, where that differs.
fn conjugated(word: &str) -> Option<String> {
    Some(match word {
        "am" | "are" => "is".to_owned(),
        "were" => "was".to_owned(),
        "have" => "has".to_owned(),
        "do" => "does".to_owned(),
        "don't" | "dont" => "doesn't".to_owned(),
        "haven't" => "hasn't".to_owned(),
        "aren't" => "isn't".to_owned(),
        "weren't" => "wasn't".to_owned(),
        "want" => "wants".to_owned(),
        "need" => "needs".to_owned(),
        "call" => "calls".to_owned(),
        "look" | "feel" | "think" | "know" | "help" | "ask" | "talk" | "wait" => format!("{word}s"),
        _ if SAME_IN_PAST.contains(&word) => return None,
        _ => match verb(word)? {
            (base, Form::Base) => third(base),
            _ => return None,
        },
    })
}
