//! LongMemEval: whether all evidence sessions, or all evidence turns of the user, are among the first k.

use std::collections::{BTreeSet, HashMap};

use anyhow::Context;
use model::{Timestamp, Zone};
use serde_json::{Value, json};

use crate::client::{Ask, Client};
use crate::{DataArgs, row};

const CUTS: [usize; 4] = [1, 3, 5, 10];
const TURN_MILLIS: i64 = 20_000;
/// Whose haystack it is.
const USER: &str = "user";

/// Where a message stands: its session, its place in it.
type Place = (String, usize);

/// Loads each question's haystack as a project of its own and asks.
pub(crate) async fn run(args: DataArgs) -> anyhow::Result<()> {
    let bytes = std::fs::read(&args.data)?;
    let is_packed = args.data.extension().is_some_and(|extension| extension == "zst");
    let bytes = if is_packed {
        zstd::decode_all(bytes.as_slice())?
    } else {
        bytes
    };
    let client = Client::new(&args.url);
    let (mut sessions, mut turns) = (Vec::new(), Vec::new());
    for line in String::from_utf8(bytes)?.lines() {
        let item: Value = serde_json::from_str(line)?;
        let project = item["question_id"].as_str().context("no id")?;
        let places = load(&client, &item, project).await?;
        let ask = Ask {
            project,
            user: USER,
            query: item["question"].as_str().context("no question")?,
            method: &args.method,
            asked_at: date(&item["question_date"])?.millis(),
            messages_max: 200,
        };
        let found = client.search(&ask).await?;
        let ranked: Vec<(&Place, &str)> = found
            .iter()
            .filter_map(|m| Some((places.get(&m.label)?, m.role.as_str())))
            .collect();
        let wanted: BTreeSet<&str> = item["answer_session_ids"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut order: Vec<&str> = Vec::new();
        for ((session, _), _) in &ranked {
            if !order.contains(&session.as_str()) {
                order.push(session);
            }
        }
        sessions.push(CUTS.map(|k| {
            wanted
                .iter()
                .all(|session| order.iter().take(k).any(|s| s == session))
        }));
        let wanted = evidence_turns(&item);
        if !wanted.is_empty() {
            let users: Vec<&Place> = ranked
                .iter()
                .filter(|(_, role)| *role == "user")
                .map(|(place, _)| *place)
                .collect();
            turns.push(CUTS.map(|k| {
                wanted
                    .iter()
                    .all(|turn| users.iter().take(k).any(|place| *place == turn))
            }));
        }
    }
    let mut head = vec!["level".to_owned(), "questions".to_owned()];
    head.extend(CUTS.map(|k| format!("all@{k}")));
    row(&head);
    report("session, user and assistant turns", &sessions);
    report("turn, user turns", &turns);
    Ok(())
}

fn report(level: &str, results: &[[bool; CUTS.len()]]) {
    let mut cells = vec![level.to_owned(), results.len().to_string()];
    for at in 0..CUTS.len() {
        let hits = results.iter().filter(|result| result[at]).count();
        cells.push(format!("{:.3}", hits as f64 / results.len() as f64));
    }
    row(&cells);
}

fn session_rows(item: &Value) -> Vec<(&str, &Value, &[Value])> {
    let ids = item["haystack_session_ids"].as_array().into_iter().flatten();
    let dates = item["haystack_dates"].as_array().into_iter().flatten();
    let sessions = item["haystack_sessions"].as_array().into_iter().flatten();
    let rows = ids.zip(dates).zip(sessions);
    rows.filter_map(|((id, date), turns)| Some((id.as_str()?, date, turns.as_array()?.as_slice())))
        .collect()
}

fn evidence_turns(item: &Value) -> Vec<Place> {
    let mut wanted = Vec::new();
    for (id, _, turns) in session_rows(item) {
        for (at, turn) in turns.iter().enumerate() {
            if turn["has_answer"] == true && turn["role"] == "user" {
                wanted.push((id.to_owned(), at));
            }
        }
    }
    wanted
}

async fn load(client: &Client, item: &Value, project: &str) -> anyhow::Result<HashMap<String, Place>> {
    let mut places = HashMap::new();
    for (number, (id, day, turns)) in session_rows(item).into_iter().enumerate() {
        let start = date(day)?;
        let mut messages = Vec::new();
        let mut kept = Vec::new();
        for (at, turn) in turns.iter().enumerate() {
            let content = turn["content"].as_str().unwrap_or_default();
            if content.is_empty() {
                continue;
            }
            let role = turn["role"].as_str().unwrap_or("user");
            let time = start.plus_millis(i64::try_from(at)? * TURN_MILLIS).millis();
            let sender = if role == "user" { USER } else { "assistant" };
            messages.push(json!({
                "sender_id": sender, "role": role, "timestamp": time, "content": content,
                "message_id": format!("{number}-{at}"),
            }));
            kept.push((id.to_owned(), at));
        }
        if messages.is_empty() {
            continue;
        }
        let ids = client
            .remember(project, &format!("{number}-{id}"), messages)
            .await?;
        places.extend(ids.into_iter().zip(kept));
    }
    Ok(places)
}

/// A date as the data set writes it: `2023/05/20 (Sat) 02:21`.
fn date(value: &Value) -> anyhow::Result<Timestamp> {
    let text = value.as_str().context("no date")?;
    let (day, clock) = text.split_once(" (").context("no weekday")?;
    let (_, clock) = clock.split_once(") ").context("no clock")?;
    Ok(Zone::utc().parse(&format!("{}T{clock}:00", day.replace('/', "-")))?)
}
