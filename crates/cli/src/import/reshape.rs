//! Formats whose text the keys of the table cannot reach: each is converted to the structure of the row `plain`.
//!
//! Owns: special cases of single programs. Never: paths of a plain structure, roles, times, or the shown branch (`talk` knows
//! them).

mod memories;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use regex::Regex;
use serde_json::{Map, Value, json};
use transcript::spoken;

use super::table::{FormatRow, first, items, word};
use super::{ImportFile, shape};

/// The value in the structure that its row reads.
pub(super) fn plain<'a>(row: &FormatRow, value: &'a Value, source: &ImportFile) -> Cow<'a, Value> {
    let conversations = match row.name {
        "gemini-takeout" => vec![takeout(row, value)],
        "gemini-workspace" => vec![workspace(value, source)],
        "gemini-cli" => vec![gemini_cli(value)],
        "gemini-checkpoint" => vec![checkpoint(row, value, source)],
        "lmstudio" => vec![lm_studio(value, source)],
        "cherry-studio" => cherry_studio(value),
        "sillytavern" => vec![silly_tavern(value, source)],
        "cline" => vec![cline(value, source)],
        "letta" => memories::letta(value),
        "claude-mem" => memories::claude_mem(value),
        "whatsapp" => vec![value["whatsapp"].clone()],
        "jan" => {
            let title = &source.beside("thread.json")["title"];
            return Cow::Owned(json!({"title": title, "messages": value}));
        }
        _ => return Cow::Borrowed(value),
    };
    Cow::Owned(json!({"conversations": conversations}))
}

/// Each row is a question with its answer; the newest row comes first.
fn takeout(row: &FormatRow, value: &Value) -> Value {
    let mut messages = Vec::new();
    let mut last = Value::Null;
    let mut ids = HashMap::new();
    // The newest row usually comes first, but not always.
    let mut rows: Vec<&Value> = first(value, "*").into_iter().rev().collect();
    rows.sort_by_key(|row| shape::moment(&row["time"], &model::Zone::utc()).time());
    let is_gemini = |row: &&Value| {
        let mut names = first(row, "header+products.*").into_iter();
        names.any(|name| ["Gemini", "Bard"].iter().any(|own| has(name, own)))
    };
    for activity in rows.into_iter().filter(is_gemini) {
        let title = activity["title"].as_str().unwrap_or_default();
        let after = |label| {
            title
                .strip_prefix(label)
                .filter(|rest| rest.starts_with(char::is_whitespace))
        };
        let asked = row.key("labels").split('|').filter_map(after);
        let asked = asked.min_by_key(|rest| rest.len());
        let answers = first(activity, "safeHtmlItem.*.html");
        let is_talk = asked.is_some() || !answers.is_empty();
        let time = &activity["time"];
        let count = ids.entry(time.to_string()).or_insert(0);
        *count += 1;
        let id = format!("{}~{count}", time.as_str().unwrap_or("row"));
        let files = named(first(activity, "attachedFiles.*+imageFile"));
        let mut text = Cow::Borrowed(asked.unwrap_or(title).trim());
        if !files.is_empty() || !first(activity, "subtitles.*").is_empty() {
            text = COUNT.replace(asked.unwrap_or(title).trim(), "");
        }
        messages.push(json!({
            "id": id, "parent": last, "role": if is_talk { "user" } else { "activity" }, "time": time,
            "text": text, "files": files,
        }));
        last = Value::from(id.clone());
        for (at, html) in answers.into_iter().enumerate() {
            let answer = format!("{id}-{at}");
            messages.push(
                json!({"id": answer, "parent": id, "role": "model", "time": time, "text": of_html(html)}),
            );
            if at == 0 {
                last = Value::from(answer);
            }
        }
    }
    json!({"id": "gemini-apps", "leaf": last, "messages": messages})
}

/// Files by their names.
fn named(names: Vec<&Value>) -> Vec<Value> {
    names.into_iter().map(|name| json!({"name": name})).collect()
}

/// The number of attached files, which the service writes after a question.
static COUNT: LazyLock<Regex> = LazyLock::new(|| {
    let count = r"\s*Attached [0-9]+ files?\.$";
    Regex::new(count).expect("it is this program's own")
});

/// The text of an HTML page as Markdown.
fn of_html(html: &Value) -> String {
    let html = html.as_str().unwrap_or_default();
    let page = format!("<html><body>{html}</body></html>");
    let read = documents::read(page.as_bytes(), "answer.html", "text/html");
    read.map_or_else(|_| html.to_owned(), |read| read.markdown)
}

/// A position that occurs twice in the order belongs to an edited turn.
fn workspace(value: &Value, source: &ImportFile) -> Value {
    let stem = source.stem();
    let mut messages = Vec::new();
    let mut places: BTreeMap<i64, String> = BTreeMap::new();
    for turn in first(value, "conversation_turns.*") {
        let Some((kind, said)) = items(turn).into_iter().next() else {
            continue;
        };
        let place = said["turn_index"].as_i64().unwrap_or_default();
        let before = places.range(..place).next_back().map(|(_, id)| id.clone());
        let id = format!(
            "turn-{place}-{}",
            word(said, "turn_last_modified").unwrap_or_default()
        );
        places.insert(place, id.clone());
        let role = match kind {
            _ if !said["turn_deleted_time"].is_null() => "deleted",
            Some("user_turn") => "user",
            _ => "model",
        };
        let mut text = first(said, "prompt");
        let pieces = first(said, "text.*").into_iter();
        text.extend(pieces.flat_map(|piece| first(piece, "preamble+data+cards.*.content")));
        let files = named(first(said, "images.*"));
        messages.push(json!({
            "id": id, "parent": before, "role": role, "time": said["turn_last_modified"], "text": text, "files": files,
        }));
    }
    let leaf = places.into_values().next_back();
    json!({
        "id": stem.strip_prefix("conversation_").unwrap_or(&stem), "title": value["title"], "started": value["creation_time"],
        "leaf": leaf, "messages": messages,
    })
}

/// Records that add, change and remove messages, or one object with all messages.
fn gemini_cli(value: &Value) -> Value {
    let mut session = Map::new();
    let mut messages: Vec<Value> = Vec::new();
    for record in first(value, if value.is_array() { "*" } else { "." }) {
        let set = record["$set"].as_object();
        if let Some(from) = record.get("$rewindTo") {
            let place = messages.iter().position(|message| message["id"] == *from);
            messages.truncate(place.unwrap_or_default());
        } else if set.is_some() || record.get("sessionId").is_some() {
            session.extend(set.or(record.as_object()).cloned().unwrap_or_default());
            if let Some(Value::Array(all)) = session.remove("messages") {
                messages = all;
            }
        } else if let Some(known) = messages.iter_mut().find(|message| message["id"] == record["id"]) {
            *known = record.clone();
        } else {
            messages.push(record.clone());
        }
    }
    let messages = messages.iter().map(|message| {
        let text = first(message, "displayContent|content");
        json!({"id": message["id"], "role": message["type"], "time": message["timestamp"], "text": text})
    });
    json!({
        "id": session.get("sessionId"), "title": session.get("summary"), "started": session.get("startTime"),
        "aside": if session.get("kind") == Some(&json!("subagent")) { "a sub-agent" } else { "" },
        "messages": messages.collect::<Vec<_>>(),
    })
}

/// The program begins each session with its own text and the model's answer to that text.
fn checkpoint(row: &FormatRow, value: &Value, source: &ImportFile) -> Value {
    let said = first(value, "history.*|*");
    let begins = said.first().and_then(|said| word(said, "parts.*.text"));
    let begins = begins.unwrap_or_default();
    let is_set_up = row.key("setup").split('|').any(|start| begins.starts_with(start));
    let is_pair = is_set_up && said.get(1).is_some_and(|said| said["role"] == "model");
    let own = usize::from(is_set_up) + usize::from(is_pair);
    let messages = said.into_iter().enumerate().skip(own);
    let messages = messages.map(
        |(at, said)| json!({"id": format!("message-{at}"), "role": said["role"], "text": said["parts"]}),
    );
    let stem = source.stem();
    let tag = stem.strip_prefix("checkpoint-");
    let tag = tag.map(|tag| percent_decode_str(tag).decode_utf8_lossy());
    json!({"id": stem, "title": tag, "messages": messages.collect::<Vec<_>>()})
}

fn has(text: &Value, word: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(word))
}

/// Each message has versions, one of them selected. The text of an answer is in the blocks that are not reasoning.
fn lm_studio(value: &Value, source: &ImportFile) -> Value {
    let mut messages = Vec::new();
    let mut last = Value::Null;
    for (at, message) in first(value, "messages.*").into_iter().enumerate() {
        let parent = last.clone();
        for (version, said) in first(message, "versions.*").into_iter().enumerate() {
            let id = Value::from(format!("message-{at}-{version}"));
            if message["currentlySelected"] == version {
                last = id.clone();
            }
            let is_word = |step: &&Value| {
                step["type"] == "contentBlock"
                    && !has(&step["prefix"], "analysis")
                    && step["style"]["type"] != "thinking"
                    && step["roleOverride"] != "tool"
            };
            let steps = first(said, "steps.*").into_iter().filter(is_word);
            let mut text = first(said, "content");
            text.extend(steps.map(|step| &step["content"]));
            let mut files = first(said, "content.*");
            files.retain(|part| part["type"] == "file");
            messages.push(json!({
                "id": id, "parent": parent, "role": said["role"], "name": said["senderInfo"]["senderName"], "text": text,
                "files": files,
            }));
        }
    }
    json!({"id": source.stem(), "title": value["name"], "started": value["createdAt"], "leaf": last, "messages": messages})
}

/// The text is in separate blocks; several models may answer one question.
fn cherry_studio(value: &Value) -> Vec<Value> {
    let blocks = first(value, "indexedDB.message_blocks.*").into_iter();
    let blocks: HashMap<&str, &Value> = blocks
        .filter_map(|block| Some((block["id"].as_str()?, block)))
        .collect();
    // A JSON string inside a JSON string.
    let inner =
        |value: &Value| serde_json::from_str::<Value>(value.as_str().unwrap_or_default()).unwrap_or_default();
    let stored = inner(&value["localStorage"]["persist:cherry-studio"]);
    let assistants = inner(&stored["assistants"]);
    let topics = first(&assistants, "assistants.*.topics.*");
    let conversation = |topic: &Value| {
        let mut last = Value::Null;
        let ids = first(topic, "messages.*.id");
        let ids: Vec<&str> = ids.into_iter().filter_map(Value::as_str).collect();
        let mut shown: HashMap<String, bool> = HashMap::new();
        let messages: Vec<Value> = first(topic, "messages.*").into_iter().map(|said| {
            let own = first(said, "blocks.*").into_iter().filter_map(|id| blocks.get(id.as_str()?).copied());
            let own: Vec<&Value> = own.collect();
            let files = own.iter().filter_map(|block| Some(json!({"name": block["file"].get("origin_name")?})));
            let name = word(said, "model.name|modelId").filter(|_| said["role"] == "assistant");
            let mut parent = last.clone();
            let asked = said["askId"].as_str().filter(|asked| ids.contains(asked));
            if let Some(asked) = asked {
                parent = Value::from(asked);
            }
            let is_shown = shown.entry(asked.unwrap_or_default().to_owned()).or_default();
            if asked.is_none() || said["foldSelected"] == true || !*is_shown {
                *is_shown = true;
                last = said["id"].clone();
            }
            json!({
                "id": said["id"], "parent": parent, "role": if said["type"] == "clear" { &Value::Null } else { &said["role"] },
                "name": name, "time": said["createdAt"], "files": files.collect::<Vec<_>>(), "text": own,
            })
        }).collect();
        let title = topics.iter().find(|named| named["id"] == topic["id"]);
        let title = title.map(|named| &named["name"]);
        json!({"id": topic["id"], "title": title, "leaf": last, "messages": messages})
    };
    let topics = first(value, "indexedDB.topics.*");
    topics.into_iter().map(conversation).collect()
}

/// Role play: a person's messages become quotations.
fn silly_tavern(value: &Value, source: &ImportFile) -> Value {
    let lines = first(value, "*");
    let Some((head, said)) = lines.split_first() else {
        return Value::Null;
    };
    let mut messages = Vec::new();
    let mut last = Value::Null;
    for (at, said) in said.iter().enumerate() {
        let is_programs = said["is_system"] == true && !said["extra"]["type"].is_null();
        let role = match said["is_user"] == true {
            _ if is_programs => "program",
            true => "user",
            false => "model",
        };
        let id = format!("message-{at}");
        let mut message = json!({
            "id": id, "parent": last, "role": role, "name": said["name"], "time": stamp(&said["send_date"]), "text": said["mes"],
            "quoted": if role == "user" { "role play" } else { "" },
        });
        for (swipe, text) in first(said, "swipes.*").into_iter().enumerate() {
            if said["swipe_id"] != swipe {
                message["id"] = Value::from(format!("{id}-{swipe}"));
                message["text"] = text.clone();
                messages.push(message.clone());
            }
        }
        message["id"] = Value::from(id.clone());
        message["text"] = said["mes"].clone();
        messages.push(message);
        last = Value::from(id);
    }
    let of_model = said.iter().find(|said| said["is_user"] == false);
    let title = Some(&head["character_name"]).filter(|name| *name != "unused");
    let title = title.or(of_model.map(|said| &said["name"]));
    json!({"id": source.stem(), "title": title, "leaf": last, "messages": messages})
}

/// `March 10, 2026 8:15am` and `2026-3-10@08h15m00s` as ISO 8601; any other text as it is.
fn stamp(value: &Value) -> Value {
    let Some(text) = value.as_str() else {
        return value.clone();
    };
    let digits = text.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<i64> = digits.filter_map(|digits| digits.parse().ok()).collect();
    let mut months = model::MONTHS.iter().zip(1..);
    let month = months.find(|(name, _)| text.starts_with(*name));
    let is_stamp = text.contains('@') && text.contains('h');
    let parts = match (month, numbers.as_slice()) {
        (Some((_, month)), [day, year, hour, minute]) => {
            let half = i64::from(text.ends_with("pm"));
            [*year, month, *day, hour % 12 + 12 * half, *minute, 0]
        }
        (None, [year, month, day, hour, minute, second, ..]) if is_stamp => {
            [*year, *month, *day, *hour, *minute, *second]
        }
        _ => return value.clone(),
    };
    let [year, month, day, hour, minute, second] = parts;
    Value::from(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
    ))
}

/// The program wraps a person's text in elements; its last answer may be a tool call.
fn cline(value: &Value, source: &ImportFile) -> Value {
    let messages = first(value, "*").into_iter().enumerate().map(|(at, said)| {
        let is_programs = said["isSummary"] == true || said["isTruncationMarker"] == true;
        let role = said["role"].as_str().filter(|_| !is_programs);
        let parts = first(said, "content.*|content").into_iter();
        let mut text = parts.flat_map(cline_texts).collect::<Vec<_>>().join("\n");
        if role == Some("user") {
            // `spoken` recognises Cline's text by this element.
            text.push_str("\n<environment_details></environment_details>");
            text = spoken::own_text(&text).into_owned();
        }
        let id = format!("message-{at}");
        json!({"id": id, "role": role.unwrap_or("program"), "time": said["ts"], "text": text})
    });
    let task = source.folder();
    let started = task.bytes().all(|byte| byte.is_ascii_digit()).then_some(&task);
    json!({"id": task, "started": started, "messages": messages.collect::<Vec<_>>()})
}

/// The texts of a part. A person's answer to a call is at the end of the call's result.
fn cline_texts(part: &Value) -> Vec<&str> {
    let paths = match (part["type"].as_str(), part["name"].as_str()) {
        (Some("tool_use"), Some("attempt_completion" | "plan_mode_respond")) => "input.result|input.response",
        (Some("tool_result"), _) => "content.*.text|content",
        (Some("text"), _) => "text",
        (None, _) => ".",
        _ => "",
    };
    let texts = first(part, paths).into_iter().filter_map(Value::as_str);
    // A file that a tool read can also end like this, but has more lines before.
    let is_feedback = |text: &str| {
        let ends = ["feedback", "user_message", "user_input", "answer"];
        ends.iter().any(|name| {
            let mut lines = text.lines().take(3);
            let begins = lines.any(|line| line.starts_with(&format!("<{name}")));
            begins && text.trim_end().ends_with(&format!("</{name}>"))
        })
    };
    let is_said = |text: &&str| part["type"] != "tool_result" || is_feedback(text);
    texts.filter(is_said).collect()
}
