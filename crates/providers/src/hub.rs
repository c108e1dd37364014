//! The files of a model from a hub, in a cache with the layout of the hub's own tools.
//!
//! Owns: the list of files that a local embedding model needs, resuming a broken download, checking
//! downloads. Never: running the model, or replacing a cached revision by a newer one; a model that changes
//! under an index would spoil it.

mod download;
mod listing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::Clock;

use crate::key::ApiKey;
use download::Downloads;

const NEEDED: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];
const WELCOME: [&str; 4] = [
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
];

model::defaults! {
    /// The source of the files.
    #[derive(Debug, Clone)]
    pub struct Hub {
        /// As in `https://huggingface.co`.
        pub endpoint: String = "https://huggingface.co".to_owned(),
        /// Token for private models.
        pub token: Option<ApiKey>,
    }
}

/// Why the files are missing.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The text is no valid model id.
    #[error("`{0}` is not the id of a model: write it as in `sentence-transformers/all-MiniLM-L6-v2`")]
    Id(String),
    /// The hub does not answer and the cache does not have it.
    #[error(
        "`{repo}` is not in `{}` and the hub is not reachable ({reason}): connect, or name a folder that holds the model",
        cache.display()
    )]
    Unreachable {
        repo: String,
        cache: PathBuf,
        reason: String,
    },
    /// The hub answered that it has no such model or file, or not for this user.
    #[error("the hub did not return `{what}`: {reason}")]
    Refused { what: String, reason: String },
    /// The model has no weights in a supported format.
    #[error("`{repo}` has no `{file}`: choose a model that has it")]
    Missing { repo: String, file: &'static str },
    /// The download is not the file that the hub promised.
    #[error("`{file}` was damaged in two downloads: try again later")]
    Damaged { file: String },
    #[error("cannot write to `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// Receives the number of bytes received and expected.
pub type OnBytes<'a> = &'a (dyn Fn(u64, u64) + Send + Sync);

/// The folder with a model's files: from the cache if it has that revision, else downloaded into it.
pub async fn fetch(
    hub: &Hub,
    repo: &str,
    revision: &str,
    cache: &Path,
    clock: Arc<dyn Clock>,
    progress: OnBytes<'_>,
) -> Result<PathBuf, HubError> {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    let is_id = repo.split('/').count() <= 2 && repo.split('/').all(is_part);
    if !is_id || !revision.split('/').all(is_part) {
        return Err(HubError::Id(format!("{repo}@{revision}")));
    }
    let home = cache.join(format!("models--{}", repo.replace('/', "--")));
    if let Some(folder) = cached(&home, revision) {
        return Ok(folder);
    }
    let downloads = Downloads::new(hub, repo, cache, clock)?;
    let listing = downloads.listing(revision).await?;
    let folder = home.join("snapshots").join(&listing.commit);
    let mut files = Vec::new();
    for name in NEEDED {
        files.push(listing.file(name).ok_or(HubError::Missing {
            repo: repo.to_owned(),
            file: name,
        })?);
    }
    files.extend(WELCOME.iter().filter_map(|name| listing.file(name)));
    let total = files.iter().map(|file| file.bytes).sum();
    let mut before = 0;
    // Required files are downloaded last, so their presence means that the folder is complete.
    for file in files.iter().rev() {
        let tell = |bytes: u64| progress(before + bytes, total);
        downloads.file(&listing.commit, file, &folder, &tell).await?;
        before += file.bytes;
    }
    let reference = home.join("refs").join(revision);
    download::write_atomically(&reference, listing.commit.as_bytes())?;
    Ok(folder)
}

/// The folder of a revision, a branch or a commit, if it has all required files.
fn cached(home: &Path, revision: &str) -> Option<PathBuf> {
    let commit = std::fs::read_to_string(home.join("refs").join(revision));
    let commit = commit.map_or_else(|_| revision.to_owned(), |commit| commit.trim().to_owned());
    // The value of a reference becomes part of a path.
    let is_plain = !commit.is_empty() && commit.chars().all(|c| c.is_ascii_alphanumeric());
    let folder = home.join("snapshots").join(&commit);
    (is_plain && NEEDED.iter().all(|name| folder.join(name).is_file())).then_some(folder)
}
