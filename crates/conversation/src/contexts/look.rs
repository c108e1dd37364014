//! Looking at a conversation: its figures, its view, and originals that left it.
//!
//! Owns: reading. Never: changing a conversation.

use std::fmt::Write as _;

use context::budget::Budget;
use context::event::{Event as ViewEvent, NodeId};
use context::guard::{Claims, Event as GuardEvent, Finding, Guard, Limits, Window};
use context::ranges;
use prefix::shadow::Event;
use transcript::ItemId;
use transcript::dialect::{self, Dialect};

use super::{ContextError, Contexts, Original};
use crate::conversation::{Conversation, words};
use crate::log::{self, Logged};
use crate::report::{Archived, Shown, Stats, role_name};
use crate::whose::Whose;

/// The most items that a search of originals returns.
const FOUND_MAX: usize = 100;
/// Of an id that names nothing an error shows so much.
const ID_SHOWN_CHARS: usize = 40;

impl Contexts {
    /// The figures of a conversation.
    pub async fn stats(&self, whose: &Whose, budget: Option<Budget>) -> Result<Stats, ContextError> {
        let shared = self.existing(whose).await?;
        let conversation = shared.lock().await;
        Ok(conversation.stats(budget))
    }

    /// Whether so much of a window is left that a request may go out, and what has changed since the last check.
    pub async fn guard(
        &self,
        whose: &Whose,
        window_tokens: Option<usize>,
    ) -> Result<(Finding, Vec<GuardEvent>, Window), ContextError> {
        let shared = self.existing(whose).await?;
        let mut conversation = shared.lock().await;
        let stats = conversation.stats(None);
        let claims = Claims {
            session: window_tokens,
            model_config: stats.window,
            model: Some(stats.model),
            ..Claims::default()
        };
        let window = Window::resolve(&claims);
        let guard = conversation
            .guard
            .get_or_insert_with(|| Guard::new(Limits::quipu(), window.clone()));
        guard.set_window(window.clone());
        let (finding, events) = guard.check(stats.tokens + stats.head_tokens);
        Ok((finding, events, window))
    }

    /// The owner's conversations, as they are named: the last by name first.
    pub async fn list(&self, whose: &Whose, limit: usize) -> Result<Vec<String>, ContextError> {
        Ok(self.parts.store.list(whose, limit).await?)
    }

    /// The view, message by message.
    pub async fn view(&self, whose: &Whose) -> Result<Vec<Shown>, ContextError> {
        let shared = self.existing(whose).await?;
        let conversation = shared.lock().await;
        Ok(conversation.view_shown())
    }

    /// The summaries in view, each with what it stands for.
    pub async fn archives(&self, whose: &Whose) -> Result<Vec<Archived>, ContextError> {
        let shared = self.existing(whose).await?;
        let conversation = shared.lock().await;
        Ok(conversation.archives())
    }

    /// The original of an item (`m17`), or all that a summary (`n3`) stands for.
    pub async fn recover(&self, whose: &Whose, id: &str) -> Result<Vec<Original>, ContextError> {
        let shared = self.existing(whose).await?;
        let unknown = || ContextError::NoItem(id.chars().take(ID_SHOWN_CHARS).collect());
        let (key, wanted) = {
            let conversation = shared.lock().await;
            let covers = match (ItemId::parse(id), NodeId::parse(id)) {
                (Some(item), _) => vec![(item, item)],
                (None, Some(node)) => {
                    let mut nodes = conversation.log.iter().filter_map(|event| match event {
                        ViewEvent::Node(found) if found.id == node => Some(found.covers.clone()),
                        _ => None,
                    });
                    nodes.next_back().ok_or_else(unknown)?
                }
                (None, None) => return Err(unknown()),
            };
            (conversation.key.clone(), covers)
        };
        let mut originals = Vec::new();
        for (first, last) in &wanted {
            for record in self
                .parts
                .store
                .items(&key, first.0..last.0.saturating_add(1))
                .await?
            {
                if let (Some(item), Some(message)) = (record.item, original(&record.body)) {
                    originals.push(Original {
                        id: ItemId(item),
                        message,
                    });
                }
            }
        }
        originals.retain(|found| ranges::contains(&wanted, found.id));
        match (originals.is_empty(), ItemId::parse(id)) {
            (true, Some(item)) if self.parts.store.item(&key, item.0).await?.is_some() => {
                Err(ContextError::Deleted(item))
            }
            (true, _) => Err(unknown()),
            (false, _) => Ok(originals),
        }
    }

    /// The text of originals for a model that asked for them, of at most so many characters.
    pub async fn expand(&self, whose: &Whose, id: &str, chars_max: usize) -> Result<String, ContextError> {
        let originals = self.recover(whose, id).await?;
        let mut text = String::new();
        for original in &originals {
            let item = Conversation::read(&original.message);
            let (id, role) = (original.id, role_name(item.role));
            let words = words(&item);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{id}] {role}: {words}");
        }
        if text.chars().count() > chars_max {
            text = text.chars().take(chars_max).collect();
            text.push_str("\n[… cut here; ask for a single message by its id]");
        }
        Ok(text)
    }

    /// The newest originals that hold all these words.
    pub async fn find(
        &self,
        whose: &Whose,
        words: &str,
        limit: usize,
    ) -> Result<Vec<Original>, ContextError> {
        let shared = self.existing(whose).await?;
        let key = shared.lock().await.key.clone();
        let found = self.parts.store.search(&key, words, limit.min(FOUND_MAX)).await?;
        let mut originals = Vec::new();
        for item in found {
            let record = self.parts.store.item(&key, item).await?;
            if let Some(message) = record.and_then(|record| original(&record.body)) {
                originals.push(Original {
                    id: ItemId(item),
                    message,
                });
            }
        }
        Ok(originals)
    }
}

/// The message of a record; none of an item that was deleted.
fn original(body: &str) -> Option<String> {
    match log::read(body)? {
        Logged::Sent(Event::Message { bytes, .. } | Event::Reply { bytes }) | Logged::Appended(bytes) => {
            Some(bytes)
        }
        Logged::View(ViewEvent::Item { item, .. }) => {
            let written = || {
                dialect::write(Dialect::OpenAi, std::slice::from_ref(&*item))
                    .into_iter()
                    .next()
            };
            item.raw.as_deref().map(str::to_owned).or_else(written)
        }
        _ => None,
    }
}
