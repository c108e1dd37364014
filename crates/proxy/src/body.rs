//! The body of a client's request: its unchanged fields, and the same body with other messages.
//!
//! Owns: taking a JSON object apart without reading its values, and putting it together again. Invariant: fields that
//! are not replaced keep their bytes. Never: rewriting a value of the client.

use std::borrow::Cow;

use prefix::backend::Extra;
use serde_json::value::RawValue;
use transcript::json;

use crate::proxy::Speech;

/// A request's top fields, in order.
#[derive(Debug, Clone)]
pub(crate) struct Body<'a> {
    fields: Vec<(Cow<'a, str>, &'a str)>,
}

/// Why a body is unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unfit(pub(crate) String);

impl<'a> Body<'a> {
    /// Takes a JSON text apart.
    pub(crate) fn read(text: &'a str) -> Result<Self, Unfit> {
        json::check(text).map_err(|error| Unfit(format!("the body is not a JSON object: {error}")))?;
        let value = json::Value::of(text);
        if !value.is_object() {
            let kind = value.kind();
            return Err(Unfit(format!("the body is not a JSON object: it is {kind}")));
        }
        let fields = value.object();
        let fields = fields.members().map(|(name, value)| (name.clone(), value.text()));
        Ok(Self {
            fields: fields.collect(),
        })
    }

    /// A field's JSON text; the last one if the name appears twice. `null` counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let (_, text) = self.fields.iter().rev().find(|(other, _)| other == name)?;
        (*text != "null").then_some(*text)
    }

    /// The value of a field, if it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?).ok()
    }

    /// Whether a field is `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// The JSON texts of a field that is a list; none for an absent one.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<&'a str>, Unfit> {
        let Some(text) = self.get(name) else {
            return Ok(Vec::new());
        };
        let items: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|_| Unfit(format!("`{name}` is not a list")))?;
        Ok(items.into_iter().map(RawValue::get).collect())
    }

    /// The body with these fields replaced, or added at the end in the given order, and the extras that it does not have.
    pub(crate) fn with(&self, replaced: &[(&str, String)], extras: &[Extra]) -> String {
        let mut out = String::with_capacity(self.fields.iter().map(|(_, text)| text.len() + 16).sum());
        out.push('{');
        let mut field = |name: &str, text: &str| {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&serde_json::to_string(name).unwrap_or_default());
            out.push(':');
            out.push_str(text);
        };
        let has = |name: &str| self.fields.iter().any(|(other, _)| other == name);
        for (name, text) in &self.fields {
            let new = replaced.iter().find(|(other, _)| other == name);
            field(name, new.map_or(*text, |(_, new)| new));
        }
        for (name, text) in replaced.iter().filter(|(name, _)| !has(name)) {
            field(name, text);
        }
        for extra in extras {
            if let Extra::Field { name, json } = extra
                && !has(name)
            {
                field(name, json);
            }
        }
        out.push('}');
        out
    }
}

/// Fields of a request that a call of our own leaves out.
const NOT_BESIDE: [&str; 5] = ["stream", "stream_options", "n", "logprobs", "top_logprobs"];
/// Fields with the maximum length of an answer.
pub(crate) const LENGTHS: [&str; 3] = ["max_completion_tokens", "max_output_tokens", "max_tokens"];

impl Body<'_> {
    /// The body without its messages, tools, system text and the fields that a call of our own leaves out: small enough
    /// to keep.
    pub(crate) fn frame(&self, speech: Speech) -> String {
        let kept = |(name, _): &&(Cow<'_, str>, &str)| !NOT_BESIDE.contains(&&**name);
        let fields = self.fields.iter().filter(kept).cloned().collect();
        let replaced = [speech.messages_field(), "tools", speech.system_field()]
            .into_iter()
            .filter(|name| self.get(name).is_some())
            .map(|name| (name, "[]".to_owned()));
        let mut frame = Body { fields }.with(&replaced.collect::<Vec<_>>(), &[]);
        // Its capacity was sized for the messages.
        frame.shrink_to_fit();
        frame
    }
}

/// A JSON list of these texts.
pub(crate) fn list(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.as_ref().to_owned()).collect();
    format!("[{}]", items.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_not_replaced_keep_their_bytes() {
        let text = r#"{ "model" : "m", "n":1.0, "big": 1e400, "messages": [ {"role":"user"} ,2], "x\u0041": [ 1 ] }"#;
        let body = Body::read(text).unwrap();
        assert_eq!(body.list("messages").unwrap(), [r#"{"role":"user"}"#, "2"]);
        let extras = [
            Extra::Field {
                name: "cache_prompt",
                json: "true".to_owned(),
            },
            Extra::Field {
                name: "model",
                json: "7".to_owned(),
            },
        ];
        assert_eq!(
            body.with(&[("messages", "[3]".to_owned())], &extras),
            r#"{"model":"m","n":1.0,"big":1e400,"messages":[3],"xA":[ 1 ],"cache_prompt":true}"#
        );
        assert_eq!(body.text("model").as_deref(), Some("m"));
    }

    #[test]
    fn a_frame_has_neither_messages_nor_a_stream() {
        let text = r#"{"model":"m","stream":true,"stream_options":{},"messages":[1,2],"top_p":0.90,"tools":[{}],"n":2}"#;
        let frame = Body::read(text).unwrap().frame(Speech::Chat);
        assert_eq!(frame, r#"{"model":"m","messages":[],"top_p":0.90,"tools":[]}"#);
    }

    #[test]
    fn a_body_that_is_no_object_is_refused_with_a_reason() {
        assert!(Body::read("[1]").is_err());
        assert!(Body::read("{\"a\":").unwrap_err().0.contains("line 1"));
        assert!(
            Body::read(r#"{"messages":{}}"#)
                .unwrap()
                .list("messages")
                .is_err()
        );
        assert_eq!(
            Body::read(r#"{"tools":null}"#).unwrap().list("tools").unwrap(),
            [""; 0]
        );
    }
}
