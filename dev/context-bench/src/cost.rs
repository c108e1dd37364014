//! B9 and B10: the cost of a talk request by request, the needles seen at its end, and the use of the window.
//!
//! Owns: replaying talks by every strategy at every limit, and the comparison at equal survival. Never: the
//! cache; `replay` has it.

use std::sync::Arc;

use context::tokens::Meter;
use transcript::Item;

use crate::replay::{Cost, replay};
use crate::strategy::{self, NONE, Strategy, WINDOW};
use crate::survival::{LIMITS, seen};
use crate::table::{Cell, Table, count, number, text};
use crate::talk::Talk;
use crate::tally::{Tally, mean_and_deviation};

/// One strategy at one limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub name: String,
    /// It is a preset of Quipu.
    pub ours: bool,
    /// In percent of the talk; 100 for no compaction.
    pub limit: usize,
    /// Of all talks together.
    pub cost: Cost,
    /// Needles seen in the last view.
    pub seen: Tally,
}

/// Every strategy at every limit, no compaction first.
pub fn measure(talks: &[Talk], meter: &Meter) -> Vec<Row> {
    let whole = |talk: &Talk| talk.items.iter().map(|item| meter.item(item)).sum::<usize>();
    let sizes: Vec<usize> = talks.iter().map(whole).collect();
    let mut rows = Vec::new();
    let everything = talks.iter().zip(&sizes).map(|(talk, size)| {
        let strategy: Box<dyn Strategy> = Box::new(strategy::everything(meter));
        (talk, *size, strategy)
    });
    rows.push(row(false, 100, everything, meter));
    for limit in LIMITS {
        for (ours, make) in [
            (true, strategy::ours as fn(&Meter) -> Vec<Box<dyn Strategy>>),
            (false, strategy::others),
        ] {
            for index in 0..make(meter).len() {
                let runs = talks
                    .iter()
                    .zip(&sizes)
                    .map(|(talk, size)| (talk, size * limit / 100, make(meter).swap_remove(index)));
                rows.push(row(ours, limit, runs, meter));
            }
        }
    }
    rows
}

fn row<'a>(
    ours: bool,
    limit: usize,
    runs: impl Iterator<Item = (&'a Talk, usize, Box<dyn Strategy>)>,
    meter: &Meter,
) -> Row {
    let mut row = Row {
        name: String::new(),
        ours,
        limit,
        cost: Cost::default(),
        seen: Tally::default(),
    };
    for (talk, tokens, mut strategy) in runs {
        let (cost, view): (Cost, Vec<Arc<Item>>) = replay(&talk.items, &mut *strategy, tokens, meter);
        row.cost.join(cost);
        for seen in seen(&talk.needles, &view) {
            row.seen.add(seen);
        }
        strategy.name().clone_into(&mut row.name);
    }
    row
}

/// The cheapest of the other strategies, at any limit, that shows at least as many needles as this one.
pub fn rival<'a>(rows: &'a [Row], ours: &Row) -> Option<&'a Row> {
    rows.iter()
        .filter(|row| !row.ours && row.seen.percent() >= ours.seen.percent())
        .min_by(|a, b| a.cost.price().total_cmp(&b.cost.price()))
}

/// Cost and window, and each of ours next to the cheapest that shows as many needles.
pub fn tables(rows: &[Row]) -> [Table; 3] {
    [prices(rows), rivals(rows), windows(rows)]
}

fn price_of(rows: &[Row], name: &str, limit: usize) -> f64 {
    let found = rows.iter().find(|row| row.name == name && row.limit == limit);
    found.map_or(f64::NAN, |row| row.cost.price())
}

fn prices(rows: &[Row]) -> Table {
    let none = price_of(rows, NONE, 100);
    let cells = |row: &Row| {
        let window = price_of(rows, WINDOW, row.limit);
        vec![
            text(&row.name),
            count(row.limit),
            number(row.seen.percent(), 0),
            number(row.cost.price() / none, 3),
            number(row.cost.price() / window, 3),
            number(100.0 * row.cost.cached_share(), 0),
            number(100.0 * row.cost.rewrites as f64 / row.cost.requests as f64, 1),
        ]
    };
    let columns = [
        "strategy",
        "limit, % of the talk",
        "needles seen, %",
        "price / no compaction",
        "price / window of tokens",
        "cached, %",
        "rewrites per 100 requests",
    ];
    let title = "price of a talk, a request before each answer (read from cache 0.1, written 1.25)";
    Table::new("B9", title, columns, rows.iter().map(cells).collect())
}

fn rivals(rows: &[Row]) -> Table {
    let none = price_of(rows, NONE, 100);
    let cells = |ours: &Row| -> Vec<Cell> {
        let rival = rival(rows, ours);
        let name = |rival: &Row| text(format!("{} at {} %", rival.name, rival.limit));
        vec![
            text(&ours.name),
            count(ours.limit),
            number(ours.seen.percent(), 0),
            number(ours.cost.price() / none, 3),
            rival.map_or(Cell::Empty, name),
            rival.map_or(Cell::Empty, |rival| number(rival.seen.percent(), 0)),
            rival.map_or(Cell::Empty, |rival| number(rival.cost.price() / none, 3)),
        ]
    };
    let columns = [
        "strategy", "limit, %", "seen, %", "price", "other", "it shows, %", "its price",
    ];
    let title = "ours and the cheapest other that shows at least as much, at any limit";
    Table::new(
        "B9",
        title,
        columns,
        rows.iter().filter(|row| row.ours).map(cells).collect(),
    )
}

fn windows(rows: &[Row]) -> Table {
    let cells = |row: &Row| {
        let (mean, deviation) = mean_and_deviation(&row.cost.fill);
        let dropped = row.cost.drops.iter().sum::<usize>() as f64 / row.cost.drops.len() as f64;
        vec![
            text(&row.name),
            count(row.limit),
            number(100.0 * mean, 0),
            number(100.0 * deviation, 0),
            number(dropped, 0),
            count(row.cost.over_limit),
        ]
    };
    let columns = [
        "strategy",
        "limit, % of the talk",
        "fill, %",
        "its deviation",
        "tokens off per rewrite",
        "views over the limit",
    ];
    let limited = rows.iter().filter(|row| row.limit < 100);
    Table::new("B10", "use of the window", columns, limited.map(cells).collect())
}
