//! `cargo run -p sim -- --seed S --steps N`, or `-- --year --seed S [--days N]`: one run, and the command line that
//! repeats it.
//!
//! Owns: the arguments and the exit code. Never: a part of the run.

use std::process::ExitCode;

use sim::{Plan, YearPlan};

const YEAR_DAYS: u32 = 365;
const USAGE: &str = "usage: cargo run -p sim -- --seed NUMBER --steps NUMBER
       cargo run -p sim -- --year --seed NUMBER [--days NUMBER]";

enum Command {
    Run(Plan),
    Year(YearPlan),
}

fn command(words: &[&str]) -> Option<Command> {
    match words {
        ["--seed", seed, "--steps", steps] => {
            let (seed, steps) = (seed.parse().ok()?, steps.parse().ok()?);
            Some(Command::Run(Plan { seed, steps }))
        }
        ["--year", "--seed", seed, days @ ..] => {
            let days = match days {
                [] => YEAR_DAYS,
                ["--days", days] => days.parse().ok()?,
                _ => return None,
            };
            let seed = seed.parse().ok()?;
            Some(Command::Year(YearPlan { seed, days }))
        }
        _ => None,
    }
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match command(&words) {
        Some(Command::Run(plan)) => sim::run(plan)
            .map(|report| println!("{report}"))
            .map_err(|broken| broken.to_string()),
        Some(Command::Year(plan)) => sim::year(plan, &mut |line| println!("{line}")),
        None => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(broken) => {
            eprintln!("{broken}");
            ExitCode::FAILURE
        }
    }
}
