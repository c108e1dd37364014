//! Actions of clients, and actions of people other than editing files.
//!
//! Owns: the requests, the wording of queries, and the checks on an answer as soon as it arrives. Never:
//! choosing the next action.

use memory::{Add, Added, Engine, EngineError, Flush, Forget, Found, Method, Search};
use model::{DocKind, EntryKind, Owner, Scope, SessionKey, SkillStatus, Timestamp};
use ports::JobId;
use testkit::clock::ManualClock;

use crate::book::{Fate, Forgetting, Word, word, words_in};
use crate::hands::session_of;
use crate::says::MINUTE_MILLIS;
use crate::steps::{Promise, Run, Step, TURNS_MAX};
use crate::world::Held;

/// Maximum number of hits of each kind in an answer.
pub(crate) const HITS_MAX: usize = 20;

impl Run {
    /// Runs one step, then lets background tasks run for a random number of turns. So the next step meets
    /// work at any stage.
    pub(crate) async fn act(&mut self, step: Step) -> Held {
        self.do_it(step).await?;
        let turns = self.dice.below(TURNS_MAX);
        self.world.breathe(turns).await;
        Ok(())
    }

    async fn do_it(&mut self, step: Step) -> Held {
        match step {
            Step::Say => {
                let promise = self.saying();
                self.promise(promise).await
            }
            Step::Work => {
                let promise = self.working();
                self.promise(promise).await
            }
            Step::Burst => self.burst().await,
            Step::Retry => self.retry().await,
            Step::Flush => self.flush().await,
            Step::Ask => self.ask().await,
            Step::Spy => self.spy().await,
            Step::ForgetSession | Step::ForgetOwner | Step::ForgetPart | Step::ForgetEntry => {
                match self.forgetting(step).await? {
                    Some(what) => self.promise(Promise::Forget(what)).await,
                    None => Ok(()),
                }
            }
            Step::WriteFile | Step::WriteHeading | Step::WritePage | Step::TakeOut => self.hand(step).await,
            Step::Sync => {
                let engine = self.engine();
                let synced = self.world.drive(engine.sync()).await?;
                self.heard(synced).map(drop)
            }
            Step::Rebuild => {
                let engine = self.engine();
                let rebuilt = self.world.drive(engine.rebuild()).await?;
                self.heard(rebuilt).map(drop)
            }
            Step::Judge | Step::Teach => self.judge(step).await,
            Step::Undo => self.undo().await,
            Step::Trigger => self.trigger().await,
            Step::TalkBegins => self.talk_begins().await,
            Step::TalkEnds => {
                self.world.process_mut().talk.take();
                Ok(())
            }
            Step::Mood => {
                self.change_mood();
                Ok(())
            }
            Step::Pass => {
                self.pass().await;
                Ok(())
            }
            Step::SetWall => {
                let minutes = i64::try_from(self.dice.below(2 * 24 * 60)).expect("it is small") - 24 * 60;
                self.note(format_args!("the clock is set by {minutes} min"));
                self.world.clock.set_wall(minutes * MINUTE_MILLIS);
                Ok(())
            }
            Step::Fault => {
                self.plan_fault();
                Ok(())
            }
            Step::Restart => {
                if self.world.stop().await? {
                    self.note("stopped");
                }
                Ok(())
            }
            Step::Rest => self.rest().await,
        }
    }

    pub(crate) fn engine(&self) -> Engine {
        self.world.process().engine.clone()
    }

    /// Sends a request and queues it for a retry if no answer came. A message without a client id is sent
    /// once.
    async fn promise(&mut self, promise: Promise) -> Held {
        if let Promise::Forget(what) = &promise {
            self.note(format_args!("{what:?}"));
        }
        let is_kept = match &promise {
            Promise::Add(add, ..) => add.messages.iter().all(|new| new.client_id.is_some()),
            Promise::Forget(_) => true,
        };
        if is_kept {
            self.promises.push(promise.clone());
        }
        if self.keep(promise).await? && is_kept {
            self.promises.pop();
        }
        Ok(())
    }

    /// Sends the request; true if it was answered.
    async fn keep(&mut self, promise: Promise) -> Held<bool> {
        let engine = self.engine();
        match promise {
            Promise::Add(add, said, waits) => {
                let added = self.world.drive(added(&engine, add, waits)).await?;
                let Some(added) = self.heard(added)? else {
                    return Ok(false);
                };
                for (number, accepted) in said.into_iter().zip(added.accepted) {
                    self.book.is_acknowledged(number, accepted);
                }
            }
            Promise::Forget(what) => {
                self.book.is_forgetting(&what);
                let forgot = self.world.drive(engine.forget(asked(&what))).await?;
                if self.heard(forgot)?.is_none() {
                    return Ok(false);
                }
                self.book.is_forgotten(&what);
            }
        }
        Ok(true)
    }

    /// Retries the oldest request that got no answer.
    pub(crate) async fn retry(&mut self) -> Held {
        let Some(promise) = self.promises.first().cloned() else {
            return Ok(());
        };
        if let Promise::Add(_, said, _) = &promise {
            for number in said {
                self.book.is_sent_again(*number);
            }
        }
        if self.keep(promise).await? {
            self.promises.remove(0);
        }
        Ok(())
    }

    /// Sends requests of several clients at the same time.
    async fn burst(&mut self) -> Held {
        let engine = self.engine();
        let mut works = tokio::task::JoinSet::new();
        let mut saids = Vec::new();
        for number in 0..2 + self.dice.below(12) {
            let Promise::Add(add, said, waits) = self.saying() else {
                continue;
            };
            let (engine, flushes) = (engine.clone(), self.dice.percent(40));
            saids.push(said);
            works.spawn(async move {
                let session = add.session.clone();
                let added = added(&engine, add, waits).await;
                if flushes {
                    // Both outcomes are allowed: the flush happened, or it did not.
                    drop(engine.flush(flush(session, None, false)).await);
                }
                (number, added)
            });
        }
        drop(engine);
        let mut answers = Vec::new();
        let all = async {
            while let Some(answer) = works.join_next().await {
                answers.push(answer);
            }
        };
        self.world.drive(all).await?;
        for answer in answers {
            let (number, added) = answer.map_err(|error| format!("a client panicked: {error}"))?;
            if let Some(added) = self.heard(added)? {
                for (said, accepted) in saids[number].iter().zip(added.accepted) {
                    self.book.is_acknowledged(*said, accepted);
                }
            }
        }
        Ok(())
    }

    async fn flush(&mut self) -> Held {
        if self.book.sessions.is_empty() {
            return Ok(());
        }
        let key = self.session();
        let engine = self.engine();
        let flush = flush(key, self.task(), self.dice.percent(20));
        let flushed = self.world.drive(engine.flush(flush)).await?;
        self.heard(flushed).map(drop)
    }

    /// A user searches for an acknowledged word of their own and must find it at once.
    async fn ask(&mut self) -> Held {
        match self.own_word() {
            Some((scope, owner, word)) => self.find(&scope, &owner, word).await.map(drop),
            None => Ok(()),
        }
    }

    /// An acknowledged word with its scope and its speaker.
    pub(crate) fn own_word(&self) -> Option<(Scope, Owner, Word)> {
        let own = self.book.said.iter().filter(|said| {
            matches!(said.fate, Fate::Kept(_)) && !said.untold && !self.book.sessions[&said.session].parted
        });
        let own: Vec<(Scope, Owner, Word)> = own
            .filter_map(|said| Some((said.session.scope.clone(), said.user.clone()?, said.word)))
            .collect();
        self.dice.pick(&own)
    }

    /// Searches for a word as its owner. The word must be among the hits, unless the search is refused.
    pub(crate) async fn find(&mut self, scope: &Scope, owner: &Owner, of: Word) -> Held<Option<Found>> {
        let found = self.search(scope, owner, word(of)).await?;
        if let Some(found) = &found
            && !words_in(format!("{found:?}").as_bytes()).contains(&of)
        {
            let said = self.book.said.iter().find(|said| said.word == of);
            return Err(format!(
                "invariant 1: {owner:?} does not find what is acknowledged: {said:?}"
            ));
        }
        Ok(found)
    }

    /// Searches for the word as somebody else, who must not find it.
    async fn spy(&mut self) -> Held {
        let owners = self.book.owners().into_iter().chain(self.book.agents());
        let owners: Vec<_> = owners.collect();
        let Some((scope, owner)) = self.dice.pick(&owners) else {
            return Ok(());
        };
        let query = if self.dice.percent(50) {
            word(1 + self.dice.below(self.book.said.len()))
        } else {
            "Where do I live, and what was deployed to staging?".to_owned()
        };
        self.search(&scope, &owner, query).await.map(drop)
    }

    /// Searches as an owner. The hits must hold no word of another owner and no forgotten word.
    pub(crate) async fn search(
        &mut self,
        scope: &Scope,
        owner: &Owner,
        query: String,
    ) -> Held<Option<Found>> {
        let engine = self.engine();
        let found = self
            .world
            .drive(engine.search(question(scope, owner, query)))
            .await?;
        let Some(found) = self.heard(found)? else {
            return Ok(None);
        };
        let is_draft = |doc: &model::Doc| {
            doc.kind == DocKind::Entry(EntryKind::Skill)
                && SkillStatus::of(&doc.labels) != SkillStatus::Approved
        };
        if let Some(draft) = found.memories.iter().find(|hit| is_draft(&hit.doc)) {
            return Err(format!("{owner:?} finds what nobody approved: {draft:?}"));
        }
        let open = self.book.open_to(scope, owner);
        let seen = words_in(format!("{found:?}").as_bytes());
        if let Some(wrong) = seen.difference(&open).next() {
            let said = self.book.said.iter().find(|said| said.word == *wrong);
            let hits = found.memories.iter().chain(&found.messages);
            let hit = hits
                .map(|hit| &hit.doc)
                .find(|doc| words_in(format!("{doc:?}").as_bytes()).contains(wrong));
            return Err(format!(
                "{owner:?} finds what is another's or forgotten: {said:?} in {hit:?}"
            ));
        }
        Ok(Some(found))
    }

    async fn forgetting(&mut self, step: Step) -> Held<Option<Forgetting>> {
        if self.book.sessions.is_empty() {
            return Ok(None);
        }
        let sessions: Vec<SessionKey> = self.book.sessions.keys().cloned().collect();
        let key = match step {
            Step::ForgetOwner => self.session(),
            _ => self.dice.pick(&sessions).unwrap_or_else(|| self.session()),
        };
        let Some(owner) = self.dice.pick(&self.users(&key)) else {
            return Ok(None);
        };
        Ok(match step {
            Step::ForgetSession => Some(Forgetting::Session(key)),
            Step::ForgetOwner => Some(Forgetting::Owner(key.scope, owner)),
            Step::ForgetPart => Some(Forgetting::Part(key, owner)),
            _ => self.episode().await?.map(|(_, entry)| {
                let messages = entry.turns.iter().map(|turn| turn.id.clone()).collect();
                Forgetting::Entry(session_of(&entry), entry.owner, entry.id, messages)
            }),
        })
    }

    async fn trigger(&mut self) -> Held {
        let names = [
            "extract_foresight",
            "extract_user_profile",
            "dream",
            "extract_agent_case",
            "extract_agent_skill",
        ];
        let name = self.dice.pick(&names).expect("there are some");
        let offline = self.world.process().offline.clone();
        let timeout = std::time::Duration::from_mins(10);
        let triggered = self.world.drive(offline.trigger(name, timeout, true)).await?;
        match triggered {
            Ok(Some(triggered)) => self.note(format_args!("{name}: {} runs", triggered.runs.len())),
            other => self.note(format_args!("{name}: {other:?}")),
        }
        Ok(())
    }

    /// A person starts to use the model server. Our calls there must be cancelled before any time passes.
    async fn talk_begins(&mut self) -> Held {
        if !self.world.talk() {
            return Ok(());
        }
        self.world.breathe(20).await;
        if self.world.backend.running() > 0 {
            return Err("invariant 9: a background call goes on while somebody talks".to_owned());
        }
        Ok(())
    }
}

async fn added(engine: &Engine, add: Add, waits: bool) -> Result<Added, EngineError> {
    let session = add.session.clone();
    let added = engine.add(add).await?;
    if waits {
        return engine.settled(&session, added).await;
    }
    Ok(added)
}

fn flush(session: SessionKey, task: Option<JobId>, wait: bool) -> Flush {
    Flush { session, task, wait }
}

fn asked(what: &Forgetting) -> Forget {
    match what.clone() {
        Forgetting::Session(key) => Forget::Session(key),
        Forgetting::Owner(scope, owner) => Forget::Owner(scope, owner),
        Forgetting::Part(key, owner) => Forget::OwnerInSession(key, owner),
        Forgetting::Entry(key, owner, id, _) => Forget::Entries(key.scope, owner, vec![id]),
    }
}

fn question(scope: &Scope, owner: &Owner, query: String) -> Search {
    Search {
        scope: scope.clone(),
        owner: owner.clone(),
        query,
        method: Method::Hybrid,
        memories_max: HITS_MAX,
        messages_max: HITS_MAX,
        filter: None,
        as_of: None,
        // Every question uses the same time, so recency does not differ between two of them.
        asked_at: Some(Timestamp::from_millis(ManualClock::START_MILLIS)),
        score_min: 0.0,
        tokens_max: None,
        with_person: false,
        rerank: None,
    }
}
