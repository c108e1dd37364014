//! Twenty seeds, more than two thousand sessions in all; the same seed gives the same run; and a short year.
//!
//! Owns: the seeds. Never: a part of a run.

use sim::{Plan, Report, YearPlan};

const STEPS: usize = 225;
/// Minimum number of sessions of each seed; together they make more than two thousand.
const SESSIONS_MIN: usize = 80;

fn run(seed: u64, steps: usize) -> Report {
    sim::run(Plan { seed, steps }).unwrap_or_else(|broken| panic!("{broken}"))
}

macro_rules! seeds {
    ($($name:ident = $seed:literal)*) => {$(
        #[test]
        fn $name() {
            let report = run($seed, STEPS);
            assert!(report.sessions >= SESSIONS_MIN, "{report}");
        }
    )*};
}

seeds! {
    seed_01 = 1 seed_02 = 2 seed_03 = 3 seed_04 = 4 seed_05 = 5
    seed_26 = 26 seed_07 = 7 seed_08 = 8 seed_09 = 9 seed_10 = 10
    seed_11 = 11 seed_12 = 12 seed_13 = 13 seed_14 = 14 seed_15 = 15
    seed_16 = 16 seed_17 = 17 seed_18 = 18 seed_19 = 19 seed_20 = 20
}

#[test]
fn the_same_seed_does_the_same() {
    assert_eq!(run(21, 100), run(21, 100));
    assert_ne!(run(22, 50).hash, run(23, 50).hash);
}

#[test]
fn a_short_year_keeps_its_promises() {
    let mut lines = Vec::new();
    let ended = sim::year(YearPlan { seed: 1, days: 20 }, &mut |line| lines.push(line));
    assert_eq!(ended, Ok(()), "{}", lines.join("\n"));
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("day 20: messages said: "))
    );
}
