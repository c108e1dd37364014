//! Kinds of things that people have one of, or a few: a question names the kind, an answer often only the thing.
//!
//! Owns: which words tell a thing of the kind that a question asks for (`kinds.txt`). Never: what that is worth.

use std::sync::LazyLock;

use crate::text;

/// A kind's stems in questions, and its words in answers.
struct Kind {
    asked: Vec<String>,
    told: Vec<&'static str>,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let lines = include_str!("kinds.txt").lines();
    let kinds = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" > "));
    let kind = |(asked, told): (&'static str, &'static str)| Kind {
        asked: asked
            .split(' ')
            .map(|word| text::stem(word).into_owned())
            .collect(),
        told: told.split(' ').collect(),
    };
    kinds.map(kind).collect()
});

/// The words that tell a thing of each kind that one of a question's stems names.
pub(crate) fn told(stems: &[&str]) -> impl Iterator<Item = &'static [&'static str]> {
    let is_asked = |kind: &&Kind| kind.asked.iter().any(|asked| stems.contains(&asked.as_str()));
    KINDS.iter().filter(is_asked).map(|kind| &*kind.told)
}
