//! A conversation's log in the ledger: events in, events out.
//!
//! Owns: what of an event can be searched, and pages of reading. Never: the format of a record; `context::record` does.

use std::ops::Range;
use std::sync::Arc;

use context::event::Event;
use context::record;
use context::text::sha256_hex;
use model::{Owner, SessionKey};
use ports::{Conversations, LedgerError, NewRecord};
use transcript::{Block, Item, ItemId};

/// Records read at a time.
const PAGE: usize = 1_000;

/// One conversation's log.
#[derive(Debug, Clone)]
pub(crate) struct Archive {
    pub(crate) store: Arc<dyn Conversations>,
    pub(crate) key: SessionKey,
    pub(crate) owner: Owner,
}

impl Archive {
    /// Writes events behind the `at` there are; gives how many there are now. The same events at the same place are written
    /// once, however often a caller that got no answer tries.
    pub(crate) async fn append(&self, at: u64, events: &[Event]) -> Result<u64, LedgerError> {
        let records: Vec<NewRecord> = events.iter().map(to_record).collect();
        let bodies: String = records.iter().map(|record| record.body.as_str()).collect();
        let key = sha256_hex(format!("{at} {bodies}").as_bytes());
        self.store
            .append(&self.key, &self.owner, at, Some(&key), records)
            .await
    }

    /// The whole log.
    pub(crate) async fn events(&self) -> Result<Vec<Event>, LedgerError> {
        let mut events = Vec::new();
        loop {
            let page = self.store.read(&self.key, events.len() as u64, PAGE).await?;
            let last = page.len() < PAGE;
            for found in page {
                events.push(parse(&found.body)?);
            }
            if last {
                return Ok(events);
            }
        }
    }

    /// The items of these numbers that are still there.
    pub(crate) async fn items(&self, ids: Range<u64>) -> Result<Vec<(ItemId, Arc<Item>)>, LedgerError> {
        let mut items = Vec::new();
        for found in self.store.items(&self.key, ids).await? {
            if let Event::Item { id, item } = parse(&found.body)? {
                items.push((id, item));
            }
        }
        Ok(items)
    }

    /// The event of an item's arrival, or its tombstone.
    pub(crate) async fn event(&self, id: ItemId) -> Result<Option<Event>, LedgerError> {
        let found = self.store.item(&self.key, id.0).await?;
        found.map(|found| parse(&found.body)).transpose()
    }
}

/// The record of an event.
pub(crate) fn to_record(event: &Event) -> NewRecord {
    let (item, text) = match event {
        Event::Item { id, item } => (Some(id.0), words(item)),
        Event::Forget(id) => (Some(id.0), String::new()),
        _ => (None, String::new()),
    };
    NewRecord {
        item,
        text,
        body: record::write(event),
    }
}

fn parse(body: &str) -> Result<Event, LedgerError> {
    record::read(body).map_err(|error| LedgerError::Store(Box::new(error)))
}

/// What a search of originals sees of an item.
fn words(item: &Item) -> String {
    let texts: Vec<&str> = item
        .blocks
        .iter()
        .flat_map(|block| match block {
            Block::Text(text) => vec![text.as_str()],
            Block::Call(call) => vec![call.name.as_str(), call.arguments.as_str()],
            Block::Outcome(outcome) => vec![outcome.text.as_str()],
            Block::Image(_) | Block::Thinking(_) | Block::Other(_) => Vec::new(),
        })
        .collect();
    texts.join("\n")
}
