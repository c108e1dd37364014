//! Reads of a conversation: its figures, its view, and originals that left the view.
//!
//! Owns: reading. Never: changing a conversation.

use std::collections::BTreeSet;
use std::sync::Arc;

use context::event::{Node, NodeId, ViewEvent};
use context::guard::{Claims, GuardEvent, GuardFinding, Limits, ModelWindow};
use context::ranges;
use prefix::fragment::FragmentId;
use prefix::shadow::{Fragment, ShadowEvent};
use transcript::ItemId;
use transcript::dialect::{self, Dialect};

use super::{ContextError, Contexts, Original};
use crate::conversation::log::{self, Logged};
use crate::conversation::party::Party;
use crate::conversation::report::{Stats, ViewMessage};

/// Maximum number of items in a search of originals.
const FOUND_MAX: usize = 100;
/// Maximum characters of an unknown id in an error.
const ID_SHOWN_CHARS: usize = 40;

impl Contexts {
    /// The figures of a conversation, for a window of this many tokens or the window of its last request.
    pub async fn stats(&self, party: &Party, window_tokens: Option<usize>) -> Result<Stats, ContextError> {
        Ok(self.locked(party).await?.stats(window_tokens))
    }

    /// Whether enough of a window is left for a request, and the changes since the last check.
    pub async fn guard(
        &self,
        party: &Party,
        window_tokens: Option<usize>,
        limits: &Limits,
    ) -> Result<(GuardFinding, Vec<GuardEvent>, ModelWindow), ContextError> {
        let mut conversation = self.locked(party).await?;
        let stats = conversation.stats(None);
        let model = Some(stats.model);
        let window = match stats.window.filter(|_| window_tokens.is_none()) {
            Some(tokens) => ModelWindow {
                tokens,
                source: conversation.window_source,
                model,
            },
            None => ModelWindow::resolve(&Claims {
                session: window_tokens,
                model,
                ..Claims::default()
            }),
        };
        let used = stats.tokens + stats.head_tokens;
        let (finding, events) = conversation.guard.check(limits, window.tokens, used);
        Ok((finding, events, window))
    }

    /// The names of the owner's conversations, in descending order.
    pub async fn list(&self, party: &Party, limit: usize) -> Result<Vec<String>, ContextError> {
        Ok(self.parts.store.list(party, limit).await?)
    }

    /// The view, message by message.
    pub async fn view(&self, party: &Party) -> Result<Vec<ViewMessage>, ContextError> {
        Ok(self.locked(party).await?.view_messages())
    }

    /// The additions of memory that the model still sees: beside the system text, and by message.
    pub async fn additions(&self, party: &Party) -> Result<(String, Vec<(ItemId, Fragment)>), ContextError> {
        let conversation = self.locked(party).await?;
        let shadow = &conversation.shadow;
        let seen: BTreeSet<FragmentId> = shadow.fragments().map(|fragment| fragment.id).collect();
        let entries = conversation.ids.iter().zip(shadow.entries());
        let additions = entries.filter_map(|(id, entry)| Some((*id, entry.fragment.clone()?)));
        let additions = additions.filter(|(_, fragment)| seen.contains(&fragment.id));
        Ok((shadow.head().own.text.clone(), additions.collect()))
    }

    /// The summaries in view, each with the items it replaces.
    pub async fn archives(&self, party: &Party) -> Result<Vec<Arc<Node>>, ContextError> {
        let conversation = self.locked(party).await?;
        let nodes = conversation.session.nodes();
        Ok(nodes.map(|(node, _)| node.clone()).collect())
    }

    /// The original of an item (`m17`), or all originals behind a summary (`n3`).
    pub async fn recover(&self, party: &Party, id: &str) -> Result<Vec<Original>, ContextError> {
        let logs = &self.parts.store.logs;
        let unknown = || ContextError::NoItem(id.chars().take(ID_SHOWN_CHARS).collect());
        let (key, wanted) = {
            let conversation = self.locked(party).await?;
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
            for record in logs.items(&key, first.0..last.0.saturating_add(1)).await? {
                originals.extend(record.item.and_then(|item| original(item, &record.body)));
            }
        }
        originals.retain(|found| ranges::contains(&wanted, found.id));
        match (originals.is_empty(), ItemId::parse(id)) {
            (true, Some(item)) if logs.item(&key, item.0).await?.is_some() => {
                Err(ContextError::Deleted(item))
            }
            (true, _) => Err(unknown()),
            (false, _) => Ok(originals),
        }
    }

    /// The newest originals that contain all these words.
    pub async fn find(
        &self,
        party: &Party,
        words: &str,
        limit: usize,
    ) -> Result<Vec<Original>, ContextError> {
        let key = self.locked(party).await?.key.clone();
        let logs = &self.parts.store.logs;
        let found = logs.find(&key, words, limit.min(FOUND_MAX)).await?;
        let mut originals = Vec::new();
        for item in found {
            let record = logs.item(&key, item).await?;
            originals.extend(record.and_then(|record| original(item, &record.body)));
        }
        Ok(originals)
    }
}

/// The message of an item's record; none if the item was deleted.
fn original(item: u64, body: &str) -> Option<Original> {
    let id = ItemId(item);
    let message = match log::read(body)? {
        Logged::Sent(ShadowEvent::Message { bytes, .. } | ShadowEvent::Reply { bytes })
        | Logged::Appended { bytes } => bytes,
        Logged::View(ViewEvent::Item { item, .. }) => {
            let written = || {
                dialect::write(Dialect::OpenAi, std::slice::from_ref(&*item))
                    .into_iter()
                    .next()
            };
            item.raw.as_deref().map(str::to_owned).or_else(written)?
        }
        _ => return None,
    };
    Some(Original { id, message })
}
