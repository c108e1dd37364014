//! All measures in one run, and the bars.
//!
//! Owns: the size of the run, and the bars. Never: a measure.

use context::plan::Effort;
use context::tokens::Meter;
use transcript::Item;

use crate::speed::Clock;
use crate::strategy::LEGACY;
use crate::survival::LIMIT_MAIN;
use crate::table::{Table, number, text};
use crate::talk::Talk;
use crate::{converge, cost, mend, rank, recovery, rules, speed, survival};

/// The size of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    pub talks: usize,
    pub talk_items: usize,
    pub needles: usize,
    /// Talks replayed request by request, the slowest measure.
    pub replays: usize,
    /// Lengths of the timed talks.
    pub lengths: Vec<usize>,
    /// Talks for the rankers.
    pub ranked: u64,
}

impl Size {
    /// The size of the published figures.
    pub fn full() -> Self {
        Self {
            talks: 8,
            talk_items: 240,
            needles: 40,
            replays: 4,
            lengths: vec![1_000, 10_000, 100_000],
            ranked: 80,
        }
    }

    /// For a test: every measure, on very little data.
    pub fn tiny() -> Self {
        Self {
            talks: 2,
            talk_items: 60,
            needles: 20,
            replays: 1,
            lengths: vec![300],
            ranked: 2,
        }
    }
}

/// A number and the bound that it must meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    pub value: f64,
    pub bar: f64,
    /// The number must be at least the bar; else at most the bar.
    pub at_least: bool,
    /// The number depends on the machine, or on the size of the run.
    pub soft: bool,
}

impl Bar {
    pub fn holds(&self) -> bool {
        if self.at_least {
            self.value >= self.bar
        } else {
            self.value <= self.bar
        }
    }
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub tables: Vec<Table>,
    pub bars: Vec<Bar>,
}

/// The names of the measures, in order.
pub const STEPS: [&str; 8] = [
    "survival", "recovery", "rules", "speed", "cost", "convergence", "repair", "ranking",
];

/// Runs every measure; calls `step` with the name of each one before it begins.
pub fn run(size: &Size, clock: Clock<'_>, step: &mut dyn FnMut(&'static str)) -> Report {
    step(STEPS[0]);
    let meter = Meter::estimate();
    let talk = |seed| Talk::of(seed, size.talk_items, size.needles);
    let talks: Vec<Talk> = (0..).map(talk).take(size.talks).collect();
    let replayed = &talks[..size.replays.min(talks.len())];
    let mut report = Report {
        tables: Vec::new(),
        bars: Vec::new(),
    };
    report.survival(&survival::measure(&talks, &meter));
    step(STEPS[1]);
    report.recovery(&recovery::measure(&talks, &meter));
    step(STEPS[2]);
    report.rules(&rules::measure(&talks, &meter));
    step(STEPS[3]);
    report.speed(&speed::measure(&talks, &size.lengths, &meter, clock));
    step(STEPS[4]);
    report.cost(&cost::measure(replayed, &meter));
    step(STEPS[5]);
    report.converge(&converge::measure(replayed, &meter));
    step(STEPS[6]);
    report.mend(&mend::measure(&talks, clock));
    step(STEPS[7]);
    let ranked: Vec<Vec<Item>> = (0..size.ranked).map(rank::session).collect();
    report.tables.push(rank::table(&rank::measure(&ranked)));
    report.tables.push(report.summary());
    report
}

impl Report {
    fn hard(&mut self, name: &str, value: f64, bar: f64, at_least: bool) {
        self.bars.push(Bar {
            name: name.to_owned(),
            value,
            bar,
            at_least,
            soft: false,
        });
    }

    fn soft(&mut self, name: &str, value: f64, bar: f64, at_least: bool) {
        self.hard(name, value, bar, at_least);
        if let Some(last) = self.bars.last_mut() {
            last.soft = true;
        }
    }

    fn survival(&mut self, survival: &survival::Survival) {
        self.tables.extend(survival.tables());
        let (ours, legacy) = (survival.percent("quipu"), survival.percent(LEGACY));
        self.hard(
            "B1 needles seen at 25 %, against twice code-buddy's, %",
            ours,
            2.0 * legacy,
            true,
        );
        let failed = survival.failed_ours as f64;
        self.hard(
            "B1 requests of ours without a view in its limit",
            failed,
            0.0,
            false,
        );
    }

    fn recovery(&mut self, recoveries: &[recovery::Recovery]) {
        self.tables.push(recovery::table(recoveries));
        let least = recoveries
            .iter()
            .map(|recovery| recovery.by_id.percent())
            .fold(100.0, f64::min);
        self.hard("B2 recoverable by id, %", least, 100.0, true);
    }

    fn rules(&mut self, kept: &[rules::Kept]) {
        self.tables.push(rules::table(kept));
        let least = kept
            .iter()
            .map(|kept| kept.pinned.percent())
            .fold(100.0, f64::min);
        let promoted = kept.iter().map(|kept| kept.promoted).sum::<usize>() as f64;
        self.hard("B3 pinned rules in view, %", least, 100.0, true);
        self.hard("B3 rules promoted from tools' output", promoted, 0.0, false);
    }

    fn speed(&mut self, speeds: &[speed::Speed]) {
        self.tables.extend(speed::tables(speeds));
        if let Some(longest) = speeds.last() {
            self.soft(
                "B6 assemble p99 in the longest talk, ms",
                longest.assemble.ms_at(0.99),
                1.0,
                false,
            );
            self.soft("B8 compaction, tokens/s", longest.tokens_per_second(), 5e6, true);
        }
    }

    fn cost(&mut self, rows: &[cost::Row]) {
        self.tables.extend(cost::tables(rows));
        let ours = rows
            .iter()
            .find(|row| row.name == "quipu" && row.limit == LIMIT_MAIN);
        if let Some((ours, rival)) = ours.and_then(|ours| Some((ours, cost::rival(rows, ours)?))) {
            let name = format!(
                "B9 price of quipu at 25 %, against {} at {} %",
                rival.name, rival.limit
            );
            self.soft(&name, ours.cost.price(), rival.cost.price(), false);
        }
    }

    fn converge(&mut self, outcomes: &[converge::Outcome]) {
        self.tables.push(converge::table(outcomes));
        let most = outcomes.iter().map(|outcome| outcome.rounds_max).max();
        let bad: usize = outcomes
            .iter()
            .map(|outcome| outcome.grown + outcome.over + outcome.escaped)
            .sum();
        self.hard(
            "B11 attempts at one request",
            most.unwrap_or(0) as f64,
            std::iter::successors(Some(Effort::Mask), |effort| effort.harder()).count() as f64,
            false,
        );
        self.hard(
            "B11 growths, views over the limit, broken wrappers",
            bad as f64,
            0.0,
            false,
        );
    }

    fn mend(&mut self, mended: &mend::Mended) {
        self.tables.push(mend::table(mended));
        let bad = (mended.refused + mended.unstable) as f64;
        self.hard(
            "B12 repaired transcripts that a provider refuses",
            bad,
            0.0,
            false,
        );
    }

    /// The bars as a table.
    fn summary(&self) -> Table {
        let row = |bar: &Bar| {
            vec![
                text(&bar.name),
                number(bar.value, 2),
                text(if bar.at_least { "at least" } else { "at most" }),
                number(bar.bar, 2),
                text(if bar.holds() { "yes" } else { "no" }),
            ]
        };
        Table::new(
            "bars",
            "what must hold",
            ["measure", "value", "must be", "bar", "holds"],
            self.bars.iter().map(row).collect(),
        )
    }
}
