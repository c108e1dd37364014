//! `quipu forget` as it is typed: whose memory it is, what it says before and after, and that there was nothing.

use serde_json::json;
use tempfile::TempDir;

use super::{report, show};
use crate::commands::forget::ForgetTarget;
use crate::commands::tests::{desk, typed};
use crate::error::Exit;
use crate::output::tests::SAID;

#[tokio::test]
async fn words_are_those_of_the_default_user() {
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
async fn where_there_is_nothing_nobody_is_asked_and_it_is_said() {
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
    // A line of a page is something.
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
async fn a_whole_memory_is_that_of_one_project_and_the_others_stay() {
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
        told.contains("\nmemory in other projects stays: `quipu users` lists it\n"),
        "{told}"
    );
    let left = typed(&desk, &["users"]).await.expect("it lists").said;
    assert!(
        left.contains("boat") && !left.contains("default  default"),
        "{left}"
    );
}

#[test]
fn what_would_go_is_shown_where_it_has_the_words() {
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
fn several_memories_stay_and_one_stays() {
    for (rewritten_count, told) in [
        (1, "1 memory lost some of its messages and stays\n"),
        (4, "4 memories lost some of their messages and stay\n"),
    ] {
        let data = wire::DeleteData {
            rewritten_count,
            ..wire::DeleteData::default()
        };
        SAID.take();
        report(&ForgetTarget::Memories, &data).expect("is said");
        assert_eq!(SAID.take(), format!("deleted 0 memories and 0 messages\n{told}"));
    }
}
