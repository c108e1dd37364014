//! A chat model behind an OpenAI-compatible endpoint, asked with Quipu's prompts.
//!
//! Owns: the HTTP exchange. Never: the prompt, the number of retries, or the check of an answer (`extract`
//! has them).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use extract::{Answer, AnswerProblem, Interview, Prompt, Reaction};
use serde_json::{Value, json};

/// Includes the time in which a local server loads the model.
const TIMEOUT: Duration = Duration::from_mins(5);

/// An endpoint and the name of its model.
pub(super) struct Endpoint {
    http: reqwest::Client,
    url: String,
    model: String,
    key: Option<String>,
    /// The endpoint refused a schema, so requests go without one; the prompt describes the form too.
    is_plain: AtomicBool,
}

impl Endpoint {
    pub(super) fn new(base_url: &str, model: &str, key: Option<String>) -> anyhow::Result<Self> {
        Ok(Self {
            http: reqwest::Client::builder().timeout(TIMEOUT).build()?,
            url: format!("{}/chat/completions", base_url.trim_end_matches('/')),
            model: model.to_owned(),
            key,
            is_plain: AtomicBool::new(false),
        })
    }

    /// The model's answer; a problem if none of its answers is usable.
    pub(super) async fn ask(
        &self,
        mut interview: Interview<'_>,
    ) -> anyhow::Result<Result<Answer, AnswerProblem>> {
        let prompt = interview.prompt();
        let asked = vec![
            json!({"role": "system", "content": prompt.system}),
            json!({"role": "user", "content": prompt.user}),
        ];
        let mut said = asked.clone();
        loop {
            let content = self.complete(&said, &prompt).await?;
            let hint = match interview.read(&content) {
                Reaction::Done(answer) => return Ok(Ok(answer)),
                Reaction::GiveUp(problem) => return Ok(Err(problem)),
                Reaction::Again(hint) => hint,
            };
            said.clone_from(&asked);
            if let Some(hint) = hint {
                said.push(json!({"role": "assistant", "content": content}));
                said.push(json!({"role": "user", "content": hint}));
            }
        }
    }

    async fn complete(&self, messages: &[Value], prompt: &Prompt) -> anyhow::Result<String> {
        let mut body = json!({
            "model": self.model, "messages": messages, "max_tokens": prompt.tokens_max, "stream": false,
        });
        if !self.is_plain.load(Ordering::Relaxed) {
            let schema: Value = serde_json::from_str(&prompt.schema_json)?;
            let schema = json!({"name": prompt.schema_name, "strict": true, "schema": schema});
            body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
            match self.post(&body).await? {
                (400 | 422, _) => self.is_plain.store(true, Ordering::Relaxed),
                answer => return content(answer),
            }
            body.as_object_mut()
                .context("an object")?
                .remove("response_format");
        }
        content(self.post(&body).await?)
    }

    async fn post(&self, body: &Value) -> anyhow::Result<(u16, String)> {
        let mut request = self.http.post(&self.url).json(body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let answer = request
            .send()
            .await
            .with_context(|| format!("{} does not answer", self.url))?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }
}

fn content((status, text): (u16, String)) -> anyhow::Result<String> {
    if status != 200 {
        bail!("the model's endpoint answered with {status}: {text}");
    }
    let answer: Value = serde_json::from_str(&text).context("the endpoint's answer is not JSON")?;
    let content = answer["choices"][0]["message"]["content"].as_str();
    Ok(content.unwrap_or_default().to_owned())
}
