//! The result of a search as text: one ranked list of messages and memories.
//!
//! Owns: the order and nesting of the list, and the text for each kind. Never: scores; the server computes them.

use std::collections::BTreeSet;

use gateway::wire::{EpisodeItem, Explain, FactItem, FoundMessage, SearchData};
use model::text::term_set;

use super::layout::{date, moment, passage, sentence, wrapped};
use super::say;
use crate::error::Failure;

/// Approximate maximum characters of a long message in the output.
const WORDS_CHARS_MAX: usize = 480;

/// Options of the output.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Look<'a> {
    /// The question: a long text is cut around its words.
    pub(crate) query: &'a str,
    /// The searched project; None: `default`.
    pub(crate) project: Option<&'a str>,
    /// Show the id and the file of each line.
    pub(crate) ids: bool,
    /// Show every hit with score and reason.
    pub(crate) explain: bool,
}

impl Look<'_> {
    /// Names the project of a hit from another project.
    fn elsewhere(self, project: Option<&str>) -> String {
        if project == self.project {
            return String::new();
        }
        format!(", from project {}", project.unwrap_or("default"))
    }
}

/// One entry of the list.
#[derive(Debug, Default)]
struct ListEntry {
    score: f32,
    words: String,
    /// Description: speaker and time of a message, or kind of a memory.
    about: String,
    notes: Vec<String>,
    id: String,
    explain: Option<Explain>,
    /// Ids of the messages that the entry contains.
    tells: BTreeSet<String>,
    terms: BTreeSet<String>,
}

/// Prints the answer to a search.
pub(crate) fn found(found: &SearchData, look: Look<'_>) -> Result<(), Failure> {
    for warning in &found.warnings {
        say!("{warning}\n")?;
    }
    let places = places(found, look);
    if places.is_empty() {
        return say!("nothing found");
    }
    if let Some(span) = found.time_span.as_ref().filter(|_| look.explain) {
        let (from, to) = (moment(&span.from), moment(&span.to));
        say!("time asked about: {from}, to {to}\n")?;
    }
    let shown: Vec<String> = (1..)
        .zip(&places)
        .map(|(rank, place)| place.shown(rank, look))
        .collect();
    say!("{}", shown.join("\n\n"))
}

/// All messages, and the memories that add something to them. At equal scores, messages come first.
fn places(found: &SearchData, look: Look<'_>) -> Vec<ListEntry> {
    let said: BTreeSet<&str> = found.messages.iter().map(|message| &*message.id).collect();
    let is_said = |ids: &[String]| ids.iter().any(|id| said.contains(id.as_str()));
    let mut places: Vec<ListEntry> = found.messages.iter().map(|it| message(it, look)).collect();
    let last = found.messages.last().map_or(0.0, |message| message.score);
    let mut passed: BTreeSet<&str> = BTreeSet::new();
    for it in &found.episodes {
        if !look.explain && (is_said(&it.message_ids) || it.superseded_by.is_some()) {
            let facts = it.atomic_facts.iter().flatten();
            let worse = facts.filter(|fact| fact.score.unwrap_or_default() < last);
            passed.extend(worse.map(|fact| &*fact.id));
        } else {
            places.push(episode(it, look));
        }
    }
    for it in &found.facts {
        let tells = |place: &&mut ListEntry| it.message_ids.iter().any(|id| place.tells.contains(id));
        match places.iter_mut().find(tells) {
            Some(place) => place.note(it, found, look),
            None if passed.contains(&*it.id) => {}
            None => places.push(fact(it, found, look)),
        }
    }
    let events = found.foresights.iter().filter(|it| !is_said(&it.message_ids));
    places.extend(events.map(|it| {
        let about = match &it.start_time {
            Some(start) => format!("expected, {}", date(start)),
            None => format!("expected, as of {}", date(&it.timestamp)),
        };
        ListEntry::new(it.score, it.content.clone(), about, (&it.id, &it.path), None)
    }));
    places.extend(found.agent_cases.iter().map(|it| {
        let words = passage(&it.task_intent, look.query, WORDS_CHARS_MAX);
        let about = format!("case, {}", date(&it.timestamp));
        ListEntry::new(it.score, words, about, (&it.id, &it.path), it.explain.as_ref())
    }));
    places.extend(found.agent_skills.iter().map(|it| {
        let words = sentence(&it.name, &it.description);
        ListEntry::new(
            it.score,
            words,
            "skill".to_owned(),
            (&it.id, &it.path),
            it.explain.as_ref(),
        )
    }));
    places.sort_by(|a, b| b.score.total_cmp(&a.score));
    places
}

fn message(it: &FoundMessage, look: Look<'_>) -> ListEntry {
    let speaker = it.sender_name.as_ref().or(it.sender_id.as_ref());
    let speaker = speaker.map_or("somebody", String::as_str);
    let of = look.elsewhere(it.project_id.as_deref());
    let mut told = term_set(&it.content);
    // The fact "ana likes tea" adds nothing to the message "I like tea" by ana.
    told.extend(term_set(speaker));
    told.extend(it.sender_id.iter().flat_map(|id| term_set(id)));
    let episode = it.episode_id.as_ref();
    let episode = episode.map_or_else(String::new, |id| format!(" in {id}"));
    ListEntry {
        score: it.score,
        words: passage(&it.content, look.query, WORDS_CHARS_MAX),
        about: format!("said by {speaker}, {}{of}", moment(&it.timestamp)),
        id: format!("{}{episode}", it.id),
        explain: it.explain.clone(),
        tells: BTreeSet::from([it.id.clone()]),
        terms: told,
        ..ListEntry::default()
    }
}

fn episode(it: &EpisodeItem, look: Look<'_>) -> ListEntry {
    let told = if it.summary.is_empty() {
        &it.episode
    } else {
        &it.summary
    };
    let words = sentence(&it.subject, told);
    let past = it.superseded_by.as_ref().map_or("", |_| "past ");
    let of = look.elsewhere(Some(&*it.project_id).filter(|project| *project != "default"));
    let shown = passage(&words, look.query, WORDS_CHARS_MAX);
    let about = format!("{past}episode, {}{of}", date(&it.timestamp));
    ListEntry {
        terms: term_set(&words),
        tells: it.message_ids.iter().cloned().collect(),
        ..ListEntry::new(it.score, shown, about, (&it.id, &it.path), it.explain.as_ref())
    }
}

fn fact(it: &FactItem, found: &SearchData, look: Look<'_>) -> ListEntry {
    let (kind, held) = validity(it, found);
    let since = held.unwrap_or_else(|| date(&it.timestamp));
    let of = match &it.project_id {
        Some(project) if it.project_only => format!(", only in project {project}"),
        of => look.elsewhere(of.as_deref()),
    };
    let (words, about) = (sentence(&it.subject, &it.content), format!("{kind}, {since}{of}"));
    ListEntry::new(it.score, words, about, (&it.id, &it.path), it.explain.as_ref())
}

/// Kind of a fact, past or not, and its beginning or end if the answer has one.
fn validity(it: &FactItem, found: &SearchData) -> (&'static str, Option<String>) {
    if let Some(newer) = &it.superseded_by {
        let newer = found.facts.iter().find(|fact| fact.id == *newer);
        let end = newer.map(|fact| fact.valid_from.as_ref().unwrap_or(&fact.timestamp));
        let end = end.or(it.valid_until.as_ref());
        return ("past fact", end.map(|end| format!("until {}", date(end))));
    }
    let since = it.valid_from.as_ref().map(|from| format!("since {}", date(from)));
    let until = it.valid_until.as_ref();
    let until = until.map(|until| format!("until {}", date(until)));
    let held: Vec<String> = since.into_iter().chain(until).collect();
    ("fact", (!held.is_empty()).then(|| held.join(", ")))
}

impl ListEntry {
    /// A memory with its id and its file.
    fn new(
        score: Option<f32>,
        words: String,
        about: String,
        (id, path): (&String, &String),
        explain: Option<&Explain>,
    ) -> Self {
        Self {
            score: score.unwrap_or_default(),
            words,
            about,
            id: format!("{id} {path}"),
            explain: explain.cloned(),
            ..Self::default()
        }
    }

    /// Adds a fact made from the listed message, if the fact adds something or is no longer valid.
    fn note(&mut self, it: &FactItem, found: &SearchData, look: Look<'_>) {
        let text = sentence(&it.subject, &it.content);
        // For a quotation, only the quoted text counts.
        let words = term_set(text.split_once(" says: \"").map_or(&*text, |(_, said)| said));
        let (kind, held) = validity(it, found);
        let holds = it.superseded_by.is_none() && it.valid_until.is_none();
        if !look.explain && holds && words.is_subset(&self.terms) {
            return;
        }
        self.terms.extend(words);
        let held = held.map_or_else(String::new, |held| format!(", {held}"));
        self.notes.push(format!("{kind}{held}: {text}"));
        if look.ids || look.explain {
            self.notes.push(format!("{} {}", it.id, it.path));
        }
        if let Some(explain) = it.explain.as_ref().filter(|_| look.explain) {
            self.notes.push(why(it.score.unwrap_or_default(), explain));
        }
    }

    fn shown(&self, rank: usize, look: Look<'_>) -> String {
        let mut lines = vec![wrapped(&format!("{rank:>2}. "), &self.words)];
        let mut add = |text: &str| lines.push(wrapped("    ", text));
        add(&self.about);
        if look.ids || look.explain {
            add(&self.id);
        }
        if let Some(explain) = self.explain.as_ref().filter(|_| look.explain) {
            add(&why(self.score, explain));
        }
        self.notes.iter().for_each(|note| add(note));
        lines.join("\n")
    }
}

fn why(score: f32, explain: &Explain) -> String {
    let it = explain;
    let time = it
        .time
        .map_or_else(|| "-".to_owned(), |time| format!("{time:.2}"));
    let terms = match it.terms.join(", ") {
        none if none.is_empty() => none,
        terms => format!(" ({terms})"),
    };
    let rerank = it
        .rerank
        .map_or_else(String::new, |rerank| format!("rerank {rerank:.3}, "));
    format!(
        "score {score:.2}: {rerank}keyword {:.2}{terms}, vector {:.2}, time {time}, freshness {:.2}, session {:.2}, \
         neighbours {:.2}",
        it.keyword, it.vector, it.freshness, it.session, it.neighbours
    )
}

#[cfg(test)]
mod tests;
