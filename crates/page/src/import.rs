//! Import: upload an export, and watch it become memory.
//!
//! Owns: the upload, the imports of this process, and their progress. Never: reading a format ([`Importer`] does).

use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use askama::Template;
use axum::extract::{Multipart, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use gateway::{ApiError, Client};
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

use crate::frame::{PageFrame, Problem, html, status_code, written};
use crate::visit::{MemoryOwner, PageState, Visit};
use crate::words;

/// Maximum size of an upload, in bytes.
const BYTES_MAX: u64 = 4 << 30;
/// Maximum number of imports in the list.
const KEPT_MAX: usize = 20;
/// Interval of checks for progress.
const LOOK: Duration = Duration::from_millis(300);

/// Reads exports. The command line implements it.
pub trait Importer: Send + Sync + std::fmt::Debug {
    /// Creates a folder for an upload that only this user of the system can read.
    fn folder(&self, number: u64) -> std::io::Result<PathBuf>;
    /// Imports a file to the end.
    fn import(&self, job: ImportJob) -> Importing;
}

/// A running import: its error is a message for a person.
pub type Importing = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A file to import.
#[derive(Debug, Clone)]
pub struct ImportJob {
    /// The API, with the visitor's token.
    pub client: Client,
    pub app: String,
    pub project: String,
    /// The speaker of messages without one.
    pub user: String,
    pub file: PathBuf,
    /// Also store messages that were deleted before.
    pub accept_forgotten: bool,
    pub progress: Arc<Mutex<ImportProgress>>,
}

/// The progress of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportProgress {
    pub bytes: u64,
    pub read_bytes: u64,
    pub conversations: usize,
    pub messages: usize,
    pub new: usize,
    /// Messages that were deleted before: those left out, and those stored again.
    pub forgotten: usize,
    pub restored: usize,
    /// Number of secrets that were removed.
    pub redacted: usize,
    /// Parts of the file that could not be read, with the reason.
    pub skipped: Vec<String>,
    /// Sessions with finished memories, and all sessions.
    pub written: usize,
    pub sessions: usize,
    /// The file is read, and memories are being written.
    pub is_read: bool,
}

/// An import of this process.
#[derive(Debug, Clone)]
struct KeptImport {
    number: u64,
    name: String,
    owner: MemoryOwner,
    progress: Arc<Mutex<ImportProgress>>,
    /// Deletions of the tenant before the import. After a further one the entry goes: its memories may be among the
    /// deleted.
    forgets: usize,
    /// None while the import runs.
    ended: Option<Result<(), String>>,
}

/// The imports of this process, the newest first.
#[derive(Debug, Clone)]
pub(crate) struct Imports {
    importer: Arc<dyn Importer>,
    entries: Arc<Mutex<Vec<KeptImport>>>,
    /// Dropping the last clone of `Imports` stops the imports.
    running: Arc<Mutex<JoinSet<()>>>,
    next: Arc<AtomicU64>,
}

impl Imports {
    pub(crate) fn new(importer: Arc<dyn Importer>) -> Self {
        Self {
            importer,
            entries: Arc::default(),
            running: Arc::default(),
            next: Arc::default(),
        }
    }

    fn start(&self, number: u64, name: String, job: ImportJob, visit: &Visit) {
        let (owner, file) = (visit.owner.clone(), job.file.clone());
        let entry = KeptImport {
            number,
            name,
            forgets: visit.visitor.deletions(&owner.scope()),
            owner,
            progress: job.progress.clone(),
            ended: None,
        };
        let mut entries = self.entries.lock();
        entries.insert(0, entry);
        entries.truncate(KEPT_MAX);
        drop(entries);
        let (work, entries) = (self.importer.import(job), self.entries.clone());
        let mut running = self.running.lock();
        while running.try_join_next().is_some() {}
        running.spawn(async move {
            let ended = work.await;
            remove(&file).await;
            let mut entries = entries.lock();
            if let Some(entry) = entries.iter_mut().find(|entry| entry.number == number) {
                entry.ended = Some(ended);
            }
        });
    }

    /// The imports that the visitor may see.
    fn of(&self, visit: &Visit) -> Vec<KeptImport> {
        let is_theirs = |entry: &&KeptImport| {
            visit.visitor.sees_all
                || (entry.owner.app == visit.visitor.home.app.as_str()
                    && entry.owner.project == visit.visitor.home.project.as_str())
        };
        let mut entries = self.entries.lock();
        entries.retain(|entry| {
            entry.ended.is_none() || visit.visitor.deletions(&entry.owner.scope()) == entry.forgets
        });
        entries.iter().filter(is_theirs).cloned().collect()
    }
}

/// Removes an upload with its folder, which contains nothing else.
async fn remove(file: &std::path::Path) {
    if let Some(folder) = file.parent() {
        // The next start removes the rest.
        tokio::fs::remove_dir_all(folder).await.ok();
    }
}

#[derive(Template)]
#[template(path = "import_live.html")]
struct ImportsPart {
    /// Each import with its progress.
    rows: Vec<(KeptImport, ImportProgress)>,
}

#[derive(Template)]
#[template(path = "import.html")]
struct ImportView {
    frame: PageFrame,
    memory: String,
    problem: Option<String>,
    live: ImportsPart,
}

pub(crate) async fn page(State(page): State<PageState>, visit: Visit) -> Result<Response, Problem> {
    Ok(html(&view(&page, &visit, None)?))
}

fn view(page: &PageState, visit: &Visit, problem: Option<String>) -> Result<ImportView, ApiError> {
    allowed(visit)?;
    Ok(ImportView {
        frame: PageFrame::new(visit, "/page/import", "Import"),
        memory: visit.owner.memory(),
        problem,
        live: live_part(page, visit),
    })
}

/// Refuses a token of one user: an import also stores messages of others.
fn allowed(visit: &Visit) -> Result<(), ApiError> {
    match &visit.visitor.user {
        None => Ok(()),
        Some(user) => Err(ApiError::refused(
            403,
            format!("this token opens the memory of `{user}` only: import with a token for the tenant"),
        )),
    }
}

pub(crate) async fn start(
    State(page): State<PageState>,
    visit: Visit,
    parts: Multipart,
) -> Result<Response, Problem> {
    allowed(&visit)?;
    let number = page.imports.next.fetch_add(1, Ordering::Relaxed);
    match stored(parts, &page.imports, number, &visit).await {
        Ok((name, job)) => {
            page.imports.start(number, name, job, &visit);
            let address = format!("/page/import?{}", visit.owner.query());
            Ok(Redirect::to(&address).into_response())
        }
        Err(refused) => {
            let status = status_code(&refused);
            Ok((status, html(&view(&page, &visit, Some(refused.to_string()))?)).into_response())
        }
    }
}

/// Writes a form's file into a folder of its own. Returns its name and the import job.
async fn stored(
    mut parts: Multipart,
    imports: &Imports,
    number: u64,
    visit: &Visit,
) -> Result<(String, ImportJob), ApiError> {
    let (mut accept_forgotten, mut stored) = (false, None);
    let broken = |_| ApiError::refused(400, "the upload ended too early: try again");
    let unwritten =
        |error: std::io::Error| ApiError::refused(507, format!("cannot store the upload: {error}"));
    while let Some(mut field) = parts.next_field().await.map_err(broken)? {
        accept_forgotten |= field.name() == Some("forgotten");
        let Some(name) = field
            .file_name()
            .map(str::to_owned)
            .filter(|name| !name.is_empty())
        else {
            continue;
        };
        let folder = imports.importer.folder(number).map_err(unwritten)?;
        let file = folder.join(plain(&name));
        let write = async {
            let mut out = tokio::fs::File::create(&file).await.map_err(unwritten)?;
            let mut bytes = 0;
            while let Some(chunk) = field.chunk().await.map_err(broken)? {
                bytes += chunk.len() as u64;
                if bytes > BYTES_MAX {
                    return Err(ApiError::refused(413, "the file has more than 4 GiB: split it"));
                }
                out.write_all(&chunk).await.map_err(unwritten)?;
            }
            out.flush().await.map_err(unwritten)
        };
        if let Err(refused) = write.await {
            remove(&file).await;
            return Err(refused);
        }
        stored = Some((name, file));
    }
    let (name, file) = stored.ok_or_else(|| ApiError::refused(422, "choose a file first"))?;
    let MemoryOwner { app, project, user } = visit.owner.clone();
    let job = ImportJob {
        client: visit.api.clone(),
        app,
        project,
        user,
        file,
        accept_forgotten,
        progress: Arc::default(),
    };
    Ok((name, job))
}

/// A client's file name without folders and unsafe characters. It stays recognisable: the name decides some formats.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_unsafe = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_');
    let plain = last.replace(is_unsafe, "_");
    match plain.trim_matches('.') {
        "" => "export".to_owned(),
        _ => plain,
    }
}

fn live_part(page: &PageState, visit: &Visit) -> ImportsPart {
    let rows = page.imports.of(visit).into_iter().map(|entry| {
        let progress = entry.progress.lock().clone();
        (entry, progress)
    });
    ImportsPart { rows: rows.collect() }
}

/// Sends the list of imports each time it changes, as long as one import runs.
pub(crate) async fn live(State(page): State<PageState>, visit: Visit) -> Result<Response, Problem> {
    allowed(&visit)?;
    let events = futures::stream::unfold((page, visit, String::new()), async |(page, visit, sent)| {
        loop {
            let part = written(&live_part(&page, &visit));
            if part != sent {
                let event = Event::default().data(&part);
                return Some((Ok::<_, Infallible>(event), (page, visit, part)));
            }
            if !visit.visitor.wait(LOOK).await {
                return None;
            }
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

impl ImportsPart {
    /// The phase of an import, and its progress in percent.
    fn doing(entry: &KeptImport, progress: &ImportProgress) -> (&'static str, u64) {
        match &entry.ended {
            Some(Ok(())) => ("Done", 100),
            Some(Err(_)) => ("Failed", 0),
            // Reading is the first half, writing memories the second.
            None if !progress.is_read => ("Reading", words::percent(progress.read_bytes, progress.bytes) / 2),
            None => (
                "Writing memories",
                50 + words::percent(progress.written as u64, progress.sessions as u64) / 2,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_of_a_client_cannot_leave_the_folder() {
        assert_eq!(plain("../../etc/passwd"), "passwd");
        assert_eq!(plain("C:\\chats\\my export.zip"), "my_export.zip");
        assert_eq!(plain(".."), "export");
    }
}
