//! Sentences cut into clauses, each with one subject of its own.
//!
//! Owns: the division at "and I", "but we" and comma splices, statements before a question, and the meaning of an "it"
//! after a comma. Never: judging a clause.

use std::borrow::Cow;

use super::lexicon::{ADVERBS, Form, HYPOTHETICAL, NOT_OWN, TIME_UNITS, is_kin, participle, verb};
use super::statement::{LEADS, SUBORDINATE, is_preposition};
use crate::dates::names_a_day;
use crate::words::{Word, WordList, word_list, words};

/// Longer clauses tell too much at once to be a fact.
const CLAUSE_CHARS_MAX: usize = 260;
/// Maximum number of words of a lead before the subject ("Last week, I …").
const LEAD_WORDS_MAX: usize = 6;
/// "My", what it is, and a word or two more: "my old phone number".
const THING_WORDS_MAX: usize = 4;

const JOINERS: [&str; 11] = [
    "and", "n", "but", "so", "then", "yet", "because", "cause", "plus", "cuz", "although",
];

/// Words that begin a statement of the speaker's own.
static OWN_SUBJECTS: WordList = word_list!("i i'm i've i'll i'd im ive we we're we've we'll we'd my our");

/// Whether a word begins a statement of the speaker's own.
pub(super) fn is_own_subject(word: &str) -> bool {
    OWN_SUBJECTS.contains(word)
}

/// Words with which a time can begin.
static TIMELY: WordList = word_list!("on in at from since next last this now today tomorrow yesterday");

/// Words that open a question behind a comma.
static ASKS: WordList = word_list!(
    "do does did is are was were can could will would should shall have has may isn't aren't don't doesn't what what's \
     which who who's where where's when how how's why any anything anyone"
);

/// Words that open a question, with or without its mark.
static REQUESTS: WordList = word_list!("how what which where why who");

/// The statement before the question of a sentence: "I'm a size 10, do these come up small?"
fn stated(sentence: &str) -> Option<&str> {
    let words = words(sentence);
    let opens = words.iter().find(|word| !LEADS.contains(&word.text))?;
    let asks = (2..words.len()).find(|at| words[*at].breaks && ASKS.contains(&words[*at].text))?;
    is_own_subject(&opens.text).then(|| &sentence[..words[asks - 1].range.end])
}

/// The clauses of a sentence, without what it asks.
pub(super) fn clauses(sentence: &str) -> Vec<String> {
    let bare =
        sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？' | '+' | '#'));
    let asks = bare.ends_with(['?', '？']);
    let Some(bare) = (if asks { stated(bare) } else { Some(bare) }) else {
        return Vec::new();
    };
    let words = words(bare);
    // "How to sell scarves, we have …"
    if words.first().is_some_and(|word| REQUESTS.contains(&word.text)) {
        return Vec::new();
    }
    let sentence = Sentence {
        text: bare,
        words: &words,
    };
    if sentence.is_reported() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for part in sentence.cut() {
        let part = spelt_out(part);
        found.extend(resolved(&part).into_iter().map(Cow::into_owned));
    }
    found.retain(|clause| clause.chars().count() <= CLAUSE_CHARS_MAX);
    found
}

struct Sentence<'a, 'w> {
    text: &'a str,
    words: &'w [Word],
}

impl<'a> Sentence<'a, '_> {
    /// Whether the first statement belongs to words of another kind: "Assume that my name is …".
    fn is_reported(&self) -> bool {
        let subject = self.words.iter().position(|word| is_own_subject(&word.text));
        let lead = &self.words[..subject.unwrap_or(0)];
        let is_that = lead.last().is_some_and(|word| word.text == "that");
        is_that && !lead.iter().all(|word| LEADS.contains(&word.text))
    }

    fn cut(&self) -> Vec<&'a str> {
        let words = self.words;
        let mut found = Vec::new();
        let (mut start, mut first) = (0, 0);
        for at in 1..words.len() {
            let possessive = matches!(words[at].text.as_str(), "my" | "our");
            let own = is_own_subject(&words[at].text) && (!possessive || has_verb(&words[at + 1..]));
            if !own && !self.is_event(at) {
                continue;
            }
            let begin = self
                .time_before(first, at)
                .unwrap_or_else(|| self.over_adverbs(first, at));
            let joined = begin > first && JOINERS.contains(&words[begin - 1].text.as_str());
            let end = begin - usize::from(joined);
            if end <= first || !(joined || words[begin].breaks) || self.is_lead(first, end) {
                continue;
            }
            found.push(&self.text[start..words[end].range.start]);
            (start, first) = (words[begin].range.start, begin);
        }
        found.push(&self.text[start..]);
        found
    }

    /// Whether a clause about a named event begins: "…, the deadline is 15 May".
    fn is_event(&self, at: usize) -> bool {
        let near = self
            .words
            .iter()
            .skip(at + 2)
            .take(3)
            .take_while(|word| !word.breaks);
        let is = |word: &Word| {
            matches!(
                word.text.as_str(),
                "is" | "has" | "was" | "starts" | "begins" | "leaves"
            )
        };
        self.words[at].breaks && self.words[at].text == "the" && near.into_iter().any(is)
    }

    /// Back over what stands between a joining word and the subject: "so now I".
    fn over_adverbs(&self, first: usize, at: usize) -> usize {
        let idle = |at: &usize| !self.words[*at].breaks && ADVERBS.contains(&self.words[at - 1].text);
        let begin = (first + 1..=at).rev().find(|at| !idle(at)).unwrap_or(at);
        if JOINERS.contains(&self.words[begin.saturating_sub(1)].text.as_str()) {
            begin
        } else {
            at
        }
    }

    /// Where the time begins that leads a clause whose subject stands at `at`: "I left Acme; on 1 October I start …".
    fn time_before(&self, first: usize, at: usize) -> Option<usize> {
        let words = self.words;
        let begins = |when: &usize| words[*when].breaks || JOINERS.contains(&words[when - 1].text.as_str());
        let earliest = at.saturating_sub(LEAD_WORDS_MAX).max(first + 1);
        let when = (earliest..at).rev().find(begins)?;
        let lead = &self.text[words[when].range.start..words[at - 1].range.end];
        let timely = TIMELY.contains(&words[when].text);
        let is_time = |word: &Word| {
            TIME_UNITS.contains(&word.text) || word.text == "now" || word.text.parse::<u16>().is_ok()
        };
        (timely && (names_a_day(lead) || words[when..at].iter().any(is_time))).then_some(when)
    }

    /// Whether words before a subject belong to its clause: a time, a condition, another person's words, or nothing.
    fn is_lead(&self, first: usize, end: usize) -> bool {
        let head = &self.words[first..end];
        // "My wife and I": one subject.
        let acts =
            |word: &Word| verb(&word.text).is_some() || matches!(word.text.as_str(), "is" | "was" | "are");
        let opens = head.iter().position(|word| !LEADS.contains(&word.text));
        let who = &head[opens.unwrap_or(0)..];
        if matches!(who[0].text.as_str(), "my" | "our") && who.len() <= 3 && !who.iter().any(acts) {
            return true;
        }
        let text = &self.text[head[0].range.start..self.words[end].range.start];
        // "A woman who says: I left …"
        if text.trim_end().ends_with(':') && head.iter().any(|word| NOT_OWN.contains(&word.text)) {
            return true;
        }
        // "And on Mondays, I …"
        let opens = head
            .iter()
            .find(|word| !JOINERS.contains(&word.text.as_str()))
            .map_or("", |word| word.text.as_str());
        // "When I travel, I …": so it is only then.
        if matches!(
            opens,
            "when" | "whenever" | "wherever" | "if" | "unless" | "until"
        ) {
            return true;
        }
        if head.len() > LEAD_WORDS_MAX || head.iter().any(|word| is_own_subject(&word.text)) {
            return false;
        }
        let news = head.iter().find(|word| !ADVERBS.contains(&word.text));
        let is_news = news
            .is_some_and(|word| matches!(verb(&word.text), Some((base, Form::Past)) if base != word.text));
        // "Just got the letter: I passed", but not "The letter: …".
        let quoted = text.trim_end().ends_with([':', '"', '“', '(']) && !is_news;
        let word = |word: &Word| HYPOTHETICAL.contains(&word.text) || NOT_OWN.contains(&word.text);
        let timely = |word: &Word| TIME_UNITS.contains(&word.text) || word.text.parse::<u16>().is_ok();
        let acts = |word: &Word| {
            matches!(verb(&word.text), Some((_, Form::Past | Form::Third)))
                || participle(&word.text).is_some()
        };
        let is_time = names_a_day(text) || head.iter().any(timely);
        head.len() == 1
            || quoted
            || SUBORDINATE.contains(opens)
            || is_preposition(opens)
            || is_time && !head.iter().any(acts)
            || head.iter().any(word)
            || head.iter().all(|word| LEADS.contains(&word.text))
    }
}

/// Whether a verb follows within a short noun phrase, so that "my" begins a clause and not just an object.
fn has_verb(words: &[Word]) -> bool {
    let near = words.iter().take(6).take_while(|word| !word.breaks);
    near.skip(1).any(|word| {
        matches!(
            word.text.as_str(),
            "is" | "are" | "was" | "were" | "has" | "have" | "had" | "isn't" | "aren't" | "doesn't" | "don't"
        ) || verb(&word.text).is_some()
    })
}

/// "My car's a Clio" with its verb in full.
fn spelt_out(clause: &str) -> Cow<'_, str> {
    let words = words(clause);
    let is_mine = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| matches!(word.text.as_str(), "my" | "our"))
    };
    let place = (1..words.len()).find_map(|at| {
        let own = is_mine(at - 1) || at > 1 && is_mine(at - 2) && words[at].capital;
        let verb = match words.get(at + 1)?.text.as_str() {
            "got" | "been" => " has",
            "a" | "an" | "called" | "named" | "allergic" | "from" | "turning" | "getting" | "moving"
            | "starting" | "pregnant" | "vegan" | "vegetarian" | "deaf" | "blind" | "diabetic"
            | "divorced" | "retired" | "dead" | "engaged" | "married" | "studying" => " is",
            _ => return None,
        };
        let end = words[at].range.end;
        let bare = clause[..end]
            .strip_suffix("'s")
            .or_else(|| clause[..end].strip_suffix("’s"))?;
        own.then(|| format!("{bare}{verb}{}", &clause[end..]))
    });
    place.map_or(Cow::Borrowed(clause), Cow::Owned)
}

/// A clause, and what it adds about a thing of its own: "we postponed the wedding, it's on 30 August now" also says
/// "our wedding is on 30 August now".
fn resolved(clause: &str) -> Vec<Cow<'_, str>> {
    let words = words(clause);
    let place = (3..words.len()).find(|at| {
        let opens = words[*at].breaks || matches!(words[at - 1].text.as_str(), "and" | "now" | "so");
        // "It's been a month": not the thing.
        let lasts = words.get(at + 1).is_some_and(|next| next.text == "been");
        // "The shows … it's …": not of them.
        let of_many = words[at - 1].text.ends_with('s') && words[*at].text.starts_with("it");
        opens && !of_many && !lasts && is_of(&words[*at].text)
    });
    let told = place.and_then(|at| {
        let is_new =
            words[at..].iter().any(|word| word.text == "now") || names_a_day(&clause[words[at].range.end..]);
        Some((
            at,
            thing(clause, &words[..at], is_new)?,
            rest(clause, &words, at)?,
        ))
    });
    // "They" are several, "she" is somebody.
    let agrees = |at: usize, thing: &str| {
        let last = thing.rsplit(' ').next().unwrap_or("");
        match words[at].text.split('\'').next() {
            Some("they") => last.ends_with(['s', 'n']),
            Some("he" | "she") => is_kin(last) || last.starts_with(char::is_uppercase),
            _ => true,
        }
    };
    match told.filter(|(at, thing, _)| agrees(*at, thing)) {
        Some((at, thing, rest)) => {
            let before = at - usize::from(matches!(words[at - 1].text.as_str(), "and" | "now" | "so"));
            let head = &clause[..words[before].range.start];
            vec![Cow::Borrowed(head), Cow::Owned(format!("my {thing} {rest}"))]
        }
        None => vec![Cow::Borrowed(clause)],
    }
}

fn is_of(word: &str) -> bool {
    matches!(
        word,
        "it" | "it's" | "he" | "he's" | "she" | "she's" | "they" | "they're"
    )
}

/// The predicate of the thing at `at`, if it describes the thing's present state: with a name, a number, or "now".
fn rest<'a>(clause: &'a str, words: &[Word], at: usize) -> Option<Cow<'a, str>> {
    let telling = |word: &Word| {
        let digit = word.text.starts_with(|c: char| c.is_ascii_digit());
        digit || word.text == "now" || (word.capital && !is_own_subject(&word.text))
    };
    let said = words.get(at + 1..).filter(|rest| rest.iter().any(telling))?;
    let rest = &clause[said.first()?.range.start..];
    let contracted = words[at].text.contains('\'');
    let be = matches!(said[0].text.as_str(), "is" | "are" | "was" | "will" | "has");
    (contracted || be).then(|| {
        if contracted {
            let be = if matches!(&*said[0].text, "been" | "become" | "got" | "gone") {
                "has"
            } else {
                "is"
            };
            Cow::Owned(format!("{be} {rest}"))
        } else {
            Cow::Borrowed(rest)
        }
    })
}

/// The last thing of the speaker's in some words: "car" in "I had my car repainted".
/// What is just "the" thing is so only where it has changed.
fn thing<'a>(clause: &'a str, words: &[Word], is_new: bool) -> Option<&'a str> {
    let is_mine = |word: &Word| matches!(word.text.as_str(), "my" | "our") || is_new && word.text == "the";
    let start = words.iter().rposition(is_mine)? + 1;
    let before = start.checked_sub(2).map_or("", |at| words[at].text.as_str());
    if words[start - 1].text == "the" && is_preposition(before) {
        return None;
    }
    let ends = |word: &Word| {
        let acts = matches!(verb(&word.text), Some((_, Form::Past | Form::Participle)));
        word.breaks
            || is_preposition(&word.text)
            || acts
            || word.text.ends_with("ed")
            || matches!(
                word.text.as_str(),
                "is" | "was" | "used" | "and" | "has" | "had" | "have"
            )
    };
    let noun = words[start..]
        .iter()
        .take(THING_WORDS_MAX)
        .take_while(|word| !ends(word))
        .count();
    let last = noun.checked_sub(1)?;
    // "My clip of the parrot": not just "my clip".
    let tells_which = |word: &Word| matches!(&*word.text, "of" | "to" | "from" | "with" | "for");
    if words.get(start + noun).is_some_and(tells_which) {
        return None;
    }
    let thing = &clause[words[start].range.start..words[start + last].range.end];
    // "I'm at my dad's, he's …"
    let at_home = thing.strip_suffix("'s").or_else(|| thing.strip_suffix("’s"));
    Some(at_home.filter(|who| is_kin(who)).unwrap_or(thing))
}
