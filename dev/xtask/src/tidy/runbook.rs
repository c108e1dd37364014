//! Every row of a runbook has tests that own it.
//!
//! Owns: the tables below `## Problems and fixes`, against the table of `docs/internals/runbook.md`. Never: running a test.

use std::collections::{BTreeMap, BTreeSet};

use super::SourceFile;

const LIST: &str = "docs/internals/runbook.md";
const HEADING: &str = "## Problems and fixes";

/// Rows without a test, tests that are not there, and tests of rows that are gone.
pub(crate) fn check(files: &[SourceFile]) -> Vec<String> {
    let texts: BTreeMap<&str, &str> = files
        .iter()
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect();
    let list = texts.get(LIST).copied().unwrap_or_default();
    let mut owned = BTreeSet::new();
    let mut problems = Vec::new();
    for (number, symptom, tests) in rows(list.lines().enumerate()) {
        owned.insert(symptom);
        let named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            problems.push(format!("{LIST}:{number}: no test is named"));
        }
        for test in named {
            if !is_test(test, &texts) {
                problems.push(format!("{LIST}:{number}: there is no test `{test}`"));
            }
        }
    }
    let mut symptoms = BTreeSet::new();
    for (path, text) in texts
        .iter()
        .filter(|(path, _)| path.starts_with("docs/") && **path != LIST)
    {
        let section = text
            .lines()
            .enumerate()
            .skip_while(|(_, line)| *line != HEADING)
            .skip(1);
        for (number, symptom, _) in rows(section.take_while(|(_, line)| !line.starts_with("## "))) {
            symptoms.insert(symptom);
            if !owned.contains(symptom) {
                problems.push(format!("{path}:{number}: {LIST} names no test for `{symptom}`"));
            }
        }
    }
    for symptom in owned.difference(&symptoms) {
        problems.push(format!("{LIST}: no runbook has the row `{symptom}`"));
    }
    problems
}

/// The rows of tables after their headings: the line's number, the first cell, and the rest.
fn rows<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<(usize, &'a str, &'a str)> {
    let mut rows = Vec::new();
    let mut is_below = false;
    for (at, line) in lines {
        is_below = line.starts_with('|') && (is_below || line.starts_with("|---"));
        if let Some((symptom, rest)) = line.strip_prefix("| ").and_then(|row| row.split_once(" |"))
            && is_below
        {
            rows.push((at + 1, symptom, rest));
        }
    }
    rows
}

/// Whether `path::name` is a test of that file.
fn is_test(test: &str, texts: &BTreeMap<&str, &str>) -> bool {
    let Some((path, name)) = test.split_once("::") else {
        return false;
    };
    let text = texts.get(path).copied().unwrap_or_default();
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else {
        return false;
    };
    let attributes = before.rsplit("\n\n").next().unwrap_or_default();
    attributes.contains("test]") || attributes.contains("::test(")
}
