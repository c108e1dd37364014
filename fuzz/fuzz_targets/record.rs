//! Any lines: each is an event or refused; an event is written and read the same, and a session takes them all in.

#![no_main]

use context::budget::Budget;
use context::plan::Trigger;
use context::policy::Policy;
use context::record;
use context::session::Session;
use context::tokens::Meter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let events: Vec<_> = text.lines().filter_map(|line| record::read(line).ok()).collect();
    for event in &events {
        assert_eq!(
            &record::read(&record::write(event)).expect("it was written"),
            event
        );
    }
    let mut session = Session::restore(Policy::quipu(), Meter::estimate(), events);
    let budget = Budget::view(500);
    let before = session.tokens();
    session.fit(&budget, Trigger::Auto, |_| {});
    assert!(session.tokens() <= before, "a compaction never adds");
    if let Ok(view) = session.assemble(&budget) {
        assert!(view.tokens <= 500);
    }
});
