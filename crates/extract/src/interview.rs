//! The questions to a chat model about a conversation, repeated while its answer is unusable.
//!
//! Owns: the next prompt, and when to give up. Never: sending it.

use model::{Message, Zone};

use crate::Fact;
use crate::answer::{Answer, AnswerProblem, parse_facts, parse_parts, retry_hint};
use crate::claim::StatedTalk;
use crate::prompt::{Prompt, Tail, parts_request};

/// Number of unusable answers after which the rules take over.
const ANSWERS_MAX: usize = 3;

/// One question to a model, with its remaining tries.
#[derive(Debug)]
pub struct Interview<'a> {
    question: ModelQuestion<'a>,
    unusable: usize,
}

#[derive(Debug)]
enum ModelQuestion<'a> {
    Parts {
        messages: &'a [Message],
        zone: &'a Zone,
        tail: Tail,
    },
    Facts(StatedTalk<'a>),
}

/// Result of an answer.
#[derive(Debug)]
pub enum Reaction {
    Done(Answer),
    /// Ask again, with the answer and this hint after the prompt. Without a hint the answer was
    /// empty: endpoints refuse empty messages, so the prompt is sent alone.
    Again(Option<String>),
    /// The model has no tries left.
    GiveUp(AnswerProblem),
}

impl<'a> Interview<'a> {
    /// A question about the subjects of these messages.
    pub fn parts(messages: &'a [Message], zone: &'a Zone, tail: Tail) -> Self {
        let question = ModelQuestion::Parts { messages, zone, tail };
        Self {
            question,
            unusable: 0,
        }
    }

    /// A question about people's statements in these messages; none if the rules' facts contain all
    /// of them.
    pub fn facts(messages: &'a [Message], ruled: &[Fact]) -> Option<Self> {
        let talk = StatedTalk::of(messages);
        talk.adds_to(ruled).then_some(Self {
            question: ModelQuestion::Facts(talk),
            unusable: 0,
        })
    }

    /// The request.
    pub fn prompt(&self) -> Prompt {
        match &self.question {
            ModelQuestion::Parts { messages, zone, tail } => parts_request(messages, zone, *tail),
            ModelQuestion::Facts(talk) => talk.request(),
        }
    }

    /// Reads an answer.
    pub fn read(&mut self, answer: &str) -> Reaction {
        let read = match &self.question {
            ModelQuestion::Parts { messages, tail, .. } => parse_parts(answer, messages, *tail),
            ModelQuestion::Facts(talk) => parse_facts(answer, talk),
        };
        let problem = match read {
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
