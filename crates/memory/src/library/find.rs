//! Reads a library: documents, topics, and searches.
//!
//! Owns: which document a topic is in. Never: ranking.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{EngineError, List};
use model::{Doc, EntryKind, Scope};

use crate::library::api::{Category, Document, FoundTopic, FoundTopics, KnowledgeError, Search, TopicAt};
use crate::library::knowledge::Knowledge;
use crate::library::shape::{self, by_document, document, document_of};

impl Knowledge {
    /// Every document of a scope, in the order of their ids.
    pub async fn documents(&self, scope: &Scope) -> Result<Vec<Document>, KnowledgeError> {
        let zone = &self.parts.engine.settings().zone;
        let rows = by_document(self.rows(scope).await?);
        Ok(rows
            .into_iter()
            .map(|(id, rows)| document(&id, rows, zone))
            .collect())
    }

    /// One document.
    pub async fn document(&self, scope: &Scope, id: &str) -> Result<Document, KnowledgeError> {
        let rows = self.rows_of(scope, id).await?;
        if rows.is_empty() {
            return Err(missing("document", id));
        }
        Ok(document(id, rows, &self.parts.engine.settings().zone))
    }

    /// One topic with its document.
    pub async fn topic(&self, scope: &Scope, id: &str) -> Result<TopicAt, KnowledgeError> {
        let rows = self.rows(scope).await?;
        let is_it = |row: &&Arc<Doc>| !shape::is_head(row) && shape::topic_id(row) == id;
        let within = rows.iter().find(is_it).map(|row| document_of(row).to_owned());
        let within = within.ok_or_else(|| missing("topic", id))?;
        let of_it = by_document(rows).remove(&within).unwrap_or_default();
        let document = document(&within, of_it, &self.parts.engine.settings().zone);
        topic_of(&document, id).ok_or_else(|| missing("topic", id))
    }

    /// The topics that answer a question.
    pub async fn search(&self, search: Search) -> Result<FoundTopics, KnowledgeError> {
        let rows = self.rows(&search.scope).await?;
        // The search also finds the documents' own entries, which are not answers.
        let heads = rows.iter().filter(|row| shape::is_head(row)).count();
        let found = self
            .parts
            .engine
            .search(crate::Search {
                scope: search.scope,
                owner: self.library.clone(),
                query: search.query,
                method: search.method,
                memories_max: search.topics_max + heads,
                messages_max: 0,
                filter: None,
                as_of: None,
                asked_at: None,
                score_min: search.score_min,
                tokens_max: None,
                with_person: false,
                rerank: Some(false),
            })
            .await?;
        let hits = found.memories.iter().filter(|hit| !shape::is_head(&hit.doc));
        let hits: Vec<_> = hits.take(search.topics_max).collect();
        let zone = &self.parts.engine.settings().zone;
        let (mut rows, mut documents) = (by_document(rows), BTreeMap::new());
        for hit in &hits {
            let id = document_of(&hit.doc);
            if let Some((id, rows)) = rows.remove_entry(id) {
                documents.insert(id.clone(), document(&id, rows, zone));
            }
        }
        let topics = hits.into_iter().filter_map(|hit| {
            let at = topic_of(documents.get(document_of(&hit.doc))?, shape::topic_id(&hit.doc))?;
            Some(FoundTopic {
                at,
                score: hit.score.clamp(0.0, 1.0),
            })
        });
        Ok(FoundTopics {
            topics: topics.collect(),
            method: found.method,
        })
    }

    /// The categories of a scope, each with its number of documents.
    pub async fn categories(&self, scope: &Scope) -> Result<Vec<(Category, usize)>, KnowledgeError> {
        let categories = self.taxonomy(scope).await?;
        let documents = self.documents(scope).await?;
        let counted = categories.into_iter().map(|category| {
            let is_of = |document: &&Document| document.category == category.id;
            let count = documents.iter().filter(is_of).count();
            (category, count)
        });
        Ok(counted.collect())
    }

    /// The rows of a scope's library.
    async fn rows(&self, scope: &Scope) -> Result<Vec<Arc<Doc>>, EngineError> {
        let list = List {
            descending: false,
            ..List::all(scope.clone(), self.library.clone(), EntryKind::Topic)
        };
        let listed = self.parts.engine.list(list).await?;
        Ok(listed.hits.into_iter().map(|hit| hit.doc).collect())
    }

    pub(crate) async fn rows_of(&self, scope: &Scope, document: &str) -> Result<Vec<Arc<Doc>>, EngineError> {
        let mut rows = self.rows(scope).await?;
        rows.retain(|row| document_of(row) == document);
        Ok(rows)
    }
}

fn topic_of(document: &Document, id: &str) -> Option<TopicAt> {
    let topic = document.topics.iter().find(|topic| topic.id == id)?.clone();
    let document = Document {
        topics: Vec::new(),
        ..document.clone()
    };
    Some(TopicAt { topic, document })
}

pub(crate) fn missing(what: &'static str, id: &str) -> KnowledgeError {
    let id = id.to_owned();
    KnowledgeError::Engine(EngineError::NotFound { what, id })
}
