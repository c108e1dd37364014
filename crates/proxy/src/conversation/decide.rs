//! Deciding the next request of a conversation, for the proxy and for programs that call their model themselves.
//!
//! Owns: the order plan → instructions → view → additions → record. Invariants: no request above its budget is decided; without a
//! recorded reason a request extends the one before it. Never: sending; searching memory (its caller's [`Additions`] do).

use std::sync::Arc;

use async_trait::async_trait;
use context::budget::{Budget, OverBudget};
use context::event::ViewEvent;
use context::guard::WindowSource;
use context::plan::Trigger;
use context::policy::Policy;
use context::tokens::Meter;
use model::Timestamp;
use prefix::compose::{self, Composed, Plan, Replay, SystemPlace, Wanted};
use prefix::fragment::{Draft, Visible};
use prefix::shadow::{Reason, ShadowEvent};
use transcript::dialect::Dialect;
use transcript::{Item, ItemId};

use crate::conversation::contexts::Compaction;
use crate::conversation::hooks::Chosen;
use crate::conversation::log::{BudgetRecord, Logged};
use crate::conversation::state::Conversation;

/// Text that a request carries besides the client's own.
#[async_trait]
pub trait Additions: Send + Sync {
    /// Instructions behind the client's system text. Read when an epoch begins or could begin without cost.
    async fn instructions(&self) -> String;
    /// Adds memory and the date to the user's message.
    async fn draft(&self, conversation: &Conversation, message: &str, visible: &Visible) -> Option<Draft>;
}

/// The server's numbers when it refused a prompt as too long, in its own tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow {
    pub window_tokens: usize,
    /// Tokens of the request.
    pub prompt_tokens: Option<usize>,
}

/// A request to be decided.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub dialect: Dialect,
    pub request: compose::Request<'a>,
    pub replay: Replay,
    /// The model name that selects the vocabulary for counting.
    pub counts_for: &'a str,
    pub meter: &'a Meter,
    /// The model's window, in tokens.
    pub window: usize,
    pub window_source: WindowSource,
    /// Kept free for the answer, in tokens.
    pub reserve: usize,
    /// Maximum tokens of additions.
    pub injected: usize,
    /// The list of tools, as JSON text.
    pub tools: &'a str,
    /// The server stores the conversation, and shortens it itself.
    pub is_held: bool,
    /// The server's cache of the conversation has expired: changes of the prefix cost nothing.
    pub is_cold: bool,
    pub overflow: Option<Overflow>,
    /// Memory learns from this turn.
    pub learns: bool,
    pub now: Timestamp,
}

/// A compaction, and the messages that left the view with it.
type Left = (Compaction, Vec<(ItemId, Arc<Item>)>);

/// A decided request, and the figures of the conversation after it.
#[derive(Debug)]
pub struct Decided {
    pub conversation: String,
    /// Items that left the view for the request.
    pub compaction: Option<Left>,
    pub composed: Composed,
    /// Number of records after the decision.
    pub version: u64,
    /// Why the request does not extend the last one; empty if it does.
    pub reasons: Vec<Reason>,
    pub head_tokens: usize,
    pub budget: Budget,
    /// The view, in tokens.
    pub view_tokens: usize,
    /// Warning for the user: the view just crossed a threshold of the budget, or a plug-in failed.
    pub warning: Option<String>,
}

impl Asked<'_> {
    fn budget(&self, head_tokens: usize, policy: &Policy) -> Budget {
        Budget {
            window: self.window,
            reserve: self.reserve,
            tools: head_tokens,
            injected: self.injected,
            safety: policy.safety(self.window.saturating_sub(self.reserve)),
        }
    }

    /// Reads the instructions; returns whether they changed.
    async fn instruct(&self, wanted: &mut Wanted, additions: &dyn Additions) -> bool {
        let own = additions.instructions().await;
        let is_new = own != wanted.head.text;
        if self.is_cold && is_new {
            wanted.reasons.push(Reason::SystemChanged);
        }
        wanted.head.text = own;
        is_new
    }

    /// Tokens of system messages, instructions and tools, which the view does not contain. The longer of the old and
    /// the new instructions counts, because only the decision about an epoch selects one of them.
    fn head_tokens(&self, conversation: &mut Conversation, own: &str) -> usize {
        let frozen = conversation.shadow.head().own.text.clone();
        let own = if frozen.len() > own.len() { &frozen } else { own };
        match self.request.system {
            SystemPlace::Messages => {
                let leading = prefix::canon::leading_system(self.request.messages);
                let system = [&self.request.messages[..leading], &[own]].concat();
                conversation.head_tokens(&system, self.tools, self.meter)
            }
            SystemPlace::Field(system) => {
                conversation.head_tokens(&[system.unwrap_or_default(), own], self.tools, self.meter)
            }
        }
    }
}

impl Conversation {
    /// Decides a request, and records it in the conversation.
    pub async fn decide(
        &mut self,
        asked: &Asked<'_>,
        chosen: &Chosen,
        additions: &dyn Additions,
    ) -> Result<Decided, OverBudget> {
        self.count_for(asked.counts_for, asked.meter);
        self.dialect = asked.dialect;
        let mut wanted = Wanted {
            head: self.shadow.head().own.clone(),
            edits: if asked.is_held { Vec::new() } else { self.edits() },
            replay: asked.replay,
            ..Wanted::default()
        };
        let (mut plan, head_tokens, mut budget) = self.planned(asked, &mut wanted, additions).await;
        if let Some(prompt_tokens) = asked.overflow.and_then(|overflow| overflow.prompt_tokens) {
            budget.window = self.window_as_counted(budget.window, prompt_tokens, head_tokens);
        }
        let mut compacted = Vec::new();
        let trigger = asked.overflow.map_or(Trigger::Auto, |_| Trigger::Overflow);
        if !asked.is_held {
            let shaped = self.shaped(chosen, asked.request.model, plan.events(), &budget, trigger);
            if let Some(shaped) = shaped.await? {
                self.compacted(shaped.attempts, asked.now);
                if shaped.reason.is_some() || shaped.edits != wanted.edits {
                    wanted.edits = shaped.edits;
                    wanted.reasons.extend(shaped.reason);
                    plan = compose::plan(&self.shadow, asked.request, &wanted);
                }
                compacted = shaped.events;
            }
        }
        let draft = match plan.asks() {
            // Most turns of a tool loop have no question: boxed, the future of a turn stays small.
            Some(message) => Box::pin(additions.draft(self, message, &plan.visible())).await,
            None => None,
        };
        let composed = plan.compose(draft.as_ref());
        let first = self.log.len();
        let is_compacted = compacted
            .iter()
            .any(|event| !matches!(event, ViewEvent::Rewrite { .. }));
        let before = self.compaction(trigger);
        let logged = self.logged(&composed.events).into_iter();
        let source = asked.window_source;
        let is_known = (self.budget, self.window_source) == (Some(budget), source);
        let budgeted = (!is_known).then(|| Logged::Budget(BudgetRecord::new(budget, source)));
        let logged = logged
            .chain(compacted.into_iter().map(Logged::View))
            .chain(budgeted);
        self.set_learns(asked.learns);
        logged.for_each(|logged| self.record(&logged));
        if asked.learns {
            self.ask(composed.new_messages());
        }
        let used = self.session.view_tokens();
        Ok(Decided {
            conversation: self.key.session.to_string(),
            compaction: is_compacted.then(|| (before, self.covered_since(first))),
            composed,
            version: self.records,
            reasons: self.begun(),
            head_tokens,
            budget,
            view_tokens: used,
            warning: self.warning(used, budget.limit()),
        })
    }

    /// The warning of a request.
    fn warning(&mut self, used: usize, limit: usize) -> Option<String> {
        let crossed = self.warnings.observe(used, limit);
        let told = crossed.map(|warning| warning.to_string());
        let told: Vec<String> = told.into_iter().chain(self.health.report()).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// The records of a request. The log already contains the text of a message that was appended before.
    fn logged(&self, events: &[ShadowEvent]) -> Vec<Logged> {
        let mut logged: Vec<Logged> = Vec::new();
        let mut waiting = self.appended.iter().peekable();
        for event in events {
            let waited = match event {
                ShadowEvent::Message { bytes, fragment } => {
                    waiting.next_if(|next| *next == bytes).is_some() && fragment.is_none()
                }
                _ => false,
            };
            match (waited, logged.last_mut()) {
                (true, Some(Logged::Taken { count })) => *count += 1,
                (true, _) => logged.push(Logged::Taken { count: 1 }),
                (false, _) => logged.push(Logged::Sent(event.clone())),
            }
        }
        logged
    }

    /// The plan of a request, the tokens of its head, and its budget. The instructions are read only if they can
    /// replace those of the conversation: when an epoch begins or is about to. Only changed instructions need a second
    /// plan.
    async fn planned<'a>(
        &mut self,
        asked: &Asked<'a>,
        wanted: &mut Wanted,
        additions: &dyn Additions,
    ) -> (Plan<'a>, usize, Budget) {
        let must_compact = asked.overflow.is_some() && !asked.is_held;
        let mut is_read = self.shadow.epoch() == 0 || asked.is_cold || must_compact;
        if is_read {
            asked.instruct(wanted, additions).await;
        }
        loop {
            let head_tokens = asked.head_tokens(self, &wanted.head.text);
            let budget = asked.budget(head_tokens, self.session.policy());
            let plan = compose::plan(&self.shadow, asked.request, wanted);
            let is_full = || !asked.is_held && self.may_exceed(&budget, plan.events());
            if is_read || !plan.renews_head() && !is_full() {
                return (plan, head_tokens, budget);
            }
            is_read = true;
            if !asked.instruct(wanted, additions).await {
                return (plan, head_tokens, budget);
            }
        }
    }
}
