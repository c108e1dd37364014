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
//! [`dream`]; on agents' work: [`case`], [`skill`].

mod case;
mod dream;
mod foresight;
mod profile;
mod skill;
mod support;

use std::sync::Arc;

use crate::Strategy;
use memory::Engine;
use ports::Transcripts;

pub use extract::consolidate::dream::Limits;

/// Strategies that work on people's messages; `limits` are those of the pages of core memory.
pub fn user_track(engine: &Engine, limits: Limits) -> Vec<Arc<dyn Strategy>> {
    let engine = || engine.clone();
    vec![
        Arc::new(foresight::ExtractForesight { engine: engine() }),
        Arc::new(profile::ExtractUserProfile { engine: engine() }),
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
