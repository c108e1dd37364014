//! Lasting statements in other languages than English, in the words in which they were said.
//!
//! Owns: how such statements begin (`tongues.txt`), and where they end. Never: a translation, or a statement retold.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::statement::Statement;
use crate::visible::FIRST_PERSON;
use crate::words::{Word, WordList, word_list, words};

/// Words before a statement.
static LEADS: WordList = word_list!(
    "also und übrigens ja nein aber naja na danke ach y pues bueno gracias es que pero ah hola además et alors bon merci oui non \
     mais moi ben e então olha pois obrigado obrigada mas sim não bom ok"
);

/// Words of what is supposed, or somebody else's.
static NOT_SO: WordList = word_list!(
    "wenn falls würde wäre hätte sagt sagte angeblich vielleicht si ojalá dice dijo dicen quizás tal supongamos imagina sería \
     aurais serais dit disait peut-être imagine imaginons supposons diz disse talvez imagine suponha seria"
);
const NOT_SO_PARTS: [&str; 12] = [
    "如果", "要是", "假设", "也许", "可能", "他说", "她说", "もし", "かもしれ", "と言って", "だろう",
    "でしょう",
];

/// A statement is not much longer.
const CHARS_MAX: usize = 110;
/// Between two texts of a pattern stands no more.
const GAP_CHARS_MAX: usize = 24;

struct Openings {
    /// Each word's alternatives, by the first word.
    spaced: HashMap<&'static str, Vec<Vec<Vec<&'static str>>>>,
    /// The texts that must follow each other.
    unspaced: Vec<Vec<&'static str>>,
}

static OPENINGS: LazyLock<Openings> = LazyLock::new(|| {
    let mut lists: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut openings = Openings {
        spaced: HashMap::new(),
        unspaced: Vec::new(),
    };
    for line in include_str!("tongues.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        if let Some((name, words)) = line.split_once(' ').filter(|(name, _)| name.starts_with('@')) {
            lists.insert(name, words.split(' ').collect());
        } else if let Some(texts) = line.strip_prefix('=') {
            openings.unspaced.push(texts.split('…').collect());
        } else {
            let any = |word: &'static str| {
                lists
                    .get(word)
                    .cloned()
                    .unwrap_or_else(|| word.split('|').collect())
            };
            let pattern: Vec<Vec<&str>> = line.split(' ').map(any).collect();
            for first in pattern[0].clone() {
                openings.spaced.entry(first).or_default().push(pattern.clone());
            }
        }
    }
    openings
});

/// The statement of a sentence, as a quotation.
pub(super) fn statement(sentence: &str, name: &str) -> Option<Statement> {
    let bare = sentence.trim_end_matches(['.', '!', '。', '！', ' ']);
    let is_asked = bare.ends_with(['?', '？', '吗', '呢', 'か']);
    if is_asked || NOT_SO_PARTS.iter().any(|part| sentence.contains(part)) {
        return None;
    }
    let said = spaced(bare).or_else(|| unspaced(bare))?;
    let says = if name == FIRST_PERSON { "said" } else { "says" };
    (said.chars().count() <= CHARS_MAX).then(|| Statement {
        subject: name.to_owned(),
        predicate: format!("{says}: \"{said}\""),
    })
}

/// The first clause of words that is a statement.
fn spaced(sentence: &str) -> Option<&str> {
    let words = words(sentence);
    if words.iter().any(|word| NOT_SO.contains(&word.text)) {
        return None;
    }
    let starts =
        (0..words.len()).filter(|at| *at == 0 || words[*at].breaks || LEADS.contains(&words[at - 1].text));
    let begins = |at: &usize| {
        let patterns = OPENINGS
            .spaced
            .get(words[*at].text.as_str())
            .map_or(&[][..], Vec::as_slice);
        patterns.iter().any(|pattern| fits(pattern, &words[*at..]))
    };
    let start = starts.into_iter().find(begins)?;
    let end = (start + 1..words.len())
        .find(|at| words[*at].breaks)
        .unwrap_or(words.len());
    Some(&sentence[words[start].range.start..words[end - 1].range.end])
}

/// Whether words begin with a pattern and go on: "ich wohne in" alone says nothing.
fn fits(pattern: &[Vec<&str>], words: &[Word]) -> bool {
    let same = |(any, word): (&Vec<&str>, &Word)| any.contains(&word.text.as_str());
    let is_said = pattern
        .last()
        .is_some_and(|last| last.iter().any(|word| word.chars().count() > 4));
    words.len() >= pattern.len() + usize::from(!is_said)
        && !words[1..pattern.len()].iter().any(|word| word.breaks)
        && pattern.iter().zip(words).all(same)
}

/// The first part between two commas that is a statement.
fn unspaced(sentence: &str) -> Option<&str> {
    let parts = sentence.split(['，', ',', '、', '；', '。', '！']).map(str::trim);
    parts.filter(|part| !part.is_ascii()).find(|part| {
        let follow = |texts: &Vec<&str>| {
            let mut rest = *part;
            texts.iter().enumerate().all(|(number, text)| {
                let found = rest.find(text).filter(|at| {
                    let near = rest[..*at].chars().count() <= GAP_CHARS_MAX;
                    if number == 0 { *at == 0 } else { near && *at > 0 }
                });
                found.is_some_and(|at| {
                    rest = &rest[at + text.len()..];
                    true
                })
            })
        };
        OPENINGS.unspaced.iter().any(follow)
    })
}
