//! Logs of conversations in memory.
//!
//! Owns: `Conversations` of the fake. Never: reading a body.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use async_trait::async_trait;
use model::{Owner, Scope, SessionId, SessionKey};
use ports::{Conversations, LedgerError, NewRecord, OBJECTS_MAX, Record};

use super::{MemoryLedger, State};

/// Limit of item numbers.
const ITEM_END: u64 = 1 << 62;

#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) owner: Owner,
    records: Vec<NewRecord>,
    /// The answer to each key.
    keys: BTreeMap<String, u64>,
    /// A counter of appends: higher for a later append to any conversation.
    touched: u64,
}

impl Stored {
    fn new(owner: &Owner) -> Self {
        Self {
            owner: owner.clone(),
            records: Vec::new(),
            keys: BTreeMap::new(),
            touched: 0,
        }
    }

    fn length(&self) -> u64 {
        self.records.len() as u64
    }

    fn all(&self) -> impl Iterator<Item = Record> {
        (0..).zip(&self.records).map(|(position, record)| Record {
            position,
            item: record.item,
            body: record.body.clone(),
        })
    }

    /// The log with other records, if each of their items occurs once.
    fn with(&self, records: Vec<NewRecord>) -> Result<Self, LedgerError> {
        let mut items = BTreeSet::new();
        for item in records.iter().filter_map(|record| record.item) {
            if item >= ITEM_END {
                return Err(LedgerError::Store("an item's number of more than 62 bits".into()));
            }
            if !items.insert(item) {
                return Err(LedgerError::Conflict);
            }
        }
        Ok(Self {
            records,
            ..self.clone()
        })
    }
}

/// The text's letters, folded to one case one by one.
fn folded(text: &str) -> Vec<char> {
    let upper = text.chars().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

fn holds(text: &str, word: &str) -> bool {
    let (text, word) = (folded(text), folded(word));
    text.windows(word.len()).any(|piece| piece == word)
}

impl State {
    fn append(
        &mut self,
        conversation: &SessionKey,
        owner: &Owner,
        (at, key): (u64, Option<&str>),
        records: Vec<NewRecord>,
    ) -> Result<u64, LedgerError> {
        let found = self.conversations.get(conversation).cloned();
        let old = found.unwrap_or_else(|| Stored::new(owner));
        if old.owner != *owner {
            return Err(LedgerError::OtherOwner);
        }
        if let Some(answer) = key.and_then(|key| old.keys.get(key)) {
            return Ok(*answer);
        }
        if old.length() != at {
            return Err(LedgerError::Conflict);
        }
        let mut new = old.with([old.records.clone(), records].concat())?;
        let length = new.length();
        new.keys.extend(key.map(|key| (key.to_owned(), length)));
        let newest = self.conversations.values().map(|stored| stored.touched).max();
        new.touched = newest.unwrap_or(0) + 1;
        self.conversations.insert(conversation.clone(), new);
        Ok(length)
    }

    fn replace(
        &mut self,
        conversation: &SessionKey,
        at: u64,
        replaced: Vec<(u64, NewRecord)>,
        appended: Vec<NewRecord>,
    ) -> Result<u64, LedgerError> {
        let old = self.conversations.get(conversation);
        let old = old
            .filter(|old| old.length() == at)
            .ok_or(LedgerError::Conflict)?;
        let mut records = old.records.clone();
        let mut positions = BTreeSet::new();
        for (position, record) in replaced {
            let index = usize::try_from(position).ok();
            match index.and_then(|index| records.get_mut(index)) {
                Some(place) if positions.insert(position) => *place = record,
                _ => return Err(LedgerError::Conflict),
            }
        }
        records.extend(appended);
        let new = old.with(records)?;
        let length = new.length();
        self.conversations.insert(conversation.clone(), new);
        Ok(length)
    }

    fn fork(&mut self, from: &SessionKey, records: u64, to: &SessionId) -> Result<(), LedgerError> {
        let to = SessionKey {
            scope: from.scope.clone(),
            session: to.clone(),
        };
        let original = self.conversations.get(from);
        let original = original.filter(|original| original.length() >= records);
        let (Some(original), None) = (original, self.conversations.get(&to)) else {
            return Err(LedgerError::Conflict);
        };
        let length = usize::try_from(records).map_err(|_| LedgerError::Conflict)?;
        let copy = Stored {
            records: original.records[..length].to_vec(),
            ..Stored::new(&original.owner)
        };
        self.conversations.insert(to, copy);
        Ok(())
    }

    fn of(&self, conversation: &SessionKey) -> impl Iterator<Item = Record> {
        self.conversations
            .get(conversation)
            .into_iter()
            .flat_map(Stored::all)
    }

    fn find(&self, conversation: &SessionKey, words: &str, limit: usize) -> Vec<u64> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let stored = self.conversations.get(conversation).filter(|_| !words.is_empty());
        let records = stored.into_iter().flat_map(|stored| &stored.records);
        let found = records.filter(|record| words.iter().all(|word| holds(&record.text, word)));
        let items: BTreeSet<u64> = found.filter_map(|record| record.item).collect();
        items.into_iter().rev().take(limit).collect()
    }
}

#[async_trait]
impl Conversations for MemoryLedger {
    async fn append(
        &self,
        conversation: &SessionKey,
        owner: &Owner,
        at: u64,
        key: Option<&str>,
        records: Vec<NewRecord>,
    ) -> Result<u64, LedgerError> {
        self.call(|state| state.append(conversation, owner, (at, key), records))
    }

    async fn read(
        &self,
        conversation: &SessionKey,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Record>, LedgerError> {
        self.call(|state| {
            let records = state.of(conversation).filter(|record| record.position >= from);
            Ok(records.take(limit).collect())
        })
    }

    async fn item(&self, conversation: &SessionKey, item: u64) -> Result<Option<Record>, LedgerError> {
        self.call(|state| Ok(state.of(conversation).find(|record| record.item == Some(item))))
    }

    async fn items(&self, conversation: &SessionKey, items: Range<u64>) -> Result<Vec<Record>, LedgerError> {
        self.call(|state| {
            let wanted = |record: &Record| record.item.is_some_and(|item| items.contains(&item));
            let mut records: Vec<Record> = state.of(conversation).filter(wanted).collect();
            records.sort_by_key(|record| record.item);
            Ok(records)
        })
    }

    async fn find(
        &self,
        conversation: &SessionKey,
        words: &str,
        limit: usize,
    ) -> Result<Vec<u64>, LedgerError> {
        self.call(|state| Ok(state.find(conversation, words, limit)))
    }

    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        limit: usize,
    ) -> Result<Vec<(SessionId, Owner)>, LedgerError> {
        self.call(|state| {
            let found = state
                .conversations
                .iter()
                .rev()
                .filter(|(key, _)| key.scope == *scope && key.session.as_str().starts_with(beginning));
            let pair = |(key, stored): (&SessionKey, &Stored)| (key.session.clone(), stored.owner.clone());
            Ok(found.map(pair).take(limit).collect())
        })
    }

    async fn newest(&self, limit: usize) -> Result<Vec<(SessionKey, Owner)>, LedgerError> {
        self.call(|state| {
            let mut found: Vec<(&SessionKey, &Stored)> = state.conversations.iter().collect();
            found.sort_by_key(|(_, stored)| std::cmp::Reverse(stored.touched));
            let pair = |(key, stored): (&SessionKey, &Stored)| (key.clone(), stored.owner.clone());
            Ok(found.into_iter().map(pair).take(limit).collect())
        })
    }

    async fn replace(
        &self,
        conversation: &SessionKey,
        at: u64,
        replaced: Vec<(u64, NewRecord)>,
        appended: Vec<NewRecord>,
    ) -> Result<u64, LedgerError> {
        self.call(|state| state.replace(conversation, at, replaced, appended))
    }

    async fn fork(&self, from: &SessionKey, records: u64, to: &SessionId) -> Result<(), LedgerError> {
        self.call(|state| state.fork(from, records, to))
    }

    async fn delete(&self, conversation: &SessionKey) -> Result<bool, LedgerError> {
        self.call(|state| Ok(state.conversations.remove(conversation).is_some()))
    }

    async fn record_objects(
        &self,
        scope: &Scope,
        owner: &Owner,
        ids: Vec<String>,
    ) -> Result<(), LedgerError> {
        self.call(|state| {
            let known = state.objects.entry((scope.clone(), owner.clone())).or_default();
            let mut seen: BTreeSet<String> = known.iter().cloned().collect();
            known.extend(ids.into_iter().filter(|id| seen.insert(id.clone())));
            known.drain(..known.len().saturating_sub(OBJECTS_MAX));
            Ok(())
        })
    }

    async fn owned_objects(
        &self,
        scope: &Scope,
        owner: &Owner,
        mut ids: Vec<String>,
    ) -> Result<Vec<String>, LedgerError> {
        self.call(|state| {
            let known = state.objects.get(&(scope.clone(), owner.clone()));
            ids.retain(|id| known.is_some_and(|known| known.contains(id)));
            Ok(ids)
        })
    }
}
