//! The passes of the chat model over the buffers of sessions, and its answers that are not written yet.
//!
//! Owns: that a session has one pass at a time. Never: asking the model (`model_pass` does).

use std::collections::BTreeMap;

use extract::AnswerPart;
use model::{CellId, SessionKey};
use parking_lot::Mutex;

/// Sessions for which the last question to the model is remembered; beyond that some questions are asked again.
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
    /// Messages came while the model was asked.
    again: bool,
    /// Number of messages at the start of the buffer that the model saw without finding a boundary.
    asked: usize,
}

impl ModelPasses {
    /// Number of sessions with a running pass: this session or all.
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

    /// Drops the answer for a written segment.
    pub(crate) fn forget_answer(&self, cell: &CellId) {
        self.answers.lock().remove(cell);
    }

    pub(super) fn keep_answers(&self, answered: impl IntoIterator<Item = (CellId, AnswerPart)>) {
        let mut answers = self.answers.lock();
        answers.extend(answered);
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
