//! Single statements that people made about themselves and their own, by rules.
//!
//! Owns: the choice of sentences that become facts, word for word. Never: a word that nobody said;
//! any sentence that is no plain statement stays in the messages only. Questions, suppositions,
//! other people's words and secrets are never facts.
//!
//! Reading order: `material` (the writer's own account in a message), `closed` (function words),
//! `statement` (plain statements in an account), `wish` (lasting wishes for answers).

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
    /// Begin of its validity, if the text contains another date than its own time.
    pub valid_from: Option<Timestamp>,
}

/// Maximum number of facts from one message: a longer message is a story, which the episode keeps.
const PER_MESSAGE_MAX: usize = 4;
const PER_CELL_MAX: usize = 60;

/// The facts of a segment, in order; often none.
pub fn facts(cell: &Cell, zone: &Zone) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for StatedFact { fact, .. } in stated_facts(&cell.messages, zone) {
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

/// A fact, and its source sentence.
pub(crate) struct StatedFact {
    pub(crate) fact: Fact,
    pub(crate) sentence: String,
    /// The next sentence corrects it: "no, it's a 2007"; the fact says both.
    pub(crate) is_corrected: bool,
}

/// The facts of people's messages, in order; none from the message on that sets a scene, in which
/// anybody may speak.
pub(crate) fn stated_facts<'a>(
    messages: &'a [Message],
    zone: &'a Zone,
) -> impl Iterator<Item = StatedFact> + 'a {
    of_people(messages).flat_map(move |message| of_message(message, zone, plain_statements))
}

/// As [`stated_facts`], with sentences and clauses about others: "the plumber comes on Friday".
pub(crate) fn announced<'a>(
    messages: &'a [Message],
    zone: &'a Zone,
) -> impl Iterator<Item = StatedFact> + 'a {
    of_people(messages).flat_map(move |message| of_message(message, zone, announced_of))
}

fn announced_of(sentence: &str) -> Vec<statement::Statement<'_>> {
    let clauses = statement::clauses(sentence, Language::of(sentence));
    let others = [sentence]
        .into_iter()
        .chain(clauses)
        .filter_map(statement::of_others);
    plain_statements(sentence).into_iter().chain(others).collect()
}

fn of_people(messages: &[Message]) -> impl Iterator<Item = &Message> {
    let said = messages[..scene(messages)].iter();
    said.filter(|message| message.role == Role::User)
}

/// If this many answers quote speech, the model tells a story.
const STORY_ANSWERS_MIN: usize = 2;

/// Index of the message from which on people play a scene; the number of messages if none does. If
/// a person and a model both quote speech, the whole talk is a story. If only the model does, the
/// story begins with the message before its first such answer.
pub(crate) fn scene(messages: &[Message]) -> usize {
    let speech = |role: Role| -> Vec<usize> {
        let of = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.role == role);
        of.filter(|(_, message)| material::has_speech(&visible::readable_text(message)))
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

/// The sentences of a message by its writer: no quotation, no draft, no task's text.
pub(crate) fn own_sentences(message: &Message) -> BTreeSet<String> {
    let text = written(message);
    // An episode's account may quote any line of a message that is one paragraph; a fact must also
    // know the author of the line.
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

/// The sentences of people's own accounts, in order, each with its message: the input of the facts.
pub(crate) fn account(messages: &[Message]) -> impl Iterator<Item = (&Message, String)> {
    of_people(messages).flat_map(|message| {
        let text = written(message);
        let told: Vec<String> = account_sentences(&text).map(str::to_owned).collect();
        told.into_iter().map(move |sentence| (message, sentence))
    })
}

/// The sentences of a text's own account.
fn account_sentences(text: &str) -> impl Iterator<Item = &str> {
    let stretches = material::account(text).into_iter().flat_map(material::stretches);
    stretches.flat_map(|stretch| material::spoken(sentences(stretch)))
}

/// A person's text; empty for other roles.
fn written(message: &Message) -> String {
    match message.role {
        Role::User => visible::readable_text(message),
        _ => String::new(),
    }
}

/// Whether a sentence of a person's message says a fact.
pub(crate) fn is_fact(sentence: &str, message: &Message) -> bool {
    message.role == Role::User && !sentence.starts_with('>') && !plain_statements(sentence).is_empty()
}

/// The plain statements of a sentence; none of a sentence with a secret.
fn plain_statements(sentence: &str) -> Vec<statement::Statement<'_>> {
    if words(sentence).iter().any(|word| SECRETS.contains(&word.text)) {
        return Vec::new();
    }
    statement::statements(sentence)
}

/// The plain statements anywhere in the text of a person's message, in the form of facts, also
/// those of a paste, a draft or a scene. Only the person knows the author of each. `speaker` is the
/// name that the message shows.
pub fn statements(text: &str, speaker: &str) -> Vec<String> {
    let text = visible::readable(text);
    let said = said_by(&sentences(&text), speaker);
    said.into_iter().map(|(said, _)| said).collect()
}

/// The plain statements of sentences, each with its sentences: the next one may correct it.
fn said_by<'a>(sentences: &[&'a str], speaker: &str) -> Vec<(String, Vec<&'a str>)> {
    let name = visible::speaker_named(speaker);
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
        for said in plain_statements(shown).into_iter().filter(|said| !said.is_plan) {
            before = from_statement(shown, said.said);
            all.push((stated(&name, said.said), vec![sentence]));
        }
    }
    all
}

/// A statement with a sentence that corrects it: "no, it's a 2007". `before` is the corrected text;
/// if it is empty, there is no statement to correct.
fn corrected(before: &mut String, sentence: &str, name: &str) -> Option<String> {
    if before.is_empty() || !statement::corrects(sentence) {
        return None;
    }
    *before = format!("{before} {sentence}");
    Some(stated(name, before))
}

/// A sentence from a statement on, to its end.
fn from_statement(sentence: &str, said: &str) -> String {
    sentence[sentence.rfind(said).unwrap_or_default()..].to_owned()
}

/// Reads the messages of people with the rules of this crate.
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
        // A model's fact is one sentence, even if the next one corrects it.
        let alone = sentences.iter().flat_map(|one| said_by(&[*one], speaker));
        let said = said_by(&sentences, speaker).into_iter().chain(alone);
        let taken_back = said.filter(|(said, _)| marks.contains(&mark(said)));
        let taken_back: BTreeSet<&str> = taken_back.flat_map(|(_, by)| by).collect();
        let mut left = text.to_owned();
        for sentence in sentences.into_iter().filter(|one| taken_back.contains(one)) {
            left = left.replacen(sentence, "", 1);
        }
        // A statement over several sentences cannot be found in the text: then none of the message
        // is kept.
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
) -> Vec<StatedFact> {
    let name = visible::speaker(message);
    let mut told: Vec<StatedFact> = Vec::new();
    // The last sentence, from its last statement on.
    let mut before = String::new();
    let text = written(message);
    for sentence in account_sentences(&text) {
        if let Some(text) = corrected(&mut before, sentence, &name)
            && let Some(last) = told.last_mut()
        {
            last.fact.text = text;
            last.is_corrected = true;
            continue;
        }
        let is_dated = |text: &str| !expressions(text, message.time, zone).is_empty();
        let made = |text: String| StatedFact {
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

/// A statement in its speaker's words, after the speaker's name if there is one.
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

/// A text with its first letter in upper case.
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
