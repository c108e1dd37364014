//! Function words of seven languages (closed word classes), and the role of each in a clause
//! (`closed.txt`).
//!
//! Owns: the table, and the closed words of a clause. Never: the meaning of a clause (`statement`).

use std::sync::LazyLock;

use foldhash::HashMap;
use model::text::Language;

use crate::words::words;

/// Role of a closed word in a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    Speaker,
    Own,
    /// The speaker and the verb in one word.
    Am,
    Be,
    /// A copula like `Be`, in the past tense.
    Was,
    Not,
    /// "Anymore": with a negation it says that something has ended.
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
    /// Whether a clause with such a word is about others, or about the talk itself.
    pub(super) fn is_foreign(self) -> bool {
        matches!(
            self,
            Self::Doubt | Self::You | Self::Other | Self::Points | Self::Asks
        )
    }
}

/// A language, and the roles of its closed words.
pub(super) struct Tongue {
    /// None for scripts without spaces.
    pub(super) language: Option<Language>,
    pub(super) closed: HashMap<&'static str, Closed>,
}

pub(super) static TONGUES: LazyLock<Vec<Tongue>> = LazyLock::new(|| {
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

/// The closed words of a language, if the table has any.
pub(super) fn tongue(language: Language) -> Option<&'static Tongue> {
    TONGUES.iter().find(|tongue| tongue.language == Some(language))
}

/// Whether a word is a negation in any of the languages.
pub(crate) fn denies(word: &str) -> bool {
    word.ends_with("n't") || is_any(word, Closed::Not)
}

/// Whether a word, with a negation, ends an earlier state in any of the languages: "anymore".
pub(crate) fn ends(word: &str) -> bool {
    is_any(word, Closed::Over)
}

/// Whether a word is a copula of the past in any of the languages.
pub(crate) fn was(word: &str) -> bool {
    is_any(word, Closed::Was)
}

fn is_any(word: &str, class: Closed) -> bool {
    TONGUES.iter().any(|tongue| tongue.class(word) == Some(class))
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
            closed: HashMap::default(),
        }
    }

    /// The role of a word; none if it is not closed.
    pub(super) fn class(&self, word: &str) -> Option<Closed> {
        let of = |word: &str| self.closed.get(word).copied();
        // "Shes" and "thats": forms without the apostrophe.
        let joined = || {
            let class = of(word.strip_suffix('s')?)?;
            matches!(class, Closed::Other | Closed::Points | Closed::Asks).then_some(class)
        };
        of(word).or_else(|| match word.split_once('\'') {
            Some((base, _)) => of(base),
            None => joined(),
        })
    }
}

/// The closed words of a clause, with their roles.
#[derive(Debug, Default)]
pub(crate) struct ClauseSigns(Vec<(Closed, String)>);

impl ClauseSigns {
    /// The closed words of a clause in a text of that language.
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

    /// Whether the first closed word has one of these roles.
    pub(crate) fn begins(&self, classes: &[Closed]) -> bool {
        self.0.first().is_some_and(|(class, _)| classes.contains(class))
    }

    /// The closed words with one of these roles, in order.
    pub(crate) fn all<'a>(&'a self, classes: &'a [Closed]) -> impl Iterator<Item = &'a (Closed, String)> {
        self.0.iter().filter(|(class, _)| classes.contains(class))
    }

    /// Whether this word is one of them.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.0.iter().any(|(_, closed)| closed == word)
    }
}
