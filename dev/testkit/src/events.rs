//! A receiver of events.
//!
//! Owns: accepting every event. Never: a run.

use async_trait::async_trait;
use ports::LedgerError;
use ports::runs::{Events, MemoryEvent};

/// Ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

#[async_trait]
impl Events for NoEvents {
    async fn emit(&self, _: Vec<MemoryEvent>) -> Result<(), LedgerError> {
        Ok(())
    }
}
