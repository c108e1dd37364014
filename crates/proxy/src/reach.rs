//! The objects of a model server that a request with a token can reach: all tokens share the server's one key.
//!
//! Owns: the allowed paths, the fields of a body that name an object of the server, the check of its owner. Never: the
//! caller's identity (`gateway`), the storage of owners (`ports::Conversations`).

use std::collections::BTreeSet;
use std::fmt;

use bytes::Bytes;
use futures::stream;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::body::Body;
use crate::proxy::{Proxy, Request};
use crate::refusal::Refusal;

/// Paths of requests that create a result from their body alone.
const CREATES: [&str; 16] = [
    "chat/completions",
    "completions",
    "messages",
    "messages/count_tokens",
    "responses",
    "responses/compact",
    "responses/input_tokens",
    "embeddings",
    "rerank",
    "reranking",
    "rank",
    "rankings",
    "moderations",
    "tokenize",
    "detokenize",
    "count_tokens",
];
/// Like `CREATES`, with every path below; the body can be a form.
const MEDIA: [&str; 2] = ["audio/", "images/"];
/// Fields with data of the client's own, where an id means nothing to a server: schemas and labels.
const NOT_NAMES: [&str; 4] = ["parameters", "input_schema", "schema", "metadata"];

const RESPONSES: &str = "responses";
const CONVERSATIONS: &str = "conversations";
const REFERENCE: &str = "item_reference";

/// An object of a model server: the first step of its path, and its id.
type ServerObject = (&'static str, String);

impl Proxy {
    /// Checks that a request reaches no object of another owner on the model server.
    pub(crate) async fn check_reach(&self, request: &Request) -> Result<(), Refusal> {
        if !request.is_guarded {
            return Ok(());
        }
        let path = request.path.split(['?', '#']).next().unwrap_or_default();
        let is_open = |at: &str| {
            let is_below = |open: &String| {
                let rest = at.strip_prefix(open.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            self.passthrough.iter().any(is_below)
        };
        let creates = request.method == "POST" && (is_media(path) || CREATES.contains(&path));
        let stored = if creates { None } else { stored(path) };
        if !creates && stored.is_none() && !reads_models(path, &request.method) {
            return if is_open(path) {
                Ok(())
            } else {
                Err(Refusal::closed(path))
            };
        }
        let mut named = named_in(path, request).await?;
        named.extend(stored);
        named.retain(|(step, _)| !is_open(step));
        if named.is_empty() {
            return Ok(());
        }
        let text = std::str::from_utf8(&request.body).unwrap_or_default();
        let body = Body::read(text).or_else(|_| Body::read("{}"));
        let party = self.party(request, &body?)?;
        let ids: Vec<String> = named.iter().map(|(_, id)| id.clone()).collect();
        let known = self
            .store()
            .logs
            .owned_objects(&party.scope, &party.owner, ids)
            .await;
        let known = known?;
        match named.into_iter().find(|(_, id)| !known.contains(id)) {
            Some((step, id)) => Err(Refusal::not_theirs(&id, step, &party.owner)),
            None => Ok(()),
        }
    }
}

fn is_media(path: &str) -> bool {
    MEDIA.iter().any(|beginning| path.starts_with(beginning))
}

fn reads_models(path: &str, method: &str) -> bool {
    matches!(method, "GET" | "HEAD") && (path == "models" || path.starts_with("models/"))
}

/// The object that a path names.
fn stored(path: &str) -> Option<ServerObject> {
    [RESPONSES, CONVERSATIONS].into_iter().find_map(|step| {
        let rest = path.strip_prefix(step)?.strip_prefix('/')?;
        let id = rest.split('/').next().filter(|id| !id.is_empty())?;
        Some((step, id.to_owned()))
    })
}

/// The objects that a body names.
async fn named_in(path: &str, request: &Request) -> Result<BTreeSet<ServerObject>, Refusal> {
    let kind = request.headers.iter().find(|(name, _)| name == "content-type");
    let boundary = kind.and_then(|(_, kind)| multer::parse_boundary(kind).ok());
    let named = match boundary {
        _ if request.body.is_empty() => return Ok(BTreeSet::new()),
        Some(boundary) if is_media(path) => names_of_form(request.body.clone(), boundary).await.ok(),
        _ => names(&request.body),
    };
    named.ok_or_else(|| Refusal::unread(path))
}

/// The objects that the fields of a form name.
async fn names_of_form(body: Bytes, boundary: String) -> multer::Result<BTreeSet<ServerObject>> {
    let mut form = multer::Multipart::new(stream::iter([Ok::<_, multer::Error>(body)]), boundary);
    let mut named = BTreeSet::new();
    while let Some(field) = form.next_field().await? {
        // A nested field: `image[file_id]`, `image.file_id`.
        let mut steps = field
            .name()
            .unwrap_or_default()
            .split(['[', ']', '.'])
            .filter_map(step_of);
        if let Some((step, _)) = steps.find(|(_, is_id)| *is_id) {
            named.insert((step, field.text().await?));
        }
    }
    Ok(named)
}

/// The objects that a JSON text names; none if it is not JSON.
fn names(json: &[u8]) -> Option<BTreeSet<ServerObject>> {
    let mut named = BTreeSet::new();
    let mut reader = serde_json::Deserializer::from_slice(json);
    let walk = BodyWalk {
        named: &mut named,
        field: None,
        place: IdPlace::Elsewhere,
    };
    walk.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(named)
}

/// The ids of a reply's items, and of the objects that they name.
pub(crate) fn ids_of(replies: &[&str]) -> BTreeSet<String> {
    let named = replies.iter().filter_map(|item| names(item.as_bytes()));
    let items = replies.iter().filter_map(|item| crate::input::id(item));
    named.flatten().map(|(_, id)| id).chain(items).collect()
}

/// The kind of object that a field names, and whether its value is an id: the other fields hold an object with an `id`.
fn step_of(field: &str) -> Option<(&'static str, bool)> {
    Some(match field {
        "previous_response_id" => (RESPONSES, true),
        "conversation" => (CONVERSATIONS, true),
        "file_id" | "file_ids" => ("files", true),
        "vector_store_id" | "vector_store_ids" => ("vector_stores", true),
        "container" | "container_id" => ("containers", true),
        "prompt" => ("prompts", false),
        _ => return None,
    })
}

/// The position of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdPlace {
    /// In the field `input`: a list of items, or, if it is an object, the arguments of a call.
    Input,
    Item,
    Elsewhere,
}

/// Reads a value and collects the objects that it names. A field that appears twice is read twice: servers differ in
/// the one that counts.
struct BodyWalk<'a> {
    named: &'a mut BTreeSet<ServerObject>,
    field: Option<(&'static str, bool)>,
    place: IdPlace,
}

impl BodyWalk<'_> {
    fn inside(&mut self, field: Option<(&'static str, bool)>, place: IdPlace) -> BodyWalk<'_> {
        BodyWalk {
            named: self.named,
            field,
            place,
        }
    }
}

impl<'de> DeserializeSeed<'de> for BodyWalk<'_> {
    /// The value, if it is a text.
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BodyWalk<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        if let Some((step, true)) = self.field {
            self.named.insert((step, text.to_owned()));
        }
        Ok(Some(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self::Value, A::Error> {
        let field = self.field.filter(|(_, is_id)| *is_id);
        let place = if self.place == IdPlace::Input {
            IdPlace::Item
        } else {
            IdPlace::Elsewhere
        };
        while items.next_element_seed(self.inside(field, place))?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Self::Value, A::Error> {
        let (mut ids, mut is_reference) = (Vec::new(), false);
        // An item with only an id is a reference to the item that has this id.
        let mut is_bare = self.place == IdPlace::Item;
        while let Some(name) = fields.next_key::<String>()? {
            if self.place == IdPlace::Input || NOT_NAMES.contains(&name.as_str()) {
                fields.next_value::<IgnoredAny>()?;
                continue;
            }
            let place = if name == "input" {
                IdPlace::Input
            } else {
                IdPlace::Elsewhere
            };
            let text = fields.next_value_seed(self.inside(step_of(&name), place))?;
            match (name.as_str(), text) {
                ("id", Some(id)) => ids.push(id),
                ("type", text) => {
                    is_reference |= text.as_deref() == Some(REFERENCE);
                    is_bare &= text.is_none();
                }
                _ => is_bare = false,
            }
        }
        let step = match self.field {
            Some((step, _)) => Some(step),
            None => (is_reference || is_bare).then_some(RESPONSES),
        };
        if let Some(step) = step {
            self.named.extend(ids.into_iter().map(|id| (step, id)));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named_objects(body: &serde_json::Value) -> Vec<String> {
        let named = names(body.to_string().as_bytes()).expect("JSON");
        named
            .into_iter()
            .map(|(step, id)| format!("{step}/{id}"))
            .collect()
    }

    #[test]
    fn a_body_names_objects_by_its_fields() {
        for (body, expected) in [
            (json!({"previous_response_id": "r"}), "responses/r"),
            (json!({"conversation": "c"}), "conversations/c"),
            (json!({"conversation": {"id": "c"}}), "conversations/c"),
            (json!({"prompt": {"id": "p", "version": "2"}}), "prompts/p"),
            (json!({"container": "k"}), "containers/k"),
            (
                json!({"tools": [{"type": "code_interpreter", "container": "k"}]}),
                "containers/k",
            ),
            (
                json!({"tools": [{"container": {"type": "auto", "file_ids": ["f"]}}]}),
                "files/f",
            ),
            (json!({"tools": [{"vector_store_ids": ["v"]}]}), "vector_stores/v"),
            (
                json!({"input": [{"content": [{"type": "input_file", "file_id": "f"}]}]}),
                "files/f",
            ),
            (
                json!({"messages": [{"content": [{"source": {"type": "file", "file_id": "f"}}]}]}),
                "files/f",
            ),
            (
                json!({"messages": [{"content": [{"type": "file", "file": {"file_id": "f"}}]}]}),
                "files/f",
            ),
            (
                json!({"input": [{"type": "item_reference", "id": "m"}]}),
                "responses/m",
            ),
            (json!({"input": [{"id": "m"}]}), "responses/m"),
            (json!({"input": [{"id": "m", "type": null}]}), "responses/m"),
        ] {
            assert_eq!(named_objects(&body), [expected], "{body}");
        }
        let twice = r#"{"previous_response_id": "a", "previous_response_id": "b"}"#;
        assert_eq!(names(twice.as_bytes()).expect("JSON").len(), 2, "servers differ");
        for no_json in ["", "{", "{} {}", "file_id=f"] {
            assert_eq!(names(no_json.as_bytes()), None, "{no_json}");
        }
    }

    #[test]
    fn the_clients_own_data_names_nothing() {
        for body in [
            json!({"prompt": "Once"}),
            json!({"prompt": ["Once", "twice"]}),
            json!({"previous_response_id": null, "conversation": null}),
            json!({"input": "file_id"}),
            json!({"input": [{"type": "message", "id": "m", "role": "user", "content": "hi"}]}),
            json!({"messages": [{"content": [{"type": "tool_use", "id": "t", "input": {"file_id": "f"}}]}]}),
            json!({"tools": [{"parameters": {"properties": {"file_id": {"type": "string"}}, "default": {"file_id": "f"}}}]}),
            json!({"tools": [{"input_schema": {"examples": [{"container": "k"}]}}]}),
            json!({"metadata": {"conversation": "c"}}),
        ] {
            assert!(
                named_objects(&body).is_empty(),
                "{body}: {:?}",
                named_objects(&body)
            );
        }
    }
}
