//! Text of a ranking for a model: messages with speaker and time, and facts beside them.
//!
//! Owns: the choice of hits and their order, the form of a line, the chosen sentences of a long
//! message, the mark for earlier ones. Invariant: a line contains only words of its source. Never:
//! ranking; the available room (the caller takes the lines from the front).

mod stranger;
mod turn;

use std::borrow::Cow;
use std::collections::BTreeSet;

use model::text::{self, folded_text, term_set};
use model::{Doc, DocKind, Owner, Role, Timestamp, Zone};
use unicode_segmentation::UnicodeSegmentation;

use crate::hit::{Hit, Ranking, Why};
use turn::{TurnTraits, asks};

/// Maximum length of a message in full; of a longer one, only the matching sentences are included.
const WHOLE_CHARS_MAX: usize = 320;
/// Name for the asker in the text for the model.
const USER: &str = "user";
const ASSISTANT: &str = "assistant";
/// Weight of an assistant's message: it mostly repeats other text.
const ASSISTANT_WEIGHT: f32 = 0.6;
/// A line is left out if this share of its words is in the lines before it.
const SAID_SHARE: f32 = 0.8;
/// Minimum weight of a hit, as a share of the best one's; weaker hits are noise.
const BESIDE_SHARE: f32 = 0.1;

/// A line answers by itself if it has more than this share of the question's information. Two of
/// the question's words must be in one sentence, or one word together with a near meaning. Of the
/// answers to 180 questions of six people, 51 of 79 were wrong without this rule, 10 of 33 with it.
const ANSWER_SHARE: f32 = 0.5;
const ANSWER_VECTOR: f32 = 0.7;

/// A line for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryLine {
    /// Id of the row; a message marked as earlier has a suffix.
    pub id: String,
    pub text: String,
    /// The text without the day and the speaker.
    pub said: String,
    pub said_at: Timestamp,
    /// The time from which it no longer holds.
    pub until: Option<Timestamp>,
    /// A person's own words: not an assistant's, and not from a text that a person sent and that
    /// may be somebody else's.
    pub is_own: bool,
    /// It may stand alone as the answer.
    pub answers: bool,
}

/// Divides people's messages into account, material and sentences.
pub trait Reader {
    /// The writer's own account in a message, and the material in it, such as a pasted letter.
    fn parts(&self, text: &str) -> (String, String);

    /// A speaker's message without its withdrawn sentences; empty if they cannot be found.
    fn without(&self, text: &str, speaker: &str, marks: &BTreeSet<String>) -> String;

    /// The sentences of a message, divided as for facts: people begin many with a small letter.
    fn sentences<'a>(&self, text: &'a str) -> Vec<&'a str>;
}

/// Probability that something in a ranking answers: 0 to 1.
fn sureness(ranking: &Ranking) -> f32 {
    let hits = ranking
        .messages
        .iter()
        .filter(|hit| says(hit))
        .chain(facts(ranking));
    hits.filter(|hit| !is_kept_back(hit))
        .map(weight)
        .fold(0.0, f32::max)
}

/// Whether no line may contain the hit: another version of a memory's text, or a message of a
/// scene.
fn is_kept_back(hit: &Hit) -> bool {
    hit.doc.is_version() || hit.is_withdrawn && hit.taken_back.is_empty()
}

/// The lines for a question of somebody, best first; empty if no hit is sure enough.
pub fn memory_lines(
    ranking: &Ranking,
    question: &str,
    asker: &Owner,
    zone: &Zone,
    reader: &dyn Reader,
) -> Vec<MemoryLine> {
    let best = sureness(ranking);
    let turn = TurnTraits::read(question, &names(ranking));
    let is_sure = best >= turn.least_sureness();
    if !is_sure || stranger::names_a_stranger(question, ranking) {
        return Vec::new();
    }
    let asked = term_set(question);
    // "Where is my home?" has one informative word.
    let is_of_mine = asked.len() == 1 && has_possessive(question);
    // A turn that only repeats a statement needs no memory of it.
    let asks_something = question.split_sentence_bounds().any(asks);
    let mut heard: Vec<BTreeSet<String>> = Vec::new();
    let mut lines: Vec<MemoryLine> = Vec::new();
    for hit in eligible_hits(ranking, best) {
        let Some((text, until, is_material)) = holding(hit, &asked, reader) else {
            continue;
        };
        let said = sentences_for(&text, &asked, WHOLE_CHARS_MAX);
        let how = (
            said.as_str(),
            until,
            is_material,
            answers(hit, &said, &asked, is_of_mine),
        );
        let own = term_set(&said);
        if own.is_empty() || !asks_something && own.is_subset(&asked) {
            continue;
        }
        match heard.iter().position(|other| share(&own, other) >= SAID_SHARE) {
            // The same words hold again after their end.
            Some(at) if until.is_none() && lines[at].until.is_some() => {
                lines[at] = line(hit, how, asker, zone);
            }
            Some(_) => {}
            None => {
                heard.push(own);
                lines.push(line(hit, how, asker, zone));
            }
        }
    }
    if !turn.is_own && !lines.iter().any(|line| line.answers) {
        return Vec::new();
    }
    lines
}

/// The hits that may become lines, best first.
fn eligible_hits(ranking: &Ranking, best: f32) -> Vec<&Hit> {
    let mut hits: Vec<&Hit> = ranking
        .messages
        .iter()
        .filter(|hit| says(hit) && !is_kept_back(hit))
        .collect();
    let sources: BTreeSet<&str> = hits.iter().map(|hit| &*hit.doc.key.id).collect();
    // A fact is left out if its message is included, or matched but is left out.
    let is_new = |fact: &&Hit| fact.doc.sources.iter().all(|id| !sources.contains(id.as_str()));
    hits.extend(facts(ranking).filter(|fact| !is_kept_back(fact) && is_new(fact)));
    hits.retain(|hit| weight(hit) >= best * BESIDE_SHARE);
    hits.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    hits
}

/// Speakers and persons in the hits, folded for comparison.
fn names(ranking: &Ranking) -> BTreeSet<String> {
    let mut names = turn::names(ranking.messages.iter().map(|hit| hit.doc.text.as_str()));
    let people = ranking
        .messages
        .iter()
        .filter(|hit| hit.doc.role == Some(Role::User));
    for speaker in people.filter_map(|hit| hit.doc.speaker.as_ref()) {
        text::each_word(speaker, |_, word| {
            names.insert(word.to_owned());
        });
    }
    names
}

/// Weight of a hit relative to others.
fn weight(hit: &Hit) -> f32 {
    match hit.doc.role {
        Some(Role::Assistant) => hit.score * ASSISTANT_WEIGHT,
        _ => hit.score,
    }
}

/// Whether a message has content: not only a question, and not by a tool.
fn says(hit: &Hit) -> bool {
    let speaks = matches!(hit.doc.role, Some(Role::User | Role::Assistant));
    speaks
        && hit
            .doc
            .text
            .split_sentence_bounds()
            .any(|sentence| !sentence.trim().is_empty() && !asks(sentence))
}

/// Valid facts, including those of episodes.
fn facts(ranking: &Ranking) -> impl Iterator<Item = &Hit> {
    let all = ranking
        .memories
        .iter()
        .flat_map(|hit| std::iter::once(hit).chain(&hit.facts));
    all.filter(|hit| hit.doc.is_fact() && hit.superseded_by.is_none())
}

/// The speaker of a row in the text for a model: of a message its speaker, of another owner's
/// memory its owner; none for a memory of the asker.
pub(crate) fn speaker<'a>(doc: &'a Doc, asker: &Owner) -> Option<&'a str> {
    let owner = doc.key.owner.id.as_str();
    let own = || doc.senders.iter().any(|sender| sender.as_str() == owner);
    let is_askers = doc.key.owner == *asker;
    match (doc.role, &doc.speaker) {
        (Some(Role::Assistant), _) => Some(ASSISTANT),
        (Some(_), Some(name)) if name != owner || !own() => Some(name),
        (Some(_), _) if is_askers => Some(USER),
        (None, _) if is_askers => None,
        _ => Some(owner),
    }
}

/// The part of a hit to include, the time of its end, and whether it is material. The current part,
/// or the ended one if the question fits that better. Of a message with material, the account or
/// the material, whichever fits better. None if the question is about a withdrawn statement.
fn holding<'a>(
    hit: &'a Hit,
    asked: &BTreeSet<String>,
    reader: &dyn Reader,
) -> Option<(Cow<'a, str>, Option<Timestamp>, bool)> {
    let doc = &hit.doc;
    let worth = |text: &str| term_set(text).intersection(asked).count();
    let mut text = Cow::Borrowed(&*doc.text);
    if !hit.taken_back.is_empty() {
        let speaker = doc.speaker.as_deref().unwrap_or_default();
        let left = reader.without(&text, speaker, &hit.taken_back);
        if worth(&left) < worth(&text) {
            return None;
        }
        text = Cow::Owned(left);
    }
    let mut is_material = false;
    if doc.role == Some(Role::User) && text.contains('\n') {
        let (own, material) = reader.parts(&text);
        is_material = own.is_empty() || worth(&material) > worth(&own);
        text = Cow::Owned(if is_material { material } else { own });
    }
    let until = match doc.kind {
        DocKind::Turn => hit.ended.iter().filter_map(|fact| fact.valid_until).max(),
        DocKind::Entry(_) => doc.valid_until,
    };
    let spaced = |text: &str| format!(" {}", folded_text(text));
    let own = |fact: &Doc| spaced(fact.text.split_once(": \"").map_or(&*fact.text, |(_, own)| own));
    let over: Vec<String> = hit.ended.iter().map(|fact| own(fact)).collect();
    let is_over = |sentence: &&str| over.iter().any(|over| spaced(sentence).contains(over.as_str()));
    let (over, left): (Vec<&str>, Vec<&str>) = reader.sentences(&text).into_iter().partition(is_over);
    let (over, left) = (over.join(" "), left.join(" "));
    Some(if over.is_empty() || left.is_empty() {
        (text, until, is_material)
    } else if worth(&over) > worth(&left) {
        (Cow::Owned(over), until, is_material)
    } else {
        (Cow::Owned(left), None, is_material)
    })
}

fn line(
    hit: &Hit,
    (said, until, is_material, answers): (&str, Option<Timestamp>, bool, bool),
    asker: &Owner,
    zone: &Zone,
) -> MemoryLine {
    let doc = &hit.doc;
    let date = zone.date(doc.time);
    let (mark, state) = if hit.later.is_some() {
        (" earlier", "+earlier")
    } else {
        ("", "")
    };
    let date = match until {
        Some(until) => format!("{date}, ended by {}", zone.date(until)),
        None => date.to_string(),
    };
    let state = if until.is_some() { "+ended" } else { state };
    let who = match speaker(doc, asker) {
        Some(name) if is_material => format!(", in a text that {name} sent{mark}"),
        Some(name) => format!(", {name}{mark}"),
        None => String::new(),
    };
    MemoryLine {
        said_at: doc.time,
        id: format!("{}{state}", doc.key.id),
        text: format!("{date}{who}: {said}"),
        said: said.to_owned(),
        until,
        is_own: !is_material && doc.role != Some(Role::Assistant),
        answers,
    }
}

/// Whether a hit's text may stand alone as the answer. A question with one informative word and
/// "my" is answered by a sentence with that word and "my".
fn answers(hit: &Hit, said: &str, asked: &BTreeSet<String>, is_of_mine: bool) -> bool {
    let Why { share, vector, .. } = hit.why;
    let is_told = |sentence: &str| match term_set(sentence).intersection(asked).count() {
        0 => false,
        1 => is_of_mine && has_possessive(sentence),
        _ => true,
    };
    let is_about_it = share > ANSWER_SHARE && said.split_sentence_bounds().any(is_told);
    is_about_it || share > 0.0 && vector > ANSWER_VECTOR
}

fn has_possessive(text: &str) -> bool {
    let mut has = false;
    text::each_word(text, |_, word| {
        has |= text::first_person(word) == Some(text::FirstPerson::Possessive);
    });
    has
}

/// A message in full, or of a longer one the sentences around the best match.
pub(crate) fn sentences_for(message: &str, asked: &BTreeSet<String>, chars_max: usize) -> String {
    let message = message.trim();
    if message.chars().count() <= chars_max {
        return message.to_owned();
    }
    let sentences: Vec<&str> = message
        .split_sentence_bounds()
        .filter(|sentence| !sentence.trim().is_empty())
        .collect();
    let worth = |sentence: &&str| term_set(sentence).intersection(asked).count();
    let best = (0..sentences.len())
        .rev()
        .max_by_key(|at| worth(&sentences[*at]))
        .unwrap_or(0);
    let (mut from, mut to) = (best, best + 1);
    let mut room = chars_max.saturating_sub(sentences[best].chars().count());
    // The sentences after the best match explain it better than those before.
    for step in 0.. {
        let next = if step % 3 == 2 {
            from.checked_sub(1)
        } else {
            Some(to).filter(|to| *to < sentences.len())
        };
        let next = next
            .or_else(|| from.checked_sub(1))
            .or(Some(to).filter(|to| *to < sentences.len()));
        let Some(next) = next else { break };
        let Some(left) = room.checked_sub(sentences[next].chars().count()) else {
            break;
        };
        room = left;
        (from, to) = (from.min(next), to.max(next + 1));
    }
    let mut said = model::one_line(&sentences[from..to].concat());
    if from > 0 {
        said.insert_str(0, "… ");
    }
    if to < sentences.len() {
        said.push_str(" …");
    }
    said
}

/// Share of the words of `one` that are in `other`.
fn share(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f32 {
    one.intersection(other).count() as f32 / one.len().max(1) as f32
}

#[cfg(test)]
mod tests;
