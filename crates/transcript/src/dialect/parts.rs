//! One message in parts: its blocks, with their ranges in its text.
//!
//! Owns: the forms of messages and blocks in all dialects; they do not conflict, so there is one reader. Never: whole
//! files (`read`, `claude`, `codex`), changing text (`edit`).

use super::Family;
use crate::encoded::encoded;
use crate::json::{ByteSpan, Object, Value, field};
use crate::{Block, Call, Image, Item, Outcome, Role, Thinking};

/// The members in which compatible servers send a model's reasoning as plain text.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// A block and its place.
#[derive(Debug)]
pub(super) struct PlacedBlock {
    pub(super) block: Block,
    pub(super) home: Home,
    /// The range of the whole block.
    pub(super) whole: ByteSpan,
    /// The range of the value with its text, if the text can be replaced.
    pub(super) text: Option<ByteSpan>,
}

/// The field that contains a block's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// The block is the value of `content`.
    Content,
    /// The block is an element of the array `content`.
    ContentList,
    /// The block is an element of the array `tool_calls`.
    CallList,
    /// The block is the value of a member of its own.
    Member,
    /// The block is the message itself.
    Item,
}

impl PlacedBlock {
    /// A block that is a whole value, without a replaceable text.
    fn new(block: Block, home: Home, whole: Value<'_>) -> Self {
        Self {
            block,
            home,
            whole: whole.span(),
            text: None,
        }
    }

    /// Sets the value that contains its text.
    fn with_text(self, text: Option<Value<'_>>) -> Self {
        Self {
            text: text.map(|text| text.span()),
            ..self
        }
    }
}

/// A message divided into its parts.
#[derive(Debug)]
pub(super) struct MessageParts {
    pub(super) role: Role,
    pub(super) parts: Vec<PlacedBlock>,
}

impl MessageParts {
    /// The item with this text of a client.
    pub(super) fn item(self, raw: &str) -> Item {
        Item {
            role: self.role,
            blocks: self.parts.into_iter().map(|part| part.block).collect(),
            raw: Some(raw.into()),
            edited: false,
        }
    }
}

/// An error in a message, and its place.
#[derive(Debug)]
pub(super) struct MessageFault {
    pub(super) at: usize,
    /// Path below the message, for example `.role`.
    pub(super) path: &'static str,
    pub(super) expected: &'static str,
    pub(super) found: String,
}

impl MessageFault {
    pub(super) fn new(value: Value<'_>, path: &'static str, expected: &'static str) -> Self {
        let found = match value.string() {
            Some(text) if text.chars().count() <= 40 => format!("`{text}`"),
            _ => value.kind().to_owned(),
        };
        Self {
            at: value.span().start,
            path,
            expected,
            found,
        }
    }
}

/// Divides a message into its parts, or an item of the Responses API if the family has those.
pub(super) fn read(value: Value<'_>, family: Family) -> Result<MessageParts, MessageFault> {
    if !value.is_object() {
        return Err(MessageFault::new(
            value,
            "",
            "a message: a JSON object with `role` and `content`",
        ));
    }
    let object = value.object();
    match object.string("type") {
        Some(kind) if family == Family::Responses && !object.has("role") => {
            Ok(read_item(value, &object, &kind))
        }
        _ => read_message(value, &object),
    }
}

/// Whether the text is a part of a turn that its dialect writes as an item of its own, as the Responses API does with
/// calls and reasoning.
pub(crate) fn stands_alone(raw: &str) -> bool {
    let object = Value::of(raw).object();
    !object.has("role") && object.has("type")
}

const ROLES: &str = "one of `system`, `developer`, `user`, `assistant`, `tool`, `function`";

fn read_message(value: Value<'_>, object: &Object<'_>) -> Result<MessageParts, MessageFault> {
    let Some(word) = object.get("role") else {
        return Err(MessageFault {
            found: "no `role`".to_owned(),
            ..MessageFault::new(value, "", "a message with a `role`")
        });
    };
    let role = match word.string().as_deref() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => {
            return Ok(MessageParts {
                role: Role::Tool,
                parts: vec![tool_message(value, object)],
            });
        }
        Some("function") => {
            return Ok(MessageParts {
                role: Role::Tool,
                parts: vec![opaque(value, Home::Item)],
            });
        }
        _ => return Err(MessageFault::new(word, ".role", ROLES)),
    };
    let mut parts = Vec::new();
    parts.extend(reasoning(object));
    content(object, &mut parts);
    parts.extend(object.elements("tool_calls").into_iter().map(tool_call));
    for name in ["function_call", "audio"] {
        let member = object.get(name).filter(Value::is_object);
        parts.extend(member.map(|member| opaque(member, Home::Member)));
    }
    Ok(MessageParts { role, parts })
}

fn opaque(value: Value<'_>, home: Home) -> PlacedBlock {
    PlacedBlock::new(Block::Other(value.text().to_owned()), home, value)
}

fn reasoning(object: &Object<'_>) -> Option<PlacedBlock> {
    let plain = REASONING
        .iter()
        .filter_map(|name| object.get(name))
        .find(|value| value.text().len() > 2 && value.is_string());
    if let Some(value) = plain {
        let thinking = Thinking {
            text: value.string().unwrap_or_default(),
            raw: String::new(),
        };
        let block = PlacedBlock::new(Block::Thinking(thinking), Home::Member, value);
        return Some(block.with_text(plain));
    }
    let details = object.get("reasoning_details").filter(Value::is_array)?;
    let thinking = Thinking {
        text: flat(details).0,
        raw: details.text().to_owned(),
    };
    Some(PlacedBlock::new(Block::Thinking(thinking), Home::Member, details))
}

fn content(object: &Object<'_>, parts: &mut Vec<PlacedBlock>) {
    if let Some(value) = object.get("content").filter(|value| !value.is_null()) {
        if value.is_array() {
            parts.extend(value.elements().into_iter().map(element));
        } else if let Some(text) = value.string() {
            if !text.is_empty() {
                parts.push(text_of(value, Home::Content));
            }
        } else {
            parts.push(opaque(value, Home::Content));
        }
    }
    let refusal = object
        .get("refusal")
        .filter(|value| value.is_string() && value.text().len() > 2);
    parts.extend(refusal.map(|value| text_of(value, Home::Member)));
}

/// A string as a block of text.
fn text_of(value: Value<'_>, home: Home) -> PlacedBlock {
    let block = Block::Text(value.string().unwrap_or_default());
    PlacedBlock::new(block, home, value).with_text(Some(value))
}

fn tool_message(value: Value<'_>, object: &Object<'_>) -> PlacedBlock {
    let call_id = object.string("tool_call_id").unwrap_or_default();
    let content = object.get("content");
    let (text, images) = content.map(flat).unwrap_or_default();
    let outcome = Outcome {
        call_id,
        text,
        failed: object.is_true("is_error"),
        images,
    };
    PlacedBlock::new(Block::Outcome(outcome), Home::Item, value).with_text(content)
}

fn tool_call(value: Value<'_>) -> PlacedBlock {
    let object = value.object();
    let inner = object.get("function").or_else(|| object.get("custom"));
    let Some(inner) = inner.map(|inner| inner.object()) else {
        return opaque(value, Home::CallList);
    };
    let call = Call {
        id: object.string("id").unwrap_or_default(),
        name: inner.string("name").unwrap_or_default(),
        arguments: verbatim(inner.get("arguments").or_else(|| inner.get("input"))),
    };
    PlacedBlock::new(Block::Call(call), Home::CallList, value)
}

/// A string's text, or any other value's JSON text.
fn verbatim(value: Option<Value<'_>>) -> String {
    value
        .map(|value| value.string().unwrap_or_else(|| value.text().to_owned()))
        .unwrap_or_default()
}

/// An element of a `content` array.
fn element(value: Value<'_>) -> PlacedBlock {
    let object = value.object();
    let mut text = None;
    let block = match object.string("type").as_deref() {
        Some("text" | "input_text" | "output_text" | "summary_text" | "reasoning_text") => {
            text = object.get("text").filter(Value::is_string);
            text.and_then(|text| text.string()).map(Block::Text)
        }
        Some("refusal") => {
            text = object.get("refusal").filter(Value::is_string);
            text.and_then(|text| text.string()).map(Block::Text)
        }
        Some("image" | "image_url" | "input_image") => Some(Block::Image(Image {
            raw: value.text().to_owned(),
        })),
        Some("thinking" | "redacted_thinking") => Some(Block::Thinking(Thinking {
            text: object.string("thinking").unwrap_or_default(),
            raw: value.text().to_owned(),
        })),
        Some("tool_use") => Some(Block::Call(Call {
            id: object.string("id").unwrap_or_default(),
            name: object.string("name").unwrap_or_default(),
            arguments: object
                .get("input")
                .map_or_else(|| "{}".to_owned(), |input| input.text().to_owned()),
        })),
        Some("tool_result") => {
            text = object.get("content");
            let (words, images) = text.map(flat).unwrap_or_default();
            let call_id = object.string("tool_use_id").unwrap_or_default();
            Some(Block::Outcome(Outcome {
                call_id,
                text: words,
                failed: object.is_true("is_error"),
                images,
            }))
        }
        _ => None,
    };
    let block = block.unwrap_or_else(|| Block::Other(value.text().to_owned()));
    PlacedBlock::new(block, Home::ContentList, value).with_text(text)
}

/// Encoded bytes of a file that count as one picture.
const PICTURE_BYTES: usize = 750_000;
/// Maximum number of pictures for a file: only the server knows whether the file is too long.
const PICTURES_MAX: usize = 19;

/// Number of pictures that a block counts as; 0 for text.
fn pictures(block: &Block) -> usize {
    match block {
        Block::Image(_) => 1,
        Block::Other(raw) => {
            let weight = |(start, end): (usize, usize)| PICTURES_MAX.min(1 + (end - start) / PICTURE_BYTES);
            encoded(raw).map(weight).sum()
        }
        _ => 0,
    }
}

/// The text of a content value and its number of pictures. Other values count as their JSON text, so that they have
/// tokens; encoded files count as pictures.
pub(super) fn flat(value: Value<'_>) -> (String, usize) {
    if value.is_null() {
        return (String::new(), 0);
    }
    if !value.is_array() {
        return (verbatim(Some(value)), 0);
    }
    let mut images = 0;
    let mut texts = Vec::new();
    for part in value.elements().into_iter().map(element) {
        let weight = pictures(&part.block);
        images += weight;
        match part.block {
            Block::Text(text) => texts.push(text),
            Block::Other(raw) if weight == 0 => texts.push(raw),
            _ => {}
        }
    }
    (texts.join("\n"), images)
}

/// Whether an element of a content value is a picture or another file.
pub(super) fn is_image(value: Value<'_>) -> bool {
    pictures(&element(value).block) > 0
}

/// An item of the Responses API that is not a message: a call, its result, reasoning.
fn read_item(value: Value<'_>, object: &Object<'_>, kind: &str) -> MessageParts {
    if kind.ends_with("_output") {
        let block = Block::Outcome(item_outcome(object));
        let part = PlacedBlock::new(block, Home::Item, value).with_text(object.get("output"));
        return MessageParts {
            role: Role::Tool,
            parts: vec![part],
        };
    }
    let id = object
        .string("call_id")
        .or_else(|| object.string("id").filter(|_| kind == "local_shell_call"));
    let block = match (kind.strip_suffix("_call"), id) {
        (Some(name), Some(id)) => {
            let name = object.string("name").unwrap_or_else(|| name.to_owned());
            let sent = ["arguments", "input", "action"]
                .into_iter()
                .find_map(|member| object.get(member));
            Block::Call(Call {
                id,
                name,
                arguments: verbatim(sent),
            })
        }
        // Called and answered on the server: no item of the transcript answers it. This never applies to a function's
        // call.
        (Some("function" | "custom_tool"), None) => {
            let name = object.string("name").unwrap_or_default();
            let sent = object.get("arguments").or_else(|| object.get("input"));
            Block::Call(Call {
                id: String::new(),
                name,
                arguments: verbatim(sent),
            })
        }
        _ if kind == "reasoning" => {
            let texts = ["summary", "content"]
                .into_iter()
                .filter_map(|member| object.get(member));
            let texts: Vec<String> = texts
                .map(|value| flat(value).0)
                .filter(|text| !text.is_empty())
                .collect();
            Block::Thinking(Thinking {
                text: texts.join("\n"),
                raw: value.text().to_owned(),
            })
        }
        _ => Block::Other(value.text().to_owned()),
    };
    MessageParts {
        role: Role::Assistant,
        parts: vec![PlacedBlock::new(block, Home::Item, value)],
    }
}

fn item_outcome(object: &Object<'_>) -> Outcome {
    let call_id = object
        .string("call_id")
        .or_else(|| object.string("id"))
        .unwrap_or_default();
    let output = object.get("output");
    let said = output.map(|output| output.object());
    let said_of = |key: &str| said.as_ref()?.get(key);
    let (text, images) = said_of("content").or(output).map(flat).unwrap_or_default();
    let failed = said_of("success").is_some_and(|success| success.text() == "false") || exits_badly(&text);
    Outcome {
        call_id,
        text,
        failed,
        images,
    }
}

/// Codex writes a command's output as `{"output":…,"metadata":{"exit_code":…}}` inside the text.
fn exits_badly(text: &str) -> bool {
    let object = text.starts_with('{').then(|| field(text, "metadata")).flatten();
    let code = object.and_then(|metadata| field(metadata, "exit_code"));
    code.is_some_and(|code| code != "0")
}
