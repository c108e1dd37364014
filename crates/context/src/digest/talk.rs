//! Messages of people: rules, wishes, decisions, todos, and the sentences worth keeping.
//!
//! Owns: the kind and the worth of a sentence's line. Never: a tool's text.

use std::ops::Range;

use transcript::Role;

use super::cues::{self, Cue};
use super::line::{shortened, verbatim, window_around};
use super::names::Strength;
use super::reader::{Ask, DigestReader, ItemPlace, LINE_BYTES_MAX, details, focus, hashes};
use super::{LineKind, outcome, patch, voice};
use crate::digest::excerpt;

const SENTENCE_BYTES_MAX: usize = 400;
const RULES_MAX: usize = 64;
/// In one item's prose, this many of the first and last sentences are read; rules are found in all sentences.
const SENTENCES_HEAD: usize = 300;
const SENTENCES_TAIL: usize = 100;
const ANSWER_BYTES_MAX: usize = 240;

/// The part of a sentence that is a rule: the whole, or the clause around the cue if the sentence is too long.
fn rule(text: &str, sentence: &Range<usize>, quoted: &[Range<usize>]) -> Option<Range<usize>> {
    let said = &text[sentence.clone()];
    if check_box(said).is_some() {
        return None;
    }
    let outside = |cue: &Range<usize>| {
        let at = sentence.start + cue.end - 1;
        !quoted.iter().any(|quote| quote.contains(&at))
    };
    let cue = cues::rules(said).into_iter().find(outside)?;
    if said.len() <= SENTENCE_BYTES_MAX {
        return Some(sentence.clone());
    }
    let stop = |c: char| matches!(c, ';' | ',' | '，' | '；' | '、' | '\n');
    let start = said[..cue.start]
        .rfind(stop)
        .map_or(0, |at| at + said[at..].chars().next().map_or(1, char::len_utf8));
    let start = start.max(said.ceil_char_boundary(cue.start.saturating_sub(SENTENCE_BYTES_MAX / 2)));
    let end = said.floor_char_boundary((start + SENTENCE_BYTES_MAX).min(said.len()));
    let clause = said[start..end].trim();
    let start = sentence.start + start + (said[start..end].len() - said[start..end].trim_start().len());
    Some(start..start + clause.len())
}

/// `[ ] text` or `[x] text`: whether it is ticked, and the text.
fn check_box(sentence: &str) -> Option<(bool, &str)> {
    let rest = sentence.strip_prefix('[')?;
    let (mark, text) = rest.split_once("] ")?;
    match mark {
        " " | "" => Some((false, text)),
        "x" | "X" | "✓" | "✔" => Some((true, text)),
        _ => None,
    }
}

/// A part of a message in the sender's own words.
struct Talk<'a> {
    text: &'a str,
    role: Role,
    narrates: bool,
    /// Whether it answers the assistant's question.
    answers: bool,
    place: ItemPlace,
}

impl DigestReader<'_> {
    pub(crate) fn talk(&mut self, place: ItemPlace, role: Role, prose: &str, narrates: bool) {
        let question = self
            .question
            .take()
            .filter(|_| role == Role::User && prose.len() <= ANSWER_BYTES_MAX);
        let mut own = String::new();
        let mut last = 0..0;
        for part in voice::parts(prose) {
            let text = &prose[part.range.clone()];
            if part.own {
                if own.len() <= SENTENCE_BYTES_MAX {
                    own.push_str(text);
                }
                let told = Talk {
                    text,
                    role,
                    narrates,
                    answers: question.is_some(),
                    place,
                };
                last = self.sentences(&told).map_or(last, |last| {
                    part.range.start + last.start..part.range.start + last.end
                });
            } else if role != Role::System {
                self.pasted(place, text, role);
            }
        }
        if role == Role::Assistant {
            for effect in patch::edit_blocks(prose) {
                self.effect(place, &effect);
            }
            let text = &prose[last];
            self.question = text.ends_with(['?', '？']).then(|| Ask {
                place,
                text: shortened(text, LINE_BYTES_MAX),
            });
        }
        if role == Role::User {
            self.asked(place, &own);
        }
        if let Some(question) = question {
            self.push(LineKind::Decision, question.place, question.text, 0.6, Vec::new());
        }
    }

    /// The user's requests: the first real one is the objective, a later one that announces a change replaces it.
    fn asked(&mut self, place: ItemPlace, own: &str) {
        let text = shortened(own, SENTENCE_BYTES_MAX);
        if excerpt::worth(&text, Role::User, false) <= 0.0 {
            return;
        }
        let opening = &own.trim_start()[..own.trim_start().floor_char_boundary(80)];
        if !self.objective {
            self.objective = true;
            return self.push(LineKind::Objective, place, text, 1.0, Vec::new());
        }
        let text = shortened(own, LINE_BYTES_MAX);
        if cues::has(Cue::Change, opening) {
            self.push(LineKind::Objective, place, text, 0.9, Vec::new());
            self.latest = None;
        } else {
            self.latest = Some(Ask { place, text });
        }
    }

    /// Reads the sentences of own words; returns the range of the last.
    fn sentences(&mut self, talk: &Talk<'_>) -> Option<Range<usize>> {
        let ranges = excerpt::sentences(talk.text);
        let quoted = if matches!(talk.role, Role::User | Role::System) {
            voice::quotations(talk.text)
        } else {
            Vec::new()
        };
        let tail = ranges.len().saturating_sub(SENTENCES_TAIL);
        let mut rules = 0;
        for (number, range) in ranges.iter().enumerate() {
            let said = &talk.text[range.clone()];
            let bound = if matches!(talk.role, Role::User | Role::System) && rules < RULES_MAX {
                rule(talk.text, range, &quoted)
            } else {
                None
            };
            if let Some(bound) = bound {
                rules += 1;
                let names = self.names_used(talk.place, said);
                let text = verbatim(&talk.text[bound]);
                self.push(LineKind::Constraint, talk.place, text, 1.0, hashes(said, &names));
            } else if talk.role != Role::System && (number < SENTENCES_HEAD || number >= tail) {
                self.sentence(talk, said);
            }
        }
        ranges.last().cloned()
    }

    fn sentence(&mut self, talk: &Talk<'_>, text: &str) {
        let names = self.names_used(talk.place, text);
        let strongest = names
            .iter()
            .map(|name| name.strength)
            .max()
            .unwrap_or(Strength::Weak);
        let user = talk.role == Role::User;
        let asks = text.ends_with(['?', '？']);
        let base = excerpt::worth(text, talk.role, talk.narrates);
        let hashes = hashes(text, &names);
        if let Some((ticked, todo)) = check_box(text) {
            let (kind, worth) = if ticked {
                (LineKind::Done, 0.2)
            } else {
                (LineKind::Todo, 0.7)
            };
            return self.push(kind, talk.place, shortened(todo, LINE_BYTES_MAX), worth, hashes);
        }
        let told = |cue: Cue| !asks && cues::has(cue, text);
        let (kind, worth) = if user && told(Cue::Trouble) && !outcome::tells_none(text) {
            (LineKind::Error, 0.6)
        } else if told(Cue::Decision) && base > 0.0 {
            (
                LineKind::Decision,
                if user {
                    0.8
                } else if talk.narrates {
                    0.55
                } else {
                    0.7
                },
            )
        } else if told(Cue::Open) && base > 0.0 {
            (LineKind::Todo, if talk.narrates { 0.5 } else { 0.7 })
        } else if talk.answers && !asks {
            (LineKind::Decision, 0.7)
        } else if told(Cue::Done) && !user && base > 0.0 {
            (
                LineKind::Done,
                base.max(if strongest >= Strength::Fair { 0.4 } else { 0.0 }),
            )
        } else if strongest >= Strength::Fair {
            let strong = if strongest == Strength::Strong { 0.1 } else { 0.0 };
            (
                LineKind::Identifier,
                strong
                    + if user {
                        0.55
                    } else if talk.narrates {
                        0.25
                    } else {
                        0.45
                    },
            )
        } else {
            (LineKind::Excerpt, base)
        };
        if worth > 0.0 {
            let focus = focus(&names, Strength::Fair).unwrap_or(0..0);
            let line = window_around(text, &focus, LINE_BYTES_MAX);
            self.push(kind, talk.place, line, worth, hashes);
        }
    }

    /// Reads pasted text: its identifiers, and in a user's message also its errors.
    fn pasted(&mut self, place: ItemPlace, text: &str, role: Role) {
        if role == Role::User {
            for range in outcome::loud(text).into_iter().take(3) {
                let line = window_around(&text[range], &(0..0), LINE_BYTES_MAX);
                self.push(LineKind::Error, place, line, 0.6, Vec::new());
            }
        }
        let bonus = if role == Role::User { 0.2 } else { 0.15 };
        for detail in details(text) {
            let line = window_around(&text[detail.range], &detail.focus, LINE_BYTES_MAX);
            let worth = detail.worth + bonus;
            self.push(LineKind::Identifier, place, line, worth, detail.names);
        }
    }
}
