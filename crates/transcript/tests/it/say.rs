//! Transcripts in a short notation: `A a b` is an item of the assistant with calls of the ids `a` and `b`, `T a` a
//! tool's result, `U hi` the user's text, `U +a hi` the same after a result, `S` the system's, `R` reasoning as an item
//! of its own, `C a` a call as an item of its own, `!a` a call in an item of another role, `.` an empty id. `~` before
//! an id makes its result a placeholder.
use std::sync::Arc;

use transcript::{Block, Call, Item, Outcome, Role, Thinking};

pub(crate) fn call(id: &str) -> Block {
    let id = if id == "." { "" } else { id };
    Block::Call(Call {
        id: id.to_owned(),
        name: "run".to_owned(),
        arguments: "{}".to_owned(),
    })
}

fn outcome(word: &str) -> Block {
    if let Some(id) = word.strip_prefix('!') {
        return call(id);
    }
    let (id, text) = match word.strip_prefix('~') {
        Some(id) => (id, "[executing...]".to_owned()),
        None => (word, format!("of {word}")),
    };
    Block::Outcome(Outcome {
        call_id: id.to_owned(),
        text,
        failed: false,
        images: 0,
    })
}

fn thinking() -> Block {
    Block::Thinking(Thinking {
        text: "hm".to_owned(),
        raw: r#"{"type":"reasoning"}"#.to_owned(),
    })
}

pub(crate) fn item(text: &str) -> Item {
    let mut words = text.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let mut raw = None;
    let (role, blocks) = match kind {
        "S" => (Role::System, vec![Block::Text(words.join(" "))]),
        "T" => (Role::Tool, words.iter().map(|word| outcome(word)).collect()),
        "U" => (Role::User, words.iter().map(|word| user(word)).collect()),
        "R" => (Role::Assistant, vec![thinking()]),
        "C" => {
            raw = Some(format!(r#"{{"type":"function_call","call_id":"{}"}}"#, words[0]).into());
            (Role::Assistant, vec![call(words[0])])
        }
        _ => (
            Role::Assistant,
            words.iter().map(|word| assistant(word)).collect(),
        ),
    };
    Item {
        role,
        blocks,
        raw,
        edited: false,
    }
}

fn user(word: &str) -> Block {
    if word.starts_with('!') {
        return outcome(word);
    }
    word.strip_prefix('+')
        .map_or_else(|| Block::Text(word.to_owned()), outcome)
}

fn assistant(word: &str) -> Block {
    match word.strip_prefix('"') {
        Some(text) => Block::Text(text.to_owned()),
        None if word == "?" => thinking(),
        None => call(word),
    }
}

pub(crate) fn items(text: &str) -> Vec<Arc<Item>> {
    text.split('|').map(|text| Arc::new(item(text.trim()))).collect()
}

/// The notation of these items.
pub(crate) fn said<I: std::borrow::Borrow<Item>>(items: &[I]) -> String {
    items
        .iter()
        .map(|item| said_of(item.borrow()))
        .collect::<Vec<_>>()
        .join(" | ")
}

fn said_of(item: &Item) -> String {
    let alone = item.raw.is_some() && item.calls().next().is_some();
    let kind = match item.role {
        Role::System => "S",
        Role::User => "U",
        Role::Tool => "T",
        Role::Assistant if alone => "C",
        Role::Assistant if item.blocks.len() == 1 && item.thinks() => "R",
        Role::Assistant => "A",
    };
    let mut words = vec![kind.to_owned()];
    for block in item.blocks.iter().filter(|_| kind != "R") {
        words.push(match block {
            Block::Text(text) if item.role == Role::Assistant => format!("\"{text}"),
            Block::Text(text) => text.clone(),
            Block::Call(call) if call.id.is_empty() => ".".to_owned(),
            Block::Call(call) => call.id.clone(),
            Block::Thinking(_) => "?".to_owned(),
            Block::Outcome(outcome) => {
                let plus = if item.role == Role::User { "+" } else { "" };
                let real = outcome.text.starts_with("of ");
                let mark = if real { "" } else { "~" };
                format!("{plus}{mark}{}", outcome.call_id)
            }
            Block::Image(_) | Block::Other(_) => "#".to_owned(),
        });
    }
    words.join(" ")
}

/// The items without their original JSON, reasoning, pictures and other content, each turn of the assistant as one.
pub(crate) fn made_anew(items: &[Item]) -> Vec<Item> {
    let is_said = |block: &&Block| !matches!(block, Block::Thinking(_) | Block::Other(_) | Block::Image(_));
    let mut made: Vec<Item> = Vec::new();
    for item in items {
        let blocks: Vec<Block> = item.blocks.iter().filter(is_said).cloned().collect();
        match made.last_mut() {
            Some(last) if item.role == Role::Assistant && last.role == Role::Assistant => {
                last.blocks.extend(blocks);
            }
            _ => made.push(Item::made(item.role, blocks)),
        }
    }
    made.retain(|item| !item.blocks.is_empty());
    made
}
