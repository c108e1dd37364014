//! The memory that turns of the written sets would get, by ranking alone in this process: for tuning, in
//! seconds.
//!
//! Owns: a line of JSON for each odd question. Never: a held-out question, or a measure.

use std::path::PathBuf;

use anyhow::Context;
use model::{Role, Timestamp, Zone};
use ports::{EmbedPurpose, Embedder};
use providers::StaticEmbedder;
use recall::{Cosines, Hit, Method, Query, Weights};
use serde_json::{Value, json};

use super::Half;
use super::sets::{self, Asked};
use crate::cases::{Case, CaseMessage};
use crate::offline::corpus;

/// Reads the sets, asks and prints.
pub(super) async fn run(files: &[PathBuf], weights: &Weights) -> anyhow::Result<()> {
    let embedder = StaticEmbedder::new();
    for file in files {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        for asked in sets::read(&text)? {
            let case = case(&asked)?;
            let corpus = corpus(&case, &embedder, false).await?;
            let developed = asked
                .questions
                .iter()
                .filter(|question| question.half() == Half::Developed);
            for question in developed {
                let vector = embedder
                    .embed(&[&question.text], EmbedPurpose::Query)
                    .await?
                    .pop();
                let query = Query {
                    text: &question.text,
                    vector: vector.as_deref(),
                    cosines: Cosines::default(),
                    method: Method::Hybrid,
                    filter: None,
                    asked_at: Zone::utc().parse("2026-11-22T12:00:00").context("a time")?,
                    zone: &Zone::utc(),
                    as_of: None,
                    memories_max: 12,
                    messages_max: 40,
                    score_min: 0.0,
                };
                let ranking = corpus.search_weighted(&query, weights);
                let facts = ranking.memories.iter().flat_map(|memory| &memory.facts);
                let lines = recall::memory_lines(
                    &ranking,
                    &question.text,
                    &case.owner,
                    &Zone::utc(),
                    &extract::Messages,
                );
                let told: Vec<String> = lines.into_iter().map(|line| line.text).collect();
                let out = json!({
                    "id": question.id, "who": asked.person.user, "text": question.text, "parts": question.parts,
                    "messages": ranking.messages.iter().map(seen).collect::<Vec<_>>(),
                    "facts": facts.map(seen).collect::<Vec<_>>(), "told": told,
                });
                println!("{out}");
            }
        }
    }
    Ok(())
}

fn seen(hit: &Hit) -> Value {
    json!({
        "text": hit.doc.text, "score": hit.score, "keyword": hit.why.keyword, "vector": hit.why.vector,
        "near": hit.why.neighbours, "session": hit.why.session, "terms": hit.why.terms,
        "is_user": hit.doc.role == Some(Role::User), "later": hit.later.is_some(),
    })
}

fn case(asked: &Asked) -> anyhow::Result<Case> {
    let mut case = Case::new(&asked.person.user)?;
    for session in &asked.person.sessions {
        for (n, message) in session.messages.iter().enumerate() {
            let id = format!("{}-{n}", session.id);
            let speaker = message["sender_id"].as_str().unwrap_or_default();
            let time = message["timestamp"].as_i64().unwrap_or_default();
            case.say(
                "default",
                CaseMessage {
                    id: &id,
                    session: &session.id,
                    speaker,
                    role: if message["role"] == "user" {
                        Role::User
                    } else {
                        Role::Assistant
                    },
                    time: Timestamp::from_millis(time),
                    text: message["content"].as_str().unwrap_or_default().to_owned(),
                },
            )?;
        }
    }
    Ok(case)
}
