//! Clauses with lasting facts about their speaker.
//!
//! Owns: the subjects of self-statements and the words that can precede them. Never: predicates (`claim`), word lists
//! (`lexicon`), the third person (`retell`), or other subjects (`others`).

use model::{Timestamp, Zone};
use recall::time::expressions;

use super::claim::{Clause, is_dated};
use super::clause::is_own_subject;
use super::lexicon::{ABSTRACT, ADVERBS, Form, HYPOTHETICAL, NOT_OWN, SECRETS, is_kin, verb};
use super::retell::{Before, capitalised, retell};
use super::whole::is_whole;
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
        let all = words(&self.predicate);
        // A title's marks end no clause, and "Indio, California" is one place.
        let ends = |at: &usize| {
            let between = &self.predicate[all[at - 1].range.end..all[*at].range.start];
            let is_one_name = between == ", " && all[at - 1].capital && all[*at].capital;
            !is_one_name && between.contains([',', ';', ':', '(', '—', '–'])
        };
        let breaks = (1..all.len()).find(ends).map(|at| all[at].range.start);
        let end = breaks.map_or(self.predicate.len(), |start| {
            self.predicate[..start]
                .trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | '"' | '”'))
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
pub(super) static OF_THE_TALK: WordList = word_list!(
    "budget city dates hours meeting code schedule hotel thing part highlight dose concerns itinerary \
     business fittings score off far one instructor pick picks balance level levels"
);

/// Words that make what follows depend on something else.
pub(super) static SUBORDINATE: WordList = word_list!(
    "when if while because although before after until as once where what how which who whenever why like"
);

/// Reads a clause; none when it is not a statement of the speaker's own life, or lost a part.
pub(super) fn statement(clause: &str, name: &str, said_at: Timestamp, zone: &Zone) -> Option<Statement> {
    read(clause, name, said_at, zone).filter(|told| is_whole(told, name, said_at, zone))
}

fn read(clause: &str, name: &str, said_at: Timestamp, zone: &Zone) -> Option<Statement> {
    let words = without_address(words(clause));
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
    let from = subject.unwrap_or(0);
    let clause = clause.until(clause.told_until(from, name));
    let clause = clause.until(clause.understood(from)?);
    if clause.is_cut_off() {
        return None;
    }
    if let Some((companion, at)) = companion(&clause, name) {
        let mut told = clause.of_me(at, name)?;
        told.predicate = without_together(&told.predicate).unwrap_or(told.predicate);
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
        let is_address = word.capital && words[subject].breaks && !is_weekly(&word.text);
        guess_what || LEADS.contains(&word.text) || is_address
    };
    // "Yesterday was a crazy day - I …" is a statement of its own.
    let ties =
        |word: &Word| SUBORDINATE.contains(&word.text) || matches!(&*word.text, "speaking" | "is" | "was");
    let free = lead.len() <= 6 && !lead.iter().any(ties);
    if let Some(told) = clause.inverted(subject, name) {
        return Some(told);
    }
    let placed = free && is_place(lead);
    let plain = (0..subject).all(says_nothing) || (free && said_when) || placed;
    if !plain {
        return clause.until(clause.understood(0)?).elliptical(name);
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

/// "Mondays".
fn is_weekly(word: &str) -> bool {
    word.strip_suffix("days")
        .is_some_and(|day| names_a_day(&capitalised(&format!("{day}day"))))
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
    let last = text(words.len().saturating_sub(1));
    let is_tag =
        |at: usize| words[at].breaks && words.len() - at <= 4 && matches!(last, "says" | "said" | "reckons");
    let aside = |at: &usize| match text(*at) {
        "he" | "she" | "they" if words[*at].breaks || text(at - 1) == "and" => {
            matches!(text(at + 1), "says" | "said" | "reckons" | "thinks")
        }
        "if" => matches!(
            (text(at + 1), text(at + 2)),
            ("they", "need" | "want" | "ask")
                | ("that" | "it", "matters" | "helps" | "counts")
                | ("you", "wonder")
                | ("anyone", "asks")
        ),
        "nobody" => words[*at].breaks || text(at - 1) == "and",
        // "…, wouldn't give it up", "…, please be quick".
        "wouldn't" | "couldn't" | "won't" | "please" | "pls" => words[*at].breaks,
        _ => is_tag(*at),
    };
    if let Some(at) = (3..words.len()).find(aside) {
        let joined = usize::from(text(at - 1) == "and");
        words.truncate(at - joined);
    }
    words
}

/// The others in "Paul and I" and "my wife and I", as they are retold, and the place of the "I".
fn companion(clause: &Clause<'_>, name: &str) -> Option<(String, usize)> {
    let words = clause.words;
    let opens = words.iter().position(|word| !LEADS.contains(&word.text))?;
    let at = (opens + 2..words.len().min(opens + 5))
        .find(|at| words[at - 1].text == "and" && matches!(clause.word(*at), "i" | "we" | "i've"))?;
    let who = &words[opens..at - 1];
    let mine = matches!(clause.word(opens), "my" | "our") && who.len() > 1;
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
    let belongs = ["in", "on", "at", "during", "around", "about"]
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

/// A predicate without "together", unless that belongs to its verb: "put together". None where nothing is said without
/// it: "have been together since school".
fn without_together(predicate: &str) -> Option<String> {
    let Some((before, after)) = predicate.split_once(" together") else {
        return Some(predicate.to_owned());
    };
    match before.rsplit(' ').next().unwrap_or("") {
        "put" | "putting" | "get" | "got" | "gets" | "getting" | "come" | "came" => {
            Some(predicate.to_owned())
        }
        "is" | "isn't" | "am" | "not" | "was" | "been" | "back" | "in" => None,
        _ => Some(format!("{before}{after}")),
    }
}

/// A predicate without what stands behind its last word, its last quotation and bracket closed.
pub(super) fn closed(text: &str) -> String {
    let kept = text
        .trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | '+' | '#' | ')' | '"' | '”'));
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

    /// Whether the last word needs another.
    fn is_cut_off(&self) -> bool {
        let last = self.words.len().saturating_sub(1);
        let before = last.checked_sub(1).map_or("", |at| self.word(at));
        is_preposition(self.word(last)) && before != "now"
            || matches!(self.word(last), "" | "the" | "a" | "an" | "my")
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
            // "I do have a cat."
            let insists = self.word(subject + 1) == "do"
                && matches!(verb(self.word(subject + 2)), Some((_, Form::Base)));
            self.predicate(subject + 1 + usize::from(insists), name)
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
            without_together(&predicate)?
        } else {
            predicate
        };
        // "I want to see it now": since a moment ago.
        let predicate = match predicate.strip_suffix(" now") {
            Some(wish) if wish.contains("want") => wish.to_owned(),
            _ => predicate,
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
        // "Our elder girl, Ifeoma, got …"
        let is_named =
            |at: usize| self.words[at - 1].breaks && self.words[at - 1].capital && self.words[at].breaks;
        let verb_at = verb_at.filter(|at| {
            let plain = if is_named(*at) { at - 1 } else { at + 1 };
            !self.words[subject + 1..plain].iter().any(|word| word.breaks)
        })?;
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
        // Of the many whom one can mean.
        let is_of_many = matches!(
            head,
            "friend" | "friends" | "colleague" | "colleagues" | "coworker" | "coworkers"
        );
        let tells_which =
            |word: &Word| word.capital || matches!(word.text.as_str(), "best" | "closest" | "oldest");
        if is_of_many && !self.words[subject + 1..verb_at].iter().any(tells_which) {
            return None;
        }
        // "My friend's name is from …"
        if head == "name" && is_preposition(self.word(verb_at + 1)) {
            return None;
        }
        // "My favourite dish also is …"
        let noun_end = (subject + 2..=verb_at)
            .rev()
            .find(|end| !ADVERBS.contains(self.word(end - 1)))?;
        let mut owned = retell(self.text, &self.words[subject..noun_end], name, Before::Nothing);
        if is_named(verb_at) {
            owned.push(',');
        }
        let predicate = closed(&retell(self.text, &self.words[verb_at..], name, Before::Name));
        let lives = |word: &str| is_kin(word) || matches!(word, "club" | "team" | "band" | "choir" | "class");
        let text = format!("{owned} {predicate}.");
        let counts = match self.lasts(&owned, &text) {
            Some(lasts) if !lasts || noun.clone().any(lives) => lasts,
            _ => is_read(&owned, &text) && !predicate.contains(" enough"),
        };
        counts.then_some(Statement {
            subject: owned,
            predicate,
        })
    }
}
