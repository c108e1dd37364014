//! The background strategies, one in each file.
//!
//! Owns: when each runs, its reads and writes, and that a repetition changes nothing. Never: judging text (`extract`
//! does), running anything (`engine`), or learning from text that was written neither by a person nor by one of our
//! agents.
//!
//! Every strategy but [`skill`] works by rules. A configured model can word the result better, but never adds to it. A
//! skill needs a model.
//!
//! Reading order: `support` (shared by several strategies); strategies on people's messages: [`foresight`], [`profile`],
//! [`reflect`], [`dream`]; on agents' work: [`case`], [`skill`].

mod case;
mod dream;
mod foresight;
mod profile;
mod reflect;
mod skill;
mod support;

use std::sync::Arc;

use crate::Strategy;
use memory::Engine;
use ports::Transcripts;

pub use extract::consolidate::cluster::Nearness;
pub use extract::consolidate::dream::Limits;

/// Strategies that run only if the settings enable them.
pub const OFF_BY_DEFAULT: [&str; 1] = [reflect::NAME];

/// Settings of the strategies.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StrategySettings {
    /// When two episodes count as being about the same subject.
    pub nearness: Nearness,
    /// Limits of the pages of core memory.
    pub limits: Limits,
}

/// Strategies that work on people's messages.
pub fn user_track(engine: &Engine, settings: StrategySettings) -> Vec<Arc<dyn Strategy>> {
    let StrategySettings { nearness, limits } = settings;
    let engine = || engine.clone();
    vec![
        Arc::new(foresight::ExtractForesight { engine: engine() }),
        Arc::new(profile::ExtractUserProfile { engine: engine() }),
        Arc::new(reflect::ReflectEpisodes {
            engine: engine(),
            nearness,
        }),
        Arc::new(dream::Dream {
            engine: engine(),
            limits,
        }),
    ]
}

/// Strategies by which agents learn from their own work: cases, and skills that a model makes of them.
pub fn agent_track(engine: &Engine, transcripts: Arc<dyn Transcripts>) -> Vec<Arc<dyn Strategy>> {
    let engine = || engine.clone();
    vec![
        Arc::new(case::ExtractAgentCase {
            engine: engine(),
            transcripts,
        }),
        Arc::new(skill::ExtractAgentSkill { engine: engine() }),
    ]
}
