//! Commit messages follow Conventional Commits; a hook and CI ask here.

use std::path::Path;

use anyhow::Context;

const TYPES: [&str; 11] = [
    "feat", "fix", "perf", "refactor", "docs", "test", "build", "ci", "chore", "revert", "style",
];
const SUBJECT_CHARS_MAX: usize = 100;

/// The problems of the message in a file, as git hands it to a hook.
pub(crate) fn check_file(file: &Path) -> anyhow::Result<Vec<String>> {
    let message =
        std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok(problems(&message))
}

/// The problems of every commit in a range.
pub(crate) fn check_range(root: &Path, range: &str) -> anyhow::Result<Vec<String>> {
    let log = crate::output(
        root,
        "git",
        &["log", "--no-merges", "--format=%h%x00%B%x01", range],
    )?;
    let mut all = Vec::new();
    for commit in log.split('\u{1}') {
        if let Some((hash, message)) = commit.trim_start().split_once('\0') {
            all.extend(
                problems(message)
                    .into_iter()
                    .map(|problem| format!("{hash}: {problem}")),
            );
        }
    }
    Ok(all)
}

fn problems(message: &str) -> Vec<String> {
    let lines: Vec<&str> = message.lines().filter(|line| !line.starts_with('#')).collect();
    let subject = lines.first().copied().unwrap_or_default();
    if subject.starts_with("fixup!") || subject.starts_with("Merge ") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if !is_conventional(subject) {
        problems.push(format!(
            "`{subject}`: must read `type(scope): what changes`, with a scope in lower case or none, no full stop, and one of these \
             types: {}",
            TYPES.join(", ")
        ));
    }
    if subject.chars().count() > SUBJECT_CHARS_MAX {
        problems.push(format!("`{subject}`: longer than {SUBJECT_CHARS_MAX} characters"));
    }
    if lines.get(1).is_some_and(|line| !line.trim().is_empty()) {
        problems.push(format!("`{subject}`: the second line must be empty"));
    }
    problems
}

fn is_conventional(subject: &str) -> bool {
    let Some((head, text)) = subject.split_once(": ") else {
        return false;
    };
    let head = head.strip_suffix('!').unwrap_or(head);
    let (kind, is_scope) = match head.split_once('(') {
        Some((kind, scope)) => (kind, scope.strip_suffix(')').is_some_and(is_scope)),
        None => (head, true),
    };
    TYPES.contains(&kind) && is_scope && !text.trim().is_empty() && !text.ends_with('.')
}

fn is_scope(scope: &str) -> bool {
    let is_in_scope = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-/,".contains(c);
    scope.starts_with(|c: char| c.is_ascii_lowercase()) && scope.chars().all(is_in_scope)
}

#[cfg(test)]
mod tests {
    use super::problems;

    #[test]
    fn conventional_messages_pass() {
        for message in [
            "feat: remember a conversation",
            "fix(ledger): keep two messages of one instant\n\nThey were taken for one.",
            "refactor(index,vault)!: new layout",
            "feat(v1): accept tool calls",
            "fix(v1/messages)!: refuse an empty turn",
            "build(deps-dev): bump proptest from 1.11.0 to 1.12.0",
            "docs: say what is true\n# a comment of git's",
        ] {
            assert_eq!(problems(message), Vec::<String>::new(), "{message}");
        }
    }

    #[test]
    fn other_messages_do_not() {
        for message in [
            "",
            "remember a conversation",
            "feature: remember",
            "feat:remember",
            "feat: ",
            "feat: remember.",
            "feat(Ledger): remember",
            "feat(): remember",
            "feat(1): remember",
            "feat(v 1): remember",
            "feat(ledger: remember",
            "feat: remember\nand more",
            &format!("feat: {}", "x".repeat(100)),
        ] {
            assert!(!problems(message).is_empty(), "{message}");
        }
    }
}
