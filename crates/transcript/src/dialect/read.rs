//! Reads a whole file: its dialect, and its items.
//!
//! Owns: detecting the dialects by the file's content; requests, arrays and lines of messages; the place of errors.
//! Never: the records of Claude Code (`claude`) and Codex (`codex`), the form of a message (`parts`).

use super::parts::{self, MessageFault};
use super::{Dialect, Transcript, Unreadable, claude, codex};
use crate::json::{self, Object, Value};
use crate::{Block, Image, Item, Role};

const WHAT: &str = "a transcript of OpenAI, Anthropic, Claude Code or Codex";
const GIVE: &str = "give a request, an array of messages, or a session's JSONL";

/// Reads a transcript of any dialect.
///
/// The last line of a JSONL file is skipped and counted if it is incomplete; any other line that is not JSON is an
/// error, and so is an invalid message.
pub fn read(text: &str) -> Result<Transcript, Unreadable> {
    let source = SourceText {
        text: text.strip_prefix('\u{feff}').unwrap_or(text),
    };
    if source.text.trim().is_empty() {
        return Err(source.refuse(0, "", WHAT, "nothing", GIVE));
    }
    match json::check(source.text) {
        Ok(()) => source.document(Value::of(source.text)),
        Err(error) => match source.records()? {
            Some(records) => source.session(&records),
            None => Err(source.no_json(&error, 1)),
        },
    }
}

/// Reads one message of a known dialect; an error's place refers to this text.
pub fn read_message(dialect: Dialect, text: &str) -> Result<Item, Unreadable> {
    let source = SourceText { text };
    json::check(text).map_err(|error| source.no_json(&error, 1))?;
    source.message(dialect, Value::of(text), "")
}

/// The records of a JSONL file.
pub(super) struct JsonlRecords<'a> {
    pub(super) values: Vec<Value<'a>>,
    /// Whether the last line is incomplete.
    is_cut_off: bool,
}

#[derive(Clone, Copy)]
pub(super) struct SourceText<'a> {
    text: &'a str,
}

impl<'a> SourceText<'a> {
    pub(super) fn refuse(
        &self,
        at: usize,
        path: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        advice: &'static str,
    ) -> Unreadable {
        let before = self.text.get(..at).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before[start..].chars().count() + 1;
        Unreadable {
            line,
            column,
            path: path.into(),
            expected: expected.into(),
            found: found.into(),
            advice,
        }
    }

    fn faulty(&self, fault: MessageFault, path: &str) -> Unreadable {
        let path = format!("{path}{}", fault.path);
        self.refuse(
            fault.at,
            path,
            fault.expected,
            fault.found,
            "repair or remove that message",
        )
    }

    /// `first` is the line of the file at which the text of the error begins.
    fn no_json(&self, error: &serde_json::Error, first: usize) -> Unreadable {
        let line = first + error.line().max(1) - 1;
        let text = self.text.split('\n').nth(line - 1).unwrap_or_default();
        let bytes = text.floor_char_boundary(error.column().saturating_sub(1));
        let start: usize = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let said = error.to_string();
        let advice = if error.is_eof() {
            "the file ends too early: write it again, or remove the incomplete part"
        } else {
            "repair the JSON there"
        };
        let found = said.split(" at line ").next().unwrap_or_default();
        self.refuse(start + bytes, "", "JSON", found, advice)
    }

    /// The records, if each line is one; none if the first line is not JSON, so that the text is one broken document.
    fn records(&self) -> Result<Option<JsonlRecords<'a>>, Unreadable> {
        let mut records = JsonlRecords {
            values: Vec::new(),
            is_cut_off: false,
        };
        let mut start = 0;
        let last = self.text.trim_end().rfind('\n').map_or(0, |at| at + 1);
        for (number, line) in (1..).zip(self.text.split('\n')) {
            let here = start;
            start += line.len() + 1;
            if line.trim().is_empty() {
                continue;
            }
            match json::check(line) {
                Ok(()) => records
                    .values
                    .push(Value::within(self.text, here..here + line.len())),
                Err(_) if records.values.is_empty() => return Ok(None),
                Err(error) if error.is_eof() && here == last => records.is_cut_off = true,
                Err(error) => return Err(self.no_json(&error, number)),
            }
        }
        Ok(Some(records))
    }

    fn document(self, value: Value<'a>) -> Result<Transcript, Unreadable> {
        let object = value.object();
        if value.is_array() {
            let list = value.elements();
            let dialect = if list.iter().any(|value| codex::is_item(&value.object())) {
                Dialect::OpenAiResponses
            } else {
                of_messages(&list, None)
            };
            let mut transcript = Transcript::new(dialect);
            self.messages(&list, "", &mut transcript)?;
            return Ok(transcript);
        }
        if let Some(messages) = object.get("messages") {
            return self.request(&object, messages);
        }
        if let Some(input) = object.get("input").filter(|_| !object.has("type")) {
            return self.responses_request(&object, input);
        }
        if value.is_object() {
            return self.session(&JsonlRecords {
                values: vec![value],
                is_cut_off: false,
            });
        }
        Err(self.refuse(value.span().start, "", WHAT, value.kind(), GIVE))
    }

    fn request(self, object: &Object<'a>, messages: Value<'a>) -> Result<Transcript, Unreadable> {
        if !messages.is_array() {
            let at = messages.span().start;
            return Err(self.refuse(at, "messages", "an array of messages", messages.kind(), GIVE));
        }
        let list = messages.elements();
        let mut transcript = Transcript::new(of_messages(&list, Some(object)));
        other_fields(object, "system", &mut transcript);
        self.messages(&list, "messages", &mut transcript)?;
        Ok(transcript)
    }

    fn responses_request(self, object: &Object<'a>, input: Value<'a>) -> Result<Transcript, Unreadable> {
        let mut transcript = Transcript::new(Dialect::OpenAiResponses);
        other_fields(object, "instructions", &mut transcript);
        if let Some(text) = input.string() {
            transcript.items.push(Item::text(Role::User, text));
        } else if input.is_array() {
            self.messages(&input.elements(), "input", &mut transcript)?;
        } else {
            let at = input.span().start;
            return Err(self.refuse(at, "input", "a text or an array of items", input.kind(), GIVE));
        }
        Ok(transcript)
    }

    fn messages(self, list: &[Value<'a>], path: &str, transcript: &mut Transcript) -> Result<(), Unreadable> {
        for (index, value) in list.iter().enumerate() {
            transcript
                .items
                .push(self.message(transcript.dialect, *value, &format!("{path}[{index}]"))?);
        }
        Ok(())
    }

    pub(super) fn message(self, dialect: Dialect, value: Value<'a>, path: &str) -> Result<Item, Unreadable> {
        let parts = parts::read(value, dialect.family()).map_err(|fault| self.faulty(fault, path))?;
        Ok(parts.item(value.text()))
    }

    fn session(self, records: &JsonlRecords<'a>) -> Result<Transcript, Unreadable> {
        let objects: Vec<Object<'a>> = records.values.iter().map(Value::object).collect();
        let mut transcript = if objects.iter().any(claude::is_record) {
            claude::read(self, &records.values, &objects)?
        } else if objects.iter().any(codex::is_record) {
            codex::read(self, &records.values, &objects)?
        } else {
            self.lines(&records.values, &objects)?
        };
        if records.is_cut_off {
            transcript.skip("a last line that was cut off");
        }
        Ok(transcript)
    }

    /// Reads one message per line.
    fn lines(self, values: &[Value<'a>], objects: &[Object<'a>]) -> Result<Transcript, Unreadable> {
        if let Some(at) = objects.iter().position(|object| object.has("messages")) {
            let advice = "give one of them in a file of its own";
            let found = "a line of many that is a request of its own";
            return Err(self.refuse(values[at].span().start, format!("[{at}]"), WHAT, found, advice));
        }
        let mut transcript = Transcript::new(of_messages(values, None));
        for (index, (value, object)) in values.iter().zip(objects).enumerate() {
            if object.has("role") || !value.is_object() {
                transcript
                    .items
                    .push(self.message(transcript.dialect, *value, &format!("[{index}]"))?);
            } else {
                transcript.skip(&kind_of(object));
            }
        }
        self.some_items(transcript, values)
    }

    /// Refuses a session file without a message.
    pub(super) fn some_items(
        self,
        transcript: Transcript,
        values: &[Value<'a>],
    ) -> Result<Transcript, Unreadable> {
        if !transcript.items.is_empty() {
            return Ok(transcript);
        }
        let at = values.first().map_or(0, |value| value.span().start);
        let found = match values {
            [one] if !one.is_object() => one.kind(),
            _ => "no message",
        };
        Err(self.refuse(at, "", WHAT, found, GIVE))
    }
}

/// The type of a record, for the count of skipped ones.
pub(super) fn kind_of(object: &Object<'_>) -> String {
    object
        .string("type")
        .unwrap_or_else(|| "a record of no type".to_owned())
}

/// Reads a request's fields besides its messages.
fn other_fields(object: &Object<'_>, system: &str, transcript: &mut Transcript) {
    transcript.model = object.string("model");
    let tools = object
        .get("tools")
        .or_else(|| object.get("functions"))
        .filter(|tools| !tools.is_null());
    transcript.tools = tools.map(|tools| tools.text().to_owned());
    let system = object
        .get(system)
        .filter(|value| value.is_string() || value.is_array());
    if let Some(value) = system {
        let blocks = match value.string() {
            Some(text) => vec![Block::Text(text)],
            None => value.elements().into_iter().map(system_block).collect(),
        };
        let raw = Some(value.text().into());
        transcript.items.push(Item {
            role: Role::System,
            blocks,
            raw,
            edited: false,
        });
    }
}

fn system_block(value: Value<'_>) -> Block {
    let object = value.object();
    match object.string("type").as_deref() {
        Some("text") => Block::Text(object.string("text").unwrap_or_default()),
        Some("image") => Block::Image(Image {
            raw: value.text().to_owned(),
        }),
        _ => Block::Other(value.text().to_owned()),
    }
}

/// OpenAI's messages or Anthropic's, by features that only one of them has. Without such features they are the same.
fn of_messages(list: &[Value<'_>], request: Option<&Object<'_>>) -> Dialect {
    // Gateways accept Anthropic's cache marks in OpenAI's messages too, so these decide only without other features.
    let (mut openai, mut anthropic, mut marks) = (0, 0, 0);
    if let Some(request) = request {
        anthropic += usize::from(request.has("system"));
        let tools = request.elements("tools");
        for tool in tools.iter().map(Value::object) {
            openai += usize::from(tool.has("function"));
            anthropic += usize::from(tool.has("input_schema"));
        }
    }
    for object in list.iter().map(Value::object) {
        let role = object.string("role");
        let of_chat = matches!(
            role.as_deref(),
            Some("system" | "developer" | "tool" | "function")
        );
        openai += usize::from(of_chat || object.has("tool_calls") || object.has("tool_call_id"));
        let content = object.elements("content");
        for block in content.iter().map(Value::object) {
            match block.string("type").as_deref() {
                Some("image_url" | "input_audio" | "file" | "refusal") => openai += 1,
                Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "document") => {
                    anthropic += 1;
                }
                Some("image") => anthropic += usize::from(block.has("source")),
                _ => marks += usize::from(block.has("cache_control")),
            }
        }
    }
    if anthropic > openai || (openai == 0 && marks > 0) {
        Dialect::Anthropic
    } else {
        Dialect::OpenAi
    }
}
