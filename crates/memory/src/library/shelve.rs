//! Uploads, changes, deletions.
//!
//! Owns: the order original, Markdown, index. A crash leaves the old document or the new one, and at worst an unused
//! original, which `sweep` removes. Never: the content of a file.

use std::io::{self, Read as _, Seek as _};

use crate::library::api::{Document, Emptied, KnowledgeError, Patch, Stored, Upload};
use crate::library::knowledge::Knowledge;
use crate::library::shape;
use crate::library::shape::{DocumentPlace, Facts, touched};
use crate::runtime::off_thread;
use crate::{Curate, EngineError, Forget};
use model::{Entry, EntryId, Scope, Timestamp, hex};
use ports::{FileBytes, ORIGINALS, ReadDocument, ReadError, VaultError, VaultPath, VersionKey};
use sha2::{Digest as _, Sha256};

/// Number of hexadecimal digits of a file's digest in the name of its version on the shelf.
pub(crate) const VERSION_DIGITS: usize = 8;
/// Bits of a number that a document's id shows, as twelve hexadecimal digits.
const ID_BITS: u64 = 0xffff_ffff_ffff;
/// Maximum number of bytes of a file that are in memory at a time.
const PIECE_BYTES: usize = 256 << 10;
/// The longest name of a file on the shelf, in bytes; file systems take 255.
const NAME_MAX_BYTES: usize = 120;

/// A file that was read.
struct Reading {
    document: ReadDocument,
    digest: String,
    file: FileBytes,
}

impl Knowledge {
    /// Makes a document of a file.
    pub async fn create(&self, upload: Upload) -> Result<Stored, KnowledgeError> {
        let (facing, reading) = self.read(upload).await?;
        let _alone = self.changing.lock(&facing.scope).await;
        let documents = self.documents(&facing.scope).await?;
        no_duplicate(&documents, None, &reading.digest)?;
        let id = std::iter::repeat_with(|| format!("d_{:012x}", self.parts.ids.next() & ID_BITS))
            .find(|id| documents.iter().all(|document| document.id != *id))
            .expect("ids do not end");
        let stored = self.store(&id, None, &facing, reading).await;
        if stored.is_err()
            && let Err(error) = self.take_back(&facing.scope, &id).await
        {
            tracing::warn!(%error, %id, "cannot remove a rejected document; searches can find parts of it until you delete it");
        }
        stored
    }

    /// Replaces a document by one of another file, under the same id.
    pub async fn replace(&self, id: &str, upload: Upload) -> Result<Stored, KnowledgeError> {
        self.document(&upload.scope, id).await?;
        let (facing, reading) = self.read(upload).await?;
        let _alone = self.changing.lock(&facing.scope).await;
        let before = self.document(&facing.scope, id).await?;
        let documents = self.documents(&facing.scope).await?;
        no_duplicate(&documents, Some(id), &reading.digest)?;
        let stored = self.store(id, Some(before), &facing, reading).await;
        if stored.is_err()
            && let Err(error) = self.sweep_one(&facing.scope, id).await
        {
            tracing::warn!(%error, %id, "cannot remove an unused original; the next start removes it");
        }
        stored
    }

    /// Changes a document's title or category; returns the changed fields and the document afterwards.
    pub async fn patch(
        &self,
        scope: &Scope,
        id: &str,
        patch: Patch,
    ) -> Result<(Vec<&'static str>, Document), KnowledgeError> {
        if let Some(category) = &patch.category {
            self.check_category(scope, category).await?;
        }
        let _alone = self.changing.lock(scope).await;
        let rows = self.rows_of(scope, id).await?;
        let document = self.document(scope, id).await?;
        let title = patch.title.filter(|title| *title != document.title);
        let category = patch.category.filter(|category| *category != document.category);
        let changed = [("title", title.is_some()), ("category_id", category.is_some())];
        let changed = changed.into_iter().filter_map(|(field, is)| is.then_some(field));
        let changed: Vec<&str> = changed.collect();
        if changed.is_empty() {
            return Ok((changed, document));
        }
        let text = rows.iter().find(|row| shape::is_head(row));
        let text = text.map_or("", |head| &head.text);
        let zone = &self.parts.engine.settings().zone;
        let place = self.place(scope, id, document.created);
        let head = place.head(
            &title.unwrap_or(document.title),
            &category.unwrap_or(document.category),
            &document.summary,
            touched(text, self.parts.clock.now(), zone),
        );
        self.curate(scope, vec![head], Vec::new()).await?;
        Ok((changed, self.document(scope, id).await?))
    }

    /// Removes a document, its topics and its original file, from the vault's history too; returns the number of its
    /// topics, or none if there is no such document.
    pub async fn delete(&self, scope: &Scope, id: &str) -> Result<Option<usize>, KnowledgeError> {
        let folder = format!("{ORIGINALS}/{id}");
        let (path, rows) = (self.path_of(scope, id), self.rows_of(scope, id).await?);
        let library = path.rsplitn(3, '/').nth(2);
        let beside = library.map(|library| format!("{library}/{folder}/"));
        let goes = |key: &VersionKey| {
            let is_entry = |entry: &EntryId| rows.iter().any(|row| *row.key.id == *entry.as_str());
            let is_original = beside.as_ref().is_some_and(|beside| key.path.starts_with(beside));
            key.path == path || is_original || key.entry.as_ref().is_some_and(is_entry)
        };
        let taken_out = async {
            let _alone = self.changing.lock(scope).await;
            let originals = self.parts.shelf.names(scope, &self.library, &folder).await?;
            let topics = self.remove(scope, id).await?;
            // A deletion that died midway may have left only the original.
            Ok((topics, topics.is_some() || !originals.is_empty()))
        };
        let erased = self.parts.engine.erased((scope, &self.library), goes, taken_out);
        Box::pin(erased).await
    }

    /// Removes a whole library: every document, the categories, and everything that a person put there, from the
    /// vault's history too. A deletion that failed midway is finished by the next one.
    pub async fn delete_all(&self, scope: &Scope) -> Result<Emptied, KnowledgeError> {
        let _alone = self.changing.lock(scope).await;
        let documents = self.documents(scope).await?;
        let all = Forget::Owner(scope.clone(), self.library.clone());
        self.parts.engine.forget(all).await?;
        Ok(Emptied {
            documents: documents.len(),
            topics: documents.iter().map(|document| document.topics.len()).sum(),
        })
    }

    /// Does the work of [`Self::delete`] except for the history.
    async fn remove(&self, scope: &Scope, id: &str) -> Result<Option<usize>, KnowledgeError> {
        let rows = self.rows_of(scope, id).await?;
        let topics = rows.iter().filter(|row| !shape::is_head(row)).count();
        let ids = rows.iter().map(|row| EntryId::new(row.key.id.clone())).collect();
        self.curate(scope, Vec::new(), ids).await?;
        self.discard(scope, &format!("{ORIGINALS}/{id}")).await?;
        Ok((!rows.is_empty()).then_some(topics))
    }

    /// Removes everything that a failed upload wrote, including entries that are not in the index yet.
    async fn take_back(&self, scope: &Scope, id: &str) -> Result<(), KnowledgeError> {
        self.parts.engine.sync().await?;
        self.remove(scope, id).await?;
        Ok(())
    }

    /// Reads and sorts a file, before the lock of the library is taken.
    async fn read(&self, upload: Upload) -> Result<(Facing, Reading), KnowledgeError> {
        if let Some(category) = &upload.category {
            self.check_category(&upload.scope, category).await?;
        }
        let (reader, file) = (self.parts.engine.reader(), upload.file);
        let document = reader
            .read(file.clone(), &upload.file_name, &upload.media_type)
            .await?;
        let bytes = file.clone();
        let digest = off_thread(move || digest(&bytes))
            .await?
            .map_err(|error| ReadError::Unavailable {
                source: Some(error.into()),
            })?;
        let title = upload.title.unwrap_or_else(|| document.title.clone());
        let category = match upload.category {
            Some(category) => category,
            None => self.sorted(&upload.scope, &document, &title).await?,
        };
        let reading = Reading {
            document,
            digest,
            file,
        };
        let facing = Facing {
            scope: upload.scope,
            title,
            category,
            source_name: base_name(&upload.file_name),
            source_type: upload.source_type,
        };
        Ok((facing, reading))
    }

    async fn store(
        &self,
        id: &str,
        before: Option<Document>,
        facing: &Facing,
        reading: Reading,
    ) -> Result<Stored, KnowledgeError> {
        let scope = &facing.scope;
        let now = self.parts.clock.now();
        let version = reading.digest.get(..VERSION_DIGITS).unwrap_or_default();
        let kept = format!("{version}-{}", safe_name(&facing.source_name));
        let name = format!("{ORIGINALS}/{id}/{kept}");
        let shelf = &self.parts.shelf;
        let original = shelf.put(scope, &self.library, &name, reading.file).await?;
        let place = self.place(scope, id, before.as_ref().map_or(now, |before| before.created));
        let facts = Facts {
            source: Some(facing.source_name.clone()),
            kind: facing.source_type.clone(),
            original: Some(original.to_string()),
            digest: Some(reading.digest),
            updated: Some(now),
        };
        let zone = &self.parts.engine.settings().zone;
        let text = facts.text(zone);
        let mut put = vec![place.head(&facing.title, &facing.category, &reading.document.summary, text)];
        put.extend(reading.document.topics.iter().map(|topic| place.topic(topic)));
        let path = self.parts.vault.path_of(&put[0]);
        let rows = self.rows_of(scope, id).await?;
        // Keeps entries that a person added.
        let ours = rows.iter().filter(|row| shape::is_numbered(row));
        let gone = ours.map(|row| EntryId::new(row.key.id.clone()));
        let gone = gone
            .filter(|id| put.iter().all(|entry| entry.id != *id))
            .collect();
        self.curate(scope, put, gone).await?;
        let folder = format!("{ORIGINALS}/{id}");
        for other in shelf.names(scope, &self.library, &folder).await? {
            if other != kept {
                self.discard(scope, &format!("{folder}/{other}")).await?;
            }
        }
        Ok(Stored {
            id: id.to_owned(),
            category: facing.category.clone(),
            topics: reading.document.topics.len(),
            source_name: facing.source_name.clone(),
            path,
            original,
        })
    }

    pub(crate) fn place<'a>(
        &'a self,
        scope: &'a Scope,
        document: &'a str,
        created: Timestamp,
    ) -> DocumentPlace<'a> {
        DocumentPlace {
            scope,
            library: &self.library,
            document,
            created,
        }
    }

    async fn curate(&self, scope: &Scope, put: Vec<Entry>, remove: Vec<EntryId>) -> Result<(), EngineError> {
        let curate = Curate::new(scope, &self.library, put, remove);
        self.parts.engine.curate(curate).await
    }

    pub(crate) async fn discard(&self, scope: &Scope, name: &str) -> Result<(), VaultError> {
        self.parts.shelf.discard(scope, &self.library, name).await
    }

    /// The file of a document, unless a person moved it.
    pub(crate) fn path_of(&self, scope: &Scope, id: &str) -> VaultPath {
        let place = self.place(scope, id, Timestamp::default());
        self.parts.vault.path_of(&place.head("", "", "", String::new()))
    }

    async fn check_category(&self, scope: &Scope, id: &str) -> Result<(), KnowledgeError> {
        let categories = self.taxonomy(scope).await?;
        if categories.iter().any(|category| category.id == id) {
            return Ok(());
        }
        let known: Vec<&str> = categories.iter().map(|category| category.id.as_str()).collect();
        let message = format!("category_id: there is no `{id}`: use one of {}", known.join(", "));
        Err(EngineError::Invalid(message).into())
    }
}

/// The properties of an upload's document; missing ones are filled in.
struct Facing {
    scope: Scope,
    title: String,
    category: String,
    source_name: String,
    source_type: Option<String>,
}

/// An error if another document than the one of this id has the same bytes.
fn no_duplicate(documents: &[Document], but: Option<&str>, digest: &str) -> Result<(), KnowledgeError> {
    let is_duplicate = |other: &&Document| but != Some(&other.id) && other.digest.as_deref() == Some(digest);
    match documents.iter().find(is_duplicate).map(|other| other.id.clone()) {
        Some(id) => Err(KnowledgeError::Duplicate { id }),
        None => Ok(()),
    }
}

/// Name of a file without the client's folders, on one line.
fn base_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    if name.trim().is_empty() {
        "document".to_owned()
    } else {
        name.trim().to_owned()
    }
}

/// A name that every file system takes: letters, digits and `._-`, no dot first or last.
fn safe_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let cut = |text: &str, max: usize| {
        let text = text.replace(|c| !is_plain(c), "-");
        text.get(..text.floor_char_boundary(max))
            .unwrap_or_default()
            .trim_matches('.')
            .to_owned()
    };
    let (stem, extension) = (cut(stem, NAME_MAX_BYTES), cut(extension, 16));
    if extension.is_empty() {
        stem
    } else {
        format!("{stem}.{extension}")
    }
}

/// SHA-256 of a file, in hexadecimal.
fn digest(file: &FileBytes) -> io::Result<String> {
    let mut file = match file {
        FileBytes::Memory(bytes) => return Ok(hex(Sha256::digest(bytes))),
        FileBytes::Disk(file) => &**file,
    };
    file.rewind()?;
    let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE_BYTES]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(digest.finalize())),
            length => digest.update(&piece[..length]),
        }
    }
}
