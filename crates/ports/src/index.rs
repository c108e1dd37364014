//! The derived index as a port: rows in, an owner's rows or the best candidates out. Everything in it can be
//! rebuilt from the vault; nothing in it is the only copy of anything.

use async_trait::async_trait;
use model::{Doc, DocKey, EmbedderId, Owner, Scope, Vector};

/// A vector as the index stores it: a byte for each number, the largest as 127. It keeps the direction and
/// loses the length.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no number is larger than the largest, which becomes 127"
)]
pub fn vector_bytes(vector: &[f32]) -> Vec<i8> {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    vector.iter().map(|x| (x * scale).round() as i8).collect()
}

/// The vector of length one for stored bytes.
pub fn vector_of(bytes: &[i8]) -> Vector {
    let squares: f32 = bytes.iter().map(|x| f32::from(*x).powi(2)).sum();
    let length = if squares > 0.0 { squares.sqrt() } else { 1.0 };
    bytes.iter().map(|x| f32::from(*x) / length).collect()
}

/// A vector after a round trip through the index. A copy of the rows outside the index uses it too, so that a
/// row has one score.
pub fn kept_vector(vector: &[f32]) -> Vector {
    vector_of(&vector_bytes(vector))
}

/// Errors of the index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The files are damaged, missing or of another version: rebuild.
    #[error("the index is not usable and must be rebuilt: {reason}")]
    Unusable { reason: String },
    /// The vector is of another model or size.
    #[error("the index contains vectors of `{have}`, not of `{given}`")]
    OtherEmbedder { have: String, given: String },
    /// The store failed; another try may succeed.
    #[error("the index store failed")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A query for the best rows of an owner that has too many to rank them all.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateQuery {
    pub scope: Scope,
    pub owner: Owner,
    /// Searched with BM25 when not empty.
    pub text: String,
    /// Searched by cosine if set.
    pub vector: Option<Vector>,
    /// Maximum number of rows of each of the two searches.
    pub limit: usize,
}

/// Size of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexStats {
    pub rows: u64,
    pub fragments: u64,
    /// Rows that the full-text index does not cover yet; searches find them anyway.
    pub unindexed_rows: u64,
    pub bytes_on_disk: u64,
    pub generation: u64,
}

/// Whether the open index can serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexHealth {
    /// The index can serve.
    Ready,
    /// Nothing was published yet: the index has at most the rows applied since its creation; rebuild if the
    /// vault has more.
    Fresh,
    /// The index cannot serve: it has no usable files, or vectors of another model.
    NeedsRebuild { reason: String },
}

/// The index. The caller must write from one task at a time (the engine has one writer task); readers never
/// wait for it.
#[async_trait]
pub trait Index: Send + Sync + std::fmt::Debug {
    /// Whether it can serve vectors of that model.
    async fn health(&self, embedder: &EmbedderId) -> IndexHealth;
    /// Adds rows and removes rows, removals first; afterwards both show in every read. `remove` must name every row
    /// that `add` replaces.
    async fn apply(&self, add: &[Doc], remove: &[DocKey]) -> Result<(), IndexError>;
    /// All rows of an owner, with vectors; the cost depends on the owner's rows, not on the size of the
    /// index.
    async fn load(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, IndexError> {
        let rows = self.load_up_to(scope, owner, usize::MAX).await?;
        Ok(rows.unwrap_or_default())
    }
    /// The same; none if there are more than that many rows.
    async fn load_up_to(
        &self,
        scope: &Scope,
        owner: &Owner,
        rows_max: usize,
    ) -> Result<Option<Vec<Doc>>, IndexError>;
    /// The facts among an owner's rows, without vectors.
    async fn facts(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, IndexError>;
    /// The existing rows with these keys, with vectors.
    async fn get(&self, keys: &[DocKey]) -> Result<Vec<Doc>, IndexError>;
    /// The best rows of an owner by BM25 and by cosine, each once, unindexed rows included.
    async fn candidates(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError>;
    /// Compacts files, updates the full-text and scalar indexes, drops old versions.
    async fn maintain(&self) -> Result<(), IndexError>;
    /// Purges removed rows from every file: `Ok` means that no file contains a word of them.
    async fn erase(&self) -> Result<(), IndexError>;
    /// Records whether a purge is owed; the record survives the process. Call it before text is removed.
    async fn owe_erasing(&self, is_owed: bool) -> Result<(), IndexError>;
    /// Whether a purge is recorded as owed.
    async fn owes_erasing(&self) -> bool;
    /// The current size.
    async fn stats(&self) -> Result<IndexStats, IndexError>;
    /// Begins a new generation next to the live one, for vectors of that model.
    async fn stage(&self, embedder: &EmbedderId) -> Result<Box<dyn IndexStage>, IndexError>;
}

/// A generation being built; dropping it unpublished leaves the live one as it was.
#[async_trait]
pub trait IndexStage: Send + Sync + std::fmt::Debug {
    /// Adds rows to the new generation.
    async fn add(&mut self, docs: &[Doc]) -> Result<(), IndexError>;
    /// Builds its indexes and makes it the live generation; readers use it from their next call on, and the
    /// old files are deleted.
    async fn publish(self: Box<Self>) -> Result<(), IndexError>;
}

#[cfg(test)]
mod tests {
    use model::dot;

    use super::{kept_vector, vector_bytes};

    #[test]
    fn a_vector_keeps_its_direction_and_comes_back_the_same_twice() {
        assert_eq!(vector_bytes(&[0.0, -0.5, 2.0, 0.1]), [0, -32, 127, 6]);
        assert_eq!(*kept_vector(&[0.0; 3]), [0.0; 3], "no direction");
        assert_eq!(*kept_vector(&[0.0, -3.0]), [0.0, -1.0]);
        // Numbers without a pattern, like a model's.
        let of = |seed: f32| {
            (1..=256).map(move |n| (n as f32 * seed).sin() / (n as f32 * seed).cos().abs().max(0.2))
        };
        let unit = |seed| {
            let vector: Vec<f32> = of(seed).collect();
            let length = dot(&vector, &vector).sqrt();
            vector.into_iter().map(|x| x / length).collect::<Vec<f32>>()
        };
        for seeds in [(0.7, 0.9), (1.3, 0.7), (2.9, 2.9), (0.1, 0.11)] {
            let (one, other) = (unit(seeds.0), unit(seeds.1));
            let kept = (kept_vector(&one), kept_vector(&other));
            let difference = dot(&one, &other) - dot(&kept.0, &kept.1);
            assert!(difference.abs() < 0.005, "{seeds:?}: {difference}");
            assert_eq!(kept.0, kept_vector(&kept.0), "kept once, it stays");
        }
    }
}
