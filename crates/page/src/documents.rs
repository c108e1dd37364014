//! Documents: upload, list, topics, delete.
//!
//! Owns: the views and the form. Never: reading a file.

use askama::Template;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Redirect, Response};
use gateway::wire::knowledge::{
    DocumentCreateData, DocumentData, DocumentDeleteData, DocumentItem, DocumentListData, TopicData,
};

use crate::around::{Around, Problem, html, status_code};
use crate::guest::{Guest, IdPath, LACKING, unless};
use crate::words;
use gateway::{ApiError, ClientReply};

#[derive(Template)]
#[template(path = "documents.html")]
struct DocumentsView {
    around: Around,
    app: String,
    project: String,
    documents: Vec<DocumentItem>,
    total: usize,
    problem: Option<String>,
}

pub(crate) async fn page(guest: Guest) -> Result<Response, Problem> {
    Ok(html(&view(&guest, None).await?))
}

async fn view(guest: &Guest, problem: Option<String>) -> Result<DocumentsView, ApiError> {
    let route = format!("/knowledge/documents?{}&page_size=100", guest.whose.tenant());
    let data: DocumentListData = unless(LACKING, guest.api.get_data(&route).await)?;
    Ok(DocumentsView {
        around: Around::new(guest, "/page/documents", "Documents"),
        app: guest.whose.app.clone(),
        project: guest.whose.project.clone(),
        documents: data.documents,
        total: data.total,
        problem,
    })
}

pub(crate) async fn upload(guest: Guest, form: Request) -> Result<Response, Problem> {
    let reply = guest.api.forward("/api/v2/knowledge/documents", form).await;
    let stored = reply
        .map_err(ApiError::from)
        .and_then(ClientReply::data::<DocumentCreateData>);
    match stored {
        Ok(data) => {
            let address = format!("/page/document/{}?{}", data.doc_id, guest.whose.query());
            Ok(Redirect::to(&address).into_response())
        }
        Err(refused) if refused.status() < 500 => {
            let status = status_code(&refused);
            Ok((status, html(&view(&guest, Some(refused.to_string())).await?)).into_response())
        }
        Err(refused) => Err(refused.into()),
    }
}

/// The route of a document or a topic.
fn route(kind: &str, id: &str, guest: &Guest) -> String {
    format!(
        "/knowledge/{kind}/{}?{}",
        words::encoded(id),
        guest.whose.tenant()
    )
}

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentView {
    around: Around,
    document: DocumentData,
}

pub(crate) async fn document(guest: Guest, Path(IdPath { id }): Path<IdPath>) -> Result<Response, Problem> {
    let route = route("documents", &id, &guest);
    let document: DocumentData = guest.api.get_data(&route).await?;
    Ok(html(&DocumentView {
        around: Around::new(&guest, "/page/documents", document.title.clone()),
        document,
    }))
}

pub(crate) async fn delete(guest: Guest, Path(IdPath { id }): Path<IdPath>) -> Result<Response, Problem> {
    let route = route("documents", &id, &guest);
    guest.api.delete_data::<DocumentDeleteData>(&route).await?;
    Ok(Redirect::to(&format!("/page/documents?{}", guest.whose.query())).into_response())
}

#[derive(Template)]
#[template(path = "topic.html")]
struct TopicView {
    around: Around,
    topic: TopicData,
}

pub(crate) async fn topic(guest: Guest, Path(IdPath { id }): Path<IdPath>) -> Result<Response, Problem> {
    let route = route("topics", &id, &guest);
    let topic: TopicData = guest.api.get_data(&route).await?;
    Ok(html(&TopicView {
        around: Around::new(&guest, "/page/documents", topic.topic_name.clone()),
        topic,
    }))
}
