//! A server with the tools, resources and prompts of the protocol's conformance suite, behind Quipu's own HTTP door:
//! `cargo run -p mcp --example conformance`.
//!
//! Prints its URL and serves until its input ends. Owns: turning `conformance.json`, the suite's expectations, into
//! answers. Never: a rule of HTTP; `http.rs` of the product owns those.
#![expect(clippy::print_stdout, reason = "whoever starts it reads the address")]
#![expect(deprecated, reason = "older revisions have levels of logs")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, LazyLock};

use axum::Extension;
use gateway::{Asker, Client};
use model::{Scope, Timestamp};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Prompt, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceTemplate,
    ServerCapabilities, ServerConfig, ServerNotification, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

#[expect(unreachable_pub, reason = "it is public in the product")]
#[path = "../src/http.rs"]
mod http;

/// The items that `http.rs` imports from its crate.
mod door {
    pub(crate) use mcp::{DoorOwner, Now};

    pub(crate) use super::Fixtures as Door;
}

static SUITE: LazyLock<Suite> =
    LazyLock::new(|| serde_json::from_str(include_str!("conformance.json")).expect("a suite"));
/// The last change notification of a tool.
static CHANGED: LazyLock<watch::Sender<Option<ServerNotification>>> = LazyLock::new(watch::Sender::default);

/// The capabilities, tools, resources and prompts that the suite expects of a server.
#[derive(Deserialize)]
struct Suite {
    capabilities: ServerCapabilities,
    /// Requests to a client, by the capability that each needs.
    requests: BTreeMap<String, InputRequest>,
    tools: BTreeMap<String, SuiteTool>,
    /// Each has its listing and its contents, as the template has.
    resources: Vec<Value>,
    template: Value,
    prompts: Vec<SuitePrompt>,
}

#[derive(Deserialize)]
struct SuiteTool {
    #[serde(default = "anything")]
    schema: JsonObject,
    #[serde(default)]
    rounds: Vec<Round>,
    #[serde(default)]
    progress: Vec<f64>,
    #[serde(default)]
    logs: Vec<String>,
    change: Option<ServerNotification>,
    #[serde(default)]
    fails: bool,
    answer: Vec<ContentBlock>,
}

#[derive(Deserialize)]
struct SuitePrompt {
    #[serde(flatten)]
    listing: Prompt,
    #[serde(default)]
    rounds: Vec<Round>,
    messages: Value,
}

/// The requests that a server sends together before it answers.
#[derive(Deserialize)]
struct Round {
    /// Keys, and the capability that each needs.
    asks: BTreeMap<String, String>,
    state: Option<String>,
}

fn anything() -> JsonObject {
    JsonObject::from_iter([("type".to_owned(), "object".into())])
}

/// The server of one request.
#[derive(Clone)]
struct Fixtures(watch::Receiver<Option<ServerNotification>>);

impl Fixtures {
    fn new(_: Client, _: mcp::DoorOwner, _: mcp::Now) -> Self {
        Self(CHANGED.subscribe())
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(SUITE.capabilities.clone())
            .with_server_info(Implementation::new("conformance", "1"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let schema = SUITE.tools.get(name)?.schema.clone();
        Some(Tool::new(name.to_owned(), "A tool of the suite", schema))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = SUITE.tools.keys().filter_map(|name| self.get_tool(name));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = SUITE.tools.get(&*request.name);
        let tool = tool.ok_or_else(|| missing(&request.name))?;
        let (given, state) = (request.input_responses, request.request_state.as_deref());
        if let Some(asked) = next_requests(&tool.rounds, given, state, &context)? {
            return Ok(asked.into());
        }
        send_progress(tool, &context).await?;
        if let Some(change) = &tool.change {
            CHANGED.send_replace(Some(change.clone()));
        }
        let mut result = CallToolResult::success(tool.answer.clone());
        result.is_error = Some(tool.fails);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources: Vec<Resource> = SUITE.resources.iter().cloned().map(of).collect();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template: ResourceTemplate = of(SUITE.template.clone());
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = &*request.uri;
        let id = uri.strip_prefix("test://template/");
        let contents = match id.and_then(|rest| rest.strip_suffix("/data")) {
            Some(id) => Some(with_arguments(&SUITE.template, &of(json!({"id": id})))),
            None => SUITE.resources.iter().find(|one| one["uri"] == uri).cloned(),
        };
        let missing =
            || ErrorData::resource_not_found(format!("there is no `{uri}`"), Some(json!({"uri": uri})));
        Ok(ReadResourceResult::new(vec![of(contents.ok_or_else(missing)?)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = SUITE.prompts.iter().map(|prompt| prompt.listing.clone());
        Ok(ListPromptsResult::with_all_items(prompts.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut prompts = SUITE.prompts.iter();
        let prompt = prompts.find(|prompt| prompt.listing.name == request.name);
        let prompt = prompt.ok_or_else(|| missing(&request.name))?;
        let (given, state) = (request.input_responses, request.request_state.as_deref());
        if let Some(asked) = next_requests(&prompt.rounds, given, state, &context)? {
            return Ok(asked.into());
        }
        let messages = with_arguments(&prompt.messages, &request.arguments.unwrap_or_default());
        Ok(GetPromptResult::new(of(messages)).into())
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        // Subscribed when the server of this request was created: no change since then is missed.
        let mut changed = self.0.clone();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(()) = changed.changed() => {
                    let change = changed.borrow_and_update().clone();
                    // The sink refuses a change to which this client did not subscribe.
                    context.sink().send(change.expect("a change")).await.ok();
                }
            }
        }
    }
}

/// The next requests to the client; none if the client has answered every round.
fn next_requests(
    rounds: &[Round],
    given: Option<InputResponses>,
    state: Option<&str>,
    context: &RequestContext<RoleServer>,
) -> Result<Option<InputRequiredResult>, ErrorData> {
    let able = json!(context.client_capabilities());
    let askable = |round: &Round| -> InputRequests {
        let asks = round.asks.iter().filter(|(_, it)| able.get(it).is_some());
        asks.map(|(key, it)| (key.clone(), SUITE.requests[it].clone()))
            .collect()
    };
    let mut due = 0;
    if let Some(given) = given.filter(|_| !rounds.is_empty()) {
        let of_state = rounds.iter().position(|round| round.state.as_deref() == state);
        due = of_state.ok_or_else(|| ErrorData::invalid_params("the state is not of this server", None))?;
        let is_answered = |key: &String| given.get(key).is_some_and(Value::is_object);
        due += usize::from(askable(&rounds[due]).keys().all(is_answered));
    }
    let Some(round) = rounds.get(due) else {
        return Ok(None);
    };
    let asks = askable(round);
    if asks.is_empty() {
        let needed = round.asks.values().map(|it| (it.clone(), json!({})));
        return Err(ErrorData::missing_required_client_capability(
            of(needed.collect()),
        ));
    }
    Ok(Some(InputRequiredResult::new(Some(asks), round.state.clone())))
}

/// Sends the progress and the logs of a tool to the client, before the tool's answer.
async fn send_progress(tool: &SuiteTool, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let broken = |error| ErrorData::internal_error(format!("{error}"), None);
    if let Some(token) = context.meta.get_progress_token() {
        for progress in &tool.progress {
            let param = ProgressNotificationParam::new(token.clone(), *progress).with_total(100.0);
            context.peer.notify_progress(param).await.map_err(broken)?;
        }
    }
    // Since 2026-07-28, only a request with a log level gets logs.
    let version = context.protocol_version();
    let is_older = version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
    if is_older || context.meta.log_level().is_some() {
        for data in &tool.logs {
            let log = json!({"method": "notifications/message", "params": {"level": "info", "data": data}});
            context.peer.send_notification(of(log)).await.map_err(broken)?;
        }
    }
    Ok(())
}

fn missing(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no `{name}`"), None)
}

/// Parses a part of the suite into a type of the protocol.
fn of<T: DeserializeOwned>(part: Value) -> T {
    serde_json::from_value(part).expect("the suite has the protocol's form")
}

/// Replaces `{name}` in a part of the suite by the argument of that name.
fn with_arguments(part: &Value, arguments: &JsonObject) -> Value {
    let mut text = part.to_string();
    for (name, argument) in arguments {
        let argument = argument.to_string();
        text = text.replace(&format!("{{{name}}}"), argument.trim_matches('"'));
    }
    serde_json::from_str(&text).expect("JSON stays JSON")
}

#[tokio::main]
async fn main() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
    let listener = listener.expect("a free port");
    let address = listener.local_addr().expect("an address");
    println!("http://{address}/mcp");
    let (scope, user) = (Scope::default(), None);
    let now = Arc::new(|| Timestamp::from_millis(0));
    // The fixtures send no request to this client.
    let client = Client::there(address, None);
    let routes = http::routes(client, None, now).layer(Extension(Asker { scope, user }));
    let until_end = || std::io::stdin().read_to_end(&mut Vec::new());
    tokio::select! {
        served = axum::serve(listener, routes) => served.expect("served"),
        _ = tokio::task::spawn_blocking(until_end) => {}
    }
}
