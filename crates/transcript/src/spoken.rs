//! Text of a person in a message, without their client's additions.
//!
//! Owns: the tables of clients' additions. Never: changing a request, judging the text. Text that no table names stays.

mod element;

use std::borrow::Cow;

use element::ElementPlace;

use crate::{Block, Item, Role};

/// Quipu's additions to a person's message.
const QUIPUS: &[&str] = &["quipu-memory", "quipu-time"];

/// Elements of clients that no person types, by their exact names.
const ADDED: &[&str] = &[
    // Claude Code
    "system-reminder",
    "system_reminder",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "command-name",
    "command-message",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "persisted-output",
    "task-notification",
    "teammate-message",
    "fork-boilerplate",
    "new-diagnostics",
    "ide_selection",
    "ide_opened_file",
    "ide_diagnostics",
    "user-prompt-submit-hook",
    // Codex
    "environment_context",
    "user_instructions",
    "INSTRUCTIONS",
    "permissions instructions",
    "collaboration_mode",
    "turn_aborted",
    "subagent_notification",
    "skills_instructions",
    "plugins_instructions",
    "apps_instructions",
    "personality_spec",
    "model_switch",
    "token_budget",
    "realtime_conversation",
    "codex_internal_context",
    "user_shell_command",
    "startup_context",
    "response-annotations",
    // Cline, Roo, Kilo
    "environment_details",
    "explicit_instructions",
    "task_resumption",
    "file_content",
    "folder_content",
    "url_content",
    "workspace_diagnostics",
    "terminal_output",
    "git_working_state",
    "git_commit",
    "final_file_content",
    // Cursor, Copilot, Gemini, goose, OpenHands
    "additional_data",
    "attached_files",
    "open_and_recently_viewed_files",
    "project_layout",
    "user_info",
    "always_applied_workspace_rules",
    "environment_info",
    "workspace_info",
    "editorContext",
    "reminderInstructions",
    "conversation-summary",
    "session_context",
    "hook_context",
    "state_snapshot",
    "info-msg",
    "EXTRA_INFO",
    "RUNTIME_INFORMATION",
    "REPOSITORY_INFO",
];

/// Elements that clients add and people type too: taken where a line begins with one that is closed, outside of code.
const ATTACHED: &[&str] = &[
    "context",
    "file",
    "files",
    "document",
    "documents",
    "attachment",
    "attachments",
    "memory",
    "memories",
    "user_memories",
    "relevant_memories",
    "skill",
];

/// Elements in which clients put the person's words; nothing outside of them counts.
const CARRIERS: &[&str] = &["user_query", "userRequest", "command-args", "user-memory-input"];

/// The same of Cline and its kin, where their mark is there: people type these too.
const CARRIERS_BESIDE: (&str, &[&str]) = (
    "<environment_details>",
    &["task", "user_message", "feedback", "answer"],
);

/// A frame around a question: its beginning, the marker right before the person's text (the last one counts), and the
/// end.
struct QuestionFrame(&'static str, &'static str, &'static str);

const FRAMES: &[QuestionFrame] = &[
    // Open WebUI
    QuestionFrame(
        "### Task:\nRespond to the user query using the provided context",
        "</context>",
        "",
    ),
    QuestionFrame(
        "Use the following context as your learned knowledge",
        "\nQuery:",
        "",
    ),
    // LM Studio
    QuestionFrame(
        "This is a Enriched Context Generation scenario",
        "\nUser Query:",
        "",
    ),
    QuestionFrame(
        "This is an Enriched Context Generation scenario",
        "\nUser Query:",
        "",
    ),
    // Cherry Studio
    QuestionFrame(
        "Please answer the question based on the reference materials",
        "## My question is:",
        "\n## Reference Materials:",
    ),
    // Codex in an editor
    QuestionFrame("# Context from my IDE setup", "## My request for Codex:", ""),
    QuestionFrame("# Files mentioned by the user", "## My request for Codex:", ""),
    // aider quotes a command's output
    QuestionFrame("I ran this command:", "\nAnd got this output:", "\n"),
];

/// How messages begin that a client wrote from the first word to the last.
const WHOLE: &[&str] = &[
    // aider
    "Act as an expert software developer.\n",
    "Act as an expert software developer who edits source code.\n",
    "Act as an expert software developer and make changes to source code.\n",
    "Act as an expert architect engineer and provide direction to your editor engineer",
    "Act as an expert code analyst.\n",
    "You are an expert on the AI coding tool called Aider.",
    "I switched to a new code base. Please don't consider the above files",
    "I have *added these files to the chat*",
    "These files have been *added these files to the chat*",
    "These are some files we have been discussing that we may want to edit",
    "I am not sharing any files that you can edit yet.",
    "Don't try and edit any existing code without asking me to add the files",
    "Here are summaries of some files present in my git repo",
    "I am working with you on code in a git repository.\nHere are summaries",
    "Here are some READ ONLY files, provided for your reference.",
    "I spoke to you previously about a number of things.\n",
    "I committed the changes with git hash",
    "I didn't see any properly formatted edits",
    "I added these files to the chat:",
    "I did `git reset --hard HEAD~1` to discard",
    // Claude Code
    "This session is being continued from a previous conversation that ran out of context",
    "Stop hook feedback:\n",
    // Compaction: Claude Code, Codex, opencode
    "Your task is to create a detailed summary of ",
    "CRITICAL: Respond with TEXT ONLY.",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    "Another language model started to solve this problem and produced a summary",
    "Provide a detailed prompt for continuing our conversation above",
    "Provide a detailed but concise summary of our conversation above",
    // Gemini CLI, Qwen Code
    "This is the Gemini CLI. We are setting up the context for our chat",
    "This is the Qwen Code. We are setting up the context for our chat",
];

/// Whole messages of aider: its example dialogues, and its instructions for edits.
const EXACT: &[&str] = &[
    "I updated the files.",
    "I edited the files myself.",
    "Change get_factorial() to use math.factorial",
    "Refactor hello() into its own file.",
    "Change the greeting to be more casual",
    "Replace is_prime with a call to sympy.",
];

/// How a line begins with which a client's own text goes on to the end.
const TAILS: &[&str] = &[
    // aider
    "# *SEARCH/REPLACE block* Rules:",
    "# V4A Diff Format Rules:",
    "# File editing rules:",
    "To suggest changes to a file you MUST return the entire content",
    "ONLY return code using the `",
    // opencode
    "Called the Read tool with the following input:",
];

/// How lines begin that a client wrote.
const LINES: &[&str] = &[
    "# AGENTS.md instructions",
    "Caveat: The messages below were generated by the user while running local commands",
    "[Request interrupted by user",
];

/// Text before a date or a time in a line without other content.
const CLOCKS: &[&str] = &[
    "current date and time:",
    "current date:",
    "current time:",
    "current datetime:",
    "today's date:",
    "it is currently",
];
const NAMED: &[&str] = &[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february",
    "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
];
const MOMENT_BYTES_MAX: usize = 80;

/// The person's text; empty if the message has none. Borrowed if nothing was removed.
pub fn words(text: &str) -> Cow<'_, str> {
    let (mark, beside) = CARRIERS_BESIDE;
    let is_beside = text.contains(mark);
    let is_carrier = |name: &str| CARRIERS.contains(&name) || is_beside && beside.contains(&name);
    let is_added = |name: &str| QUIPUS.contains(&name) || ADDED.contains(&name);
    let own = element::without(Cow::Borrowed(text), is_added, ElementPlace::Anywhere);
    let own = framed(own);
    let carriers = element::find(&own, is_carrier, ElementPlace::LineStart);
    if !carriers.is_empty() {
        let carried: Vec<&str> = carriers
            .into_iter()
            .map(|found| own[found.inner].trim())
            .collect();
        return Cow::Owned(carried.join("\n").trim().to_owned());
    }
    let own = element::without(own, |name| ATTACHED.contains(&name), ElementPlace::LineStart);
    let whole = own.trim();
    let is_clients = WHOLE.iter().any(|start| whole.starts_with(start)) || EXACT.contains(&whole);
    if is_clients || is_beside && is_result(whole) {
        return Cow::Borrowed("");
    }
    without_lines(own)
}

/// The item without what Quipu added to it; borrowed where it added nothing.
pub fn without_additions(item: &Item) -> Cow<'_, Item> {
    let is_quipus = |name: &str| QUIPUS.contains(&name);
    let said = |block: &Block| match block {
        Block::Text(text) => match element::without(Cow::Borrowed(text), is_quipus, ElementPlace::Anywhere) {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        },
        _ => None,
    };
    if item.role != Role::User || item.blocks.iter().all(|block| said(block).is_none()) {
        return Cow::Borrowed(item);
    }
    let mut item = item.clone();
    for block in &mut item.blocks {
        if let Some(text) = said(block) {
            *block = Block::Text(text);
        }
    }
    item.edited = item.raw.is_some();
    Cow::Owned(item)
}

/// The content of a frame, if the text is one.
fn framed(text: Cow<'_, str>) -> Cow<'_, str> {
    let begins = text.trim_start();
    let held = FRAMES.iter().find_map(|QuestionFrame(start, before, after)| {
        let rest = begins.strip_prefix(start)?;
        // Clients do not agree on its capitals.
        let at = rest.to_ascii_lowercase().rfind(&before.to_ascii_lowercase())?;
        let held = &rest[at + before.len()..];
        let end = held.find(after).filter(|_| !after.is_empty());
        Some(held[..end.unwrap_or(held.len())].trim().to_owned())
    });
    held.map_or(text, Cow::Owned)
}

/// A tool's result in the form of a person's message: `[read_file for 'a.rs'] Result:`.
fn is_result(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with('[') && line.contains("] Result:")
}

/// Removes tails, lines of clients, and the time.
fn without_lines(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_changed = false;
    for line in text.lines() {
        let bare = line.trim();
        if TAILS.iter().any(|start| bare.starts_with(start)) {
            is_changed = true;
            break;
        }
        if LINES.iter().any(|start| bare.starts_with(start)) || is_clock(bare) {
            is_changed = true;
            continue;
        }
        let is_first = kept.iter().all(|kept| kept.trim().is_empty());
        let unstamped = if is_first { without_stamp(line) } else { line };
        is_changed |= unstamped.len() < line.len();
        kept.push(unstamped);
    }
    if is_changed {
        return Cow::Owned(kept.join("\n").trim().to_owned());
    }
    text
}

/// A line with only the time.
fn is_clock(line: &str) -> bool {
    let line = line.trim_matches(|c| matches!(c, '(' | ')' | '[' | ']' | '*'));
    CLOCKS.iter().any(|start| {
        line.get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start) && is_moment(&line[start.len()..]))
    })
}

/// A line without the time in brackets before its words: `[2026-11-22 09:30] `.
fn without_stamp(line: &str) -> &str {
    let inner = line.trim_start().strip_prefix('[');
    match inner.and_then(|inner| inner.split_once(']')) {
        Some((stamp, rest)) if is_moment(stamp) => rest.trim_start(),
        _ => line,
    }
}

/// Nothing but a date, a time, a zone.
fn is_moment(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MOMENT_BYTES_MAX {
        return false;
    }
    let is_part = |word: &str| {
        let letters: String = word.chars().filter(|c| c.is_alphabetic()).collect();
        let lower = letters.to_lowercase();
        let is_named = NAMED
            .iter()
            .any(|name| lower.len() >= 3 && name.starts_with(&lower));
        let is_zone = word.contains('/') || letters.len() <= 4 && letters == letters.to_uppercase();
        // `1st`, `pm`, the `T` and `Z` of a timestamp.
        letters.len() <= 2 || is_named || is_zone
    };
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 3 && text.contains([':', '-', '/', ',', '.']) && text.split_whitespace().all(is_part)
}
