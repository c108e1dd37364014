//! `quipu knowledge`: documents, kept and found.

use std::path::{Path as FilePath, PathBuf};

use gateway::Form;
use serde_json::json;
use text::counted;
use wire::knowledge::{
    DocumentCreateData, DocumentData, DocumentDeleteData, DocumentListData, KnowledgeMethod,
    KnowledgeSearchData, KnowledgeSearchRequest, LibraryDeleteData, TopicData, document_id,
};

use super::forget::confirmed;
use super::{Desk, scope};
use crate::api::{Api, Path};
use crate::args::{KnowledgeArgs, KnowledgeCommand, MethodArg, ScopeArgs};
use crate::error::{Exit, Failure};
use crate::output::say;
use crate::progress;

/// How many documents a page lists.
const PAGE_SIZE: u32 = 50;

pub(super) async fn knowledge(desk: &Desk, api: &Api, args: KnowledgeArgs) -> Result<Exit, Failure> {
    let at = &args.scope;
    match args.command {
        KnowledgeCommand::Add {
            files,
            title,
            category,
        } => {
            if title.is_some() && files.len() > 1 {
                return Err(Failure::usage("--title: give it with one file"));
            }
            let fields = [("title", title), ("category_id", category)];
            add(desk, api, at, &files, &fields).await
        }
        KnowledgeCommand::List { category, page } => list(desk, api, at, category, page).await,
        KnowledgeCommand::Show { id } => show(desk, api, at, &id).await,
        KnowledgeCommand::Search { query, method, limit } => {
            search(desk, api, at, query.join(" "), method, limit).await
        }
        KnowledgeCommand::Delete { all: true, yes, .. } => delete_all(desk, api, at, yes).await,
        KnowledgeCommand::Delete { ids, .. } => delete(desk, api, at, &ids).await,
    }
}

fn within(path: Path, scope: &ScopeArgs) -> Path {
    path.within(&scope.app, &scope.project)
}

async fn add(
    desk: &Desk,
    api: &Api,
    at: &ScopeArgs,
    files: &[PathBuf],
    fields: &[(&str, Option<String>)],
) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    let bar = progress::bar(desk.watched, "reading", files.len() as u64);
    bar.enable_steady_tick(progress::TICK);
    for file in files {
        let of = counted(files.len(), "document", "documents");
        desk.standing.now(format!("{} of {of} stored", all.len()));
        let form = form(desk, at, file, fields)?;
        let stored: Result<DocumentCreateData, Failure> = api.upload("/knowledge/documents", form).await;
        let stored = stored.map_err(|failure| failure.context(format!("`{}`", file.display())))?;
        bar.inc(1);
        if !desk.json {
            let (id, category) = (&stored.doc_id, &stored.category_id);
            let topics = counted(stored.topic_count, "topic", "topics");
            bar.suspend(|| say!("{id}  {}: {topics} in {category}", file.display()))?;
        }
        all.push(stored);
    }
    bar.finish_and_clear();
    desk.tell(&json!({"documents": all}), || Ok(()))
}

/// A file as it is uploaded; one that is too large is not read.
fn form(
    desk: &Desk,
    at: &ScopeArgs,
    file: &FilePath,
    fields: &[(&str, Option<String>)],
) -> Result<Form, Failure> {
    let shown = file.display();
    let unread = |error| Failure::usage(format!("cannot read `{shown}`: {error}"));
    let max = desk.loaded.config.knowledge.upload_mebibytes_max;
    if std::fs::metadata(file).map_err(unread)?.len() > (max as u64) << 20 {
        let why = format!("`{shown}` has more than {max} MiB: split it");
        return Err(Failure::usage(why));
    }
    let bytes = std::fs::read(file).map_err(unread)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let form = Form::new("file", &name, &bytes)
        .with("app_id", &at.app)
        .with("project_id", &at.project);
    let given = fields
        .iter()
        .filter_map(|(field, value)| Some((field, value.as_deref()?)));
    Ok(given.fold(form, |form, (field, value)| form.with(field, value)))
}

async fn list(
    desk: &Desk,
    api: &Api,
    at: &ScopeArgs,
    category: Option<String>,
    page: u32,
) -> Result<Exit, Failure> {
    let path = within(Path::new("/knowledge/documents", ""), at)
        .with("page", page)
        .with("page_size", PAGE_SIZE)
        .with_any("category_id", category);
    let listed: DocumentListData = api.get(path.text()).await?;
    desk.tell(&listed, || {
        for document in &listed.documents {
            let (id, title, category) = (&document.doc_id, &document.title, &document.category_id);
            let topics = counted(document.topic_count, "topic", "topics");
            say!("{id}  {title} ({topics}, {category})")?;
        }
        let all = counted(listed.total, "document", "documents");
        say!("{} of {all}", listed.documents.len())
    })
}

async fn show(desk: &Desk, api: &Api, at: &ScopeArgs, id: &str) -> Result<Exit, Failure> {
    if document_id(id).is_err() {
        let path = within(Path::new("/knowledge/topics/", id), at);
        let topic: TopicData = api.get(path.text()).await?;
        return desk.tell(&topic, || say!("{}\n\n{}", topic.topic_path, topic.content));
    }
    let path = within(Path::new("/knowledge/documents/", id), at);
    let document: DocumentData = api.get(path.text()).await?;
    desk.tell(&document, || {
        let (title, category, summary) = (&document.title, &document.category_id, &document.summary);
        say!("{title} ({category})\n{summary}")?;
        for topic in &document.topics {
            let indent = "  ".repeat(topic.depth);
            say!("{}  {indent}{}", topic.topic_id, topic.topic_name)?;
        }
        Ok(())
    })
}

async fn search(
    desk: &Desk,
    api: &Api,
    at: &ScopeArgs,
    query: String,
    method: MethodArg,
    limit: u32,
) -> Result<Exit, Failure> {
    let scope = scope(at)?;
    let request = KnowledgeSearchRequest {
        query,
        method: text::same!(method, MethodArg => KnowledgeMethod: Keyword, Vector, Hybrid),
        top_k: limit.into(),
        score_threshold: None,
        include_content: false,
        app_id: Some(scope.app.to_string()),
        project_id: Some(scope.project.to_string()),
    };
    let found: KnowledgeSearchData = api.post("/knowledge/search", &request).await?;
    desk.tell(&found, || {
        if found.hits.is_empty() {
            say!("nothing found")?;
        }
        for hit in &found.hits {
            say!("{}  {}", hit.topic_id, hit.topic_path)?;
            if !hit.summary.is_empty() {
                say!("  {}", hit.summary)?;
            }
        }
        Ok(())
    })
}

async fn delete(desk: &Desk, api: &Api, at: &ScopeArgs, ids: &[String]) -> Result<Exit, Failure> {
    let mut deleted = Vec::new();
    let mut missing = Vec::new();
    for id in ids {
        let path = within(Path::new("/knowledge/documents/", id), at);
        match api.delete::<DocumentDeleteData>(path.text()).await? {
            Some(gone) => deleted.push(gone),
            None => missing.push(id),
        }
    }
    desk.tell(&json!({"deleted": deleted, "missing": missing}), || {
        for gone in &deleted {
            let topics = counted(gone.deleted_topics, "topic", "topics");
            say!("deleted {} with {topics}", gone.doc_id)?;
        }
        missing.iter().try_for_each(|id| say!("there is no `{id}`"))
    })?;
    Ok(Exit::found(missing.is_empty()))
}

async fn delete_all(desk: &Desk, api: &Api, at: &ScopeArgs, yes: bool) -> Result<Exit, Failure> {
    confirmed(yes, &format!("every document of `{}/{}`", at.app, at.project))?;
    let path = within(Path::new("/knowledge/documents", ""), at);
    let none = LibraryDeleteData {
        deleted_documents: 0,
        deleted_topics: 0,
    };
    let gone = api.delete(path.text()).await?.unwrap_or(none);
    desk.tell(&gone, || {
        let documents = counted(gone.deleted_documents, "document", "documents");
        let topics = counted(gone.deleted_topics, "topic", "topics");
        say!("deleted {documents} with {topics}")
    })
}

#[cfg(test)]
mod tests;
