//! `knowledge`: documents, their topics and categories.
//!
//! Owns: the JSON form, names and bounds of these routes. Never: multipart (the gateway reads it), topics.

use macro_rules_attribute::apply;
use memory::library::{Document, Method, Search, Topic};
use model::{Scope, Zone, one_line};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::{filled, query};
use crate::wire::get::{PAGE_MAX, PAGE_SIZE_MAX, between};
use crate::wire::{DateTime, Invalid, SortOrder, scope};

/// Maximum length of a title, in characters.
const TITLE_CHARS_MAX: usize = 300;
/// Maximum length of a source or category, in characters.
const WORD_CHARS_MAX: usize = 64;
/// Maximum length of a topic's id, in characters: people can write their own.
const TOPIC_ID_CHARS_MAX: usize = 256;
/// Maximum length of a query, in characters.
const QUERY_CHARS_MAX: usize = 2_000;
/// Maximum number of topics in a search.
const TOP_K_MAX: usize = 100;

/// The form of an upload, `multipart/form-data`.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToSchema)]
pub struct DocumentForm {
    /// Text, Markdown, HTML, PDF, DOCX, PPTX, XLSX or EML; the content decides the format.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    pub file: String,
    /// Must have a letter or digit. Quipu: default is the document's own title.
    #[schema(required = true, min_length = 1, pattern = r"\w")]
    pub title: Option<String>,
    pub source_type: Option<String>,
    /// One of `GET /knowledge/categories`. Default: Quipu chooses.
    pub category_id: Option<String>,
    #[schema(value_type = String, default = "default", required = false)]
    pub app_id: Option<String>,
    #[schema(value_type = String, default = "default", required = false)]
    pub project_id: Option<String>,
}

impl DocumentForm {
    /// Checks the form and trims white space. An empty field counts as omitted, except a title.
    pub fn parts(&mut self, home: &Scope) -> Result<Scope, Invalid> {
        self.title = self.title.take().map(|title| self::title(&title)).transpose()?;
        for (path, word) in [
            ("source_type", &mut self.source_type),
            ("category_id", &mut self.category_id),
        ] {
            *word = word
                .take()
                .map(|word| one_line(&word))
                .filter(|word| !word.is_empty());
            bounded(path, word.as_deref().unwrap_or("-"), WORD_CHARS_MAX)?;
        }
        scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)
    }
}

fn title(text: &str) -> Result<String, Invalid> {
    let title = one_line(text);
    if !title.chars().any(char::is_alphanumeric) {
        return Err(Invalid::at("title", "must have a letter or a digit"));
    }
    bounded("title", &title, TITLE_CHARS_MAX)?;
    Ok(title)
}

fn bounded(path: &str, text: &str, max: usize) -> Result<(), Invalid> {
    match text.chars().count() {
        count if (1..=max).contains(&count) => Ok(()),
        count => Err(Invalid::at(
            path,
            format!("must have 1 to {max} characters, not {count}"),
        )),
    }
}

/// Checks a document's id: `d_` and 12 to 32 hexadecimal digits.
pub fn document_id(id: &str) -> Result<&str, Invalid> {
    let digits = id.strip_prefix("d_").unwrap_or_default();
    let is_hex = digits
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_hex && (12..=32).contains(&digits.len()) {
        Ok(id)
    } else {
        Err(Invalid::at(
            "doc_id",
            "must be `d_` and 12 to 32 hexadecimal digits",
        ))
    }
}

/// Checks a topic's id, as a document lists it: the document's id, `_` and a number, or the id of an entry that a
/// person wrote.
pub fn topic_id(id: &str) -> Result<&str, Invalid> {
    bounded("topic_id", id, TOPIC_ID_CHARS_MAX)?;
    let is_its = id.rsplit_once('_').is_some_and(|(document, number)| {
        document_id(document).is_ok()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && !number.is_empty()
    });
    if is_its || id.starts_with("kt_") {
        return Ok(id);
    }
    Err(Invalid::at(
        "topic_id",
        "must be a document's id, `_` and a number",
    ))
}

/// Sort order of documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentSort {
    #[default]
    CreatedAt,
    UpdatedAt,
    Title,
}

/// Filter and page of a list of documents.
#[apply(query!)]
pub struct DocumentsQuery {
    tenant: Query,
    pub category_id: Option<String>,
    #[serde(default = "super::get::first")]
    #[param(minimum = 1, default = 1, required = false)]
    pub page: i64,
    #[serde(default = "super::get::size")]
    #[param(minimum = 1, maximum = 100, default = 20, required = false)]
    pub page_size: i64,
    #[serde(default)]
    #[param(inline, default = "created_at", required = false)]
    pub sort_by: DocumentSort,
    #[serde(default = "newest_first")]
    #[param(inline, default = "desc", required = false)]
    pub sort_order: SortOrder,
}

fn newest_first() -> SortOrder {
    SortOrder::Desc
}

impl DocumentsQuery {
    /// The tenant, the page from 1 and its size.
    pub fn parts(&self, home: &Scope) -> Result<(Scope, usize, usize), Invalid> {
        Ok((
            self.scope(home)?,
            between("page", self.page, PAGE_MAX)?,
            between("page_size", self.page_size, PAGE_SIZE_MAX)?,
        ))
    }
}

/// Fields of a document to change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DocumentPatchRequest {
    #[schema(min_length = 1, pattern = r"\w")]
    pub title: Option<String>,
    #[schema(min_length = 1)]
    pub category_id: Option<String>,
    #[schema(value_type = String, default = "default", required = false)]
    pub app_id: Option<String>,
    #[schema(value_type = String, default = "default", required = false)]
    pub project_id: Option<String>,
}

impl DocumentPatchRequest {
    /// Checks the request and trims white space.
    pub fn parts(&mut self, home: &Scope) -> Result<Scope, Invalid> {
        self.title = self.title.take().map(|title| self::title(&title)).transpose()?;
        self.category_id = self.category_id.take().map(|word| one_line(&word));
        if let Some(category) = &self.category_id {
            bounded("category_id", category, WORD_CHARS_MAX)?;
        }
        if self.title.is_none() && self.category_id.is_none() {
            return Err(Invalid::request("give a `title` or a `category_id` to change"));
        }
        scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)
    }
}

/// Search method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KnowledgeMethod {
    Keyword,
    Vector,
    #[default]
    Hybrid,
}

/// A search in a library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KnowledgeSearchRequest {
    #[schema(min_length = 1, max_length = 2000)]
    pub query: String,
    #[serde(default, deserialize_with = "super::json::word")]
    #[schema(required = false)]
    pub method: KnowledgeMethod,
    #[serde(default = "default_top_k", deserialize_with = "super::json::integer")]
    #[schema(minimum = 1, maximum = 100, default = 10, required = false)]
    pub top_k: i64,
    /// Minimum score of a topic, 0 to 1.
    pub score_threshold: Option<f64>,
    #[serde(default)]
    #[schema(required = false)]
    pub include_content: bool,
    #[schema(value_type = String, default = "default", required = false)]
    pub app_id: Option<String>,
    #[schema(value_type = String, default = "default", required = false)]
    pub project_id: Option<String>,
}

fn default_top_k() -> i64 {
    10
}

impl KnowledgeSearchRequest {
    /// Checks the request.
    pub fn search(&self, home: &Scope) -> Result<Search, Invalid> {
        bounded("query", &self.query, QUERY_CHARS_MAX)?;
        if self.query.trim().is_empty() {
            return Err(Invalid::at("query", "must have more than white space"));
        }
        let score_min = self.score_threshold.unwrap_or_default();
        if !score_min.is_finite() {
            return Err(Invalid::at("score_threshold", "must be a number"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a score has no more digits")]
        let score_min = score_min.max(0.0) as f32;
        Ok(Search {
            scope: scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?,
            query: self.query.clone(),
            method: model::same!(self.method, KnowledgeMethod => Method: Keyword, Vector, Hybrid),
            topics_max: between("top_k", self.top_k, TOP_K_MAX)?,
            score_min,
        })
    }
}

/// A stored document; searches find it from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DocumentCreateData {
    pub doc_id: String,
    pub category_id: String,
    pub topic_count: usize,
    #[schema(required = true)]
    pub source_name: Option<String>,
    /// The Markdown file, below `memory/`.
    pub md_path: String,
    /// The uploaded file, in the same folder.
    #[schema(required = true)]
    pub original_file_path: Option<String>,
}

/// Result of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DocumentPatchData {
    pub doc_id: String,
    /// Empty if nothing changed.
    pub updated_fields: Vec<String>,
    pub updated_at: DateTime,
}

/// Result of a delete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DocumentDeleteData {
    pub doc_id: String,
    pub deleted_topics: usize,
}

/// Result of the delete of a library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LibraryDeleteData {
    pub deleted_documents: usize,
    pub deleted_topics: usize,
}

/// A page of documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DocumentListData {
    pub documents: Vec<DocumentItem>,
    pub total: usize,
    pub page: usize,
    pub page_size: usize,
}

/// A document of a list.
#[apply(filled!)]
#[from(document: &Document, zone: &Zone)]
pub struct DocumentItem {
    #[value(document.id.clone())]
    pub doc_id: String,
    #[value(document.category.clone())]
    pub category_id: String,
    pub title: String,
    #[value(document.topics.len())]
    pub topic_count: usize,
    #[value(zone.render(document.created))]
    pub created_at: DateTime,
}

/// A document with its topics.
#[apply(filled!)]
#[from(document: &Document, zone: &Zone)]
pub struct DocumentData {
    #[value(document.id.clone())]
    pub doc_id: String,
    #[value(document.category.clone())]
    pub category_id: String,
    pub title: String,
    pub summary: String,
    #[schema(required = true)]
    pub source_name: Option<String>,
    #[schema(required = true)]
    pub source_type: Option<String>,
    /// Below `memory/`.
    #[value(document.original.as_ref().map(ToString::to_string))]
    #[schema(required = true)]
    pub original_file_path: Option<String>,
    #[value(document.topics.iter().map(TopicItem::of).collect())]
    pub topics: Vec<TopicItem>,
    #[value(zone.render(document.created))]
    pub created_at: DateTime,
    #[value(zone.render(document.updated))]
    pub updated_at: DateTime,
}

/// A topic of a document.
#[apply(filled!)]
#[from(topic: &Topic)]
pub struct TopicItem {
    #[value(topic.id.clone())]
    pub topic_id: String,
    #[value(topic.name.clone())]
    pub topic_name: String,
    /// Names from the document's title down, with ` > ` between them.
    #[value(topic.path.clone())]
    pub topic_path: String,
    /// From 1.
    pub depth: usize,
    pub summary: String,
}

/// A topic with its text.
#[apply(filled!)]
#[from(topic: &Topic, document: &Document, zone: &Zone)]
pub struct TopicData {
    #[value(topic.id.clone())]
    pub topic_id: String,
    #[value(document.id.clone())]
    pub doc_id: String,
    #[value(document.category.clone())]
    pub category_id: String,
    #[value(topic.name.clone())]
    pub topic_name: String,
    #[value(topic.path.clone())]
    pub topic_path: String,
    pub depth: usize,
    pub summary: String,
    /// Markdown.
    pub content: String,
    #[value(topic.labels.clone())]
    pub content_labels: Vec<String>,
    #[value(topic.parent.clone())]
    #[schema(required = true)]
    pub parent_topic_id: Option<String>,
    #[value(topic.children.clone())]
    pub children_topic_ids: Vec<String>,
    #[value(zone.render(document.created))]
    pub created_at: DateTime,
    #[value(zone.render(document.updated))]
    pub updated_at: DateTime,
}

/// Result of a search in a library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KnowledgeSearchData {
    /// Best first.
    pub hits: Vec<KnowledgeHit>,
    pub total: usize,
    pub took_ms: f64,
}

/// A matching topic.
#[apply(filled!)]
#[from(topic: &Topic, document: &Document, score: f32, method: KnowledgeMethod, with_content: bool)]
pub struct KnowledgeHit {
    #[value(topic.id.clone())]
    pub topic_id: String,
    #[value(document.category.clone())]
    pub category_id: String,
    #[value(topic.name.clone())]
    pub topic_name: String,
    #[value(topic.path.clone())]
    pub topic_path: String,
    pub depth: usize,
    pub summary: String,
    /// With `include_content`.
    #[value(with_content.then(|| topic.content.clone()))]
    #[schema(required = true)]
    pub content: Option<String>,
    /// 0 to 1.
    #[value(score.into())]
    pub score: f64,
    /// The method used: `keyword` instead of a method with vectors if the embedding model did not answer.
    #[value(method)]
    pub retrieval_method: KnowledgeMethod,
    /// Name of its file.
    #[value(document.source_name.clone())]
    #[schema(required = true)]
    pub source: Option<String>,
    #[value(DocumentContext::of(document))]
    pub document: DocumentContext,
}

/// The document of a hit.
#[apply(filled!)]
#[from(document: &Document)]
pub struct DocumentContext {
    #[value(document.id.clone())]
    pub doc_id: String,
    pub title: String,
    pub summary: String,
}

/// Every category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CategoryListData {
    pub categories: Vec<CategoryItem>,
}

/// A category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CategoryItem {
    pub category_id: String,
    pub description: String,
    pub document_count: usize,
}
