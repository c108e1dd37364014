//! The index port.
//!
//! Owns: which generation is live, opening it when it is first needed, and that writers take turns. Never: a
//! connection or a thread before the first request.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use model::{Doc, DocKey, EmbedderId, Owner, Scope};
use ports::{CandidateQuery, Index, IndexError, IndexHealth, IndexStage, IndexStats};
use tokio::sync::{Mutex, RwLock};

use crate::current::{self, Current, CurrentFile};
use crate::errors::of_files;
use crate::generation::{Generation, Reading};
use crate::rows;
use crate::stage::Stage;
use crate::summary::Summary;
use crate::table::table_dir;

/// The index in a folder of its own. Only one process may have it open.
#[derive(Debug)]
pub struct LanceIndex {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) dir: PathBuf,
    pub(crate) state: RwLock<State>,
    /// Held while the live table is changed or swapped.
    pub(crate) writing: Mutex<()>,
    newest: AtomicU64,
}

#[derive(Debug)]
pub(crate) struct State {
    /// The model that the vectors given and asked for are of.
    pub(crate) embedder: EmbedderId,
    pub(crate) live: Live,
}

#[derive(Debug)]
pub(crate) enum Live {
    /// There is nothing yet; the first write makes a table.
    Fresh,
    /// It was built of nothing; the first write makes its table.
    Empty(Current),
    Closed(Current),
    Open(Arc<Generation>),
    Broken(String),
}

impl Live {
    pub(crate) fn generation(&self) -> Option<u64> {
        match self {
            Self::Empty(current) | Self::Closed(current) => Some(current.generation),
            Self::Open(generation) => Some(generation.current.generation),
            Self::Fresh | Self::Broken(_) => None,
        }
    }

    /// The generation, if a stage published it.
    pub(crate) fn published(&self) -> Option<u64> {
        match self {
            Self::Empty(current) | Self::Closed(current) if current.complete => Some(current.generation),
            Self::Open(generation) if generation.current.complete => Some(generation.current.generation),
            _ => None,
        }
    }
}

impl LanceIndex {
    /// The index in that folder, for vectors of that model. Costs one small read; files that a crash left go.
    pub fn open(dir: &Path, embedder: EmbedderId) -> Result<Self, IndexError> {
        let dir = std::path::absolute(dir).map_err(of_files)?;
        let generations = current::generations(&dir).map_err(of_files)?;
        let live = match current::read(&dir) {
            CurrentFile::Nothing => Live::Fresh,
            CurrentFile::Live(current) if current.has_files => Live::Closed(current),
            CurrentFile::Live(current) => Live::Empty(current),
            CurrentFile::Unreadable { reason } => Live::Broken(reason),
        };
        let number = live.generation();
        let kept = number.filter(|_| matches!(live, Live::Closed(_)));
        let broken = matches!(live, Live::Broken(_));
        let newest = generations.into_iter().chain(number).max().unwrap_or(0);
        let shared = Shared {
            dir,
            state: RwLock::new(State { embedder, live }),
            writing: Mutex::default(),
            newest: AtomicU64::new(newest),
        };
        if !broken {
            shared.remove_generations(|generation| Some(generation) != kept);
        }
        Ok(Self {
            shared: Arc::new(shared),
        })
    }
}

impl Shared {
    pub(crate) fn next_generation(&self) -> u64 {
        self.newest.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Removes generations; a failed removal is retried at the next start.
    pub(crate) fn remove_generations(&self, unwanted: impl Fn(u64) -> bool) {
        let generations = current::generations(&self.dir).unwrap_or_default();
        for generation in generations.into_iter().filter(|generation| unwanted(*generation)) {
            if let Err(error) = fs::remove_dir_all(current::generation_dir(&self.dir, generation)) {
                tracing::warn!(generation, %error, "cannot remove an old index generation");
            }
        }
    }

    /// The live generation, opened if it was not; none while nothing was written.
    async fn generation(&self) -> Result<Option<Arc<Generation>>, IndexError> {
        match &self.state.read().await.live {
            Live::Open(generation) => return Ok(Some(generation.clone())),
            Live::Fresh | Live::Empty(_) => return Ok(None),
            Live::Broken(reason) => {
                return Err(IndexError::Unusable {
                    reason: reason.clone(),
                });
            }
            Live::Closed(_) => {}
        }
        let mut state = self.state.write().await;
        if let Live::Closed(current) = &state.live {
            match Generation::open(&self.dir, current.clone()).await {
                Ok(generation) => state.live = Live::Open(Arc::new(generation)),
                Err(IndexError::Unusable { reason }) => state.live = Live::Broken(reason),
                Err(error) => return Err(error),
            }
        }
        match &state.live {
            Live::Open(generation) => Ok(Some(generation.clone())),
            Live::Broken(reason) => Err(IndexError::Unusable {
                reason: reason.clone(),
            }),
            Live::Fresh | Live::Empty(_) | Live::Closed(_) => Ok(None),
        }
    }

    /// A generation that is not open yet, with its summary, if that is known without opening it.
    async fn closed(&self) -> Option<(Current, Summary)> {
        let Live::Closed(current) = &self.state.read().await.live else {
            return None;
        };
        let dir = current::generation_dir(&self.dir, current.generation);
        let summary = Summary::read(&dir, &table_dir(&dir))?;
        Some((current.clone(), summary))
    }

    /// Health of the files for vectors of that model.
    async fn check(&self, embedder: &EmbedderId) -> Result<IndexHealth, IndexError> {
        let current = match self.closed().await {
            Some((current, summary)) => {
                let dir = current::generation_dir(&self.dir, current.generation);
                summary.check(&table_dir(&dir))?;
                current
            }
            None => match self.generation().await? {
                Some(generation) => {
                    generation.check().await?;
                    generation.current.clone()
                }
                None => return self.check_nothing(embedder).await,
            },
        };
        let Current {
            embedder: have,
            complete,
            ..
        } = current;
        if have != *embedder {
            let (model, dims) = (have.model, have.dims);
            let reason = format!("its vectors are of `{model}` ({dims} numbers)");
            return Err(IndexError::Unusable { reason });
        }
        Ok(if complete {
            IndexHealth::Ready
        } else {
            IndexHealth::Fresh
        })
    }

    /// The same where there is no table; the one to come takes vectors of the model that this index was opened for.
    async fn check_nothing(&self, embedder: &EmbedderId) -> Result<IndexHealth, IndexError> {
        let state = self.state.read().await;
        if state.embedder != *embedder {
            let reason = "it was created for another embedding model".to_owned();
            return Err(IndexError::Unusable { reason });
        }
        Ok(match state.live.published() {
            Some(_) => IndexHealth::Ready,
            None => IndexHealth::Fresh,
        })
    }

    /// A right to read the live generation, and whether its vectors may be compared with the ones given.
    async fn reading(&self) -> Result<Option<(Reading, bool)>, IndexError> {
        loop {
            if self.generation().await?.is_none() {
                return Ok(None);
            }
            // The right is taken under this lock, so a swap that comes next waits for it before it removes files.
            let state = self.state.read().await;
            if let Live::Open(generation) = &state.live {
                let reading = generation.clone().reading().await;
                let same_model = reading.current().embedder == state.embedder;
                return Ok(Some((reading, same_model)));
            }
        }
    }

    /// The live generation to write to, created if there is none.
    async fn for_writing(&self) -> Result<Arc<Generation>, IndexError> {
        if let Some(generation) = self.generation().await? {
            return Ok(generation);
        }
        let mut state = self.state.write().await;
        let (generation, complete) = match &state.live {
            // An index without earlier data is complete after its first write.
            Live::Empty(current) => (current.generation, current.complete),
            _ => (self.next_generation(), false),
        };
        let current = Current {
            generation,
            embedder: state.embedder.clone(),
            complete,
            has_files: true,
        };
        let generation = Arc::new(Generation::create(&self.dir, current.clone()).await?);
        current::write(&self.dir, &current).map_err(of_files)?;
        state.live = Live::Open(generation.clone());
        Ok(generation)
    }
}

/// Refuses vectors that are not of the table's model.
pub(crate) fn check_vectors(docs: &[Doc], given: &EmbedderId, have: &EmbedderId) -> Result<(), IndexError> {
    for vector in docs.iter().filter_map(|doc| doc.vector.as_ref()) {
        if given != have || vector.len() != have.dims {
            return Err(IndexError::OtherEmbedder {
                have: format!("{} ({})", have.model, have.dims),
                given: format!("{} ({})", given.model, vector.len()),
            });
        }
    }
    Ok(())
}

#[async_trait]
impl Index for LanceIndex {
    async fn health(&self, embedder: &EmbedderId) -> IndexHealth {
        let reason = match self.shared.check(embedder).await {
            Ok(health) => return health,
            Err(IndexError::Unusable { reason }) => reason,
            Err(error) => format!("{error}: {}", cause(&error)),
        };
        IndexHealth::NeedsRebuild { reason }
    }

    async fn apply(&self, add: &[Doc], remove: &[DocKey]) -> Result<(), IndexError> {
        let _writing = self.shared.writing.lock().await;
        let fresh = self.shared.generation().await?.is_none();
        if add.is_empty() && (fresh || remove.is_empty()) {
            return Ok(());
        }
        let generation = self.shared.for_writing().await?;
        let given = self.shared.state.read().await.embedder.clone();
        check_vectors(add, &given, &generation.current.embedder)?;
        generation.apply(add, remove).await
    }

    async fn load_up_to(
        &self,
        scope: &Scope,
        owner: &Owner,
        rows_max: usize,
    ) -> Result<Option<Vec<Doc>>, IndexError> {
        let Some((reading, same_model)) = self.shared.reading().await? else {
            return Ok(Some(Vec::new()));
        };
        let docs = reading
            .load(scope, owner, &rows::READ, (rows_max, |_| true))
            .await?;
        Ok(docs.map(|docs| comparable(docs, same_model)))
    }

    async fn facts(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, IndexError> {
        let Some((reading, _)) = self.shared.reading().await? else {
            return Ok(Vec::new());
        };
        let facts = (usize::MAX, Doc::is_fact as fn(&Doc) -> bool);
        let facts = reading.load(scope, owner, &[rows::RECORD], facts).await?;
        Ok(facts.unwrap_or_default())
    }

    async fn get(&self, keys: &[DocKey]) -> Result<Vec<Doc>, IndexError> {
        match self.shared.reading().await? {
            Some((reading, same_model)) => Ok(comparable(reading.get(keys).await?, same_model)),
            None => Ok(Vec::new()),
        }
    }

    async fn candidates(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        match self.shared.reading().await? {
            Some((reading, true)) => reading.candidates(query).await,
            Some((reading, false)) => {
                let words_only = CandidateQuery {
                    vector: None,
                    ..query.clone()
                };
                Ok(comparable(reading.candidates(&words_only).await?, false))
            }
            None => Ok(Vec::new()),
        }
    }

    async fn maintain(&self) -> Result<(), IndexError> {
        let _writing = self.shared.writing.lock().await;
        match self.shared.generation().await? {
            Some(generation) => generation.maintain().await,
            None => Ok(()),
        }
    }

    async fn erase(&self) -> Result<(), IndexError> {
        let _writing = self.shared.writing.lock().await;
        match self.shared.generation().await? {
            Some(generation) => generation.erase().await,
            None => Ok(()),
        }
    }

    async fn owe_erasing(&self, is_owed: bool) -> Result<(), IndexError> {
        current::owe_erasing(&self.shared.dir, is_owed).map_err(of_files)
    }

    async fn owes_erasing(&self) -> bool {
        current::owes_erasing(&self.shared.dir)
    }

    async fn stats(&self) -> Result<IndexStats, IndexError> {
        if let Some((Current { generation, .. }, summary)) = self.shared.closed().await {
            let dir = current::generation_dir(&self.shared.dir, generation);
            return Ok(summary.stats(generation, current::bytes_below(&dir)));
        }
        match self.shared.generation().await? {
            Some(generation) => generation.stats().await,
            None => Ok(IndexStats {
                generation: self.shared.state.read().await.live.generation().unwrap_or(0),
                ..IndexStats::default()
            }),
        }
    }

    async fn stage(&self, embedder: &EmbedderId) -> Result<Box<dyn IndexStage>, IndexError> {
        Ok(Box::new(Stage::begin(self.shared.clone(), embedder)))
    }
}

/// Rows without their vectors where those are of another model: two models are never compared.
fn comparable(mut docs: Vec<Doc>, same_model: bool) -> Vec<Doc> {
    if !same_model {
        for doc in &mut docs {
            doc.vector = None;
        }
    }
    docs
}

fn cause(error: &IndexError) -> String {
    std::error::Error::source(error).map_or_else(String::new, ToString::to_string)
}
