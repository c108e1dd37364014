//! Costs of models, for a run and for a day, and the behaviour when the day's tokens are used up.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use background::{
    About, BackgroundParts, BackgroundSettings, Failure, Offline, RunContext, RunOutcome, Strategy,
    StrategySettings, Triggers,
};
use ports::runs::{MemoryEvent, Runs as _};
use ports::{Chat, ChatError, ChatMessage, ChatRequest, ChatRole, Clock as _};
use testkit::models::ScriptedChat;

use crate::stage::{Stage, outcome, user};

/// A strategy that asks the model, and works by rules if the budget is used up.
#[derive(Debug)]
struct Asks;

#[async_trait]
impl Strategy for Asks {
    fn name(&self) -> &'static str {
        "asks"
    }

    fn triggers(&self) -> Triggers {
        Triggers::default()
    }

    fn about(&self, event: &MemoryEvent) -> Option<About> {
        Some(About {
            owner: Some(event.owner().clone()),
            subject: String::new(),
        })
    }

    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure> {
        let request = ChatRequest {
            messages: vec![ChatMessage {
                role: ChatRole::User,
                content: "one two three".to_owned(),
            }],
            ..ChatRequest::new("", "", 9)
        };
        match context.chat.as_ref().expect("a model").complete(request).await {
            Ok(reply) => Ok(outcome(&reply.content)),
            Err(ChatError::OverBudget { .. }) => Ok(outcome("by rules")),
            Err(error) => Err(error.into()),
        }
    }
}

#[tokio::test]
async fn the_daily_token_limit_holds_over_a_restart() {
    let chat = Arc::new(ScriptedChat::answering(|_| Ok("four five".to_owned())));
    let stage = Stage {
        chat: Some(chat.clone()),
        settings: BackgroundSettings {
            tokens_per_day_max: Some(9),
            ..BackgroundSettings::default()
        },
        ..Stage::default()
    };
    let open = async || {
        let parts = BackgroundParts {
            runs: stage.ledger.clone(),
            chat: stage.chat.clone(),
            models: stage.models.clone(),
            clock: stage.clock.clone(),
            ids: stage.ids.clone(),
        };
        let offline = Offline::new(parts, stage.settings.clone());
        offline.register(vec![Arc::new(Asks)]);
        offline.start().await.expect("starts");
        offline
    };
    let offline = open().await;
    for expected in ["four five", "four five"] {
        stage.emit(&offline, "ann", "mc").await;
        assert_eq!(stage.runs().await[0].change, expected);
    }
    let run = stage.runs().await.remove(0);
    assert_eq!(
        (run.cost.calls, run.cost.prompt_tokens, run.cost.completion_tokens),
        (1, 3, 2)
    );
    assert_eq!(run.work.owner, Some(user("ann")));
    offline.stop().await;
    let offline = open().await;
    stage.emit(&offline, "ann", "mc").await;
    assert_eq!(stage.runs().await[0].change, "by rules");
    let today = stage.settings.zone.date(stage.clock.now());
    let spent = stage.ledger.spent(today).await.expect("reads");
    assert_eq!((spent.calls, spent.tokens(), chat.calls()), (2, 10, 2));
    stage.pass(Duration::from_hours(24)).await;
    stage.emit(&offline, "ann", "mc").await;
    assert_eq!(stage.runs().await[0].change, "four five", "another day");
}

#[tokio::test]
async fn a_strategy_asks_the_model_in_its_settings() {
    let [of_all, own] = ["of all", "its own"]
        .map(|reply| Arc::new(ScriptedChat::answering(move |_| Ok(reply.to_owned()))) as Arc<dyn Chat>);
    let mut stage = Stage {
        chat: Some(of_all),
        models: [("small".to_owned(), own)].into(),
        ..Stage::default()
    };
    for (model, expected) in [(Some("small"), "its own"), (None, "of all")] {
        let settings = StrategySettings {
            model: model.map(str::to_owned),
            ..StrategySettings::default()
        };
        stage.settings.strategies = [("asks".to_owned(), settings)].into();
        let offline = stage.build(&[]);
        offline.register(vec![Arc::new(Asks)]);
        offline.start().await.expect("starts");
        stage.emit(&offline, "ann", "mc").await;
        assert_eq!(stage.runs().await[0].change, expected);
        offline.stop().await;
    }
}

#[tokio::test]
async fn the_operators_text_follows_the_instructions_of_the_prompt() {
    let chat = ScriptedChat::answering(|request| Ok(request.messages[0].content.clone()));
    let mut stage = Stage {
        chat: Some(Arc::new(chat)),
        ..Stage::default()
    };
    let settings = StrategySettings {
        instructions: Some("Write in Czech.".to_owned()),
        ..StrategySettings::default()
    };
    stage.settings.strategies = [("asks".to_owned(), settings)].into();
    let offline = stage.build(&[]);
    offline.register(vec![Arc::new(Asks)]);
    offline.start().await.expect("starts");
    stage.emit(&offline, "ann", "mc").await;
    assert_eq!(stage.runs().await[0].change, "one two three\n\nWrite in Czech.");
    offline.stop().await;
}
