//! The fake keeps the contract, and its faults are the promised ones.

use std::sync::Arc;

use ports::{Vault as _, VaultError, VaultWriter as _};

use super::samples::{fact, zone};
use super::{MemoryVault, contract};

impl contract::Fixture for MemoryVault {
    fn vault(&self) -> Arc<dyn contract::WritableVault> {
        Arc::new(self.clone())
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        Self::write(self, path, bytes);
    }

    fn delete(&self, path: &str) {
        Self::delete(self, path);
    }

    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        Self::bytes(self, path)
    }
}

#[tokio::test]
async fn keeps_the_contract() {
    contract::holds(async || MemoryVault::new(zone())).await;
    let vault = MemoryVault::new(zone());
    contract::keeps_library_files(&vault, &vault).await;
}

#[tokio::test]
async fn keeps_the_contract_of_pages() {
    contract::pages::holds(async || MemoryVault::new(zone()), |vault| vault).await;
}

#[tokio::test]
async fn a_planned_fault_tears_an_append_once() {
    let vault = MemoryVault::new(zone());
    let [one, two] = ["af_1", "af_2"].map(|id| fact("ann", id, "2023-05-08", id));
    vault.append(&[one], true).await.expect("appends");
    let path = vault.paths().remove(0);
    let before = vault.bytes(&path).expect("is there");
    vault.fail_call(2);
    vault.scan().await.expect("the first call works");
    let failed = vault.append(std::slice::from_ref(&two), false).await;
    assert!(matches!(failed, Err(VaultError::Io { .. })));
    assert!(vault.bytes(&path).expect("is there").len() > before.len());
    vault.append(&[two], false).await.expect("the third call works");
    let file = vault.read(&path).await.expect("reads").expect("is there");
    assert_eq!((file.entries.len(), file.problems.len()), (2, 0));
    assert_eq!(vault.calls(), 5);
}
