//! State of a server between requests: beginnings of prompts up to a mark, and conversations of the Responses
//! API.
//!
//! Owns: how each is found again. Never: the content of a request (`prompt`), caches without marks
//! (`prefix::sim`).

use std::collections::{BTreeMap, BTreeSet};

use crate::caches::Evaluated;
use prefix::Digest;
use serde_json::{Value, json};

/// A mark finds a cached beginning that ends at most this many blocks before it.
const LOOKBACK_BLOCKS: usize = 20;

/// The end of a tool list, of the system text or of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Border {
    /// Position in tokens.
    pub(super) end: usize,
    /// Number of blocks that end there.
    pub(super) blocks: usize,
    pub(super) marked: bool,
}

/// The beginnings that were marked.
#[derive(Debug, Default)]
pub(super) struct Marks(BTreeSet<Vec<u32>>);

impl Marks {
    pub(super) fn request(&mut self, tokens: &[u32], borders: &[Border]) -> Evaluated {
        let marked = |at: &usize| borders[*at].marked;
        let places: Vec<usize> = (0..borders.len()).filter(marked).collect();
        let cached = places
            .iter()
            .filter_map(|at| self.before(tokens, &borders[..=*at]))
            .max();
        let ends = places.iter().map(|at| tokens[..borders[*at].end].to_vec());
        self.0.extend(ends);
        let cached = cached.unwrap_or(0);
        Evaluated {
            cached,
            evaluated: tokens.len() - cached,
        }
    }

    fn before(&self, tokens: &[u32], borders: &[Border]) -> Option<usize> {
        let mut blocks = 0;
        let near = borders.iter().rev().take_while(|border| {
            let is_near = blocks <= LOOKBACK_BLOCKS;
            blocks += border.blocks;
            is_near
        });
        near.map(|border| border.end)
            .find(|end| self.0.contains(&tokens[..*end]))
    }
}

/// The items of each response and conversation, by its id, and each item of a reply by its own id.
#[derive(Debug, Default)]
pub(super) struct Responses(BTreeMap<String, Vec<Value>>);

impl Responses {
    /// The whole conversation of a request, its own input at the end; none if the request names an unknown
    /// response.
    pub(super) fn full_input(&self, request: &Value) -> Option<Vec<Value>> {
        let before = match (request["previous_response_id"].as_str(), conversation(request)) {
            (Some(id), _) => self.0.get(id)?.clone(),
            (None, Some(id)) => self.0.get(id).cloned().unwrap_or_default(),
            (None, None) => Vec::new(),
        };
        let input = match &request["input"] {
            Value::Array(items) => items.clone(),
            text => vec![json!({"role": "user", "content": text})],
        };
        let named = input.into_iter().map(|item| match item["type"].as_str() {
            Some("item_reference") => self.0.get(item["id"].as_str()?)?.first().cloned(),
            _ => Some(item),
        });
        before.into_iter().map(Some).chain(named).collect()
    }

    /// Stores the input and the reply; returns their id. The same items get the same id.
    pub(super) fn keep(&mut self, request: &Value, output: Vec<Value>) -> String {
        let id_of = |item: &Value| Some((item["id"].as_str()?.to_owned(), vec![item.clone()]));
        self.0.extend(output.iter().filter_map(id_of));
        let said: Vec<Value> = self
            .full_input(request)
            .into_iter()
            .flatten()
            .chain(output)
            .collect();
        let id = format!(
            "resp_{}",
            Digest::of(Value::from(said.clone()).to_string().as_bytes())
        );
        if let Some(conversation) = conversation(request) {
            self.0.insert(conversation.to_owned(), said.clone());
        }
        self.0.insert(id.clone(), said);
        id
    }
}

/// A string, or an object with an id.
fn conversation(request: &Value) -> Option<&str> {
    let named = &request["conversation"];
    named.as_str().or_else(|| named["id"].as_str())
}
