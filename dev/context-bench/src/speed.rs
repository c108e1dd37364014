//! B6 and B8: the time of a view in talks of any length, the time of opening a talk, and the speed of
//! compaction.
//!
//! Owns: the timed work. Never: the clock; the caller passes it.

use std::sync::Arc;
use std::time::Duration;

use context::budget::Budget;
use context::event::ViewEvent;
use context::plan::Trigger;
use context::policy::Policy;
use context::record;
use context::session::Session;
use context::tokens::Meter;
use transcript::{Item, Role};

use crate::table::{Table, count, number};
use crate::talk::Talk;
use crate::tally::Times;

/// The current time, from any origin.
pub type Clock<'a> = &'a dyn Fn() -> Duration;

/// The window of the timed talks, in tokens.
pub const WINDOW: usize = 128_000;
/// Views are timed among this many newest items.
const SAMPLES: usize = 500;

/// One length of talk.
#[derive(Debug, Clone, Default)]
pub struct Speed {
    pub items: usize,
    /// Pieces in the view at the end.
    pub pieces: usize,
    /// A view, while the session is in memory.
    pub assemble: Times,
    /// One compaction, from the decision to the new state of the view.
    pub compact: Times,
    /// Tokens that compactions removed from the view.
    pub compacted_tokens: usize,
    /// Reading the records, and building the session from them.
    pub read: Duration,
    pub restore: Duration,
    /// Size of the records.
    pub bytes: usize,
}

/// A talk of each length; the items of `talks` are repeated as often as needed.
pub fn measure(talks: &[Talk], lengths: &[usize], meter: &Meter, clock: Clock<'_>) -> Vec<Speed> {
    lengths
        .iter()
        .map(|length| Speed::of(talks, *length, meter, clock))
        .collect()
}

impl Speed {
    fn of(talks: &[Talk], items: usize, meter: &Meter, clock: Clock<'_>) -> Self {
        let mut speed = Self {
            items,
            ..Self::default()
        };
        let mut session = Session::new(Policy::quipu(), meter.clone());
        let mut records: Vec<String> = Vec::with_capacity(items);
        let talk = talks.iter().flat_map(|talk| &talk.items).cycle().take(items);
        for (index, item) in talk.enumerate() {
            if item.role == Role::Assistant {
                speed.fit(&mut session, &mut records, clock);
                if index + SAMPLES >= items {
                    let start = clock();
                    let view = session.assemble(&Budget::view(WINDOW));
                    speed.assemble.add(clock().saturating_sub(start));
                    debug_assert!(view.is_ok());
                }
            }
            let event = session.arrival(Arc::<Item>::clone(item));
            records.push(record::write(&event));
            session.apply(&event);
        }
        speed.pieces = session.frontier().len();
        speed.open(&records, meter, clock);
        speed
    }

    fn fit(&mut self, session: &mut Session, records: &mut Vec<String>, clock: Clock<'_>) {
        let budget = Budget::view(WINDOW);
        if session.tokens() < session.inputs(&budget).threshold {
            return;
        }
        let start = clock();
        let attempts = session.fit(&budget, Trigger::Auto, |event| {
            if let ViewEvent::Node(node) = event {
                self.compacted_tokens += node.tokens_before;
            }
            records.push(record::write(event));
        });
        if !attempts.is_empty() {
            self.compact.add(clock().saturating_sub(start));
        }
    }

    fn open(&mut self, records: &[String], meter: &Meter, clock: Clock<'_>) {
        self.bytes = records.iter().map(String::len).sum();
        let start = clock();
        let log: Vec<ViewEvent> = records
            .iter()
            .filter_map(|line| record::read(line).ok())
            .collect();
        self.read = clock().saturating_sub(start);
        let start = clock();
        let session = Session::restore(Policy::quipu(), meter.clone(), log);
        self.restore = clock().saturating_sub(start);
        debug_assert_eq!(session.frontier().len(), self.pieces);
    }

    /// Tokens that compaction processes in a second.
    pub fn tokens_per_second(&self) -> f64 {
        self.compacted_tokens as f64 / self.compact.sum().as_secs_f64()
    }
}

/// Latency, and throughput.
pub fn tables(speeds: &[Speed]) -> [Table; 2] {
    let latency = |speed: &Speed| {
        vec![
            count(speed.items),
            count(speed.pieces),
            number(speed.assemble.ms_at(0.50), 3),
            number(speed.assemble.ms_at(0.99), 3),
            number(speed.read.as_secs_f64() * 1e3, 1),
            number(speed.restore.as_secs_f64() * 1e3, 1),
            number(speed.bytes as f64 / 1e6, 1),
        ]
    };
    let throughput = |speed: &Speed| {
        vec![
            count(speed.items),
            count(speed.compact.len()),
            number(speed.tokens_per_second() / 1e6, 1),
            number(speed.compact.ms_at(0.50), 1),
            number(speed.compact.ms_at(0.99), 1),
            number(speed.compact.ms_at(1.0), 1),
        ]
    };
    [
        Table::new(
            "B6",
            "a view of a session in memory, and opening one from its records; window 128,000 tokens",
            [
                "items",
                "pieces in view",
                "assemble p50, ms",
                "p99, ms",
                "read records, ms",
                "restore, ms",
                "records, MB",
            ],
            speeds.iter().map(latency).collect(),
        ),
        Table::new(
            "B8",
            "compaction without a model",
            [
                "items",
                "compactions",
                "million tokens/s",
                "blocks p50, ms",
                "p99, ms",
                "most, ms",
            ],
            speeds.iter().map(throughput).collect(),
        ),
    ]
}
