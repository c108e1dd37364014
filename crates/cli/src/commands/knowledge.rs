//! `quipu knowledge`: stores documents and searches them.

use std::path::{Path as FilePath, PathBuf};

use gateway::Form;
use gateway::wire::knowledge::{
    DocumentCreateData, DocumentData, DocumentDeleteData, DocumentListData, KnowledgeMethod,
    KnowledgeSearchData, KnowledgeSearchRequest, LibraryDeleteData, TopicData, document_id,
};
use model::text::counted;
use serde_json::json;

use super::Desk;
use super::forget::confirmed;
use crate::api::{Api, Path};
use crate::args::{KnowledgeArgs, KnowledgeCommand, MethodArg, ScopeArgs};
use crate::error::{Exit, Failure};
use crate::output::say;
use crate::progress;

/// Documents of a page in a list.
const PAGE_SIZE: u32 = 50;

pub(super) async fn knowledge(desk: &Desk, api: &Api, args: KnowledgeArgs) -> Result<Exit, Failure> {
    let at = Library {
        desk,
        api,
        scope: args.scope,
    };
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
            at.add(&files, &fields).await
        }
        KnowledgeCommand::List { category, page } => at.list(category, page).await,
        KnowledgeCommand::Show { id } => at.show(&id).await,
        KnowledgeCommand::Search { query, method, limit } => at.search(query.join(" "), method, limit).await,
        KnowledgeCommand::Delete { all: true, yes, .. } => at.delete_all(yes).await,
        KnowledgeCommand::Delete { ids, .. } => at.delete(&ids).await,
    }
}

/// The documents of a tenant.
struct Library<'a> {
    desk: &'a Desk,
    api: &'a Api,
    scope: ScopeArgs,
}

impl Library<'_> {
    fn within(&self, route: &str, id: &str) -> Path {
        Path::new(route, id).within(&self.scope.app, &self.scope.project)
    }

    async fn add(&self, files: &[PathBuf], fields: &[(&str, Option<String>)]) -> Result<Exit, Failure> {
        let mut all = Vec::new();
        let bar = progress::bar(self.desk.watched, "reading", files.len() as u64);
        bar.enable_steady_tick(progress::TICK);
        for file in files {
            let of = counted(files.len(), "document", "documents");
            self.desk.standing.now(format!("{} of {of} stored", all.len()));
            let form = self.form(file, fields)?;
            let stored: Result<DocumentCreateData, Failure> =
                self.api.upload("/knowledge/documents", form).await;
            let stored = stored.map_err(|failure| failure.context(format!("`{}`", file.display())))?;
            bar.inc(1);
            if !self.desk.json {
                let (id, category) = (&stored.doc_id, &stored.category_id);
                let topics = counted(stored.topic_count, "topic", "topics");
                bar.suspend(|| say!("{id}  {}: {topics} in {category}", file.display()))?;
            }
            all.push(stored);
        }
        bar.finish_and_clear();
        self.desk.tell(&json!({"documents": all}), || Ok(()))
    }

    /// The upload form of a file; a file that is too large is not read.
    fn form(&self, file: &FilePath, fields: &[(&str, Option<String>)]) -> Result<Form, Failure> {
        let shown = file.display();
        let unread = |error| Failure::usage(format!("cannot read `{shown}`: {error}"));
        let max = self.desk.loaded.config.knowledge.upload_mebibytes_max;
        if std::fs::metadata(file).map_err(unread)?.len() > (max as u64) << 20 {
            let why = format!("`{shown}` has more than {max} MiB: split it");
            return Err(Failure::usage(why));
        }
        let bytes = std::fs::read(file).map_err(unread)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let form = Form::new("file", &name, &bytes)
            .with("app_id", self.scope.app.as_str())
            .with("project_id", self.scope.project.as_str());
        let given = fields
            .iter()
            .filter_map(|(field, value)| Some((field, value.as_deref()?)));
        Ok(given.fold(form, |form, (field, value)| form.with(field, value)))
    }

    async fn list(&self, category: Option<String>, page: u32) -> Result<Exit, Failure> {
        let path = self
            .within("/knowledge/documents", "")
            .with("page", page)
            .with("page_size", PAGE_SIZE)
            .with_any("category_id", category);
        let listed: DocumentListData = self.api.get(path.text()).await?;
        self.desk.tell(&listed, || {
            for document in &listed.documents {
                let (id, title, category) = (&document.doc_id, &document.title, &document.category_id);
                let topics = counted(document.topic_count, "topic", "topics");
                say!("{id}  {title} ({topics}, {category})")?;
            }
            let all = counted(listed.total, "document", "documents");
            say!("{} of {all}", listed.documents.len())
        })
    }

    async fn show(&self, id: &str) -> Result<Exit, Failure> {
        if document_id(id).is_err() {
            let path = self.within("/knowledge/topics/", id);
            let topic: TopicData = self.api.get(path.text()).await?;
            return self
                .desk
                .tell(&topic, || say!("{}\n\n{}", topic.topic_path, topic.content));
        }
        let path = self.within("/knowledge/documents/", id);
        let document: DocumentData = self.api.get(path.text()).await?;
        self.desk.tell(&document, || {
            let (title, category, summary) = (&document.title, &document.category_id, &document.summary);
            say!("{title} ({category})\n{summary}")?;
            for topic in &document.topics {
                let indent = "  ".repeat(topic.depth);
                say!("{}  {indent}{}", topic.topic_id, topic.topic_name)?;
            }
            Ok(())
        })
    }

    async fn search(&self, query: String, method: MethodArg, limit: u32) -> Result<Exit, Failure> {
        let request = KnowledgeSearchRequest {
            query,
            method: model::same!(method, MethodArg => KnowledgeMethod: Keyword, Vector, Hybrid),
            top_k: limit.into(),
            score_threshold: None,
            include_content: false,
            app_id: Some(self.scope.app.to_string()),
            project_id: Some(self.scope.project.to_string()),
        };
        let found: KnowledgeSearchData = self.api.post("/knowledge/search", &request).await?;
        self.desk.tell(&found, || {
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

    async fn delete(&self, ids: &[String]) -> Result<Exit, Failure> {
        let mut deleted = Vec::new();
        let mut missing = Vec::new();
        for id in ids {
            let path = self.within("/knowledge/documents/", id);
            match self.api.delete::<DocumentDeleteData>(path.text()).await? {
                Some(gone) => deleted.push(gone),
                None => missing.push(id),
            }
        }
        self.desk
            .tell(&json!({"deleted": deleted, "missing": missing}), || {
                for gone in &deleted {
                    let topics = counted(gone.deleted_topics, "topic", "topics");
                    say!("deleted {} with {topics}", gone.doc_id)?;
                }
                missing.iter().try_for_each(|id| say!("there is no `{id}`"))
            })?;
        Ok(Exit::found(missing.is_empty()))
    }

    async fn delete_all(&self, yes: bool) -> Result<Exit, Failure> {
        let ScopeArgs { app, project } = &self.scope;
        confirmed(yes, &format!("every document of `{app}/{project}`"))?;
        let path = self.within("/knowledge/documents", "");
        let gone: Option<LibraryDeleteData> = self.api.delete(path.text()).await?;
        let gone = gone.unwrap_or_default();
        self.desk.tell(&gone, || {
            let documents = counted(gone.deleted_documents, "document", "documents");
            let topics = counted(gone.deleted_topics, "topic", "topics");
            say!("deleted {documents} with {topics}")
        })
    }
}

#[cfg(test)]
mod tests;
