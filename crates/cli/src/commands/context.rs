//! `quipu context`: the view of a transcript within a budget, and the reasons for it.
//!
//! Owns: reading the file, the report. Never: a root, a server, a network; never the decisions, which `context` makes.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context as _;
use context::budget::{Budget, FixedPart, OverBudget};
use context::event::{NodeId, ViewEvent};
use context::guard::{Claims, ModelWindow};
use context::ladder::Attempt;
use context::plan::Trigger;
use context::policy::Policy;
use context::ranges;
use context::record;
use context::session::{PieceContent, Session};
use context::shorten::chunk::Statistics;
use context::shorten::score::{self, ScoreRules};
use context::tokens::Meter;
use context::view::View;
use model::text::counted;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use transcript::dialect::{self, Transcript};
use transcript::{Item, ItemId};

use super::Desk;
use crate::args::ContextArgs;
use crate::error::{Exit, Failure};
use crate::output::{self, say};

/// Maximum characters of an item in the list of a view.
const EXCERPT_CHARS_MAX: usize = 72;

/// Default reserve for the answer: this fraction of the window.
const RESERVE_PART: usize = 8;

/// A transcript, compacted to fit a budget.
struct Trial {
    transcript: Transcript,
    session: Session,
    budget: Budget,
    events: Vec<ViewEvent>,
    attempts: Vec<Attempt>,
    view: Result<View, OverBudget>,
}

/// Runs the command.
pub(super) fn context(desk: &Desk, args: &ContextArgs) -> Result<Exit, Failure> {
    let none = || Failure::usage("no transcript given: use `quipu context FILE`");
    let file = args.file.as_deref().ok_or_else(none)?;
    let shown = file.display();
    let bytes = std::fs::read(file).with_context(|| format!("cannot read `{shown}`"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("`{shown}` is not UTF-8 text: byte {at} is not"))
    })?;
    let transcript = dialect::read(&text).map_err(|error| Failure::usage(format!("`{shown}`: {error}")))?;
    let trial = Trial::of(transcript, args)?;
    match &args.recover {
        Some(id) => trial.recover(desk, id),
        None if args.scores => trial.scores(desk, &args.weight),
        None => trial.show(desk),
    }
}

/// Output of `--json`. The messages keep their original bytes.
#[derive(Serialize)]
struct ContextOutput {
    system: Option<Box<RawValue>>,
    view: Vec<Box<RawValue>>,
    tokens: usize,
    budget: usize,
    events: Vec<Box<RawValue>>,
    report: Value,
}

fn raw(texts: impl IntoIterator<Item = String>) -> Result<Vec<Box<RawValue>>, Failure> {
    let raw = texts.into_iter().map(RawValue::from_string);
    Ok(raw.collect::<Result<_, _>>()?)
}

fn by_name(parts: &[(FixedPart, usize)]) -> BTreeMap<&'static str, usize> {
    let parts = parts.iter();
    parts.map(|(part, tokens)| (part.as_str(), *tokens)).collect()
}

impl Trial {
    fn of(transcript: Transcript, args: &ContextArgs) -> Result<Self, Failure> {
        let policy = Policy::preset(&args.policy).ok_or_else(|| {
            Failure::usage(format!("there is no policy `{}`", args.policy))
                .hint(format!("there are {}", Policy::PRESETS.join(", ")))
        })?;
        let model = args.model.clone().or_else(|| transcript.model.clone());
        let meter = model.as_deref().map_or_else(Meter::estimate, Meter::for_model);
        let budget = budget(args, model.as_deref(), &transcript, &meter);
        let mut session = Session::new(policy, meter);
        for item in &transcript.items {
            session.apply(&session.arrival(Arc::new(item.clone())));
        }
        let mut events = Vec::new();
        let attempts = session.fit(&budget, Trigger::Auto, |event| events.push(event.clone()));
        let view = session.assemble(&budget);
        Ok(Self {
            transcript,
            session,
            budget,
            events,
            attempts,
            view,
        })
    }

    fn show(&self, desk: &Desk) -> Result<Exit, Failure> {
        if !desk.json {
            self.print_head()?;
        }
        match &self.view {
            Ok(view) => desk.tell(&self.output(view)?, || self.print(view)),
            Err(error) => Self::impossible(error, desk.json),
        }
    }

    fn output(&self, view: &View) -> Result<ContextOutput, Failure> {
        let items: Vec<Item> = view.items.iter().map(|item| Item::clone(item)).collect();
        let system = dialect::system(self.transcript.dialect, &items);
        Ok(ContextOutput {
            system: raw(system)?.pop(),
            view: raw(dialect::write(self.transcript.dialect, &items))?,
            tokens: view.tokens,
            budget: self.budget.window,
            events: raw(self.events.iter().map(record::write))?,
            report: self.report(),
        })
    }

    fn report(&self) -> Value {
        let inputs = self.session.inputs(&self.budget);
        let parts = by_name(&self.session.parts(&self.budget));
        let attempts: Vec<Value> = self.attempts.iter().map(attempt).collect();
        let items = &self.transcript.items;
        let weights: Vec<usize> = items.iter().map(|item| self.session.meter().item(item)).collect();
        let of = Statistics::of(&weights);
        let messages = json!({
            "count": of.messages, "tokens": of.tokens, "tokens_avg": of.tokens_avg, "tokens_max": of.tokens_max,
            "tokens_min": of.tokens_min,
        });
        json!({
            "dialect": self.transcript.dialect.as_str(), "policy": self.session.policy().name, "items": items.len(),
            "skipped": self.transcript.skipped, "limit": inputs.limit, "threshold": inputs.threshold,
            "target": inputs.target, "parts": parts, "messages": messages, "attempts": attempts,
        })
    }

    /// Prints the parts of the request, and the compaction steps that were tried.
    fn print_head(&self) -> Result<(), Failure> {
        let inputs = self.session.inputs(&self.budget);
        let (items, kind) = (self.transcript.items.len(), self.transcript.dialect.as_str());
        say!("{items} items ({kind}), policy {}\n", self.session.policy().name)?;
        for (part, tokens) in self.session.parts(&self.budget) {
            let share = tokens as f64 * 100.0 / self.budget.window.max(1) as f64;
            say!("{:<16} {tokens:>9} tokens {share:>6.1} %", part.as_str())?;
        }
        say!("{:<16} {:>9} tokens\n", "budget", self.budget.window)?;
        if self.attempts.is_empty() {
            let (limit, due) = (inputs.limit, inputs.threshold);
            say!("nothing to compact: the limit is {limit}, a compaction is due at {due}\n")?;
        }
        let attempts = self.attempts.iter();
        attempts.map(sentence).try_for_each(|line| say!("{line}"))
    }

    fn print(&self, view: &View) -> Result<(), Failure> {
        let items = counted(view.items.len(), "item", "items");
        say!("\nthe view: {items}, {}", counted(view.tokens, "token", "tokens"))?;
        for piece in self.session.frontier() {
            let name = match &piece.what {
                PieceContent::Item { id, .. } => id.to_string(),
                PieceContent::Node(node) => node.id.to_string(),
            };
            let (role, tokens) = (piece.item.role.as_str(), piece.tokens);
            say!("{name:>7} {role:<9} {tokens:>7}  {}", excerpt(&piece.item))?;
        }
        Ok(())
    }

    /// Prints the typed error; with `--json` on standard output, so that a script finds it in place of the view.
    fn impossible(error: &OverBudget, as_json: bool) -> Result<Exit, Failure> {
        if as_json {
            output::json(&json!({"error": {
                "code": error.code.as_str(), "message": error.to_string(), "limit": error.limit,
                "tokens": error.tokens, "parts": by_name(&error.parts),
            }}))?;
        }
        Err(Failure::usage(error))
    }

    /// Prints the importance of each message, and whether the view still has it verbatim.
    fn scores(&self, desk: &Desk, weights: &[String]) -> Result<Exit, Failure> {
        let mut rules = ScoreRules::default();
        for weight in weights {
            let set = weight.split_once('=').and_then(|(name, number)| {
                let number = number.parse().ok().filter(|number| *number >= 0.0)?;
                Some(rules.set(name, number))
            });
            if set != Some(true) {
                let wrong = Failure::usage(format!("`{weight}` is no weight of a score"));
                let hint = "give a name and a number of 0 or more, as in `--weight decision=0.5`";
                return Err(wrong.hint(hint));
            }
        }
        let mut scores = score::score(&self.transcript.items, &rules);
        scores.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.index.cmp(&b.index)));
        let is_item = |what: &PieceContent, index: usize| matches!(what, PieceContent::Item { id, .. } if id.0 == index as u64);
        let factors =
            |score: &score::Score| score.factors.iter().map(ToString::to_string).collect::<Vec<_>>();
        let in_view = |index: usize| {
            let mut frontier = self.session.frontier().iter();
            frontier.any(|piece| is_item(&piece.what, index))
        };
        let rows = scores.iter().map(|score| {
            json!({
                "id": ItemId(score.index as u64).to_string(), "kind": score.kind.as_str(), "value": score.value,
                "in_view": in_view(score.index), "factors": factors(score),
            })
        });
        desk.tell(&rows.collect::<Vec<_>>(), || {
            scores.iter().try_for_each(|score| {
                let (id, kind, value) = (ItemId(score.index as u64), score.kind.as_str(), score.value);
                let (id, factors) = (id.to_string(), factors(score).join(", "));
                let place = if in_view(score.index) { "in view" } else { "left" };
                say!("{id:>7} {kind:<12} {value:.3} {place:<7}  {factors}")
            })
        })
    }

    fn recover(&self, desk: &Desk, id: &str) -> Result<Exit, Failure> {
        let ids: Vec<u64> = match (ItemId::parse(id), NodeId::parse(id)) {
            (Some(item), _) => vec![item.0],
            (_, Some(node)) => self.covered(node),
            _ => {
                return Err(Failure::usage(format!("`{id}` is no id"))
                    .hint("ids look like m17 (a message) or n3 (a summary)"));
            }
        };
        let original = |at: u64| {
            let item = self.transcript.items.get(usize::try_from(at).ok()?)?;
            Some(item.raw.as_deref()?.to_owned())
        };
        let originals: Vec<String> = ids.into_iter().filter_map(original).collect();
        if originals.is_empty() {
            let what = format!("this transcript has no `{id}` within this budget");
            return Err(Failure::missing(what));
        }
        desk.tell(&raw(originals.clone())?, || {
            originals.iter().try_for_each(|original| say!("{original}"))
        })
    }

    fn covered(&self, id: NodeId) -> Vec<u64> {
        let node = self.events.iter().find_map(|event| match event {
            ViewEvent::Node(node) if node.id == id => Some(node),
            _ => None,
        });
        let Some(node) = node else { return Vec::new() };
        let count = self.transcript.items.len() as u64;
        (0..count)
            .filter(|&at| ranges::contains(&node.covers, ItemId(at)))
            .collect()
    }
}

fn budget(args: &ContextArgs, model: Option<&str>, transcript: &Transcript, meter: &Meter) -> Budget {
    let tools = transcript.tools.as_deref().map_or(0, |tools| meter.tools(tools));
    if let Some(tokens) = args.budget {
        return Budget {
            tools,
            ..Budget::view(tokens)
        };
    }
    let claims = Claims {
        model: model.map(str::to_owned),
        ..Claims::default()
    };
    let window = ModelWindow::resolve(&claims).tokens;
    let reserve = window / RESERVE_PART;
    let safety = Policy::preset(&args.policy).map_or(0, |policy| policy.safety(window - reserve));
    Budget {
        window,
        reserve,
        tools,
        injected: 0,
        safety,
    }
}

fn attempt(attempt: &Attempt) -> Value {
    let plan = &attempt.plan;
    let inputs = &plan.inputs;
    json!({
        "effort": plan.effort.as_str(), "reason": plan.reason.as_str(), "used": inputs.used, "limit": inputs.limit,
        "threshold": inputs.threshold, "target": inputs.target, "items_leaving": plan.leaves.len(),
        "results_masked": plan.masks.len(), "gain_expected": plan.gain_expected,
        "gain_required": plan.gain_required, "gain": attempt.gain,
    })
}

fn sentence(attempt: &Attempt) -> String {
    let plan = &attempt.plan;
    let outcome = match attempt.gain {
        Some(gain) => format!("saved {gain} tokens"),
        None => format!("skipped: it would save less than {}", plan.gain_required),
    };
    let (effort, reason, expected) = (plan.effort.as_str(), plan.reason.as_str(), plan.gain_expected);
    let (used, limit, due) = (plan.inputs.used, plan.inputs.limit, plan.inputs.threshold);
    let leave = counted(plan.leaves.len(), "item leaves", "items leave");
    let masked = counted(plan.masks.len(), "result", "results");
    format!(
        "{effort} ({reason}): view of {used} tokens, limit {limit}, due at {due}; {leave} the view, {masked} masked, {expected} \
         tokens expected; {outcome}"
    )
}

fn excerpt(item: &Item) -> String {
    let mut said = vec![item.prose()];
    said.extend(
        item.calls()
            .map(|call| format!("→ {} {}", call.name, call.arguments)),
    );
    said.extend(item.outcomes().map(|outcome| format!("← {}", outcome.text)));
    model::excerpt(&said.join(" "), EXCERPT_CHARS_MAX)
}

#[cfg(test)]
mod tests;
