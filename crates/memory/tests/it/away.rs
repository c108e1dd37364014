//! A vault in an unmounted folder, as on a disk that is not mounted.

use memory::Forget;
use model::Scope;

use crate::by_words::target;
use crate::hands::{carried_over, remembered};
use crate::stage::{finds, user};

#[tokio::test]
async fn an_unmounted_vault_is_not_taken_for_a_deletion() {
    let (stage, engine) = remembered().await;
    stage.vault.set_away(true);
    engine.sync().await.expect_err("the vault is away");
    engine.rebuild().await.expect_err("the vault is away");
    assert!(finds(&engine, "ann", "violin", "violin").await);
    let status = engine.status().await.expect("it answers");
    assert_eq!(status.broken_files.len(), 1, "{:?}", status.broken_files);
    stage.vault.set_away(false);
    assert_eq!(engine.sync().await.expect("it is back").entries_removed, 0);
    assert!(finds(&engine, "ann", "violin", "violin").await);
    carried_over(&stage, &engine).await;
}

#[tokio::test]
async fn a_deletion_does_not_start_while_the_vault_is_unmounted() {
    let (stage, engine) = remembered().await;
    let before = format!("{:?}", stage.ledger.everything());
    stage.vault.set_away(true);
    for forget in [
        Forget::Owner(Scope::default(), user("ann")),
        target("ann", "violin", &[]),
    ] {
        engine.forget(forget).await.expect_err("the vault is away");
    }
    assert_eq!(format!("{:?}", stage.ledger.everything()), before);
    stage.vault.set_away(false);
    carried_over(&stage, &engine).await;
    assert!(
        finds(&engine, "ann", "violin", "violin").await,
        "nothing is finished later"
    );
}
