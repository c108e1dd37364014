//! The sizes of everything after some days, the real time of some requests, and the growth between two days.
//!
//! Owns: the measures and their lines. Never: a check, or an action of a person.

#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use memory::{List, Standing};
use model::{EntryKind, Page, Scope, SessionId, SessionKey};
use ports::Pages as _;

use super::{Year, sentences};
use crate::world::Held;

/// Name of the measure that the others are compared with.
const MESSAGES: &str = "messages kept";
/// A size that grew by this many times the growth of the messages grew faster.
const FASTER: f64 = 1.05;
/// Characters of a token, as an estimate.
const TOKEN_CHARS: usize = 4;
/// Sentences of the measured add; each has an answer.
const ADDED: usize = 5;

/// A measure with its unit.
#[derive(Debug, Clone)]
struct Size {
    name: String,
    value: u64,
    unit: &'static str,
}

/// The sizes after a day.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    day: u32,
    all: Vec<Size>,
}

impl Sizes {
    fn add(&mut self, name: impl Into<String>, value: u64, unit: &'static str) {
        self.all.push(Size {
            name: name.into(),
            value,
            unit,
        });
    }

    fn count(&mut self, name: impl Into<String>, count: usize) {
        self.add(name, count as u64, "");
    }

    fn time(&mut self, name: impl Into<String>, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.add(name, micros, "µs");
    }

    fn of(&self, name: &str) -> Option<u64> {
        let found = self.all.iter().find(|size| size.name == name);
        found.map(|size| size.value)
    }
}

/// Lines about the growth between the last two measured days.
pub(super) fn growth(measured: &[Sizes]) -> Vec<String> {
    let [.., earlier, later] = measured else {
        return Vec::new();
    };
    let ratio = |name: &str| {
        let (before, after) = (earlier.of(name)?, later.of(name)?);
        (before > 0).then(|| after as f64 / before as f64)
    };
    let of_messages = ratio(MESSAGES).unwrap_or(1.0);
    let mut lines = Vec::new();
    for size in &later.all {
        let days = format!("growth, day {} / day {}", later.day, earlier.day);
        let name = &size.name;
        lines.push(match ratio(name) {
            Some(own) if own > of_messages * FASTER => {
                format!("{days}: {name} {own:.2}, messages {of_messages:.2}: FASTER THAN THE MESSAGES")
            }
            Some(own) => format!("{days}: {name} {own:.2}, messages {of_messages:.2}"),
            None => format!("{days}: {name} from nothing to {} {}", size.value, size.unit),
        });
    }
    lines
}

impl Year<'_> {
    /// The night before a measured day ends, and the measures after it.
    pub(super) async fn mark(&mut self) -> Held {
        let mut sizes = Sizes {
            day: self.day,
            all: Vec::new(),
        };
        let began = Instant::now();
        self.pass_until(Duration::ZERO).await?;
        let night = began.elapsed();
        self.settle().await?;
        self.count_memory(&mut sizes).await?;
        self.count_files(&mut sizes);
        self.count_ledger(&mut sizes)?;
        sizes.count("rows in the index", self.world.index.rows().len());
        sizes.time("time of a night", night);
        self.take_times(&mut sizes).await?;
        for size in &sizes.all {
            let line = format!("day {}: {}: {} {}", self.day, size.name, size.value, size.unit);
            (self.tell)(line.trim_end().to_owned());
        }
        self.sizes.push(sizes);
        Ok(())
    }

    async fn count_memory(&self, sizes: &mut Sizes) -> Held {
        sizes.count("messages said", self.said);
        sizes.count(MESSAGES, self.said - self.forgotten - self.left_out);
        sizes.count("messages taken for forgotten ones", self.left_out);
        let kinds = [
            (EntryKind::Episode, "episodes"),
            (EntryKind::Fact, "facts"),
            (EntryKind::Foresight, "upcoming events"),
            (EntryKind::Profile, "profile statements"),
        ];
        let engine = self.engine();
        for (kind, name) in kinds {
            let (mut all, mut current) = (0, 0);
            for person in &self.people {
                let mut list = List::all(Scope::default(), person.owner.clone(), kind);
                all += self.answer(engine.list(list.clone())).await?.total;
                list.standing = Some(Standing::Current);
                current += self.answer(engine.list(list)).await?.total;
            }
            sizes.count(name, all);
            sizes.count(format!("{name} that hold"), current);
        }
        for person in &self.people {
            let mut chars = 0;
            for page in Page::ALL {
                let path = self.world.vault.path_of(&Scope::default(), &person.owner, page);
                chars += self.text_of(&path)?.chars().count();
            }
            let name = format!("core memory of {}", person.owner.id);
            sizes.add(name, (chars / TOKEN_CHARS) as u64, "tokens");
        }
        Ok(())
    }

    fn count_files(&self, sizes: &mut Sizes) {
        let vault = &self.world.vault;
        let bytes_of = |path: &str| vault.bytes(path).map_or(0, |bytes| bytes.len() as u64);
        let mut pages = Vec::new();
        for person in &self.people {
            pages.extend(Page::ALL.map(|page| vault.path_of(&Scope::default(), &person.owner, page)));
        }
        let paths = vault.paths();
        pages.retain(|page| paths.contains(page));
        sizes.count("pages", pages.len());
        sizes.add(
            "all pages",
            pages.iter().map(|path| bytes_of(path)).sum(),
            "bytes",
        );
        let markdown = || {
            paths
                .iter()
                .filter(|path| Path::new(&***path).extension().is_some_and(|end| end == "md"))
        };
        sizes.count("Markdown files", markdown().count());
        sizes.add(
            "all Markdown",
            markdown().map(|path| bytes_of(path)).sum(),
            "bytes",
        );
    }

    fn count_ledger(&self, sizes: &mut Sizes) -> Held {
        let Some((ledger, folder)) = self.world.ledger_place() else {
            return Ok(());
        };
        let bytes = fs::metadata(ledger).map_or(0, |about| about.len());
        sizes.add("ledger's file", bytes, "bytes");
        let files = files_under(folder);
        let all = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        sizes.add("ledger's folder with its daily copies", all, "bytes");
        let tables =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
        for table in texts(ledger, tables)? {
            let rows = texts(ledger, &format!("SELECT CAST(count(*) AS TEXT) FROM \"{table}\""))?;
            let rows = rows.first().and_then(|rows| rows.parse().ok());
            sizes.add(format!("rows of {table}"), rows.unwrap_or_default(), "");
        }
        Ok(())
    }

    /// Measures a start, a search and an add of ten messages.
    async fn take_times(&mut self, sizes: &mut Sizes) -> Held {
        if !self.world.stop().await? {
            return Err("the process does not stop".to_owned());
        }
        let began = Instant::now();
        self.start().await?;
        sizes.time("time of a start", began.elapsed());
        let began = Instant::now();
        self.settle().await?;
        sizes.time(
            "time from a start until every file is searchable",
            began.elapsed(),
        );
        let owner = self.people[0].owner.clone();
        for name in ["time of the first search after a start", "time of a search"] {
            let query = sentences::question(&self.dice);
            let began = Instant::now();
            self.search(&owner, &query).await?;
            sizes.time(name, began.elapsed());
        }
        let session = SessionKey {
            scope: Scope::default(),
            session: SessionId::new(format!("{}-{}-ten", owner.id, self.day)),
        };
        let lines: [(String, String); ADDED] =
            std::array::from_fn(|_| (sentences::statement(&self.dice), sentences::reply(&self.dice)));
        let began = Instant::now();
        self.say(0, &session, &lines).await?;
        sizes.time("time of an add of ten messages", began.elapsed());
        self.calm().await
    }
}

/// The first column of each row of a query.
fn texts(ledger: &Path, query: &str) -> Held<Vec<String>> {
    let mut texts = Vec::new();
    let mut take = |text| {
        texts.push(text);
        true
    };
    ledger::foreign::values(ledger, query, &mut take)
        .map_err(|error| format!("the ledger cannot be read: {error}"))?;
    Ok(texts)
}

/// Every file of a folder, with its path and its bytes.
pub(super) fn files_under(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for found in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = found.path();
        if path.is_dir() {
            files.extend(files_under(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            files.push((path.display().to_string(), bytes));
        }
    }
    files.sort();
    files
}
