//! The guarantees of the format: any text is read back, appends work in any order, and damage by a
//! person or a crash hides only the damaged place.

mod fixtures;
mod hand;
mod hidden;
mod hostile;
mod merges;
mod names;
mod round_trip;
mod skills;
mod statements;
mod torn;

use model::{Entry, EntryId, EntryKind, Name, Origin, Owner, Scope, Timestamp, Zone};

use crate::{Parsed, Place, parse};

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn berlin() -> Zone {
    Zone::named("Europe/Berlin").expect("a zone")
}

const PATH: &str = "default/default/users/alice/episodes/2023-05-08.md";

fn place() -> Place {
    Place::of(PATH).expect("a place")
}

fn read(text: &str) -> Parsed {
    parse(text.as_bytes(), &place(), &berlin())
}

fn entries(parsed: &Parsed) -> Vec<Entry> {
    parsed
        .blocks
        .iter()
        .filter_map(|block| block.entry.clone())
        .collect()
}

fn problems(parsed: &Parsed) -> Vec<String> {
    let show = |problem: &crate::Problem| format!("{}: {}", problem.line, problem.reason);
    parsed.problems.iter().map(show).collect()
}

/// An entry with required fields only.
fn plain(id: &str, subject: &str, body: &str) -> Entry {
    let whose = (Scope::default(), Owner::user(name("alice")));
    let time = Timestamp::from_millis(1_683_547_200_000);
    Entry {
        subject: subject.to_owned(),
        body: body.to_owned(),
        ..Entry::new(EntryId::new(id), EntryKind::Episode, whose, time, Origin::User)
    }
}
