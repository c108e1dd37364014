//! Relative links in the documentation lead to a file, and an anchor to a heading; so do paths between backticks.
//!
//! Owns: links of Markdown files at the root and in `docs/`, and paths in those and in `.claude/`. Never: links to other hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::SourceFile;

/// Links that lead nowhere. `paths` are all files of the tree, also those that hold no text.
pub(crate) fn check(files: &[SourceFile], paths: &BTreeSet<String>) -> Vec<String> {
    let headings: BTreeMap<&str, BTreeSet<String>> = files
        .iter()
        .filter(|file| super::has_extension(&file.path, "md"))
        .map(|file| (file.path.as_str(), anchors(&file.text)))
        .collect();
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| is_documentation(&file.path)) {
        for (number, link) in links(&file.text) {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let here = &file.path;
            let Some(path) = resolved(here, target) else {
                problems.push(format!(
                    "{here}:{number}: the link `{link}` leads out of the repository"
                ));
                continue;
            };
            let headings = headings.get(path.as_str());
            if !path.is_empty() && !exists(paths, &path) {
                problems.push(format!("{here}:{number}: the link `{link}` leads to no file"));
            } else if !anchor.is_empty() && headings.is_some_and(|headings| !headings.contains(anchor)) {
                problems.push(format!("{here}:{number}: the link `{link}` leads to no heading"));
            }
        }
    }
    problems.extend(dead_spans(files, paths));
    problems
}

/// Paths between backticks that no file has. What begins with a folder of the root is one; `path::name` means a function there.
fn dead_spans(files: &[SourceFile], paths: &BTreeSet<String>) -> Vec<String> {
    let roots: BTreeSet<&str> = paths
        .iter()
        .filter_map(|path| Some(path.split_once('/')?.0))
        .collect();
    let is_path = |word: &&str| {
        let root = word.split_once('/').map(|(root, _)| root);
        root.is_some_and(|root| roots.contains(root)) && !word.contains([' ', '*'])
    };
    let leads = |word: &str| match word.split_once("::") {
        Some((path, name)) => {
            let file = files.iter().find(|file| file.path == path);
            file.is_some_and(|file| file.text.contains(&format!("fn {name}(")))
        }
        None => exists(paths, word.trim_end_matches('/')),
    };
    let is_guide = |path: &str| {
        is_documentation(path) || (path.starts_with(".claude/") && super::has_extension(path, "md"))
    };
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| is_guide(&file.path)) {
        for (number, line) in prose(&file.text) {
            let spans = code_spans(line)
                .into_iter()
                .map(|span| &line[span.start + 1..span.end]);
            for dead in spans.filter(is_path).filter(|word| !leads(word)) {
                problems.push(format!("{}:{number}: `{dead}` does not exist", file.path));
            }
        }
    }
    problems
}

/// Whether a file or a folder has this path.
fn exists(paths: &BTreeSet<String>, path: &str) -> bool {
    let folder = format!("{path}/");
    paths.contains(path)
        || paths
            .range(folder.clone()..)
            .next()
            .is_some_and(|path| path.starts_with(&folder))
}

/// A Markdown file at the root, in `docs/`, or in a folder of it.
fn is_documentation(path: &str) -> bool {
    super::has_extension(path, "md") && (!path.contains('/') || path.starts_with("docs/"))
}

/// The relative links of a text, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let code = code_spans(line);
        let in_code = |at: usize| code.iter().any(|span| span.contains(&at));
        for opening in ["](", "href=\"", "src=\""] {
            for (at, _) in line.match_indices(opening).filter(|(at, _)| !in_code(*at)) {
                let rest = line[at + opening.len()..].trim_start_matches('<');
                let end = rest.find(['"', ')', '>', ' ']).unwrap_or(rest.len());
                found.push((number, &rest[..end]));
            }
        }
        let reference = line
            .trim_start()
            .strip_prefix('[')
            .and_then(|line| line.split_once("]: "));
        if let Some((_, target)) = reference {
            found.extend(target.split_whitespace().next().map(|target| (number, target)));
        }
    }
    found.retain(|(_, link)| !link.contains("://") && !link.starts_with("mailto:") && !link.is_empty());
    found
}

/// The lines outside fenced code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let line = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return true,
            _ => {}
        }
        false
    })
}

fn code_spans(line: &str) -> Vec<std::ops::Range<usize>> {
    let marks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    marks.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The path that a link of a file means, from the root of the repository.
pub(super) fn resolved(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if target.starts_with('/') {
        Vec::new()
    } else {
        folder.split('/').filter(|part| !part.is_empty()).collect()
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The anchors of a text: its headings as GitHub names them, and `id` and `name` attributes.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in prose(text) {
        for attribute in [" id=\"", " name=\""] {
            let values = line
                .split(attribute)
                .skip(1)
                .filter_map(|rest| rest.split_once('"'));
            anchors.extend(values.map(|(value, _)| value.to_owned()));
        }
        let title = line.trim_start_matches('#');
        if !line.starts_with('#') || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title.trim());
        let count = counts.entry(slug.clone()).or_default();
        anchors.insert(if *count == 0 {
            slug
        } else {
            format!("{slug}-{count}")
        });
        *count += 1;
    }
    anchors
}

fn slug(title: &str) -> String {
    let shown = title.replace("](", "\u{0}");
    let mut text = String::new();
    let mut in_target = false;
    for c in shown.chars() {
        match c {
            '\u{0}' => in_target = true,
            ')' if in_target => in_target = false,
            _ if in_target => {}
            ' ' => text.push('-'),
            c if c.is_alphanumeric() || "-_".contains(c) => text.extend(c.to_lowercase()),
            _ => {}
        }
    }
    text
}
