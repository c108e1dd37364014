//! The account of a segment, made of its own most informative sentences, without a model.
//!
//! Owns: the weights of sentences, and the episode's form. Never: inventing words; the messages
//! stay verbatim beside it.

use std::collections::{BTreeMap, BTreeSet};

use model::text::{self, term_set};
use model::{Cell, Doc, Entry, Message, Role, Zone};

use crate::facts;
use crate::sentence::sentences;
use crate::visible::{readable_text, speaker};
use crate::words::{WordList, cut, one_line, word_list, words};

/// An episode's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    /// The first sentence that a person said, in one line of at most 80 characters.
    pub subject: String,
    /// At most three sentences.
    pub summary: String,
    /// The important statements with speaker and date.
    pub body: String,
}

pub(crate) const TITLE_CHARS_MAX: usize = 80;
const SUMMARY_SENTENCES_MAX: usize = 3;
const SENTENCE_CHARS_MAX: usize = 240;
/// Maximum number of one message's sentences in the account: the best, in their order.
const SENTENCES_A_MESSAGE: usize = 2;
const BODY_LINES_MAX: usize = 24;
const TOOL_CHARS_MAX: usize = 120;
const SENTENCES_READ_MAX: usize = 2_000;
/// Weight of a sentence with a fact, relative to others.
const FACT_WEIGHT: f64 = 1.6;
/// Weight of a sentence by somebody else: a quotation, a draft, a scene.
const FOREIGN_WEIGHT: f64 = 0.6;
/// Weight of a model's sentence, relative to a person's.
const MODEL_WEIGHT: f64 = 0.7;
const QUESTION_WEIGHT: f64 = 0.5;
/// Maximum number of a long message's sentences that are weighed.
const SENTENCES_READ_A_MESSAGE: usize = 60;

/// Words of greetings, thanks and agreement; a sentence that consists of them is left out.
static FILLER: WordList = word_list!(
    "fun long time 你好 您好 谢谢 再见 好的 太好了 嗨 こんにちは ありがとう またね はい 안녕 감사합니다 \
     hola gracias adiós bonjour merci salut hallo danke tschüss ciao grazie hi hey hello hiya yo morning afternoon evening night goodnight bye goodbye cya see later soon thanks \
     thank thx ty cheers welcome please sure ok okay k yes yeah yep yup no nope nah wow oh ah aw aww haha \
     hahaha lol lmao hmm um uh well right exactly true totally absolutely definitely great good nice cool \
     awesome amazing wonderful fantastic perfect sweet congrats congratulations sorry worries problem glad \
     happy hear hope talk chat take care luck day weekend going things doing fine love sounds sound really \
     too much lot always know here help today let"
);

/// The episode of a segment, from its own sentences. Never empty for a segment with messages.
pub fn episode(cell: &Cell, zone: &Zone) -> Episode {
    let messages = &cell.messages;
    let texts: Vec<String> = messages.iter().map(readable_text).collect();
    let items = weighed(messages, &texts);
    let subject = title(messages, &texts, &items);
    let mut chosen = best(&items, messages);
    chosen.sort_unstable();
    let mut said = Vec::new();
    let mut told_by = None;
    for item in chosen.iter().map(|at| &items[*at]) {
        let message = &messages[item.message];
        let (name, text) = (speaker(message), retold(item));
        said.push(if told_by.as_ref() == Some(&name) {
            text
        } else {
            format!("{name}: {text}")
        });
        told_by = Some(name);
    }
    let summary = said.join(" ");
    Episode {
        summary: if summary.is_empty() {
            ended(&subject)
        } else {
            summary
        },
        body: account_body(messages, &texts, &items, zone),
        subject,
    }
}

/// The rows of an entry. The row of an episode that holds only messages gets its important
/// statements as text.
pub fn digested(mut rows: Vec<Doc>, entry: &Entry, zone: &Zone) -> Vec<Doc> {
    let messages = &entry.turns;
    if let (Some(own), true, false) = (rows.first_mut(), entry.body.is_empty(), messages.is_empty()) {
        let texts: Vec<String> = messages.iter().map(readable_text).collect();
        own.text = account_body(messages, &texts, &weighed(messages, &texts), zone);
    }
    rows
}

/// A sentence on one line, with final punctuation.
fn retold(sentence: &EpisodeSentence<'_>) -> String {
    ended(&cut(&one_line(sentence.text), SENTENCE_CHARS_MAX))
}

/// The first sentence that a person said in their own words, else the first sentence of anybody. It
/// names its speaker where several people talk.
fn title(messages: &[Message], texts: &[String], items: &[EpisodeSentence<'_>]) -> String {
    let is_person = |message: &Message| message.role == Role::User;
    let first = items
        .iter()
        .min_by_key(|item| (!is_person(&messages[item.message]), !item.is_own));
    let title = if let Some(first) = first {
        let mut people = messages.iter().filter(|message| is_person(message));
        let message = &messages[first.message];
        let said = one_line(first.text);
        let said = said.trim_end_matches(['.', '。']);
        if people.any(|other| other.sender != message.sender) {
            format!("{}: {said}", speaker(message))
        } else {
            said.to_owned()
        }
    } else {
        let mut spoken = texts.iter().map(|text| one_line(text));
        let spoken = spoken.find(|text| !text.is_empty());
        spoken.unwrap_or_else(|| facts::capitalised(&wordless(messages)))
    };
    cut(&title, TITLE_CHARS_MAX)
}

fn wordless(messages: &[Message]) -> String {
    let names: BTreeSet<String> = messages.iter().map(speaker).collect();
    format!(
        "messages without text from {}",
        names.into_iter().collect::<Vec<_>>().join(", ")
    )
}

fn ended(text: &str) -> String {
    let closed = text.ends_with(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | ',' | '%'));
    if closed {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// A candidate sentence of the segment.
struct EpisodeSentence<'a> {
    message: usize,
    text: &'a str,
    /// Its writer speaks: it is no quotation, no draft, no line of a scene.
    is_own: bool,
    has_fact: bool,
    terms: BTreeSet<String>,
    score: f64,
}

/// Every sentence that is no filler, with its weight. Words that recur in the segment weigh more,
/// and so do facts. Quotations and questions weigh less, and a model's words less than a person's.
fn weighed<'a>(messages: &[Message], texts: &'a [String]) -> Vec<EpisodeSentence<'a>> {
    let scene = facts::scene(messages);
    let mut items = Vec::new();
    for (message, text) in texts.iter().enumerate() {
        if messages[message].role == Role::Tool {
            continue;
        }
        let told = sentences(text)
            .into_iter()
            .take(SENTENCES_READ_A_MESSAGE)
            .filter(|sentence| !is_filler(sentence) && !model::names_attachment(sentence));
        let said = &messages[message];
        let own = facts::own_sentences(said);
        items.extend(told.map(|text| {
            let is_own = message < scene && (said.role != Role::User || own.contains(text));
            EpisodeSentence {
                message,
                text,
                is_own,
                has_fact: is_own && facts::is_fact(text, said),
                terms: term_set(text),
                score: 0.0,
            }
        }));
        if items.len() > SENTENCES_READ_MAX {
            break;
        }
    }
    let mut spread: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for item in &items {
        for term in &item.terms {
            spread.entry(term).or_default().insert(item.message);
        }
    }
    let scores: Vec<f64> = items
        .iter()
        .map(|item| {
            let spread = |term: &String| 1.0 + (spread[term.as_str()].len() as f64).ln();
            let sum: f64 = item.terms.iter().map(spread).sum();
            let mut weight = 1.0;
            for (holds, factor) in [
                (!item.is_own, FOREIGN_WEIGHT),
                (item.has_fact, FACT_WEIGHT),
                (messages[item.message].role != Role::User, MODEL_WEIGHT),
                (item.text.ends_with(['?', '？']), QUESTION_WEIGHT),
            ] {
                weight *= if holds { factor } else { 1.0 };
            }
            weight * sum / (item.terms.len() as f64 + 6.0).sqrt()
        })
        .collect();
    for (item, score) in items.iter_mut().zip(scores) {
        item.score = score;
    }
    items
}

fn is_filler(sentence: &str) -> bool {
    words(sentence).iter().all(|word| {
        let plain = word.text.split('\'').next().unwrap_or("");
        FILLER.contains(plain)
            || text::is_stop_word(plain)
            || (word.capital && word.range.start > 0 && sentence.len() < 24)
    })
}

/// The best sentences, best first, each with words that the ones before it lack.
fn best(items: &[EpisodeSentence<'_>], messages: &[Message]) -> Vec<usize> {
    let opening = items
        .iter()
        .position(|item| messages[item.message].role == Role::User);
    let has_own = items.iter().any(|item| item.is_own);
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < SUMMARY_SENTENCES_MAX {
        let worth = |at: usize| {
            let item = &items[at];
            let told = item
                .terms
                .iter()
                .filter(|term| chosen.iter().any(|other| items[*other].terms.contains(*term)));
            let new = 1.0 - told.count() as f64 / (item.terms.len() as f64).max(1.0);
            item.score * new
        };
        // The first sentence of an account is its writer's own. Only the opening of a scene is
        // told.
        let left = (0..items.len())
            .filter(|at| !chosen.contains(at) && (items[*at].is_own || !has_own && Some(*at) == opening))
            .map(|at| (at, worth(at)));
        // Of equals the first, so that the choice depends on the text alone.
        let next = left.fold(None, |best: Option<(usize, f64)>, (at, worth)| match best {
            Some((_, most)) if most >= worth => best,
            _ => Some((at, worth)),
        });
        match next {
            Some((at, worth)) if worth > 0.0 => chosen.push(at),
            _ => break,
        }
    }
    chosen
}

/// Important statements with speakers: one line for each of the best messages, in order, with a date where the day
/// changes.
fn account_body(
    messages: &[Message],
    texts: &[String],
    items: &[EpisodeSentence<'_>],
    zone: &Zone,
) -> String {
    let mut lines: Vec<(usize, f64, String)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let name = speaker(message);
        let mut own: Vec<&EpisodeSentence<'_>> = items.iter().filter(|item| item.message == at).collect();
        own.sort_by(|a, b| b.score.total_cmp(&a.score));
        own.truncate(SENTENCES_A_MESSAGE);
        own.sort_by_key(|item| item.text.as_ptr());
        if let Some(score) = own.iter().map(|item| item.score).max_by(f64::total_cmp) {
            let said = own.iter().map(|item| retold(item)).collect::<Vec<_>>().join(" ");
            lines.push((at, score, format!("{name} said: {said}")));
        }
        if !message.tool_calls.is_empty() {
            let used: BTreeSet<String> = message
                .tool_calls
                .iter()
                .map(|call| cut(&one_line(&call.name), 60))
                .collect();
            let used = used.into_iter().collect::<Vec<_>>().join(", ");
            lines.push((at, 0.0, format!("{name} used {used}.")));
        }
        if message.role == Role::Tool {
            let output = cut(&one_line(&texts[at]), TOOL_CHARS_MAX);
            lines.push((at, 0.0, format!("A tool answered: {output}")));
        }
    }
    lines.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    lines.truncate(BODY_LINES_MAX);
    lines.sort_by_key(|line| line.0);
    if lines.is_empty() {
        let spoken = texts.iter().position(|text| !text.trim().is_empty());
        let line = match spoken {
            Some(at) => format!(
                "{} said: {}",
                speaker(&messages[at]),
                ended(&cut(&one_line(&texts[at]), SENTENCE_CHARS_MAX))
            ),
            None => format!("there were {}.", wordless(messages)),
        };
        lines.push((spoken.unwrap_or(0), 0.0, line));
    }
    let mut told_day = None;
    let dated = lines.into_iter().map(|(at, _, line)| {
        let date = messages.get(at).map(|message| zone.date(message.time));
        match date {
            Some(date) if told_day != Some(date) => {
                told_day = Some(date);
                format!("On {}, {line}", model::date_in_words(date))
            }
            _ => line,
        }
    });
    dated.collect::<Vec<_>>().join("\n")
}
