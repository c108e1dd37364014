//! Idle sessions: Quipu ends the segment in their buffer by itself.
//!
//! Owns: when a session is idle, also over a restart. Never: cutting (`boundaries` does), waiting for a model. A
//! session is checked once after its last message; a check costs nothing if no session is due, however many there are.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::SessionKey;
use model::text::chain;
use ports::LedgerError;

use super::{Intake, boundaries};

/// After a start, at most this many open sessions are restored, the longest idle first; the others with their next
/// message.
const OPEN_MAX: usize = 100_000;
/// The first wait after a failure; each further one is twice as long.
const AGAIN: Duration = Duration::from_secs(5);
const AGAIN_MAX: Duration = Duration::from_hours(1);

/// Cuts the buffers of idle sessions until the engine stops.
pub(crate) async fn keep(intake: Arc<Intake>) {
    let base = &intake.base;
    let clock = base.parts.clock.clone();
    while let Err(error) = remember(&intake).await {
        tracing::warn!(error = chain(&error), "cannot read the open sessions; retrying");
        if !base.pause(AGAIN).await {
            return;
        }
    }
    let mut failures: BTreeMap<SessionKey, u32> = BTreeMap::new();
    loop {
        let now = clock.elapsed();
        let (due, first) = {
            let mut queue = intake.idle.due.lock();
            (queue.take(now), queue.first())
        };
        if let Some(session) = due {
            let cut = boundaries::cut_all(&intake, &session).await;
            let Err(error) = cut else {
                failures.remove(&session);
                continue;
            };
            tracing::warn!(error = chain(&error), %session.session, "cannot end the segment of an idle session; retrying");
            let failed = failures.entry(session.clone()).or_default();
            let wait = AGAIN.saturating_mul(1 << (*failed).min(16)).min(AGAIN_MAX);
            *failed += 1;
            intake.idle.touch(&session, clock.elapsed() + wait);
            continue;
        }
        let pause = first.map(|at| at.saturating_sub(now));
        tokio::select! {
            biased;
            () = base.work.stopping() => return,
            () = intake.idle.begun.notified() => {}
            () = clock.sleep(pause.unwrap_or_default()), if pause.is_some() => {}
        }
    }
}

/// Sessions that were open before this process began: their idle time continues. If the machine's clock was changed, a
/// wait can be anything between nothing and a full one.
async fn remember(intake: &Intake) -> Result<(), LedgerError> {
    let base = &intake.base;
    let open = base.parts.transcripts.open_sessions(OPEN_MAX).await?;
    let (now, elapsed) = (base.now(), base.parts.clock.elapsed());
    let whole = base.settings.idle_after;
    let mut queue = intake.idle.due.lock();
    for (session, last) in open {
        let quiet_ms = now.millis().saturating_sub(last.millis());
        let quiet = Duration::from_millis(u64::try_from(quiet_ms).unwrap_or(0));
        if !queue.has(&session) {
            queue.set(session, elapsed + whole.saturating_sub(quiet));
        }
    }
    Ok(())
}
