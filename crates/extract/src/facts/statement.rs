//! Plain statements of a person, in the words in which they said them.
//!
//! Owns: which clauses of a sentence are such statements, by their closed words (`closed.txt`). Never: a word of its own, or whether
//! the message is its writer's account (`material`).
//!
//! A statement is one or more clauses that stand side by side. Its first clause has the speaker, or something of the speaker's, as
//! its subject; no word of it supposes, asks, speaks to somebody, or names what only the talk before it knows.

use std::collections::HashMap;
use std::sync::LazyLock;

use text::{Language, is_stop_word};

use super::material::QUOTES;
use crate::words::{Word, words};

/// A longer statement is a story, which the messages keep.
const CHARS_MAX: usize = 240;
/// Of a language without spaces a shorter statement says nothing.
const UNSPACED_CHARS_MIN: usize = 5;
/// Words before "I": "yesterday I …". More are often the thing itself: "the prettiest thing I made".
const LEAD_WORDS_MAX: usize = 1;

/// A sentence that begins with a pronoun and has no more words than these does not say what it is about: "it will be ready tomorrow".
const PRONOUN_WORDS_MAX: usize = 2;

/// Words before "and I" that are part of the subject.
const COUPLE_WORDS_MAX: usize = 2;

/// Marks between clauses where no space parts words.
const MARKS: [char; 8] = ['，', ',', '、', '；', '。', '！', '!', '.'];

/// What a closed word does in a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    Speaker,
    Own,
    /// The speaker and the verb in one.
    Am,
    Be,
    /// It only joins, as `Be`, and says that it was so before.
    Was,
    Not,
    /// "Anymore": with a negation it says that something is over.
    Over,
    Doubt,
    Plan,
    You,
    Other,
    Points,
    Asks,
    Joint,
}

impl Closed {
    /// Whether a clause with such a word is about others, or about the talk.
    fn is_foreign(self) -> bool {
        matches!(
            self,
            Self::Doubt | Self::You | Self::Other | Self::Points | Self::Asks
        )
    }
}

struct Tongue {
    /// None where no space parts words.
    language: Option<Language>,
    closed: HashMap<&'static str, Closed>,
}

static TONGUES: LazyLock<Vec<Tongue>> = LazyLock::new(|| {
    let mut tongues = Vec::new();
    for line in include_str!("closed.txt").lines() {
        let (class, forms) = line.split_once(' ').unwrap_or((line, ""));
        let class = match class {
            "=" => {
                tongues.push(Tongue::new(forms));
                continue;
            }
            "self" => Closed::Speaker,
            "own" => Closed::Own,
            "am" => Closed::Am,
            "be" => Closed::Be,
            "was" => Closed::Was,
            "not" => Closed::Not,
            "over" => Closed::Over,
            "doubt" => Closed::Doubt,
            "plan" => Closed::Plan,
            "you" => Closed::You,
            "other" => Closed::Other,
            "points" => Closed::Points,
            "asks" => Closed::Asks,
            "joint" => Closed::Joint,
            _ => continue,
        };
        let tongue = tongues.last_mut().expect("a language comes first");
        tongue.closed.extend(forms.split(' ').map(|form| (form, class)));
    }
    tongues
});

/// Whether a word denies, in any of the languages.
pub(crate) fn denies(word: &str) -> bool {
    word.ends_with("n't") || is_any(word, Closed::Not)
}

/// Whether a word goes with a denial of what was so before, in any of the languages: "anymore".
pub(crate) fn ends(word: &str) -> bool {
    is_any(word, Closed::Over)
}

fn is_any(word: &str, class: Closed) -> bool {
    TONGUES.iter().any(|tongue| tongue.class(word) == Some(class))
}

/// A statement of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statement<'a> {
    pub(super) said: &'a str,
    /// It tells what is to come.
    pub(super) is_plan: bool,
}

/// The statements of a sentence, in order.
pub(super) fn statements(sentence: &str) -> Vec<Statement<'_>> {
    let words = words(sentence);
    let language = Language::of(sentence);
    let (own, others): (Vec<&Tongue>, Vec<&Tongue>) = TONGUES
        .iter()
        .partition(|tongue| tongue.language == Some(language));
    // Few words do not always tell their language: one whose subject is the first word will do.
    let known = |tongue: &&Tongue| words.iter().any(|word| tongue.class(&word.text).is_some());
    let others = others
        .into_iter()
        .filter(|tongue| tongue.language.is_none() || tongue.opens(&words[..words.len().min(1)]).is_some());
    let mut tongues = own
        .iter()
        .copied()
        .chain(others.filter(|_| !own.iter().any(known)));
    let read = |tongue: &Tongue| match tongue.language {
        Some(_) => tongue.spaced(sentence, &words).into_iter().collect(),
        None => tongue.unspaced(sentence),
    };
    tongues
        .find_map(|tongue| Some(read(tongue)).filter(|found: &Vec<_>| !found.is_empty()))
        .unwrap_or_default()
}

/// A whole sentence or clause about others: it speaks to nobody, asks and supposes nothing.
pub(super) fn of_others(sentence: &str) -> Option<Statement<'_>> {
    let words = words(sentence);
    let language = Language::of(sentence);
    let tongue = TONGUES.iter().find(|tongue| tongue.language == Some(language))?;
    let is_pronoun = matches!(
        tongue.class(&words.first()?.text),
        Some(Closed::Other | Closed::Points)
    );
    let says_what = tongue.telling(&words) > if is_pronoun { PRONOUN_WORDS_MAX } else { 1 };
    let is_of_talk = tongue.is_of_talk(&words) || asks(sentence);
    let said = sentence.trim();
    let is_plain = says_what && !is_of_talk && said.chars().count() <= CHARS_MAX;
    is_plain.then_some(Statement { said, is_plan: true })
}

/// Whether a text speaks of what stands beside it: "should I answer this?"
pub(super) fn points(text: &str) -> bool {
    let language = Language::of(text);
    let mut own = TONGUES.iter().filter(|tongue| tongue.language == Some(language));
    own.any(|tongue| {
        words(text)
            .iter()
            .any(|word| tongue.class(&word.text) == Some(Closed::Points))
    })
}

/// Whether a sentence gives roles: "you are Inspector Dubois", "you're the doctor, I'm the patient".
pub(super) fn casts(sentence: &str) -> bool {
    let (language, words) = (Language::of(sentence), words(sentence));
    let Some(tongue) = TONGUES.iter().find(|tongue| tongue.language == Some(language)) else {
        return false;
    };
    let class = |at: usize| tongue.class(&words.get(at)?.text);
    let starts = || (0..words.len()).filter(|at| *at == 0 || words[*at].breaks);
    let is_you = |at: usize| class(at) == Some(Closed::You);
    let is_speaker = |at: usize| matches!(class(at), Some(Closed::Speaker | Closed::Am));
    let names = is_you(0) && class(1) == Some(Closed::Be) && words.get(2).is_some_and(|word| word.capital);
    names || !asks(sentence) && starts().any(is_you) && starts().any(is_speaker)
}

/// The closed words of a clause, and what they do in it.
#[derive(Debug, Default)]
pub(crate) struct ClauseSigns(Vec<(Closed, String)>);

impl ClauseSigns {
    /// Those of a clause in a text of that language.
    pub(crate) fn of(clause: &str, language: Language) -> Self {
        let mut found = Vec::new();
        for tongue in TONGUES.iter() {
            if tongue.language == Some(language) {
                let classed = words(clause).into_iter();
                let denial = |word: &str| word.ends_with("n't").then_some(Closed::Not);
                let class = |word: &str| denial(word).or_else(|| tongue.class(word));
                found.extend(classed.filter_map(|word| Some((class(&word.text)?, word.text))));
            } else if tongue.language.is_none() {
                let is_in = |form: &str, class: Closed| match class {
                    Closed::Asks => clause.ends_with(form),
                    _ => clause.contains(form),
                };
                let forms = tongue.closed.iter().filter(|(form, class)| is_in(form, **class));
                found.extend(forms.map(|(form, class)| (*class, (*form).to_owned())));
            }
        }
        Self(found)
    }

    pub(crate) fn has(&self, classes: &[Closed]) -> bool {
        self.all(classes).next().is_some()
    }

    /// Whether the first of them is one of these.
    pub(crate) fn begins(&self, classes: &[Closed]) -> bool {
        self.0.first().is_some_and(|(class, _)| classes.contains(class))
    }

    /// Its words that do one of these, in order.
    pub(crate) fn all<'a>(&'a self, classes: &'a [Closed]) -> impl Iterator<Item = &'a (Closed, String)> {
        self.0.iter().filter(|(class, _)| classes.contains(class))
    }

    /// Whether this is one of them.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.0.iter().any(|(_, closed)| closed == word)
    }
}

/// The clauses of a sentence in a text of that language; none of a question.
pub(crate) fn clauses(sentence: &str, language: Language) -> Vec<&str> {
    let words = words(sentence);
    let tongue = TONGUES.iter().find(|tongue| tongue.language == Some(language));
    if asks(sentence) {
        return Vec::new();
    }
    let Some(tongue) = tongue.filter(|_| sentence.contains(' ')) else {
        let parts = sentence.split(MARKS).map(str::trim);
        return parts.filter(|part| !part.is_empty()).collect();
    };
    let mut clauses = Vec::new();
    let mut first = 0;
    while first < words.len() {
        let ends = |at: &usize| words[*at].breaks || tongue.parts(&words, first, *at);
        let end = (first + 1..words.len()).find(ends).unwrap_or(words.len());
        clauses.push(&sentence[words[first].range.start..words[end - 1].range.end]);
        first = end;
    }
    clauses
}

fn asks(sentence: &str) -> bool {
    sentence.trim_end().ends_with(['?', '？', ':', '：'])
}

impl Tongue {
    fn new(name: &str) -> Self {
        let language = match name {
            "en" => Some(Language::English),
            "de" => Some(Language::German),
            "es" => Some(Language::Spanish),
            "fr" => Some(Language::French),
            "it" => Some(Language::Italian),
            "pt" => Some(Language::Portuguese),
            _ => None,
        };
        Self {
            language,
            closed: HashMap::new(),
        }
    }

    fn class(&self, word: &str) -> Option<Closed> {
        let of = |word: &str| self.closed.get(word).copied();
        // "Shes" and "thats", as many type them.
        let joined = || {
            let class = of(word.strip_suffix('s')?)?;
            matches!(class, Closed::Other | Closed::Points | Closed::Asks).then_some(class)
        };
        of(word).or_else(|| match word.split_once('\'') {
            Some((base, _)) => of(base),
            None => joined(),
        })
    }

    /// The clauses from the first whose subject is the speaker on, with what they say of others: "I found a teacher, he comes on
    /// Thursdays". What stands behind another's clause alone, or before a question mark, is nobody's for sure.
    fn spaced<'a>(&self, sentence: &'a str, words: &[Word]) -> Option<Statement<'a>> {
        let (mut start, mut first, mut last) = (None, 0, 0);
        while first < words.len() {
            let ends = |at: &usize| words[*at].breaks || self.parts(words, first, *at);
            let end = (first + 1..words.len()).find(ends).unwrap_or(words.len());
            let clause = self.trimmed(words, first, end);
            let opens = self.opens(&words[clause..end]);
            let is_foreign = self.is_foreign(&words[clause..end], opens);
            let is_told = start.is_some() && !self.is_of_talk(&words[clause..end]);
            if is_foreign && !is_told || end == words.len() && asks(sentence) {
                break;
            }
            // What stands before it, and is of nobody else, may be what it is about: "Mussels, I never touch them".
            start = start.or(opens.map(|_| if clause == first { 0 } else { clause }));
            (first, last) = (end, end);
        }
        let run = &words[start?..last];
        let (from, mut to) = (run[0].range.start, run.last()?.range.end);
        let behind = sentence[to..].chars().next();
        let is_quote = |c: char| QUOTES.contains(&c);
        let is_open = sentence[from..to].matches(is_quote).count() % 2 == 1;
        // A name between quotation marks may stand at the end; what a colon or a quotation goes on to say is not in it.
        if let Some(mark) = behind.filter(|c| is_open && is_quote(*c)) {
            to += mark.len_utf8();
        }
        let said = &sentence[from..to];
        let goes_on = sentence[to..]
            .trim_start()
            .starts_with(|c| is_quote(c) || matches!(c, ':' | '：'));
        let is_whole = !goes_on
            && said.matches(is_quote).count() % 2 == 0
            && said.matches('(').count() == said.matches(')').count();
        let tells = is_whole && self.tells(run) && said.chars().count() <= CHARS_MAX;
        tells.then(|| Statement {
            said,
            is_plan: run
                .iter()
                .any(|word| self.class(&word.text) == Some(Closed::Plan)),
        })
    }

    /// Whether a joint ends a clause before this word: behind it a subject stands. "Joaquín and I" are one.
    fn parts(&self, words: &[Word], first: usize, at: usize) -> bool {
        use Closed::{Am, Asks, Other, Own, Points, Speaker, You};
        let next = words.get(at + 1).and_then(|word| self.class(&word.text));
        self.class(&words[at].text) == Some(Closed::Joint)
            && at - first > COUPLE_WORDS_MAX
            && matches!(next, Some(Speaker | Own | Am | You | Other | Points | Asks))
    }

    /// Where a clause begins behind the joints before it.
    fn trimmed(&self, words: &[Word], first: usize, end: usize) -> usize {
        let is_joint = |word: &&Word| matches!(self.class(&word.text), Some(Closed::Joint | Closed::Not));
        let is_subject = |word: &Word| {
            matches!(
                self.class(&word.text),
                Some(Closed::Speaker | Closed::Own | Closed::Am)
            )
        };
        let joints = words[first..end].iter().take_while(is_joint).count();
        // "No meat for me" begins with its denial.
        let has_subject = words[first..end].get(joints).is_some_and(is_subject);
        first + if has_subject { joints } else { 0 }
    }

    /// Whether a clause begins with a verb of the speaker's, in a language that leaves out who does something: "non guido di notte".
    fn has_own_verb(&self, clause: &[Word]) -> bool {
        use Language::{Italian, Portuguese, Spanish};
        let Some(language @ (Italian | Portuguese | Spanish)) = self.language else {
            return false;
        };
        let is_small = |word: &Word| language.is_stop_word(&word.text);
        let is_before = |word: &&Word| matches!(self.class(&word.text), Some(Closed::Joint | Closed::Not));
        let is_verb =
            |word: &Word| word.text.ends_with('o') && self.class(&word.text).is_none() && !is_small(word);
        let is_led = |word: &Word| is_small(word) || word.text.starts_with(|c: char| c.is_ascii_digit());
        let mut words = clause.iter().skip_while(is_before);
        words.next().is_some_and(is_verb) && words.next().is_some_and(is_led)
    }

    /// The subject of a clause that is the speaker or theirs.
    fn opens(&self, clause: &[Word]) -> Option<Closed> {
        if self.has_own_verb(clause) {
            return Some(Closed::Am);
        }
        let mut known = clause
            .iter()
            .take(LEAD_WORDS_MAX + 1)
            .map(|word| self.class(&word.text));
        let first = known.find_map(|class| class.filter(|class| *class != Closed::Joint))?;
        let is_led = clause
            .first()
            .is_some_and(|word| self.class(&word.text).is_none());
        (matches!(first, Closed::Speaker | Closed::Am) || first == Closed::Own && !is_led).then_some(first)
    }

    /// Whether a clause has a word with which it is no plain statement. "My sister loves her cat" is one.
    fn is_foreign(&self, clause: &[Word], subject: Option<Closed>) -> bool {
        let mut classes = clause.iter().filter_map(|word| self.class(&word.text));
        classes.any(|class| class.is_foreign() && !(class == Closed::Other && subject == Some(Closed::Own)))
    }

    /// Whether a clause speaks to somebody, asks or supposes.
    fn is_of_talk(&self, clause: &[Word]) -> bool {
        let mut classes = clause.iter().filter_map(|word| self.class(&word.text));
        classes.any(|class| matches!(class, Closed::Doubt | Closed::You | Closed::Asks))
    }

    /// How many words of a clause are neither closed nor small.
    fn telling(&self, clause: &[Word]) -> usize {
        let is_telling = |word: &&Word| {
            self.class(&word.text).is_none() && !is_stop_word(&word.text) && word.text.chars().count() > 1
                || word.text.starts_with(|c: char| c.is_ascii_digit())
        };
        clause.iter().filter(is_telling).count()
    }

    /// Whether a clause says more than that its speaker is there: "I'm a nurse" does, "I see" and "I'm tired" do not.
    fn tells(&self, clause: &[Word]) -> bool {
        let count = self.telling(clause);
        let is_joined = clause.iter().any(|word| {
            matches!(
                self.class(&word.text),
                Some(Closed::Am | Closed::Be | Closed::Was)
            )
        });
        count > 1 || count == 1 && is_joined && clause.len() > 2
    }

    /// The parts between two marks that are statements, where no space parts words.
    fn unspaced<'a>(&self, sentence: &'a str) -> Vec<Statement<'a>> {
        let has = |part: &str, is: fn(Closed) -> bool| {
            let mut closed = self.closed.iter();
            closed.any(|(form, class)| is(*class) && part.contains(form))
        };
        let opens = |part: &str| {
            let mut closed = self.closed.iter();
            closed.any(|(form, class)| *class == Closed::Speaker && part.starts_with(form))
        };
        let is_statement = |part: &&str| {
            (UNSPACED_CHARS_MIN..=CHARS_MAX).contains(&part.chars().count())
                && opens(part)
                && !part.contains(' ')
                && !has(part, Closed::is_foreign)
        };
        let parts = sentence.split(MARKS).map(str::trim);
        let parts = parts
            .filter(|_| !sentence.is_ascii() && !asks(sentence))
            .filter(is_statement);
        let statement = |said| Statement {
            said,
            is_plan: has(said, |class| class == Closed::Plan),
        };
        parts.map(statement).collect()
    }
}
