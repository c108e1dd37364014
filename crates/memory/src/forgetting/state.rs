//! State of deletions.
//!
//! Owns: the deletions in progress. Never: a step of one.

use std::sync::Arc;

use super::erasure::Erasing;
use super::note::UnfinishedDeletions;
use crate::base::Base;
use crate::intake::Intake;

/// The parts of deletions.
#[derive(Debug)]
pub(crate) struct Forgetting {
    pub(crate) base: Arc<Base>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) erasing: Erasing,
    pub(crate) unfinished: UnfinishedDeletions,
}

impl Forgetting {
    pub(crate) fn new(intake: Arc<Intake>) -> Self {
        Self {
            base: intake.base.clone(),
            erasing: Erasing::new(&intake.base),
            unfinished: UnfinishedDeletions::new(intake.base.parts.vault.clone()),
            intake,
        }
    }
}
