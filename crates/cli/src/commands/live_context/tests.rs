//! Each command on the command line, on a real conversation.

use clap::Parser;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::run;
use crate::api::Api;
use crate::args::{Cli, Command, ContextCommand};
use crate::commands::Desk;
use crate::commands::tests::{Log, desk};
use crate::error::{Exit, Failure};
use crate::output::tests::SAID;
use crate::world::World;

/// A root with a conversation about stations, and its API.
struct Stations {
    root: TempDir,
    api: Api,
}

impl Stations {
    async fn new(turns: usize) -> Self {
        Self::with(TempDir::new().expect("a folder"), &[], turns).await
    }

    async fn with(root: TempDir, variables: &[(&str, &str)], turns: usize) -> Self {
        let desk = desk(root.path(), variables);
        let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
        let api = Api::here(world.expect("it opens"));
        let stations = Self { root, api };
        stations.turns(turns).await;
        stations
    }

    async fn turns(&self, turns: usize) {
        for turn in 0..turns {
            let text = format!("Station {turn}: {}", "a bridge over a slow river, ".repeat(40));
            let messages = json!([{"role": "user", "content": text}]);
            self.post("append", json!({"messages": messages})).await;
            self.post("assemble", json!({"window_tokens": 4_096})).await;
            let reply = json!({"role": "assistant", "content": format!("Noted station {turn}.")});
            self.post("after_turn", json!({"message": reply})).await;
        }
    }

    async fn post(&self, route: &str, mut body: Value) {
        body["user_id"] = json!("me");
        body["conversation_id"] = json!("line");
        let answer = self.api.post::<Value>(&format!("/context/{route}"), &body).await;
        answer.unwrap_or_else(|failure| panic!("{route}: {:#}", failure.error));
    }

    /// The output of a command.
    async fn try_say(&self, line: &str) -> Result<String, Failure> {
        let words = ["quipu", "context"].into_iter().chain(line.split_whitespace());
        let cli = Cli::parse_from(words);
        let Command::Context(args) = cli.command else {
            panic!("{line}")
        };
        let Some(ContextCommand::Live(command)) = args.command else {
            panic!("{line}")
        };
        let desk = Desk {
            json: cli.json,
            ..desk(self.root.path(), &[])
        };
        SAID.take();
        assert_eq!(run(&desk, &self.api, &command).await?, Exit::Ok);
        Ok(SAID.take())
    }

    async fn say(&self, line: &str) -> String {
        let said = self.try_say(line).await;
        said.unwrap_or_else(|failure| panic!("{line}: {:#}", failure.error))
    }
}

#[tokio::test]
async fn a_conversation_is_listed_and_shown_and_its_originals_are_found() {
    let stations = Stations::new(12).await;
    assert_eq!(stations.say("list").await, "line\n");
    assert_eq!(stations.say("list --user bob").await, "no conversations of bob\n");
    let shown = stations.say("show line").await;
    let first = shown.lines().next().expect("a line");
    assert!(
        first.contains("n0  user") && first.contains("<conversation_summary"),
        "{shown}"
    );
    assert!(shown.lines().last().expect("a line").contains("m23  assistant"));
    let stats = stations.say("stats line").await;
    for part in [
        "context          ",
        " tokens (",
        "engine           quipu, compacts at ",
        "last step        compact: ",
        "\nsummary n0       m0-m",
    ] {
        assert!(stats.contains(part), "{part}: {stats}");
    }
    let stats: Value = serde_json::from_str(&stations.say("stats line --json").await).expect("JSON");
    assert_eq!(
        (&stats["engine"], &stats["messages_ever"]),
        (&json!("quipu"), &json!(24))
    );
    let found = stations.say("find line station 3").await;
    assert!(found.starts_with("m7  {"), "{found}");
    assert_eq!(stations.say("find line elephant").await, "nothing found\n");
    let original = stations.say("recover line m0").await;
    assert!(original.contains("Station 0: a bridge"), "{original}");
    assert!(stations.say("recover line n0").await.lines().count() > 4);
    let unknown = stations.try_say("show road").await.expect_err("there is none");
    assert_eq!(unknown.exit, Exit::NotFound);
    stations.api.close().await;
}

#[tokio::test]
async fn a_conversation_is_pinned_compacted_copied_and_rewound() {
    let stations = Stations::new(6).await;
    assert_eq!(stations.say("pin line m0").await, "m0 is pinned\n");
    assert!(stations.say("compact line").await.starts_with("compacted from "));
    assert!(stations.say("show line").await.contains("pinned Station 0"));
    assert!(
        stations
            .say("compact line")
            .await
            .starts_with("nothing to compact: all ")
    );
    assert_eq!(
        stations.say("pin line m0 --off").await,
        "m0 is no longer pinned\n"
    );
    assert!(!stations.say("show line").await.contains("pinned"));
    assert_eq!(
        stations.say("fork line road --before m4").await,
        "copied to road\n"
    );
    assert_eq!(stations.say("list").await, "road\nline\n");
    let copy = stations.say("show road").await;
    assert!(copy.contains("m3") && !copy.contains("m4"), "{copy}");
    assert_eq!(
        stations.say("rewind line m11").await,
        "goes on from just before m11\n"
    );
    let shown = stations.say("show line").await;
    assert!(shown.contains("m10") && !shown.contains("m11"), "{shown}");
    stations.api.close().await;
}

#[tokio::test]
async fn a_compaction_follows_the_configuration() {
    let root = TempDir::new().expect("a folder");
    let (events, facts) = (root.path().join("events"), root.path().join("facts"));
    let script = format!(
        "cat >> {0}; echo >> {0}; echo The tide turns at six.",
        events.display()
    );
    let command = serde_json::to_string(&["sh", "-c", script.as_str()]).expect("JSON");
    let variables = [
        ("QUIPU_CONTEXT__COMPACT_AT_PERCENT", "60"),
        ("QUIPU_CONTEXT__ON_COMPACT", command.as_str()),
        ("QUIPU_CONTEXT__FLUSH_FOLDER", facts.to_str().expect("a path")),
    ];
    let stations = Stations::with(root, &variables, 0).await;
    let decided = json!([{"role": "user", "content": "We decided to take the bridge at the old mill."}]);
    stations.post("append", json!({"messages": decided})).await;
    stations.turns(4).await;
    let stats: Value = serde_json::from_str(&stations.say("stats line --json").await).expect("JSON");
    let share = stats["compacts_at_tokens"].as_f64().expect("tokens")
        / stats["limit_tokens"].as_f64().expect("tokens");
    assert!((0.59..0.61).contains(&share), "{stats}");
    assert_eq!(stats["compactions"], 0);
    stations.say("compact line").await;
    let kept = facts.join("default/default/me.md");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap_or_default();
    while !read(&events).contains("post_compact") || read(&kept).is_empty() {
        tokio::task::yield_now().await;
    }
    let events: Vec<Value> = read(&events)
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let [before, after] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(
        (&before["event"], &before["reason"]),
        (&json!("pre_compact"), &json!("manual"))
    );
    assert_eq!(
        (&after["event"], &after["conversation"]),
        (&json!("post_compact"), &json!("me/line"))
    );
    assert!(
        after["tokens_after"].as_u64() < before["tokens_before"].as_u64(),
        "{events:?}"
    );
    assert!(
        after["messages_after"].as_u64() < before["messages_before"].as_u64(),
        "{events:?}"
    );
    let summary = stations.say("show line --json").await;
    assert!(
        summary.contains("<preserved_context>") && summary.contains("The tide turns at six."),
        "{summary}"
    );
    let kept = read(&kept);
    assert!(
        kept.starts_with("## Facts extracted ")
            && kept.ends_with(
                "\n\n- We decided to take the bridge at the old mill. #auto-extracted #compaction\n"
            ),
        "{kept}"
    );
    stations.api.close().await;
}

#[tokio::test]
async fn cm_6_the_preset_codebuddy_words_the_figures_as_code_buddy_does() {
    let root = TempDir::new().expect("a folder");
    let stations = Stations::with(root, &[("QUIPU_CONTEXT__ENGINE", "codebuddy")], 0).await;
    let hello = json!([{"role": "user", "content": "Hello."}]);
    stations.post("append", json!({"messages": hello})).await;
    let metrics = async || {
        let stats = stations.say("stats line").await;
        let (_, metrics) = stats
            .split_once("Context Manager Memory Metrics\n")
            .expect("its heading");
        metrics.to_owned()
    };
    assert_eq!(
        metrics().await,
        "  Summaries stored: 0 (0 tokens)\n  Peak messages: 0\n  Compressions: 0 (0 tokens saved)\n  \
         Last compression: Never\n  Warnings triggered: 0\n"
    );
    stations.turns(12).await;
    stations.say("compact line").await;
    let later = metrics().await;
    assert!(!later.contains(": 0") && !later.contains("Never"), "{later}");
    let own = Stations::new(1).await.say("stats line").await;
    assert!(!own.contains("Metrics"), "{own}");
}

/// If facts cannot be written, the log has the error, and the compaction continues.
#[tokio::test]
async fn an_unwritable_folder_of_facts_is_logged() {
    let root = TempDir::new().expect("a folder");
    let file = root.path().join("file");
    std::fs::write(&file, "no folder").expect("a file");
    let variables = [("QUIPU_CONTEXT__FLUSH_FOLDER", file.to_str().expect("a path"))];
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let stations = Stations::with(root, &variables, 0).await;
    let decided = json!([{"role": "user", "content": "We decided to take the bridge at the old mill."}]);
    stations.post("append", json!({"messages": decided})).await;
    stations.turns(6).await;
    stations.say("compact line").await;
    while !log.text().contains("cannot write to context.flush_folder") {
        tokio::task::yield_now().await;
    }
}
