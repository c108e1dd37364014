//! Duration of a search and an upsert, and memory per row: `cargo bench -p recall`.
//!
//! Owns: generated rows of realistic length and vocabulary. Never: quality (`eval offline` measures
//! that).
#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]
#![expect(clippy::print_stdout, reason = "a measurement's result is what it prints")]

use std::time::{Duration, Instant};

use model::{
    Content, Doc, DocKind, EntryKind, Message, MessageId, Name, Owner, Parent, ParentKind, Role, Scope,
    SenderId, SessionId, SessionKey, Timestamp, Zone,
};
use recall::{Corpus, Cosines, Hit, Method, Query, Weights};

const SESSION_TURNS: usize = 20;
const SEARCHES: usize = 200;
const DIMS: usize = 256;

/// Pseudo-random numbers, the same at every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A number from 0 to 1.
    fn share(&mut self) -> f64 {
        self.roll() as f64 / f64::from(u32::MAX >> 1)
    }

    /// Words with a natural skew: few are frequent, most are rare.
    fn text(&mut self, words: usize) -> String {
        let word = |_| format!("w{}", (8_000f64.powf(self.share())).round());
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    }

    fn vector(&mut self) -> Vec<f32> {
        #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
        let numbers = (0..DIMS).map(|_| self.share() as f32 - 0.5);
        numbers.collect()
    }
}

fn turn(number: usize, dice: &mut Dice) -> Doc {
    let session = number / SESSION_TURNS;
    let owner = Owner::user(Name::parse("ann").expect("a name"));
    let speaker = ["ann", "bob"][number % 2];
    let message = Message {
        id: MessageId::new(format!("m{number}")),
        session: SessionKey {
            scope: Scope::default(),
            session: SessionId::parse(&format!("s{session}")).expect("an id"),
        },
        sender: SenderId::parse(speaker).expect("a name"),
        sender_name: None,
        role: Role::User,
        time: Timestamp::from_millis(1_600_000_000_000 + i64::try_from(number).expect("few") * 60_000),
        content: Content::Text(dice.text(25)).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    };
    Doc {
        parent: Some(Parent {
            kind: ParentKind::Episode,
            id: format!("e{session}"),
        }),
        vector: Some(dice.vector().into()),
        ..Doc::of_message(&message, &owner)
    }
}

/// A session's turns, their episode, and a fact for every fourth turn. If `is_changing`, every
/// other turn has a fact too, which supersedes an older one.
fn rows(count: usize, is_changing: bool, dice: &mut Dice) -> Vec<Doc> {
    let mut rows = Vec::with_capacity(count);
    for number in 0.. {
        let turn = turn(number, dice);
        let entry = |id: String, kind: EntryKind, text: String| Doc {
            kind: DocKind::Entry(kind),
            role: None,
            speaker: None,
            text,
            key: model::DocKey {
                id: id.into(),
                ..turn.key.clone()
            },
            ..turn.clone()
        };
        if number % SESSION_TURNS == 0 {
            let text = dice.text(120);
            rows.push(Doc {
                parent: None,
                ..entry(format!("e{}", number / SESSION_TURNS), EntryKind::Episode, text)
            });
        }
        if number % 4 == 0 {
            rows.push(entry(format!("f{number}"), EntryKind::Fact, dice.text(8)));
        } else if is_changing {
            let older = format!("f{}", number.saturating_sub(40));
            rows.push(Doc {
                supersedes: vec![model::EntryId::new(older)],
                ..entry(format!("f{number}"), EntryKind::Fact, dice.text(8))
            });
        }
        rows.push(turn);
        if rows.len() >= count {
            rows.truncate(count);
            return rows;
        }
    }
    rows
}

/// Resident memory of the process in bytes; 0 if the system does not report it.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<usize>().ok());
    kibibytes.unwrap_or(0) * 1024
}

fn micros(start: Instant, count: usize) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / count as f64
}

fn main() {
    println!(
        "| rows | upsert µs | replace µs | keyword ms | vector ms | hybrid ms | of the best, found | bytes a row | resident |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let sizes = [1_000, 3_000, 10_000, 20_000, 50_000, 100_000].map(|count| (count, false));
    for (count, is_changing) in sizes.into_iter().chain([(20_000, true)]) {
        let mut dice = Dice(7);
        let rows = rows(count, is_changing, &mut dice);
        let mut corpus = Corpus::default();
        let before = resident_bytes();
        let start = Instant::now();
        for doc in &rows {
            corpus.upsert(doc.clone());
        }
        let upsert = micros(start, count);
        let resident = resident_bytes().saturating_sub(before) / count;
        let again: Vec<Doc> = rows.iter().step_by(count / 500).cloned().collect();
        let (start, replaced) = (Instant::now(), again.len());
        for doc in again {
            corpus.upsert(doc);
        }
        let replace = micros(start, replaced);
        let asked: Vec<(String, Vec<f32>)> = (0..SEARCHES).map(|_| (dice.text(6), dice.vector())).collect();
        let every_row = Weights {
            whole: f32::MAX,
            ..Weights::default()
        };
        let mut same = [0_usize; 2];
        let millis = [Method::Keyword, Method::Vector, Method::Hybrid].map(|method| {
            let mut searching = Duration::ZERO;
            for (text, vector) in &asked {
                let query = Query {
                    text,
                    vector: Some(vector),
                    cosines: Cosines::default(),
                    method,
                    filter: None,
                    asked_at: Timestamp::from_millis(1_700_000_000_000),
                    zone: &Zone::utc(),
                    as_of: None,
                    memories_max: 10,
                    messages_max: 10,
                    score_min: 0.0,
                };
                let start = Instant::now();
                let found = corpus.search(&query);
                searching += start.elapsed();
                assert!(found.messages.len() == 10, "every search finds something to rank");
                let best = corpus.search_weighted(&query, &every_row);
                let pairs = [(found.memories, best.memories), (found.messages, best.messages)];
                for (some, all) in pairs {
                    let is_found = |hit: &&Hit| some.iter().any(|other| other.doc.key == hit.doc.key);
                    same[0] += all.iter().filter(is_found).count();
                    same[1] += all.len();
                }
            }
            searching.as_secs_f64() * 1e3 / SEARCHES as f64
        });
        let [keyword, vector, hybrid] = millis;
        let bytes = corpus.bytes() / count;
        println!(
            "| {count}{} | {upsert:.1} | {replace:.1} | {keyword:.3} | {vector:.3} | {hybrid:.3} | {:.3} | {bytes} | {resident} |",
            if is_changing { ", changing" } else { "" },
            same[0] as f64 / same[1] as f64
        );
    }
}
