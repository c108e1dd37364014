//! Title of an episode, in one line.
//!
//! Owns: how telling a sentence is as a title, and its wording. Never: which sentences there are (`episode`).

use model::{Message, Role, Zone};
use recall::time::expressions;

use crate::facts::lexicon::{
    ABSTRACT, ADVERBS, EMPTY_NOUNS, Form, HYPOTHETICAL, TALK, TIME_UNITS, VAGUE, is_kin, verb,
};
use crate::visible::{CODE_MARK, FIRST_PERSON, speaker};
use crate::words::{Word, WordList, cut, one_line, word_list, words};

/// A title has at most so many characters.
pub(crate) const TITLE_CHARS_MAX: usize = 80;
/// With fewer characters a part of a sentence is no title.
const TITLE_CHARS_MIN: usize = 48;
/// More names make a sentence no more telling.
const NAMES_COUNTED_MAX: usize = 3;

/// Words that address a person, or refer to the conversation itself.
static ADDRESS: WordList =
    word_list!("you your you're yours u let's wow thanks thank congrats sorry wait hey");

/// Words that report another person's statement.
static HEARSAY: WordList = word_list!("says said tells told asked asks thinks claims mentioned according");

/// Words that refer to an earlier statement.
static POINTING: WordList = word_list!(
    "this that these those it they them he she him her one there here such hes shes thats its theyre"
);

/// How informative a sentence is, apart from its topic: names, numbers and times count most, praise and address least.
pub(crate) fn manner(text: &str, message: &Message, zone: &Zone) -> f64 {
    let words = words(text);
    let is = |list: &WordList, word: &Word| list.contains(&word.text);
    let share = |list: &dyn Fn(&Word) -> bool| {
        words.iter().filter(|word| list(word)).count() as f64 / words.len().max(1) as f64
    };
    let own = words.iter().any(|word| is_own(&word.text));
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

/// Words of what changed in a life, or was decided, behind "I" or "my sister".
static NEWS: WordList = word_list!(
    "moved moving move quit left leaving starts starting started joining joined got bought sold married marrying divorced \
     engaged pregnant born died dead passed failed won lost broke hired fired promoted accepted rejected offered graduated \
     graduating retired retiring adopted diagnosed decided signed booked cancelled canceled postponed opened finished \
     launched published released turns turned expecting separated stopped resigned enrolled elected injured approved"
);
/// Words between the two.
static HELPERS: WordList = word_list!("am is was are were has have been both to");

/// Verbs of what one is about to do for the talk's sake: "I'll ask …", "let me check …".
static ERRANDS: WordList = word_list!(
    "ask be bring call check do get give go keep let look make put remember report see send show take tell think try use \
     wait write"
);

/// Openings of a request.
static REQUESTS: WordList = word_list!(
    "please can could would do does did is are what how why where when who let make give write show find add remind suggest \
     translate summarise summarize proofread rewrite draft next"
);

/// Openings of what goes on with the sentence before.
static HANGING: WordList =
    word_list!("and another but by for from like of or other so then under w with without");

/// Shorter sentences are not understood without the talk.
const TITLE_WORDS_MIN: usize = 4;

/// How much better a sentence is as a title than as a part of the account: what a person tells of a life, and above all
/// what changed in it, before errands, requests, and what points elsewhere.
pub(crate) fn as_title(
    text: &str,
    fact: Option<&str>,
    message: &Message,
    opens: bool,
    is_foreign: bool,
) -> f64 {
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let start = words
        .iter()
        .position(|word| !crate::episode::FILLER.contains(&word.text))
        .unwrap_or(0);
    let owns = |word: &Word| is_own(&word.text);
    let is_told = start_is_past(text);
    let tells_news = (0..words.len()).any(|at| NEWS.contains(word(at)) && is_main(&words[..at]));
    let is_own = is_told || words.iter().any(owns);
    let intends = (start..words.len()).any(|at| {
        matches!(word(at), "i'll" | "we'll" | "will") && ERRANDS.contains(word(at + 1))
            || matches!(word(at), "i" | "we") && matches!(word(at + 1), "need" | "want" | "wanted")
    });
    let is_pasted = text.starts_with(['"', '“', '|', '*', '.', '>'])
        || text.contains(['|', '{', '}'])
        || text.matches(['"', '“', '”']).count() % 2 == 1;
    let hangs = !is_own && HANGING.contains(word(start));
    let said = fact.map_or(text.len(), str::len);
    let mut worth = if message.role == Role::User { 1.0 } else { 0.6 };
    for (holds, factor) in [
        (said <= TITLE_CHARS_MAX, 1.3),
        (fact.is_some(), 1.2),
        // People begin with what they came to tell.
        (opens, 1.4),
        (text.ends_with('!'), 1.2),
        (tells_news && !intends, 1.5),
        (!is_own && fact.is_none(), 0.8),
        (intends || REQUESTS.contains(word(start)), 0.6),
        (points(word(start)) || hangs, 0.5),
        (words.len() < TITLE_WORDS_MIN && !tells_news, 0.5),
        (is_pasted, 0.2),
        // The request for a scene names it better than its lines.
        (is_foreign && !opens, 0.4),
    ] {
        worth *= if holds { factor } else { 1.0 };
    }
    worth
}

/// Whether the words before a verb are no more than its subject, which is the speaker or theirs: "hey, I've finally".
fn is_main(before: &[Word]) -> bool {
    let is_helper = |word: &Word| HELPERS.contains(&word.text) || ADVERBS.contains(&word.text);
    let Some(subject) = before.iter().rposition(|word| !is_helper(word)) else {
        return true;
    };
    let opens = |at: usize| {
        let joins = |word: &Word| word.text == "and" || crate::episode::FILLER.contains(&word.text);
        before[at].breaks || at == 0 || joins(&before[at - 1])
    };
    let word = &before[subject].text;
    let named = before[subject].capital && subject > 0 && is_kin(&before[subject - 1].text);
    is_kin(word) || named || (is_own(word) || word == "we've") && opens(subject)
}

fn points(word: &str) -> bool {
    POINTING.contains(word.split('\'').next().unwrap_or(""))
}

/// Whether a sentence begins with a past form, its subject left out: "quit the bubble tea".
fn start_is_past(text: &str) -> bool {
    let words = words(text);
    let first = words.iter().find(|word| !ADVERBS.contains(&word.text));
    first.is_some_and(|word| word.text == "quit" || matches!(verb(&word.text), Some((_, Form::Past))))
}

/// Whether a word says that a sentence is about its speaker.
fn is_own(word: &str) -> bool {
    matches!(word, "i" | "i'm" | "i've" | "my" | "we" | "our")
}

/// A title from a sentence: its fact if it has one, else its own words, with the speaker if it contains "I".
pub(crate) fn title(sentence: &str, fact: Option<&str>, message: &Message, zone: &Zone) -> String {
    if let Some(fact) = fact {
        let fact = one_line(&without_past_times(fact.trim_end_matches('.'), message, zone));
        return cut(&without_praise(&fact), TITLE_CHARS_MAX);
    }
    let told = headline(&without_past_times(sentence, message, zone));
    let name = speaker(message);
    let is_own = start_is_past(&told) || words(&told).iter().any(|word| is_own(&word.text));
    if message.role == Role::User && name != FIRST_PERSON && is_own {
        return clauses_of(&format!("{name}: {told}"));
    }
    clauses_of(&told)
}

/// A short title with the sentence behind its own, where there is room: "Dele: Booked. Lands on 22 April".
pub(crate) fn with_more(title: &str, next: &str) -> Option<String> {
    let whole = format!("{title}. {}", headline(next));
    let is_short = title.chars().count() < TITLE_CHARS_MIN / 2;
    let goes_on = !next.ends_with('?') && !points(words(next).first().map_or("", |word| &word.text));
    (is_short && goes_on && whole.chars().count() <= TITLE_CHARS_MAX).then_some(whole)
}

/// As many clauses of a sentence as a title has room for; if that is too little, what there is room for.
fn clauses_of(told: &str) -> String {
    if told.chars().count() <= TITLE_CHARS_MAX {
        return told.to_owned();
    }
    let words = words(told);
    let mut ends = words
        .windows(2)
        .filter(|pair| pair[1].breaks)
        .map(|pair| pair[0].range.end);
    let is_closed = |end: &usize| {
        let told = &told[..*end];
        let count = |mark: char| told.matches(mark).count();
        told.chars().count() <= TITLE_CHARS_MAX
            && count('(') == count(')')
            && count('"').is_multiple_of(2)
            && count('“') == count('”')
    };
    let whole = ends.rfind(is_closed);
    match whole.filter(|end| *end >= TITLE_CHARS_MIN) {
        Some(end) => told[..end].to_owned(),
        None => cut(told, TITLE_CHARS_MAX),
    }
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
    text
}
