//! `quipu forget` on the command line: the owner, the output before and after, and the case without a match.

use serde_json::json;
use tempfile::TempDir;

use super::{report, show};
use crate::commands::tests::{desk, typed};
use crate::error::Exit;
use crate::output::tests::SAID;

#[tokio::test]
async fn words_are_searched_in_the_default_users_memory() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let lines = ["add Dario-sails.", "add He-sings.", "forget --words dario"];
    let asked = typed(&desk, &lines).await;
    let asked = asked.expect_err("nobody confirms it").error.to_string();
    assert_eq!(
        asked,
        "this would delete everything of `me` with the words \"dario\" in project `default`"
    );
    let told = typed(&desk, &["forget --words dario --yes"])
        .await
        .expect("it forgets");
    let (first, kept) = told.said.split_once('\n').expect("several lines");
    assert_eq!(first, "deleted 0 memories and 1 message");
    let kept = kept
        .split_once("1 message next to them is kept")
        .expect("it says so");
    assert!(kept.1.contains("me: He-sings.\n"), "{}", told.said);
    let all = typed(&desk, &["forget --all --yes"]).await;
    let all = all.expect_err("everything goes only by name").error.to_string();
    assert!(all.starts_with("no owner given"), "{all}");
}

#[tokio::test]
async fn without_a_match_there_is_a_message_and_no_confirmation() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    typed(&desk, &["add --flush I-sail."])
        .await
        .expect("it is remembered");
    for (line, of, exit) in [
        ("forget --words Zaphod", "`me` with these words", Exit::NotFound),
        (
            "forget --words Zaphod --yes",
            "`me` with these words",
            Exit::NotFound,
        ),
        ("forget --user nobody --all --yes", "`nobody`", Exit::Ok),
        ("forget --session nope --yes", "session `nope`", Exit::Ok),
    ] {
        let told = typed(&desk, &[line]).await.expect("nobody is asked");
        let said = format!("found no memories and no messages of {of} in project `default`; ");
        assert!(told.said.starts_with(&said), "{line}: {}", told.said);
        assert_eq!(told.exit, exit, "{line}");
    }
    // A line of a page counts as a match.
    let page = root.path().join("memory/default/default/users/me/USER.md");
    std::fs::write(page, "# Me\n\nZaphod is a friend.\n").expect("is written");
    let asked = typed(&desk, &["forget --words Zaphod"]).await;
    assert_eq!(asked.expect_err("nobody confirms it").exit, Exit::Usage);
    let told = typed(&desk, &["forget --words Zaphod --yes"])
        .await
        .expect("it forgets");
    assert_eq!(told.exit, Exit::Ok, "{}", told.said);
}

#[tokio::test]
async fn deleting_everything_of_one_project_keeps_the_other_projects() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let (boat, bike) = ("--user ana --project boat", "--user ana");
    let adds = [boat, bike].map(|whose| format!("add --flush I-sail. {whose}"));
    typed(&desk, &[&adds[0], &adds[1]])
        .await
        .expect("they are remembered");
    for (whose, project) in [(bike, "default"), (boat, "boat")] {
        let asked = typed(&desk, &[&format!("forget {whose} --all")]).await;
        let asked = asked.expect_err("nobody confirms it").error.to_string();
        let told = format!("this would delete everything of `ana` in project `{project}`");
        assert_eq!(asked, told);
    }
    let told = typed(&desk, &["forget --user ana --all --yes"]).await;
    let told = told.expect("it forgets").said;
    assert!(
        told.contains("\n  memory in other projects: a deletion reaches one project\n"),
        "{told}"
    );
    let left = typed(&desk, &["status users"]).await.expect("it lists").said;
    assert!(
        left.contains("boat") && !left.contains("default  default"),
        "{left}"
    );
}

#[test]
fn the_preview_shows_each_message_around_the_words() {
    let long = format!(
        "{} a\u{1b}sk Dario about it.",
        "We talked of the weather.".repeat(9)
    );
    let item = |text: &str| json!({"id": "me_ep_1", "kind": "episode", "owner": "me", "text": text, "timestamp": "2026-11-01T10:00:00Z"});
    let said = |id: &str, text: &str| {
        json!({"id": id, "session_id": "s1", "sender_id": "me", "sender_name": null, "role": "user",
            "content": text, "timestamp": "2026-11-01T10:00:00Z", "score": 0.0, "episode_id": null})
    };
    let data = json!({
        "count": 1, "message_count": 1, "memories": [item("Dario sails.")], "lines": ["Dario"], "stays": [],
        "rewritten": [item("The weather")],
        "messages": [said("m1", &long)], "beside": [said("m2", "She sings.")],
    });
    SAID.take();
    show(&serde_json::from_value(data).expect("a preview"), "DARIO").expect("is shown");
    expect_test::expect![[r"
        1 message goes:
          2026-11-01 me: …weather.We talked of the weather.We talked of the weather. ask Dario about it.
        1 memory goes:
          episode: Dario sails.
        1 episode stays without these messages:
          episode: The weather
        1 line or title goes:
          Dario
        1 message next to them is kept; `--words` with its own words deletes it:
          2026-11-01 me: She sings.
    "]]
    .assert_eq(&SAID.take());
}

#[test]
fn the_report_has_singular_and_plural_for_rewritten_memories() {
    for (rewritten_count, told) in [
        (1, "1 memory lost some of its messages and stays\n"),
        (4, "4 memories lost some of their messages and stay\n"),
    ] {
        let data = gateway::wire::DeleteData {
            rewritten_count,
            ..gateway::wire::DeleteData::default()
        };
        SAID.take();
        report(&data, &[]).expect("is said");
        assert_eq!(SAID.take(), format!("deleted 0 memories and 0 messages\n{told}"));
    }
}

#[tokio::test]
async fn remains_of_a_deletion_are_listed_with_the_reason() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let add = "add --flush --session s1 The-alarm-code-is-Zebra-4711.";
    typed(&desk, &[add, "add --flush --session s2 I-sail-on-Sundays."])
        .await
        .expect("they are remembered");
    let own = root.path().join("memory/default/default/users/me");
    std::fs::write(own.join("episodes/a.md~"), "old: The-alarm-code-is-Zebra-4711.").expect("is written");
    std::fs::write(own.join("notes.txt"), "nothing of it").expect("is written");
    let backup = "\n  backups, exports and copies of the root: Quipu does not know where they are; delete those made before\n";
    let told = typed(&desk, &["forget --session s1 --yes"]).await;
    let told = told.expect("it forgets").said;
    let why = "it has deleted text, and Quipu does not change it: delete it yourself";
    let named = format!("  memory/default/default/users/me/episodes/a.md~: {why}\n");
    assert!(told.contains(&named) && told.contains(backup), "{told}");
    assert!(!told.contains("notes.txt"), "{told}");
    assert!(own.join("episodes/a.md~").exists(), "it is a person's");

    let told = typed(&desk, &["--json forget --user me --all --yes"]).await;
    let told = told.expect("it forgets").json();
    let left = told["left"].as_array().expect("a list").iter();
    let left: Vec<&str> = left.filter_map(|item| item["what"].as_str()).collect();
    assert_eq!(
        left,
        [
            "memory/default/default/users/me/episodes/a.md~",
            "memory/default/default/users/me/notes.txt",
            "memories of other owners",
            "memory in other projects",
            "backups, exports and copies of the root",
        ]
    );
    let again = typed(&desk, &["--json forget --user me --all --yes"]).await;
    let again = again.expect("nothing is left to forget").json();
    assert_eq!(again["left"].as_array().map(Vec::len), Some(2), "{again}");
}

/// No system call accepts such a long path: everything else is deleted all the same.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_path_that_is_too_deep_is_named_and_everything_else_is_deleted() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let adds = [
        "add --flush --session s1 The-alarm-code-is-Zebra-4711.",
        "add --flush --session s2 I-sail.",
    ];
    typed(&desk, &adds).await.expect("they are remembered");
    let facts = root.path().join("memory/default/default/users/me/facts");
    std::fs::create_dir_all(&facts).expect("is made");
    let (name, spare, above) = (
        "d".repeat(200),
        root.path().join("spare"),
        root.path().join("above"),
    );
    std::fs::create_dir(&spare).expect("is made");
    std::fs::write(spare.join(format!("{}.md", "n".repeat(240))), "deep").expect("is written");
    for _ in 0..(4_080 - facts.as_os_str().len()) / 201 {
        std::fs::create_dir(&above).expect("is made");
        std::fs::rename(&spare, above.join(&name)).expect("is moved");
        std::fs::rename(&above, &spare).expect("is moved");
    }
    std::fs::rename(spare.join(&name), facts.join(&name)).expect("is moved");
    for line in ["forget --session s1 --yes", "forget --user me --all --yes"] {
        let told = typed(&desk, &[line]).await.expect("it forgets").said;
        assert!(told.starts_with("deleted "), "{line}: {told}");
        assert!(
            told.contains("nnn.md: Quipu cannot look into it"),
            "{line}: {told}"
        );
    }
}
