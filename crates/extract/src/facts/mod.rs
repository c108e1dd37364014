//! Single statements that people made about themselves and what is theirs, by rules.
//!
//! Owns: which sentences become facts, and the facts' words. Never: guessing; a sentence that no rule knows is left
//! to the verbatim turns. Questions, suppositions, other people's words and secrets are never facts.
//!
//! Reading order: `clause` (sentences cut so that each has one subject), `statement` and `others` (which of them count,
//! by their subject), `called` (names said in passing), `wish` (how one wants to be answered), `tongues` (other
//! languages), `claim` (by their predicate), `alone` (whether they need context) and `whole` (whether they lost something),
//! `retell` (from the first person to the third), `lexicon` (words).

mod alone;
mod called;
mod claim;
mod clause;
pub(crate) mod lexicon;
mod material;
mod others;
mod retell;
mod statement;
#[cfg(test)]
mod tests;
mod tongues;
mod whole;
mod wish;

use std::collections::BTreeSet;

use model::{Cell, Message, MessageId, Role, SenderId, Timestamp, Zone};
use text::terms;

use called::Called;
pub(crate) use retell::capitalised;
pub(crate) use retell::of_somebody;
use statement::Statement;

use crate::sentence::sentences;
use crate::slot::is_duplicate;
use crate::visible::FIRST_PERSON;
use crate::words::{WordList, word_list, words};
use crate::{dates, visible};

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
}

/// The facts of people's messages, in order; none from where one of them sets a scene, in which anybody may speak.
pub(crate) fn told<'a>(messages: &'a [Message], zone: &'a Zone) -> impl Iterator<Item = Told> + 'a {
    let said = messages[..scene(messages)].iter();
    said.filter(|message| message.role == Role::User)
        .flat_map(move |message| of_message(message, zone))
}

/// The place of the message from which on people play a scene; their number, if none does.
pub(crate) fn scene(messages: &[Message]) -> usize {
    let sets = |message: &Message| material::sets_a_scene(&visible::own_words(message).to_lowercase());
    messages.iter().position(sets).unwrap_or(messages.len())
}

/// The sentences of a message that are its writer's own: no quotation, no draft, no task's text.
pub(crate) fn own_sentences(message: &Message) -> BTreeSet<String> {
    let text = visible::own_words(message);
    let sentences = if is_account(message) {
        sentences(&text)
    } else {
        Vec::new()
    };
    material::spoken(sentences).map(str::to_owned).collect()
}

fn is_account(message: &Message) -> bool {
    let text = visible::own_words(message);
    material::is_account(&text) && !names_another(&text, message)
}

/// Whether the writer takes another name: "my name is Bram" of one who is called Sam.
fn names_another(text: &str, message: &Message) -> bool {
    const NAMES_MIN: usize = 3;
    let own = visible::speaker(message).to_lowercase();
    let is_name = own.chars().count() >= NAMES_MIN && own.chars().all(|c| c.is_alphabetic() || c == ' ');
    let is_generic = ["user", "human", "person", "owner", "admin", "default"].contains(&&*own);
    let lower = text.to_lowercase();
    let mut said = lower
        .match_indices("my name is ")
        .map(|(at, opening)| &lower[at + opening.len()..]);
    is_name
        && !is_generic
        && said.any(|name| {
            let name: String = name
                .chars()
                .take_while(|c| c.is_alphabetic())
                .take(NAMES_MIN)
                .collect();
            !own.split(' ').any(|part| part.starts_with(&name))
        })
}

/// Whether a sentence of a person's message says a fact.
pub(crate) fn is_fact(sentence: &str, message: &Message, name: &str, zone: &Zone) -> bool {
    let says = |clause: &String| statement::statement(clause, name, message.time, zone).is_some();
    message.role == Role::User && !sentence.starts_with('>') && clause::clauses(sentence).iter().any(says)
}

fn of_message(message: &Message, zone: &Zone) -> Vec<Told> {
    let text = visible::own_words(message);
    let mut name = visible::speaker(message);
    if message.sender_name.is_none() {
        name = capitalised(&name);
    }
    let mut told = Vec::new();
    if !is_account(message) {
        return told;
    }
    let fact = |text: String, valid_from| Fact {
        text,
        sources: vec![message.id.clone()],
        sender: message.sender.clone(),
        said_at: message.time,
        valid_from,
    };
    let mut introduced = None;
    for sentence in material::spoken(sentences(&text)) {
        let mut facts = Vec::new();
        let carried = introduced.and_then(|before| called::carried(sentence, &before));
        introduced = called::introduced(sentence);
        for clause in clause::clauses(carried.as_deref().unwrap_or(sentence)) {
            let Some(said) = statement::statement(&clause, &name, message.time, zone) else {
                continue;
            };
            if says_only(&said.predicate, &name) {
                continue;
            }
            let (predicate, since) = if is_yearly(&said) {
                (said.predicate, None)
            } else {
                dated(&said, message.time, zone)
            };
            let predicate = as_of(plain(&predicate), message.time, zone);
            facts.push(fact(full(&said.subject, &predicate, &name), since));
        }
        if let Some(wish) = wish::wish(sentence, &name) {
            facts.push(fact(full(&wish.subject, &wish.predicate, &name), None));
        }
        for Called { told, said } in called::called(sentence, &name) {
            if !facts.iter().any(|fact: &Fact| fact.text.contains(&said)) {
                facts.push(fact(full(&told.subject, &told.predicate, &name), None));
            }
        }
        if let Some(said) = tongues::statement(sentence, &name).filter(|_| facts.is_empty()) {
            facts.push(fact(full(&said.subject, &said.predicate, &name), None));
        }
        told.extend(facts.into_iter().map(|fact| Told {
            fact,
            sentence: sentence.to_owned(),
        }));
    }
    told.truncate(PER_MESSAGE_MAX);
    told
}

/// A predicate that tells the moment, or counts how long something has lasted, with the day on which it was said: "has been a
/// nurse for ten years (as of 8 May 2023)".
fn as_of(predicate: String, said_at: Timestamp, zone: &Zone) -> String {
    const UNITS: [&str; 8] = [
        "week", "weeks", "month", "months", "year", "years", "decade", "decades",
    ];
    let words = words(&predicate);
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let lasts = predicate.ends_with(" now") && UNITS.contains(&text(words.len() - 2));
    let counts = lasts
        || (2..words.len())
            .any(|at| text(at) == "for" && (at + 2..at + 5).any(|at| UNITS.contains(&text(at))));
    let is_perfect = matches!(text(0), "has" | "have") && text(1) != "to";
    let is_current = matches!(text(0), "is" | "am") && text(1) == "currently";
    if !(counts && is_perfect || is_current) || predicate.ends_with(')') {
        return predicate;
    }
    let date = model::date_in_words(zone.date(said_at));
    let lasting = predicate.strip_suffix(" now").unwrap_or(&predicate);
    format!("{lasting} (as of {date})")
}

/// A predicate with its dates written out, and since when it holds. "I have a flight on Monday" is to come, "have a flight"
/// may be anything.
fn dated(said: &Statement, said_at: Timestamp, zone: &Zone) -> (String, Option<Timestamp>) {
    const FIRST: &str = "I ";
    if said.subject != FIRST_PERSON {
        return dates::written_out(&said.predicate, said_at, zone);
    }
    let (told, since) = dates::written_out(&format!("{FIRST}{}", said.predicate), said_at, zone);
    (told[FIRST.len()..].to_owned(), since)
}

/// Whether a statement dates what comes every year.
fn is_yearly(said: &Statement) -> bool {
    let is_day = ["birthday", "anniversary"]
        .iter()
        .any(|day| said.subject.ends_with(day));
    is_day && said.predicate.starts_with("is ") && dates::names_a_month(&said.predicate)
}

fn full(subject: &str, predicate: &str, name: &str) -> String {
    let text = format!("{subject} {predicate}.");
    if name == FIRST_PERSON {
        capitalised(&text)
    } else {
        text
    }
}

/// A predicate without the words that only join it to the talk: "also likes sushi, by the way" as "likes sushi".
fn plain(predicate: &str) -> String {
    const FILLERS: &str = "too|also|though|actually|before|anyway|lately|recently|as well|for example|of course|so far|\
        right now|by the way|to be honest|btw|tbh|apparently|thank you|thanks|lol|haha|please|pls";
    let mut predicate = predicate;
    while let Some(rest) = FILLERS
        .split('|')
        .find_map(|filler| predicate.strip_suffix(filler)?.strip_suffix(' '))
    {
        predicate = rest.trim_end_matches([',', ' ']);
    }
    let is_helper = |word: &&str| IDLE.contains(word) || HELPERS.contains(word);
    let helpers = predicate.split(' ').take_while(is_helper).count();
    // "Likes also cheese" has it behind the verb.
    let is_idle = |(at, word): (usize, &str)| {
        at < helpers && IDLE.contains(word) || at == helpers + 1 && word == "also"
    };
    let words = predicate.split(' ').enumerate();
    let kept: Vec<&str> = words.filter(|one| !is_idle(*one)).map(|(_, word)| word).collect();
    kept.join(" ")
}

/// Words before a verb that add nothing for one who does not know the talk.
static IDLE: WordList = word_list!(
    "just also actually even still really already totally absolutely definitely truly honestly basically super"
);

static HELPERS: WordList =
    word_list!("is am was has have had been will does doesn't don't did didn't can can't");

/// Whether a predicate says nothing but the speaker's own name, which every fact says.
fn says_only(predicate: &str, name: &str) -> bool {
    let known = terms(name);
    let said = terms(predicate);
    !said.is_empty() && said.iter().all(|term| known.contains(term))
}
