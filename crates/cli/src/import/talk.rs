//! One conversation of any format of the table: its messages as a tree, the branch that its program shows, their words.
//!
//! Owns: tree to path, typed parts to text, words of roles, memories as quotations. Never: finding a format.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Role, STORED_BY_A_MODEL, Timestamp, attachment};
use serde_json::Value;
use text::Fnv;

use super::shape::{self, ImportedMessage, ReadTime};
use super::table::{self, FormatRow, first, word};
use super::{Defaults, ImportItem, ImportedConversation, Sink, Skipped, message};
use crate::error::Failure;

/// Kinds of parts that are speech; the others are reasoning, tools and marks.
const SPEECH: &str = "text output_text input_text message plain main_text";

/// One entry of a conversation, also one that nobody said.
struct TalkEntry {
    id: String,
    parent: Option<String>,
    time: Option<Timestamp>,
    said: Option<ImportedMessage>,
}

/// What is read of one conversation.
struct ImportedTalk<'a> {
    row: &'static FormatRow,
    defaults: &'a Defaults,
    nodes: Vec<TalkEntry>,
    skipped: Vec<Skipped>,
    notes: BTreeMap<String, usize>,
}

/// Hands over the conversations and memories of a value.
pub(super) fn read(
    row: &'static FormatRow,
    value: &Value,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let whole = vec![value];
    let found = match row.key("each") {
        "" | "*" => whole,
        each => first(value, each),
    };
    for found in found {
        let mut talk = ImportedTalk {
            row,
            defaults,
            nodes: Vec::new(),
            skipped: Vec::new(),
            notes: BTreeMap::new(),
        };
        let conversations = talk.conversations(found);
        let conversations = conversations.into_iter().chain(talk.memories(found));
        let conversations: Vec<_> = conversations.collect();
        for (why, count) in talk.notes {
            sink(ImportItem::Noted(why, count))?;
        }
        let skipped = talk.skipped.into_iter().map(ImportItem::Skipped);
        let conversations = conversations.into_iter().map(ImportItem::Conversation);
        skipped.chain(conversations).try_for_each(&mut *sink)?;
    }
    Ok(())
}

impl ImportedTalk<'_> {
    fn note(&mut self, why: &str, count: usize) {
        if count > 0 {
            *self.notes.entry(why.to_owned()).or_default() += count;
        }
    }

    fn conversations(&mut self, found: &Value) -> Vec<ImportedConversation> {
        if !self.row.has("list") {
            return Vec::new();
        }
        if self.row.any("aside", found) {
            self.note("conversations of sub-agents and services, left out", 1);
            return Vec::new();
        }
        let name = self.defaults.name.clone();
        let id = word(found, self.row.key("id")).unwrap_or(name);
        self.entries(&first(found, self.row.key("list")), None);
        if self.row.has("sort") {
            self.nodes.sort_by_key(|node| node.time);
        }
        let leaf = word(found, self.row.key("leaf"));
        let path = self.path(leaf.as_deref());
        let started = first(found, self.row.key("started"));
        let started = started
            .first()
            .map(|value| shape::moment(value, &self.defaults.zone));
        let started = started.and_then(|moment| moment.time());
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
        conversations
    }

    /// The person put other words in the place of these.
    fn quote(&mut self, places: &[usize]) {
        for at in places {
            if let Some(said) = self.nodes[*at]
                .said
                .as_mut()
                .filter(|said| said.role == Role::User)
            {
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
        let mut last = None;
        let mut messages = Vec::new();
        let mut undated = 0;
        for at in path {
            let node = &mut self.nodes[*at];
            last = last.max(node.time);
            let Some(said) = node.said.take() else { continue };
            undated += usize::from(last.or(started).is_none());
            let time = last.or(started).unwrap_or(self.defaults.now);
            messages.extend(message(ImportedMessage { time, ..said }));
        }
        self.note("messages without a time, dated by the import", undated);
        ImportedConversation {
            session: self.defaults.session(id),
            title,
            messages,
            is_log: false,
        }
    }

    /// Reads the entries of some lists, with those below them.
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
                if node.parent.is_none() && self.row.has("attach") {
                    node.parent = self.nodes.last().map(|node| node.id.clone());
                }
                let id = node.id.clone();
                self.nodes.push(node);
                self.entries(&first(value, self.row.key("kids")), Some(&id));
            }
        }
    }

    fn node(&mut self, key: Option<&str>, value: &Value) -> TalkEntry {
        let row = self.row;
        let own = word(value, if row.has("key") { row.key("key") } else { "id" });
        let id = own.or_else(|| key.map(str::to_owned));
        let id = id.unwrap_or_else(|| format!("message-{}", self.nodes.len()));
        let time = first(value, row.key("time"));
        let time = time
            .first()
            .map_or(ReadTime::Missing, |time| shape::moment(time, &self.defaults.zone));
        let parent = word(value, row.key("parent"));
        let mut node = TalkEntry {
            parent,
            time: time.time(),
            said: None,
            id,
        };
        let Some(role) = self.role(value) else {
            self.note("entries of programs, left out", 1);
            return node;
        };
        let content = self.content(value);
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
        }
        node.said = Some(self.said(value, role, &node.id, content));
        node
    }

    fn said(&self, value: &Value, role: Role, id: &str, content: String) -> ImportedMessage {
        let (row, defaults) = (self.row, self.defaults);
        let name = word(value, row.key("name"));
        // A role's word is no name.
        let name =
            name.filter(|name| !["user", "human", "assistant"].contains(&name.to_lowercase().as_str()));
        let by = row.all("by").next().map(shape::fixed);
        let sender = match (role, word(value, row.key("people")), &name) {
            (Role::User, Some(person), _) => {
                let is_users = |text: &str| shape::speaker(text) == defaults.user;
                let is_user = name.as_deref().is_some_and(is_users);
                if is_user {
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
            client_id: id.to_owned(),
            role,
            sender,
            sender_name: name,
            time: defaults.now,
            content,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }

    /// Whether a person or a model speaks; none for a program.
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

    /// Words, then the names of files; words that the sender passed on are a quotation.
    fn content(&self, value: &Value) -> String {
        let row = self.row;
        let mut texts = row
            .key("text")
            .split('|')
            .map(|path| self.words(&first(value, path)));
        let content = texts.find(|text| !text.trim().is_empty()).unwrap_or_default();
        if content.is_empty() {
            return content;
        }
        let mut content = without_details(&content).trim().to_owned();
        if let Some(whose) = word(value, row.key("forwarded")) {
            content = attachment("document", &format!("forwarded from {whose}"), &content);
        }
        for name in first(value, row.key("files"))
            .into_iter()
            .filter_map(table::string)
        {
            content.extend(["\n[file: ", &name, "]"]);
        }
        content
    }

    fn words(&self, values: &[&Value]) -> String {
        let glue = if self.row.has("glue") { "" } else { "\n" };
        let texts = values.iter().map(|value| match value {
            Value::String(text) => text.clone(),
            Value::Array(parts) => self.words(&parts.iter().collect::<Vec<_>>()),
            Value::Object(part) => {
                let kind = part.get("type").and_then(Value::as_str);
                let is_silent = ["thought", "synthetic", "ignored"]
                    .iter()
                    .any(|mark| part.get(*mark) == Some(&Value::Bool(true)));
                match kind {
                    _ if is_silent => String::new(),
                    Some(kind) if kind.contains("image") => "[image]".to_owned(),
                    Some(kind) if !self.row.word("speech", SPEECH, kind) => String::new(),
                    _ => self.words(&first(value, "text|content|value")),
                }
            }
            _ => String::new(),
        });
        texts
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(glue)
    }

    /// The branch that is shown; without links between entries, all of them.
    fn path(&self, leaf: Option<&str>) -> Vec<usize> {
        let places = self.places();
        let parent = |at: usize| {
            places
                .get(self.nodes[at].parent.as_deref()?)
                .copied()
                .filter(|up| *up != at)
        };
        let is_tree = (0..self.nodes.len()).any(|at| parent(at).is_some());
        if !is_tree && self.nodes.iter().all(|node| node.parent.is_none()) {
            return (0..self.nodes.len()).collect();
        }
        let newest = |up: Option<usize>| {
            let below = (0..self.nodes.len()).filter(|at| parent(*at) == up);
            below.max_by_key(|at| (self.nodes[*at].time, *at))
        };
        let mut next = leaf.and_then(|leaf| places.get(leaf).copied());
        if next.is_none() && self.row.has("open") {
            let mut at = newest(None);
            for _ in 0..self.nodes.len() {
                next = at.or(next);
                at = at.and_then(|at| newest(Some(at)));
            }
        }
        let mut next = next.or_else(|| (0..self.nodes.len()).max_by_key(|at| (self.nodes[*at].time, *at)));
        let mut path = Vec::new();
        while let Some(at) = next.filter(|_| path.len() < self.nodes.len()) {
            path.push(at);
            next = parent(at);
        }
        path.reverse();
        path
    }

    fn places(&self) -> HashMap<&str, usize> {
        let places = self.nodes.iter().enumerate();
        places.map(|(at, node)| (node.id.as_str(), at)).collect()
    }

    /// The entries of each other branch, in their order.
    fn branches(&self, path: &[usize]) -> Vec<Vec<usize>> {
        let places = self.places();
        let parent = |at: usize| places.get(self.nodes[at].parent.as_deref()?).copied();
        let mut branches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let path: HashSet<usize> = path.iter().copied().collect();
        for at in (0..self.nodes.len()).filter(|at| !path.contains(at)) {
            let mut root = at;
            for _ in 0..self.nodes.len() {
                match parent(root).filter(|up| !path.contains(up)) {
                    Some(up) => root = up,
                    None => break,
                }
            }
            branches.entry(root).or_default().push(at);
        }
        branches.into_values().collect()
    }

    /// Memories, each as a quotation that says until when it holds: no word of it is the person's.
    fn memories(&mut self, found: &Value) -> Option<ImportedConversation> {
        let row = self.row;
        let lists = row.all("memories").flat_map(str::split_whitespace);
        let memories: Vec<&Value> = lists.flat_map(|path| first(found, path)).collect();
        for memory in memories {
            let text = self.words(&first(memory, row.key("mtext")));
            if row.any("drop", memory) || text.trim().is_empty() {
                self.note("memories that their program deleted, left out", 1);
                continue;
            }
            let moment = |key| {
                let value = first(memory, row.key(key)).into_iter().next();
                value.map_or(ReadTime::Missing, |value| {
                    shape::moment(value, &self.defaults.zone)
                })
            };
            let (said_at, from, until) = (moment("mtime"), moment("from"), moment("until"));
            let day = |moment: &ReadTime| moment.time().map(|time| self.defaults.zone.date(time));
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
            let content = attachment(STORED_BY_A_MODEL, row.name, &lines.join("\n"));
            let (time, said) = (said_at.time(), self.said(memory, Role::User, &id, content));
            let said = ImportedMessage {
                sender_name: None,
                ..said
            };
            let (parent, said) = (None, Some(said));
            self.nodes.push(TalkEntry {
                id,
                parent,
                time,
                said,
            });
            self.note(
                "memories that are no longer valid, marked so",
                usize::from(is_past),
            );
        }
        let places: Vec<usize> = (0..self.nodes.len())
            .filter(|at| self.nodes[*at].said.is_some())
            .collect();
        if places.is_empty() || !row.has("memories") {
            return None;
        }
        self.note("memories kept as quotations", places.len());
        self.nodes.sort_by_key(|node| node.time);
        let places: Vec<usize> = (0..self.nodes.len()).collect();
        Some(self.conversation(
            &format!("{}-memories", row.name.trim_end_matches("-memories")),
            None,
            &places,
            None,
        ))
    }
}

/// A text without the folded reasoning and tool calls that `Open WebUI` writes into it.
fn without_details(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<details type=\"") {
        let is_hidden = after.starts_with("reasoning") || after.starts_with("tool_calls");
        let Some((_, behind)) = after.split_once("</details>").filter(|_| is_hidden) else {
            break;
        };
        kept.push_str(before);
        rest = behind;
    }
    kept.push_str(rest);
    kept
}
