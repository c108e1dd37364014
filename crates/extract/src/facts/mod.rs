//! Single statements that people made about themselves and what is theirs, by rules.
//!
//! Owns: which sentences become facts, as they were said. Never: a word that nobody said; a sentence that is no plain statement is
//! left to the messages. Questions, suppositions, other people's words and secrets are never facts.
//!
//! Reading order: `material` (what of a message is its writer's account), `closed` (small words), `statement` (plain statements in it), `wish` (how one
//! wants to be answered).

pub(crate) mod closed;
mod material;
pub(crate) mod statement;
#[cfg(test)]
mod tests;
mod wish;

use std::collections::BTreeSet;

use model::text::Language;
use model::{Cell, Message, MessageId, Role, SenderId, Timestamp, Zone};
use recall::time::expressions;

use crate::sentence::sentences;
use crate::succession::{is_duplicate, mark};
use crate::visible;
use crate::visible::FIRST_PERSON;
use crate::words::{WordList, word_list, words};

/// One self-contained statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub text: String,
    /// The messages that support it; at least one.
    pub sources: Vec<MessageId>,
    pub sender: SenderId,
    pub said_at: Timestamp,
    /// Beginning of its validity, if the text contains another date than its own time.
    pub valid_from: Option<Timestamp>,
}

/// Maximum number of facts from one message: a longer message is a story, which the episode keeps.
const PER_MESSAGE_MAX: usize = 4;
const PER_CELL_MAX: usize = 60;

/// The facts of a segment, in order; often none.
pub fn facts(cell: &Cell, zone: &Zone) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for Told { fact, .. } in told(&cell.messages, zone) {
        let known = facts
            .iter()
            .position(|known| is_duplicate(&known.text, &fact.text));
        match known {
            Some(at) if facts[at].sources == fact.sources => {}
            Some(at) => facts[at].sources.extend(fact.sources),
            None if facts.len() < PER_CELL_MAX => facts.push(fact),
            None => return facts,
        }
    }
    facts
}

/// A fact, and the sentence that says it.
pub(crate) struct Told {
    pub(crate) fact: Fact,
    pub(crate) sentence: String,
    /// The next sentence corrects it: "no, it's a 2007"; the fact says both.
    pub(crate) is_corrected: bool,
}

/// The facts of people's messages, in order; none from where one of them sets a scene, in which anybody may speak.
pub(crate) fn told<'a>(messages: &'a [Message], zone: &'a Zone) -> impl Iterator<Item = Told> + 'a {
    of_people(messages).flat_map(move |message| of_message(message, zone, told_of))
}

/// The same, and sentences and clauses of their own account about others: "the plumber comes on Friday".
pub(crate) fn announced<'a>(messages: &'a [Message], zone: &'a Zone) -> impl Iterator<Item = Told> + 'a {
    of_people(messages).flat_map(move |message| of_message(message, zone, announced_of))
}

fn announced_of(sentence: &str) -> Vec<statement::Statement<'_>> {
    let clauses = statement::clauses(sentence, Language::of(sentence));
    let others = [sentence]
        .into_iter()
        .chain(clauses)
        .filter_map(statement::of_others);
    told_of(sentence).into_iter().chain(others).collect()
}

fn of_people(messages: &[Message]) -> impl Iterator<Item = &Message> {
    let said = messages[..scene(messages)].iter();
    said.filter(|message| message.role == Role::User)
}

/// Where so many answers have what somebody says, the model tells a story.
const STORY_ANSWERS_MIN: usize = 2;

/// The place of the message from which on people play a scene; their number, if none does. Where a person and a model both write
/// what somebody says, all of it is a story; where the model alone does, all from what it first answered so.
pub(crate) fn scene(messages: &[Message]) -> usize {
    let speech = |role: Role| -> Vec<usize> {
        let of = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.role == role);
        of.filter(|(_, message)| material::has_speech(&visible::shown(message)))
            .map(|(at, _)| at)
            .collect()
    };
    let (answers, people) = (speech(Role::Assistant), speech(Role::User));
    if !answers.is_empty() && people.len() > 1 {
        return 0;
    }
    let is_story = |_: &&usize| answers.len() >= STORY_ANSWERS_MIN;
    let story = answers.first().filter(is_story).map(|at| at.saturating_sub(1));
    let sets = |message: &Message| {
        let text = visible::own_words(message);
        material::is_played(&text.to_lowercase()) || sentences(&text).into_iter().any(statement::casts)
    };
    let set = messages.iter().position(sets);
    story.into_iter().chain(set).min().unwrap_or(messages.len())
}

/// The sentences of a message that are its writer's own: no quotation, no draft, no task's text.
pub(crate) fn own_sentences(message: &Message) -> BTreeSet<String> {
    let text = written(message);
    // An account may quote any line of a message in one piece, where a fact would need to know whose it is.
    let is_one_piece = !text.contains("\n\n") && !material::is_played(&text.to_lowercase());
    let lines = if is_one_piece {
        vec![&*text]
    } else {
        material::account(&text)
    };
    let sentences = lines
        .into_iter()
        .flat_map(|line| material::spoken(sentences(line)));
    sentences.map(str::to_owned).collect()
}

/// The sentences of people's own accounts, in order, each with its message, as facts are read from them.
pub(crate) fn account(messages: &[Message]) -> impl Iterator<Item = (&Message, String)> {
    of_people(messages).flat_map(|message| {
        let text = written(message);
        let told: Vec<String> = told_in(&text).map(str::to_owned).collect();
        told.into_iter().map(move |sentence| (message, sentence))
    })
}

/// The sentences of a message's text that are its writer's own account.
fn told_in(text: &str) -> impl Iterator<Item = &str> {
    let stretches = material::account(text).into_iter().flat_map(material::stretches);
    stretches.flat_map(|stretch| material::spoken(sentences(stretch)))
}

/// What a person wrote; nothing of others.
fn written(message: &Message) -> String {
    match message.role {
        Role::User => visible::shown(message),
        _ => String::new(),
    }
}

/// Whether a sentence of a person's message says a fact.
pub(crate) fn is_fact(sentence: &str, message: &Message) -> bool {
    message.role == Role::User && !sentence.starts_with('>') && !told_of(sentence).is_empty()
}

/// The plain statements of a sentence; none of a sentence with a secret.
fn told_of(sentence: &str) -> Vec<statement::Statement<'_>> {
    if words(sentence).iter().any(|word| SECRETS.contains(&word.text)) {
        return Vec::new();
    }
    statement::statements(sentence)
}

/// The plain statements anywhere in the text of a person's message, as facts would have them: those of a paste, a draft or a scene too.
/// Whose they are, only the person knows. `speaker` is the name that the message shows.
pub fn statements(text: &str, speaker: &str) -> Vec<String> {
    let text = visible::readable(text);
    let said = said_by(&sentences(&text), speaker);
    said.into_iter().map(|(said, _)| said).collect()
}

/// The plain statements of sentences, each with those that say it: the next one may correct it.
fn said_by<'a>(sentences: &[&'a str], speaker: &str) -> Vec<(String, Vec<&'a str>)> {
    let name = visible::named(speaker);
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    let mut before = String::new();
    for sentence in sentences {
        if let Some(corrected) = corrected(&mut before, sentence, &name)
            && let Some((said, by)) = all.last_mut()
        {
            *said = corrected;
            by.push(sentence);
            continue;
        }
        before.clear();
        let shown = visible::readable(sentence);
        let shown = shown.trim_end();
        for said in told_of(shown).into_iter().filter(|said| !said.is_plan) {
            before = from_statement(shown, said.said);
            all.push((stated(&name, said.said), vec![sentence]));
        }
    }
    all
}

/// A statement with a sentence that corrects it: "no, it's a 2007". `before` is what it corrects, and nothing where that is no statement.
fn corrected(before: &mut String, sentence: &str, name: &str) -> Option<String> {
    if before.is_empty() || !statement::corrects(sentence) {
        return None;
    }
    *before = format!("{before} {sentence}");
    Some(stated(name, before))
}

/// A sentence from a statement on.
fn from_statement(sentence: &str, said: &str) -> String {
    sentence[sentence.rfind(said).unwrap_or_default()..].to_owned()
}

/// Reads the messages of people as the rules do.
#[derive(Debug, Clone, Copy)]
pub struct Messages;

impl recall::Reader for Messages {
    fn parts(&self, text: &str) -> (String, String) {
        let readable = visible::readable(text);
        let own = material::account(&readable);
        let material = own
            .iter()
            .fold(text.to_owned(), |rest, line| rest.replacen(line, "", 1));
        (own.join("\n"), material.trim().to_owned())
    }

    fn without(&self, text: &str, speaker: &str, marks: &BTreeSet<String>) -> String {
        let sentences = sentences(text);
        // A model's fact is one sentence, also where the next one corrects it.
        let alone = sentences.iter().flat_map(|one| said_by(&[*one], speaker));
        let said = said_by(&sentences, speaker).into_iter().chain(alone);
        let taken_back = said.filter(|(said, _)| marks.contains(&mark(said)));
        let taken_back: BTreeSet<&str> = taken_back.flat_map(|(_, by)| by).collect();
        let mut left = text.to_owned();
        for sentence in sentences.into_iter().filter(|one| taken_back.contains(one)) {
            left = left.replacen(sentence, "", 1);
        }
        // A statement that goes over several sentences is not found: nothing of the message is sure.
        if left == text { String::new() } else { left }
    }

    fn sentences<'a>(&self, text: &'a str) -> Vec<&'a str> {
        sentences(text)
    }
}

fn of_message(
    message: &Message,
    zone: &Zone,
    read: impl Fn(&str) -> Vec<statement::Statement<'_>>,
) -> Vec<Told> {
    let name = visible::speaker(message);
    let mut told: Vec<Told> = Vec::new();
    // The last sentence from its last statement on.
    let mut before = String::new();
    let text = written(message);
    for sentence in told_in(&text) {
        if let Some(text) = corrected(&mut before, sentence, &name)
            && let Some(last) = told.last_mut()
        {
            last.fact.text = text;
            last.is_corrected = true;
            continue;
        }
        let is_dated = |text: &str| !expressions(text, message.time, zone).is_empty();
        let made = |text: String| Told {
            fact: Fact {
                text,
                sources: vec![message.id.clone()],
                sender: message.sender.clone(),
                said_at: message.time,
                valid_from: None,
            },
            sentence: sentence.to_owned(),
            is_corrected: false,
        };
        before.clear();
        told.extend(wish::wish(sentence).map(|wish| made(quoted(&name, "asks", wish))));
        for said in read(sentence) {
            let text = stated(&name, said.said);
            if !said.is_plan || is_dated(&text) {
                before = from_statement(sentence, said.said);
                told.push(made(text));
            }
        }
    }
    told.truncate(PER_MESSAGE_MAX);
    told
}

/// A statement as its speaker said it, with the speaker's name where there is one.
fn stated(name: &str, said: &str) -> String {
    if name == FIRST_PERSON {
        let said = capitalised(said);
        let ends = said.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | ')' | '%'));
        return if ends { said + "." } else { said };
    }
    quoted(name, "says", said)
}

fn quoted(name: &str, verb: &str, said: &str) -> String {
    let verb = match (name, verb) {
        (FIRST_PERSON, "asks") => "ask",
        _ => verb,
    };
    format!("{name} {verb}: \"{said}\".")
}

/// A text that begins with a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.map_or_else(String::new, |first| first.chain(chars).collect())
}

/// Words that mark a secret; a text with one never becomes a fact.
pub(crate) static SECRETS: WordList = word_list!(
    "password passwords passphrase passcode pin secret secrets api token credential credentials ssn cvv iban \
     login otp"
);
