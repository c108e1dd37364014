//! Kinds of things that people have one of, or a few: a question names the kind, an answer often only the thing.
//!
//! Owns: the words for things of a kind that a question can ask for, the phrases by which people say what they are
//! (`kinds.txt`), and which of them a question asks for. Never: their weight.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use text::{Fnv, Language};

use crate::corpus::Corpus;
use crate::lexicon::Term;
use crate::question::QuestionWord;

/// A kind's words in answers.
struct AnswerKind {
    language: Language,
    told: Vec<String>,
    /// Groups of phrases in answers, one bit each.
    phrases: u8,
}

/// The file's lines.
#[derive(Default)]
struct Table {
    kinds: Vec<AnswerKind>,
    /// By language, the kinds that each stem of a question names.
    asked: [HashMap<String, Vec<usize>>; Language::ALL.len()],
    /// Names of the groups of phrases, in the order of their bits.
    groups: Vec<&'static str>,
    /// By the hash of a phrase or of its beginning, the groups of a whole one.
    phrases: HashMap<u64, u8>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    let mut language = Language::English;
    for line in include_str!("kinds.txt").lines() {
        if let Some(name) = line.strip_prefix("= ") {
            let mut all = Language::ALL.into_iter();
            language = all
                .find(|language| format!("{language:?}") == name)
                .expect("a known language");
        } else if let Some((name, phrases)) = line.strip_prefix('@').and_then(|line| line.split_once(" = ")) {
            let bit = table.group(name);
            for phrase in phrases.split(", ") {
                let words = folded(phrase);
                for end in 1..words.len() {
                    table.phrases.entry(hash(&words[..end])).or_default();
                }
                *table.phrases.entry(hash(&words)).or_default() |= bit;
            }
        } else if let Some((asked, told)) = line.split_once(" > ").filter(|_| !line.starts_with('#')) {
            let (names, told): (Vec<&str>, Vec<&str>) =
                told.split(' ').partition(|word| word.starts_with('@'));
            let phrases = names.into_iter().map(|name| table.group(&name[1..])).sum();
            for word in whole(asked.split(' ')) {
                let stem = language.stem(&word).into_owned();
                table.asked[language as usize]
                    .entry(stem)
                    .or_default()
                    .push(table.kinds.len());
            }
            table.kinds.push(AnswerKind {
                language,
                told: whole(told.into_iter()).collect(),
                phrases,
            });
        }
    }
    table
});

impl Table {
    /// The bit of a group of phrases.
    fn group(&mut self, name: &'static str) -> u8 {
        let known = self.groups.iter().position(|known| *known == name);
        let at = known.unwrap_or_else(|| {
            self.groups.push(name);
            self.groups.len() - 1
        });
        1 << at
    }
}

fn folded(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    text::each_word(text, |_, word| words.push(word.to_owned()));
    words
}

/// Words as texts have them: of "职业" not its characters, and none of what texts never have as one word.
fn whole<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    words.filter_map(|word| {
        let all = folded(word).into_iter();
        all.max_by_key(String::len)
            .filter(|longest| longest.chars().count() == word.chars().count())
    })
}

fn hash(words: &[impl AsRef<str>]) -> u64 {
    let mut hash = Fnv::default();
    for word in words {
        hash.bytes(word.as_ref().as_bytes());
        hash.bytes(b" ");
    }
    hash.value()
}

/// A phrase has at most so many words.
const PHRASE_WORDS_MAX: usize = 4;

/// Finds phrases in a text, word by word.
#[derive(Debug, Default)]
pub(crate) struct Phrases {
    /// Hashes of what began at each of the last words, the newest first.
    begun: [Option<Fnv>; PHRASE_WORDS_MAX],
    /// Groups of which the text has a phrase, one bit each.
    pub(crate) found: u8,
}

impl Phrases {
    /// Takes the next folded word.
    pub(crate) fn add(&mut self, word: &str) {
        self.begun.rotate_right(1);
        self.begun[0] = Some(Fnv::default());
        for slot in &mut self.begun {
            let Some(begun) = slot else { continue };
            begun.bytes(word.as_bytes());
            begun.bytes(b" ");
            match TABLE.phrases.get(&begun.value()) {
                Some(groups) => self.found |= groups,
                None => *slot = None,
            }
        }
    }
}

/// What of each kind a question asks for.
#[derive(Debug, Default)]
pub(crate) struct AskedKinds {
    /// Terms of things, each with a number of its kind; in order.
    pub(crate) things: Vec<(Term, u32)>,
    /// Groups of phrases, one bit each.
    pub(crate) phrases: u8,
}

impl AskedKinds {
    /// What a question with these words asks for.
    pub(crate) fn of(corpus: &Corpus, words: &[String], language: Language, told: &[QuestionWord]) -> Self {
        let is_english = |language: Language| language == Language::English;
        // Few words do not always tell which of the other languages they are.
        let mut languages = Language::ALL.to_vec();
        languages.retain(|other| is_english(*other) == is_english(language));
        let said = words.iter().filter(|word| !language.is_stop_word(word));
        let named = said.flat_map(|word| {
            let asked =
                |language: &Language| TABLE.asked[*language as usize].get(language.stem(word).as_ref());
            languages.iter().filter_map(asked).flatten().copied()
        });
        let named: BTreeSet<usize> = named.collect();
        let is_asked = |term: Term| told.iter().any(|word| word.term == Some(term));
        let mut found = Self::default();
        for (number, kind) in (0..u64::BITS).zip(named.into_iter().map(|kind| &TABLE.kinds[kind])) {
            let terms = kind
                .told
                .iter()
                .filter_map(|word| corpus.lexicon.find(word, kind.language));
            let terms = terms.filter(|term| !is_asked(*term));
            found.things.extend(terms.map(|term| (term, number)));
            found.phrases |= kind.phrases;
        }
        found.things.sort_unstable();
        found.things.dedup();
        found
    }

    /// The kinds that a term is a thing of, one bit each.
    pub(crate) fn of_term(&self, term: Term) -> u64 {
        let first = self.things.partition_point(|(known, _)| *known < term);
        let things = self.things[first..]
            .iter()
            .take_while(|(known, _)| *known == term);
        things.map(|(_, kind)| 1 << kind).sum()
    }
}

#[cfg(test)]
mod tests;
