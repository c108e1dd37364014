//! Talks written for Quipu: one a line, each with questions of its owner and the messages with the answers.
//!
//! Owns: their format. Never: the talks themselves. A talk is one session; each question is asked three weeks
//! later.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use model::{MessageId, Role, Timestamp, Zone};
use serde::Deserialize;

use crate::cases::{Case, CaseMessage, Question};

const SESSION: &str = "talk";
const LATER_MS: i64 = 21 * 86_400_000;

#[derive(Deserialize)]
struct Talk {
    id: String,
    owner: String,
    messages: Vec<TalkMessage>,
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
struct TalkMessage {
    id: String,
    sender: String,
    name: String,
    role: String,
    time: String,
    text: String,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    evidence: Vec<String>,
    kind: String,
}

pub(crate) fn cases(text: &str) -> anyhow::Result<Vec<Case>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| case(&serde_json::from_str(line)?)).collect()
}

fn case(talk: &Talk) -> anyhow::Result<Case> {
    let names: BTreeMap<&str, &str> = talk
        .messages
        .iter()
        .map(|message| (&*message.sender, &*message.name))
        .collect();
    let owner = names
        .get(&*talk.owner)
        .with_context(|| format!("`{}` says nothing", talk.owner))?;
    let mut case = Case::new(owner)?;
    let mut last = Timestamp::default();
    for message in &talk.messages {
        last = Zone::utc().parse(&message.time)?;
        let said = CaseMessage {
            id: &message.id,
            session: SESSION,
            speaker: &message.name,
            role: if message.role == "assistant" {
                Role::Assistant
            } else {
                Role::User
            },
            time: last,
            text: message.text.clone(),
        };
        case.say(&talk.id, said)?;
    }
    for asked in &talk.questions {
        case.questions.push(Question {
            text: asked.question.clone(),
            asked_at: last.plus_millis(LATER_MS),
            category: asked.kind.clone(),
            messages: asked
                .evidence
                .iter()
                .map(|id| MessageId::new(id.as_str()))
                .collect(),
            sessions: BTreeSet::new(),
            users_only: false,
        });
    }
    Ok(case)
}
