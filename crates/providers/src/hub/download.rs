//! Downloads that survive interruptions: a part file grows, and gets its name when it is complete.
//!
//! Owns: requests to the hub, ranges, checksums, renames. Never: the choice of files.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ports::Clock;
use reqwest::header::{AUTHORIZATION, RANGE};
use reqwest::{Client, Response, StatusCode, Url};
use sha2::{Digest, Sha256};

use super::listing::{Listing, RemoteFile};
use super::{Hub, HubError};
use crate::http::{client, describe};
use crate::key::{ApiKey, redact};

/// A transfer without a byte for this long counts as broken; one that moves may take any time.
const STALL: Duration = Duration::from_secs(30);
const ATTEMPTS: u32 = 5;
const WAIT: Duration = Duration::from_secs(2);

/// Requests for one model.
pub(super) struct Downloads<'a> {
    client: Client,
    base: Url,
    token: Option<ApiKey>,
    repo: &'a str,
    cache: &'a Path,
    clock: Arc<dyn Clock>,
}

/// The failure of one attempt.
enum DownloadMiss {
    Again(String),
    Final(HubError),
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> HubError {
    let path = path.to_owned();
    move |source| HubError::Io { path, source }
}

/// Writes a small file completely or not at all.
pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), HubError> {
    let part = part_of(path);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(io(folder))?;
    }
    std::fs::write(&part, bytes).map_err(io(&part))?;
    std::fs::rename(&part, path).map_err(io(path))
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

impl<'a> Downloads<'a> {
    pub(super) fn new(
        hub: &Hub,
        repo: &'a str,
        cache: &'a Path,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, HubError> {
        let refused = |reason: String| HubError::Refused {
            what: repo.to_owned(),
            reason,
        };
        let base = Url::parse(&hub.endpoint).ok().filter(Url::has_host);
        let base = base.ok_or_else(|| refused("the hub's address is not an HTTP address".to_owned()))?;
        let client = client(&base).map_err(refused)?;
        Ok(Self {
            client,
            base,
            token: hub.token.clone(),
            repo,
            cache,
            clock,
        })
    }

    /// The hub's files at a revision.
    pub(super) async fn listing(&self, revision: &str) -> Result<Listing, HubError> {
        let repo = self.repo.split('/');
        let path: Vec<&str> = ["api", "models"]
            .into_iter()
            .chain(repo)
            .chain(["revision", revision])
            .collect();
        let mut url = self.url(&path);
        url.set_query(Some("blobs=true"));
        let mut attempt = 1;
        loop {
            let missed = match self.read_listing(&url).await {
                Ok(listing) => return Ok(listing),
                Err(missed) => missed,
            };
            self.rest_or_give_up(missed, attempt).await?;
            attempt += 1;
        }
    }

    async fn read_listing(&self, url: &Url) -> Result<Listing, DownloadMiss> {
        let mut response = self.get(url, 0).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = self.moving(response.chunk()).await? {
            bytes.extend_from_slice(&chunk);
        }
        let listing = serde_json::from_slice::<Listing>(&bytes).ok();
        // The commit becomes the name of a folder.
        let listing =
            listing.filter(|l| !l.commit.is_empty() && l.commit.chars().all(|c| c.is_ascii_alphanumeric()));
        listing.ok_or_else(|| {
            let reason = "the answer is not from a model hub".to_owned();
            DownloadMiss::Final(HubError::Refused {
                what: self.repo.to_owned(),
                reason,
            })
        })
    }

    /// Downloads one file into the folder, unless it is there.
    pub(super) async fn file(
        &self,
        commit: &str,
        file: &RemoteFile,
        folder: &Path,
        tell: &(dyn Fn(u64) + Send + Sync),
    ) -> Result<(), HubError> {
        let path = folder.join(file.name);
        if path.is_file() {
            tell(file.bytes);
            return Ok(());
        }
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(io(parent))?;
        let part = part_of(&path);
        let steps = self
            .repo
            .split('/')
            .chain(["resolve", commit])
            .chain(file.name.split('/'));
        let url = self.url(&steps.collect::<Vec<_>>());
        let mut attempt = 1;
        let mut damaged = false;
        loop {
            match self.append(&url, file, &part, tell).await {
                Ok(()) if is_complete(&part, file).map_err(io(&part))? => break,
                // The part file had other content: try once more from nothing.
                Ok(()) if !damaged => {
                    std::fs::remove_file(&part).map_err(io(&part))?;
                    damaged = true;
                }
                Ok(()) => {
                    std::fs::remove_file(&part).map_err(io(&part))?;
                    return Err(HubError::Damaged {
                        file: file.name.to_owned(),
                    });
                }
                Err(missed) => {
                    self.rest_or_give_up(missed, attempt).await?;
                    attempt += 1;
                }
            }
        }
        std::fs::rename(&part, &path).map_err(io(&path))
    }

    /// Appends the missing bytes to the part file.
    async fn append(
        &self,
        url: &Url,
        file: &RemoteFile,
        part: &Path,
        tell: &(dyn Fn(u64) + Send + Sync),
    ) -> Result<(), DownloadMiss> {
        let final_io = |source| DownloadMiss::Final(io(part)(source));
        let mut have = std::fs::metadata(part).map_or(0, |found| found.len());
        if have > 0 && have >= file.bytes {
            return Ok(());
        }
        let mut response = self.get(url, have).await?;
        let is_rest = response.status() == StatusCode::PARTIAL_CONTENT;
        if !is_rest {
            have = 0;
        }
        let mut open = OpenOptions::new();
        open.create(true).append(is_rest).write(true).truncate(!is_rest);
        let mut out = open.open(part).map_err(final_io)?;
        while let Some(chunk) = self.moving(response.chunk()).await? {
            out.write_all(&chunk).map_err(final_io)?;
            have += chunk.len() as u64;
            tell(have);
        }
        out.sync_all().map_err(final_io)
    }

    /// The successful answer to a request for a file from a byte on.
    async fn get(&self, url: &Url, from: u64) -> Result<Response, DownloadMiss> {
        let mut request = self.client.get(url.clone());
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.bearer());
        }
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        let response = self.moving(request.send()).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let reason = format!("{} answered {}", self.host(), status.as_u16());
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(DownloadMiss::Again(reason));
        }
        let advice = match status.as_u16() {
            401 | 403 => "; the model does not exist, or needs a token",
            404 => "; check the model's id and revision",
            _ => "",
        };
        let what = self.repo.to_owned();
        Err(DownloadMiss::Final(HubError::Refused {
            what,
            reason: format!("{reason}{advice}"),
        }))
    }

    /// The result of a step that must not take longer than a stall.
    async fn moving<T>(&self, step: impl Future<Output = reqwest::Result<T>>) -> Result<T, DownloadMiss> {
        tokio::select! {
            done = step => done.map_err(|error| DownloadMiss::Again(redact(&describe(error), self.token.as_ref()))),
            () = self.clock.sleep(STALL) => Err(DownloadMiss::Again(format!("no data for {} s", STALL.as_secs()))),
        }
    }

    async fn rest_or_give_up(&self, missed: DownloadMiss, attempt: u32) -> Result<(), HubError> {
        match missed {
            DownloadMiss::Final(error) => Err(error),
            DownloadMiss::Again(reason) if attempt >= ATTEMPTS => Err(HubError::Unreachable {
                repo: self.repo.to_owned(),
                cache: self.cache.to_owned(),
                reason,
            }),
            DownloadMiss::Again(_) => {
                self.clock.sleep(WAIT).await;
                Ok(())
            }
        }
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }
}

fn is_complete(part: &Path, file: &RemoteFile) -> std::io::Result<bool> {
    let mut input = File::open(part)?;
    let bytes = input.metadata()?.len();
    if file.bytes > 0 && bytes != file.bytes {
        return Ok(false);
    }
    let Some(expected) = &file.sha256 else {
        return Ok(true);
    };
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match input.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(model::hex(hash.finalize()) == *expected)
}
