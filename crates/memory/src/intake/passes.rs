//! The passes of the chat model over the buffers of sessions, and its answers that wait to be written.
//!
//! Owns: that a session has one pass at a time. Never: asking the model (`model_pass` does).

use std::collections::BTreeMap;

use extract::AnswerPart;
use model::{CellId, SessionKey};
use parking_lot::Mutex;

/// Sessions remembered for what the model was asked about them; beyond that some are asked once more.
const SESSIONS_MAX: usize = 4_096;
/// Answers kept for the jobs that will write them; a job without its answer asks again.
const ANSWERS_MAX: usize = 256;

/// Running passes of the model.
#[derive(Debug, Default)]
pub(crate) struct ModelPasses {
    sessions: Mutex<BTreeMap<SessionKey, PassState>>,
    answers: Mutex<BTreeMap<CellId, AnswerPart>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct PassState {
    running: bool,
    /// Messages came while the model was thinking.
    again: bool,
    /// How many messages of the buffer the model saw without cutting them off.
    asked: usize,
}

impl ModelPasses {
    /// How many sessions the model is asked about now, this one or any.
    pub(crate) fn running(&self, session: Option<&SessionKey>) -> usize {
        let sessions = self.sessions.lock();
        let running = sessions
            .iter()
            .filter(|(key, pass)| pass.running && session.is_none_or(|s| s == *key));
        running.count()
    }

    /// The model's extraction of a segment, made when it found the boundary.
    pub(crate) fn answer(&self, cell: &CellId) -> Option<AnswerPart> {
        self.answers.lock().get(cell).cloned()
    }

    /// The segment is written.
    pub(crate) fn forget_answer(&self, cell: &CellId) {
        self.answers.lock().remove(cell);
    }

    pub(super) fn keep_answers(&self, told: impl IntoIterator<Item = (CellId, AnswerPart)>) {
        let mut answers = self.answers.lock();
        answers.extend(told);
        while answers.len() > ANSWERS_MAX {
            answers.pop_first();
        }
    }

    /// Whether the caller must run a pass; otherwise the running pass looks again.
    pub(super) fn begin(&self, session: &SessionKey) -> bool {
        let mut sessions = self.sessions.lock();
        if sessions.len() >= SESSIONS_MAX {
            sessions.retain(|_, pass| pass.running);
        }
        let pass = sessions.entry(session.clone()).or_default();
        pass.again = pass.running;
        !std::mem::replace(&mut pass.running, true)
    }

    /// Whether the pass must be repeated; otherwise it is over.
    pub(super) fn repeats(&self, session: &SessionKey, asked: usize) -> bool {
        let mut sessions = self.sessions.lock();
        let Some(pass) = sessions.get_mut(session) else {
            return false;
        };
        pass.asked = asked;
        pass.running = std::mem::take(&mut pass.again);
        let repeats = pass.running;
        if !repeats && asked == 0 {
            sessions.remove(session);
        }
        repeats
    }

    pub(super) fn asked(&self, session: &SessionKey) -> usize {
        self.sessions.lock().get(session).map_or(0, |pass| pass.asked)
    }
}
