//! What a turn is given beside the client's words: memory, the pages at hand, an agent's skills, the time.
//!
//! Owns: what is asked for at once, and in which order it is told. Never: what search finds (`recall`, `skills`), the wrapper (`prefix`).

use prefix::fragment;
use transcript::dialect;

use crate::learn;
use crate::proxy::Proxy;
use crate::recall;
use crate::skills;
use crate::talk::Talk;
use crate::turn::Turn;

impl Proxy {
    /// What memory and the calendar add to the message that asks.
    pub(crate) async fn draft(
        &self,
        turn: &Turn<'_>,
        talk: &Talk,
        message: &str,
        visible: &fragment::Visible,
    ) -> Option<fragment::Draft> {
        let message = dialect::read_message(turn.speech.dialect(), message)
            .ok()?
            .prose();
        let scope = &talk.key.scope;
        let here = &talk.key.session;
        let (engine, clock) = (&self.engine, &*self.clock);
        let pages = async {
            if visible.memories.iter().any(|id| id.starts_with(recall::PAGES)) {
                return None;
            }
            let count = |text: &str| turn.meter.roughly(text);
            recall::pages(engine, clock, scope, &talk.owner, turn.pages_tokens_max(), &count).await
        };
        // Both at once: the turn waits for memory no longer than for one of them.
        let asked = recall::Asked {
            scope,
            owner: &talk.owner,
            here,
            message: &message,
            wait: if talk.shadow.entries().is_empty() {
                recall::FIRST_WAIT
            } else {
                recall::WAIT
            },
        };
        let recalled = recall::recall(engine, clock, &self.endings, asked);
        let (recalled, pages, skills) = tokio::join!(recalled, pages, self.skills(turn, scope, &message));
        let tokens_max = turn.fragment_tokens_max() + pages.as_ref().map_or(0, |_| turn.pages_tokens_max());
        let memories: Vec<fragment::Memory<'_>> = pages
            .iter()
            .chain(&skills)
            .chain(&recalled)
            .map(|memory| fragment::Memory {
                id: &memory.id,
                text: &memory.text,
            })
            .collect();
        let now = self.engine.settings().zone.render_short(self.clock.now());
        let told = visible.clock.as_deref().filter(|told| hour(told) == hour(&now));
        let count = |text: &str| turn.meter.roughly(text);
        fragment::draft(&memories, Some(told.unwrap_or(&now)), visible, tokens_max, &count)
    }

    /// What the agent that works here has learnt for this, where it has tools at all.
    async fn skills(&self, turn: &Turn<'_>, scope: &model::Scope, question: &str) -> Vec<recall::Recalled> {
        let has_tools = turn.body.list("tools").is_ok_and(|tools| !tools.is_empty());
        match learn::agent(turn.request.agent.as_ref()).filter(|_| has_tools) {
            Some(agent) => {
                let agent = model::Owner::agent(agent);
                skills::skills(&self.engine, &*self.clock, scope, &agent, question).await
            }
            None => Vec::new(),
        }
    }
}

/// The hour of a time as it is told: a conversation is told the time once in each.
fn hour(time: &str) -> &str {
    time.split_once(':').map_or(time, |(hour, _)| hour)
}
