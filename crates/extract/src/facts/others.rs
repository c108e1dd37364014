//! Statements about the speaker's life with another subject, or without one.
//!
//! Owns: "chess is my favourite game", "the launch is on Friday", "they moved my appointment", "sold the car". Never:
//! the predicates of "I" and "my" statements (`statement`, `claim`).

use text::is_stop_word;

use super::claim::Clause;
use super::clause::is_own_subject;
use super::lexicon::{ABSTRACT, ADVERBS, Form, VAGUE, is_kin, participle, verb};
use super::retell::{Before, retell};
use super::statement::{LEADS, OF_THE_TALK, SUBORDINATE, Statement, closed, decapitalised, is_preposition};
use crate::dates::names_a_day;
use crate::slot::is_read;
use crate::visible::FIRST_PERSON;
use crate::words::{Word, WordList, word_list};

/// Actions by others that change one's things.
static DONE: WordList = word_list!(
    "moved promoted rescheduled postponed pushed delayed cancelled canceled raised lowered increased decreased changed renamed \
     transferred hired fired let rebooked upgraded extended shifted relocated accepted rejected approved denied sold demoted \
     cut put brought taken switched reduced stopped booked"
);

/// What has no name of its own.
static COMMON: WordList = word_list!(
    "passion hobby hobbies food drink dish snack fruit vegetable ingredient season subject exercise workout sport fix treat dessert \
     breakfast colour color thing escape outlet therapy sound smell flower animal"
);

/// Words with which the time of an event is set.
const SETTING: [&str; 4] = [" at ", "pushed to ", "moved to ", "changed to "];
/// Longer clauses explain a thing and do not date it.
const EVENT_WORDS_MAX: usize = 14;

impl Clause<'_> {
    /// "Chess is my favourite game": the same as "my favourite game is chess".
    pub(super) fn inverted(&self, my: usize, name: &str) -> Option<Statement> {
        let before = my.checked_sub(1).filter(|at| *at > 0)?;
        let perfect = matches!(self.word(before.wrapping_sub(1)), "has" | "have");
        let is = match self.word(before) {
            "become" | "became" if perfect => before - 1,
            "is" | "are" | "became" => before,
            _ => return None,
        };
        let start = (0..is).find(|at| !LEADS.contains(self.word(*at)))?;
        let what = &self.words[start..is];
        let vague = |word: &Word| {
            is_stop_word(&word.text) || VAGUE.contains(&word.text) || SUBORDINATE.contains(&word.text)
        };
        let noun = &self.words[my + 1..];
        let ends = noun
            .iter()
            .position(|word| word.breaks || is_preposition(&word.text))
            .unwrap_or(noun.len());
        let head = noun[..ends]
            .iter()
            .rev()
            .find(|word| !ADVERBS.contains(&word.text))?;
        let counts =
            matches!(self.word(my), "my" | "our") && what.len() <= 4 && ends == noun.len() && ends <= 5;
        if !counts
            || what.iter().any(vague)
            || ABSTRACT.contains(&head.text)
            || OF_THE_TALK.contains(&head.text)
        {
            return None;
        }
        let owned = retell(self.text, &self.words[my..], name, Before::Nothing);
        let what = &self.text[what[0].range.start..self.words[is - 1].range.end];
        let idle = |word: &str| ADVERBS.contains(word) || word == "too";
        let mut subject = owned;
        while let Some(end) = subject
            .rsplit_once(' ')
            .filter(|(_, last)| idle(last))
            .map(|(before, _)| before.len())
        {
            subject.truncate(end);
        }
        let is_read = is_read(&subject, &format!("{subject} is {what}."));
        // A sentence's capital; a game or a band keeps its own.
        let is_common = start == 0 && COMMON.contains(&head.text);
        let what = if is_common {
            decapitalised(what)
        } else {
            what.to_owned()
        };
        let predicate = format!("is {what}");
        is_read.then_some(Statement { subject, predicate })
    }

    /// "The launch has been moved to Friday": a named event gets a date or a time, or loses it.
    pub(super) fn of_event(&self, name: &str) -> Option<Statement> {
        let the = self
            .words
            .iter()
            .position(|word| matches!(word.text.as_str(), "the" | "this"))?;
        let verbs = [
            "is", "was", "has", "got", "starts", "begins", "moved", "leaves", "departs",
        ];
        let verb_at = (the + 2..self.words.len().min(the + 6)).find(|at| verbs.contains(&self.word(*at)))?;
        if !self.words[..the].iter().all(|word| LEADS.contains(&word.text)) {
            return None;
        }
        let cancelled = |word: &Word| matches!(word.text.as_str(), "cancelled" | "canceled");
        let text =
            |from: usize, to: usize| &self.text[self.words[from].range.start..self.words[to - 1].range.end];
        // "The kids" and "the dog" are the speaker's own.
        let owner = if is_kin(self.word(the + 1)) {
            if name == FIRST_PERSON {
                "My".to_owned()
            } else {
                format!("{name}'s")
            }
        } else {
            "The".to_owned()
        };
        let subject = format!("{owner} {}", text(the + 1, verb_at));
        let predicate = text(verb_at, self.words.len()).to_owned();
        // What another thing is called or costs is a matter of the talk; its date stands alone.
        let whose = if owner == "The" { "" } else { &subject };
        let set = is_read(whose, &format!("{subject} {predicate}."));
        let says_when = names_a_day(&predicate) || SETTING.iter().any(|joint| predicate.contains(joint));
        let says_when = says_when && !predicate.contains(" on a ");
        let spoken = says_when && self.words.len() <= EVENT_WORDS_MAX || owner != "The";
        let told = set && spoken || self.words[verb_at..].iter().take(4).any(cancelled);
        told.then_some(Statement { subject, predicate })
    }

    /// "They moved my appointment to Friday", "work promoted me": what was done to the speaker's life, where that
    /// changes what is known of it.
    pub(super) fn done_to_me(&self, mine: usize, name: &str) -> Option<Statement> {
        let done = mine.checked_sub(1)?;
        let participle = participle(self.word(done)).filter(|participle| DONE.contains(participle))?;
        let plain =
            |word: &Word| !word.breaks && verb(&word.text).is_none() && !SUBORDINATE.contains(&word.text);
        let lead = (0..done).find(|at| !LEADS.contains(self.word(*at)))?;
        let own = self.words[..done]
            .iter()
            .any(|word| is_own_subject(&word.text) && !matches!(word.text.as_str(), "my" | "our"));
        if own || done - lead > 3 || !self.words[lead + 1..done].iter().all(plain) {
            return None;
        }
        let to_me = matches!(self.word(mine), "me" | "us");
        let end = (mine + 1..self.words.len())
            .find(|at| self.words[*at].breaks || is_preposition(self.word(*at)) || self.word(*at) == "back")
            .unwrap_or(self.words.len());
        let (subject, rest) = if to_me {
            (name.to_owned(), mine + 1)
        } else {
            (
                retell(self.text, &self.words[mine..end], name, Before::Nothing),
                end,
            )
        };
        let rest = self.words.get(rest..).unwrap_or(&[]);
        let rest = closed(&retell(self.text, rest, name, Before::Name));
        let predicate = format!("was {participle} {rest}").trim_end().to_owned();
        is_read(&subject, &format!("{subject} {predicate}.")).then_some(Statement { subject, predicate })
    }

    /// "Just moved to Lisbon", "sold the car": the subject is left out.
    pub(super) fn elliptical(&self, name: &str) -> Option<Statement> {
        let start = self
            .words
            .iter()
            .position(|word| !matches!(word.text.as_str(), "and" | "so" | "yeah" | "oh" | "also"))?;
        let at = self.past_adverbs(start);
        // "Left Achilles is complaining": a thing, and no deed.
        let is_thing = (at + 1..at + 4)
            .take_while(|at| self.words.get(*at).is_some_and(|word| !word.breaks))
            .any(|at| {
                matches!(
                    self.word(at),
                    "is" | "are" | "was" | "were" | "has" | "isn't" | "hurts" | "aches"
                )
            });
        if is_thing {
            return None;
        }
        let goes_on = self.word(at) == "been" && self.word(at + 1).ends_with("ing");
        let is_past =
            verb(self.word(at)).is_some_and(|(base, form)| form == Form::Past && base != self.word(at));
        let predicate = decapitalised(&self.predicate(start, name));
        let predicate = match (goes_on, name == FIRST_PERSON) {
            (false, _) => predicate,
            (true, true) => format!("have {predicate}"),
            (true, false) => format!("has {predicate}"),
        };
        ((is_past || goes_on) && self.counts(name, &predicate)).then(|| Statement {
            subject: name.to_owned(),
            predicate,
        })
    }
}
