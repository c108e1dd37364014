//! From a segment to entries: an episode and facts for each owner.
//!
//! Owns: the shape, ids and provenance of derived entries, and the effect of a new fact on the known ones. Never:
//! writing them.

use std::collections::{BTreeMap, BTreeSet};

use extract::{
    Answer, AnswerPart, Answered, Counts, Fact, Interview, KnownFacts, Statement, Supersession, Tail,
};
use model::{
    Cell, CellId, Entry, EntryId, EntryKind, MessageId, Origin, Owner, PROJECT_ONLY, Parent, ParentKind,
    Role, Scope, SenderId, Timestamp, Zone,
};

use super::Writing;
use crate::base::Base;
use crate::error::{JobError, Trouble};
use crate::runtime::{QUICK_BYTES_MAX, off_thread};
use crate::{facts, ids};

/// Attempts of a job that wait for a silent model; after that the rules extract.
const MODEL_ATTEMPTS_MAX: u32 = 3;

/// Segments of at most this many messages, none of them long, are read on this thread.
const MESSAGES_INLINE_MAX: usize = 8;

/// The extracted content of a segment, before it belongs to an owner.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellContent {
    subject: String,
    summary: String,
    digest: String,
    facts: Vec<Fact>,
    /// Number of facts by the rules, which come first.
    ruled: usize,
    author: String,
    /// The author of the other facts.
    model: Option<String>,
    /// The messages whose facts hold for a person in all projects; none: all messages.
    personal: Option<BTreeSet<MessageId>>,
}

/// Extracts a segment, with the model if there is one. Fails only if the model may answer a later attempt.
pub(crate) async fn content(writing: &Writing, cell: &Cell, attempt: u32) -> Result<CellContent, JobError> {
    let base = &writing.base;
    let title = base.parts.transcripts.title(&cell.session).await?;
    let told = by_rules(base, cell).await?;
    let Some(chat) = &base.parts.chat else {
        return Ok(told.entitled(title));
    };
    let zone = &base.settings.zone;
    let parts = if let Some(part) = writing.intake.passes.answer(&cell.id) {
        vec![part]
    } else {
        let question = Interview::parts(&cell.messages, zone, Tail::Closed);
        match asked(base, question, attempt).await? {
            Some(answer) => answer.parts,
            None => return Ok(told.entitled(title)),
        }
    };
    let added = match Interview::facts(&cell.messages, &told.facts) {
        Some(question) => asked(base, question, attempt).await?,
        None => None,
    };
    let is_named = parts.iter().any(|part| !part.title.is_empty());
    let facts = added.map(|answer| answer.facts).unwrap_or_default();
    let mut told = told.with(&parts, facts, extract::signed(chat.model()));
    let scope = &cell.session.scope;
    if *scope != Scope::home(&scope.app) {
        // The rules read only facts about a person's life, a model also others: facts of messages in which the rules
        // found one hold everywhere.
        let ruled = told.facts[..told.ruled].iter();
        told.personal = Some(ruled.flat_map(|fact| fact.sources.clone()).collect());
    }
    Ok(if is_named { told } else { told.entitled(title) })
}

/// The model's answer; none if it is unusable, so that the facts of the rules stand alone.
async fn asked(base: &Base, question: Interview<'_>, attempt: u32) -> Result<Option<Answer>, JobError> {
    match base.model.ask(question).await {
        Ok(answer) => Ok(Some(answer)),
        Err(trouble @ Trouble::Unavailable(_)) if attempt < MODEL_ATTEMPTS_MAX => Err(trouble.into()),
        Err(trouble) => {
            tracing::warn!(%trouble, "model answer unusable; the rules' facts stand alone");
            Ok(None)
        }
    }
}

/// Reading a long segment keeps a thread busy for longer than a request should wait for that thread.
async fn by_rules(base: &Base, cell: &Cell) -> Result<CellContent, JobError> {
    let _turn = base.busy().await;
    let zone = &base.settings.zone;
    if cell.messages.len() <= MESSAGES_INLINE_MAX && cell.bytes() <= QUICK_BYTES_MAX {
        return Ok(ruled(cell, zone));
    }
    let (cell, zone) = (cell.clone(), zone.clone());
    Ok(off_thread(move || ruled(&cell, &zone)).await?)
}

fn ruled(cell: &Cell, zone: &Zone) -> CellContent {
    let episode = extract::episode(cell, zone);
    let facts = extract::facts(cell, zone);
    CellContent {
        subject: episode.subject,
        summary: episode.summary,
        digest: episode.body,
        ruled: facts.len(),
        facts,
        author: extract::RULES_VERSION.to_owned(),
        model: None,
        personal: None,
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>, by: &str) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(by)
}

/// The person's earlier answer to a statement, imported or said again. An ended statement may begin again; a withdrawn
/// one stays withdrawn until its person is asked.
fn answer_to(fact: &Fact, known: &KnownFacts) -> Option<(Timestamp, Answered)> {
    let holds =
        |(at, answered): &(Timestamp, Answered)| *answered == Answered::Withdrawn || fact.said_at <= *at;
    known.answered(&fact.text).filter(holds)
}

/// Facts of segments that are written together, and the known facts that they supersede.
#[derive(Debug, Default)]
pub(crate) struct NewFacts {
    facts: KnownFacts,
    replaced: BTreeSet<EntryId>,
    /// The facts among these that a later fact had superseded before they were written, and when that was said.
    ended: BTreeMap<EntryId, Timestamp>,
    /// Id prefixes of facts that a failed attempt wrote for later segments.
    later: BTreeSet<String>,
}

impl NewFacts {
    /// No facts yet; `later` are the following segments of the session.
    pub(crate) fn before<'a>(later: impl IntoIterator<Item = &'a CellId>) -> Self {
        Self {
            later: later.into_iter().map(ids::fact_prefix).collect(),
            ..Self::default()
        }
    }

    fn is_later(&self, fact: &EntryId) -> bool {
        let id = fact.as_str();
        !self.later.is_empty() && id.rfind('_').is_some_and(|end| self.later.contains(&id[..=end]))
    }
}

impl CellContent {
    /// Adds the model's titles and summaries, if it gave some, and its facts after those of the rules.
    fn with(mut self, parts: &[AnswerPart], mut facts: Vec<Fact>, model: String) -> Self {
        let title = joined(parts.iter().map(|part| part.title.as_str()), "; ");
        let summary = joined(parts.iter().map(|part| part.summary.as_str()), " ");
        for (text, own) in [(title, &mut self.subject), (summary, &mut self.summary)] {
            if !text.is_empty() {
                *own = text;
                self.author.clone_from(&model);
            }
        }
        facts.retain(|fact| !extract::is_covered(fact, &self.facts));
        self.facts.extend(facts);
        self.model = Some(model);
        self
    }

    /// The author of the fact with this number.
    fn author_of(&self, n: usize) -> String {
        let is_added = (self.ruled..self.facts.len()).contains(&n);
        let model = self.model.clone().filter(|_| is_added);
        model.unwrap_or_else(|| extract::RULES_VERSION.to_owned())
    }

    /// Takes the session's title, which a person or a model chose, as the subject.
    fn entitled(mut self, title: Option<String>) -> Self {
        self.subject = title.unwrap_or(self.subject);
        self
    }

    /// The important statements of its messages, by which the episode is found.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether facts were found in it.
    pub(crate) fn has_facts(&self) -> bool {
        !self.facts.is_empty()
    }

    /// The facts of the segment that are new to the owner. Facts that an earlier attempt at the same segment wrote do
    /// not count as known. `news` holds facts of earlier segments that are not among the known ones yet.
    pub(crate) fn facts(
        &self,
        cell: &Cell,
        owner: &Owner,
        known: &KnownFacts,
        news: &mut NewFacts,
    ) -> Vec<Entry> {
        let prefix = ids::fact_prefix(&cell.id);
        let mut facts = Vec::new();
        for (n, fact) in self.facts.iter().enumerate() {
            if let Some(answer) = answer_to(fact, known) {
                facts.push(self.answered_entry(cell, owner, (n, fact), answer));
                continue;
            }
            let statement = Statement::new(&fact.text, fact.said_at);
            let counts = |id: &EntryId| match () {
                () if id.as_str().starts_with(&prefix) || news.is_later(id) => Counts::No,
                () if news.replaced.contains(id) => Counts::Replaced,
                () => Counts::Yes,
            };
            let counts_new = |id: &EntryId| match news.ended.get(id) {
                Some(at) if *at <= fact.said_at => Counts::Replaced,
                _ => Counts::Yes,
            };
            if known.repeats(&statement, counts) || news.facts.repeats(&statement, counts_new) {
                continue;
            }
            let standing = known
                .supersession(&statement, counts)
                .with(news.facts.supersession(&statement, counts_new));
            news.replaced.extend(standing.supersedes.iter().cloned());
            let ended = standing.superseded_by.as_ref().map(|(at, _)| *at);
            let entry = self.fact_entry(cell, owner, n, fact, standing);
            news.ended.extend(ended.map(|at| (entry.id.clone(), at)));
            news.facts.insert(
                entry.id.clone(),
                statement,
                entry.supersedes.clone(),
                entry.superseded_by.clone(),
            );
            facts.push(entry);
        }
        if known.has_answers() {
            facts.extend(self.answered_doubts(cell, owner, known));
        }
        facts
    }

    /// Statements of the owner's messages that are no facts.
    pub(crate) fn doubts(&self, cell: &Cell, owner: &Owner) -> impl Iterator<Item = Fact> {
        let own = cell
            .messages
            .iter()
            .filter(|message| message.role == Role::User && message.sender == owner.id);
        let statements = own.flat_map(|message| {
            let said = extract::statements(&message.text(), message.speaker());
            said.into_iter().map(|text| Fact {
                text,
                sources: vec![message.id.clone()],
                sender: message.sender.clone(),
                said_at: message.time,
                valid_from: None,
            })
        });
        // Each message of a segment that says it: an answer hides it in all of them.
        let is_fact = |doubt: &Fact| {
            let mut facts = self.facts.iter();
            facts.any(|fact| fact.text == doubt.text && fact.sources == doubt.sources)
        };
        statements.filter(move |doubt| !is_fact(doubt))
    }

    /// Statements in doubt that their person has called wrong or ended, with that answer.
    fn answered_doubts(&self, cell: &Cell, owner: &Owner, known: &KnownFacts) -> Vec<Entry> {
        let doubts = (self.facts.len()..).zip(self.doubts(cell, owner));
        let answered = doubts.filter_map(|(n, doubt)| {
            let answer = answer_to(&doubt, known)?;
            Some(self.answered_entry(cell, owner, (n, &doubt), answer))
        });
        answered.collect()
    }

    /// A statement with its person's answer.
    fn answered_entry(
        &self,
        cell: &Cell,
        owner: &Owner,
        (n, fact): (usize, &Fact),
        (at, answered): (Timestamp, Answered),
    ) -> Entry {
        let mut entry = self.fact_entry(cell, owner, n, fact, Supersession::default());
        match answered {
            Answered::Withdrawn => facts::withdraw(&mut entry, facts::IS_WRONG, at),
            Answered::Ended => facts::end(&mut entry, at),
        }
        entry
    }

    /// The owner's episode.
    pub(crate) fn episode_entry(&self, cell: &Cell, owner: &Owner) -> Entry {
        let senders: BTreeSet<SenderId> = cell.messages.iter().map(|m| m.sender.clone()).collect();
        let whose = (cell.session.scope.clone(), owner.clone());
        let id = ids::episode_id(&cell.id);
        // Without a body: the messages have all of it, and a row of the index has their digest.
        Entry {
            session: Some(cell.session.session.clone()),
            author: Some(self.author.clone()),
            parent: Some(Parent::new(ParentKind::Memcell, cell.id.as_str())),
            sources: cell.messages.iter().map(|m| m.id.clone()).collect(),
            senders: senders.into_iter().collect(),
            subject: self.subject.clone(),
            summary: self.summary.clone(),
            turns: cell.messages.clone(),
            ..Entry::new(id, EntryKind::Episode, whose, cell.ended(), Origin::User)
        }
    }

    fn fact_entry(&self, cell: &Cell, owner: &Owner, n: usize, fact: &Fact, standing: Supersession) -> Entry {
        let mut messages = cell.messages.iter();
        let said_by = messages.find(|message| fact.sources.contains(&message.id));
        let is_personal = self
            .personal
            .as_ref()
            .is_none_or(|personal| fact.sources.iter().any(|id| personal.contains(id)));
        let origin = match said_by.map(|message| message.role) {
            Some(Role::Assistant) => Origin::Assistant,
            Some(Role::Tool) => Origin::Tool,
            Some(Role::User) | None => Origin::User,
        };
        let whose = (cell.session.scope.clone(), owner.clone());
        let episode = ids::episode_id(&cell.id);
        Entry {
            session: Some(cell.session.session.clone()),
            valid_from: fact.valid_from,
            supersedes: standing.supersedes,
            superseded_by: standing.superseded_by.map(|(_, id)| id),
            author: Some(self.author_of(n)),
            parent: Some(Parent::new(ParentKind::Episode, episode.as_str())),
            sources: fact.sources.clone(),
            labels: Vec::from_iter((!is_personal).then(|| PROJECT_ONLY.to_owned())),
            senders: vec![fact.sender.clone()],
            body: fact.text.clone(),
            ..Entry::new(
                ids::fact_id(&cell.id, n),
                EntryKind::Fact,
                whose,
                fact.said_at,
                origin,
            )
        }
    }
}
