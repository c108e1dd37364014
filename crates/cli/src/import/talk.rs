//! One conversation of any format of the table: its messages as a tree, the branch that its program shows, their texts.
//!
//! Owns: tree to path, typed parts to text, names of roles, memories as quotations. Never: detecting a format.

mod tree;

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use model::text::Fnv;
use model::{Role, STORED_BY_A_MODEL, Timestamp, attachment};
use regex::Regex;
use serde_json::Value;
use transcript::spoken;

use super::shape::{self, ImportedMessage, ReadTime};
use super::table::{self, FormatRow, first, word};
use super::{Defaults, ImportItem, ImportedConversation, Reading, Skipped, message};
use crate::error::Failure;

/// Kinds of parts that are speech; the other kinds are reasoning, tools and marks.
const SPEECH: &str = "text output_text input_text message plain main_text";

/// One entry of a conversation, with or without a message.
struct TalkEntry {
    id: String,
    parent: Option<String>,
    time: Option<Timestamp>,
    said: Option<ImportedMessage>,
}

/// The part of a conversation read so far.
struct ImportedTalk<'a> {
    row: &'static FormatRow,
    defaults: &'a Defaults,
    /// The conversation's user, in a file of several people.
    owner: Option<String>,
    nodes: Vec<TalkEntry>,
    /// At most one speaker has the user's name.
    is_name_unique: bool,
    /// The time of a message has no zone.
    has_local: bool,
    skipped: Vec<Skipped>,
    notes: BTreeMap<String, usize>,
}

/// Hands over the conversations and memories of a value; the inner error is the reason why it has none.
pub(super) fn read(
    row: &'static FormatRow,
    value: &Value,
    reading: &mut Reading<'_>,
) -> Result<Result<(), String>, Failure> {
    let whole = vec![value];
    let found = match row.key("each") {
        "" | "*" => whole,
        each => first(value, each),
    };
    let (defaults, mut outcome) = (&reading.defaults, Ok(()));
    for found in found {
        let mut talk = ImportedTalk {
            row,
            defaults,
            owner: word(found, row.key("owner")).filter(|_| defaults.is_shared),
            nodes: Vec::new(),
            is_name_unique: true,
            has_local: false,
            skipped: Vec::new(),
            notes: BTreeMap::new(),
        };
        let memories = talk.all_memories(found);
        let conversations = talk.conversations(found).unwrap_or_else(|why| {
            outcome = Err(why);
            Vec::new()
        });
        for (why, count) in talk.notes {
            (reading.sink)(ImportItem::Noted(why, count))?;
        }
        let skipped = talk.skipped.into_iter().map(ImportItem::Skipped);
        let conversations = conversations.into_iter().chain(memories);
        let conversations = conversations.map(ImportItem::Conversation);
        skipped.chain(conversations).try_for_each(&mut *reading.sink)?;
    }
    Ok(outcome)
}

impl ImportedTalk<'_> {
    fn note(&mut self, why: &str, count: usize) {
        if count > 0 {
            *self.notes.entry(why.to_owned()).or_default() += count;
        }
    }

    fn conversations(&mut self, found: &Value) -> Result<Vec<ImportedConversation>, String> {
        if !self.row.has("list") {
            return Ok(Vec::new());
        }
        if self.row.any("aside", found) {
            self.note("conversations of sub-agents and services, left out", 1);
            return Ok(Vec::new());
        }
        let lists = first(found, self.row.key("list"));
        let is_held = |path: &str| {
            let held = first(found, path.split('.').next().unwrap_or(path));
            path == "." || held.iter().any(|list| list.is_array() || list.is_object())
        };
        if !self.row.key("list").split('|').any(is_held) {
            let mut memories = self.row.all("memories").flat_map(str::split_whitespace);
            if memories.any(is_held) {
                return Ok(Vec::new()); // a file of memories only, possibly empty
            }
            let lists = self.row.key("list").replace('|', "` or `");
            return Err(format!("it has no `{lists}`"));
        }
        let others = self.owner.iter().filter(|owner| self.is_anothers(owner)).count();
        self.note("conversations of other people, kept under their names", others);
        let name = self.defaults.name.clone();
        let id = word(found, self.row.key("id")).unwrap_or(name);
        self.is_name_unique = self.namesakes(&lists) < 2;
        self.entries(&lists, None);
        self.order();
        let leaf = word(found, self.row.key("leaf"));
        let path = self.path(leaf.as_deref());
        let started = self.moment(found, "started").time();
        let title = first(found, self.row.key("title"));
        let title = title.into_iter().find_map(shape::title);
        let others = self.branches(&path);
        let mut conversations = vec![self.conversation(&id, title.clone(), &path, started)];
        for places in others {
            let messages = || places.iter().filter_map(|at| self.nodes[*at].said.as_ref());
            let count = messages().count();
            if messages().any(|said| said.role == Role::User) {
                self.quote(&places);
                let id = format!("{id}~{}", self.nodes[places[0]].id);
                conversations.push(self.conversation(&id, title.clone(), &places, started));
                self.note("messages of other branches, kept in sessions of their own", count);
            } else {
                self.note("answers of other branches, left out", count);
            }
        }
        Ok(conversations)
    }

    /// The number of people in a chat with the user's name.
    fn namesakes(&self, lists: &[&Value]) -> usize {
        let entries = lists.iter().flat_map(|list| table::items(list));
        let is_users = |value: &&Value| {
            let name = word(value, self.row.key("name"));
            name.is_some_and(|name| shape::speaker(&name) == self.defaults.user)
        };
        let people = entries.map(|(_, value)| value).filter(is_users);
        let people: HashSet<_> = people
            .filter_map(|value| word(value, self.row.key("people")))
            .collect();
        people.len()
    }

    /// Quotes the user messages of a branch that the person replaced.
    fn quote(&mut self, places: &[usize]) {
        for at in places {
            let said = self.nodes[*at].said.as_mut();
            if let Some(said) = said.filter(|said| said.role == Role::User) {
                said.content = attachment("document", "another branch", &said.content);
            }
        }
    }

    fn conversation(
        &mut self,
        id: &str,
        title: Option<String>,
        path: &[usize],
        started: Option<Timestamp>,
    ) -> ImportedConversation {
        // In a tree, the branch gives the order, because clocks differ.
        let is_tree = self.nodes.iter().any(|node| node.parent.is_some());
        let mut last = None;
        let mut messages = Vec::new();
        let mut undated = 0;
        let mut is_dated = true;
        for at in path {
            let node = &mut self.nodes[*at];
            last = if is_tree {
                last.max(node.time)
            } else {
                node.time.or(last)
            };
            let Some(said) = node.said.take() else { continue };
            is_dated &= node.time.is_some();
            undated += usize::from(last.or(started).is_none());
            let time = last.or(started).unwrap_or(self.defaults.now);
            messages.extend(message(ImportedMessage { time, ..said }));
        }
        self.note("messages without a time, dated by the import", undated);
        ImportedConversation {
            session: self.defaults.session(id),
            title,
            messages,
            is_log: is_dated && self.row.has("log"),
        }
    }

    /// Reads the entries of some lists, and the entries below them.
    fn entries(&mut self, lists: &[&Value], parent: Option<&str>) {
        for list in lists {
            let is_entry = self.row.has("key") && list.get(self.row.key("key")).is_some();
            let items = if is_entry {
                vec![(None, *list)]
            } else {
                table::items(list)
            };
            for (key, value) in items {
                let mut node = self.node(key, value);
                node.parent = node.parent.or_else(|| parent.map(str::to_owned));
                let id = node.id.clone();
                self.nodes.push(node);
                self.entries(&first(value, self.row.key("kids")), Some(&id));
            }
        }
    }

    fn moment(&self, value: &Value, key: &str) -> ReadTime {
        let time = first(value, self.row.key(key));
        time.first()
            .map_or(ReadTime::Missing, |time| shape::moment(time, &self.defaults.zone))
    }

    fn node(&mut self, key: Option<&str>, value: &Value) -> TalkEntry {
        let row = self.row;
        let own = word(value, if row.has("key") { row.key("key") } else { "id" });
        let id = own.or_else(|| key.map(str::to_owned));
        let id = id.unwrap_or_else(|| format!("message-{}", self.nodes.len()));
        let time = self.moment(value, "time");
        let parent = word(value, row.key("parent"));
        let mut node = TalkEntry {
            parent,
            time: time.time(),
            said: None,
            id,
        };
        let Some(role) = self.role(value) else {
            // An entry without a role is the root of a tree.
            let is_said = word(value, row.key("role")).is_some();
            self.note("entries of programs, left out", usize::from(is_said));
            return node;
        };
        let mut content = self.content(value);
        if row.has("details") && role == Role::Assistant {
            content = FOLDED.replace_all(content.trim(), "").into_owned();
        }
        if row.has("spoken") && role == Role::User {
            content = spoken::own_text(&content).into_owned();
        }
        if content.is_empty() {
            self.note("messages without words, left out", 1);
            return node;
        }
        if let Some(why) = time.problem() {
            let what = format!("message {}", node.id);
            self.skipped.push(Skipped { what, why });
            return node;
        }
        if matches!(time, ReadTime::Local(_)) {
            let why = format!("times without a zone, read in {}", self.defaults.zone.name());
            self.note(&why, 1);
            self.has_local = true;
        }
        node.said = Some(self.said(value, role, &node.id, content));
        node
    }

    fn said(&self, value: &Value, role: Role, id: &str, content: String) -> ImportedMessage {
        let (row, defaults) = (self.row, self.defaults);
        let name = word(value, row.key("name"));
        // The name of a role is not a person's name.
        let name =
            name.filter(|name| !["user", "human", "assistant"].contains(&name.to_lowercase().as_str()));
        let by = row.all("by").next().map(shape::fixed);
        let person = word(value, row.key("people")).or_else(|| self.owner.clone());
        let sender = match (role, person, &name) {
            (Role::User, Some(person), _) => {
                let is_users = |name: &String| shape::speaker(name) == defaults.user;
                let is_named = self.is_name_unique && name.as_ref().is_some_and(is_users);
                if is_named || is_users(&person) {
                    defaults.user.clone()
                } else {
                    shape::speaker(&person)
                }
            }
            (Role::Assistant, _, Some(name)) => shape::speaker(name),
            (Role::Assistant, _, None) => by.unwrap_or_else(|| defaults.sender(role)),
            _ => defaults.sender(role),
        };
        ImportedMessage {
            sender_name: name,
            ..ImportedMessage::new(id.to_owned(), role, sender, defaults.now, content)
        }
    }

    /// The role of a person or a model; `None` for a program.
    fn role(&self, value: &Value) -> Option<Role> {
        let row = self.row;
        if row.any("skip", value) {
            return None;
        }
        let words = first(value, row.key("role"));
        let words: Vec<String> = words.into_iter().filter_map(table::string).collect();
        let has = |key, usual| words.iter().any(|word| row.word(key, usual, word));
        match row.key("else") {
            _ if has("user", "user human") => Some(Role::User),
            _ if has("model", "assistant model") => Some(Role::Assistant),
            "model" if !words.is_empty() => Some(Role::Assistant),
            _ => None,
        }
    }

    /// The text, then pasted texts as quotations, and names of files; another person's text is a quotation.
    fn content(&self, value: &Value) -> String {
        let row = self.row;
        let mut texts = row
            .key("text")
            .split('|')
            .map(|path| self.words(&first(value, path)));
        let content = texts.find(|text| !text.trim().is_empty()).unwrap_or_default();
        let mut content = content.trim().to_owned();
        let whose = word(value, row.key("forwarded")).map(|whose| format!("forwarded from {whose}"));
        let whose = whose.or_else(|| word(value, row.key("quoted")));
        if let Some(whose) = whose.filter(|_| !content.is_empty()) {
            content = attachment("document", &whose, &content);
        }
        for pasted in first(value, row.key("pasted")) {
            if let Some(text) = word(pasted, "extracted_content") {
                let name = word(pasted, "file_name").unwrap_or_default();
                content.extend(["\n\n", &attachment("document", &name, &text)]);
            }
        }
        if content.is_empty() {
            return content;
        }
        let files = first(value, row.key("files")).into_iter();
        for name in files.filter_map(table::string) {
            content.extend(["\n[file: ", &name, "]"]);
        }
        content
    }

    fn words(&self, values: &[&Value]) -> String {
        let glue = if self.row.has("glue") { "" } else { "\n" };
        let texts = values.iter().map(|value| match value {
            Value::String(text) if self.row.has("unwrap") => match serde_json::from_str::<Vec<Value>>(text) {
                Ok(parts) if parts.iter().all(|part| part["type"].is_string()) => {
                    self.words(&parts.iter().collect::<Vec<_>>())
                }
                _ => text.clone(),
            },
            Value::String(text) => text.clone(),
            Value::Array(parts) => self.words(&parts.iter().collect::<Vec<_>>()),
            Value::Object(_) => {
                let kind = value["type"].as_str().or_else(|| value["content_type"].as_str());
                let is_silent = ["thought", "synthetic", "ignored"]
                    .map(|mark| value[mark] == true)
                    .contains(&true);
                match kind {
                    _ if is_silent => String::new(),
                    Some(kind) if kind.contains("image") => "[image]".to_owned(),
                    Some(kind) if !self.row.word("speech", SPEECH, kind) => String::new(),
                    _ => self.words(&first(value, "text|content|value")),
                }
            }
            _ => String::new(),
        });
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        texts.join(glue)
    }

    /// Memories, each as a quotation with the day until which it holds, because the person wrote none of it. Each person's
    /// memories are one session.
    fn all_memories(&mut self, found: &Value) -> Vec<ImportedConversation> {
        let row = self.row;
        let lists = row.all("memories").flat_map(str::split_whitespace);
        let mut all: BTreeMap<Option<String>, Vec<&Value>> = BTreeMap::new();
        for memory in lists.flat_map(|path| first(found, path)) {
            let owner = word(memory, row.key("owner"));
            all.entry(owner).or_default().push(memory);
        }
        let is_shared = all.len() > 1 || self.defaults.is_shared;
        let mut sessions = Vec::new();
        for (owner, memories) in all {
            self.owner = owner.filter(|_| is_shared);
            for memory in memories {
                self.memory(memory);
            }
            let whose = self.owner.as_ref().filter(|owner| self.is_anothers(owner));
            let whose = whose.map_or_else(String::new, |owner| format!("~{owner}"));
            self.note("memories kept as quotations", self.nodes.len());
            self.nodes.sort_by_key(|node| node.time);
            let places: Vec<usize> = (0..self.nodes.len()).collect();
            if !places.is_empty() {
                let id = format!("{}-memories{whose}", self.store());
                sessions.push(self.conversation(&id, None, &places, None));
            }
            self.nodes.clear();
        }
        self.owner = word(found, row.key("owner")).filter(|_| self.defaults.is_shared);
        sessions
    }

    fn is_anothers(&self, owner: &str) -> bool {
        shape::speaker(owner) != self.defaults.user
    }

    /// The name of the program that stored the memories.
    fn store(&self) -> &'static str {
        let name = self.row.name.trim_end_matches("-memories");
        self.row.all("store").next().unwrap_or(name)
    }

    fn memory(&mut self, memory: &Value) {
        let (row, zone) = (self.row, &self.defaults.zone);
        let text = self.words(&first(memory, row.key("mtext")));
        if row.any("drop", memory) || text.trim().is_empty() {
            return self.note("memories that were deleted or have no statement, left out", 1);
        }
        let moment = |key| self.moment(memory, key);
        let (said_at, from, until) = (moment("mtime"), moment("from"), moment("until"));
        let day = |moment: &ReadTime| moment.time().map(|time| zone.date(time));
        let is_over = until.time().is_some_and(|until| until <= self.defaults.now);
        let is_past = is_over || row.any("past", memory);
        let mut lines = vec![text];
        lines.extend(day(&from).map(|day| format!("valid from {day}")));
        match day(&until) {
            Some(day) => lines.push(format!("valid until {day}")),
            None if is_past => lines.push("no longer valid".to_owned()),
            None => {}
        }
        let id = word(memory, if row.has("mkey") { row.key("mkey") } else { "id" });
        let id = id.unwrap_or_else(|| format!("memory-{:016x}", Fnv::of(lines[0].as_bytes())));
        if let Some(why) = [&said_at, &from, &until].into_iter().find_map(ReadTime::problem) {
            let what = format!("memory {id}");
            return self.skipped.push(Skipped { what, why });
        }
        let label = word(memory, row.key("mlabel")).unwrap_or_default();
        let whose = format!("{} {label}", self.store());
        let content = attachment(STORED_BY_A_MODEL, whose.trim(), &lines.join("\n"));
        let said = self.said(memory, Role::User, &id, content);
        let sender_name = None;
        self.nodes.push(TalkEntry {
            id,
            parent: None,
            time: said_at.time(),
            said: Some(ImportedMessage { sender_name, ..said }),
        });
        self.note("memories that are no longer valid, marked so", is_past.into());
    }
}

/// Reasoning and tool calls, which `Open WebUI` folds into the text of an answer.
static FOLDED: LazyLock<Regex> = LazyLock::new(|| {
    let folded = r#"(?s)<details type="(?:reasoning|tool_calls).*?</details>\s*"#;
    Regex::new(folded).expect("it is this program's own")
});
