//! The product over HTTP: each case remembered in a project of its own, then asked.
//!
//! Owns: requests to a running server. Never: starting one.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use gateway::wire::{AddData, Envelope, SearchData};
use model::{Message, MessageId, Role, SessionId};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cases::{Case, Question};
use crate::measure::{Measured, Ranked};

/// The maximum of one search.
const MESSAGES_MAX: usize = 200;

#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// Where the server listens
    #[arg(long, default_value = "http://127.0.0.1:4777")]
    url: String,
    /// The server's bearer token, if it has one
    #[arg(long)]
    token: Option<String>,
    /// keyword, vector or hybrid
    #[arg(long, default_value = "hybrid")]
    method: String,
    /// Only ask; the cases were remembered by an earlier run
    #[arg(long)]
    loaded: bool,
}

/// Remembers and asks every case, then prints the table.
pub(crate) async fn run(cases: &[Case], args: &ServerArgs) -> anyhow::Result<()> {
    let client = Client {
        http: reqwest::Client::new(),
        args,
    };
    let mut measured = Measured::default();
    for case in cases {
        let ids = client.remember(case).await?;
        for question in &case.questions {
            measured.add(question, &client.ask(case, question, &ids).await?);
        }
    }
    measured.print(None);
    Ok(())
}

struct Client<'a> {
    http: reqwest::Client,
    args: &'a ServerArgs,
}

/// The data set's id of each message id of the server.
type Ids = BTreeMap<String, MessageId>;

impl Client<'_> {
    /// Adds and flushes every session. Client ids make a second add harmless; it returns the server's ids
    /// again.
    async fn remember(&self, case: &Case) -> anyhow::Result<Ids> {
        let mut ids = Ids::new();
        for session in case.sessions() {
            let key = &session[0].session;
            let place = json!({"session_id": key.session.as_str(), "project_id": key.scope.project.as_str()});
            for messages in session.chunks(gateway::wire::MESSAGES_MAX) {
                let mut body = place.clone();
                body["messages"] = messages.iter().map(item).collect();
                body["defer_extraction"] = json!(true);
                let added: Envelope<AddData> = self.post("add", &body).await?;
                let sent = messages.iter().map(|message| message.id.clone());
                ids.extend(added.data.message_ids.into_iter().zip(sent));
            }
            if !self.args.loaded {
                let mut body = place;
                body["wait"] = json!(true);
                self.post::<Envelope<Value>>("flush", &body).await?;
            }
        }
        Ok(ids)
    }

    async fn ask(&self, case: &Case, question: &Question, ids: &Ids) -> anyhow::Result<Vec<Ranked>> {
        let project = case
            .messages
            .first()
            .map_or("default", |message| message.session.scope.project.as_str());
        let body = json!({
            "user_id": case.owner.id.as_str(),
            "project_id": project,
            "query": question.text,
            "query_time": question.asked_at.millis(),
            "method": self.args.method,
            "top_k": 10,
            "include_messages": MESSAGES_MAX,
        });
        let found: Envelope<SearchData> = self.post("search", &body).await?;
        let ranked = found.data.messages.into_iter().filter_map(|message| {
            Some(Ranked {
                id: ids.get(&message.id)?.clone(),
                session: SessionId::parse(&message.session_id?).ok()?,
                is_user: message.role.is_some_and(|role| role == Role::User.into()),
            })
        });
        Ok(ranked.collect())
    }

    async fn post<T: DeserializeOwned>(&self, route: &str, body: &Value) -> anyhow::Result<T> {
        let mut request = self
            .http
            .post(format!("{}/api/v2/memory/{route}", self.args.url))
            .json(body);
        if let Some(token) = &self.args.token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.context("the server does not answer")?;
        let status = answer.status();
        let text = answer.text().await?;
        if !status.is_success() {
            bail!("{route} was answered with {status}: {text}");
        }
        serde_json::from_str(&text).with_context(|| format!("{route} has another answer than expected"))
    }
}

fn item(message: &Message) -> Value {
    json!({
        "message_id": message.id.as_str(),
        "sender_id": message.sender.as_str(),
        "sender_name": message.sender_name,
        "role": message.role.as_str(),
        "timestamp": message.time.millis(),
        "content": message.text(),
    })
}
