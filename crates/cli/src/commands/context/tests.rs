//! A transcript from a file.

use std::io::Write;

use clap::Parser;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::context;
use crate::args::{Cli, Command};
use crate::commands::Desk;
use crate::commands::tests::desk;
use crate::output::tests::SAID;

/// A conversation with an old decision and an old failure among many unimportant messages.
fn talk() -> NamedTempFile {
    let user = |text: String| json!({"role": "user", "content": text});
    let assistant = |text: &str| json!({"role": "assistant", "content": text});
    let mut messages = vec![
        json!({"role": "system", "content": "Be brief."}),
        assistant("We decided to use port 8443 for the staging host."),
    ];
    for at in 0..30 {
        messages.push(user(format!("Walk {at}: {}", "along the river ".repeat(20))));
        messages.push(assistant("I see."));
    }
    messages.push(user("Where do we stand?".to_owned()));
    let mut file = NamedTempFile::new().expect("a file");
    for message in messages {
        writeln!(file, "{message}").expect("written");
    }
    file
}

fn said(file: &NamedTempFile, options: &str) -> String {
    let path = file.path().to_str().expect("a path");
    let line = ["quipu", "context", path]
        .into_iter()
        .chain(options.split_whitespace());
    let cli = Cli::parse_from(line);
    let Command::Context(args) = cli.command else {
        panic!("{options}")
    };
    SAID.take();
    let folder = tempfile::tempdir().expect("a folder");
    let desk = Desk {
        json: cli.json,
        ..desk(folder.path(), &[])
    };
    context(&desk, &args).unwrap_or_else(|failure| panic!("{options}: {:#}", failure.error));
    SAID.take()
}

#[test]
fn scores_explain_why_the_old_preset_keeps_a_message() {
    let file = talk();
    let rows = said(&file, "--budget 1200 --policy codebuddy --scores");
    let lines: Vec<&str> = rows.lines().collect();
    assert_eq!(lines.len(), 63);
    assert!(
        lines[0].contains("m3 conversation 0.265 left     base(conversation): 0.25, recency: +0.015"),
        "{rows}"
    );
    let decision = lines.iter().find(|line| line.contains(" m1 ")).expect("a row");
    assert!(
        decision.contains("decision     0.905 in view  base(decision): 0.9"),
        "{decision}"
    );
    assert!(lines[62].contains("m0 system       1.000 in view"), "{rows}");
    let rows: Value =
        serde_json::from_str(&said(&file, "--budget 1200 --policy codebuddy --scores --json")).expect("JSON");
    assert_eq!(
        rows[0],
        json!({
            "id": "m3", "kind": "conversation", "value": rows[0]["value"], "in_view": false,
            "factors": ["base(conversation): 0.25", "recency: +0.015"],
        })
    );
}

#[test]
fn score_weights_can_be_set_and_the_report_has_message_statistics() {
    let file = talk();
    let weights = "--budget 1200 --policy codebuddy --scores --weight decision=0.5 --weight recency=0";
    let rows = said(&file, weights);
    let decision = rows.lines().find(|line| line.contains(" m1 ")).expect("a row");
    assert!(
        decision.contains("0.500") && decision.contains("base(decision): 0.5, recency: +0.000"),
        "{rows}"
    );
    let report: Value = serde_json::from_str(&said(&file, "--budget 1200 --json")).expect("JSON");
    let of = |name: &str| report["report"]["messages"][name].as_u64().expect("a number");
    assert_eq!(of("count"), 63);
    assert!(of("tokens_max") >= of("tokens_avg") && of("tokens_avg") >= of("tokens_min"));
    assert_eq!(of("tokens") / of("count"), of("tokens_avg"));
}

#[test]
fn the_quipu_policy_goes_by_age_and_not_by_score() {
    let rows = said(&talk(), "--budget 1200 --scores");
    let decision = rows.lines().find(|line| line.contains(" m1 ")).expect("a row");
    assert!(decision.contains("decision     0.905 left "), "{decision}");
}

#[test]
fn the_old_preset_keeps_ten_messages_and_important_ones_and_first_lines_of_the_rest() {
    let file = talk();
    let shown = said(&file, "--budget 1200 --policy codebuddy");
    assert!(
        shown.starts_with("63 items (openai), policy codebuddy\n"),
        "{shown}"
    );
    let view = shown.split_once("the view: ").expect("a view").1;
    let names: Vec<&str> = view
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.contains(&"m0") && names.contains(&"m1"), "{view}");
    assert!(!names.contains(&"m2") && names.contains(&"m62"), "{view}");
    assert!(view.contains("[Conversation Summary]"), "{view}");
    assert!(
        names.iter().filter(|name| name.starts_with('m')).count() <= 12,
        "{view}"
    );
}
