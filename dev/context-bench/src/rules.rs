//! B3: rules stated once, after eight compactions: pinned ones, others, and rules that only a tool's output
//! states.
//!
//! Owns: pinning every other rule, and the search for each. Never: the definition of a rule; the talk has it.

use std::sync::Arc;

use context::digest::{DigestLine, LineKind};
use context::policy::Policy;
use context::tokens::Meter;
use transcript::{Item, ItemId, Role};

use crate::strategy::{Engine, Strategy};
use crate::survival::{LIMIT_MAIN, parts, seen};
use crate::table::{Table, count, number, text};
use crate::talk::{CONSTRAINT, Needle, Talk};
use crate::tally::Tally;

/// Number of compactions of a talk.
const COMPACTIONS: usize = 8;

/// The results for the rules under one preset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    pub preset: &'static str,
    /// Pinned rules whose item is in the view word for word.
    pub pinned: Tally,
    /// Other rules whose text is somewhere in the view.
    pub unpinned: Tally,
    /// Lines listed as rules although no user or system item states them.
    pub promoted: usize,
    /// Rules in the output of tools.
    pub by_tools: usize,
}

/// Every preset at the main limit.
pub fn measure(talks: &[Talk], meter: &Meter) -> Vec<Kept> {
    let presets = Policy::PRESETS.iter().filter_map(|name| Policy::preset(name));
    presets
        .map(|policy| {
            let mut kept = Kept {
                preset: policy.name,
                ..Kept::default()
            };
            for talk in talks {
                kept.look(talk, Engine::new(policy.clone(), meter.clone()), meter);
            }
            kept
        })
        .collect()
}

impl Kept {
    fn look(&mut self, talk: &Talk, mut engine: Engine, meter: &Meter) {
        let rules = talk.needles.iter().filter(|needle| needle.kind == CONSTRAINT);
        let (pinned, unpinned): (Vec<(usize, &Needle)>, Vec<_>) =
            rules.enumerate().partition(|(n, _)| n % 2 == 0);
        let mut view: Vec<Arc<Item>> = Vec::new();
        let mut arrived = 0;
        for (part, so_far) in parts(&talk.items, COMPACTIONS, meter) {
            engine.ingest(part);
            let here = arrived..arrived + part.len();
            arrived = here.end;
            for (_, needle) in pinned.iter().filter(|(_, needle)| here.contains(&needle.item)) {
                engine.pin(id(needle.item));
            }
            view = engine.request(&[], so_far * LIMIT_MAIN / 100);
        }
        for (_, needle) in pinned {
            self.pinned.add(view.contains(&talk.items[needle.item]));
        }
        let unpinned: Vec<Needle> = unpinned.into_iter().map(|(_, needle)| needle.clone()).collect();
        for seen in seen(&unpinned, &view) {
            self.unpinned.add(seen);
        }
        let nodes = engine.session().nodes();
        let told = nodes.flat_map(|(node, _)| &node.digest.lines);
        self.promoted += told
            .filter(|line| line.kind == LineKind::Constraint && is_promoted(line, talk))
            .count();
        self.by_tools += talk.tool_rules.len();
    }
}

fn id(index: usize) -> ItemId {
    ItemId(index as u64)
}

fn is_promoted(line: &DigestLine, talk: &Talk) -> bool {
    let may_rule = |id: &ItemId| {
        let item = usize::try_from(id.0).ok().and_then(|at| talk.items.get(at));
        item.is_some_and(|item| matches!(item.role, Role::User | Role::System))
    };
    let by_tool = talk.tool_rules.iter().any(|word| line.text.contains(word));
    by_tool || !line.sources.iter().any(may_rule)
}

/// One row for each preset.
pub fn table(kept: &[Kept]) -> Table {
    let row = |kept: &Kept| {
        vec![
            text(kept.preset),
            number(kept.pinned.percent(), 1),
            number(kept.unpinned.percent(), 1),
            count(kept.promoted),
            count(kept.by_tools),
        ]
    };
    Table::new(
        "B3",
        "rules in view after 8 compactions to 25 %, percent",
        [
            "preset",
            "pinned, word for word",
            "not pinned",
            "promoted from tools' output",
            "stated there",
        ],
        kept.iter().map(row).collect(),
    )
}
