//! Kinds of things that people have one of, or a few: a question names the kind, an answer often only the thing.
//!
//! Owns: the words for things of a kind that a question can ask for (`kinds.txt`), and which of them a question
//! asks for. Never: their weight.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use text::Language;

use crate::corpus::Corpus;
use crate::lexicon::Term;
use crate::question::QuestionWord;

/// A kind's words in answers.
struct AnswerKind {
    language: Language,
    told: Vec<String>,
}

/// The file's lines.
#[derive(Default)]
struct Table {
    kinds: Vec<AnswerKind>,
    /// By language, the kinds that each stem of a question names.
    asked: [HashMap<String, Vec<usize>>; Language::ALL.len()],
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
        } else if let Some((asked, told)) = line.split_once(" > ").filter(|_| !line.starts_with('#')) {
            for word in whole(asked.split(' ')) {
                let stem = language.stem(&word).into_owned();
                table.asked[language as usize]
                    .entry(stem)
                    .or_default()
                    .push(table.kinds.len());
            }
            table.kinds.push(AnswerKind {
                language,
                told: whole(told.split(' ')).collect(),
            });
        }
    }
    table
});

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

/// What of each kind a question asks for.
#[derive(Debug, Default)]
pub(crate) struct AskedKinds {
    /// Terms of things, each with a number of its kind; in order.
    pub(crate) things: Vec<(Term, u32)>,
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
