//! Single statements that people made about themselves and what is theirs, by rules.
//!
//! Owns: which sentences become facts, and the facts' words. Never: guessing; a sentence that no rule knows is left
//! to the verbatim turns. Questions, suppositions, other people's words and secrets are never facts.
//!
//! Reading order: `clause` (sentences cut so that each has one subject), `statement` and `others` (which of them count,
//! by their subject), `claim` (by their predicate) and `alone` (whether they need context), `retell` (from the first
//! person to the third), `lexicon` (words).

mod alone;
mod claim;
mod clause;
pub(crate) mod lexicon;
mod material;
mod others;
mod retell;
mod statement;
#[cfg(test)]
mod tests;

use model::{Cell, Message, MessageId, Role, SenderId, Timestamp, Zone};
use text::terms;

use retell::capitalised;
pub(crate) use retell::of_somebody;

use crate::sentence::sentences;
use crate::slot::is_duplicate;
use crate::visible::FIRST_PERSON;
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

/// The facts of people's messages, in order; none where one of them sets a scene, in which anybody may speak.
pub(crate) fn told<'a>(messages: &'a [Message], zone: &'a Zone) -> impl Iterator<Item = Told> + 'a {
    let said = || messages.iter().filter(|message| message.role == Role::User);
    let is_scene = said().any(|message| material::sets_a_scene(&visible::own_words(message).to_lowercase()));
    said()
        .filter(move |_| !is_scene)
        .flat_map(move |message| of_message(message, zone))
}

/// The first fact in a sentence of a person's message.
pub(crate) fn first_of(sentence: &str, message: &Message, name: &str, zone: &Zone) -> Option<String> {
    if message.role != Role::User || sentence.starts_with('>') {
        return None;
    }
    let mut clauses = clause::clauses(sentence).into_iter();
    let said = clauses.find_map(|clause| statement::statement(&clause, name, message.time, zone))?;
    Some(full(&said.subject, &said.predicate, name))
}

fn of_message(message: &Message, zone: &Zone) -> Vec<Told> {
    let text = visible::own_words(message);
    let mut name = visible::speaker(message);
    if message.sender_name.is_none() {
        name = capitalised(&name);
    }
    let mut told = Vec::new();
    if !material::is_account(&text) {
        return told;
    }
    for sentence in sentences(&text)
        .into_iter()
        .filter(|one| material::is_spoken(one))
    {
        for clause in clause::clauses(sentence) {
            let Some(said) = statement::statement(&clause, &name, message.time, zone) else {
                continue;
            };
            if says_only(&said.predicate, &name) {
                continue;
            }
            // A birthday comes every year.
            let yearly = said.subject.ends_with("birthday") && said.predicate.starts_with("is on");
            let (predicate, since) = if yearly {
                (said.predicate, None)
            } else {
                dates::written_out(&said.predicate, message.time, zone)
            };
            let fact = Fact {
                text: full(&said.subject, without_fillers(&predicate), &name),
                sources: vec![message.id.clone()],
                sender: message.sender.clone(),
                said_at: message.time,
                valid_from: since,
            };
            told.push(Told {
                fact,
                sentence: sentence.to_owned(),
            });
            if told.len() == PER_MESSAGE_MAX {
                return told;
            }
        }
    }
    told
}

fn full(subject: &str, predicate: &str, name: &str) -> String {
    let text = format!("{subject} {predicate}.");
    if name == FIRST_PERSON {
        capitalised(&text)
    } else {
        text
    }
}

/// A predicate without the words behind it that only join it to the talk.
fn without_fillers(mut predicate: &str) -> &str {
    const FILLERS: &str = "too|also|though|actually|before|anyway|lately|recently|as well|\
        for example|of course|so far|right now|by the way";
    while let Some(rest) = FILLERS
        .split('|')
        .find_map(|filler| predicate.strip_suffix(filler)?.strip_suffix(' '))
    {
        predicate = rest.trim_end_matches([',', ' ']);
    }
    predicate
}

/// Whether a predicate says nothing but the speaker's own name, which every fact says.
fn says_only(predicate: &str, name: &str) -> bool {
    let known = terms(name);
    let said = terms(predicate);
    !said.is_empty() && said.iter().all(|term| known.contains(term))
}
