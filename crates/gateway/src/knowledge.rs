//! `knowledge/…`: a library of documents.
//!
//! Owns: translating the requests and answers of the library, the order of a listing. Never: building a document.

use axum::http::StatusCode;
use axum::response::IntoResponse;
use memory::library::{FoundTopic, Knowledge, Method, Patch, TopicAt, Upload};

use crate::body::{IdQuery, JsonBody, PathId, UrlQuery};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::state::Gateway;
use crate::upload::Uploaded;
use crate::wire::SortOrder;
use crate::wire::knowledge::{
    CategoryItem, CategoryListData, DocumentCreateData, DocumentData, DocumentDeleteData, DocumentItem,
    DocumentListData, DocumentPatchData, DocumentPatchRequest, DocumentSort, DocumentsQuery, KnowledgeHit,
    KnowledgeMethod, KnowledgeSearchData, KnowledgeSearchRequest, LibraryDeleteData, TopicData, document_id,
    topic_id,
};
use crate::wire::tasks::ScopeQuery;

pub(crate) async fn create_document(visit: Visit, uploaded: Uploaded) -> Answer {
    let stored = stored(&visit, uploaded, None).await?;
    Ok((StatusCode::CREATED, visit.answer(stored)).into_response())
}

pub(crate) async fn replace_document(visit: Visit, PathId(id): PathId, uploaded: Uploaded) -> Answer {
    let id = document_id(&id)?.to_owned();
    Ok(visit.answer(stored(&visit, uploaded, Some(id)).await?))
}

pub(crate) async fn patch_document(
    visit: Visit,
    PathId(id): PathId,
    JsonBody(mut value, ..): JsonBody<DocumentPatchRequest>,
) -> Answer {
    let id = document_id(&id)?.to_owned();
    let scope = value.parts(&visit.caller.home)?;
    visit.caller.enter(&scope)?;
    let library = library(&visit.gateway)?;
    let patch = Patch {
        title: value.title,
        category: value.category_id,
    };
    let (fields, document) = visit
        .write(async move { library.patch(&scope, &id, patch).await })
        .await?;
    Ok(visit.answer(DocumentPatchData {
        doc_id: document.id,
        updated_fields: fields.into_iter().map(str::to_owned).collect(),
        updated_at: visit.gateway.zone().render(document.updated),
    }))
}

pub(crate) async fn delete_document(visit: Visit, IdQuery(id, query): IdQuery<ScopeQuery>) -> Answer {
    let id = document_id(&id)?.to_owned();
    let scope = visit.entered(&query)?;
    let library = library(&visit.gateway)?;
    let doc_id = id.clone();
    let gone = visit.write(async move { library.delete(&scope, &id).await });
    Ok(match gone.await? {
        Some(deleted_topics) => visit.answer(DocumentDeleteData {
            doc_id,
            deleted_topics,
        }),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

pub(crate) async fn delete_documents(visit: Visit, UrlQuery(query): UrlQuery<ScopeQuery>) -> Answer {
    let scope = visit.entered(&query)?;
    let library = library(&visit.gateway)?;
    let gone = visit
        .write(async move { library.delete_all(&scope).await })
        .await?;
    if gone.documents == 0 {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(visit.answer(LibraryDeleteData {
        deleted_documents: gone.documents,
        deleted_topics: gone.topics,
    }))
}

pub(crate) async fn list_documents(visit: Visit, UrlQuery(query): UrlQuery<DocumentsQuery>) -> Answer {
    let (scope, page, page_size) = query.parts(&visit.caller.home)?;
    visit.caller.enter(&scope)?;
    let mut documents = library(&visit.gateway)?.documents(&scope).await?;
    if let Some(category) = &query.category_id {
        documents.retain(|document| document.category == *category);
    }
    match query.sort_by {
        DocumentSort::CreatedAt => documents.sort_by_key(|document| document.created),
        DocumentSort::UpdatedAt => documents.sort_by_key(|document| document.updated),
        DocumentSort::Title => documents.sort_by_key(|document| document.title.to_lowercase()),
    }
    if query.sort_order == SortOrder::Desc {
        documents.reverse();
    }
    let total = documents.len();
    let skipped = (page - 1).saturating_mul(page_size);
    let shown = documents.into_iter().skip(skipped).take(page_size);
    let items = shown.map(|document| DocumentItem::of(&document, visit.gateway.zone()));
    Ok(visit.answer(DocumentListData {
        documents: items.collect(),
        total,
        page,
        page_size,
    }))
}

pub(crate) async fn one_document(visit: Visit, IdQuery(id, query): IdQuery<ScopeQuery>) -> Answer {
    let scope = visit.entered(&query)?;
    let document = library(&visit.gateway)?
        .document(&scope, document_id(&id)?)
        .await?;
    Ok(visit.answer(DocumentData::of(&document, visit.gateway.zone())))
}

pub(crate) async fn one_topic(visit: Visit, IdQuery(id, query): IdQuery<ScopeQuery>) -> Answer {
    let scope = visit.entered(&query)?;
    let TopicAt { topic, document } = library(&visit.gateway)?.topic(&scope, topic_id(&id)?).await?;
    Ok(visit.answer(TopicData::of(&topic, &document, visit.gateway.zone())))
}

pub(crate) async fn search_documents(
    visit: Visit,
    JsonBody(value, ..): JsonBody<KnowledgeSearchRequest>,
) -> Answer {
    let started = visit.gateway.clock.elapsed();
    let search = value.search(&visit.caller.home)?;
    visit.caller.enter(&search.scope)?;
    let found = library(&visit.gateway)?.search(search).await?;
    let method = model::same!(found.method, Method => KnowledgeMethod: Keyword, Vector, Hybrid);
    let hit = |found: &FoundTopic| {
        let (score, TopicAt { topic, document }) = (found.score, &found.at);
        KnowledgeHit::of(topic, document, score, method, value.include_content)
    };
    let hits: Vec<KnowledgeHit> = found.topics.iter().map(hit).collect();
    let took = visit.gateway.clock.elapsed().saturating_sub(started);
    Ok(visit.answer(KnowledgeSearchData {
        total: hits.len(),
        hits,
        took_ms: took.as_secs_f64() * 1000.0,
    }))
}

pub(crate) async fn list_categories(visit: Visit, UrlQuery(query): UrlQuery<ScopeQuery>) -> Answer {
    let scope = visit.entered(&query)?;
    let categories = library(&visit.gateway)?.categories(&scope).await?;
    let items = categories
        .into_iter()
        .map(|(category, document_count)| CategoryItem {
            category_id: category.id,
            description: category.description,
            document_count,
        });
    Ok(visit.answer(CategoryListData {
        categories: items.collect(),
    }))
}

fn library(gateway: &Gateway) -> Result<Knowledge, Failure> {
    gateway
        .knowledge
        .clone()
        .ok_or_else(|| Failure::lacks("does not store documents"))
}

/// Stores an upload as a new document, or replaces an existing one.
async fn stored(
    visit: &Visit,
    uploaded: Uploaded,
    id: Option<String>,
) -> Result<DocumentCreateData, Failure> {
    let library = library(&visit.gateway)?;
    let mut form = uploaded.form;
    let scope = form.parts(&visit.caller.home)?;
    visit.caller.enter(&scope)?;
    let upload = Upload {
        scope,
        file_name: uploaded.name,
        media_type: uploaded.media_type,
        file: uploaded.file,
        title: form.title,
        source_type: form.source_type,
        category: form.category_id,
    };
    let hold = uploaded.hold;
    let store = async move {
        let _hold = hold;
        Ok(match id {
            None => library.create(upload).await?,
            Some(id) => library.replace(&id, upload).await?,
        })
    };
    let stored = visit.gateway.see_through(store).await?;
    Ok(DocumentCreateData {
        doc_id: stored.id,
        category_id: stored.category,
        topic_count: stored.topics,
        source_name: Some(stored.source_name),
        md_path: stored.path.to_string(),
        original_file_path: Some(stored.original.to_string()),
    })
}
