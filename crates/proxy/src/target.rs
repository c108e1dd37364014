//! A model server as turns see it, and what they learn of it.
//!
//! Owns: its window, its kind, the fields that it refused, who has its slots. Never: the choice of a server (`proxy`), or a request to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use context::guard::{Claims, ModelWindow};
use parking_lot::Mutex;
use ports::{Probed, Upstream};
use prefix::backend::{self, Kind, RefusedExtras};

/// One server as a turn sees it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) model: Option<String>,
    pub(crate) configured: Option<Kind>,
    pub(crate) configured_window: Option<usize>,
    pub(crate) session_header: Option<String>,
    pub(crate) cache_retention: Option<String>,
    /// Windows from the server's refusals of long prompts, by model.
    pub(crate) windows: Arc<Mutex<BTreeMap<String, usize>>>,
    pub(crate) learnt: SharedRefusals,
    pub(crate) turns: Arc<AtomicU64>,
    pub(crate) slots: Arc<Mutex<BTreeMap<u32, Given>>>,
}

impl Target {
    /// The window of a model there, in tokens: the agent's, else as configured, else as the server reports, else by the
    /// model's name, and never wider than in the server's refusal of a prompt.
    pub(crate) async fn window(&self, model: &str, agent: Option<usize>) -> ModelWindow {
        let asked = match self.configured_window {
            Some(_) => None,
            None => self.upstream.window(self.model.as_deref().unwrap_or(model)).await,
        };
        let mut window = ModelWindow::resolve(&Claims {
            agent,
            model_config: self.configured_window,
            backend: asked,
            model: Some(model.to_owned()),
            ..Claims::default()
        });
        let windows = self.windows.lock();
        if let Some(tokens) = windows.get(model) {
            window.narrow(*tokens);
        }
        window
    }

    pub(crate) fn learn_window(&self, model: &str, tokens: usize) {
        let mut windows = self.windows.lock();
        windows.insert(model.to_owned(), tokens);
    }

    /// Kind of the server, as far as it is known.
    pub(crate) fn kind(&self, probed: &Probed) -> Kind {
        backend::decide(self.configured, probed.kind, self.upstream.base_url())
    }

    /// Counts a request.
    pub(crate) fn next_turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }
}

/// Fields that a server has refused.
pub(crate) type SharedRefusals = Arc<Mutex<RefusedExtras>>;

/// The extra that a server is not to get, and nothing learnt.
pub(crate) fn refusals(extra: Option<&str>) -> SharedRefusals {
    let refused = extra.map(str::to_owned).into_iter().collect();
    Arc::new(Mutex::new(RefusedExtras(refused)))
}

/// To whom a slot was given.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) conversation: String,
    /// The turn in which it used it last.
    pub(crate) last: u64,
    /// The conversation whose slot it was, and which this one left midway.
    pub(crate) left: Option<String>,
}
