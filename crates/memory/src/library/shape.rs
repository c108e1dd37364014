//! A document as entries of the vault, and back.
//!
//! Owns: the layout of a document's file, so that a person can change all of it. Never: I/O.
//!
//! The first entry is the document: its heading is the title, its label the category, its quote the summary. Its text
//! has the other data, one per line. Every other entry is a topic; its heading is the path from the title down.

use std::collections::BTreeMap;
use std::sync::Arc;

use documents::PATH_SEPARATOR;
use documents::taxonomy::OTHERS;
use model::{Doc, Entry, EntryId, EntryKind, Origin, Owner, Parent, ParentKind, Scope, Timestamp, Zone};

use crate::library::api::{Document, Topic};

/// Author of the entries.
const AUTHOR: &str = "rules/1";
/// The number of the entry that is the document itself.
const HEAD: usize = 0;

/// Data of a document's own entry besides title, summary and category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) source: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) original: Option<String>,
    pub(crate) digest: Option<String>,
    pub(crate) updated: Option<Timestamp>,
}

impl Facts {
    pub(crate) fn text(&self, zone: &Zone) -> String {
        let updated = self.updated.map(|at| zone.render(at));
        let lines = [
            ("source", &self.source),
            ("type", &self.kind),
            ("original", &self.original),
            ("sha256", &self.digest),
            ("updated", &updated),
        ];
        let lines = lines.into_iter().filter_map(|(key, value)| {
            let value = value.as_deref()?;
            Some(format!("{key}: {}", model::one_line(value)))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Reads the data from a text that a person may have changed.
    pub(crate) fn read(text: &str, zone: &Zone) -> Self {
        let value = |key: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            let (_, value) = lines.find(|(name, _)| name.trim() == key)?;
            Some(value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        Self {
            source: value("source"),
            kind: value("type"),
            original: value("original"),
            digest: value("sha256"),
            updated: value("updated").and_then(|text| zone.parse(&text).ok()),
        }
    }
}

/// The text of a document's own entry with another time of change, all else as a person left it.
pub(crate) fn touched(text: &str, at: Timestamp, zone: &Zone) -> String {
    let is_time = |line: &&str| {
        line.split_once(':')
            .is_some_and(|(key, _)| key.trim() == "updated")
    };
    let updated = format!("updated: {}", zone.render(at));
    let kept = text.lines().filter(|line| !is_time(line));
    kept.chain([updated.as_str()]).collect::<Vec<_>>().join("\n")
}

/// The entry's id of a document's `number`-th topic, or of the document itself.
fn entry_id(document: &str, number: usize) -> EntryId {
    EntryId::new(format!("{}_{document}_{number}", EntryKind::Topic.prefix()))
}

/// Whether an entry is a document's own.
pub(crate) fn is_head_of(entry: &Entry, document: &str) -> bool {
    entry.id == entry_id(document, HEAD)
}

/// Whether an entry names a document as its parent.
pub(crate) fn is_of(entry: &Entry, document: &str) -> bool {
    let parent = entry.parent.as_ref();
    parent.is_some_and(|parent| parent.kind == ParentKind::Document && parent.id == document)
}

/// Place and time of a document, shared by all its entries.
#[derive(Debug, Clone)]
pub(crate) struct DocumentPlace<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) library: &'a Owner,
    pub(crate) document: &'a str,
    pub(crate) created: Timestamp,
}

impl DocumentPlace<'_> {
    /// The document's own entry.
    pub(crate) fn head(&self, title: &str, category: &str, summary: &str, body: String) -> Entry {
        let labels = vec![category.to_owned()];
        self.entry(HEAD, [title, summary], labels, body)
    }

    /// A topic's entry.
    pub(crate) fn topic(&self, topic: &documents::Topic) -> Entry {
        let text = [topic.path.as_str(), topic.summary.as_str()];
        self.entry(topic.number, text, topic.labels.clone(), topic.content.clone())
    }

    fn entry(
        &self,
        number: usize,
        [subject, summary]: [&str; 2],
        labels: Vec<String>,
        body: String,
    ) -> Entry {
        let whose = (self.scope.clone(), self.library.clone());
        let id = entry_id(self.document, number);
        Entry {
            author: Some(AUTHOR.to_owned()),
            parent: Some(Parent::new(ParentKind::Document, self.document)),
            labels,
            subject: subject.to_owned(),
            summary: summary.to_owned(),
            body,
            ..Entry::new(id, EntryKind::Topic, whose, self.created, Origin::Import)
        }
    }
}

/// The document of a row: its parent, or else the document in whose file it is.
pub(crate) fn document_of(row: &Doc) -> &str {
    let named = row.parent.as_ref();
    let named = named.filter(|parent| parent.kind == ParentKind::Document);
    named.map_or_else(
        || {
            let file = row.path.rsplit('/').next().unwrap_or_default();
            file.strip_suffix(".md").unwrap_or(file)
        },
        |parent| &parent.id,
    )
}

/// A row's number in its document; none for a part that a person added.
fn number_of(row: &Doc) -> Option<usize> {
    let (document, number) = row.key.id.rsplit_once('_')?;
    let is_its = document
        .strip_prefix(EntryKind::Topic.prefix())?
        .strip_prefix('_')?
        == document_of(row);
    number.parse().ok().filter(|_| is_its)
}

/// Whether a row is a document's own entry.
pub(crate) fn is_head(row: &Doc) -> bool {
    number_of(row) == Some(HEAD)
}

/// Whether a row belongs to the document itself, and is no part that a person added.
pub(crate) fn is_numbered(row: &Doc) -> bool {
    number_of(row).is_some()
}

/// A topic's id as the doors know it.
pub(crate) fn topic_id(row: &Doc) -> &str {
    let own = number_of(row).and_then(|_| row.key.id.strip_prefix("kt_"));
    own.unwrap_or(&row.key.id)
}

/// Rows by document.
pub(crate) fn by_document(rows: Vec<Arc<Doc>>) -> BTreeMap<String, Vec<Arc<Doc>>> {
    let mut documents: BTreeMap<String, Vec<Arc<Doc>>> = BTreeMap::new();
    for row in rows {
        let document = documents.entry(document_of(&row).to_owned());
        document.or_default().push(row);
    }
    documents
}

/// A document from its rows, at least one; its own entry may be missing.
pub(crate) fn document(id: &str, mut rows: Vec<Arc<Doc>>, zone: &Zone) -> Document {
    rows.sort_by_key(|row| (number_of(row).unwrap_or(usize::MAX), row.key.id.clone()));
    let head = rows.iter().find(|row| is_head(row));
    let facts = head.map(|head| Facts::read(&head.text, zone)).unwrap_or_default();
    let said = |text: fn(&Doc) -> &str| head.map_or("", |head| text(head)).trim().to_owned();
    let title = Some(said(|head| &head.subject)).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| id.to_owned());
    let created = rows.iter().map(|row| row.time).min().unwrap_or_default();
    let category = head.and_then(|head| head.labels.first().cloned());
    let parts: Vec<&Arc<Doc>> = rows.iter().filter(|row| !is_head(row)).collect();
    Document {
        id: id.to_owned(),
        summary: said(|head| &head.summary),
        category: category.unwrap_or_else(|| OTHERS.to_owned()),
        source_name: facts.source,
        source_type: facts.kind,
        original: facts.original.map(Into::into),
        created,
        updated: facts.updated.unwrap_or(created),
        topics: topics(&title, &parts),
        digest: facts.digest,
        title,
    }
}

/// Finds the parent of a topic by the paths: the last topic before it whose path is the same but one name shorter.
fn topics(title: &str, rows: &[&Arc<Doc>]) -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::with_capacity(rows.len());
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let path = row.subject.as_str();
        let (above, name) = match path.rsplit_once(PATH_SEPARATOR) {
            Some((above, name)) => (Some(above), name),
            None => (None, path),
        };
        let parent = above.and_then(|above| at.get(above)).copied();
        let id = topic_id(row).to_owned();
        if let Some(parent) = parent.and_then(|parent| topics.get_mut(parent)) {
            parent.children.push(id.clone());
        }
        at.insert(path, topics.len());
        let is_whole = path.split(PATH_SEPARATOR).next() == Some(title);
        topics.push(Topic {
            id,
            name: name.to_owned(),
            path: if is_whole {
                path.to_owned()
            } else {
                format!("{title}{PATH_SEPARATOR}{path}")
            },
            depth: path.split(PATH_SEPARATOR).count(),
            summary: row.summary.clone(),
            content: row.text.clone(),
            labels: row.labels.clone(),
            parent: parent
                .and_then(|parent| topics.get(parent))
                .map(|parent| parent.id.clone()),
            children: Vec::new(),
        });
    }
    topics
}
