//! LoCoMo: ten long conversations of two people, and questions with the turns that answer them.
//!
//! Owns: its format and the cleaning of its evidence ids. Never: other data sets. It uses categories 1 to 4;
//! the fifth asks about things that nobody said. A turn's picture is represented by its caption, as in the
//! published baselines.

use std::collections::BTreeSet;

use anyhow::Context;
use model::{MessageId, Role, SessionId, Timestamp, Zone};
use serde_json::Value;

use crate::cases::{Case, CaseMessage, PACE_MS, Question};

const DAY_MS: i64 = 86_400_000;

pub(crate) fn cases(text: &str) -> anyhow::Result<Vec<Case>> {
    let samples: Vec<Value> = serde_json::from_str(text)?;
    samples.iter().map(case).collect()
}

fn case(sample: &Value) -> anyhow::Result<Case> {
    let project = sample["sample_id"]
        .as_str()
        .context("a conversation without an id")?;
    let talk = &sample["conversation"];
    let mut case = Case::new(talk["speaker_a"].as_str().context("no first speaker")?)?;
    let mut last = Timestamp::default();
    for number in 1.. {
        let Some(date) = talk[format!("session_{number}_date_time")].as_str() else {
            break;
        };
        let start = spoken_date(date).with_context(|| format!("no date: {date}"))?;
        for (pace, turn) in (0..).zip(list(&talk[format!("session_{number}")])) {
            last = start.plus_millis(pace * PACE_MS);
            let text = turn["text"].as_str().unwrap_or_default();
            let said = CaseMessage {
                id: turn["dia_id"].as_str().context("a turn without an id")?,
                session: &format!("session_{number}"),
                speaker: turn["speaker"].as_str().context("a turn without a speaker")?,
                role: Role::User,
                time: last,
                text: match turn["blip_caption"].as_str() {
                    Some(caption) => format!("{text}\n[shares a picture: {caption}]"),
                    None => text.to_owned(),
                },
            };
            case.say(project, said)?;
        }
    }
    let known: BTreeSet<MessageId> = case.messages.iter().map(|message| message.id.clone()).collect();
    for asked in list(&sample["qa"]) {
        let category = asked["category"].as_i64().unwrap_or_default();
        let ids = list(&asked["evidence"])
            .iter()
            .filter_map(Value::as_str)
            .flat_map(turn_ids);
        let messages: BTreeSet<MessageId> = ids.map(MessageId::new).filter(|id| known.contains(id)).collect();
        if messages.is_empty() || !(1..=4).contains(&category) {
            continue;
        }
        case.questions.push(Question {
            text: asked["question"].as_str().context("no question")?.to_owned(),
            asked_at: last.plus_millis(DAY_MS),
            category: category.to_string(),
            sessions: messages.iter().map(session_of).collect::<anyhow::Result<_>>()?,
            messages,
            users_only: false,
        });
    }
    Ok(case)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The ids in an evidence text, as in `D8:6; D9:17` or `D30:05`, spelled as turns spell theirs.
fn turn_ids(text: &str) -> Vec<String> {
    let id = |part: &str| {
        let (session, turn) = part.split_once(':')?;
        let digits: String = turn.chars().take_while(char::is_ascii_digit).collect();
        Some(format!(
            "D{}:{}",
            session.parse::<u32>().ok()?,
            digits.parse::<u32>().ok()?
        ))
    };
    text.split('D').filter_map(id).collect()
}

fn session_of(id: &MessageId) -> anyhow::Result<SessionId> {
    let session = id.as_str().trim_start_matches('D').split(':').next();
    Ok(SessionId::parse(&format!(
        "session_{}",
        session.context("an id has a session")?
    ))?)
}

/// A date as the data set writes it, taken as UTC: `1:56 pm on 8 May, 2023`.
fn spoken_date(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let text = text.to_lowercase();
    let (clock, date) = text.split_once(" on ")?;
    let (clock, half) = clock.trim().split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let hour = hour.parse::<u32>().ok()? % 12 + if half == "pm" { 12 } else { 0 };
    let mut parts = date.split([' ', ',']).filter(|part| !part.is_empty());
    let (day, month, year) = (parts.next()?.parse::<u32>().ok()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|known| month.starts_with(known))? + 1;
    Zone::utc()
        .parse(&format!("{year}-{month:02}-{day:02}T{hour:02}:{minute}:00"))
        .ok()
}
