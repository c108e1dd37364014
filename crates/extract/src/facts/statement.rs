//! Clauses with lasting facts about their speaker.
//!
//! Owns: the subjects of self-statements and the words that can precede them. Never: predicates (`claim`), word lists
//! (`lexicon`), the third person (`retell`), or other subjects (`others`).

use model::{Timestamp, Zone};
use recall::time::expressions;

use super::claim::{Clause, is_dated};
use super::clause::is_own_subject;
use super::lexicon::{ABSTRACT, Form, HYPOTHETICAL, NOT_OWN, SECRETS, is_kin, verb};
use super::retell::{Before, retell};
use crate::dates::names_a_day;
use crate::slot::is_read;
use crate::visible::FIRST_PERSON;
use crate::words::{Word, WordList, word_list, words};

/// A clause in the third person, or in the first of one who has no name.
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

/// Words before the subject without meaning: fillers, greetings, and "remember that".
pub(super) static LEADS: WordList = word_list!(
    "well these days nowadays so yeah yes yep oh ah actually anyway btw also and but plus hey hi hello by the way \
     remember please note that fyi for record in fact to be honest honestly thanks thank ok okay no nope nah correction \
     update news good great big sad sadly unfortunately luckily thankfully turns apparently officially out hooray hurray yay oops \
     alas psa confession exciting finally all sorry wait wow haha lol as know mention forgot now then hmm right sure cool \
     or"
);

/// Things of the speaker's that are a matter of the talk, or of the day.
static OF_THE_TALK: WordList = word_list!(
    "budget city dates hours meeting code schedule hotel thing part highlight dose concerns itinerary \
     business fittings score off"
);

/// Words that make what follows depend on something else.
pub(super) static SUBORDINATE: WordList = word_list!(
    "when if while because although before after until as once where what how which who whenever why like"
);

/// Reads a clause; none when it is not a statement of the speaker's own life.
pub(super) fn statement(clause: &str, name: &str, said_at: Timestamp, zone: &Zone) -> Option<Statement> {
    let words = words(clause);
    let words = without_address(words);
    let has = |list: &WordList| words.iter().any(|word| list.contains(&word.text));
    if has(&HYPOTHETICAL) || has(&NOT_OWN) || has(&SECRETS) {
        return None;
    }
    let clause = Clause {
        text: words.last().map_or("", |last| &clause[..last.range.end]),
        words: &words,
        said_at,
        zone,
    };
    let mine = |word: &Word| matches!(word.text.as_str(), "me" | "us" | "my" | "our");
    let mut places = (1..words.len()).filter(|at| mine(&words[*at]));
    if let Some(told) = places.find_map(|at| clause.done_to_me(at, name)) {
        return Some(told);
    }
    let subject = words.iter().position(|word| is_own_subject(&word.text));
    let end = clause.understood(subject.unwrap_or(0))?;
    let clause = clause.until(end);
    let clause = clause.until(clause.told_until(subject.unwrap_or(0), name));
    let last = clause.words.last()?;
    let before = clause.words.len().checked_sub(2).map_or("", |at| clause.word(at));
    if is_preposition(&last.text) && before != "now"
        || matches!(last.text.as_str(), "the" | "a" | "an" | "my")
    {
        return None;
    }
    if let Some((companion, at)) = companion(&clause, name) {
        let mut told = clause.of_me(at, name)?;
        told.say_also(&format!("with {companion}"));
        return Some(told);
    }
    let Some(subject) = subject else {
        return clause.of_event(name).or_else(|| clause.elliptical(name));
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
    let placed = free && is_place(lead);
    let plain = (0..subject).all(says_nothing) || (free && said_when) || placed;
    if !plain {
        return clause.elliptical(name);
    }
    let mut told = match words[subject].text.as_str() {
        "my" | "our" => clause.of_mine(subject, name)?,
        _ => clause.of_me(subject, name)?,
    };
    if said_when {
        told.say_also(&decapitalised(time_in(lead_text, said_at, zone)));
    } else if placed {
        told.say_also(&decapitalised(lead_text));
    }
    Some(told)
}

/// Whether a lead says where, with a name: "at Atlantic Maps", "in Porto".
fn is_place(lead: &[Word]) -> bool {
    let opens = |word: &Word| matches!(word.text.as_str(), "at" | "in");
    lead.len() > 1
        && opens(&lead[0])
        && lead[1..].iter().all(|word| verb(&word.text).is_none())
        && lead.iter().skip(1).any(|word| word.capital)
}

/// A clause's words without an address to another person at its end: "I moved to Oslo, and you must visit me", and
/// without another person's words or a purpose: "…, she says that it hurts", "… if they need to know".
fn without_address(mut words: Vec<Word>) -> Vec<Word> {
    let to_you = words
        .iter()
        .position(|word| matches!(word.text.as_str(), "you" | "your" | "you're" | "you'll"));
    let joint = |at: &usize| {
        let next = words.get(at + 1).map_or("", |word| word.text.as_str());
        let to_you = matches!(next, "you" | "your" | "you're" | "you'll" | "please");
        words[*at].breaks || to_you && matches!(words[*at].text.as_str(), "and" | "but" | "so")
    };
    if let Some(at) = to_you.and_then(|you| (3..you).rev().find(joint)) {
        words.truncate(at);
    }
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let aside = |at: &usize| match text(*at) {
        "he" | "she" | "they" => words[*at].breaks && matches!(text(at + 1), "says" | "said"),
        "if" => text(at + 1) == "they" && matches!(text(at + 2), "need" | "want" | "ask"),
        _ => false,
    };
    if let Some(at) = (3..words.len()).find(aside) {
        words.truncate(at);
    }
    words
}

/// The others in "Paul and I" and "my wife and I", as they are retold, and the place of the "I".
fn companion(clause: &Clause<'_>, name: &str) -> Option<(String, usize)> {
    let words = clause.words;
    let at = (2..words.len().min(5))
        .find(|at| words[at - 1].text == "and" && matches!(clause.word(*at), "i" | "we" | "i've"))?;
    let who = &words[..at - 1];
    let mine = matches!(clause.word(0), "my" | "our") && who.len() > 1;
    let named = who.len() == 1 && who[0].capital && !LEADS.contains(&who[0].text);
    let plain = who.iter().skip(1).all(|word| !word.breaks);
    (plain && (mine || named)).then(|| (retell(clause.text, who, name, Before::Name), at))
}

pub(super) fn is_preposition(word: &str) -> bool {
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
        .map(|expression| expression.range.start)
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
pub(super) fn decapitalised(text: &str) -> String {
    if names_a_day(text.split_whitespace().next().unwrap_or("")) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    let first = chars.next().map(char::to_lowercase);
    first.map_or_else(String::new, |first| first.chain(chars).collect())
}

/// A predicate without "together", unless that belongs to its verb: "put together".
fn without_together(predicate: &str) -> String {
    const BELONGS: [&str; 8] = ["put", "putting", "get", "got", "gets", "getting", "come", "came"];
    let Some((before, after)) = predicate.split_once(" together") else {
        return predicate.to_owned();
    };
    if before
        .rsplit(' ')
        .next()
        .is_some_and(|word| BELONGS.contains(&word))
    {
        return predicate.to_owned();
    }
    format!("{before}{after}")
}

/// A predicate without what stands behind its last word, its last quotation and bracket closed.
pub(super) fn closed(text: &str) -> String {
    let kept = text.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | ')' | '"' | '”'));
    let mut kept = kept.to_owned();
    let count = |of: char| kept.chars().filter(|c| *c == of).count();
    let open = [
        ('"', count('"') % 2 == 1),
        ('”', count('“') > count('”')),
        (')', count('(') > count(')')),
    ];
    kept.extend(
        open.into_iter()
            .filter(|(_, is_open)| *is_open)
            .map(|(close, _)| close),
    );
    kept
}

impl Clause<'_> {
    pub(super) fn predicate(&self, at: usize, name: &str) -> String {
        let words = self.words.get(at..).unwrap_or(&[]);
        closed(&retell(self.text, words, name, Before::Subject))
    }

    /// "I …", "we …".
    fn of_me(&self, subject: usize, name: &str) -> Option<Statement> {
        let lead_in = match self.word(subject) {
            "i'm" | "im" | "we're" => "is ",
            "i've" | "ive" | "we've" => "has ",
            "i'll" | "we'll" => "will ",
            _ => "",
        };
        let lead_in = match lead_in {
            "is " if name == FIRST_PERSON => "am ",
            "has " if name == FIRST_PERSON => "have ",
            other => other,
        };
        let predicate = if lead_in.is_empty() {
            self.predicate(subject + 1, name)
        } else {
            // The contraction was the verb; what follows it keeps its form.
            let rest = self.words.get(subject + 1..).unwrap_or(&[]);
            format!(
                "{lead_in}{}",
                closed(&retell(self.text, rest, name, Before::Name))
            )
        };
        // The sentence does not name the others.
        let alone = self.word(subject).starts_with("we") && !predicate.contains(" with ");
        let predicate = if alone {
            without_together(&predicate)
        } else {
            predicate
        };
        self.counts(name, &predicate).then(|| Statement {
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
        if ABSTRACT.contains(head)
            || OF_THE_TALK.contains(head)
            || noun.clone().any(|word| SUBORDINATE.contains(word))
        {
            return None;
        }
        let owned = retell(self.text, &self.words[subject..verb_at], name, Before::Nothing);
        let predicate = closed(&retell(self.text, &self.words[verb_at..], name, Before::Name));
        let lives = |word: &str| is_kin(word) || matches!(word, "club" | "team" | "band" | "choir" | "class");
        let counts = noun.clone().any(lives) && self.counts(&owned, &predicate)
            || is_read(&owned, &format!("{owned} {predicate}."));
        counts.then_some(Statement {
            subject: owned,
            predicate,
        })
    }
}
