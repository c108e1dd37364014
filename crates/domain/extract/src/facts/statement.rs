//! Which clauses tell something lasting about the one who says them.
//!
//! Owns: the grammar of self-statements. Never: word lists (`lexicon`) or the retelling (`retell`).

use model::{Timestamp, Zone};
use recall::text::is_stop_word;
use recall::time::expressions;

use super::clause::is_own_subject;
use super::lexicon::{
    ABSTRACT, ADVERBS, Form, GOALS, HYPOTHETICAL, IDIOMS, NEGATABLE, NOT_OWN, SECRETS, STATES,
    STATES_WITH_OF, TALK, VAGUE, is_participle, verb,
};
use super::retell::{Before, retell};
use crate::dates::names_a_day;
use crate::words::{Word, WordList, word_list, words};

/// A clause in the third person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) subject: String,
    pub(super) predicate: String,
}

/// What may stand before the subject and says nothing: talk, greetings, and "remember that".
static LEADS: WordList = word_list!(
    "well these days nowadays so yeah yes yep oh ah actually anyway btw also and but plus hey hi hello by the way remember please \
     note that fyi for record in fact to be honest honestly thanks thank ok okay no nope nah correction \
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
    let dated = |text: &str| names_a_day(text) || !expressions(text, said_at, zone).is_empty();
    let clause = Clause {
        text: clause,
        words: &words,
        dated: dated(clause),
    };
    let Some(subject) = words.iter().position(|word| is_own_subject(&word.text)) else {
        return clause.of_event().or_else(|| clause.elliptical(name));
    };
    let lead = &words[..subject];
    let lead_text = lead
        .last()
        .map_or("", |last| &clause.text[lead[0].range.start..last.range.end]);
    let said_when = !lead.is_empty() && dated(lead_text);
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
        told.predicate = format!(
            "{} with {}",
            told.predicate,
            &clause.text[companion.range.clone()]
        );
    } else if said_when {
        let lead_text = lead_text.trim_start_matches(|c: char| !c.is_alphanumeric());
        let lead_words = lead_text
            .split_whitespace()
            .skip_while(|word| LEADS.contains(word) && *word != "in");
        let lead_text = lead_words.collect::<Vec<_>>().join(" ");
        told.predicate = format!("{} {}", told.predicate, decapitalised(&lead_text));
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

/// A lead as it reads at the end of a sentence; names of days and months keep their capitals.
fn decapitalised(text: &str) -> String {
    if names_a_day(text.split_whitespace().next().unwrap_or("")) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_lowercase());
    first.map_or_else(String::new, |first| first.chain(chars).collect())
}

struct Clause<'a> {
    text: &'a str,
    words: &'a [Word],
    /// It contains a time expression.
    dated: bool,
}

impl Clause<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    fn past_adverbs(&self, mut at: usize) -> usize {
        while ADVERBS.contains(self.word(at)) {
            at += 1;
        }
        at
    }

    /// Whether anything from there on names something.
    fn says(&self, at: usize) -> bool {
        self.words.iter().skip(at).any(|word| {
            let plain = word.text.as_str();
            !is_stop_word(plain) && !VAGUE.contains(plain) && !ADVERBS.contains(plain) && plain != "very"
        })
    }

    /// Whether an idiom or shop talk stands among the first words from there.
    fn is_idiom(&self, at: usize) -> bool {
        let near = self.words.iter().skip(at).take(4);
        near.clone().any(|word| IDIOMS.contains(&word.text))
    }

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
        counts.then(|| Statement {
            subject: name.to_owned(),
            predicate,
        })
    }

    fn counts_plain(&self, at: usize) -> bool {
        let next = self.past_adverbs(at + 1);
        match self.word(at) {
            "am" | "was" | "are" | "were" => self.counts_be(next),
            "have" | "had" if self.word(next) == "been" || is_participle(self.word(next)) => {
                self.counts_have(next)
            }
            "have" | "had" => self.counts_possession(next),
            "will" => self.counts_will(next),
            "don't" | "dont" => {
                NEGATABLE.contains(self.word(next)) && self.says(next + 1) && !self.is_idiom(next + 1)
            }
            "can't" | "cannot" => {
                matches!(self.word(next), "stand" | "eat" | "tolerate" | "swim" | "drive") && self.says(next)
            }
            "can" => matches!(self.word(next), "speak" | "play" | "swim" | "drive") && self.says(next),
            "no" if self.word(at + 1) == "longer" => verb(self.word(at + 2)).is_some() && self.says(at + 3),
            "used" if self.word(at + 1) == "to" => verb(self.word(at + 2)).is_some() && self.says(at + 3),
            "want" if self.word(at + 1) == "to" => GOALS.contains(self.word(at + 2)) && self.says(at + 3),
            "get" | "got" | "took" | "take" | "made" | "make" => self.says(next) && self.counts_object(next),
            "like" | "love" | "hate" | "prefer" | "enjoy" | "adore" | "dislike" | "loved" | "liked"
            | "enjoyed" | "hated" | "fear" => self.counts_taste(next),
            word if TALK.contains(word) => false,
            "gave" | "give" if self.word(next) == "up" => self.says(next + 1),
            "smoke" | "retired" | "graduated" | "remarried" => true,
            "do" | "did" | "saw" | "found" | "gave" | "kept" | "put" | "set" | "held" | "brought"
            | "tried" | "use" | "see" | "find" | "keep" | "try" => {
                self.says(next) && self.counts_object(next) && self.is_concrete(next)
            }
            word => {
                matches!(verb(word), Some((_, Form::Base | Form::Past)))
                    && self.says(next)
                    && self.counts_object(next)
            }
        }
    }

    /// An object that is not just a pronoun, and no idiom.
    fn counts_object(&self, at: usize) -> bool {
        let pronoun = matches!(
            self.word(at),
            "it" | "that" | "this" | "them" | "these" | "those" | "what" | "how" | "him" | "her" | "to"
        );
        let to_place =
            self.word(at) == "to" && verb(self.word(at + 1)).is_none_or(|(_, form)| form != Form::Base);
        (!pronoun || to_place) && !self.is_idiom(at)
    }

    /// Dated, or with a name or number in it: for verbs that alone say little.
    fn is_concrete(&self, at: usize) -> bool {
        let named = |word: &Word| word.capital || word.text.starts_with(|c: char| c.is_ascii_digit());
        self.dated || self.words.iter().skip(at).any(named)
    }

    /// What one can be "on" or "in" for a while.
    fn tells_state(&self, at: usize) -> bool {
        let states = [
            "diet",
            "relationship",
            "medication",
            "antibiotics",
            "team",
            "shift",
            "sabbatical",
            "leave",
            "college",
            "school",
        ];
        self.words
            .iter()
            .skip(at)
            .any(|word| states.contains(&word.text.as_str()))
    }

    fn counts_taste(&self, at: usize) -> bool {
        let vague = [
            "it",
            "that",
            "this",
            "those",
            "these",
            "them",
            "how",
            "what",
            "when",
            "the",
            "him",
            "her",
            "to",
            "where",
            "seeing",
            "hearing",
            "being",
            "having",
            "everyone",
            "everything",
            "all",
        ];
        let the_idea =
            self.word(at) == "the" && matches!(self.word(at + 1), "way" | "idea" | "fact" | "sound" | "vibe");
        let to_do =
            self.word(at) == "to" && verb(self.word(at + 1)).is_some_and(|(_, form)| form == Form::Base);
        let fine = !vague.contains(&self.word(at)) || (self.word(at) == "the" && !the_idea) || to_do;
        fine && self.says(at) && self.word(at + 1) != "to"
    }

    fn counts_possession(&self, at: usize) -> bool {
        !matches!(self.word(at), "to" | "no" | "been" | "it" | "that" | "this")
            && self.says(at)
            && !self.is_idiom(at)
    }

    fn counts_have(&self, at: usize) -> bool {
        match self.word(at) {
            "been" => {
                self.counts_be(self.past_adverbs(at + 1)) || (self.word(at + 1) == "to" && self.says(at + 2))
            }
            "got" => self.counts_possession(at + 1),
            "had" => self.counts_possession(at + 1),
            word if TALK.contains(word) => false,
            word if is_participle(word) => self.says(at + 1) && self.counts_object(at + 1),
            _ => false,
        }
    }

    fn counts_will(&self, at: usize) -> bool {
        let known = matches!(verb(self.word(at)), Some((_, Form::Base)));
        known && self.dated && self.says(at + 1) && self.counts_object(at + 1)
    }

    /// What follows a form of "be".
    fn counts_be(&self, at: usize) -> bool {
        let at = self.past_adverbs(at + usize::from(self.word(at) == "not"));
        let (here, next) = (self.word(at), self.word(at + 1));
        let going_to = here == "going" && next == "to";
        if going_to || matches!((here, next), ("planning" | "about" | "moving", "to")) {
            let planned = matches!(verb(self.word(at + 2)), Some((_, Form::Base)));
            return self.says(at + 2) && self.counts_object(at + 3) && (planned || self.is_concrete(at + 2));
        }
        match here {
            "a" | "an" => {
                !matches!(next, "bit" | "little" | "mess" | "loss")
                    && self.says(at + 1)
                    && !self.is_idiom(at + 1)
            }
            "the" => {
                self.is_concrete(at + 1)
                    || self.word(at + 2) == "of"
                    || matches!(next, "youngest" | "oldest" | "eldest" | "only")
            }
            "from" | "into" => self.says(at + 1),
            "in" | "at" | "on" | "with" => self.is_concrete(at + 1) || self.tells_state(at + 1),
            "back" => self.says(at + 1) && self.words.len() > at + 2,
            "no" => next == "longer" && self.says(at + 2),
            _ if here.starts_with(|c: char| c.is_ascii_digit()) => self.words.len() <= at + 6,
            _ if STATES_WITH_OF.contains(here) => next == "of" && self.says(at + 2),
            _ if STATES.contains(here) => true,
            _ => match verb(here) {
                Some((_, Form::Ing)) => {
                    let vague = matches!(
                        here,
                        "getting" | "doing" | "having" | "being" | "making" | "keeping" | "seeing"
                    );
                    (!vague || self.is_concrete(at + 1)) && self.says(at + 1) && self.counts_object(at + 1)
                }
                Some((_, Form::Past | Form::Participle)) => self.says(at) && self.is_concrete(at),
                _ => false,
            },
        }
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
        let counts = (self.says(verb_at + 1) && !clausal) || ended;
        let idle = self.word(verb_at) == "will" && !self.dated;
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
        if !near.clone().any(change) || !(self.dated || near.clone().any(cancelled)) {
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
        let counts = form == Form::Past && base != self.word(at) && (just || self.dated);
        let told = counts && self.says(at + 1) && self.counts_object(at + 1);
        let predicate = self.predicate(start, name);
        told.then(|| Statement {
            subject: name.to_owned(),
            predicate: decapitalised(&predicate),
        })
    }
}
