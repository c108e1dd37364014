//! The whole harness on two short talks: every bar that holds for any talk holds, and a run repeats to the
//! byte.

use std::cell::Cell;
use std::time::Duration;

use context_bench::bench::{Report, STEPS, Size, run};
use context_bench::talk::{TYPES, Talk};

#[path = "../../../crates/transcript/tests/it/anthropic.rs"]
mod anthropic;

/// A clock that advances at each reading, the same in every run.
fn report(steps: &mut Vec<&'static str>) -> Report {
    let ticks = Cell::new(0);
    let clock = || {
        ticks.set(ticks.get() + 1);
        Duration::from_micros(ticks.get())
    };
    run(&Size::tiny(), &clock, &mut |step| steps.push(step))
}

#[test]
fn every_bar_without_a_clock_holds() {
    let mut steps = Vec::new();
    let report = report(&mut steps);
    assert_eq!(steps, STEPS);
    let missed: Vec<_> = report
        .bars
        .iter()
        .filter(|bar| !bar.soft && !bar.holds())
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let ids = [
        "B1", "B2", "B3", "B6", "B8", "B9", "B10", "B11", "B12", "B16", "bars",
    ];
    for id in ids {
        assert!(report.tables.iter().any(|table| table.id == id), "{id}");
    }
    for table in &report.tables {
        let odd = table.rows.iter().find(|row| row.len() != table.columns.len());
        assert_eq!(odd, None, "{}", table.title);
        assert!(!table.rows.is_empty(), "{}", table.title);
    }
}

#[test]
fn each_needle_is_in_the_item_that_it_names_and_a_talk_repeats() {
    for seed in 0..6 {
        let talk = Talk::of(seed, 80, 20);
        for needle in &talk.needles {
            let says = context_bench::survival::seen(
                std::slice::from_ref(needle),
                &talk.items[needle.item..=needle.item],
            );
            assert_eq!(says, [true], "{needle:?}");
            assert_eq!(talk.items[needle.item].role, needle.role);
        }
        let kinds = (0..TYPES.len()).filter(|kind| talk.needles.iter().any(|needle| needle.kind == *kind));
        assert_eq!(kinds.count(), TYPES.len());
        assert_eq!(talk.items, Talk::of(seed, 80, 20).items);
        assert!(transcript::order::openai(&talk.items));
        assert!(anthropic::anthropic(&talk.items));
    }
}
