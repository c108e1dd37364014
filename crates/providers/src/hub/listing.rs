//! A hub's data about a model's revision.
//!
//! Owns: the used fields of its answer. Never: using a name in it for more than a comparison.

use serde::Deserialize;

/// A revision's commit and files.
#[derive(Debug, Deserialize)]
pub(super) struct Listing {
    #[serde(rename = "sha")]
    pub(super) commit: String,
    siblings: Vec<Sibling>,
}

#[derive(Debug, Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    lfs: Option<Lfs>,
}

#[derive(Debug, Deserialize)]
struct Lfs {
    sha256: String,
}

/// A file that can be downloaded.
#[derive(Debug)]
pub(super) struct RemoteFile {
    pub(super) name: &'static str,
    pub(super) bytes: u64,
    /// In hex; large files have one.
    pub(super) sha256: Option<String>,
}

impl Listing {
    /// The file of that name, if the revision has it.
    pub(super) fn file(&self, name: &'static str) -> Option<RemoteFile> {
        let found = self.siblings.iter().find(|sibling| sibling.rfilename == name)?;
        Some(RemoteFile {
            name,
            bytes: found.size.unwrap_or(0),
            sha256: found.lfs.as_ref().map(|lfs| lfs.sha256.to_lowercase()),
        })
    }
}
