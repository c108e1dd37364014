//! An agent's skills: common parts of its cases of one kind, as drafts for a person.
//!
//! Owns: when cases are compared, and how a skill reaches the vault. Never: the text of a skill, which a model writes, or
//! approving it.

use std::time::Duration;

use crate::{About, Failure, RunContext, RunOutcome, Strategy, Triggers};
use async_trait::async_trait;
use extract::skills::{
    Cluster, KnownCase, KnownSkill, Skill, clusters, mark, parse_skill, skill_request, unsupported,
};
use memory::{Curate, Engine};
use model::{
    Doc, Entry, EntryId, EntryKind, MessageId, Origin, Owner, Parent, ParentKind, Scope, SkillStatus,
    Timestamp,
};
use ports::ChatError;
use ports::runs::MemoryEvent;

use crate::strategies::support::{all, answer, curated};

/// Quiet time after an agent's last case, because the agent may still be working.
const QUIET: Duration = Duration::from_mins(5);
/// Attempts of a run that wait for a silent model. After that, the agent's next case asks again.
const MODEL_ATTEMPTS_MAX: u32 = 3;

/// Sorts an agent's cases by kind and asks a model for one draft of a skill for each kind.
#[derive(Debug)]
pub(super) struct ExtractAgentSkill {
    pub(super) engine: Engine,
}

impl ExtractAgentSkill {
    async fn learn(&self, context: &RunContext, owner: &Owner) -> Result<usize, Failure> {
        let scope = &context.run.work.scope;
        let cases = all(&self.engine, scope, owner, EntryKind::Case).await?;
        let cases: Vec<KnownCase> = cases.iter().map(|hit| known(&hit.doc)).collect();
        let skills = all(&self.engine, scope, owner, EntryKind::Skill).await?;
        let mut known: Vec<KnownSkill> = skills.iter().map(|hit| known_skill(&hit.doc)).collect();
        let created = |id: &EntryId| {
            let hit = skills.iter().find(|hit| *hit.doc.key.id == *id.as_str());
            hit.and_then(|hit| hit.doc.valid_from)
        };
        let remove = unsupported(&cases, &known);
        let mut changes = remove.len();
        known.retain(|known| !remove.contains(&known.id));
        let removed = Curate::new(scope, owner, Vec::new(), remove);
        curated(&self.engine, context, removed).await?;
        for cluster in clusters(&cases) {
            if context.superseded() {
                // A run with newer cases already waits.
                break;
            }
            let Some(prompt) = skill_request(&cluster, &known) else {
                continue;
            };
            let read = |answer: &str| parse_skill(answer, &cluster, &known);
            let ((id, skill), author) = match answer(context, prompt, read).await {
                Ok(Some((Some(written), author))) => (written, author),
                Err(error @ ChatError::Unavailable { .. }) if context.run.attempt < MODEL_ATTEMPTS_MAX => {
                    return Err(error.into());
                }
                Ok(_) | Err(_) => continue,
            };
            let now = context.clock.now();
            let times = (created(&id).unwrap_or(now), now);
            let entry = entry(scope, owner, &cluster, id, (skill, author), times);
            known.retain(|known| known.id != entry.id);
            known.push(skill_of_entry(&entry));
            let put = Curate::new(scope, owner, vec![entry], Vec::new());
            curated(&self.engine, context, put).await?;
            changes += 1;
        }
        Ok(changes)
    }
}

#[async_trait]
impl Strategy for ExtractAgentSkill {
    fn name(&self) -> &'static str {
        "extract_agent_skill"
    }

    fn triggers(&self) -> Triggers {
        Triggers {
            idle: Some(QUIET),
            ..Triggers::default()
        }
    }

    fn about(&self, event: &MemoryEvent) -> Option<About> {
        let MemoryEvent::CaseWritten { owner, .. } = event else {
            return None;
        };
        Some(About {
            owner: Some(owner.clone()),
            subject: String::new(),
        })
    }

    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure> {
        let Some(owner) = &context.run.work.owner else {
            return Err(Failure::GiveUp(
                "the trigger names no agent: name the agent whose skills to write".to_owned(),
            ));
        };
        let changes = self.learn(context, owner).await?;
        let without = match context.chat {
            Some(_) => "",
            None => "; a new skill needs a chat model",
        };
        Ok(RunOutcome::of(format!("{changes} skills{without}")))
    }
}

fn known(doc: &Doc) -> KnownCase {
    KnownCase {
        id: EntryId::new(doc.key.id.clone()),
        time: doc.time,
        intent: doc.subject.clone(),
        approach: doc.text.clone(),
        insight: doc.summary.clone(),
        tools: doc.labels.clone(),
        quality_percent: doc.confidence_percent.unwrap_or_default(),
    }
}

fn known_skill(doc: &Doc) -> KnownSkill {
    KnownSkill {
        id: EntryId::new(doc.key.id.clone()),
        skill: Skill {
            name: doc.subject.clone(),
            description: doc.summary.clone(),
            content: doc.text.clone(),
            confidence_percent: doc.confidence_percent.unwrap_or_default(),
            cases: doc
                .sources
                .iter()
                .map(|case| EntryId::new(case.as_str()))
                .collect(),
        },
        status: SkillStatus::of(&doc.labels),
        mark: doc.labels.get(1).cloned(),
    }
}

fn skill_of_entry(entry: &Entry) -> KnownSkill {
    known_skill(&Doc::of_entry(entry, &"".into())[0])
}

/// A draft in its written form; its second label shows whether a person changed it since.
fn entry(
    scope: &Scope,
    owner: &Owner,
    cluster: &Cluster<'_>,
    id: EntryId,
    (skill, author): (Skill, String),
    (created, now): (Timestamp, Timestamp),
) -> Entry {
    let whose = (scope.clone(), owner.clone());
    Entry {
        valid_from: Some(created),
        author: Some(author),
        parent: Some(Parent::new(ParentKind::Cluster, cluster.id.as_str())),
        sources: skill
            .cases
            .iter()
            .map(|case| MessageId::new(case.as_str()))
            .collect(),
        labels: vec![SkillStatus::Draft.as_str().to_owned(), mark(&skill)],
        confidence_percent: Some(skill.confidence_percent),
        subject: skill.name,
        summary: skill.description,
        body: skill.content,
        ..Entry::new(id, EntryKind::Skill, whose, now, Origin::Assistant)
    }
}
