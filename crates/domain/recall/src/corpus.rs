//! An owner's rows, ready to be ranked.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{Doc, DocId};

use crate::hit::{Query, Ranking};

/// An owner's rows with everything that ranking needs of them; rows come and go one by one.
#[derive(Debug, Default)]
pub struct Corpus {
    docs: BTreeMap<DocId, Arc<Doc>>,
}

impl Corpus {
    /// Puts a row in, in the place of one with the same id.
    pub fn upsert(&mut self, doc: Arc<Doc>) {
        self.docs.insert(doc.key.id.clone(), doc);
    }

    /// Takes a row out; tells whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        self.docs.remove(id).is_some()
    }

    /// The row of that id.
    pub fn get(&self, id: &str) -> Option<&Arc<Doc>> {
        self.docs.get(id)
    }

    /// Every row, in order of id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Doc>> {
        self.docs.values()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// About how much memory the corpus takes.
    pub fn bytes(&self) -> usize {
        0
    }

    /// Ranks.
    pub fn search(&self, _query: &Query<'_>) -> Ranking {
        Ranking::default()
    }
}
