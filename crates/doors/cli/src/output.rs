//! What is printed: one JSON object for programs, lines for people, failures with what to do about them.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;

use serde::Serialize;
use serde_json::json;
use wire::{EpisodeItem, Explain, FactItem, GetData, SearchData};

use crate::error::{Exit, Failure};

/// How many characters of a memory a list shows.
const EXCERPT_CHARS_MAX: usize = 160;

/// One line on standard output.
pub(crate) fn line(text: fmt::Arguments<'_>) -> Result<(), Failure> {
    #[cfg(test)]
    tests::SAID.with_borrow_mut(|said| said.extend([&text.to_string(), "\n"]));
    written(writeln!(std::io::stdout(), "{text}"))
}

/// One JSON object on standard output.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?;
    line(format_args!("{text}"))
}

/// A reader that closed its end (`| head`) has seen enough; that is no failure.
pub(crate) fn written(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// A failure on standard error, as text or as one JSON object.
pub(crate) fn failure(failure: &Failure, as_json: bool) {
    let message = format!("{:#}", failure.error);
    let mut stderr = std::io::stderr();
    // Nothing is left to be done if standard error is closed too.
    if as_json {
        let code = match failure.exit {
            Exit::Usage => "INVALID_INPUT",
            Exit::NotFound => "NOT_FOUND",
            Exit::InUse => "IN_USE",
            _ => "FAILED",
        };
        let error = json!({"error": {"code": code, "message": message, "hint": failure.hint}});
        writeln!(stderr, "{error}").ok();
        return;
    }
    writeln!(stderr, "error: {message}").ok();
    if let Some(hint) = &failure.hint {
        writeln!(stderr, "hint: {hint}").ok();
    }
}

/// The answer to a search, for people.
pub(crate) fn found(found: &SearchData) -> Result<(), Failure> {
    let is_empty = found.episodes.is_empty()
        && found.facts.is_empty()
        && found.agent_cases.is_empty()
        && found.agent_skills.is_empty()
        && found.messages.is_empty();
    if is_empty {
        return line(format_args!("nothing found"));
    }
    if let Some(span) = &found.time_span {
        line(format_args!(
            "time: {} to {}",
            minute(&span.from),
            minute(&span.to)
        ))?;
    }
    for (rank, memory) in (1..).zip(ranked(found)) {
        match memory {
            Memory::Episode(episode) => show_episode(rank, episode)?,
            Memory::Fact(fact) => show_fact(rank, fact)?,
        }
    }
    for (rank, case) in (1..).zip(&found.agent_cases) {
        let (score, title) = (case.score.unwrap_or_default(), excerpt(&case.task_intent));
        line(format_args!(
            "case {rank}. {score:.2}  {}  {title}",
            day(&case.timestamp)
        ))?;
        line(format_args!("      {}  {}", case.id, case.path))?;
        why(case.explain.as_ref())?;
    }
    for (rank, skill) in (1..).zip(&found.agent_skills) {
        let (score, title) = (skill.score.unwrap_or_default(), excerpt(&skill.description));
        line(format_args!("skill {rank}. {score:.2}  {}: {title}", skill.name))?;
        line(format_args!("      {}  {}", skill.id, skill.path))?;
        why(skill.explain.as_ref())?;
    }
    for (rank, message) in (1..).zip(&found.messages) {
        let speaker = message.sender_name.as_ref().or(message.sender_id.as_ref());
        line(format_args!(
            "message {rank}. {:.2}  {}  {}: {}",
            message.score,
            minute(&message.timestamp),
            speaker.map_or("?", String::as_str),
            excerpt(&message.content)
        ))?;
        line(format_args!("      {}", message.id))?;
        why(message.explain.as_ref())?;
    }
    Ok(())
}

/// A memory that was found.
enum Memory<'a> {
    Episode(&'a EpisodeItem),
    Fact(&'a FactItem),
}

/// Episodes, and the facts that stand under none of them, best first; of two with one score the episode.
fn ranked(found: &SearchData) -> Vec<Memory<'_>> {
    let told: BTreeSet<&str> = found
        .episodes
        .iter()
        .flat_map(|episode| episode.atomic_facts.iter().flatten())
        .map(|fact| fact.id.as_str())
        .collect();
    let mut facts = found
        .facts
        .iter()
        .filter(|fact| !told.contains(fact.id.as_str()))
        .peekable();
    let mut ranked = Vec::new();
    for episode in &found.episodes {
        while let Some(fact) = facts.next_if(|fact| fact.score > episode.score) {
            ranked.push(Memory::Fact(fact));
        }
        ranked.push(Memory::Episode(episode));
    }
    ranked.extend(facts.map(Memory::Fact));
    ranked
}

fn show_episode(rank: usize, episode: &EpisodeItem) -> Result<(), Failure> {
    let title = titled(&episode.subject, &episode.episode);
    let score = episode.score.unwrap_or_default();
    line(format_args!(
        "{rank:>2}. {score:.2}  {}  episode: {title}",
        day(&episode.timestamp)
    ))?;
    if !episode.summary.is_empty() {
        line(format_args!("      {}", excerpt(&episode.summary)))?;
    }
    if let Some(newer) = &episode.superseded_by {
        line(format_args!("      no longer holds: superseded by {newer}"))?;
    }
    for fact in episode.atomic_facts.iter().flatten() {
        let ended = fact.superseded_by.as_ref().map_or("", |_| " (no longer holds)");
        line(format_args!("      · {}{ended}", excerpt(&fact.content)))?;
    }
    why(episode.explain.as_ref())?;
    line(format_args!("      {}  {}", episode.id, episode.path))
}

fn show_fact(rank: usize, fact: &FactItem) -> Result<(), Failure> {
    let title = titled(&fact.subject, &fact.content);
    let score = fact.score.unwrap_or_default();
    line(format_args!(
        "{rank:>2}. {score:.2}  {}  fact: {title}",
        day(&fact.timestamp)
    ))?;
    if let Some(newer) = &fact.superseded_by {
        line(format_args!("      no longer holds: superseded by {newer}"))?;
    }
    why(fact.explain.as_ref())?;
    line(format_args!("      {}  {}", fact.id, fact.path))
}

/// Nothing when the server was not asked why.
fn why(explain: Option<&Explain>) -> Result<(), Failure> {
    let Some(Explain {
        keyword,
        vector,
        time,
        freshness,
        session,
        neighbours,
        terms,
    }) = explain
    else {
        return Ok(());
    };
    let time = time.map_or_else(|| "-".to_owned(), |time| format!("{time:.2}"));
    let terms = if terms.is_empty() {
        String::new()
    } else {
        format!(" ({})", terms.join(", "))
    };
    line(format_args!(
        "      why: keyword {keyword:.2}{terms}, vector {vector:.2}, time {time}, freshness {freshness:.2}, session \
         {session:.2}, neighbours {neighbours:.2}"
    ))
}

/// A page of a listing, for people.
pub(crate) fn listed(listed: &GetData, kind: &str, owner: &str) -> Result<(), Failure> {
    for episode in &listed.episodes {
        let title = titled(&episode.subject, &episode.episode);
        line(format_args!(
            "{}  {}  {title}",
            day(&episode.timestamp),
            episode.id
        ))?;
    }
    for fact in &listed.facts {
        let title = titled(&fact.subject, &fact.content);
        line(format_args!("{}  {}  {title}", day(&fact.timestamp), fact.id))?;
    }
    for case in &listed.agent_cases {
        let quality = case.quality_score * 100.0;
        let title = excerpt(&case.task_intent);
        line(format_args!(
            "{}  {}  {quality:.0} %  {title}",
            day(&case.timestamp),
            case.id
        ))?;
    }
    line(format_args!(
        "{} of {} {kind}s of {owner}",
        listed.count, listed.total_count
    ))
}

/// One memory whole, for people.
pub(crate) fn memory(found: &GetData) -> Result<(), Failure> {
    let episodes = found
        .episodes
        .iter()
        .map(|e| (&e.subject, &e.timestamp, &e.id, &e.path, &e.episode));
    let facts = found
        .facts
        .iter()
        .map(|f| (&f.subject, &f.timestamp, &f.id, &f.path, &f.content));
    let cases = found
        .agent_cases
        .iter()
        .map(|c| (&c.task_intent, &c.timestamp, &c.id, &c.path, &c.approach));
    for (subject, timestamp, id, path, text) in episodes.chain(facts).chain(cases) {
        line(format_args!("{subject}\n{}  {id}  {path}\n", minute(timestamp)))?;
        line(format_args!("{text}"))?;
    }
    Ok(())
}

fn titled(subject: &str, text: &str) -> String {
    excerpt(if subject.is_empty() { text } else { subject })
}

/// The day of an instant as the API writes it, in the zone that it is written in.
fn day(instant: &str) -> &str {
    instant.get(..10).unwrap_or(instant)
}

/// The same to the minute.
fn minute(instant: &str) -> String {
    match (instant.get(..10), instant.get(11..16)) {
        (Some(day), Some(clock)) => format!("{day} {clock}"),
        _ => instant.to_owned(),
    }
}

/// The beginning of a text on one line.
fn excerpt(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

    thread_local! {
        /// What was printed, for tests of commands.
        pub(crate) static SAID: RefCell<String> = const { RefCell::new(String::new()) };
    }
}
