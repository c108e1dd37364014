//! A model server as turns see it, and the facts that they learn about it.
//!
//! Owns: its window, its kind, its refused fields, the conversations in its slots. Never: the choice of a server
//! (`proxy`), or a request to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use context::guard::{Claims, ModelWindow};
use parking_lot::Mutex;
use ports::{Probed, Upstream};
use prefix::backend::{self, Kind, RefusedExtras};

/// A configured server, and the models that it answers for.
#[derive(Debug, Clone)]
pub struct Route {
    pub upstream: Arc<dyn Upstream>,
    /// Overrides the detected kind.
    pub kind: Option<Kind>,
    /// Names of models, with `*` at the end as a wildcard; empty for all. The first route that names a model answers;
    /// later ones that name it are its fallbacks.
    pub models: Vec<String>,
    /// The server's own name for the model, if it differs.
    pub model: Option<String>,
    /// Window in tokens; it overrides the window that the server reports.
    pub window_tokens: Option<usize>,
    /// A header, in lower case, that carries a key of the conversation.
    pub session_header: Option<String>,
    /// How long the server is asked to cache a prompt: the value of `prompt_cache_retention`.
    pub cache_retention: Option<String>,
    /// Whether a local server gets a `session_id`.
    pub session_id: bool,
}

/// One server as a turn sees it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) route: Arc<Route>,
    /// Windows from the server's refusals of long prompts, by model.
    windows: Arc<Mutex<BTreeMap<String, usize>>>,
    /// Fields that the server has refused.
    pub(crate) learnt: Arc<Mutex<RefusedExtras>>,
    pub(crate) turns: Arc<AtomicU64>,
    pub(crate) slots: Arc<Mutex<BTreeMap<u32, SlotHolder>>>,
}

impl Target {
    pub(crate) fn new(route: Route) -> Self {
        let unwanted = (!route.session_id).then(|| "session_id".to_owned());
        Self {
            route: Arc::new(route),
            windows: Arc::default(),
            learnt: Arc::new(Mutex::new(RefusedExtras(unwanted.into_iter().collect()))),
            turns: Arc::default(),
            slots: Arc::default(),
        }
    }

    /// The window of a model there, in tokens: the agent's, else the configured one, else the server's report, else by
    /// the model's name. Never wider than the window in the server's refusal of a prompt.
    pub(crate) async fn window(&self, model: &str, agent: Option<usize>) -> ModelWindow {
        let route = &self.route;
        let asked = match route.window_tokens {
            Some(_) => None,
            None => {
                route
                    .upstream
                    .window(route.model.as_deref().unwrap_or(model))
                    .await
            }
        };
        let mut window = ModelWindow::resolve(&Claims {
            agent,
            model_config: route.window_tokens,
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
        backend::decide(self.route.kind, probed.kind, self.route.upstream.base_url())
    }

    /// Counts a request.
    pub(crate) fn next_turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }
}

/// The conversation that has a slot.
#[derive(Debug)]
pub(crate) struct SlotHolder {
    pub(crate) conversation: String,
    /// The last turn in which the conversation used the slot.
    pub(crate) last: u64,
    /// The previous conversation of the slot, which this one branched off.
    pub(crate) left: Option<String>,
}
