//! The memory API as the evaluation uses it.

use anyhow::{Context, ensure};
use serde_json::{Value, json};

/// Messages in one add: the API's limit.
const ADD_MESSAGES_MAX: usize = 500;

/// A client of one server.
#[derive(Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
}

/// A message as ranked.
#[derive(Debug)]
pub(crate) struct Ranked {
    pub(crate) label: String,
    pub(crate) role: String,
}

/// What a search shall do.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) project: &'a str,
    pub(crate) user: &'a str,
    pub(crate) query: &'a str,
    pub(crate) method: &'a str,
    /// When it is asked, in milliseconds.
    pub(crate) asked_at: i64,
    pub(crate) messages_max: usize,
}

impl Client {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            http: reqwest::Client::new(),
            url: url.trim_end_matches('/').to_owned(),
        }
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let answer = self
            .http
            .post(format!("{}/api/v2/memory/{path}", self.url))
            .json(body)
            .send()
            .await?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(status.is_success(), "{path}: {status}: {text}");
        serde_json::from_str(&text).context("the answer is no JSON")
    }

    /// Remembers a session and gives the message ids in order.
    pub(crate) async fn remember(
        &self,
        project: &str,
        session: &str,
        messages: Vec<Value>,
    ) -> anyhow::Result<Vec<String>> {
        let mut ids = Vec::new();
        for batch in messages.chunks(ADD_MESSAGES_MAX) {
            let body = json!({"project_id": project, "session_id": session, "messages": batch});
            let answer = self.post("add", &body).await?;
            let batch = answer["data"]["message_ids"].as_array().into_iter().flatten();
            ids.extend(batch.filter_map(Value::as_str).map(str::to_owned));
        }
        self.post(
            "flush",
            &json!({"project_id": project, "session_id": session, "wait": true}),
        )
        .await?;
        Ok(ids)
    }

    /// Asks and gives the messages' ids with their roles, best first.
    pub(crate) async fn search(&self, ask: &Ask<'_>) -> anyhow::Result<Vec<Ranked>> {
        let body = json!({
            "project_id": ask.project, "user_id": ask.user, "query": ask.query, "method": ask.method,
            "query_time": ask.asked_at, "include_messages": ask.messages_max, "top_k": 10,
        });
        let answer = self.post("search", &body).await?;
        let messages = answer["data"]["messages"]
            .as_array()
            .context("no messages in the answer")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(messages
            .iter()
            .map(|m| Ranked {
                label: text(&m["id"]),
                role: text(&m["role"]),
            })
            .collect())
    }
}
