//! Requirements for the results of a context engine.
//!
//! Owns: repairing repairable results (dropped system items, broken pairs), refusing the rest. Never: trusting a
//! reported count.

use std::collections::BTreeSet;
use std::sync::Arc;

use context::budget::{Budget, FixedPart, OverBudget, OverBudgetCode};
use context::tokens::Meter;
use context::view::View;
use ports::context_engine::EngineFault;
use transcript::{Item, Role, repair};

/// The newest message of the user must fit by itself, before any engine is asked.
pub fn request_fits(items: &[Arc<Item>], budget: &Budget, meter: &Meter) -> Result<(), OverBudget> {
    let Some(current) = current(items) else {
        return Ok(());
    };
    let tokens = meter.item(current);
    let code = OverBudgetCode::CurrentRequestExceedsBudget;
    if tokens <= budget.limit() {
        Ok(())
    } else {
        Err(refuse(code, FixedPart::CurrentRequest, tokens, budget))
    }
}

/// An ingest must return one item for each of its input items.
pub(crate) fn one_for_each(
    given: usize,
    ingested: Result<Vec<Arc<Item>>, EngineFault>,
) -> Result<Vec<Arc<Item>>, EngineFault> {
    let ingested = ingested?;
    if ingested.len() == given {
        return Ok(ingested);
    }
    let returned = ingested.len();
    Err(EngineFault::Failed(format!(
        "ingest was given {given} items and returned {returned}: return one for each"
    )))
}

/// The view that an engine made of `source`, repaired and counted.
pub fn view(
    source: &[Arc<Item>],
    made: Vec<Arc<Item>>,
    pending: &BTreeSet<String>,
    budget: &Budget,
    meter: &Meter,
) -> Result<View, OverBudget> {
    let current_is_kept = current(source).is_none_or(|current| made.iter().any(|kept| kept == current));
    let items = with_system(source, made);
    let items = repair::for_view(&items, pending).unwrap_or(items);
    let tokens = items.iter().map(|item| meter.item(item)).sum();
    if !current_is_kept {
        let code = OverBudgetCode::CurrentRequestDropped;
        return Err(refuse(code, FixedPart::CurrentRequest, tokens, budget));
    }
    if tokens > budget.limit() {
        let code = OverBudgetCode::CompactionExceedsLimit;
        return Err(refuse(code, FixedPart::History, tokens, budget));
    }
    Ok(View {
        items,
        counted: tokens,
        tokens,
    })
}

/// The list with all system items of the source; if one was dropped, all of them come first, in their order.
fn with_system(source: &[Arc<Item>], made: Vec<Arc<Item>>) -> Vec<Arc<Item>> {
    let system: Vec<&Arc<Item>> = source.iter().filter(|item| item.role == Role::System).collect();
    if system.iter().all(|item| made.contains(item)) {
        return made;
    }
    let rest = made.iter().filter(|item| !system.contains(item));
    system.iter().copied().chain(rest).cloned().collect()
}

fn current(items: &[Arc<Item>]) -> Option<&Arc<Item>> {
    items.iter().rev().find(|item| item.asks())
}

fn refuse(code: OverBudgetCode, part: FixedPart, tokens: usize, budget: &Budget) -> OverBudget {
    OverBudget {
        code,
        limit: budget.limit(),
        tokens,
        parts: vec![(part, tokens)],
    }
}
