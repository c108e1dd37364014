//! Cases and skills made from an agent's work, and texts of tools, pages and models that must not
//! get into them.

mod cases;
mod clusters;
mod models;

use model::{
    Cell, CellId, Content, CutReason, EntryId, Message, MessageId, Name, Role, Scope, SessionId, SessionKey,
    Timestamp, ToolCall,
};

use crate::skills::{Case, KnownCase, Trajectory, case, trajectories};

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

/// A talk, one message a line: `u: text`, `a: text`, `c: tool {arguments} => result`.
fn cell(talk: &str) -> Cell {
    let session = SessionKey::new(Scope::default(), SessionId::new("s1"));
    let mut messages: Vec<Message> = Vec::new();
    let mut push = |role: Role, text: &str, calls: Vec<ToolCall>, answers: Option<String>| {
        let n = messages.len();
        messages.push(Message {
            id: MessageId::new(format!("m_{n}")),
            session: session.clone(),
            sender: name(match role {
                Role::User => "ann",
                Role::Assistant => "coder",
                Role::Tool => "tool",
            }),
            sender_name: None,
            role,
            time: Timestamp::from_millis(1_700_000_000_000 + 1_000 * i64::try_from(n).expect("few")),
            content: Content::Text(text.to_owned()).into(),
            tool_calls: calls,
            tool_call_id: answers,
        });
    };
    for (n, line) in talk
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .enumerate()
    {
        let (who, text) = line.split_once(": ").expect("a speaker");
        match who {
            "u" => push(Role::User, text, Vec::new(), None),
            "a" => push(Role::Assistant, text, Vec::new(), None),
            _ => {
                let (call, result) = text.split_once(" => ").expect("a result");
                let (tool, arguments) = call.split_once(' ').unwrap_or((call, ""));
                let id = format!("call_{n}");
                let call = ToolCall {
                    id: id.clone(),
                    name: tool.to_owned(),
                    arguments: arguments.to_owned(),
                };
                push(Role::Assistant, "", vec![call], None);
                push(Role::Tool, &result.replace("\\n", "\n"), Vec::new(), Some(id));
            }
        }
    }
    Cell {
        id: CellId::new("mc_1"),
        session,
        messages,
        owners: Vec::new(),
        reason: CutReason::Flush,
    }
}

fn work(talk: &str) -> Trajectory {
    let mut all = trajectories(&cell(talk));
    assert_eq!(all.len(), 1, "one agent works");
    all.remove(0)
}

fn case_of(talk: &str) -> Case {
    case(&work(talk)).expect("it is worth telling")
}

fn known(id: &str, hours: i64, talk: &str) -> KnownCase {
    let case = case_of(talk);
    KnownCase {
        id: EntryId::new(id),
        time: Timestamp::from_millis(hours * 3_600_000),
        intent: case.task_intent,
        approach: case.approach,
        insight: case.key_insight,
        tools: case.tools,
        quality_percent: case.quality_percent,
    }
}

const DEPLOY: &str = r#"
    u: Hi! Please deploy the billing service to staging.
    c: read_file {"path": "deploy/billing.yaml"} => image: billing
    c: run {"command": "deploy billing --env staging"} => {"error": "the database is not migrated"}
    c: run {"command": "migrate billing --env staging"} => done
    c: run {"command": "deploy billing --env staging"} => deployed
    a: The billing service runs on staging now.
    u: Great, thanks!
"#;

const DEPLOY_AGAIN: &str = r#"
    u: Deploy the search service to staging, please.
    c: read_file {"path": "deploy/search.yaml"} => image: search
    c: run {"command": "migrate search --env staging"} => done
    c: run {"command": "deploy search --env staging"} => deployed
    a: The search service is deployed.
    u: Perfect.
"#;
