//! The prompt of a request: the four dialects as one list of turns, and the turns as tokens.
//!
//! Owns: the fake's chat template. Never: whether a request is allowed (`rules`).

use serde_json::Value;

use super::kept::Border;
use super::{Reply, ToolCall};

/// The routes with a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Chat,
    Completions,
    Embeddings,
    Messages,
    Responses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) role: Role,
    pub(super) reasoning: String,
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    /// The call that a tool's turn answers.
    pub(super) answers: String,
    /// Number of Anthropic blocks; 0 for a text without them.
    blocks: usize,
    /// Anthropic's `cache_control` is on it.
    marked: bool,
}

impl Turn {
    fn new(role: Role) -> Self {
        Self {
            role,
            reasoning: String::new(),
            text: String::new(),
            calls: Vec::new(),
            answers: String::new(),
            blocks: 0,
            marked: false,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Prompt {
    tools: String,
    tools_marked: bool,
    /// Text without a template: a completion's prompt, an embedding's input.
    plain: Option<String>,
    pub(super) turns: Vec<Turn>,
    /// Messages that form no turn, each in a sentence.
    pub(super) problems: Vec<String>,
}

// The borders of messages are tokens of their own, as in real vocabularies, so no text can imitate them.
pub(super) const USER: u32 = 256;
const SYSTEM: u32 = 257;
const ASSISTANT: u32 = 258;
const TOOL: u32 = 259;
const TOOLS: u32 = 260;
const THINK: u32 = 261;
const CALL: u32 = 262;
const END: u32 = 263;

impl Prompt {
    pub(super) fn read(dialect: Dialect, request: &Value) -> Self {
        let mut prompt = Self::default();
        match dialect {
            Dialect::Completions => prompt.plain = Some(text_of(&request["prompt"])),
            Dialect::Embeddings => prompt.plain = Some(text_of(&request["input"])),
            Dialect::Chat => {
                prompt.read_tools(&request["tools"]);
                items(&request["messages"]).for_each(|message| prompt.chat(message));
            }
            Dialect::Messages => {
                prompt.read_tools(&request["tools"]);
                prompt.read_system(&request["system"]);
                items(&request["messages"]).for_each(|message| prompt.message(message));
            }
            Dialect::Responses => {
                prompt.read_tools(&request["tools"]);
                prompt.read_system(&request["instructions"]);
                match &request["input"] {
                    Value::String(text) => prompt.at(Role::User).text.push_str(text),
                    input => items(input).for_each(|item| prompt.item(item)),
                }
            }
        }
        prompt
    }

    /// The tokens, and the end of each part that a mark can be on.
    pub(super) fn tokens(&self) -> (Vec<u32>, Vec<Border>) {
        let (mut tokens, mut borders) = (Vec::new(), Vec::new());
        if let Some(plain) = &self.plain {
            put(&mut tokens, plain);
            return (tokens, borders);
        }
        let mut border = |end, blocks, marked| borders.push(Border { end, blocks, marked });
        if !self.tools.is_empty() {
            tokens.push(TOOLS);
            put(&mut tokens, &self.tools);
            tokens.push(END);
            border(tokens.len(), 1, self.tools_marked);
        }
        let (system, said): (Vec<&Turn>, Vec<&Turn>) =
            self.turns.iter().partition(|turn| turn.role == Role::System);
        if !system.is_empty() {
            let texts: Vec<&str> = system.iter().map(|turn| turn.text.as_str()).collect();
            tokens.push(SYSTEM);
            put(&mut tokens, &texts.join("\n\n"));
            tokens.push(END);
            border(tokens.len(), 1, system.iter().any(|turn| turn.marked));
        }
        for turn in said {
            tokens.push(match turn.role {
                Role::System => SYSTEM,
                Role::User => USER,
                Role::Assistant => ASSISTANT,
                Role::Tool => TOOL,
            });
            put_content(&mut tokens, &turn.reasoning, &turn.text, &turn.calls);
            border(tokens.len(), turn.blocks.max(1), turn.marked);
        }
        // A conversation that ends with the assistant's text is continued, as llama.cpp does it.
        if self.turns.last().is_none_or(|last| last.role != Role::Assistant) {
            tokens.push(ASSISTANT);
        }
        (tokens, borders)
    }

    /// The tokens of the model's reply, in the form in which a client sends it back.
    pub(super) fn reply_tokens(&self, dialect: Dialect, reply: &Reply) -> Vec<u32> {
        let mut tokens = Vec::new();
        if self.plain.is_some() {
            put(&mut tokens, &reply.text);
            return tokens;
        }
        let mut calls = reply.calls.clone();
        if dialect == Dialect::Messages {
            for call in &mut calls {
                call.arguments = input_of(call).to_string();
            }
        }
        put_content(
            &mut tokens,
            reply.reasoning.as_deref().unwrap_or_default(),
            &reply.text,
            &calls,
        );
        tokens
    }

    /// The last turn if it is of this role, else a new one.
    fn at(&mut self, role: Role) -> &mut Turn {
        if self.turns.last().is_none_or(|last| last.role != role) {
            self.turns.push(Turn::new(role));
        }
        self.turns.last_mut().expect("one was pushed")
    }

    fn add(&mut self, role: Role) -> &mut Turn {
        self.turns.push(Turn::new(role));
        self.turns.last_mut().expect("one was pushed")
    }

    fn read_tools(&mut self, tools: &Value) {
        let mut tools = tools.clone();
        for tool in tools.as_array_mut().into_iter().flatten() {
            let mark = tool
                .as_object_mut()
                .and_then(|tool| tool.shift_remove("cache_control"));
            self.tools_marked |= mark.is_some();
        }
        if !tools.is_null() {
            self.tools = tools.to_string();
        }
    }

    fn read_system(&mut self, system: &Value) {
        if !system.is_null() {
            let turn = self.add(Role::System);
            turn.text = text_of(system);
            turn.marked = items(system).any(is_marked);
        }
    }

    fn chat(&mut self, message: &Value) {
        let Some(role) = self.role(message) else { return };
        let turn = self.add(role);
        turn.reasoning = text_of(&message["reasoning_content"]);
        turn.text = text_of(&message["content"]);
        turn.answers = text_of(&message["tool_call_id"]);
        turn.calls = items(&message["tool_calls"])
            .map(|call| {
                call_of(
                    &call["id"],
                    &call["function"]["name"],
                    &call["function"]["arguments"],
                )
            })
            .collect();
    }

    /// Adds a message of Anthropic's API.
    fn message(&mut self, message: &Value) {
        let Some(role) = self.role(message) else { return };
        if !matches!(role, Role::User | Role::Assistant) {
            self.problems
                .push(format!("the role {} is none of this API", message["role"]));
            return;
        }
        if let Value::String(text) = &message["content"] {
            self.add(role).text.clone_from(text);
            return;
        }
        let first = self.turns.len();
        for block in items(&message["content"]) {
            let results = block["type"] == "tool_result";
            let fresh = self.turns.len() == first;
            let role = if results { Role::Tool } else { role };
            let turn = if fresh || results {
                self.add(role)
            } else {
                self.at(role)
            };
            turn.blocks += 1;
            match block["type"].as_str() {
                Some("tool_result") => {
                    turn.answers = text_of(&block["tool_use_id"]);
                    turn.text = text_of(&block["content"]);
                }
                Some("tool_use") => turn
                    .calls
                    .push(call_of(&block["id"], &block["name"], &block["input"])),
                Some("thinking") => turn.reasoning.push_str(&text_of(&block["thinking"])),
                _ => turn.text.push_str(
                    &block["text"]
                        .as_str()
                        .map_or_else(|| block.to_string(), str::to_owned),
                ),
            }
            turn.marked |= is_marked(block);
        }
    }

    /// Adds an item of the Responses API. Adjacent items of the assistant are one turn.
    fn item(&mut self, item: &Value) {
        match item["type"].as_str().unwrap_or("message") {
            "message" => {
                let Some(role) = self.role(item) else { return };
                let turn = if role == Role::Assistant {
                    self.at(role)
                } else {
                    self.add(role)
                };
                turn.text.push_str(&text_of(&item["content"]));
            }
            "function_call" => {
                let call = call_of(&item["call_id"], &item["name"], &item["arguments"]);
                self.at(Role::Assistant).calls.push(call);
            }
            "function_call_output" => {
                let turn = self.add(Role::Tool);
                turn.answers = text_of(&item["call_id"]);
                turn.text = text_of(&item["output"]);
            }
            "reasoning" => self
                .at(Role::Assistant)
                .reasoning
                .push_str(&text_of(&item["summary"])),
            other => self
                .problems
                .push(format!("an item of type `{other}` is not understood")),
        }
    }

    fn role(&mut self, message: &Value) -> Option<Role> {
        match message["role"].as_str() {
            Some("system" | "developer") => Some(Role::System),
            Some("user") => Some(Role::User),
            Some("assistant") => Some(Role::Assistant),
            Some("tool") => Some(Role::Tool),
            _ => {
                self.problems
                    .push(format!("the role {} is unknown", message["role"]));
                None
            }
        }
    }
}

/// The arguments of a call in the form of Anthropic's API.
pub(super) fn input_of(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::String(call.arguments.clone()))
}

fn put(tokens: &mut Vec<u32>, text: &str) {
    tokens.extend(text.bytes().map(u32::from));
}

/// The content of a turn, from after its role to its end.
fn put_content(tokens: &mut Vec<u32>, reasoning: &str, text: &str, calls: &[ToolCall]) {
    if !reasoning.is_empty() {
        tokens.push(THINK);
        put(tokens, reasoning);
        tokens.push(THINK);
    }
    put(tokens, text);
    for call in calls {
        tokens.push(CALL);
        put(tokens, &call.name);
        put(tokens, "\n");
        put(tokens, &call.arguments);
    }
    tokens.push(END);
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn is_marked(block: &Value) -> bool {
    !block["cache_control"].is_null()
}

fn call_of(id: &Value, name: &Value, arguments: &Value) -> ToolCall {
    ToolCall {
        id: text_of(id),
        name: text_of(name),
        arguments: text_of(arguments),
    }
}

/// A string, or the text of parts; anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .map(|part| part["text"].as_str().map_or_else(|| text_of(part), str::to_owned))
            .collect(),
        other => other.to_string(),
    }
}
