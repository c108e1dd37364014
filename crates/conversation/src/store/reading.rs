//! What is read of conversations beside their fold: originals, lists.
//!
//! Owns: reading. Never: a conversation's state.

use std::ops::Range;

use model::SessionKey;
use ports::{LedgerError, Record};
use prefix::chain::ConversationId;

use super::Store;
use crate::whose::{Whose, identity};

/// Conversations of a tenant that a list looks at.
const LISTED_MAX: usize = 10_000;

impl Store {
    /// The owner's conversations, as the owner names them: the last by name first.
    pub(crate) async fn list(&self, whose: &Whose, limit: usize) -> Result<Vec<String>, LedgerError> {
        let all = self.logs.named(&whose.scope, "", LISTED_MAX).await?.into_iter();
        let own = all.filter(|(_, owner)| *owner == whose.owner);
        let beginning = format!("{}/", whose.owner.id);
        let named = own.map(|(session, _)| {
            let session = session.to_string();
            session
                .strip_prefix(&beginning)
                .map_or(session.clone(), str::to_owned)
        });
        Ok(named.take(limit).collect())
    }

    /// The conversations that somebody talked in last, found again after a restart.
    pub async fn newest(&self, limit: usize) -> Result<Vec<ConversationId>, LedgerError> {
        let newest = self.logs.newest(limit).await?;
        let mut held = self.held();
        let ids = newest.into_iter().map(|(key, owner)| {
            let id = identity(&key.scope, &key.session);
            held.know(&id, Whose::of(key, owner));
            id
        });
        Ok(ids.collect())
    }

    /// The record of an item's arrival.
    pub(crate) async fn item(&self, key: &SessionKey, item: u64) -> Result<Option<Record>, LedgerError> {
        self.logs.item(key, item).await
    }

    /// The records that hold these items.
    pub(crate) async fn items(
        &self,
        key: &SessionKey,
        items: Range<u64>,
    ) -> Result<Vec<Record>, LedgerError> {
        self.logs.items(key, items).await
    }

    /// The newest items that hold all these words.
    pub(crate) async fn search(
        &self,
        key: &SessionKey,
        words: &str,
        limit: usize,
    ) -> Result<Vec<u64>, LedgerError> {
        self.logs.find(key, words, limit).await
    }
}
