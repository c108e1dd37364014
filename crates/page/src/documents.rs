//! Documents: upload, list, topics, delete.
//!
//! Owns: the views and the form. Never: reading a file.

use askama::Template;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Redirect, Response};
use gateway::wire::knowledge::{
    DocumentCreateData, DocumentData, DocumentDeleteData, DocumentItem, DocumentListData, TopicData,
};

use crate::frame::{PageFrame, Problem, html, status_code};
use crate::visit::{IdPath, LACKING, Visit, unless};
use crate::words;
use gateway::{ApiError, ClientReply};

#[derive(Template)]
#[template(path = "documents.html")]
struct DocumentsView {
    frame: PageFrame,
    app: String,
    project: String,
    documents: Vec<DocumentItem>,
    total: usize,
    problem: Option<String>,
}

pub(crate) async fn page(visit: Visit) -> Result<Response, Problem> {
    Ok(html(&view(&visit, None).await?))
}

async fn view(visit: &Visit, problem: Option<String>) -> Result<DocumentsView, ApiError> {
    let route = format!("/knowledge/documents?{}&page_size=100", visit.owner.tenant());
    let data: DocumentListData = unless(LACKING, visit.api.get_data(&route).await)?;
    Ok(DocumentsView {
        frame: PageFrame::new(visit, "/page/documents", "Documents"),
        app: visit.owner.app.clone(),
        project: visit.owner.project.clone(),
        documents: data.documents,
        total: data.total,
        problem,
    })
}

pub(crate) async fn upload(visit: Visit, form: Request) -> Result<Response, Problem> {
    let reply = visit.api.forward("/api/v2/knowledge/documents", form).await;
    let stored = reply
        .map_err(ApiError::from)
        .and_then(ClientReply::data::<DocumentCreateData>);
    match stored {
        Ok(data) => {
            let address = format!("/page/document/{}?{}", data.doc_id, visit.owner.query());
            Ok(Redirect::to(&address).into_response())
        }
        Err(refused) if refused.status() < 500 => {
            let status = status_code(&refused);
            Ok((status, html(&view(&visit, Some(refused.to_string())).await?)).into_response())
        }
        Err(refused) => Err(refused.into()),
    }
}

/// The route of a document or a topic.
fn route(kind: &str, id: &str, visit: &Visit) -> String {
    format!(
        "/knowledge/{kind}/{}?{}",
        words::encoded(id),
        visit.owner.tenant()
    )
}

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentView {
    frame: PageFrame,
    document: DocumentData,
}

pub(crate) async fn document(visit: Visit, Path(IdPath { id }): Path<IdPath>) -> Result<Response, Problem> {
    let route = route("documents", &id, &visit);
    let document: DocumentData = visit.api.get_data(&route).await?;
    Ok(html(&DocumentView {
        frame: PageFrame::new(&visit, "/page/documents", document.title.clone()),
        document,
    }))
}

pub(crate) async fn delete(visit: Visit, Path(IdPath { id }): Path<IdPath>) -> Result<Response, Problem> {
    let route = route("documents", &id, &visit);
    visit.api.delete_data::<DocumentDeleteData>(&route).await?;
    Ok(Redirect::to(&format!("/page/documents?{}", visit.owner.query())).into_response())
}

#[derive(Template)]
#[template(path = "topic.html")]
struct TopicView {
    frame: PageFrame,
    topic: TopicData,
}

pub(crate) async fn topic(visit: Visit, Path(IdPath { id }): Path<IdPath>) -> Result<Response, Problem> {
    let route = route("topics", &id, &visit);
    let topic: TopicData = visit.api.get_data(&route).await?;
    Ok(html(&TopicView {
        frame: PageFrame::new(&visit, "/page/documents", topic.topic_name.clone()),
        topic,
    }))
}
