//! Output: one JSON object for programs, lines for people, errors with hints.

mod found;
mod layout;
mod reply;
mod terminal;

use std::fmt;
use std::io::{IsTerminal as _, Write};

use gateway::wire::{FactItem, GetData};
use model::text::counted;
use serde::Serialize;
use serde_json::json;

pub(crate) use found::{Look, found};
pub(crate) use layout::{around, date, wrapped};
pub(crate) use reply::reply;
pub(crate) use terminal::{TableCell, Tone, err, harmless, is_coloured, out, table};

use crate::error::{Exit, Failure};

/// Maximum characters of a memory in a list.
const EXCERPT_CHARS_MAX: usize = 160;

/// Prints one line on standard output.
pub(crate) fn line(text: fmt::Arguments<'_>) -> Result<(), Failure> {
    #[cfg(test)]
    tests::SAID.with_borrow_mut(|said| said.extend([&text.to_string(), "\n"]));
    written(writeln!(std::io::stdout(), "{text}"))
}

/// Prints one line on standard output, with the syntax of `println!`.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// Prints one JSON object on standard output.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)?;
    say!("{text}")
}

/// A reader that closed its end (`| head`) has enough; this is not an error.
pub(crate) fn written(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a line for a person on standard error, which programs do not read.
pub(crate) fn aside(text: &str) {
    // A closed standard error loses nothing important.
    writeln!(std::io::stderr(), "{text}").ok();
}

/// Asks the person at the terminal; without a terminal, the answer is no.
pub(crate) fn agreed(question: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    write!(std::io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Prints a failure on standard error, as text or as one JSON object.
pub(crate) fn failure(failure: &Failure, as_json: bool) {
    let message = format!("{:#}", failure.error);
    let mut stderr = std::io::stderr();
    // If standard error is closed too, nothing is left to do.
    if as_json {
        let code = match failure.exit {
            Exit::Usage => "INVALID_INPUT",
            Exit::NotFound => "NOT_FOUND",
            Exit::InUse => "IN_USE",
            Exit::Interrupted => "INTERRUPTED",
            _ => "FAILED",
        };
        let error = json!({"error": {"code": code, "message": message, "hint": failure.hint}});
        writeln!(stderr, "{error}").ok();
        return;
    }
    if failure.exit == Exit::Interrupted {
        aside(&message);
    } else {
        writeln!(stderr, "{} {message}", err(Tone::Bad, "error:")).ok();
    }
    if let Some(hint) = &failure.hint {
        writeln!(stderr, "{} {hint}", err(Tone::Strong, "hint:")).ok();
    }
}

/// Prints a page of a list as text. `page`: its number, and the page size.
pub(crate) fn listed(
    listed: &GetData,
    kind: &str,
    owner: &str,
    (page, page_size): (u32, u16),
) -> Result<(), Failure> {
    let episodes = listed.episodes.iter().map(|it| {
        let title = titled(&it.subject, &it.episode);
        (&it.timestamp, &it.id, title)
    });
    let facts = listed.facts.iter().map(|it| {
        let title = titled(&it.subject, &it.content);
        let ended = ended(it).map_or_else(String::new, |ended| format!("({ended}) "));
        (&it.timestamp, &it.id, ended + &title)
    });
    let cases = listed.agent_cases.iter().map(|it| {
        let (quality, intent) = (it.quality_score * 100.0, titled("", &it.task_intent));
        (&it.timestamp, &it.id, format!("{quality:.0} %  {intent}"))
    });
    let events = listed.foresights.iter().map(|it| {
        let title = titled("", &it.content);
        (it.start_time.as_ref().unwrap_or(&it.timestamp), &it.id, title)
    });
    let rows = episodes.chain(facts).chain(cases).chain(events);
    let rows = rows.map(|(at, id, title)| [day(at), id, &title].map(TableCell::text));
    table(["day", "id", kind], rows)?;
    for (id, subject, text) in statements(listed) {
        say!("{id}  {subject}: {}", titled("", text))?;
    }
    let all = counted(listed.total_count, kind, &format!("{kind}s"));
    let has_more = listed.total_count > page as usize * usize::from(page_size);
    let more = has_more.then(|| format!("; `--page {}` shows more", page + 1));
    say!("{} of {all} of {owner}{}", listed.count, more.unwrap_or_default())
}

/// Prints a full memory as text.
pub(crate) fn memory(found: &GetData) -> Result<(), Failure> {
    let one = |subject: &str, [at, id, path]: [&String; 3], reach: &str, text: &str| {
        say!("{subject}\n{}  {id}  {path}\n{reach}\n{text}", minute(at))
    };
    for e in &found.episodes {
        one(&e.subject, [&e.timestamp, &e.id, &e.path], "", &e.episode)?;
    }
    for f in &found.facts {
        one(&f.subject, [&f.timestamp, &f.id, &f.path], &reach(f), &f.content)?;
    }
    for c in &found.agent_cases {
        one(&c.task_intent, [&c.timestamp, &c.id, &c.path], "", &c.approach)?;
    }
    for f in &found.foresights {
        let from = f.start_time.as_deref();
        let from = from.map_or_else(String::new, |at| format!("from {}\n", minute(at)));
        one(&f.content, [&f.timestamp, &f.id, &f.path], &from, &f.evidence)?;
    }
    statements(found).try_for_each(|(id, subject, text)| say!("{subject}\n{id}\n\n{text}"))
}

/// The end of a fact that no longer holds.
fn ended(fact: &FactItem) -> Option<String> {
    let until = fact
        .valid_until
        .as_ref()
        .map(|until| format!("until {}", day(until)));
    until.or_else(|| Some(format!("replaced by {}", fact.superseded_by.as_ref()?)))
}

/// Lines with the project of a fact and the end of the fact.
fn reach(fact: &FactItem) -> String {
    let project = fact.project_id.as_deref().unwrap_or("default");
    let ended = ended(fact).map_or_else(String::new, |ended| format!("{ended}\n"));
    let place = if fact.project_only {
        "only in"
    } else {
        "in every project, from"
    };
    format!("{ended}holds {place} project {project}\n")
}

/// Statements of profiles: id, subject, text.
fn statements(data: &GetData) -> impl Iterator<Item = (&str, &str, &str)> {
    data.profiles.iter().flat_map(|profile| {
        let said = profile.profile_data.explicit_info.iter();
        let said = said.map(|it| (&*it.id, &*it.category, &*it.description));
        let shown = profile.profile_data.implicit_traits.iter();
        said.chain(shown.map(|it| (&*it.id, &*it.name, &*it.description)))
    })
}

fn titled(subject: &str, text: &str) -> String {
    model::excerpt(if subject.is_empty() { text } else { subject }, EXCERPT_CHARS_MAX)
}

/// The date of an API timestamp, in the timestamp's zone.
fn day(instant: &str) -> &str {
    instant.get(..10).unwrap_or(instant)
}

/// Date and time to the minute, in the timestamp's zone.
fn minute(instant: &str) -> String {
    match (instant.get(..10), instant.get(11..16)) {
        (Some(day), Some(clock)) => format!("{day} {clock}"),
        _ => instant.to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

    thread_local! {
        /// The output of commands, for their tests.
        pub(crate) static SAID: RefCell<String> = const { RefCell::new(String::new()) };
    }
}
