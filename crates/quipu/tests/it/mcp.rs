//! `quipu mcp` as an agent starts it: on standard input and output, alone, next to a server, and next to
//! another agent.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::harness::Root;

/// A client with a protocol implementation of its own.
pub(crate) struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    id: u64,
}

impl Agent {
    pub(crate) fn start(root: &Root, options: &[&str]) -> Self {
        let mut child = root.start_piped(&[&["mcp"], options].concat());
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let input = child.stdin.take();
        let mut agent = Self {
            child,
            input,
            output,
            id: 0,
        };
        let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let greeting = agent.ask("initialize", &client);
        assert_eq!(greeting["protocolVersion"], "2025-06-18");
        assert!(greeting["instructions"].as_str().unwrap().contains("`search`"));
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}));
        let line = self.output.next().expect("an answer").unwrap();
        let mut reply: Value = serde_json::from_str(&line).expect("nothing but the protocol");
        assert_eq!(reply["id"], self.id, "{reply}");
        reply["result"].take()
    }

    /// The text of a tool's result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        result["content"][0]["text"].as_str().expect("text").to_owned()
    }

    pub(crate) fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn an_agent_remembers_and_finds_alone_next_to_another_and_next_to_a_server() {
    let root = Root::new();
    let project = ["--project", "default"];
    let (mut one, mut other) = (Agent::start(&root, &project), Agent::start(&root, &project));
    assert_eq!(
        one.ask("tools/list", &json!({}))["tools"]
            .as_array()
            .unwrap()
            .len(),
        8
    );
    assert!(
        !root.path().join("ledger.sqlite").exists(),
        "nothing is opened before it is needed"
    );
    let stored = one.call("remember", &json!({"text": "My boat is called Marula."}));
    assert!(stored.starts_with("stored as m_"), "{stored}");
    let boat = json!({"query": "what is my boat called?"});
    assert!(
        other.call("search", &boat).contains("Marula"),
        "another agent has the root in turn"
    );
    let server = root.serve();
    assert!(one.call("search", &boat).contains("Marula"), "beside the server");
    assert!(root.run(&["search", "boat"]).stdout.contains("Marula"));
    drop(server);
    assert!(
        other.call("search", &boat).contains("Marula"),
        "the server is gone"
    );
    one.end();
    other.end();
}
