//! Title of an episode, in one line.
//!
//! Owns: how telling a sentence is as a title, and its wording. Never: which sentences there are (`episode`).

use model::{Message, Role, Zone};
use recall::time::expressions;

use crate::facts::lexicon::{ABSTRACT, EMPTY_NOUNS, HYPOTHETICAL, TALK, TIME_UNITS, VAGUE};
use crate::visible::{CODE_MARK, speaker};
use crate::words::{Word, WordList, cut, one_line, word_list, words};

/// A title has at most so many characters.
pub(crate) const TITLE_CHARS_MAX: usize = 80;
/// More names make a sentence no more telling.
const NAMES_COUNTED_MAX: usize = 3;

/// Words that address a person, or refer to the conversation itself.
static ADDRESS: WordList =
    word_list!("you your you're yours u let's wow thanks thank congrats sorry wait hey");

/// Words that report another person's statement.
static HEARSAY: WordList = word_list!("says said tells told asked asks thinks claims mentioned according");

/// Words that refer to an earlier statement.
static POINTING: WordList =
    word_list!("this that these those it they them he she him her one there here such");

/// How informative a sentence is, apart from its topic: names, numbers and times count most, praise and address least.
pub(crate) fn manner(text: &str, message: &Message, zone: &Zone) -> f64 {
    let words = words(text);
    let is = |list: &WordList, word: &Word| list.contains(&word.text);
    let share = |list: &dyn Fn(&Word) -> bool| {
        words.iter().filter(|word| list(word)).count() as f64 / words.len().max(1) as f64
    };
    let own = words
        .iter()
        .any(|word| matches!(word.text.as_str(), "i" | "i'm" | "i've" | "my" | "we" | "our"));
    let number = words
        .iter()
        .any(|word| word.text.starts_with(|c: char| c.is_ascii_digit()));
    let told_by = speaker(message);
    let is_name = |word: &&Word| {
        let own = word.text == "i" || word.text.starts_with("i'") || is(&VAGUE, word);
        word.capital && !own && !told_by.contains(&text[word.range.clone()])
    };
    let names = words
        .iter()
        .skip(1)
        .filter(is_name)
        .count()
        .min(NAMES_COUNTED_MAX);
    let idle = |word: &Word| {
        [&VAGUE, &EMPTY_NOUNS, &ABSTRACT, &TALK]
            .iter()
            .any(|list| is(list, word) && !is(&TIME_UNITS, word))
    };
    let question = text.trim_end().ends_with(['?', '？']);
    let mut weight = if message.role == Role::User { 1.0 } else { 0.7 };
    weight *= 1.0 + 0.15 * names as f64;
    weight *= 1.0 - 0.8 * share(&idle).min(0.5);
    weight *= 1.0 - share(&|word: &Word| is(&POINTING, word)).min(0.5);
    for (holds, factor) in [
        (own, 1.2),
        (number, 1.15),
        (question, 0.5),
        (!expressions(text, message.time, zone).is_empty(), 1.2),
        (words.iter().any(|word| is(&ADDRESS, word)), 0.5),
        (words.iter().any(|word| is(&HYPOTHETICAL, word)), 0.7),
        (words.iter().any(|word| is(&HEARSAY, word)), 0.7),
        // A stage direction or code is not a person's statement.
        (text.starts_with('[') || text.contains(CODE_MARK), 0.4),
    ] {
        weight *= if holds { factor } else { 1.0 };
    }
    weight
}

/// A title from a sentence: its fact if it has one, else its own words, with the speaker if it contains "I".
pub(crate) fn title(sentence: &str, fact: Option<&str>, message: &Message, zone: &Zone) -> String {
    if let Some(fact) = fact {
        let fact = one_line(&without_past_times(fact.trim_end_matches('.'), message, zone));
        return cut(&without_praise(&fact), TITLE_CHARS_MAX);
    }
    let told = headline(&without_past_times(sentence, message, zone));
    let own = words(&told)
        .iter()
        .any(|word| matches!(word.text.as_str(), "i" | "i'm" | "i've" | "my" | "we" | "our"));
    if own && message.role == Role::User {
        return cut(&format!("{}: {told}", speaker(message)), TITLE_CHARS_MAX);
    }
    cut(&told, TITLE_CHARS_MAX)
}

/// "Yesterday" and "last week" mean nothing in a title; the episode has its date.
fn without_past_times(text: &str, message: &Message, zone: &Zone) -> String {
    const RELATIVE: [&str; 6] = ["yesterday", "last", "today", "ago", "earlier", "this"];
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for found in expressions(text, message.time, zone) {
        let said = &text[found.range.clone()];
        let relative = said.split_whitespace().any(|word| {
            RELATIVE
                .iter()
                .any(|relative| word.eq_ignore_ascii_case(relative))
        });
        if !relative || found.span.from > message.time {
            continue;
        }
        kept.push_str(text[at..found.range.start].trim_end());
        at = found.range.end;
        if kept.is_empty() {
            at += text[at..].len() - text[at..].trim_start_matches([',', ' ']).len();
        }
    }
    kept.push_str(&text[at..]);
    kept
}

/// A sentence without what it adds in praise: "won a tournament - it was amazing".
fn without_praise(text: &str) -> String {
    let all = words(text);
    let praises = |at: &usize| {
        let opens = all[*at].breaks || matches!(all[at - 1].text.as_str(), "and" | "but");
        let rest = &all[*at..];
        let points = matches!(
            rest[0].text.as_str(),
            "it" | "it's" | "it'll" | "they" | "which" | "that's" | "so" | "such" | "just" | "felt" | "super"
        );
        let tells = |word: &Word| word.capital || word.text.starts_with(|c: char| c.is_ascii_digit());
        opens && points && !rest.iter().any(tells)
    };
    let Some(at) = (3..all.len()).find(praises) else {
        return text.to_owned();
    };
    let joined = usize::from(matches!(all[at - 1].text.as_str(), "and" | "but"));
    let kept = &text[..all[at - joined].range.start];
    kept.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | '"' | '”' | '%'))
        .to_owned()
}

/// A sentence as a title: no leading filler, no full stop, one line.
pub(crate) fn headline(sentence: &str) -> String {
    let text = one_line(sentence);
    let mut start = 0;
    let all = words(&text);
    for pair in all.windows(2) {
        let small = crate::episode::FILLER.contains(&pair[0].text)
            || matches!(
                pair[0].text.as_str(),
                "so" | "and" | "but" | "actually" | "anyway"
            );
        if !small || !(pair[1].breaks || start > 0) {
            break;
        }
        start = pair[1].range.start;
    }
    let text = text[start..].trim_end_matches(['.', '!', '。', '！', ' ', ',']);
    let mut chars = text.chars();
    let text: String = chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect());
    cut(&text, TITLE_CHARS_MAX)
}
