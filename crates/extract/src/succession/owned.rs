//! "My boss is Anna", "Ann's boss is Anna": a person or thing of somebody, with one value.
//!
//! Owns: reading it, and when two values are of the same form. Never: the meaning of the thing.

use crate::facts::closed::denies;
use crate::words::{Word, words};

/// Maximum words of a thing, and of its value.
const THING_WORDS_MAX: usize = 4;
const VALUE_WORDS_MAX: usize = 4;

/// Words for a thing that is unique: its value may be any word.
const ONLY: [&str; 2] = ["favourite", "favorite"];

/// Words that end an earlier value.
pub(super) fn is_new(word: &Word) -> bool {
    // Not the first word of "New York".
    !word.capital && matches!(word.text.as_str(), "new" | "now")
}

/// The owner and the thing, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Thing(String);

/// A thing with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) thing: Thing,
    value: Vec<String>,
    form: Form,
    /// The value is new, or corrects the one said before.
    is_news: bool,
    /// The text says nothing else.
    is_all: bool,
}

/// The form of a value. Values of different forms may both be true: "my sister is Eva", "my sister is 30".
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Name,
    Number,
    Word,
    /// Behind a word that joins: "my office is in Leeds".
    Joined(String),
}

impl Owned {
    /// Reads the thing and its value from a text's first statement.
    pub(super) fn read(text: &str) -> Option<Self> {
        let all = words(text);
        let owner = all.iter().take(THING_WORDS_MAX).position(is_owner)?;
        let be = (owner + 2..all.len().min(owner + 2 + THING_WORDS_MAX)).find(|at| all[*at].text == "is")?;
        let end = (be + 1..all.len())
            .find(|at| *at > be + 1 && all[*at].breaks)
            .unwrap_or(all.len());
        // "No, my shoe size is 40" corrects an earlier statement.
        let corrects = owner > 0 && all[owner].breaks && denies(&all[owner - 1].text);
        let is_news = corrects || all[owner..end].iter().any(is_new);
        let value: Vec<&Word> = all[be + 1..end].iter().filter(|word| !is_new(word)).collect();
        let thing: Vec<&str> = all[owner + 1..be]
            .iter()
            .filter(|word| !is_new(word))
            .map(|word| word.text.as_str())
            .collect();
        let is_only = thing.iter().any(|word| ONLY.contains(word));
        let (first, rest) = value.split_first()?;
        let form = match form(first) {
            _ if is_only => Form::Word,
            Some(form) => form,
            None => Form::Joined(
                rest.first()
                    .and_then(|next| form(next))
                    .map(|_| first.text.clone())?,
            ),
        };
        let owner = all[..=owner]
            .iter()
            .filter(|word| !denies(&word.text))
            .map(|word| owner_name(&word.text))
            .collect::<Vec<_>>()
            .join(" ");
        (!thing.is_empty() && value.len() <= VALUE_WORDS_MAX).then(|| Self {
            thing: Thing(format!("{owner} {}", thing.join(" "))),
            value: value.iter().map(|word| word.text.clone()).collect(),
            form,
            is_news,
            is_all: end == all.len(),
        })
    }

    /// Whether a value supersedes another. A person may have two sisters with two names and ages,
    /// so the value must be marked as new, or the thing must be unique. Neither value may merely
    /// extend the other, as "Lisbon, Portugal" does, and the older text must say nothing else.
    pub(super) fn replaces(&self, older: &Self) -> bool {
        older.is_all && (self.form == Form::Word || self.is_news) && self.differs(older)
    }

    /// Whether both give one thing a value of the same form, and neither value extends the other.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let within = |one: &[String], other: &[String]| one.iter().all(|word| other.contains(word));
        self.thing == other.thing
            && self.form == other.form
            && !within(&self.value, &other.value)
            && !within(&other.value, &self.value)
    }
}

fn form(word: &Word) -> Option<Form> {
    if word
        .text
        .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '$' | '€' | '£'))
    {
        Some(Form::Number)
    } else {
        (word.capital && word.text != "i").then_some(Form::Name)
    }
}

/// "My", "Ann's"; not "it's".
fn is_owner(word: &Word) -> bool {
    matches!(word.text.as_str(), "my" | "our") || word.capital && word.text.ends_with("'s")
}

fn owner_name(word: &str) -> &str {
    match word {
        "my" | "our" => "me",
        other => other.strip_suffix("'s").unwrap_or(other),
    }
}
