//! The context engine of the configuration.
//!
//! Owns: the step from configuration to the service of conversations. Never: the choice of a view.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use context::flush::{self, Destination};
use context::policy::Policy;
use context::warn::WarnThreshold;
use memory::Engine;
use model::Name;
use ports::context_engine::ContextEngine;
use ports::{Chat, Clock, Conversations, Ids};
use providers::{CommandEngine, EngineSettings};
use proxy::conversation::contexts::ContextsParts;
use proxy::conversation::flush::Keeping;
use proxy::conversation::{Contexts, Party, name_of};
use proxy::{Direct, DirectParts};

use crate::args::me;
use crate::compaction_command::CompactionCommand;
use crate::config::{self, Config};
use crate::error::Failure;
use crate::instructions::InstructionFiles;
use crate::memory_file::MemoryFile;
use crate::tokens;

/// The service of conversations.
pub(crate) fn contexts(
    config: &Config,
    logs: Arc<dyn Conversations>,
    chat: Option<Arc<dyn Chat>>,
    clock: &Arc<dyn Clock>,
) -> Result<Contexts, Failure> {
    let keys = &config.context;
    let (policy, plugin) = engine(config, clock)?;
    let mut plain = ContextsParts::plain(logs, policy, clock.clone());
    plain.chosen.plugin = plugin.or(plain.chosen.plugin);
    let folder = PathBuf::from(&keys.flush_folder);
    let keeping = (!keys.flush_folder.is_empty()).then(|| Keeping {
        policy: flush::Policy::default(),
        place_of: Arc::new(parking_lot::Mutex::new(
            move |whose: &Party| -> Box<dyn Destination> { Box::new(MemoryFile::of(&folder, whose)) },
        )),
    });
    let listener = CompactionCommand::new(&keys.on_compact, clock.clone());
    plain.chosen.listener = listener.map(|listener| Arc::new(listener) as _);
    Ok(Contexts::new(ContextsParts {
        chat,
        keeping,
        ..plain
    }))
}

/// The policy of Quipu's own engine, which also replaces a failing plug-in; and the user's own engine, if the configuration
/// chooses one.
fn engine(
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> Result<(Policy, Option<Arc<dyn ContextEngine>>), Failure> {
    let keys = &config.context;
    let percent = |key: &str, percent: u8| match percent {
        1..=100 => Ok(f64::from(percent) / 100.0),
        _ => Err(Failure::usage(format!(
            "context.{key}: must be between 1 and 100, not {percent}"
        ))),
    };
    let own = keys.engines.iter().find(|engine| engine.name == keys.engine);
    let (mut policy, plugin) = match (Policy::preset(&keys.engine), own) {
        (Some(policy), _) => (policy, None),
        (None, Some(own)) => (Policy::quipu(), Some(plugin(own, clock)?)),
        (None, None) => {
            let names = keys.engines.iter().map(|engine| engine.name.as_str());
            let names: Vec<&str> = Policy::PRESETS.into_iter().chain(names).collect();
            let unknown = Failure::usage(format!("context.engine: there is no engine `{}`", keys.engine));
            return Err(unknown.hint(format!("use one of: {}", names.join(", "))));
        }
    };
    if keys.compact_at_percent > 0 {
        let share = percent("compact_at_percent", keys.compact_at_percent)?;
        // The other shares keep their ratio.
        policy.compact_idle_at *= share / policy.compact_at;
        policy.target *= share / policy.compact_at;
        policy.compact_at = share;
    }
    if keys.compact_at_tokens > 0 {
        policy.compact_at_tokens = Some(keys.compact_at_tokens);
    }
    policy.agent_windows.clone_from(&keys.agent_windows);
    if let Some(shares) = &keys.warn_at_percent {
        let thresholds = shares.iter().map(|share| {
            let share = percent("warn_at_percent", *share)?;
            Ok(WarnThreshold { share, tokens: None })
        });
        policy.warn_at = thresholds.collect::<Result<_, Failure>>()?;
    }
    Ok((policy, plugin))
}

fn plugin(engine: &config::ContextEngine, clock: &Arc<dyn Clock>) -> Result<Arc<dyn ContextEngine>, Failure> {
    let settings = EngineSettings {
        owns_compaction: engine.owns_compaction,
        timeout: Duration::from_millis(engine.timeout_ms.into()),
        config: engine.config.clone().into(),
        ..EngineSettings::new(&engine.name)
    };
    let made = CommandEngine::new(settings, engine.command.clone(), clock.clone())
        .map_err(|fault| Failure::usage(format!("context.engines `{}`: {fault}", engine.name)))?;
    Ok(Arc::new(made))
}

/// The default user of requests. Without tokens, only the person at this machine has access; the command line uses the same user.
pub(crate) fn owner(config: &Config, root: &Path) -> Option<Name> {
    let is_open =
        config.server.tokens.is_empty() && tokens::issued(root).is_ok_and(|issued| issued.is_empty());
    name_of(&config.proxy.owner).or_else(|| is_open.then(me))
}

/// The API for programs that call their model themselves.
pub(crate) fn direct(
    contexts: &Contexts,
    engine: &Engine,
    root: &Path,
    config: &Config,
    (clock, ids): (&Arc<dyn Clock>, &Arc<dyn Ids>),
) -> Direct {
    Direct::start(DirectParts {
        engine: engine.clone(),
        contexts: contexts.clone(),
        instructions: Some(Arc::new(InstructionFiles::new(config, root))),
        owner: owner(config, root),
        idle_after: Duration::from_secs(config.consolidation.idle_seconds.into()),
        clock: clock.clone(),
        ids: ids.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_share_scales_the_others() {
        let clock: Arc<dyn Clock> = Arc::new(crate::clock::SystemClock::new());
        let policy = |config: &Config| engine(config, &clock).map(|(policy, _)| policy);
        let mut config = Config::default();
        assert_eq!(policy(&config).unwrap(), Policy::quipu());
        config.context.compact_at_percent = 50;
        config.context.warn_at_percent = Some(vec![40]);
        let made = policy(&config).unwrap();
        let quipu = Policy::quipu();
        assert!((made.target / made.compact_at - quipu.target / quipu.compact_at).abs() < 1e-9);
        assert!(made.compact_idle_at < made.compact_at);
        assert_eq!(made.warn_at.len(), 1);
        config.context.engine = "mine".to_owned();
        assert!(policy(&config).is_err(), "there is no such engine");
    }
}
