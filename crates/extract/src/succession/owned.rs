//! "My boss is Anna", "Ann's boss is Anna": a thing of somebody's that has one value, and the value.
//!
//! Owns: reading it, and when two values are of the same form. Never: what the thing is.

use crate::facts::closed::denies;
use crate::words::{Word, words};

/// Words of a thing, and of its value.
const THING_WORDS_MAX: usize = 4;
const VALUE_WORDS_MAX: usize = 4;

/// Words for the one that there is: their value may be any word.
const ONLY: [&str; 2] = ["favourite", "favorite"];

/// With these, what was true before no longer is.
pub(super) fn is_new(word: &Word) -> bool {
    // Not the first word of "New York".
    !word.capital && matches!(word.text.as_str(), "new" | "now")
}

/// Whose thing it is and which, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Thing(String);

/// A thing with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) thing: Thing,
    value: Vec<String>,
    form: Form,
    /// It says that it is so now, and was not before, or takes back what was said before it.
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
    /// Reads a text whose first statement says it.
    pub(super) fn read(text: &str) -> Option<Self> {
        let all = words(text);
        let owner = all.iter().take(THING_WORDS_MAX).position(is_owner)?;
        let be = (owner + 2..all.len().min(owner + 2 + THING_WORDS_MAX)).find(|at| all[*at].text == "is")?;
        let end = (be + 1..all.len())
            .find(|at| *at > be + 1 && all[*at].breaks)
            .unwrap_or(all.len());
        // "No, my shoe size is 40" takes back what was said before it.
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

    /// Whether a value takes the place of another. There may be two sisters with two names and ages: it does only where it says that
    /// it is new, or of the one that there is. Neither only says more of the other, as "Lisbon, Portugal" does, and the older text
    /// says nothing besides.
    pub(super) fn replaces(&self, older: &Self) -> bool {
        older.is_all && (self.form == Form::Word || self.is_news) && self.differs(older)
    }

    /// Whether both give one thing a value of the same form, and neither only says more of the other.
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
