//! Work as cases.

use proptest::prelude::*;

use super::{DEPLOY, case_of, cell, work};
use crate::skills::{case, trajectories};

#[test]
fn a_case_has_request_steps_failures_and_the_approach_that_worked() {
    let case = case_of(DEPLOY);
    assert_eq!(case.task_intent, "Please deploy the billing service to staging.");
    let approach = "1. `read_file` on `deploy/billing.yaml`\n\
                    2. `run` on `deploy billing --env staging`: failed (\"the database is not migrated\")\n\
                    3. `run` on `migrate billing --env staging`\n\
                    4. `run` on `deploy billing --env staging`";
    assert_eq!(case.approach, approach);
    assert_eq!(
        case.key_insight,
        "`run` on `deploy billing --env staging` failed; `run` on `migrate billing --env staging` worked. \
         A person said: \"Great, thanks!\""
    );
    assert_eq!((case.agent.as_str(), case.quality_percent), ("coder", 69));
    assert_eq!(case.tools, ["read_file", "run"]);
    assert_eq!(case.sources.len(), 11);
}

#[test]
fn two_rounds_of_calls_are_no_case_and_three_are() {
    let two = "u: List the files\nc: run {\"cmd\": \"ls\"} => a\nc: run {\"cmd\": \"ls b\"} => b\na: Two.";
    assert_eq!(case(&work(two)), None);
    assert_eq!(trajectories(&cell("u: Hello\na: Hello Ann")), []);
    let three = two.replace("a: Two.", "c: run {\"cmd\": \"ls c\"} => c");
    assert!(case(&work(&three)).is_some());
}

/// Planted: a score that words of praise or blame move.
#[test]
fn the_quality_depends_on_the_calls_and_not_on_a_persons_words() {
    let ended = |result: &str, more: &str| {
        case_of(&format!(
            "u: Look at the logs\nc: run {{\"cmd\": \"a\"}} => 1\nc: run {{\"cmd\": \"b\"}} => 2\n\
             c: run {{\"cmd\": \"c\"}} => {result}\n{more}"
        ))
    };
    let failed = r#"{"error": "no such file"}"#;
    for (result, more, quality) in [
        ("3", "a: All well.", 75),
        ("3", "", 50),
        (failed, "a: It failed.", 27),
        (failed, "", 2),
    ] {
        for said in ["Great, thanks!", "No, that is wrong.", "Nein, das ist falsch."] {
            let case = ended(result, &format!("{more}\nu: {said}"));
            assert_eq!(case.quality_percent, quality, "{result} {more} {said}");
            assert!(case.key_insight.ends_with(&format!("A person said: \"{said}\"")));
        }
    }
}

#[test]
fn a_failure_is_a_field_or_an_exit_code_and_never_a_word() {
    let call = |result: &str| {
        let talk = format!("u: Do it\nc: run {{\"cmd\": \"x\"}} => {result}");
        work(&talk).calls().next().expect("a call").error.clone()
    };
    for (bad, error) in [
        (r#"{"error": "no such table"}"#, "no such table"),
        (r#"{"exit_code": 2, "output": "…"}"#, "exit code 2"),
        (r#"{"success": false}"#, "no success"),
        (r#"{"is_error": true, "content": "x"}"#, "no success"),
        ("output\\nexit code: 101", "exit code 101"),
        ("Process exited with code 137\\nOutput:\\nx", "exit code 137"),
        ("[Command finished with exit code 1]", "exit code 1"),
    ] {
        assert_eq!(call(bad).as_deref(), Some(error), "{bad}");
    }
    for good in [
        r#"{"error": null, "rows": 3}"#,
        r#"{"exit_code": 0}"#,
        "exit code: 0",
        "exit code 2 means that an argument is wrong",
        "1\\n2\\n3\\n4\\n5\\nexit code: 101\\n7",
        "Error handling is described in chapter 3",
        "failed: how to test what failed",
    ] {
        assert_eq!(call(good), None, "{good}");
    }
}

#[test]
fn no_secret_and_no_mark_of_a_tool_or_a_call_gets_into_a_case() {
    let key = format!("sk-{}", "a1B2".repeat(12));
    let talk = format!(
        "u: Call the API with key {key}\nc: run {{\"cmd\": \"curl -H 'Authorization: Bearer {key}' `id` </work>\"}} => \
         {{\"error\": \"token {key} refused </work> `rm -rf /`\"}}\nc: run {{\"cmd\": \"b\"}} => 2\nc: run {{\"cmd\": \"c\"}} => 3"
    );
    let case = case_of(&talk);
    let all = format!("{} {} {}", case.task_intent, case.approach, case.key_insight);
    assert!(!all.contains(&key), "{all}");
    assert!(!all.contains("</work>") && !all.contains("`rm"), "{all}");
    assert!(case.approach.contains("[redacted:"), "{all}");
}

#[test]
fn a_long_work_keeps_its_first_and_last_steps() {
    let calls: Vec<String> = (0..60)
        .map(|n| format!("c: run {{\"cmd\": \"step {n}\"}} => ok\n"))
        .collect();
    let calls = calls.concat();
    let approach = case_of(&format!("u: Do many things now\n{calls}")).approach;
    assert!(
        approach.contains("`step 0`")
            && approach.contains("`step 59`")
            && approach.contains("… and 40 more steps")
    );
    assert!(approach.lines().count() <= 21, "{approach}");
    let again = "c: run {\"cmd\": \"poll\"} => wait\n".repeat(50);
    assert_eq!(
        case_of(&format!("u: Wait for it now\n{again}")).approach,
        "1. `run` on `poll` (50 times)"
    );
}

#[test]
fn each_agent_has_its_own_case() {
    let mut cell = cell(DEPLOY);
    for message in cell.messages.iter_mut().skip(5) {
        if message.role == model::Role::Assistant {
            message.sender = super::name("helper");
        }
    }
    let agents: Vec<String> = trajectories(&cell)
        .iter()
        .map(|work| work.agent.to_string())
        .collect();
    assert_eq!(agents, ["coder", "helper"]);
}

proptest! {
    #[test]
    fn any_talk_gives_cases_without_a_panic(
        texts in proptest::collection::vec(("[uac]", ".{0,80}", ".{0,80}"), 1..12),
    ) {
        let lines: Vec<String> = texts
            .iter()
            .map(|(who, a, b)| match who.as_str() {
                "c" => format!("c: run {} => {b}.", a.replace(" => ", " ")),
                who => format!("{who}: {a}."),
            })
            .map(|line| line.replace(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], " "))
            .collect();
        for work in trajectories(&cell(&lines.join("\n"))) {
            if let Some(case) = case(&work) {
                prop_assert!(!case.task_intent.is_empty() && case.quality_percent <= 100);
                prop_assert!(case.approach.lines().all(|line| line.matches('`').count() % 2 == 0));
                prop_assert!(!case.approach.contains('<'));
            }
        }
    }
}
