//! Which clauses tell something lasting about the one who says them.
//!
//! Owns: the subjects of self-statements and what may stand before them. Never: what must follow (`claim`), word
//! lists (`lexicon`) or the retelling (`retell`).

use model::{Timestamp, Zone};
use recall::text::is_stop_word;
use recall::time::expressions;

use super::claim::{Clause, is_dated};
use super::clause::is_own_subject;
use super::lexicon::{ABSTRACT, ADVERBS, Form, HYPOTHETICAL, NOT_OWN, SECRETS, VAGUE, verb};
use super::retell::{Before, retell};
use crate::dates::names_a_day;
use crate::words::{Word, WordList, word_list, words};

/// A clause in the third person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) subject: String,
    pub(super) predicate: String,
}

impl Statement {
    /// Says something more where the first clause of the predicate ends.
    fn say_also(&mut self, more: &str) {
        let breaks = words(&self.predicate)
            .iter()
            .find(|word| word.breaks)
            .map(|word| word.range.start);
        let end = breaks.map_or(self.predicate.len(), |start| {
            self.predicate[..start]
                .trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')')
                .len()
        });
        self.predicate.insert_str(end, &format!(" {more}"));
    }
}

/// What may stand before the subject and says nothing: talk, greetings, and "remember that".
static LEADS: WordList = word_list!(
    "well these days nowadays so yeah yes yep oh ah actually anyway btw also and but plus hey hi hello by the way \
     remember please note that fyi for record in fact to be honest honestly thanks thank ok okay no nope nah correction \
     update news good great big sorry wait wow haha lol as know mention forgot now then hmm right sure cool \
     or"
);

/// Words that make what follows depend on something else.
static SUBORDINATE: WordList = word_list!(
    "when if while because although before after until as once where what how which who whenever why like"
);

/// Reads a clause; none when it is not a statement of the speaker's own life.
pub(super) fn statement(clause: &str, name: &str, said_at: Timestamp, zone: &Zone) -> Option<Statement> {
    let words = words(clause);
    let has = |list: &WordList| words.iter().any(|word| list.contains(&word.text));
    if has(&HYPOTHETICAL) || has(&NOT_OWN) || has(&SECRETS) {
        return None;
    }
    let clause = Clause {
        text: clause,
        words: &words,
        said_at,
        zone,
    };
    let Some(subject) = words.iter().position(|word| is_own_subject(&word.text)) else {
        return clause.of_event().or_else(|| clause.elliptical(name));
    };
    let lead = &words[..subject];
    let lead_text = lead
        .last()
        .map_or("", |last| &clause.text[lead[0].range.start..last.range.end]);
    let said_when = !lead.is_empty() && is_dated(lead_text, said_at, zone);
    let says_nothing = |at: usize| {
        let word = &words[at];
        let guess_what =
            word.text == "guess" || (word.text == "what" && at > 0 && words[at - 1].text == "guess");
        guess_what || LEADS.contains(&word.text) || (word.capital && words[subject].breaks)
    };
    let free = lead.len() <= 6 && !lead.iter().any(|word| SUBORDINATE.contains(&word.text));
    if let Some(told) = clause.inverted(subject, name) {
        return Some(told);
    }
    let companion = companion(lead);
    if companion.is_none() && !(0..subject).all(says_nothing) && !(free && said_when) {
        return None;
    }
    let mut told = match words[subject].text.as_str() {
        "my" | "our" => clause.of_mine(subject, name)?,
        _ => clause.of_me(subject, name)?,
    };
    if let Some(companion) = companion {
        told.say_also(&format!("with {}", &clause.text[companion.range.clone()]));
    } else if said_when {
        told.say_also(&decapitalised(time_in(lead_text, said_at, zone)));
    }
    Some(told)
}

/// The other one in "Paul and I".
fn companion(lead: &[Word]) -> Option<&Word> {
    match lead {
        [.., who, and] if lead.len() == 2 && and.text == "and" && who.capital => {
            Some(who).filter(|who| !LEADS.contains(&who.text))
        }
        _ => None,
    }
}

fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "of" | "about" | "for" | "with" | "on" | "at" | "in" | "from" | "to"
    )
}

/// The time in a lead, with the preposition that belongs to it.
fn time_in<'a>(lead: &'a str, said_at: Timestamp, zone: &Zone) -> &'a str {
    let lead = lead.trim_end_matches(|c: char| !c.is_alphanumeric());
    let Some(start) = expressions(lead, said_at, zone)
        .first()
        .map(|(range, _)| range.start)
    else {
        return lead;
    };
    let before = lead[..start].trim_end().rsplit(' ').next().unwrap_or("");
    let belongs = ["in", "on", "at", "during", "around"]
        .iter()
        .any(|word| before.eq_ignore_ascii_case(word));
    let start = if belongs {
        lead[..start].trim_end().len() - before.len()
    } else {
        start
    };
    &lead[start..]
}

/// A lead as it reads at the end of a sentence; names of days and months keep their capitals.
fn decapitalised(text: &str) -> String {
    if names_a_day(text.split_whitespace().next().unwrap_or("")) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    let first = chars.next().map(char::to_lowercase);
    first.map_or_else(String::new, |first| first.chain(chars).collect())
}
impl Clause<'_> {
    fn predicate(&self, at: usize, name: &str) -> String {
        let told = retell(
            self.text,
            self.words.get(at..).unwrap_or(&[]),
            name,
            Before::Subject,
        );
        told.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | ')' | '"' | '”'))
            .to_owned()
    }

    /// "I …", "we …".
    fn of_me(&self, subject: usize, name: &str) -> Option<Statement> {
        let (lead_in, verb_at) = match self.word(subject) {
            "i'm" | "im" | "we're" => ("is ", self.past_adverbs(subject + 1)),
            "i've" | "ive" | "we've" => ("has ", self.past_adverbs(subject + 1)),
            "i'll" | "we'll" => ("will ", self.past_adverbs(subject + 1)),
            _ => ("", self.past_adverbs(subject + 1)),
        };
        let counts = match lead_in {
            "is " => self.counts_be(verb_at),
            "has " => self.counts_have(verb_at),
            "will " => self.counts_will(verb_at),
            _ => self.counts_plain(verb_at),
        };
        let predicate = if lead_in.is_empty() {
            self.predicate(subject + 1, name)
        } else {
            // The contraction was the verb; what follows it keeps its form.
            let rest = self.words.get(subject + 1..).unwrap_or(&[]);
            let rest = retell(self.text, rest, name, Before::Name);
            let kept =
                rest.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | ')' | '"' | '”'));
            format!("{lead_in}{kept}")
        };
        (counts && !self.dangles(verb_at)).then(|| Statement {
            subject: name.to_owned(),
            predicate,
        })
    }

    /// "My sister lives in Oslo", "our rent is …".
    fn of_mine(&self, subject: usize, name: &str) -> Option<Statement> {
        let verb_at = (subject + 2..self.words.len().min(subject + 8)).find(|at| {
            let word = self.word(*at);
            matches!(
                word,
                "is" | "are" | "was" | "were" | "has" | "have" | "had" | "isn't" | "will"
            ) || matches!(verb(word), Some((_, Form::Third | Form::Past)))
                || (self.word(*at - 1).ends_with('s') && matches!(verb(word), Some((_, Form::Base))))
        });
        let verb_at = verb_at.filter(|at| !self.words[subject + 1..=*at].iter().any(|word| word.breaks))?;
        let noun = self.words[subject + 1..verb_at]
            .iter()
            .map(|word| word.text.as_str());
        let head = noun
            .clone()
            .take_while(|word| !is_preposition(word))
            .last()
            .unwrap_or("");
        if ABSTRACT.contains(head) || noun.clone().any(|word| SUBORDINATE.contains(word)) {
            return None;
        }
        let be = matches!(
            self.word(verb_at),
            "is" | "are" | "was" | "were" | "has" | "have" | "had"
        );
        let aims = matches!(
            head,
            "goal" | "dream" | "plan" | "aim" | "resolution" | "job" | "hobby"
        );
        let next = self.word(verb_at + 1);
        let clausal = matches!(next, "that" | "how" | "what") || (next == "to" && be && !aims);
        let ended = matches!(
            self.word(verb_at),
            "died" | "retired" | "graduated" | "moved" | "divorced" | "remarried"
        );
        let counts = (self.says(verb_at + 1) && !clausal && !self.dangles(verb_at)) || ended;
        let idle = self.word(verb_at) == "will" && !self.is_dated();
        let owned = retell(self.text, &self.words[subject..verb_at], name, Before::Nothing);
        let predicate = retell(self.text, &self.words[verb_at..], name, Before::Name);
        let predicate =
            predicate.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | ')' | '"'));
        (counts && !idle).then(|| Statement {
            subject: owned,
            predicate: predicate.to_owned(),
        })
    }

    /// "Chess is my favourite game": the same as "my favourite game is chess".
    fn inverted(&self, my: usize, name: &str) -> Option<Statement> {
        let is = my
            .checked_sub(1)
            .filter(|is| *is > 0 && matches!(self.word(*is), "is" | "are"))?;
        let what = &self.words[..is];
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
        let counts = matches!(self.word(my), "my" | "our") && what.len() <= 4 && noun.len() <= 5;
        if !counts || what.iter().any(vague) || ABSTRACT.contains(&head.text) {
            return None;
        }
        let owned = retell(self.text, &self.words[my..], name, Before::Nothing);
        let what = &self.text[what[0].range.start..what[is - 1].range.end];
        Some(Statement {
            subject: owned.trim_end_matches(" now").to_owned(),
            predicate: format!("is {what}"),
        })
    }

    /// "The launch has been moved to Friday": a named event gets a date, or loses it.
    fn of_event(&self) -> Option<Statement> {
        let the = self
            .words
            .iter()
            .position(|word| matches!(word.text.as_str(), "the" | "this"))?;
        let verb_at = (the + 2..self.words.len().min(the + 6)).find(|at| {
            matches!(
                self.word(*at),
                "is" | "was" | "has" | "got" | "starts" | "begins" | "moved"
            )
        })?;
        if !self.words[..the].iter().all(|word| LEADS.contains(&word.text)) {
            return None;
        }
        let change = |word: &Word| {
            matches!(
                word.text.as_str(),
                "moved"
                    | "rescheduled"
                    | "postponed"
                    | "pushed"
                    | "cancelled"
                    | "canceled"
                    | "scheduled"
                    | "delayed"
                    | "set"
                    | "starts"
                    | "begins"
                    | "on"
                    | "due"
            )
        };
        let near = self.words[verb_at..].iter().take(4);
        let cancelled = |word: &Word| matches!(word.text.as_str(), "cancelled" | "canceled");
        if !near.clone().any(change) || !(self.is_dated() || near.clone().any(cancelled)) {
            return None;
        }
        let text =
            |from: usize, to: usize| &self.text[self.words[from].range.start..self.words[to - 1].range.end];
        let subject = format!("The {}", text(the + 1, verb_at));
        Some(Statement {
            subject,
            predicate: text(verb_at, self.words.len()).to_owned(),
        })
    }

    /// "Just moved to Lisbon": the subject is left out.
    fn elliptical(&self, name: &str) -> Option<Statement> {
        let start = self
            .words
            .iter()
            .position(|word| !matches!(word.text.as_str(), "and" | "so" | "yeah" | "oh" | "also"))?;
        let at = self.past_adverbs(start);
        let just = (start..at).any(|i| matches!(self.word(i), "just" | "finally" | "recently"));
        let (base, form) = verb(self.word(at))?;
        let counts = form == Form::Past && base != self.word(at) && (just || self.is_dated());
        let told = counts && self.says(at + 1) && self.counts_object(at + 1);
        let predicate = self.predicate(start, name);
        told.then(|| Statement {
            subject: name.to_owned(),
            predicate: decapitalised(&predicate),
        })
    }
}
