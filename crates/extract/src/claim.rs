//! The check between a model's statements and the memory: a statement counts only if a person said
//! it.
//!
//! Owns: which words of a talk a statement may use, and whether it keeps their meaning. Never: the
//! form of an answer (`answer`).
//!
//! A statement restates one clause of a person, or the plain clauses of one sentence. All of its
//! words except stop words occur there. Earlier sentences do not resolve a pronoun, since small
//! models name the wrong person. The check rejects a gloss by its verb, which nobody said, a
//! translation by its words, and a summary because its words come from too many sentences.

use std::collections::BTreeSet;

use model::Message;
use model::text::{Language, each_word};

use crate::facts::closed::ClauseSigns;
use crate::facts::closed::Closed::{self, Am, Asks, Be, Joint, Not, Other, Own, Points, Speaker, Was, You};
use crate::facts::statement::clauses;
use crate::facts::{Fact, SECRETS, account};
use crate::prompt::{Prompt, facts_request};
use crate::sentence::sentences;
use crate::visible::{FIRST_PERSON, readable_text, speaker};
use crate::words::words;

const FACT_CHARS_MAX: usize = 300;

/// Classes of words that keep a clause from stating something of its speaker: it supposes, asks,
/// addresses somebody, or needs the talk before it.
const UNSTATED: [Closed; 4] = [Closed::Doubt, You, Asks, Points];
const SUBJECTS: [Closed; 2] = [Speaker, Am];
const NEXT: [Closed; 5] = [Joint, Other, Own, Speaker, Points];
/// Languages in which a clause names its subject; others may leave it out.
const SAYING_WHO: [Language; 3] = [Language::English, Language::German, Language::French];
const JOINING: [Closed; 3] = [Am, Be, Was];
const PERSONS: [Closed; 4] = [Speaker, Am, Own, Other];
const FIRST_PERSONS: [Closed; 3] = [Speaker, Am, Own];

/// Why a statement was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    #[error("it is not one short sentence")]
    Form,
    #[error("it may tell a secret")]
    Secret,
    #[error("nobody said `{0}` with the rest of it")]
    Unsaid(String),
    #[error("it is not about the one who said it, or whom they named")]
    Subject,
    #[error("it denies what was said, or says that it is so now")]
    Sense,
}

/// The plain clauses of a talk, in order.
#[derive(Debug)]
pub(crate) struct StatedTalk<'a> {
    said: Vec<SaidClause<'a>>,
    /// The sentences with a plain clause.
    sentences: Vec<(&'a Message, String)>,
}

/// A plain clause, or all plain clauses of a sentence.
#[derive(Debug)]
struct SaidClause<'a> {
    message: &'a Message,
    language: Language,
    /// Its language and script require a subject.
    says_who: bool,
    signs: ClauseSigns,
    /// The word after the speaker as a subject, unless it is a stop word.
    verb: Option<String>,
    words: BTreeSet<String>,
    /// Its capitalised words except the first.
    names: BTreeSet<String>,
}

impl<'a> StatedTalk<'a> {
    pub(crate) fn of(messages: &'a [Message]) -> Self {
        let mut talk = Self {
            said: Vec::new(),
            sentences: Vec::new(),
        };
        for (message, sentence) in account(messages) {
            let text = readable_text(message);
            let language = Language::of(&text);
            let is_stated = |clause: &&str| !ClauseSigns::of(clause, language).has(&UNSTATED);
            let mut stated: Vec<String> = clauses(&sentence, language)
                .into_iter()
                .filter(is_stated)
                .map(str::to_owned)
                .collect();
            let denies = |clause: &String| ClauseSigns::of(clause, language).has(&[Not]);
            // A negation applies to its own clause only.
            if stated.len() > 1 && !stated.iter().any(denies) {
                stated.push(stated.join(", "));
            }
            if !stated.is_empty() {
                talk.sentences.push((message, sentence));
            }
            talk.said.extend(stated.into_iter().map(|clause| SaidClause {
                message,
                language,
                says_who: text.contains(' ') && SAYING_WHO.contains(&language),
                signs: ClauseSigns::of(&clause, language),
                verb: verb(&clause, language),
                words: folded(&clause),
                names: names(&clause),
            }));
        }
        talk
    }

    /// Whether the talk states something that these facts do not contain.
    pub(crate) fn adds_to(&self, facts: &[Fact]) -> bool {
        let is_new = |(message, sentence): &(&Message, String)| {
            let mut of_it = facts.iter().filter(|fact| fact.sources.contains(&message.id));
            !of_it.any(|fact| unsaid(sentence, &fact.text).is_none())
        };
        self.sentences.iter().any(is_new)
    }

    pub(crate) fn request(&self) -> Prompt {
        let lines = self.sentences.iter();
        facts_request(lines.map(|(message, said)| (speaker(message), said.as_str())))
    }

    /// The fact that a model's sentence states, or why it is left out.
    pub(crate) fn fact(&self, told: &str) -> Result<Fact, Doubt> {
        // "Ana: Hey Ole!" repeats a line of the talk.
        let is_line = told.contains(": ") || told.contains('：') || told.ends_with(['!', '！', '?', '？']);
        if told.is_empty() || is_line || told.chars().count() > FACT_CHARS_MAX || sentences(told).len() != 1 {
            return Err(Doubt::Form);
        }
        if words(told).iter().any(|word| SECRETS.contains(&word.text)) {
            return Err(Doubt::Secret);
        }
        let mut doubt: Option<(usize, Doubt)> = None;
        let mut doubts = |missing: usize, why: Doubt| {
            if doubt.as_ref().is_none_or(|(least, _)| missing < *least) {
                doubt = Some((missing, why));
            }
        };
        for said in &self.said {
            let claim = ModelClaim::of(told, said);
            let missing = claim.missing(&said.words);
            if let Some(word) = missing.first() {
                doubts(missing.len(), Doubt::Unsaid(word.clone()));
                continue;
            }
            match claim.fits(said) {
                Ok(()) => return Ok(claim.fact(said)),
                Err(why) => doubts(0, why),
            }
        }
        Err(doubt.map_or(Doubt::Subject, |(_, why)| why))
    }
}

/// A model's sentence, read as a statement of the speaker of a clause.
struct ModelClaim {
    text: String,
    /// The words of the speaker's name; empty for a speaker who is called I.
    speaker: BTreeSet<String>,
    language: Language,
    /// Its words except stop words and the speaker's name.
    telling: Vec<String>,
    signs: ClauseSigns,
    whose: ClaimSubject,
}

/// The subject of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimSubject {
    /// The speaker.
    Speaker,
    /// A person or thing of the speaker: "Ada's sister", "the sister of Ada".
    Theirs,
    /// Another person or thing, which the clause names.
    Another,
}

impl ModelClaim {
    fn of(told: &str, said: &SaidClause<'_>) -> Self {
        let name = speaker(said.message);
        let text = first_claim(told, said.language).to_owned();
        let mut claim = Self {
            speaker: if name == FIRST_PERSON {
                BTreeSet::new()
            } else {
                folded(&name)
            },
            language: said.language,
            telling: Vec::new(),
            signs: ClauseSigns::of(&text, said.language),
            whose: ClaimSubject::Another,
            text,
        };
        claim.whose = claim.subject();
        // In a script without spaces, a name and its particle would be read as one word with the
        // next one.
        let is_particle = |c: char| ('\u{3041}'..='\u{309f}').contains(&c);
        let unspaced = claim.text.strip_prefix(&name).filter(|_| !name.is_ascii());
        let rest = unspaced.map_or(&*claim.text, |rest| rest.trim_start_matches(is_particle));
        let mut telling = telling(rest, said.language);
        telling.retain(|word| !claim.is_in(word, &claim.speaker));
        claim.telling = telling;
        claim
    }

    fn subject(&self) -> ClaimSubject {
        if self.speaker.is_empty() {
            return match () {
                () if self.signs.begins(&SUBJECTS) => ClaimSubject::Speaker,
                () if self.signs.begins(&[Own]) => ClaimSubject::Theirs,
                () => ClaimSubject::Another,
            };
        }
        let Some(head) = words(&self.text).into_iter().next() else {
            return ClaimSubject::Another;
        };
        let is_named = |text: &str| folded(text).iter().any(|word| self.is_in(word, &self.speaker));
        if is_named(&head.text) {
            let is_bare = !head.text.contains('\'') && !folded(&head.text).is_disjoint(&self.speaker);
            return if is_bare {
                ClaimSubject::Speaker
            } else {
                ClaimSubject::Theirs
            };
        }
        if self.language.is_stop_word(&head.text) && is_named(&self.text) {
            return ClaimSubject::Theirs;
        }
        ClaimSubject::Another
    }

    /// Whether a word was said in this form or in the form for another person: "live", "lives".
    fn is_in(&self, word: &str, said: &BTreeSet<String>) -> bool {
        if said.contains(word) {
            return true;
        }
        if self.language != Language::English {
            return said.iter().any(|said| is_inflected(word, said));
        }
        let ending = |longer: &str, word: &str| {
            let base = longer.strip_suffix("ies");
            matches!(longer.strip_prefix(word), Some("s" | "es"))
                || base.is_some_and(|base| word.strip_suffix('y') == Some(base))
        };
        said.iter().any(|said| ending(word, said) || ending(said, word))
    }

    fn missing(&self, said: &BTreeSet<String>) -> Vec<String> {
        let unsaid = self.telling.iter().filter(|word| !self.is_in(word, said));
        unsaid.cloned().collect()
    }

    /// Whether the claim says something, keeps the sense of the clause, and has the same subject.
    fn fits(&self, said: &SaidClause<'_>) -> Result<(), Doubt> {
        if self.signs.has(&[Not]) != said.signs.has(&[Not]) || !self.holds_as(said) {
            return Err(Doubt::Sense);
        }
        let is_joined = self.signs.has(&JOINING);
        if self.telling.is_empty() || self.telling.len() == 1 && !is_joined {
            return Err(Doubt::Form);
        }
        // A pronoun of the message refers to something outside the statement; people whom the
        // clause does not join did not act together.
        let mut others = self.signs.all(&[Other]);
        let points = others.any(|(_, word)| said.signs.names(word))
            || self.signs.has(&[Closed::Doubt, You, Asks])
            || self.signs.has(&[Joint]) && !said.signs.has(&[Joint])
            || !self.speaker.is_empty() && self.signs.has(&FIRST_PERSONS);
        if points || !self.is_about(said) {
            return Err(Doubt::Subject);
        }
        Ok(())
    }

    /// Whether the claim keeps the clause's tense: the present stays present and the past stays
    /// past. "I am" and "I have" become "is" and "has" of another person. A negation or tense of
    /// the speaker goes with its verb: "I used to live in Rome" is not "lives in Rome".
    fn holds_as(&self, said: &SaidClause<'_>) -> bool {
        let now = said.signs.has(&[Am, Be]) || said.words.contains("am");
        let mut joined = self.signs.all(&JOINING);
        let is_kept = |joined: &(Closed, String)| said.signs.names(&joined.1) || joined.0 != Was && now;
        let telling: BTreeSet<String> = self.telling.iter().cloned().collect();
        let has_verb = |verb: &String| self.is_in(verb, &telling);
        joined.all(is_kept)
            && (self.whose != ClaimSubject::Speaker || said.verb.as_ref().is_none_or(has_verb))
    }

    fn is_about(&self, said: &SaidClause<'_>) -> bool {
        let is_of_others = said.signs.has(&[Other]) && !said.signs.has(&FIRST_PERSONS);
        let mut persons = said.signs.all(&PERSONS);
        let is_theirs = persons.next().is_some_and(|(first, _)| SUBJECTS.contains(first));
        match self.whose {
            ClaimSubject::Speaker => is_theirs || !said.says_who && !is_of_others,
            ClaimSubject::Theirs => !is_of_others,
            ClaimSubject::Another => !said.names.is_disjoint(&folded(&self.text)) && !is_theirs,
        }
    }

    fn fact(self, said: &SaidClause<'_>) -> Fact {
        Fact {
            text: self.text,
            sources: vec![said.message.id.clone()],
            sender: said.message.sender.clone(),
            said_at: said.message.time,
            valid_from: None,
        }
    }
}

/// Whether two words differ only in their endings, as forms of a verb do.
fn is_inflected(word: &str, said: &str) -> bool {
    const STEM_CHARS_MIN: usize = 3;
    const ENDING_CHARS_MAX: usize = 2;
    let same = word
        .chars()
        .zip(said.chars())
        .take_while(|(one, other)| one == other);
    let stem = same.count();
    let ends = |word: &str| word.chars().count() <= stem + ENDING_CHARS_MAX;
    stem >= STEM_CHARS_MIN && ends(word) && ends(said) && word.chars().all(char::is_alphabetic)
}

/// A sentence up to the clause that adds another subject after its first claim: ", so the box will
/// be a fight".
fn first_claim(told: &str, language: Language) -> &str {
    let clauses = clauses(told, language);
    let goes_on = |clause: &&&str| ClauseSigns::of(clause, language).begins(&NEXT);
    let next = clauses.iter().skip(1).find(goes_on);
    let end = next.map_or(told.len(), |next| next.as_ptr() as usize - told.as_ptr() as usize);
    told[..end].trim_end_matches(|c: char| c.is_whitespace() || ",;:-–—".contains(c))
}

/// Whether facts already contain everything that a statement says.
pub fn is_covered(statement: &Fact, facts: &[Fact]) -> bool {
    let says = |fact: &Fact| fact.sender == statement.sender && unsaid(&statement.text, &fact.text).is_none();
    facts.iter().any(says)
}

/// The first word of a text, stop words aside, that another text lacks.
pub(crate) fn unsaid(text: &str, by: &str) -> Option<String> {
    KnownWords::of(by).unsaid(text)
}

/// The words of a text, with their stems.
pub(crate) struct KnownWords(BTreeSet<String>);

impl KnownWords {
    pub(crate) fn of(text: &str) -> Self {
        Self(stems(text))
    }

    /// The first word of a text, stop words aside, that is not among them.
    pub(crate) fn unsaid(&self, text: &str) -> Option<String> {
        let language = Language::of(text);
        let mut found = None;
        each_word(text, |range, word| {
            if found.is_none() && !language.is_stop_word(word) && stems(word).is_disjoint(&self.0) {
                found = Some(text[range].to_owned());
            }
        });
        found
    }
}

fn verb(clause: &str, language: Language) -> Option<String> {
    let signs = ClauseSigns::of(clause, language);
    let (_, subject) = signs.all(&SUBJECTS).next()?;
    let words = words(clause);
    let at = words.iter().position(|word| word.text == *subject)?;
    let next = words.get(at + 1).filter(|next| !signs.names(&next.text))?;
    telling(&clause[next.range.clone()], language).into_iter().next()
}

fn names(clause: &str) -> BTreeSet<String> {
    let named = words(clause).into_iter().skip(1).filter(|word| word.capital);
    named.flat_map(|word| folded(&word.text)).collect()
}

/// The words of a text except stop words and negations.
fn telling(text: &str, language: Language) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, |range, word| {
        if !language.is_stop_word(word) && !text[range].ends_with("n't") {
            found.push(word.to_owned());
        }
    });
    found
}

fn folded(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_word(text, |_, word| {
        found.insert(word.to_owned());
    });
    found
}

/// The words of a text, as written and stemmed by each language: a wrong guess of the language must
/// not separate a statement from its source.
fn stems(text: &str) -> BTreeSet<String> {
    let mut stems = BTreeSet::new();
    each_word(text, |_, word| {
        stems.insert(word.to_owned());
        stems.extend(Language::ALL.map(|language| language.stem(word).into_owned()));
    });
    stems
}
