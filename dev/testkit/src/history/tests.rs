//! The fake keeps the contract, and its faults are the ones it promises.

use std::sync::Arc;

use model::Timestamp;
use ports::{Author, CommitPart, History, HistoryError};

use super::{MemoryHistory, contract};
use crate::vault::MemoryVault;
use crate::vault::samples::zone;

struct Memory {
    vault: MemoryVault,
    history: MemoryHistory,
}

impl Memory {
    fn new() -> Self {
        let vault = MemoryVault::new(zone());
        let history = MemoryHistory::new(vault.clone());
        Self { vault, history }
    }
}

impl contract::Fixture for Memory {
    fn history(&self) -> Arc<dyn History> {
        Arc::new(self.history.clone())
    }

    fn write(&self, path: &str, text: &str) {
        self.vault.write(path, text);
    }

    fn delete(&self, path: &str) {
        self.vault.delete(path);
    }

    fn text(&self, path: &str) -> Option<String> {
        let bytes = self.vault.bytes(path)?;
        Some(String::from_utf8(bytes).expect("text"))
    }
}

#[tokio::test]
async fn keeps_the_contract() {
    contract::holds(async || Memory::new()).await;
}

#[tokio::test]
async fn a_planned_fault_fails_one_call() {
    let memory = Memory::new();
    memory.vault.write("README.md", "x");
    memory.history.fail_call(1);
    let at = Timestamp::default();
    let failed = memory.history.commit(&Author::Person, &CommitPart::All, at).await;
    assert!(matches!(failed, Err(HistoryError::Io { .. })));
    let made = memory.history.commit(&Author::Person, &CommitPart::All, at).await;
    assert!(made.expect("commits").is_some());
    assert_eq!(memory.history.calls(), 2);
}
