//! `cargo run --release -p context-bench`: the context engine next to other systems' strategies.
//!
//! Owns: the clock, the output, the exit code: 1 if a bar is missed. Never: a measure.
#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

use std::process::ExitCode;
use std::time::Instant;

use context_bench::bench::{STEPS, Size, run};

fn main() -> ExitCode {
    let started = Instant::now();
    let mut begun = 0;
    let report = run(&Size::full(), &|| started.elapsed(), &mut |step| {
        begun += 1;
        eprintln!("measuring {step} ({begun} of {})", STEPS.len());
    });
    for table in &report.tables {
        println!("{table}");
    }
    for bar in &report.bars {
        let (must_be, holds) = (if bar.at_least { "at least" } else { "at most" }, bar.holds());
        println!(
            "{}: {} ({must_be} {}): {}",
            bar.name,
            bar.value,
            bar.bar,
            if holds { "holds" } else { "missed" }
        );
    }
    println!("measured in {} s", started.elapsed().as_secs());
    ExitCode::from(u8::from(
        !report.bars.iter().all(context_bench::bench::Bar::holds),
    ))
}
