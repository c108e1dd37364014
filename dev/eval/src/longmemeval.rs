//! LongMemEval: one question a line, each with its own haystack of chat sessions.
//!
//! Owns: its format. Never: other data sets. Gold sessions are `answer_session_ids`; gold turns are the
//! user's turns marked `has_answer`, and only the user's turns are ranked for them. The messages of both
//! sides are remembered.

use std::collections::BTreeSet;

use anyhow::Context;
use model::{MessageId, Role, SessionId, Timestamp, Zone};
use serde_json::Value;

use crate::cases::{Case, CaseMessage, PACE_MS, Question};

/// Owner of every haystack.
const USER: &str = "user";

pub(crate) fn cases(text: &str) -> anyhow::Result<Vec<Case>> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(case)
        .collect()
}

fn case(line: &str) -> anyhow::Result<Case> {
    let item: Value = serde_json::from_str(line)?;
    let text = |field: &str| {
        item[field]
            .as_str()
            .with_context(|| format!("a question without `{field}`"))
    };
    let list = |field: &str| {
        item[field]
            .as_array()
            .with_context(|| format!("a question without `{field}`"))
    };
    let project = text("question_id")?;
    let mut case = Case::new(USER)?;
    let mut evidence = BTreeSet::new();
    let sessions = list("haystack_session_ids")?.iter().zip(list("haystack_dates")?);
    for ((session, day), turns) in sessions.zip(list("haystack_sessions")?) {
        let session = session.as_str().context("a session without an id")?;
        let start = date(day.as_str().context("a session without a date")?)?;
        for (at, turn) in (0..).zip(turns.as_array().into_iter().flatten()) {
            let content = turn["content"].as_str().unwrap_or_default();
            if content.is_empty() {
                continue;
            }
            let is_user = turn["role"] == "user";
            let id = format!("{session}/{at}");
            if is_user && turn["has_answer"] == true {
                evidence.insert(MessageId::new(id.as_str()));
            }
            let said = CaseMessage {
                id: &id,
                session,
                speaker: if is_user { USER } else { "assistant" },
                role: if is_user { Role::User } else { Role::Assistant },
                time: start.plus_millis(at * PACE_MS),
                text: content.to_owned(),
            };
            case.say(project, said)?;
        }
    }
    let gold = list("answer_session_ids")?.iter().filter_map(Value::as_str);
    case.questions.push(Question {
        text: text("question")?.to_owned(),
        asked_at: date(text("question_date")?)?,
        category: text("question_type")?.to_owned(),
        messages: evidence,
        sessions: gold.map(SessionId::parse).collect::<Result<_, _>>()?,
        users_only: true,
    });
    Ok(case)
}

/// A date as the data set writes it, taken as UTC: `2023/05/20 (Sat) 02:21`.
fn date(text: &str) -> anyhow::Result<Timestamp> {
    let mut parts = text.split_whitespace();
    let day = parts.next().unwrap_or_default().replace('/', "-");
    let clock = parts.next_back().unwrap_or_default();
    Ok(Zone::utc().parse(&format!("{day}T{clock}:00"))?)
}
