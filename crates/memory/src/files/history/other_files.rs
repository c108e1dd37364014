//! Files beside memory, as notes and pages: compared with the history at quiet moments.
//!
//! Owns: when they are compared, and their text. Never: memory files, which each sync compares.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::warned;
use ports::{FileStat, NewVersion, VaultPath, VersionKey};

use crate::base::Base;
use crate::base::chronicle::text_of;
use crate::error::EngineError;

/// Compares at quiet moments until the engine stops.
pub(crate) async fn keep(base: Arc<Base>) {
    let clock = &base.parts.clock;
    loop {
        let pause = base.chronicle.due();
        let pause = pause.map(|due| due.saturating_sub(clock.elapsed()));
        if pause.is_some_and(|pause| pause.is_zero()) {
            *base.chronicle.changed.lock() = None;
            let compared = compare(&base).await;
            if warned!(compared, "cannot record changes beside memory; retrying").is_none() {
                base.chronicle.touch(clock.elapsed());
            }
            continue;
        }
        tokio::select! {
            biased;
            () = base.work.stopping() => return,
            () = base.chronicle.begun.notified() => {}
            () = clock.sleep(pause.unwrap_or_default()), if pause.is_some() => {}
        }
    }
}

/// Records the last changes when the engine ends, because the watcher may not have reported the newest one yet.
pub(crate) async fn end(base: &Base) {
    let ended = async {
        base.chronicle.up_to_date().await?;
        compare(base).await
    };
    warned!(ended.await, "cannot record the last changes; the next start does");
}

/// Compares the files beside memory with their versions in the history.
async fn compare(base: &Base) -> Result<(), EngineError> {
    if !base.chronicle.is_recording || base.settings.asks_only {
        return Ok(());
    }
    // Exclusive: no writer is between an announcement and its write.
    let _alone = base.gate.alone_when_quiet().await;
    let vault = &base.parts.vault;
    let now = vault.others().await?;
    // After the scan: files of an unmounted vault are missing, not deleted.
    vault.is_present().await?;
    let history = base.chronicle.up_to_date().await?;
    let known = history.others().await?.into_iter();
    let mut known: BTreeMap<VaultPath, FileStat> = known.map(|stat| (stat.path.clone(), stat)).collect();
    let mut found = Vec::new();
    for other in &now {
        let path = &other.stat.path;
        if known.remove(path).as_ref() == Some(&other.stat) {
            continue;
        }
        let Some(bytes) = vault.bytes(path).await? else {
            continue;
        };
        found.push(NewVersion {
            key: VersionKey::of_file(path.clone()),
            owner: other.owner.clone(),
            session: None,
            before: None,
            after: Some(text_of(&bytes)),
        });
    }
    found.extend(known.into_keys().map(|path| NewVersion {
        key: VersionKey::of_file(path),
        owner: None,
        session: None,
        before: None,
        after: None,
    }));
    if !found.is_empty() {
        history.find(found, base.now()).await?;
        let stats = now.into_iter().map(|other| other.stat).collect();
        history.put_others(stats).await?;
    }
    Ok(())
}
