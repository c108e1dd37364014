//! `quipu context bench`: the context engine beside other systems' strategies.
//!
//! Owns: the clock, the progress, the output. Never: a measure; `trial` has them.

use ports::Clock as _;
use serde_json::{Value, json};
use trial::bench::{Report, STEPS, Size, run};
use trial::table::{Cell, Table};

use crate::clock::SystemClock;
use crate::error::{Exit, Failure};
use crate::{output, progress};

/// Runs the command.
pub(crate) fn bench(as_json: bool, watched: bool) -> Result<Exit, Failure> {
    let clock = SystemClock::new();
    let bar = progress::bar(watched, "measures", STEPS.len() as u64);
    let started = clock.elapsed();
    let report = run(&Size::full(), &|| clock.elapsed(), &mut |step| {
        bar.set_message(step);
        bar.inc(1);
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
