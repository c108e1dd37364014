//! An embedder whose vectors are bags of hashed words: texts that share words are close, others nearly orthogonal.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use model::text::Fnv;
use model::{EmbedderId, Vector};
use ports::{EmbedError, EmbedPurpose, Embedder};

/// A deterministic embedder; the same text gives the same vector in every process.
#[derive(Debug)]
pub struct HashEmbedder {
    id: EmbedderId,
    instant: bool,
    failing: AtomicBool,
    calls: AtomicUsize,
}

impl HashEmbedder {
    /// An instant embedder of that many dimensions, named `fake/hash/DIMS`.
    ///
    /// # Panics
    /// When `dims` is 0.
    pub fn new(dims: usize) -> Self {
        Self::with_name(&format!("fake/hash/{dims}"), dims)
    }

    /// The same under another name, and with other vectors: another model.
    pub fn with_name(model: &str, dims: usize) -> Self {
        assert!(dims > 0, "a vector has at least one number");
        Self {
            id: EmbedderId {
                model: model.to_owned(),
                dims,
            },
            instant: true,
            failing: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
        }
    }

    /// Declares itself slow: requests must not wait for it.
    #[must_use]
    pub fn slow(mut self) -> Self {
        self.instant = false;
        self
    }

    /// Sets whether every later call fails with [`EmbedError::Unavailable`].
    pub fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::SeqCst);
    }

    /// Number of calls, failed ones included.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The vector of one text.
    pub fn vector(&self, text: &str) -> Vector {
        let mut sums = vec![0.0_f32; self.id.dims];
        let mut salt = Fnv::default();
        salt.bytes(self.id.model.as_bytes());
        for word in text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
        {
            let mut hash = salt;
            hash.bytes(word.to_lowercase().as_bytes());
            let hash = mix(hash.value());
            let slot = usize::try_from(hash >> 1).unwrap_or(usize::MAX) % sums.len();
            sums[slot] += if hash & 1 == 0 { 1.0 } else { -1.0 };
        }
        let length = sums.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for sum in &mut sums {
                *sum /= length;
            }
        }
        sums.into()
    }
}

/// Spreads the entropy of all bits over the low ones, which choose the slot and the sign.
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[async_trait]
impl Embedder for HashEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn is_instant(&self) -> bool {
        self.instant
    }

    async fn embed(&self, texts: &[&str], _purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.failing.load(Ordering::SeqCst) {
            return Err(EmbedError::Unavailable {
                reason: "planted fault".to_owned(),
            });
        }
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}
