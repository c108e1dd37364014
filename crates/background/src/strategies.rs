//! What is done with memory while nobody waits, one strategy in each file.
//!
//! Owns: when each runs, what it reads and writes, and that doing it again changes nothing. Never: judging text (`consolidate` and
//! `practice` do), running anything (`offline`), or learning from what no person and no agent of ours said.
//!
//! Every strategy works by rules; a model that is configured and may be asked tells it better, and never more.
//!
//! Reading order: `desk` (what several share); of people's words [`foresight`], [`profile`], [`reflect`], [`dream`];
//! of agents' work [`case`], [`skill`].

mod case;
mod desk;
mod dream;
mod foresight;
mod profile;
mod reflect;
mod skill;

use std::sync::Arc;

use crate::Strategy;
use memory::Engine;
use ports::Transcripts;

pub use case::ExtractAgentCase;
pub use extract::consolidate::cluster::Nearness;
pub use extract::consolidate::dream::Limits;
pub use skill::ExtractAgentSkill;

/// Strategies that do not run unless they are asked for.
pub const OFF_BY_DEFAULT: [&str; 1] = [reflect::NAME];

/// What the strategies can be told.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Settings {
    /// Which episodes are about the same.
    pub nearness: Nearness,
    /// What the pages may hold.
    pub limits: Limits,
}

/// What is made of people's words.
pub fn user_track(engine: &Engine, settings: Settings) -> Vec<Arc<dyn Strategy>> {
    vec![
        Arc::new(foresight::ExtractForesight::new(engine.clone())),
        Arc::new(profile::ExtractUserProfile::new(engine.clone())),
        Arc::new(reflect::ReflectEpisodes::new(engine.clone(), settings.nearness)),
        Arc::new(dream::Dream::new(engine.clone(), settings.limits)),
    ]
}

/// What agents learn from their own work: cases, and skills made of them.
pub fn agent_track(engine: &Engine, transcripts: Arc<dyn Transcripts>) -> Vec<Arc<dyn Strategy>> {
    vec![
        Arc::new(ExtractAgentCase::new(engine.clone(), transcripts)),
        Arc::new(ExtractAgentSkill::new(engine.clone())),
    ]
}
