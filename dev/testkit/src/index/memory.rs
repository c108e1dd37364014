//! The in-memory index: the port's promises, strictly, and faults on demand.
//!
//! Owns: protocol checks (a caller that breaks the port's rules panics here) and planned faults. Never: files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use model::text::{query_terms, term_set};
use model::{Doc, DocKey, EmbedderId, Owner, Scope, dot};
use ports::{CandidateQuery, Index, IndexError, IndexHealth, IndexStage, IndexStats, kept_vector};

/// An index in memory. Clones share their rows, so a test keeps a handle on an index that it passed on.
///
/// A row added with a known key that `remove` does not name is a panic: LanceDB would keep both.
#[derive(Debug, Clone)]
pub struct MemoryIndex {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    live: Generation,
    published: bool,
    damage: Option<String>,
    owes_erasing: bool,
    erasures: usize,
    generations: u64,
    calls: u64,
    fail_call: Option<u64>,
}

#[derive(Debug)]
struct Generation {
    number: u64,
    embedder: EmbedderId,
    rows: BTreeMap<DocKey, Doc>,
    /// Removed rows that the files still contain.
    traces: Vec<Doc>,
}

impl MemoryIndex {
    /// An empty index, just created, for vectors of that model.
    pub fn new(embedder: EmbedderId) -> Self {
        let shared = Shared {
            live: Generation::new(1, embedder),
            published: false,
            damage: None,
            owes_erasing: false,
            erasures: 0,
            generations: 1,
            calls: 0,
            fail_call: None,
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
        }
    }

    /// Makes the n-th call from now fail, counted from 1 over every call that can fail, those of stages
    /// included.
    ///
    /// A failing `apply` has done its removals, the part that a real store may have done; other calls have no
    /// effect.
    pub fn fail_call(&self, n: u64) {
        let mut shared = self.lock();
        shared.fail_call = Some(shared.calls + n);
    }

    /// Number of calls that can fail, failed ones included.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Deletes everything, like a person who deletes the index's folder: it is fresh again.
    pub fn wipe(&self) {
        let mut shared = self.lock();
        shared.live.rows.clear();
        shared.live.traces.clear();
        shared.published = false;
        shared.damage = None;
    }

    /// Damages the files: no call works until a new generation is published.
    pub fn damage(&self, reason: &str) {
        self.lock().damage = Some(reason.to_owned());
    }

    /// Whether its files contain a word, in a row or in a removed row.
    pub fn holds(&self, word: &str) -> bool {
        let shared = self.lock();
        let mut all = shared.live.rows.values().chain(&shared.live.traces);
        all.any(|doc| {
            [&doc.subject, &doc.summary, &doc.text]
                .iter()
                .any(|text| text.contains(word))
        })
    }

    /// How often removed rows were purged from its files.
    pub fn erasures(&self) -> usize {
        self.lock().erasures
    }

    /// Every row it holds, in order of key.
    pub fn rows(&self) -> Vec<Doc> {
        self.lock().live.rows.values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared
            .lock()
            .expect("no call panics while it holds the lock, except to fail its test")
    }

    fn serving(&self) -> Result<MutexGuard<'_, Shared>, IndexError> {
        let mut shared = self.lock();
        shared.count_call()?;
        match &shared.damage {
            Some(reason) => Err(IndexError::Unusable {
                reason: reason.clone(),
            }),
            None => Ok(shared),
        }
    }
}

impl Shared {
    fn count_call(&mut self) -> Result<(), IndexError> {
        self.calls += 1;
        if self.fail_call == Some(self.calls) {
            return Err(IndexError::Store("a planned fault".into()));
        }
        Ok(())
    }
}

impl Generation {
    fn new(number: u64, embedder: EmbedderId) -> Self {
        Self {
            number,
            embedder,
            rows: BTreeMap::new(),
            traces: Vec::new(),
        }
    }

    fn remove(&mut self, keys: &[DocKey]) {
        let removed = keys.iter().filter_map(|key| self.rows.remove(key));
        self.traces.extend(removed);
    }

    fn check(&self, docs: &[Doc]) -> Result<(), IndexError> {
        let stranger = docs
            .iter()
            .filter_map(|doc| doc.vector.as_ref())
            .find(|vector| vector.len() != self.embedder.dims);
        match stranger {
            Some(vector) => Err(IndexError::OtherEmbedder {
                have: format!("{} ({})", self.embedder.model, self.embedder.dims),
                given: format!("{} numbers", vector.len()),
            }),
            None => Ok(()),
        }
    }

    fn add(&mut self, docs: &[Doc]) {
        for doc in docs {
            let mut kept = doc.clone();
            let vector = doc.vector.as_ref();
            kept.vector = vector.map(|vector| kept_vector(vector));
            let replaced = self.rows.insert(doc.key.clone(), kept);
            assert!(
                replaced.is_none(),
                "{:?} is added, is there already, and is not removed",
                doc.key
            );
        }
    }

    fn of_owner<'a>(&'a self, scope: &'a Scope, owner: &'a Owner) -> impl Iterator<Item = &'a Doc> {
        self.rows
            .values()
            .filter(move |doc| doc.key.scope == *scope && doc.key.owner == *owner)
    }
}

#[async_trait]
impl Index for MemoryIndex {
    async fn health(&self, embedder: &EmbedderId) -> IndexHealth {
        let shared = self.lock();
        if let Some(reason) = &shared.damage {
            return IndexHealth::NeedsRebuild {
                reason: reason.clone(),
            };
        }
        if shared.live.embedder != *embedder {
            let reason = format!("its vectors are of `{}`", shared.live.embedder.model);
            return IndexHealth::NeedsRebuild { reason };
        }
        if shared.published {
            IndexHealth::Ready
        } else {
            IndexHealth::Fresh
        }
    }

    async fn apply(&self, add: &[Doc], remove: &[DocKey]) -> Result<(), IndexError> {
        let mut shared = match self.serving() {
            Ok(shared) => shared,
            Err(error) => {
                if matches!(error, IndexError::Store(_)) {
                    self.lock().live.remove(remove);
                }
                return Err(error);
            }
        };
        shared.live.check(add)?;
        shared.live.remove(remove);
        shared.live.add(add);
        Ok(())
    }

    async fn load_up_to(
        &self,
        scope: &Scope,
        owner: &Owner,
        rows_max: usize,
    ) -> Result<Option<Vec<Doc>>, IndexError> {
        let docs: Vec<Doc> = self.serving()?.live.of_owner(scope, owner).cloned().collect();
        Ok(Some(docs).filter(|docs| docs.len() <= rows_max))
    }

    async fn facts(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, IndexError> {
        let shared = self.serving()?;
        let facts = shared.live.of_owner(scope, owner).filter(|doc| doc.is_fact());
        Ok(facts
            .map(|doc| Doc {
                vector: None,
                ..doc.clone()
            })
            .collect())
    }

    async fn get(&self, keys: &[DocKey]) -> Result<Vec<Doc>, IndexError> {
        let shared = self.serving()?;
        let wanted: BTreeSet<&DocKey> = keys.iter().collect();
        let rows = shared.live.rows.values();
        Ok(rows.filter(|doc| wanted.contains(&doc.key)).cloned().collect())
    }

    async fn candidates(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        let shared = self.serving()?;
        let rows: Vec<&Doc> = shared.live.of_owner(&query.scope, &query.owner).collect();
        let wanted: BTreeSet<String> = query_terms(&query.text).into_iter().collect();
        let by_text = best(&rows, query.limit, |doc| {
            let have = term_set(&format!("{} {} {}", doc.subject, doc.summary, doc.text));
            Some(wanted.intersection(&have).count() as f32).filter(|shared| *shared > 0.0)
        });
        let by_vector = best(&rows, query.limit, |doc| {
            Some(cosine(query.vector.as_deref()?, doc.vector.as_deref()?))
        });
        let mut seen = BTreeSet::new();
        let each = by_text.into_iter().chain(by_vector);
        Ok(each.filter(|doc| seen.insert(&doc.key)).cloned().collect())
    }

    async fn maintain(&self) -> Result<(), IndexError> {
        drop(self.serving()?);
        Ok(())
    }

    async fn erase(&self) -> Result<(), IndexError> {
        let mut shared = self.serving()?;
        shared.live.traces.clear();
        shared.erasures += 1;
        Ok(())
    }

    async fn owe_erasing(&self, is_owed: bool) -> Result<(), IndexError> {
        let mut shared = self.lock();
        shared.count_call()?;
        shared.owes_erasing = is_owed;
        Ok(())
    }

    async fn owes_erasing(&self) -> bool {
        self.lock().owes_erasing
    }

    async fn stats(&self) -> Result<IndexStats, IndexError> {
        let shared = self.serving()?;
        Ok(IndexStats {
            rows: shared.live.rows.len() as u64,
            generation: shared.live.number,
            ..IndexStats::default()
        })
    }

    async fn stage(&self, embedder: &EmbedderId) -> Result<Box<dyn IndexStage>, IndexError> {
        let mut shared = self.lock();
        shared.count_call()?;
        shared.generations += 1;
        Ok(Box::new(MemoryStage {
            index: self.clone(),
            staged: Generation::new(shared.generations, embedder.clone()),
        }))
    }
}

#[derive(Debug)]
struct MemoryStage {
    index: MemoryIndex,
    staged: Generation,
}

#[async_trait]
impl IndexStage for MemoryStage {
    async fn add(&mut self, docs: &[Doc]) -> Result<(), IndexError> {
        self.index.lock().count_call()?;
        self.staged.check(docs)?;
        self.staged.add(docs);
        Ok(())
    }

    async fn publish(self: Box<Self>) -> Result<(), IndexError> {
        let mut shared = self.index.lock();
        shared.count_call()?;
        shared.live = self.staged;
        shared.published = true;
        shared.damage = None;
        Ok(())
    }
}

/// The `limit` rows of the highest score; rows without a score are left out.
fn best<'a>(rows: &[&'a Doc], limit: usize, score: impl Fn(&Doc) -> Option<f32>) -> Vec<&'a Doc> {
    let mut scored: Vec<_> = rows.iter().filter_map(|doc| Some((score(doc)?, *doc))).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    scored.into_iter().take(limit).map(|(_, doc)| doc).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f32::MIN_POSITIVE)
}
