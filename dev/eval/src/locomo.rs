//! LoCoMo: the share of a question's evidence turns among the first k ranked messages, categories 1 to 4.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Context;
use model::{Timestamp, Zone};
use serde_json::{Value, json};

use crate::client::{Ask, Client};
use crate::{DataArgs, row};

const CUTS: [usize; 6] = [1, 3, 5, 10, 20, 50];
const DAY_MILLIS: i64 = 86_400_000;
const TURN_MILLIS: i64 = 20_000;

/// Loads each conversation as a project of its own, both speakers as users, and asks as the first one.
pub(crate) async fn run(args: DataArgs) -> anyhow::Result<()> {
    let samples: Vec<Value> = serde_json::from_slice(&std::fs::read(&args.data)?)?;
    let client = Client::new(&args.url);
    let mut by_category: BTreeMap<u64, Vec<[f64; CUTS.len()]>> = BTreeMap::new();
    for sample in &samples {
        let project = sample["sample_id"].as_str().context("no sample id")?;
        let user = sample["conversation"]["speaker_a"]
            .as_str()
            .context("no speaker")?
            .to_lowercase();
        let (labels, last) = load(&client, sample, project).await?;
        let known: BTreeSet<&String> = labels.values().collect();
        for question in sample["qa"].as_array().into_iter().flatten() {
            let category = question["category"].as_u64().unwrap_or(0);
            let evidence: BTreeSet<String> = evidence(&question["evidence"])
                .into_iter()
                .filter(|id| known.contains(id))
                .collect();
            if evidence.is_empty() || !(1..=4).contains(&category) {
                continue;
            }
            let ask = Ask {
                project,
                user: &user,
                query: question["question"].as_str().context("no question")?,
                method: &args.method,
                asked_at: last.plus_millis(DAY_MILLIS).millis(),
                messages_max: 50,
            };
            let found = client.search(&ask).await?;
            let ranked: Vec<&String> = found
                .iter()
                .filter_map(|message| labels.get(&message.label))
                .collect();
            let share = |k: usize| {
                let hits = ranked
                    .iter()
                    .take(k)
                    .filter(|id| evidence.contains(id.as_str()))
                    .count();
                hits as f64 / evidence.len() as f64
            };
            by_category.entry(category).or_default().push(CUTS.map(share));
        }
    }
    report(&by_category);
    Ok(())
}

fn report(by_category: &BTreeMap<u64, Vec<[f64; CUTS.len()]>>) {
    let mut head = vec!["category".to_owned(), "questions".to_owned()];
    head.extend(CUTS.map(|k| format!("frac@{k}")));
    row(&head);
    let all: Vec<[f64; CUTS.len()]> = by_category.values().flatten().copied().collect();
    let rows = by_category
        .iter()
        .map(|(category, shares)| (category.to_string(), shares));
    for (name, shares) in rows.chain([("1-4".to_owned(), &all)]) {
        let mut cells = vec![name, shares.len().to_string()];
        for at in 0..CUTS.len() {
            let mean = shares.iter().map(|share| share[at]).sum::<f64>() / shares.len() as f64;
            cells.push(format!("{mean:.3}"));
        }
        row(&cells);
    }
}

/// The turn id of each message id, and when the last one was said.
async fn load(
    client: &Client,
    sample: &Value,
    project: &str,
) -> anyhow::Result<(HashMap<String, String>, Timestamp)> {
    let conversation = sample["conversation"].as_object().context("no conversation")?;
    let mut labels = HashMap::new();
    let mut last = Timestamp::default();
    for number in 1.. {
        let Some(date) = conversation
            .get(&format!("session_{number}_date_time"))
            .and_then(Value::as_str)
        else {
            break;
        };
        let Some(turns) = conversation
            .get(&format!("session_{number}"))
            .and_then(Value::as_array)
        else {
            continue;
        };
        let start = spoken_date(date).with_context(|| format!("no date: {date}"))?;
        let mut messages = Vec::new();
        for (at, turn) in (0i64..).zip(turns) {
            last = start.plus_millis(at * TURN_MILLIS);
            let speaker = turn["speaker"].as_str().context("no speaker")?;
            let text = turn["text"].as_str().unwrap_or_default();
            let content = match turn["blip_caption"].as_str() {
                Some(caption) => format!("{text}\n[shares a picture: {caption}]"),
                None => text.to_owned(),
            };
            messages.push(json!({
                "sender_id": speaker.to_lowercase(), "sender_name": speaker, "role": "user",
                "timestamp": last.millis(), "content": content, "message_id": turn["dia_id"],
            }));
        }
        let ids = client
            .remember(project, &format!("session-{number}"), messages)
            .await?;
        labels.extend(
            ids.into_iter().zip(
                turns
                    .iter()
                    .map(|turn| clean(turn["dia_id"].as_str().unwrap_or(""))),
            ),
        );
    }
    Ok((labels, last))
}

/// The evidence ids in a field that has them in several spellings.
fn evidence(field: &Value) -> Vec<String> {
    let texts = field.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts
        .flat_map(|text| text.split([';', ',', ' ']).map(clean).collect::<Vec<_>>())
        .filter(|id| !id.is_empty())
        .collect()
}

/// `D8:06` as `D8:6`; empty for what is no id.
fn clean(text: &str) -> String {
    let parts = text
        .trim()
        .strip_prefix('D')
        .and_then(|rest| rest.split_once(':'));
    match parts.map(|(session, turn)| (session.parse::<u32>(), turn.parse::<u32>())) {
        Some((Ok(session), Ok(turn))) => format!("D{session}:{turn}"),
        _ => String::new(),
    }
}

/// A date as the data set writes it: `1:56 pm on 8 May, 2023`.
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
    let month = MONTHS.iter().position(|m| month.starts_with(m))? + 1;
    Zone::utc()
        .parse(&format!("{year}-{month:02}-{day:02}T{hour:02}:{minute}:00"))
        .ok()
}
