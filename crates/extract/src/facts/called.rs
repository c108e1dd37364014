//! Names said in passing: "is there a present for my daughter Wren?" also says that there is a daughter, called Wren, and
//! whom "she" means in the next sentence.
//!
//! Owns: the names of relatives, friends and animals behind "my". Never: what is said of them (`statement`).

use text::is_stop_word;

use super::lexicon::{NATIONS, is_kin, participle, verb};
use super::statement::Statement;
use crate::dates::names_a_day;
use crate::visible::FIRST_PERSON;
use crate::words::{Word, WordList, word_list, words};

/// Of these a person has one at a time.
static ONE: WordList = word_list!(
    "wife husband hubby spouse partner fella girlfriend boyfriend fiancé fiancée fiance fiancee mother father mum mom dad boss \
     landlord landlady therapist"
);

/// Of these there may be several.
static SEVERAL: WordList = word_list!(
    "son daughter child brother sister twin cousin aunt uncle niece nephew grandson granddaughter grandmother grandfather \
     grandma grandpa granny stepson stepdaughter stepmother stepfather godson goddaughter friend flatmate roommate \
     housemate dog cat puppy kitten rabbit hamster parrot horse pony tortoise"
);

/// Words between "my" and what it is.
static KINDS: WordList =
    word_list!("older younger elder eldest oldest youngest big little baby twin half best");

/// With these it is somebody else's life, or nobody's.
static NOT_SO: WordList = word_list!(
    "imagine pretend suppose supposing hypothetically hypothetical fictional invent said says wrote writes wish say"
);

static TITLES: WordList = word_list!("mr mrs ms miss dr prof professor");

/// A name, and whose it is, as they are told.
pub(super) struct Called {
    pub(super) told: Statement,
    /// As it was said: "daughter Wren". A fact with these words says it already.
    pub(super) said: String,
}

/// The relatives, friends and animals of the speaker that a sentence names; a question names them too.
pub(super) fn called(sentence: &str, name: &str) -> Vec<Called> {
    let words = words(sentence);
    if words.iter().any(|word| NOT_SO.contains(&word.text)) {
        return Vec::new();
    }
    let sentence = NamingSentence {
        text: sentence,
        words: &words,
    };
    let mine = (0..words.len()).filter(|at| matches!(words[*at].text.as_str(), "my" | "our"));
    mine.filter_map(|at| sentence.called(at + 1, name)).collect()
}

/// Those of whom one says "she"; of others one says "he", or either.
static WOMEN: WordList = word_list!(
    "wife girlfriend fiancée mother mum mom daughter sister aunt niece granddaughter grandmother grandma granny stepdaughter \
     stepmother goddaughter landlady"
);
static MEN: WordList = word_list!(
    "husband hubby fella boyfriend fiancé father dad son brother uncle nephew grandson grandfather grandpa stepson stepfather \
     godson landlord"
);

/// A person of the speaker's whom a sentence has named, and no other.
pub(super) struct Introduced {
    /// "My daughter Wren".
    who: String,
    is_woman: bool,
    is_man: bool,
}

/// The one relative, friend or animal of the speaker in a sentence.
pub(super) fn introduced(sentence: &str) -> Option<Introduced> {
    let words = words(sentence);
    let is_one = |word: &Word| ONE.contains(&word.text) || SEVERAL.contains(&word.text);
    let mut ones = (0..words.len()).filter(|at| is_kin(words[*at].text.trim_end_matches("'s")));
    let at = ones.next().filter(|at| is_one(&words[*at]))?;
    let kind = at.checked_sub(usize::from(KINDS.contains(&words[at.checked_sub(1)?].text)))?;
    let mine = kind.checked_sub(1)?;
    if ones.next().is_some() || !matches!(words[mine].text.as_str(), "my" | "our") {
        return None;
    }
    let sentence = NamingSentence {
        text: sentence,
        words: &words,
    };
    let last = at + usize::from(sentence.name(at + 1).is_some());
    let who = sentence.text[words[kind].range.start..words[last].range.end]
        .trim_end_matches("'s")
        .trim_end_matches("’s");
    // "My brother and Ann": two of them.
    let is_joined = words
        .get(last + 1)
        .is_some_and(|word| word.text == "and" && !word.breaks);
    (!is_joined).then(|| Introduced {
        who: format!("my {who}"),
        is_woman: WOMEN.contains(&words[at].text),
        is_man: MEN.contains(&words[at].text),
    })
}

/// A sentence about the one who was introduced before it, with the name in place of "she" or "he".
pub(super) fn carried(sentence: &str, before: &Introduced) -> Option<String> {
    let words = words(sentence);
    let first = words.first()?;
    let (pronoun, contracted) = match first.text.split_once('\'') {
        Some((pronoun, "s")) => (pronoun, true),
        None => (first.text.as_str(), false),
        _ => return None,
    };
    let agrees = match pronoun {
        "she" => !before.is_man,
        "he" => !before.is_woman,
        _ => false,
    };
    let is_perfect = words
        .get(1)
        .is_some_and(|word| participle(&word.text).is_some() || matches!(&*word.text, "been" | "got"));
    let verb = match (contracted, is_perfect) {
        (false, _) => "",
        (true, true) => " has",
        (true, false) => " is",
    };
    agrees.then(|| format!("{}{verb}{}", before.who, &sentence[first.range.end..]))
}

struct NamingSentence<'a, 'w> {
    text: &'a str,
    words: &'w [Word],
}

impl<'a> NamingSentence<'a, '_> {
    fn called(&self, kind: usize, speaker: &str) -> Option<Called> {
        let at = kind + usize::from(KINDS.contains(&self.words.get(kind)?.text));
        let who = self.follows(at)?;
        let is_one = ONE.contains(&who.text);
        let is_near = who.text != "friend" || self.words[kind].text == "best";
        if !(is_one || is_near && SEVERAL.contains(&who.text)) {
            return None;
        }
        let joined = matches!(self.follows(at + 1)?.text.as_str(), "called" | "named");
        let first = at + 1 + usize::from(joined);
        let given = self.name(first)?;
        let is_title = |name: &str| TITLES.contains(&name.to_lowercase());
        let family = self.name(first + 1).filter(|_| !given.ends_with("'s"));
        let named = match family {
            Some(family) => format!("{given} {family}"),
            None if is_title(given) => return None,
            None => given.to_owned(),
        };
        let named = named.trim_end_matches("'s").trim_end_matches("’s");
        let who = &self.text[self.words[kind].range.start..self.words[at].range.end];
        let (subject, predicate) = match (is_one, speaker == FIRST_PERSON) {
            (true, true) => (format!("my {who}"), format!("is called {named}")),
            (true, false) => (format!("{speaker}'s {who}"), format!("is called {named}")),
            (false, first) => {
                let article = if who.starts_with(['a', 'e', 'i', 'o', 'u']) {
                    "an"
                } else {
                    "a"
                };
                let has = if first { "have" } else { "has" };
                (
                    speaker.to_owned(),
                    format!("{has} {article} {who} called {named}"),
                )
            }
        };
        Some(Called {
            said: format!("{who} {given}").trim_end_matches("'s").to_owned(),
            told: Statement { subject, predicate },
        })
    }

    /// A word that only a space parts from the one before it.
    fn follows(&self, at: usize) -> Option<&Word> {
        let word = self.words.get(at)?;
        let before = self.words.get(at.checked_sub(1)?)?;
        (&self.text[before.range.end..word.range.start] == " ").then_some(word)
    }

    /// A word that can only be a name.
    fn name(&self, at: usize) -> Option<&'a str> {
        let word = self.follows(at).filter(|word| word.capital)?;
        let name = &self.text[word.range.clone()];
        let bare = word.text.strip_suffix("'s").unwrap_or(&word.text);
        let is_other =
            is_stop_word(bare) || verb(bare).is_some() || names_a_day(name) || NATIONS.contains(bare);
        let is_written = bare.len() > 1 && bare.chars().all(|c| c.is_alphabetic() || c == '-');
        (!is_other && is_written && name.contains(char::is_lowercase)).then_some(name)
    }
}
