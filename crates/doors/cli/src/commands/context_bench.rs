//! `quipu context bench`: the context engine beside other systems' strategies.
//!
//! Owns: the clock, the progress, the output. Never: a measure; `trial` has them.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use ports::Clock as _;
use serde_json::{Value, json};
use trial::bench::{Report, STEPS, Size, run};
use trial::table::{Cell, Table};

use crate::clock::SystemClock;
use crate::error::{Exit, Failure};
use crate::{output, progress};

const TICK: Duration = Duration::from_millis(200);

/// Runs the command.
pub(crate) fn bench(as_json: bool, watched: bool) -> Result<Exit, Failure> {
    let clock = SystemClock::new();
    let bar = progress::bar(watched, "measuring", STEPS.len() as u64);
    bar.enable_steady_tick(TICK);
    let started = clock.elapsed();
    let mut begun = 0;
    let report = run(&Size::full(), &|| clock.elapsed(), &mut |step| {
        bar.set_position(begun);
        bar.set_message(step);
        begun += 1;
        if watched && !std::io::stderr().is_terminal() {
            // Nobody sees a bar, and some steps take a minute.
            writeln!(std::io::stderr(), "measuring {step} ({begun} of {})", STEPS.len()).ok();
        }
    });
    bar.finish_and_clear();
    let seconds = clock.elapsed().saturating_sub(started).as_secs_f64();
    if as_json {
        output::json(&to_json(&report, seconds))?;
    } else {
        report
            .tables
            .iter()
            .try_for_each(|table| output::line(format_args!("{table}")))?;
        output::line(format_args!("measured in {seconds:.0} s"))?;
    }
    Ok(Exit::Ok)
}

fn to_json(report: &Report, seconds: f64) -> Value {
    let bars: Vec<Value> = report
        .bars
        .iter()
        .map(|bar| {
            let must_be = if bar.at_least { "at_least" } else { "at_most" };
            json!({"measure": bar.name, "value": bar.value, "must_be": must_be, "bar": bar.bar, "holds": bar.holds()})
        })
        .collect();
    let tables: Vec<Value> = report.tables.iter().map(table).collect();
    json!({"bars": bars, "tables": tables, "seconds": seconds})
}

fn table(table: &Table) -> Value {
    let cell = |cell: &Cell| match cell {
        Cell::Text(text) => json!(text),
        Cell::Number(number, _) => json!(number),
        Cell::Empty => Value::Null,
    };
    let rows: Vec<Vec<Value>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect())
        .collect();
    json!({"id": table.id, "title": table.title, "columns": table.columns, "rows": rows})
}
