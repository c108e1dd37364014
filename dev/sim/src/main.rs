//! `cargo run -p sim -- --seed S --steps N`: one run, and the command line that repeats it.
//!
//! Owns: the arguments and the exit code. Never: a part of the run.

use std::process::ExitCode;

use sim::Plan;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let plan = match words.as_slice() {
        ["--seed", seed, "--steps", steps] => seed
            .parse()
            .ok()
            .zip(steps.parse().ok())
            .map(|(seed, steps)| Plan { seed, steps }),
        _ => None,
    };
    let Some(plan) = plan else {
        eprintln!("usage: cargo run -p sim -- --seed NUMBER --steps NUMBER");
        return ExitCode::from(2);
    };
    match sim::run(plan) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(broken) => {
            eprintln!("{broken}");
            ExitCode::FAILURE
        }
    }
}
