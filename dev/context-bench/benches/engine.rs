//! The whole trial: `cargo bench -p context-bench --bench engine [-- tiny]`.
//!
//! Owns: the clock. Never: a measure.
#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]
#![expect(clippy::print_stdout, reason = "a measurement's result is what it prints")]

use std::time::Instant;

use context_bench::bench::{Size, run};

fn main() {
    let tiny = std::env::args().any(|argument| argument == "tiny");
    let size = if tiny { Size::tiny() } else { Size::full() };
    let started = Instant::now();
    let report = run(&size, &|| started.elapsed(), &mut |_| {});
    for table in &report.tables {
        println!("{table}");
    }
    println!("in {:.1} s", started.elapsed().as_secs_f64());
}
