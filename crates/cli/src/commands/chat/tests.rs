//! Chats with a server that sends scripted answers.

use std::path::Path;

use clap::Parser;
use ledger::SqliteLedger;
use serde_json::{Value, json};

use self::fake::{Asked, Fake, Scripted, answer, body, events, torn};
use super::Talk;
use crate::api::Api;
use crate::args::{ChatArgs, Cli, Command};
use crate::commands::tests::desk;
use crate::error::{Exit, Failure};
use crate::serving::{LEDGER, Notice};

pub(crate) mod fake;

/// The output of a chat.
struct Talked {
    exit: Exit,
    out: String,
    /// Each failure with its hint.
    err: Vec<String>,
    asked: Vec<Asked>,
}

impl Talked {
    fn objects(&self) -> Vec<Value> {
        let object = |line| serde_json::from_str(line).expect("an object on a line");
        self.out.lines().map(object).collect()
    }
}

/// Reader of the output.
#[derive(Clone, Copy, PartialEq)]
enum Viewer {
    Terminal,
    Pipe,
    Program,
}

fn parsed(arguments: &[&str]) -> ChatArgs {
    let line = ["quipu", "chat"].iter().chain(arguments);
    match Cli::try_parse_from(line).expect("a chat").command {
        Command::Chat(args) => args,
        other => panic!("{other:?}"),
    }
}

/// Types lines into a chat.
async fn typed(server: &Fake, arguments: &[&str], viewer: Viewer, lines: &[&str]) -> Talked {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut report = |failure: &Failure| {
        let hint = failure.hint.as_deref().unwrap_or_default();
        err.push(format!("{:#} ({hint})", failure.error));
    };
    let mut talk = Talk {
        api: server.api(),
        args: parsed(arguments),
        out: &mut out,
        report: &mut report,
        as_json: viewer == Viewer::Program,
        is_terminal: viewer == Viewer::Terminal,
        prompts: viewer == Viewer::Terminal,
        history: Vec::new(),
    };
    let exit = talk.run(lines.iter().map(|line| Ok((*line).to_owned()))).await;
    Talked {
        exit: exit.expect("the talk itself does not fail"),
        out: String::from_utf8(out).expect("text"),
        err,
        asked: server.asked(),
    }
}

async fn talk(script: Vec<Scripted>, arguments: &[&str], viewer: Viewer, lines: &[&str]) -> Talked {
    typed(&Fake::start(script).await, arguments, viewer, lines).await
}

fn usage(prompt: u64, cached: u64, completion: u64) -> Value {
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    })
}

const NAMED: &str = "x-quipu-conversation: c1\r\nx-quipu-injected: f3; memories=2; tokens=81\r\n";

#[tokio::test]
async fn every_turn_sends_the_whole_conversation() {
    let script = vec![
        answer(&["Grüß ", "Gott", "."], &usage(10, 0, 3), NAMED),
        answer(&["Still ", "here."], &usage(30, 13, 4), NAMED),
    ];
    let arguments = ["--model", "m", "--system", "Be short."];
    let lines = ["Hello", "And now?", "/quit", "not said"];
    let talked = talk(script, &arguments, Viewer::Pipe, &lines).await;
    assert_eq!(talked.exit, Exit::Ok);
    assert_eq!(talked.out, "Grüß Gott.\nStill here.\n");
    assert!(talked.err.is_empty(), "{:?}", talked.err);
    let [first, second] = talked.asked.as_slice() else {
        panic!("{:?}", talked.asked)
    };
    assert_eq!(first.what, "POST /v1/chat/completions");
    assert_eq!(first.said(), ["system: Be short.", "user: Hello"]);
    assert_eq!(
        second.said(),
        [
            "system: Be short.",
            "user: Hello",
            "assistant: Grüß Gott.",
            "user: And now?"
        ]
    );
    assert_eq!(first.header("x-quipu-conversation"), None);
    assert_eq!(second.header("x-quipu-conversation"), Some("c1"));
    assert_eq!(first.body["model"], "m");
    assert_eq!(first.body["stream"], true);
    assert_eq!(first.body["stream_options"]["include_usage"], true);
}

#[tokio::test]
async fn json_output_is_one_object_a_line() {
    let script = vec![
        answer(&["a\n", "b"], &usage(10, 4, 2), NAMED),
        body(500, &json!({"error": {"message": "no\nroom"}})),
        answer(&["c"], &Value::Null, ""),
    ];
    let lines = ["1", "2", "3", "/nonsense"];
    let talked = talk(script, &[], Viewer::Program, &lines).await;
    let objects = talked.objects();
    let [first, third] = objects.as_slice() else {
        panic!("{objects:?}")
    };
    let injected = "f3; memories=2; tokens=81";
    assert_eq!(
        *first,
        json!({"text": "a\nb", "usage": usage(10, 4, 2), "conversation": "c1", "injected": injected})
    );
    assert_eq!(
        *third,
        json!({"text": "c", "usage": null, "conversation": "c1", "injected": null})
    );
    let refused = "the server answered with status 500: no room (the server or its";
    assert!(talked.err[0].starts_with(refused), "{:?}", talked.err);
    assert!(talked.err[1].contains("/nonsense"), "{:?}", talked.err);
    assert!(talked.asked[0].body.get("model").is_none());
}

#[tokio::test]
async fn a_refusal_is_printed_in_a_line_and_the_chat_continues() {
    let script = vec![
        body(
            503,
            &json!({"error": {"message": "the upstream is down", "code": 503}}),
        ),
        body(
            404,
            &json!({"error": {"message": "no\u{1b} model", "code": "model_not_found"}}),
        ),
        events(&[json!({"error": {"message": "out of memory"}})]),
        body(200, &json!({"choices": []})),
        answer(&["Back."], &usage(1, 0, 1), ""),
    ];
    let lines = ["a", "b", "c", "d", "e"];
    let talked = talk(script, &[], Viewer::Pipe, &lines).await;
    let told = &talked.err;
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].contains("503: the upstream is down (the server or its model server"));
    assert!(told[1].contains("404: no model ("), "{told:?}");
    assert!(told[2].contains("ended too early: out of memory ("));
    assert!(told[3].contains("ended too early: no reason given ("));
    assert_eq!(talked.out, "Back.\n");
    assert_eq!(talked.asked[4].said(), ["user: e"]);
    assert_eq!(talked.exit, Exit::Failed, "a program must know");
}

#[tokio::test]
async fn a_cut_off_answer_is_reported_and_its_shown_text_stays() {
    let script = vec![torn(&["Half an"]), answer(&["Whole."], &usage(1, 0, 1), "")];
    let talked = talk(script, &[], Viewer::Pipe, &["a", "b"]).await;
    assert_eq!(talked.out, "Half an\nWhole.\n");
    assert!(talked.err[0].contains("ended too early"), "{:?}", talked.err);
    assert_eq!(
        talked.asked[1].said(),
        ["user: a", "assistant: Half an", "user: b"]
    );
}

#[tokio::test]
async fn a_stopped_server_fails_each_message() {
    let mut server = Fake::start(Vec::new()).await;
    server.ended().await;
    let talked = typed(&server, &[], Viewer::Pipe, &["a", "b"]).await;
    assert_eq!(talked.err.len(), 2, "{:?}", talked.err);
    assert!(talked.err[0].contains("no server answers"), "{:?}", talked.err);
    assert_eq!(talked.exit, Exit::InUse, "it does not answer");
}

#[tokio::test]
async fn a_new_conversation_starts_with_an_empty_history() {
    let ok = || answer(&["Yes."], &usage(5, 0, 1), NAMED);
    let lines = ["a", "/new", "b", "c"];
    let talked = talk(
        vec![ok(), ok(), ok()],
        &["--system", "Be short."],
        Viewer::Pipe,
        &lines,
    )
    .await;
    assert_eq!(talked.asked[1].said(), ["system: Be short.", "user: b"]);
    assert_eq!(talked.asked[1].header("x-quipu-conversation"), None);
    let said = talked.asked[2].said();
    assert_eq!(said[1..], ["user: b", "assistant: Yes.", "user: c"]);
}

#[tokio::test]
async fn control_characters_reach_a_pipe_but_not_a_terminal() {
    let delta = |delta: Value| json!({"choices": [{"delta": delta}]});
    let script = || {
        vec![events(&[
            delta(json!({"role": "assistant", "content": null, "reasoning_content": "Hm."})),
            delta(json!({"content": "Tea\x1b]52;c;bad\x07"})),
            json!({"choices": [{"delta": {"content": "!"}, "finish_reason": "stop"}]}),
        ])]
    };
    let talked = talk(script(), &[], Viewer::Terminal, &["a", "/help"]).await;
    assert_eq!(talked.out, "> Tea]52;c;bad!\n> > ");
    assert!(talked.err[0].contains("/new begins"), "{:?}", talked.err);
    assert_eq!(talked.exit, Exit::Ok, "a person has read it");
    let talked = talk(script(), &[], Viewer::Pipe, &["a"]).await;
    assert_eq!(talked.out, "Tea\x1b]52;c;bad\x07!\n");
}

/// Runs `quipu` in this process, next to the server that has the root.
fn run(arguments: &[&str], script: Vec<Scripted>) -> (Exit, Vec<Asked>) {
    let runtime = super::runtime().expect("a runtime");
    let server = runtime.block_on(fake::Fake::start(script));
    let root = tempfile::tempdir().expect("a folder");
    let _ledger = SqliteLedger::open(&root.path().join(LEDGER)).expect("opens");
    let _notice = Notice::put(root.path(), server.address, "s3").expect("written");
    (quipu(root.path(), arguments), server.asked())
}

fn quipu(root: &Path, arguments: &[&str]) -> Exit {
    let root = root.to_str().expect("text");
    let line = ["quipu", "--root", root]
        .into_iter()
        .chain(arguments.iter().copied())
        .map(Into::into);
    crate::run(line, |_, _| panic!("no command opens the root"))
}

#[test]
fn the_command_finds_the_server_sends_its_messages_and_exits() {
    let ok = || answer(&["Yes."], &usage(1, 0, 1), NAMED);
    let (exit, asked) = run(&["chat", "--message", "a", "--message", "b"], vec![ok(), ok()]);
    assert_eq!(exit, Exit::Ok);
    assert_eq!(asked[1].said(), ["user: a", "assistant: Yes.", "user: b"]);
    assert_eq!(asked[0].header("authorization"), Some("Bearer s3"));

    let down = || body(502, &json!({"error": "down"}));
    let (exit, asked) = run(
        &["chat", "--json", "--message", "a", "--message", "b"],
        vec![down()],
    );
    assert_eq!((exit, asked.len()), (Exit::Failed, 1));
    let (exit, asked) = run(&["chat", "--conversation", "a b", "--message", "a"], vec![]);
    assert_eq!((exit, asked.len()), (Exit::Usage, 0));
}

#[test]
fn without_a_server_the_commands_explain_how_to_start_one() {
    let root = tempfile::tempdir().expect("a folder");
    let desk = desk(root.path(), &[]);
    let failure = Api::of_server(&desk).expect_err("there is none");
    assert!(
        failure
            .hint
            .expect("a hint")
            .contains("quipu serve --upstream URL")
    );
    for command in [&["chat", "--message", "a"][..], &["context", "cache"]] {
        assert_eq!(quipu(root.path(), command), Exit::InUse);
    }
}

#[test]
fn the_cache_command_asks_the_same_server() {
    let data = json!({"request_id": "r", "data": {"upstreams": [], "conversations": []}});
    let (exit, asked) = run(
        &["context", "cache", "--json", "--conversation", "c 1"],
        vec![body(200, &data)],
    );
    assert_eq!(exit, Exit::Ok);
    assert_eq!(asked[0].what, "GET /api/v2/cache?conversation=c%201");
}
