//! Files beside memory, as notes and pages: compared with the history at quiet moments.
//!
//! Owns: when they are compared, and their text. Never: memory files, which each sync compares.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ports::{FileStat, NewVersion, VaultPath, VersionKey, VersionText};
use text::{Fnv, chain};

use super::{Chronicle, finish_open};
use crate::error::EngineError;
use crate::world::World;

/// Files are compared when none changed for so long,
const QUIET: Duration = Duration::from_secs(10);
/// or the first change is so old.
const WAIT_MAX: Duration = Duration::from_mins(5);

impl Chronicle {
    /// Something beside memory may have changed.
    pub(crate) fn touch(&self, now: Duration) {
        if !self.is_recording {
            return;
        }
        let mut changed = self.changed.lock();
        let first = changed.map_or(now, |(first, _)| first);
        let is_first = changed.replace((first, now)).is_none();
        drop(changed);
        if is_first {
            self.begun.notify_one();
        }
    }

    fn due(&self) -> Option<Duration> {
        let (first, last) = (*self.changed.lock())?;
        Some((last + QUIET).min(first + WAIT_MAX))
    }
}

/// A file's text.
pub(super) fn text_of(bytes: &[u8]) -> VersionText {
    let (digest, text) = (Fnv::of(bytes), None);
    let bare = VersionText {
        digest,
        bytes: bytes.len() as u64,
        text,
    };
    std::str::from_utf8(bytes).map_or(bare, |text| VersionText::new(digest, text.to_owned()))
}

/// Finishes undos that an earlier process began, then compares at quiet moments until the engine stops.
pub(crate) async fn keep(world: Arc<World>) {
    let clock = &world.parts.clock;
    if world.work.unless_stopping(finish_open(&world)).await.is_none() {
        return;
    }
    loop {
        let pause = world.chronicle.due();
        let pause = pause.map(|due| due.saturating_sub(clock.elapsed()));
        if pause.is_some_and(|pause| pause.is_zero()) {
            *world.chronicle.changed.lock() = None;
            if let Err(error) = compare(&world).await {
                tracing::warn!(
                    error = chain(&error),
                    "cannot record changes beside memory; retrying"
                );
                world.chronicle.touch(clock.elapsed());
            }
            continue;
        }
        tokio::select! {
            biased;
            () = world.work.stopping() => return,
            () = world.chronicle.begun.notified() => {}
            () = clock.sleep(pause.unwrap_or_default()), if pause.is_some() => {}
        }
    }
}

/// Records the last changes when the engine ends: the watcher can still owe the newest one.
pub(crate) async fn end(world: &World) {
    let ended = async {
        world.chronicle.up_to_date().await?;
        compare(world).await
    };
    if let Err(error) = ended.await {
        tracing::warn!(
            error = chain(&error),
            "cannot record the last changes; the next start does"
        );
    }
}

/// Compares the files beside memory with what the history has of them.
async fn compare(world: &World) -> Result<(), EngineError> {
    if !world.chronicle.is_recording || world.settings.asks_only {
        return Ok(());
    }
    // Nobody is between an announcement and its write.
    let _alone = world.gate.alone_when_quiet().await;
    let vault = &world.parts.vault;
    let now = vault.others().await?;
    // After the look: what a vault that is away does not show is not gone.
    vault.is_present().await?;
    let history = world.chronicle.up_to_date().await?;
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
        history.find(found, world.now()).await?;
        let stats = now.into_iter().map(|other| other.stat).collect();
        history.put_others(stats).await?;
    }
    Ok(())
}
