//! Which category a document goes into.
//!
//! Owns: the taxonomy of a library, and the order of the methods: a chat model, then vectors. Never: the prompt and the
//! meaning of an answer (`documents`).

use std::time::Duration;

use documents::taxonomy::{self, Category, OTHERS};
use model::{Scope, dot, warned};
use ports::{ChatRequest, EmbedError, EmbedPurpose, ReadDocument, TAXONOMY};

use crate::base::patient;
use crate::library::api::KnowledgeError;
use crate::library::knowledge::Knowledge;

/// Minimum cosine between a document and a category's description.
const LIKENESS_MIN: f32 = 0.15;
/// Time that an upload waits for a chat model, which can be busy with a conversation.
const PATIENCE: Duration = Duration::from_secs(3);
/// Number of characters at the beginning of a document by which its category is chosen.
const SHOWN_CHARS: usize = 2_000;

impl Knowledge {
    /// The categories of a library: those of its file, which a person can change, or the default ones.
    pub(crate) async fn taxonomy(&self, scope: &Scope) -> Result<Vec<Category>, KnowledgeError> {
        let text = self.parts.shelf.get(scope, &self.library, TAXONOMY).await?;
        Ok(text.map_or_else(taxonomy::usual, |text| {
            taxonomy::parse(&String::from_utf8_lossy(&text))
        }))
    }

    /// The category of a document; the first document writes the list of categories into the library, for a person to
    /// change.
    pub(crate) async fn sorted(
        &self,
        scope: &Scope,
        document: &ReadDocument,
        title: &str,
    ) -> Result<String, KnowledgeError> {
        let shelf = &self.parts.shelf;
        if shelf.get(scope, &self.library, TAXONOMY).await?.is_none() {
            let text = taxonomy::render(&taxonomy::usual()).into_bytes();
            shelf.put(scope, &self.library, TAXONOMY, text.into()).await?;
        }
        let categories = self.taxonomy(scope).await?;
        if let Some(category) = self.by_chat(document, title, &categories).await {
            return Ok(category.id.clone());
        }
        let liked = self.by_likeness(document, title, &categories).await;
        let liked = warned!(liked, "embedder unavailable; the document gets no category").flatten();
        Ok(liked.map_or_else(|| OTHERS.to_owned(), |category| category.id.clone()))
    }

    async fn by_chat<'a>(
        &self,
        document: &ReadDocument,
        title: &str,
        categories: &'a [Category],
    ) -> Option<&'a Category> {
        let chat = self.parts.chat.as_ref()?;
        let prompt = taxonomy::prompt(&document.beginning, title, categories);
        let request = ChatRequest {
            schema: Some(("category".to_owned(), prompt.schema)),
            ..ChatRequest::new(prompt.system, prompt.user, prompt.tokens_max)
        };
        let reply = patient(&*self.parts.clock, &**chat, request, PATIENCE).await;
        let reply = warned!(
            reply,
            "chat model unavailable; the embedder chooses the document's category"
        )?;
        taxonomy::answer(&reply.content, categories)
    }

    async fn by_likeness<'a>(
        &self,
        document: &ReadDocument,
        title: &str,
        categories: &'a [Category],
    ) -> Result<Option<&'a Category>, EmbedError> {
        let beginning: String = document.beginning.chars().take(SHOWN_CHARS).collect();
        let named = categories.iter().filter(|category| category.id != OTHERS);
        let named: Vec<&Category> = named.collect();
        let mut texts = vec![format!("{title}\n{}\n{beginning}", document.summary)];
        texts.extend(
            named
                .iter()
                .map(|category| format!("{}: {}", category.id, category.description)),
        );
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = self.parts.embedder.embed(&texts, EmbedPurpose::Passage).await?;
        let Some((document, descriptions)) = vectors.split_first() else {
            return Ok(None);
        };
        let likeness = descriptions.iter().map(|description| dot(document, description));
        let best = named.into_iter().zip(likeness).max_by(|a, b| a.1.total_cmp(&b.1));
        Ok(best
            .filter(|(_, likeness)| *likeness >= LIKENESS_MIN)
            .map(|(category, _)| category))
    }
}
