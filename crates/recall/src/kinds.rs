//! Kinds of things that people have one of, or a few: a question names the kind, an answer often only the thing.
//!
//! Owns: the words for things of a kind that a question can ask for (`kinds.txt`). Never: their weight.

use std::sync::LazyLock;

/// A kind's stems in questions, and its words in answers.
struct AnswerKind {
    asked: Vec<String>,
    told: Vec<&'static str>,
}

static KINDS: LazyLock<Vec<AnswerKind>> = LazyLock::new(|| {
    let lines = include_str!("kinds.txt").lines();
    let kinds = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" > "));
    let kind = |(asked, told): (&'static str, &'static str)| AnswerKind {
        asked: asked
            .split(' ')
            .map(|word| text::stem(word).into_owned())
            .collect(),
        told: told.split(' ').collect(),
    };
    kinds.map(kind).collect()
});

/// The words for things of each kind that one of a question's stems names.
pub(crate) fn told(stems: &[&str]) -> impl Iterator<Item = &'static [&'static str]> {
    let is_asked = |kind: &&AnswerKind| kind.asked.iter().any(|asked| stems.contains(&asked.as_str()));
    KINDS.iter().filter(is_asked).map(|kind| &*kind.told)
}
