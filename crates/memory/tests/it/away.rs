//! A vault whose folder is away, as with a disk that is not mounted.

use crate::hands::{carried_over, remembered};
use crate::stage::finds;

#[tokio::test]
async fn a_vault_that_is_away_is_no_deletion() {
    let (stage, engine) = remembered().await;
    stage.vault.set_away(true);
    engine.sync().await.expect_err("the vault is away");
    engine.rebuild(None).await.expect_err("the vault is away");
    assert!(finds(&engine, "ann", "violin", "violin").await);
    let status = engine.status().await.expect("it answers");
    assert_eq!(status.broken_files.len(), 1, "{:?}", status.broken_files);
    stage.vault.set_away(false);
    assert_eq!(engine.sync().await.expect("it is back").entries_removed, 0);
    assert!(finds(&engine, "ann", "violin", "violin").await);
    carried_over(&stage, &engine).await;
}
