//! The model server in its moods (well, slow, silent, refusing, out of tokens, answering nonsense) and the
//! people who use it.
//!
//! Owns: the moods; the check that no background call starts or continues while a person uses the server
//! (invariant 9). Never: a useful answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ports::{Chat, ChatError, ChatReply, ChatRequest, Clock, Ids as _};
use proxy::gate::{Gate, Lease};

use crate::dice::Dice;

/// How the server answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mood {
    #[default]
    Well,
    /// Answers well, after minutes.
    Slow,
    Silent,
    Refusing,
    /// The day's tokens are used up.
    Spent,
    Nonsense,
}

impl Mood {
    pub(crate) const ALL: [Self; 6] = [
        Self::Well,
        Self::Slow,
        Self::Silent,
        Self::Refusing,
        Self::Spent,
        Self::Nonsense,
    ];
}

/// The server. It outlives the simulated process.
#[derive(Debug)]
pub(crate) struct Backend {
    dice: Arc<Dice>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    mood: Mood,
    talks: bool,
    calls: usize,
    running: usize,
    broken: Option<&'static str>,
}

impl Backend {
    pub(crate) fn new(dice: Arc<Dice>, clock: Arc<dyn Clock>) -> Self {
        Self {
            dice,
            clock,
            state: Mutex::default(),
        }
    }

    pub(crate) fn set(&self, mood: Mood) {
        self.state().mood = mood;
    }

    /// Makes a slow server quick again.
    pub(crate) fn hurry(&self) {
        let mut state = self.state();
        if state.mood == Mood::Slow {
            state.mood = Mood::Well;
        }
    }

    /// Number of calls so far.
    pub(crate) fn calls(&self) -> usize {
        self.state().calls
    }

    /// The invariant that a call broke, if any.
    pub(crate) fn broken(&self) -> Option<&'static str> {
        self.state().broken
    }

    /// Number of calls that run now.
    pub(crate) fn running(&self) -> usize {
        self.state().running
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A person uses the server until this is dropped.
#[derive(Debug)]
pub(crate) struct Talk {
    backend: Arc<Backend>,
    _lease: Lease,
}

impl Talk {
    pub(crate) fn begin(backend: &Arc<Backend>, gate: &Gate) -> Self {
        let lease = gate.foreground();
        backend.state().talks = true;
        Self {
            backend: backend.clone(),
            _lease: lease,
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.backend.state().talks = false;
    }
}

struct Call<'a>(&'a Backend);

impl<'a> Call<'a> {
    fn begin(backend: &'a Backend) -> Self {
        let mut state = backend.state();
        state.calls += 1;
        state.running += 1;
        if state.talks {
            state.broken = Some("a background call began while somebody talked");
        }
        Self(backend)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.state().running -= 1;
    }
}

#[async_trait]
impl Chat for Backend {
    fn model(&self) -> &'static str {
        "sim/model"
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError> {
        let _call = Call::begin(self);
        let mood = self.state().mood;
        let millis = match mood {
            Mood::Slow => 60_000 + self.dice.next() % 200_000,
            _ => self.dice.next() % 3_000,
        };
        self.clock.sleep(Duration::from_millis(millis)).await;
        let content = match mood {
            Mood::Well | Mood::Slow => well(&request).ok_or(ChatError::OverBudget { tokens_max: 0 })?,
            Mood::Silent => {
                let reason = "it is silent".to_owned();
                return Err(ChatError::Unavailable { reason });
            }
            Mood::Refusing => {
                let reason = "it refuses".to_owned();
                return Err(ChatError::Refused { reason });
            }
            Mood::Spent => return Err(ChatError::OverBudget { tokens_max: 0 }),
            Mood::Nonsense => "certainly {\"parts\": [{\"last\": 999}".to_owned(),
        };
        Ok(ChatReply {
            content,
            model: "sim/model".to_owned(),
            prompt_tokens: 100,
            completion_tokens: 10,
        })
    }
}

/// A usable answer to two questions: one part for a segmentation, the steps of the cases for a skill. Other
/// questions get none, so the rules take over.
fn well(request: &ChatRequest) -> Option<String> {
    let user = &request.messages.get(1)?.content;
    if request
        .schema
        .as_ref()
        .is_some_and(|(name, _)| name == "agent_skill")
    {
        return Some(skill(user));
    }
    let (_, count) = user.rsplit_once("\"last\": ")?;
    let count: String = count.chars().take_while(char::is_ascii_digit).collect();
    Some(format!(
        r#"{{"parts":[{{"last":{count},"title":"A talk","summary":""}}]}}"#
    ))
}

/// A skill with the steps that worked.
fn skill(cases: &str) -> String {
    let steps = cases
        .lines()
        .filter(|line| line.contains("`run` on") && !line.contains("failed"));
    let steps: Vec<String> = steps
        .map(|step| format!(r#""{}""#, step.replace('"', "'")))
        .collect();
    format!(
        r###"{{"action":"write","name":"deploy-service","description":"Deploy a service to staging.","content":["## Before","- `run` is there.","## Steps",{}],"confidence":0.7}}"###,
        steps.join(",")
    )
}
