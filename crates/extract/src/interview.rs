//! Asking a chat model about a conversation, and again where its answer cannot be used.
//!
//! Owns: what is asked next, and when to give up. Never: sending it.

use model::{Message, Zone};

use crate::answer::{Answer, AnswerProblem, parse_answer, retry_hint};
use crate::prompt::{Prompt, Tail, memcell_request};

/// Answers that cannot be used before the rules take over.
const ANSWERS_MAX: usize = 3;

/// One question to a model, with as many tries as it has.
#[derive(Debug)]
pub struct Interview<'a> {
    messages: &'a [Message],
    zone: &'a Zone,
    tail: Tail,
    unusable: usize,
}

/// What an answer leads to.
#[derive(Debug)]
pub enum Reaction {
    Done(Answer),
    /// Ask again, with the answer and this hint behind the prompt. Without a hint the answer was empty: endpoints refuse
    /// empty messages, so the prompt is sent alone.
    Again(Option<String>),
    /// The model had its tries.
    GiveUp(AnswerProblem),
}

impl<'a> Interview<'a> {
    /// About these messages.
    pub fn new(messages: &'a [Message], zone: &'a Zone, tail: Tail) -> Self {
        Self {
            messages,
            zone,
            tail,
            unusable: 0,
        }
    }

    /// The request.
    pub fn prompt(&self) -> Prompt {
        memcell_request(self.messages, self.zone, self.tail)
    }

    /// Reads an answer.
    pub fn read(&mut self, answer: &str) -> Reaction {
        let problem = match parse_answer(answer, self.messages, self.zone, self.tail) {
            Ok(answer) => return Reaction::Done(answer),
            Err(problem) => problem,
        };
        self.unusable += 1;
        if self.unusable == ANSWERS_MAX {
            return Reaction::GiveUp(problem);
        }
        Reaction::Again((!answer.trim().is_empty()).then(|| retry_hint(&problem)))
    }
}
