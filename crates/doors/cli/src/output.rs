//! What is printed: one JSON object for programs, lines for people, failures with what to do about them.

use std::fmt;
use std::io::Write;

use engine::{Found, Hit, Why};
use model::{DocKind, EntryKind, Zone};
use serde::Serialize;
use serde_json::json;

use crate::error::{Exit, Failure};

/// How many characters of a memory a list shows.
const EXCERPT_CHARS_MAX: usize = 160;

/// One line on standard output.
pub(crate) fn line(text: fmt::Arguments<'_>) -> Result<(), Failure> {
    written(writeln!(std::io::stdout(), "{text}"))
}

/// One JSON object on standard output.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?;
    line(format_args!("{text}"))
}

/// A reader that closed its end (`| head`) has seen enough; that is no failure.
fn written(result: std::io::Result<()>) -> Result<(), Failure> {
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
pub(crate) fn found(found: &Found, zone: &Zone, explain: bool) -> Result<(), Failure> {
    if found.memories.is_empty() && found.messages.is_empty() {
        return line(format_args!("nothing found"));
    }
    if let Some((from, to)) = found.span {
        line(format_args!(
            "time: {} to {}",
            zone.render_short(from),
            zone.render_short(to)
        ))?;
    }
    for (rank, hit) in (1..).zip(&found.memories) {
        memory(rank, hit, zone, explain)?;
    }
    for (rank, hit) in (1..).zip(&found.messages) {
        let speaker = hit.doc.speaker.as_deref().unwrap_or("?");
        let when = zone.render_short(hit.doc.time);
        line(format_args!(
            "message {rank}. {:.2}  {when}  {speaker}: {}",
            hit.score,
            excerpt(&hit.doc.text)
        ))?;
        line(format_args!("      {}", hit.doc.key.id))?;
        why(hit, explain)?;
    }
    Ok(())
}

fn memory(rank: usize, hit: &Hit, zone: &Zone, explain: bool) -> Result<(), Failure> {
    let doc = &hit.doc;
    let kind = match doc.kind {
        DocKind::Entry(EntryKind::Episode) => "episode",
        DocKind::Entry(EntryKind::Fact) => "fact",
        DocKind::Turn => "message",
    };
    let date = zone.date(doc.time);
    let title = if doc.subject.is_empty() {
        excerpt(&doc.text)
    } else {
        excerpt(&doc.subject)
    };
    line(format_args!(
        "{rank:>2}. {:.2}  {date}  {kind}: {title}",
        hit.score
    ))?;
    if !doc.summary.is_empty() {
        line(format_args!("      {}", excerpt(&doc.summary)))?;
    }
    if let Some(newer) = &hit.superseded_by {
        line(format_args!("      no longer holds: superseded by {newer}"))?;
    }
    for fact in &hit.facts {
        let ended = fact.superseded_by.as_ref().map_or("", |_| " (no longer holds)");
        line(format_args!("      · {}{ended}", excerpt(&fact.doc.text)))?;
    }
    why(hit, explain)?;
    line(format_args!("      {}  {}", doc.key.id, doc.path))
}

fn why(hit: &Hit, explain: bool) -> Result<(), Failure> {
    if !explain {
        return Ok(());
    }
    let Why {
        keyword,
        vector,
        time,
        freshness,
        session,
        neighbours,
        terms,
    } = &hit.why;
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

/// The beginning of a text on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}
