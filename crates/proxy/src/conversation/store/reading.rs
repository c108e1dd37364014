//! Lists of conversations.
//!
//! Owns: reading. Never: a conversation's state.

use ports::LedgerError;
use prefix::chain::ConversationId;

use super::{Shared, Store};
use crate::conversation::party::{BEGINNING, Party, identity};

/// Unnamed conversations have no index by owner: a list reads at most this number of the tenant's newest.
const UNNAMED_MAX: usize = 10_000;

impl Store {
    /// The owner's own names of the conversations, in descending order.
    pub(crate) async fn list(&self, party: &Party, limit: usize) -> Result<Vec<String>, LedgerError> {
        let beginning = format!("{}/", party.owner.id);
        let mut found = self.logs.by_prefix(&party.scope, &beginning, limit).await?;
        found.extend(self.logs.by_prefix(&party.scope, BEGINNING, UNNAMED_MAX).await?);
        found.retain(|(_, owner)| *owner == party.owner);
        found.sort_unstable_by(|(left, _), (right, _)| right.cmp(left));
        let names = found.iter().map(|(session, _)| {
            let session = session.as_str();
            session.strip_prefix(&beginning).unwrap_or(session).to_owned()
        });
        Ok(names.take(limit).collect())
    }

    /// Number of conversations in memory that are near their limit, without those with a running request.
    pub fn near_limit(&self) -> usize {
        let in_memory: Vec<Shared> = {
            let held = self.held.lock();
            held.known
                .values()
                .filter_map(|known| known.conversation.clone())
                .collect()
        };
        let is_near = |shared: &&Shared| shared.try_lock().is_ok_and(|one| one.stats(None).is_near_limit);
        in_memory.iter().filter(is_near).count()
    }

    /// The most recently used conversations, also after a restart.
    pub async fn newest(&self, limit: usize) -> Result<Vec<ConversationId>, LedgerError> {
        let newest = self.logs.newest(limit).await?;
        let mut held = self.held.lock();
        let ids = newest.into_iter().map(|(key, owner)| {
            let id = identity(&key.scope, &key.session);
            held.know(&id, Party::of(key, owner));
            id
        });
        Ok(ids.collect())
    }
}
