//! Predicates that make a person's statement worth keeping.
//!
//! Owns: the grammar of predicates: verbs, objects and states of lasting facts. Never: subjects (`statement`) or word
//! lists (`lexicon`).

use model::{Timestamp, Zone};
use recall::time::expressions;
use text::is_stop_word;

use super::lexicon::{
    ACTIVE, ADVERBS, COUNTS, EMPTY_NOUNS, Form, GENERIC_NOUNS, GOALS, IDIOMS, NEGATABLE, STATES,
    STATES_WITH_OF, TALK, TIME_UNITS, VAGUE, is_participle, verb,
};
use crate::dates::names_a_day;
use crate::words::Word;

/// Number of meaningful words that make up for a verb with little meaning.
const RICH_WORDS: usize = 4;
const TASTES: [&str; 8] = [
    "like", "love", "hate", "prefer", "enjoy", "adore", "dislike", "watch",
];

/// Whether a text says when.
pub(super) fn is_dated(text: &str, said_at: Timestamp, zone: &Zone) -> bool {
    names_a_day(text) || !expressions(text, said_at, zone).is_empty()
}

/// One clause, as text and as words.
pub(super) struct Clause<'a> {
    pub(super) text: &'a str,
    pub(super) words: &'a [Word],
    pub(super) said_at: Timestamp,
    pub(super) zone: &'a Zone,
}

impl<'a> Clause<'a> {
    /// Its beginning, up to a word.
    pub(super) fn until(&self, end: usize) -> Self {
        let idle = |word: &Word| {
            matches!(
                word.text.as_str(),
                "and" | "but" | "so" | "or" | "because" | "ever" | "of" | "course" | "thankfully" | "luckily"
            )
        };
        let kept = self.words[..end]
            .iter()
            .rposition(|word| !idle(word))
            .map_or(0, |last| last + 1);
        let end = if end == self.words.len() { end } else { kept };
        let words: &'a [Word] = &self.words[..end];
        let text: &'a str = words
            .last()
            .map_or("", |last| &self.text[..self.text.len().min(last.range.end)]);
        Self {
            text: if end == self.words.len() { self.text } else { text },
            words,
            said_at: self.said_at,
            zone: self.zone,
        }
    }
}

impl Clause<'_> {
    /// Whether it says when.
    pub(super) fn is_dated(&self) -> bool {
        is_dated(self.text, self.said_at, self.zone)
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    pub(super) fn past_adverbs(&self, mut at: usize) -> usize {
        while ADVERBS.contains(self.word(at)) {
            at += 1;
        }
        at
    }

    /// Whether anything from there on names something, and the object there is no empty one, as in "a great turnout".
    pub(super) fn says(&self, at: usize) -> bool {
        let ends = |at: &usize| match self.word(*at) {
            "but" | "because" | "so" => true,
            "and" => {
                let next = self.word(at + 1);
                matches!(next, "it" | "it's" | "that's" | "they")
                    || next.ends_with("ing")
                    || verb(next).is_some()
            }
            _ => false,
        };
        let end = (at..self.words.len()).find(ends).unwrap_or(self.words.len());
        let names = self.words.iter().take(end).skip(at).any(tells) || self.is_named(at);
        let acts = at > 0 && verb(self.word(at - 1)).is_some_and(|(base, _)| ACTIVE.contains(base));
        if acts
            && self
                .words
                .iter()
                .skip(at)
                .any(|word| TIME_UNITS.contains(&word.text))
        {
            return true;
        }
        names && (!self.is_empty_object(at) || self.is_concrete(at))
    }

    /// Whether the noun of the object is empty, or needs an explanation: "a great turnout", "a game that I like".
    fn is_empty_object(&self, at: usize) -> bool {
        let joint = |text: &str| {
            matches!(
                text,
                "and" | "but" | "that" | "which" | "who" | "because" | "when" | "while" | "so"
            )
        };
        let ends = |place: &usize| {
            let word = &self.words[*place];
            let text = word.text.as_str();
            let small = is_stop_word(text) && !is_article(text) && text != "of";
            place > &at && (word.breaks || small) || joint(text)
        };
        let all = self.words.len();
        let end = (at..all).find(ends).unwrap_or(all);
        let object = self.words.get(at..end).unwrap_or(&[]);
        let late = |word: &&Word| !ADVERBS.contains(&word.text) && !TIME_UNITS.contains(&word.text);
        let Some(noun) = object.iter().rfind(late) else {
            return false;
        };
        let unsaid = object
            .first()
            .is_some_and(|word| matches!(word.text.as_str(), "something" | "someone" | "anything"));
        let much = matches!(
            noun.text.as_str(),
            "much" | "many" | "lot" | "lots" | "more" | "enough"
        );
        let described = object.iter().any(|word| tells(word) && word != noun);
        let goes_on = self
            .words
            .get(end)
            .is_some_and(|next| !joint(&next.text) && !next.breaks);
        // One may well like all games.
        let liked = at > 0 && verb(self.word(at - 1)).is_some_and(|(base, _)| TASTES.contains(&base));
        let generic = GENERIC_NOUNS.contains(&noun.text) && !described && !goes_on && !liked;
        generic || unsaid || much || EMPTY_NOUNS.contains(&noun.text)
    }

    /// Whether an idiom or shop talk stands among the first words from there.
    pub(super) fn is_idiom(&self, at: usize) -> bool {
        let joint =
            |word: &&Word| !matches!(word.text.as_str(), "for" | "with" | "at" | "in" | "on" | "from");
        let near = self.words.iter().skip(at).take(4).take_while(joint);
        near.into_iter().any(|word| IDIOMS.contains(&word.text))
    }

    pub(super) fn counts_plain(&self, at: usize) -> bool {
        let next = self.past_adverbs(at + 1);
        match self.word(at) {
            "am" | "was" | "are" | "were" => self.counts_be(next),
            "have" | "had" if self.word(next) == "been" || is_participle(self.word(next)) => {
                self.counts_have(next)
            }
            "have" | "had" => self.counts_possession(next),
            "will" => self.counts_will(next),
            "don't" | "dont" => {
                NEGATABLE.contains(self.word(next)) && self.says(next + 1) && !self.is_idiom(next + 1)
            }
            "can't" | "cannot" => {
                matches!(self.word(next), "stand" | "eat" | "tolerate" | "swim" | "drive") && self.says(next)
            }
            "can" => matches!(self.word(next), "speak" | "play" | "swim" | "drive") && self.says(next),
            "no" if self.word(at + 1) == "longer" => verb(self.word(at + 2)).is_some() && self.says(at + 3),
            "used" if self.word(at + 1) == "to" => verb(self.word(at + 2)).is_some() && self.says(at + 3),
            "want" if self.word(at + 1) == "to" => GOALS.contains(self.word(at + 2)) && self.says(at + 3),
            "get" | "got" | "took" | "take" | "made" | "make" => self.says(next) && self.counts_object(next),
            "like" | "love" | "hate" | "prefer" | "enjoy" | "adore" | "dislike" | "loved" | "liked"
            | "enjoyed" | "hated" | "fear" => self.counts_taste(next),
            word if TALK.contains(word) => false,
            "gave" | "give" if self.word(next) == "up" => self.says(next + 1),
            "smoke" | "retired" | "graduated" | "remarried" => true,
            "do" | "did" | "saw" | "found" | "gave" | "kept" | "put" | "set" | "held" | "brought"
            | "tried" | "use" | "see" | "find" | "keep" | "try" => {
                let rich = self.words.iter().skip(next).filter(|word| tells(word));
                let tells = self.is_concrete(next) || rich.count() >= RICH_WORDS;
                self.says(next) && self.counts_object(next) && tells
            }
            word => {
                matches!(verb(word), Some((_, Form::Base | Form::Past)))
                    && self.says(next)
                    && self.counts_object(next)
            }
        }
    }

    /// An object that is not just a pronoun, and no idiom.
    pub(super) fn counts_object(&self, at: usize) -> bool {
        let pronoun = matches!(
            self.word(at),
            "it" | "that" | "this" | "them" | "these" | "those" | "what" | "how" | "him" | "her" | "to"
        );
        let to_place =
            self.word(at) == "to" && verb(self.word(at + 1)).is_none_or(|(_, form)| form != Form::Base);
        (!pronoun || to_place) && !self.is_idiom(at)
    }

    /// Dated, or with a name or number in it: for verbs that alone say little.
    pub(super) fn is_concrete(&self, at: usize) -> bool {
        self.is_named(at) || self.is_dated()
    }

    /// With a name or number in it.
    fn is_named(&self, at: usize) -> bool {
        let own = |word: &Word| word.text == "i" || word.text.starts_with("i'") || VAGUE.contains(&word.text);
        let named =
            |word: &Word| word.capital && !own(word) || word.text.starts_with(|c: char| c.is_ascii_digit());
        self.words.iter().skip(at).any(named)
    }

    /// States after "on" or "in" that last for a while.
    fn tells_state(&self, at: usize) -> bool {
        let states = [
            "diet",
            "relationship",
            "medication",
            "antibiotics",
            "team",
            "shift",
            "sabbatical",
            "leave",
            "college",
            "school",
        ];
        self.words
            .iter()
            .skip(at)
            .any(|word| states.contains(&word.text.as_str()))
    }

    fn counts_taste(&self, at: usize) -> bool {
        let vague = [
            "it",
            "that",
            "this",
            "those",
            "these",
            "them",
            "how",
            "what",
            "when",
            "the",
            "him",
            "her",
            "to",
            "where",
            "seeing",
            "hearing",
            "being",
            "having",
            "everyone",
            "everything",
            "all",
        ];
        let the_idea =
            self.word(at) == "the" && matches!(self.word(at + 1), "way" | "idea" | "fact" | "sound" | "vibe");
        let bare = self.word(at) == "the" && !self.tells_which_the(at + 1);
        let to_do =
            self.word(at) == "to" && verb(self.word(at + 1)).is_some_and(|(_, form)| form == Form::Base);
        let fine = !vague.contains(&self.word(at)) || (self.word(at) == "the" && !the_idea && !bare) || to_do;
        fine && self.says(at) && self.word(at + 1) != "to"
    }

    /// Whether "the" is explained: "the sea", "the smell of rain", "the red one of yours", "the Beatles".
    fn tells_which_the(&self, at: usize) -> bool {
        const ONE_OF_A_KIND: &str = " beach city country countryside drums forest guitar gym internet mountains nature ocean \
             outdoors piano rain sea snow sun sunset theater theatre violin water winter woods ";
        let phrase = || {
            self.words
                .iter()
                .skip(at)
                .take_while(|word| !word.breaks && word.text != "and")
        };
        let told = phrase().filter(|word| !is_stop_word(&word.text) && !VAGUE.contains(&word.text));
        let known = phrase().any(|word| ONE_OF_A_KIND.contains(&format!(" {} ", word.text)) || word.capital);
        known || told.count() > 1
    }

    fn counts_possession(&self, at: usize) -> bool {
        !matches!(self.word(at), "to" | "no" | "been" | "it" | "that" | "this")
            && self.says(at)
            && !self.is_idiom(at)
    }

    pub(super) fn counts_have(&self, at: usize) -> bool {
        match self.word(at) {
            "been" => {
                self.counts_be(self.past_adverbs(at + 1)) || (self.word(at + 1) == "to" && self.says(at + 2))
            }
            "got" | "had" => self.counts_possession(at + 1),
            word if TALK.contains(word) => false,
            word if is_participle(word) => self.says(at + 1) && self.counts_object(at + 1),
            _ => false,
        }
    }

    pub(super) fn counts_will(&self, at: usize) -> bool {
        let known = matches!(verb(self.word(at)), Some((_, Form::Base)));
        known && self.says(at + 1) && self.counts_object(at + 1) && self.is_dated()
    }

    /// Words after a form of "be".
    pub(super) fn counts_be(&self, at: usize) -> bool {
        let at = self.past_adverbs(at + usize::from(self.word(at) == "not"));
        let (here, next) = (self.word(at), self.word(at + 1));
        let going_to = here == "going" && next == "to";
        if going_to || matches!((here, next), ("planning" | "about" | "moving", "to")) {
            let planned = matches!(verb(self.word(at + 2)), Some((_, Form::Base)));
            return self.says(at + 2) && self.counts_object(at + 3) && (planned || self.is_concrete(at + 2));
        }
        match here {
            "a" | "an" => {
                !matches!(next, "bit" | "little" | "mess" | "loss")
                    && self.says(at + 1)
                    && !self.is_idiom(at + 1)
            }
            "the" => {
                self.is_concrete(at + 1)
                    || self.word(at + 2) == "of"
                    || matches!(next, "youngest" | "oldest" | "eldest" | "only")
            }
            "from" | "into" => self.says(at + 1),
            "in" | "at" | "on" | "with" => self.is_concrete(at + 1) || self.tells_state(at + 1),
            "back" => self.says(at + 1) && self.words.len() > at + 2,
            "no" => next == "longer" && self.says(at + 2),
            _ if here.starts_with(|c: char| c.is_ascii_digit()) => self.words.len() <= at + 6,
            _ if STATES_WITH_OF.contains(here) => next == "of" && self.says(at + 2),
            _ if STATES.contains(here) => true,
            _ => match verb(here) {
                Some((_, Form::Ing)) => {
                    let vague = matches!(
                        here,
                        "getting" | "doing" | "having" | "being" | "making" | "keeping" | "seeing"
                    );
                    (!vague || self.is_concrete(at + 1)) && self.says(at + 1) && self.counts_object(at + 1)
                }
                Some((_, Form::Past | Form::Participle)) => self.says(at) && self.is_concrete(at),
                _ => false,
            },
        }
    }
}

fn is_article(word: &str) -> bool {
    matches!(
        word,
        "a" | "an" | "the" | "my" | "our" | "some" | "such" | "so" | "all" | "their" | "your" | "very"
    )
}

fn tells(word: &Word) -> bool {
    let plain = word.text.as_str();
    let lists = [&VAGUE, &ADVERBS, &TIME_UNITS, &COUNTS];
    !is_stop_word(plain) && !lists.iter().any(|list| list.contains(plain))
}
