//! The `LoCoMo` data set: two people, many dated sessions. Each sample becomes a project of its own.

use std::collections::BTreeMap;

use model::{ProjectId, Role, Scope, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::shape::{self, ImportedMessage};
use super::{Defaults, ImportedConversation, message};

/// The data set dates sessions, not turns; turns follow one another at this pace.
const TURN_SECONDS: i64 = 20;

#[derive(Debug, Deserialize)]
pub(super) struct Sample {
    sample_id: String,
    conversation: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct LocomoTurn {
    speaker: String,
    dia_id: String,
    text: String,
    blip_caption: Option<String>,
}

/// The sessions of one sample.
pub(super) fn conversation(sample: &Sample, defaults: &Defaults) -> Vec<ImportedConversation> {
    let mut scope = defaults.scope.clone();
    if scope == Scope::default() {
        scope.project = shape::name(&sample.sample_id).unwrap_or(scope.project) as ProjectId;
    }
    let defaults = Defaults {
        scope,
        ..defaults.clone()
    };
    let mut sessions: Vec<(u32, Vec<LocomoTurn>)> = sample
        .conversation
        .iter()
        .filter_map(|(key, value)| {
            let number = key.strip_prefix("session_")?.parse().ok()?;
            Some((number, Vec::<LocomoTurn>::deserialize(value).ok()?))
        })
        .collect();
    sessions.sort_by_key(|(number, _)| *number);
    let sessions = sessions.into_iter().map(|(number, turns)| {
        let date = sample.conversation.get(&format!("session_{number}_date_time"));
        let started = date
            .and_then(Value::as_str)
            .and_then(|text| spoken_date(text, &defaults));
        let session = defaults.session(&format!("{}-session-{number}", sample.sample_id));
        let started = started.unwrap_or(defaults.now);
        let said = (0i64..)
            .zip(turns)
            .filter_map(|(at, turn)| said(turn, started.plus_millis(at * TURN_SECONDS * 1000)));
        let messages = said.filter_map(message).collect();
        ImportedConversation {
            is_log: false,
            session,
            title: None,
            messages,
        }
    });
    sessions.collect()
}

fn said(turn: LocomoTurn, time: Timestamp) -> Option<ImportedMessage> {
    let content = match turn.blip_caption {
        Some(caption) => format!("{}\n[shares a picture: {caption}]", turn.text),
        None => turn.text,
    };
    Some(ImportedMessage {
        client_id: turn.dia_id,
        role: Role::User,
        sender: shape::name(&turn.speaker.to_lowercase())?,
        sender_name: Some(turn.speaker),
        time,
        content,
        tool_calls: Vec::new(),
        tool_call_id: None,
    })
}

/// A date as the data set writes it: `1:56 pm on 8 May, 2023`.
fn spoken_date(text: &str, defaults: &Defaults) -> Option<Timestamp> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let text = text.to_lowercase();
    let (clock, date) = text.split_once(" on ")?;
    let (clock, half) = clock.trim().split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let hour: u32 = hour.parse().ok()?;
    let hour = hour % 12 + if half.trim() == "pm" { 12 } else { 0 };
    let mut parts = date.split([' ', ',']).filter(|part| !part.is_empty());
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|m| month.starts_with(m))? + 1;
    let day: u32 = day.parse().ok()?;
    defaults
        .zone
        .parse(&format!("{year}-{month:02}-{day:02}T{hour:02}:{minute}:00"))
        .ok()
}
